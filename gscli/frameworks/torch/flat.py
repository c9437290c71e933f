"""PyTorch: take, take_along_dim, put_, and masked_select and masked_scatter, where a mask of bool
says which cells take part.
"""

from __future__ import annotations

from math import prod
from typing import Annotated

from gscli.base import check_rule
from gscli.base.words import format_count
from gscli.declare import Mask
from gscli.declare.attributes import AxisOption, Option
from gscli.frameworks.operator import Comparison
from gscli.frameworks.torch import DATA, FLOAT8, FRAMEWORK, OPEN_ORDER
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    FROM_END,
    RAISE_OUTSIDE,
    WRAP_OUTSIDE,
    Addressing,
    Axis,
    Column,
    Fit,
    GeneratedIndices,
    MaskPositions,
    Reduction,
    Shape,
    Tensor,
    Updates,
)
from gscli.layout.families import address_elements, address_flat, broadcast_shapes, normalize_axis
from gscli.layout.refusals import (
    check_dtype,
    check_dtypes,
    check_index_dtype,
    check_min_rank,
    check_same_dtype,
)

Accumulate = Annotated[bool, Option("add to the cells instead of writing; duplicates count")]

WHY = "PyTorch takes masks of bool only"


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' '[[5,0],[-1,2]]'", Comparison("take", "PyTorch take")
)
def take(input: Tensor, index: Tensor) -> NewOutput:
    """Take cells of the flattened input.

    output has the shape of index. Indices are int64 and count from the end: -n … n-1 for n cells.
    """
    check_index_dtype(index, ("int64",))
    if 0 not in index.shape:
        check_dtype(input, DATA)
    return gather_layout(input, address_flat(input, index), FROM_END)


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' '[[2,100],[-1,0]]' --dim 1",
    Comparison("gather-elements", "PyTorch take_along_dim"),
)
def take_along_dim(
    input: Tensor,
    indices: Tensor,
    *,
    dim: Annotated[int | None, AxisOption("axis of input, -r … r-1; none: both are flat")] = None,
) -> NewOutput:
    """Take single cells: the index replaces one coordinate of its own position.

    For dim 1: output[i,j] = input[i, indices[i,j]]; off dim sizes are equal or 1 and stretch on
    both sides. With dim PyTorch takes every index modulo the size and says nothing: 100 on 4
    columns reads column 0 (pytorch/pytorch#196106). Without dim both are read flat, the result is
    flat, and only 0 … n-1 is legal.
    """
    if dim is None:
        if 0 not in indices.shape:
            check_dtypes(input, DATA, indices)
        addressing = address_flat(input, indices)
        return gather_layout(input, addressing, RAISE_OUTSIDE, output_shape=(prod(indices.shape),))
    check_dtypes(input, DATA, indices, ("int64",))
    check_min_rank(input)
    axis = normalize_axis(dim, input.rank, name="dim")
    return gather_layout(input, address_elements(input, indices, axis, stretch=True), WRAP_OUTSIDE)


@FRAMEWORK.operator("'[[1,2,3],[4,5,6]]' '[1,-1,1]' '[10,20,30]' --accumulate")
def put_(self: Tensor, index: Tensor, source: Tensor, *, accumulate: Accumulate = False) -> Layout:
    """Write cells of the flattened self.

    source has as many elements as index, in any shape. Indices are int64 and count from the end.
    """
    check_dtypes(self, DATA, index, ("int64",), updates=source)
    values, count = prod(source.shape), prod(index.shape)
    where = f"{format_count(values, 'value')} for {format_count(count, 'index', 'indices')}"
    check_rule(
        count == values, "source and index differ in size", where, index, source,
        name=source.name, wanted=index.shape, valid="as many values as indices",
    )  # fmt: skip
    updates = Updates(source.name, Fit.RESHAPE)
    return put_values(self, updates, address_flat(self, index), accumulate=accumulate)


def put_values(
    data: Tensor, updates: Updates, addressing: Addressing, *, accumulate: bool
) -> Layout:
    """The layout of a put: negative indices count from the end, and values are written or added."""
    reduction: Reduction = "add" if accumulate else "none"
    return scatter_layout(
        data, updates, addressing, FROM_END, reduction=reduction, open_order=OPEN_ORDER
    )


@FRAMEWORK.operator("'[[10,20,30],[40,50,60]]' '[[true,false,true],[false,false,true]]'")
def masked_select(input: Tensor, mask: Mask) -> NewOutput:
    """Read the cells where mask is true, in row-major order, as one list.

    input and mask stretch to a common shape; a cell that is stretched is read as often as it stands
    under true.
    """
    check_dtype(input, (*DATA, *FLOAT8))
    check_dtype(mask, ("bool",), WHY)
    shape = broadcast_shapes([input.shape, mask.shape], [input.name, mask.name])
    return gather_layout(input, _address_mask(input, mask, shape), FROM_END)


@FRAMEWORK.operator("'[[1,2,3],[4,5,6]]' '[true,false,true]' '[10,20,30,40,50]'")
def masked_scatter(input: Tensor, mask: Mask, source: Tensor) -> Layout:
    """Write the values of source, one after the other, into the cells where mask is true.

    mask stretches to the shape of input (PyTorch also stretches input; expand it first). source has
    input's type, any shape, and a value at least for each true cell; what it has beyond is unused.
    """
    check_dtype(input, DATA)
    check_dtype(mask, ("bool",), WHY)
    check_same_dtype(input, source)
    shape = broadcast_shapes([input.shape, mask.shape], [input.name, mask.name])
    legal = f"rank 0 … {input.rank}, sizes equal or 1, aligned at the last axis of input"
    check_rule(shape == input.shape, "mask does not stretch to input", mask, input, valid=legal)
    addressing = _address_mask(input, mask, shape)
    (count,) = addressing.entry_shape
    where = f"{source}: {format_count(prod(source.shape), 'value')}"
    problem = "source has fewer values than mask has true cells"
    check_rule(prod(source.shape) >= count, problem, where, valid=f"{count} or more")
    return scatter_layout(input, Updates(source.name, Fit.CYCLE), addressing, FROM_END)


def _address_mask(data: Tensor, mask: Tensor, shape: Shape) -> Addressing:
    """An entry for each true cell of the mask at `shape`; data has one cell on stretched axes."""
    (true,) = mask.values or (0,)
    entries = (true * prod(shape) // max(prod(mask.shape), 1),)
    lead = len(shape) - data.rank
    axes, ranges = list[Axis](), list[GeneratedIndices]()
    for dim, size in enumerate(data.shape):
        stretched = shape[lead + dim] != size
        axes.append(Axis(size, column=None if stretched else len(ranges)))
        if not stretched:
            trues = MaskPositions(mask.name, shape, lead + dim)
            name = f"nonzero({mask.name})" + f"[{lead + dim}]" * (len(shape) > 1)
            ranges.append(GeneratedIndices(name, trues, entries))
    columns = tuple(Column(positions.name) for positions in ranges)
    return Addressing(tuple(axes), entries, (), (0,), columns, tuple(ranges))
