"""PyTorch: index_select, index_add, index_copy, index_fill and index_reduce."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

from gscli.base import DtypeRefused, check_rule
from gscli.base.words import COMPLEX, FLOAT16S, format_count
from gscli.declare.attributes import Option, parse_reduction
from gscli.frameworks.operator import Attrs, Comparison, ConceptCall
from gscli.frameworks.torch import (
    DATA,
    FLOAT8,
    FRAMEWORK,
    REAL,
    WIDE_UNSIGNED,
    Dim,
    atleast_1d,
    cast_scalar,
    check_kernel_exists,
    scatter_strictly,
)
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    FROM_END,
    RAISE_OUTSIDE,
    Addressing,
    Fit,
    Number,
    Shape,
    Tensor,
    Updates,
)
from gscli.layout.families import address_axis, normalize_axis
from gscli.layout.refusals import (
    check_dtype,
    check_exact_shape,
    check_index_dtype,
    check_same_dtype,
)

INDEX = ("int32", "int64")


def _dim_attributes(call: ConceptCall) -> Attrs:
    """A call whose indices are a list, without batch axes and reduction."""
    return {"dim": call.axis} if call.is_plain and call.indices.rank <= 1 else None


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' '[2,0,2]' --dim 1",
    Comparison("gather", "PyTorch index_select", build_attributes=_dim_attributes),
)
def index_select(input: Tensor, index: Tensor, *, dim: Dim) -> NewOutput:
    """Take slices along one axis, one per index.

    output is input with the axis replaced by the indices; an index of rank 0 keeps the axis with
    size 1. Legal: 0 … s-1. An input of rank 0 takes one index. uint16, uint32 and uint64 are taken
    from rank 2 on.
    """
    check_dtype(input, (*DATA, *(WIDE_UNSIGNED if input.rank > 1 else ()), *FLOAT8))
    addressing = _address_slices(input, dim, index, INDEX)
    shape = _slices_shape(input, addressing)
    return gather_layout(input, addressing, RAISE_OUTSIDE, output_shape=shape)


@FRAMEWORK.operator("'[10,20,30]' '[0,2,0]' '[1,2,3]' --dim 0 --alpha 2")
def index_add(
    input: Tensor, index: Tensor, source: Tensor, *,
    dim: Dim, alpha: Annotated[Number, Option("source is multiplied by it first")] = 1,
) -> Layout:  # fmt: skip
    """Add slices along one axis, one per index; every occurrence counts.

    output[index[i]] += alpha · source[i] for dim 0; source is input with the axis replaced by the
    indices, exactly. alpha is cut to input's type. Halves are rounded after every step, and complex
    numbers multiplied by an alpha of 1 too (inf + 1j becomes inf + nan j), except where PyTorch
    takes the road of scatter_add: int64 indices on the first or last axis of an input of rank 2 or
    more, alpha 1.
    """
    check_dtype(input, DATA)
    addressing = _address_slices(input, dim, index, INDEX)
    is_unit = alpha == 1 and not isinstance(alpha, bool)
    outermost = input.rank > 1 and dim % input.rank in (0, input.rank - 1)
    adds_alone = is_unit and outermost and index.dtype == "int64"
    wide = "float32" if adds_alone and input.dtype in FLOAT16S else None
    multiplies = alpha != 1 or (input.dtype in COMPLEX and not adds_alone)
    scale = cast_scalar("alpha", alpha, input.dtype) if multiplies else None
    updates = _fit_source(input, source, addressing, scale)
    return scatter_strictly(input, updates, addressing, reduction="add", accumulate=wide)


@FRAMEWORK.operator(
    "'[[1,2],[3,4],[5,6]]' '[2,0]' '[[50,60],[10,20]]' --dim 0",
    Comparison("scatter-update", "PyTorch index_copy", build_attributes=_dim_attributes),
)
def index_copy(input: Tensor, index: Tensor, source: Tensor, *, dim: Dim) -> Layout:
    """Write slices along one axis, one per index.

    source is input with the axis replaced by the indices, exactly; rank 0 counts as one axis.
    Indices are int64, legal 0 … s-1.
    """
    check_dtype(input, DATA)
    addressing = _address_slices(input, dim, index, ("int64",))
    check_same_dtype(input, source)
    check_exact_shape(atleast_1d(source), addressing.result_shape, "input with index on dim")
    return scatter_strictly(input, Updates(source.name, Fit.RESHAPE), addressing)


@FRAMEWORK.operator("'[[1,2,3],[4,5,6]]' '[-1,0]' --dim 1 --value 9")
def index_fill(
    input: Tensor, index: Tensor, *,
    dim: Dim, value: Annotated[Number, Option("the number to write, cut to input's type")],
) -> Layout:  # fmt: skip
    """Write one value into whole slices.

    A negative index counts from the end; index_add, index_copy, index_reduce and index_select
    refuse it. Indices are int64; a complex value is refused for real input, even when its imaginary
    part is 0.
    """
    check_dtype(input, DATA)
    if isinstance(value, complex) and input.dtype not in COMPLEX:
        problem = f"value does not fit {input.dtype}"
        raise DtypeRefused(problem, where=f"value = {value!r}", valid="a real number")
    addressing = _address_slices(input, dim, index, ("int64",))
    updates = Updates(None, value=cast_scalar("value", value, input.dtype))
    return scatter_layout(input, updates, addressing, FROM_END)


@FRAMEWORK.operator("'[1,2,3]' '[0,2,0]' '[4,5,6]' --dim 0 --reduce prod")
def index_reduce(
    input: Tensor,
    index: Tensor,
    source: Tensor,
    *,
    dim: Dim,
    reduce: Annotated[
        Literal["prod", "mean", "amax", "amin"],
        Option("how updates meet; the sum is index_add", role="reduction"),
    ],
    include_self: Annotated[bool, Option("input's value takes part in touched slices")] = True,
) -> Layout:
    """Reduce slices along one axis, one per index.

    Shapes as in index_add, reductions as in scatter_reduce, but each step is rounded to input's
    type. bool (prod, amax, amin), complex numbers (prod, mean) and uint16, uint32 and uint64 (prod)
    only from rank 2 on and with include_self.
    """
    unsigned = WIDE_UNSIGNED if reduce == "prod" else ()
    check_dtype(input, (*DATA, *unsigned) if input.rank > 1 and include_self else REAL)
    reduction = parse_reduction(reduce)
    check_kernel_exists(input, reduction)
    addressing = _address_slices(input, dim, index, INDEX)
    scale = 1.0 if reduction == "mean" and input.dtype in COMPLEX else None
    updates = _fit_source(input, source, addressing, scale)
    return scatter_strictly(
        input, updates, addressing, reduction=reduction, include_self=include_self
    )


def _address_slices(data: Tensor, dim: int, index: Tensor, types: tuple[str, ...]) -> Addressing:
    check_index_dtype(index, types)
    check_rule(index.rank <= 1, "index is one list of numbers", index, valid="rank 0 or 1")
    axis = normalize_axis(dim, max(data.rank, 1), name="dim", of=data.name)
    return address_axis(atleast_1d(data), atleast_1d(index), axis)


def _slices_shape(data: Tensor, addressing: Addressing) -> Shape:
    """The shape of the slices: for data of rank 0 it is that of its one cell."""
    where = format_count(prod(addressing.entry_shape), "index", "indices")
    fits = data.rank > 0 or addressing.entry_shape == (1,)
    check_rule(fits, f"{data.name} of rank 0 takes one index", where, valid="1 index")
    return addressing.result_shape if data.rank else ()


def _fit_source(
    data: Tensor, source: Tensor, addressing: Addressing, scale: Number | None = None
) -> Updates:
    """How source meets the slices: exactly."""
    check_same_dtype(data, source)
    check_exact_shape(source, _slices_shape(data, addressing), f"{data.name} with index on dim")
    return Updates(source.name, Fit.RESHAPE, scale=scale)
