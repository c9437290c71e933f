"""OpenVINO: ScatterUpdate, ScatterElementsUpdate and ScatterNDUpdate. All take numbers only."""

from __future__ import annotations

from typing import Annotated, Literal

from gscli.base.words import INTEGERS, format_shape
from gscli.declare import ShapeInput
from gscli.declare.attributes import Option, parse_reduction
from gscli.frameworks.openvino import (
    FRAMEWORK,
    NUMERIC,
    PLUGIN_WRAPS,
    Opset,
    read_axis,
    unchecked_policy,
)
from gscli.frameworks.operator import Comparison
from gscli.layout import Layout, scatter_layout
from gscli.layout.axes import (
    FROM_END,
    RAISE_OUTSIDE,
    Addressing,
    Fit,
    Policy,
    Tensor,
    Updates,
    unspecified_nan,
)
from gscli.layout.families import address_axis, address_elements, address_vectors, check_axis_size
from gscli.layout.refusals import (
    check_dtypes,
    check_exact_shape,
    check_min_rank,
    check_reduction,
    check_same_dtype,
    check_vector_updates,
)

OPEN_ORDER = "OpenVINO leaves the order of updates to one place undefined"
WRITES_BEFORE = (
    "the CPU plugin checks the upper end only: -s … -1 count from the end there, and what lies "
    "below is written to another cell or outside data"
)
UNCHECKED = RAISE_OUTSIDE._replace(
    note="the CPU plugin refuses this on several threads and leaves the output unfilled on one; in "
    "up to 64 integers of 16 bits or more on one axis it checks nothing and writes outside data",
    unchecked_outcomes=("may write outside data",) * 3,
)
NAN_STAYS = "NaN stays, in the CPU plugin an update that is NaN is passed over"


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6],[7,8,9]]' '[2,0]' '[[70,80,90],[10,20,30]]' 0",
    Comparison("scatter-update", "OpenVINO ScatterUpdate-3"),
    versions=(3,),
    bare=True,
)
def scatter_update(
    data: Tensor, indices: Tensor, updates: Tensor, axis: ShapeInput, *, opset: Opset = None
) -> Layout:
    """Write slices of data along one axis, one per index: the write twin of Gather.

    data[…, indices[m,n,…], …] = updates[…, m,n,…, …]; updates has the shape
    data[:axis] ++ indices ++ data[axis+1:]. Indices may have any rank; legal: 0 … s-1 on an axis of
    size s. The CPU plugin refuses indices of rank 0, which the text allows.
    """
    check_dtypes(data, NUMERIC, indices, INTEGERS)
    number = read_axis(data, axis)
    addressing = address_axis(data, indices, number)
    before, behind = (format_shape(data.shape[:number]), format_shape(data.shape[number + 1 :]))
    around = f"indices {format_shape(indices.shape)} + data[{number + 1}:] {behind}"
    check_exact_shape(updates, addressing.result_shape, f"data[:{number}] {before} + {around}")
    return _build_layout(data, updates, addressing, UNCHECKED)


@FRAMEWORK.operator(
    "'[10,20,30]' '[0,-1,0]' '[1,2,3]' 0 --reduction sum",
    Comparison("scatter-elements", "OpenVINO ScatterElementsUpdate-12"),
    versions=(3, 12),
)
def scatter_elements_update(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: ShapeInput,
    *,
    reduction: Annotated[
        Literal["none", "sum", "prod", "min", "max", "mean"],
        Option("how an update meets the value already there", since=12, role="reduction"),
    ] = "none",
    use_init_val: Annotated[
        bool, Option("data's value takes part in the reduction; without effect for none", since=12)
    ] = True,
    opset: Opset = None,
) -> Layout:
    """Write single cells: the index replaces one coordinate of its own position.

    For axis 0: output[indices[i,j], j] = updates[i,j]. updates has the shape of indices; off the
    axis indices may be smaller than data; along it they may be longer from version 12 on.

    Legal: 0 … s-1 in version 3, -s … s-1 in version 12. mean of integers rounds toward minus
    infinity (the CPU plugin cuts toward zero) and is refused for bool; sum of bool is OR, prod and
    min are AND, max is OR.
    """
    old = opset == 3  # noqa: PLR2004  the version
    check_dtypes(data, NUMERIC, indices, INTEGERS)
    number = read_axis(data, axis)
    addressing = address_elements(data, indices, number)
    problem = f"{indices.name} is longer than {data.name} along the axis"
    fits = not old or indices.shape[number] <= data.shape[number]
    legal, hint = f"0 … {data.shape[number]} on axis {number}", "opset 12 takes it"
    check_axis_size(fits, problem, data, indices, number, legal, hint=hint)
    check_exact_shape(updates, indices.shape, f"{indices.name}.shape")
    policy = unchecked_policy(WRITES_BEFORE, "unchecked", refuses_negative=old)
    whole = use_init_val or reduction == "none"
    return _build_layout(data, updates, addressing, policy, reduction, include_self=whole)


@FRAMEWORK.operator(
    "'[1,2,3,4]' '[[0],[2],[-3],[0]]' '[10,20,30,50]' --reduction sub",
    Comparison("scatter-nd", "OpenVINO ScatterNDUpdate-15"),
    versions=(3, 15),
)
def scatter_nd_update(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    reduction: Annotated[
        Literal["none", "sum", "sub", "prod", "min", "max"],
        Option("how an update meets the value already there", since=15, role="reduction"),
    ] = "none",
    opset: Opset = None,
) -> Layout:
    """Write the cell or slice that each index vector names.

    The last axis of indices holds vectors of k numbers for the first k axes of data.
    updates.shape = indices.shape[:-1] ++ data.shape[k:]; where that is rank 0, any one element will
    do (the CPU plugin refuses it).

    Legal: 0 … s-1 in version 3, -s … s-1 in version 15. sum, sub and prod of bool are OR, XOR, AND.
    """
    check_dtypes(data, NUMERIC, indices)
    check_min_rank(data, indices)
    addressing = address_vectors(data, indices)
    shape = addressing.result_shape
    single = shape == () and set(updates.shape) <= {1}
    if not single:
        check_vector_updates(updates, data, indices, shape)
    policy = PLUGIN_WRAPS if opset == 3 else FROM_END  # noqa: PLR2004  the version
    fit = Fit.RESHAPE if single else Fit.EXACT
    return _build_layout(data, updates, addressing, policy, reduction, fit=fit)


def _build_layout(
    data: Tensor, updates: Tensor, addressing: Addressing, policy: Policy, word: str = "none",
    *,
    include_self: bool = True, fit: Fit = Fit.EXACT,
) -> Layout:  # fmt: skip
    check_same_dtype(data, updates)
    reduction = parse_reduction(word)
    why = "the text defines sum, sub and prod of bool; max and min follow from false < true"
    check_reduction(data, reduction, why, ("max", "min") if data.dtype == "bool" else ())
    return scatter_layout(
        data,
        Updates(updates.name, fit),
        addressing,
        policy,
        reduction=reduction,
        include_self=include_self,
        open_order=OPEN_ORDER,
        unspecified=unspecified_nan("OpenVINO", reduction, NAN_STAYS),
    )
