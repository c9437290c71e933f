"""jax.numpy.take and take_along_axis."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal, TypeAlias

from gscli.base.words import INTEGERS, NON_TEXT_DTYPES
from gscli.declare.attributes import AxisOption, Option, Promise, TakeAxis
from gscli.frameworks.jax import (
    FRAMEWORK,
    READ_MODES,
    FillValue,
    Mode,
    check_axis_filled,
    check_axis_size_fits,
    index_policy,
    resolve_fill_value,
)
from gscli.frameworks.operator import Comparison, compare_takes
from gscli.layout import NewOutput, gather_layout
from gscli.layout.axes import CLIP_OUTSIDE, WRAP_OUTSIDE, OutOfBounds, Policy, Tensor, Truncation
from gscli.layout.families import address_axis_or_flat, address_elements_or_flat
from gscli.layout.refusals import check_dtypes

TakeMode: TypeAlias = Annotated[
    Literal["fill", "clip", "wrap"] | None,
    Option("an index out of range reads the fill value, the border, or the index modulo the size"),
]


@FRAMEWORK.operator(
    "'[[1.5,2.5],[3.5,4.5],[5.5,6.5]]' '[2,-1,3]' --axis 0",
    *compare_takes("JAX take ({})", ("fill", "clip", "wrap")),
)
def take(
    a: Tensor, indices: Tensor, *,
    axis: TakeAxis = None, mode: TakeMode = None, unique_indices: Promise = False,
    indices_are_sorted: Promise = False, fill_value: FillValue = None,
) -> NewOutput:  # fmt: skip
    """Take slices along one axis, or cells of the flattened array.

    output = a[:axis] ++ indices ++ a[axis+1:] (shapes). Mode fill (the default) counts -s … -1 from
    the end and gives fill_value for what is still outside: NaN (-0 if a type has none), the lowest
    signed or the highest unsigned number, True. Clip moves an index to the border, so that -1 reads
    0; wrap is a modulo. Fill cuts an index to 32 bits after counting, so 2^32 + 1 reads row 1. On
    an axis of length 0 every index is refused. Only fill takes bool indices (0 and 1), which JAX's
    clip refuses and its wrap reads as 0. JAX counts in the type of the indices (int8 -1 on 300 rows
    becomes 43); here it is 299.
    """
    fills = mode in (None, "fill")
    check_dtypes(a, NON_TEXT_DTYPES, indices, (*INTEGERS, "bool") if fills else INTEGERS)
    addressing = address_axis_or_flat(a, indices, axis)
    size = prod(a.shape) if axis is None else a.shape[axis]
    check_axis_filled(size > 0 or 0 in indices.shape, a, indices, "none: there are no cells there")
    if fills:
        policy = index_policy(a.shape, OutOfBounds.SKIP, wraps=True)
        return gather_layout(a, addressing, policy, fill=resolve_fill_value(a, fill_value))
    if mode == "wrap":
        check_axis_size_fits(indices, size)
    return gather_layout(a, addressing, WRAP_OUTSIDE if mode == "wrap" else CLIP_OUTSIDE)


@FRAMEWORK.operator(
    "'[[1.5,2.5,3.5],[4.5,5.5,6.5]]' '[[0,-1],[3,1]]' --axis 1",
    *Comparison("gather-elements", "JAX take_along_axis ({})", axis="axis").expand_over(
        "mode", {"fill": "fill", "clip": "clip"}
    ),
)
def take_along_axis(
    arr: Tensor,
    indices: Tensor,
    *,
    axis: Annotated[int | None, AxisOption("axis of arr, -r … r-1; none: arr is read flat")] = -1,
    mode: Mode = None,
    fill_value: FillValue = None,
    wrap_negative_indices: Annotated[
        bool | None, Option("count -s … -1 from the end; default: but for promise_in_bounds")
    ] = None,
) -> NewOutput:
    """Take single cells: the index replaces the coordinate on `axis` of its own position.

    Off the axis sizes are equal or one of them is 1 and stretches; without an axis arr is flat and
    indices have rank 1. Indices are cut to 32 bits, then -s … -1 count from the end once. Fill (the
    default, also called drop) gives fill_value for what is still outside, clip moves it to the
    border, and so does a CPU under promise_in_bounds, which by itself does not count from the end.
    Clip and promise_in_bounds do not cut where they do not count. From an axis of length 0 every
    index reads 0.
    """
    check_dtypes(arr, NON_TEXT_DTYPES, indices, INTEGERS)
    addressing = address_elements_or_flat(arr, indices, axis)
    size = prod(arr.shape) if axis is None else arr.shape[axis]
    if size == 0:
        return gather_layout(arr, addressing, Policy(out_of_bounds=OutOfBounds.SKIP), fill=0)
    wraps = mode != "promise_in_bounds" if wrap_negative_indices is None else wrap_negative_indices
    when = Truncation.BEFORE_NEGATIVE if wraps else None
    policy = index_policy(arr.shape, READ_MODES[mode or "fill"], wraps=wraps, when=when)
    return gather_layout(arr, addressing, policy, fill=resolve_fill_value(arr, fill_value))
