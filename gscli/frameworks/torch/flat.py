"""PyTorch: take, take_along_dim, put_ and index_put_, which follow NumPy more or less."""

from __future__ import annotations

from math import prod
from typing import Annotated

from gscli.base import ShapeRefused
from gscli.base.words import format_count
from gscli.declare.attributes import Option
from gscli.frameworks.operator import Comparison
from gscli.frameworks.torch.rules import DATA, FRAMEWORK, OPEN_ORDER, is_empty
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import FROM_END, RAISE_OUTSIDE, WRAP_OUTSIDE, Fit, Tensor, Updates
from gscli.layout.families import address_elements, address_flat, describe, normalize_axis
from gscli.layout.refusals import check_dtype, check_dtypes, check_index_dtype, check_min_rank

Accumulate = Annotated[bool, Option("add to the cells instead of writing; duplicates count")]


@FRAMEWORK.operator(
    example="'[[10,20,30],[40,50,60]]' '[[5,0],[-1,2]]'",
    refused="'[[10,20,30],[40,50,60]]' '[5,6]'",
    compares=[Comparison("take", "PyTorch take")],
)
def take(input: Tensor, index: Tensor) -> NewOutput:
    """Take cells of the flattened input.

    output has the shape of index. Indices are int64 and count from the end: -n … n-1 for n cells.
    """
    check_index_dtype(index, ("int64",))
    if not is_empty(index):
        check_dtype(input, DATA)
    return gather_layout(input, address_flat(input, index), FROM_END)


@FRAMEWORK.operator(
    example="'[[10,20,30],[40,50,60]]' '[[2,100],[-1,0]]' --dim 1",
    refused="'[[10,20,30],[40,50,60]]' '[5,-1]'",
    compares=[Comparison("gather-elements", "PyTorch take_along_dim", axis="dim")],
)
def take_along_dim(
    input: Tensor,
    indices: Tensor,
    *,
    dim: Annotated[
        int | None, Option("axis of input, -r … r-1; none: both are flat", role="axis")
    ] = None,
) -> NewOutput:
    """Take single cells, as NumPy's take_along_axis would.

    For dim 1: output[i,j] = input[i, indices[i,j]]; off dim sizes are equal or 1 and stretch on
    both sides. With dim PyTorch takes every index modulo the size and says nothing: 100 on 4
    columns reads column 0 (pytorch/pytorch#196106). Without dim both are read flat, the result is
    flat, and only 0 … n-1 is legal.
    """
    if dim is None:
        if not is_empty(indices):
            check_dtype(input, DATA)
            check_index_dtype(indices)
        addressing = address_flat(input, indices)
        return gather_layout(input, addressing, RAISE_OUTSIDE, output_shape=(prod(indices.shape),))
    check_dtypes(input, DATA, indices, ("int64",))
    check_min_rank(input)
    addressing = address_elements(
        input, indices, normalize_axis(dim, input.rank, name="dim"), stretch=True
    )
    return gather_layout(input, addressing, WRAP_OUTSIDE)


@FRAMEWORK.operator(
    example="'[[1,2,3],[4,5,6]]' '[1,-1,1]' '[10,20,30]' --accumulate",
    refused="'[[1,2,3],[4,5,6]]' '[1,6]' '[10,20]'",
)
def put_(self: Tensor, index: Tensor, source: Tensor, *, accumulate: Accumulate = False) -> Layout:
    """Write cells of the flattened self.

    source has as many elements as index, in any shape. Indices are int64 and count from the end.
    """
    check_dtypes(self, DATA, index, ("int64",), updates=source)
    if prod(index.shape) != prod(source.shape):
        raise ShapeRefused(
            "source and index differ in size",
            where=f"{format_count(prod(source.shape), 'value')} for "
            f"{format_count(prod(index.shape), 'index', 'indices')}",
            details=(describe(index), describe(source)),
            valid="as many values as indices",
        )
    return scatter_layout(
        self,
        Updates(source.name, Fit.RESHAPE),
        address_flat(self, index),
        FROM_END,
        reduction="add" if accumulate else "none",
        open_order=OPEN_ORDER,
    )
