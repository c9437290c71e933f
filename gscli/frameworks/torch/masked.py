"""PyTorch: masked_select and masked_scatter, where a mask of bool says which cells take part."""

from __future__ import annotations

from math import prod

from gscli.base import ShapeRefused
from gscli.base.words import format_count, format_shape
from gscli.declare import Mask
from gscli.frameworks.torch.rules import DATA, FLOAT8, FRAMEWORK
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    FROM_END,
    Addressing,
    Axis,
    Column,
    Fit,
    GeneratedIndices,
    MaskPositions,
    Shape,
    Tensor,
    Updates,
)
from gscli.layout.families import broadcast_shapes, describe
from gscli.layout.refusals import check_dtype, check_same_dtype

WHY = "PyTorch takes masks of bool only"


@FRAMEWORK.operator(
    example="'[[10,20,30],[40,50,60]]' '[[true,false,true],[false,false,true]]'",
    refused="'[[10,20,30],[40,50,60]]' '[true,false]'",
)
def masked_select(input: Tensor, mask: Mask) -> NewOutput:
    """Read the cells where mask is true, in row-major order, as one list.

    input and mask stretch to a common shape; a cell that is stretched is read as often as it stands
    under true.
    """
    check_dtype(input, (*DATA, *FLOAT8))
    check_dtype(mask, ("bool",), WHY)
    shape = broadcast_shapes([input.shape, mask.shape], [input.name, mask.name])
    return gather_layout(input, _address_mask(input, mask, shape), FROM_END)


@FRAMEWORK.operator(
    example="'[[1,2,3],[4,5,6]]' '[true,false,true]' '[10,20,30,40,50]'",
    refused="'[[1,2,3],[4,5,6]]' '[true,false,true]' '[10,20,30]'",
)
def masked_scatter(input: Tensor, mask: Mask, source: Tensor) -> Layout:
    """Write the values of source, one after the other, into the cells where mask is true.

    mask stretches to the shape of input (PyTorch also stretches input; expand it first). source has
    input's type, any shape, and a value at least for each true cell; what it has beyond is unused.
    """
    check_dtype(input, DATA)
    check_dtype(mask, ("bool",), WHY)
    check_same_dtype(input, source)
    shape = broadcast_shapes([input.shape, mask.shape], [input.name, mask.name])
    if shape != input.shape:
        raise ShapeRefused(
            "mask does not stretch to input",
            where=describe(mask),
            details=(describe(input),),
            valid=f"sizes equal or 1, aligned at the last axis of {format_shape(input.shape)}",
        )
    addressing = _address_mask(input, mask, shape)
    (count,) = addressing.entry_shape
    if prod(source.shape) < count:
        raise ShapeRefused(
            "source has fewer values than mask has true cells",
            where=f"{describe(source)}: {format_count(prod(source.shape), 'value')}",
            valid=f"{count} or more",
        )
    return scatter_layout(input, Updates(source.name, Fit.CYCLE), addressing, FROM_END)


def _address_mask(data: Tensor, mask: Tensor, shape: Shape) -> Addressing:
    """An entry for each true cell of the mask at `shape`; data has one cell on stretched axes."""
    (true,) = mask.values or (0,)
    entries = (true * prod(shape) // max(prod(mask.shape), 1),)
    lead = len(shape) - data.rank
    axes, ranges = list[Axis](), list[GeneratedIndices]()
    for dim, size in enumerate(data.shape):
        if shape[lead + dim] != size:
            axes.append(Axis(size))
            continue
        axes.append(Axis(size, column=len(ranges)))
        trues = MaskPositions(mask.name, shape, lead + dim)
        ranges.append(GeneratedIndices(f"{mask.name}_{dim}", trues, entries))
    columns = tuple(Column(positions.name) for positions in ranges)
    return Addressing(tuple(axes), entries, (), (0,), columns, tuple(ranges))
