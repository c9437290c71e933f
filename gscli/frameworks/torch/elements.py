"""PyTorch: gather, scatter, scatter_add and scatter_reduce."""

from __future__ import annotations

from typing import Annotated, Literal

from gscli.base import UsageError, check_rule
from gscli.base.words import FLOAT16S
from gscli.declare.attributes import Option, parse_reduction
from gscli.frameworks.operator import OVERWRITE, Comparison
from gscli.frameworks.torch import (
    DATA,
    FRAMEWORK,
    Dim,
    address_cells,
    atleast_1d,
    cast_scalar,
    check_kernel_exists,
    scatter_strictly,
)
from gscli.layout import Layout, NewOutput, gather_layout
from gscli.layout.axes import RAISE_OUTSIDE, Fit, Number, Reduction, Tensor, Updates
from gscli.layout.refusals import check_dtype, check_same_dtype


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' '[[2,0],[1,1]]' --dim 1",
    Comparison("gather-elements", "PyTorch gather"),
)
def gather(input: Tensor, index: Tensor, *, dim: Dim) -> NewOutput:
    """Take single cells: the index replaces one coordinate of its own position.

    output has the shape of index; for dim 1: output[i,j] = input[i, index[i,j]]. Off dim index may
    be smaller than input, never larger, and nothing stretches. Legal: 0 … s-1. Rank 0 counts as
    rank 1; an index without entries may have any shape.
    """
    addressing = address_cells(input, dim, index)
    return gather_layout(input, addressing, RAISE_OUTSIDE, output_shape=index.shape)


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[[2],[0]]' '[[70,71],[80,81]]' --dim 1",
    Comparison("scatter-elements", "PyTorch scatter", reductions=OVERWRITE),
)
def scatter(
    input: Tensor,
    index: Tensor,
    src: Tensor | None = None,
    *,
    dim: Dim,
    value: Annotated[Number | None, Option("one number for every cell, instead of src")] = None,
    reduce: Annotated[
        Literal["add", "multiply"] | None,
        Option("how an update meets the value already there", role="reduction"),
    ] = None,
) -> Layout:
    """Write single cells: the index replaces one coordinate of its own position.

    For dim 1: output[i, index[i,j]] = src[i,j], for the i,j of index alone: what src has beyond
    the shape of index is not used, and nothing stretches. Off dim index may not be larger than
    input, unless it is empty. A value is cut to input's type (2.9 is 2 in an integer, -1 is 255 in
    uint8) unless it overflows.
    """
    if src is not None and value is None:
        updates = _crop_source(input, index, src, "--value")
    elif src is None and value is not None:
        check_dtype(input, DATA)  # a value fits a number type or none
        updates = Updates(None, value=cast_scalar("value", value, input.dtype))
    else:
        raise UsageError("scatter takes either src or value", valid="src, or --value NUMBER")
    return _build_layout(input, dim, index, updates, parse_reduction(reduce or "none"))


@FRAMEWORK.operator("'[10,20,30]' '[0,2,0]' '[1,2,3]' --dim 0")
def scatter_add(input: Tensor, index: Tensor, src: Tensor, *, dim: Dim) -> Layout:
    """Add to single cells; every occurrence of a cell counts.

    Shapes as in scatter. Halves are added in float32 and rounded once; bool is OR.
    """
    updates = _crop_source(input, index, src, "--value, --reduce add")
    return _build_layout(input, dim, index, updates, "add")


@FRAMEWORK.operator(
    "'[10,20,30]' '[0,2,0]' '[1,2,3]' --dim 0 --reduce mean",
    Comparison("scatter-elements", "PyTorch scatter_reduce"),
)
def scatter_reduce(
    input: Tensor,
    index: Tensor,
    src: Tensor,
    *,
    dim: Dim,
    reduce: Annotated[
        Literal["sum", "prod", "mean", "amax", "amin", "max", "min"],
        Option(
            "how updates meet; max and min also run, though PyTorch does not document them",
            role="reduction",
        ),
    ],
    include_self: Annotated[bool, Option("input's value takes part in touched cells")] = True,
) -> Layout:
    """Reduce into single cells.

    Shapes as in scatter. Without include_self a touched cell starts from the identity (its NaN is
    gone), an untouched one keeps input. NaN stays under amax and amin. mean divides the sum, in
    input's type, by the number of values; integers wrap first and round toward minus infinity.
    bool has no mean, complex no amax and amin. Halves are reduced in float32 and rounded once.
    """
    reduction = parse_reduction(reduce)
    check_kernel_exists(input, reduction)
    updates = _crop_source(input, index, src)
    return _build_layout(input, dim, index, updates, reduction, include_self=include_self)


def _crop_source(data: Tensor, index: Tensor, src: Tensor, scalar_options: str = "") -> Updates:
    """How src meets the index: it covers index's shape, and its surplus is not used.

    `scalar_options`: those of scatter that do the same with one number for every cell.
    """
    check_same_dtype(data, src)
    if 0 in index.shape:
        return Updates(src.name, Fit.CYCLE)
    window, source = atleast_1d(index), atleast_1d(src)
    pairs = zip(window.shape, source.shape, strict=False)
    fits = window.rank == source.rank and all(size <= extent for size, extent in pairs)
    fits |= window.rank != atleast_1d(data).rank  # it is the index that is refused
    hint = f"nothing stretches here: expand {src.name} first"
    if scalar_options and not src.shape:
        hint = (
            f"scatter takes one number for every cell as value ({scalar_options}), in place of "
            "src; otherwise expand src first"
        )
    problem, legal = "src does not cover index", "as many axes as index, none of them shorter"
    check_rule(fits, problem, src, index, name=src.name, wanted=index.shape, valid=legal, hint=hint)
    return Updates(src.name, Fit.CROP)


def _build_layout(
    data: Tensor, dim: int, index: Tensor, updates: Updates, reduction: Reduction, *,
    include_self: bool = True,
) -> Layout:  # fmt: skip
    addressing, halves = address_cells(data, dim, index), data.dtype in FLOAT16S
    wide = "float32" if halves and reduction != "none" else None
    return scatter_strictly(
        data, updates, addressing, reduction=reduction, include_self=include_self, accumulate=wide
    )
