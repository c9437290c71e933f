"""Caffe2, as bundled in torch 1.8.1: Gather, Scatter and ScatterAssign.

Whether a negative index counts from the end depends on how the axis is written. On CUDA, Gather
compares no index with anything and treats data as float; gscli answers as the CPU does.
"""

# ruff: noqa: N803  Caffe2 writes its inputs in capitals

from __future__ import annotations

from math import prod
from typing import Annotated

from gscli.base import check_rule
from gscli.base.words import DTYPES, format_count, format_shape
from gscli.declare.attributes import AxisOption, Option
from gscli.frameworks.operator import Comparison, Framework
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    FROM_END,
    RAISE_OUTSIDE,
    SKIP_OUTSIDE,
    Addressing,
    Axis,
    Fit,
    OutOfBounds,
    Tensor,
    Updates,
)
from gscli.layout.families import (
    address_axis,
    address_elements,
    check_axis_size,
    check_batch_shapes,
    normalize_axis,
)
from gscli.layout.refusals import check_dtypes, check_exact_shape, check_min_rank

FRAMEWORK = Framework("caffe2", "Caffe2")

ASSIGN_DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int64")

UNCHECKED = RAISE_OUTSIDE._replace(note="Caffe2 does not check this and writes into foreign memory")
OPEN_ORDER = "Caffe2 lets an arbitrary one of several updates of a slice win"


@FRAMEWORK.operator(
    "'[[1,2],[3,4],[5,6]]' '[2,-1,0]'",
    *[Comparison(concept, "Caffe2 Gather") for concept in ("gather", "take")],
)
def gather(
    DATA: Tensor, INDICES: Tensor, *,
    axis: Annotated[int, AxisOption("axis of DATA that is indexed, -r … r-1")] = 0,
    wrap_indices: Annotated[
        bool | None, Option("do negatives count from the end; default: only where axis is 0")
    ] = None,
    match_outer: Annotated[bool, Option("the axes before axis are a batch of both")] = False,
) -> NewOutput:  # fmt: skip
    """Take slices of DATA along one axis, one per index.

    output = DATA[:axis] ++ INDICES ++ DATA[axis+1:] (shapes). A negative index counts from the end
    when the axis is written 0, as by default, and is refused on any other axis, -r included, unless
    wrap_indices says otherwise. match_outer (axis ≥ 1): DATA and INDICES share the axes before
    axis. Two oddities: an axis of length 0 gives the shape of DATA whatever INDICES are, and where
    the result is empty no index is looked at.
    """
    check_dtypes(DATA, DTYPES, INDICES)
    where = normalize_axis(axis, DATA.rank, of="DATA")
    if DATA.shape[where] == 0:
        axes = tuple(Axis(size, entry=dim) for dim, size in enumerate(DATA.shape))
        whole = Addressing(axes, DATA.shape, (), tuple(range(DATA.rank)), ())
        return gather_layout(DATA, whole, SKIP_OUTSIDE)
    if match_outer:
        _check_outer_axes(DATA, INDICES, where)
    addressing = address_axis(DATA, INDICES, where, where if match_outer else 0)
    wraps = axis == 0 if wrap_indices is None else wrap_indices
    judged = FROM_END if wraps else RAISE_OUTSIDE
    unread = judged._replace(out_of_bounds=OutOfBounds.SKIP)
    return gather_layout(DATA, addressing, unread if 0 in addressing.result_shape else judged)


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[[2,0],[0,1]]' '[[10,20],[30,40]]'",
    Comparison("scatter-elements", "Caffe2 Scatter"),
)
def scatter(
    DATA: Tensor, INDICES: Tensor, UPDATES: Tensor, *,
    axis: Annotated[int, AxisOption("axis of DATA that INDICES address, -r … r-1")] = 1,
) -> Layout:  # fmt: skip
    """Write single cells: the index replaces one coordinate of its own position.

    As ONNX ScatterElements, but the axis is 1 unless written: output[i, INDICES[i,j]] =
    UPDATES[i,j]. Negative indices are refused. Caffe2 itself judges only the first of the numbers,
    as many as INDICES are long on the axis, reads UPDATES past their end where they are shorter
    than INDICES, and loses its way where INDICES are smaller than DATA on an axis behind another;
    gscli refuses all three. Duplicates are written in order (seen, not documented).
    """
    check_dtypes(DATA, DTYPES, INDICES, updates=UPDATES)
    where = normalize_axis(axis, DATA.rank, of="DATA")
    addressing = address_elements(DATA, INDICES, where)
    check_exact_shape(UPDATES, INDICES.shape, "INDICES.shape")
    _check_same_strides(DATA, INDICES, where)
    order = "Caffe2 does not document the order of duplicates"
    return scatter_layout(DATA, Updates(UPDATES.name), addressing, RAISE_OUTSIDE, open_order=order)


@FRAMEWORK.operator(
    "'[[1,2],[3,4],[5,6]]' '[2,0]' '[[10,20],[30,40]]'",
    Comparison("scatter-update", "Caffe2 ScatterAssign"),
)
def scatter_assign(DATA: Tensor, INDICES: Tensor, SLICES: Tensor) -> Layout:
    """Replace whole slices of DATA along axis 0.

    Only the number of values in SLICES matters: K × (size of one slice) for K indices, in any
    shape; INDICES may have any shape too. No index is checked by Caffe2, which then writes into
    foreign memory; gscli takes 0 … s-1. Kernels exist for the types that Caffe2 moves: float32,
    float64, float16, uint8, int32, int64.
    """
    check_dtypes(DATA, ASSIGN_DTYPES, INDICES, updates=SLICES, why="Caffe2 has no kernel for it")
    check_min_rank(DATA)
    addressing = address_axis(DATA, INDICES, 0)
    shape = addressing.result_shape
    where = f"SLICES {format_shape(SLICES.shape)}: {format_count(prod(SLICES.shape), 'value')}"
    check_rule(
        prod(SLICES.shape) == prod(shape),
        "SLICES has the wrong number of values", where, DATA, INDICES,
        name=SLICES.name, wanted=shape,
        valid=f"{format_count(prod(shape), 'value')} in any shape, as in {format_shape(shape)}",
    )  # fmt: skip
    updates = Updates(SLICES.name, Fit.RESHAPE)
    return scatter_layout(DATA, updates, addressing, UNCHECKED, open_order=OPEN_ORDER)


def _check_outer_axes(data: Tensor, indices: Tensor, axis: int) -> None:
    """match_outer makes every axis before `axis` a batch axis."""
    problem = "match_outer needs axes before the axis, in INDICES too"
    where, hint = f"axis {axis}, {indices}", "--axis 1" if axis == 0 else ""
    legal = "axis ≥ 1, INDICES of at least as many axes"
    check_rule(0 < axis <= indices.rank, problem, where, valid=legal, hint=hint)
    check_batch_shapes(data, indices, axis)


def _check_same_strides(data: Tensor, indices: Tensor, axis: int) -> None:
    """Caffe2 numbers the positions before and behind the axis by INDICES alone."""
    problem = "INDICES are smaller than DATA behind another axis"
    hint = "Caffe2 does not refuse this, it writes cells of other positions"
    for dim in (*range(1, axis), *range(axis + 2, data.rank)):
        size, extent = data.shape[dim], indices.shape[dim]
        check_axis_size(extent == size, problem, data, indices, dim, str(size), hint=hint)
