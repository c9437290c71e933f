"""jax.numpy.take and take_along_axis."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal, TypeAlias

from gscli.base import IndexRefused
from gscli.declare.attributes import Option, Promise
from gscli.frameworks.jax.common import (
    ELEMENTS,
    FRAMEWORK,
    INDICES,
    READS,
    FillValue,
    Mode,
    counts_the_axis,
    fill_of,
    narrowed,
)
from gscli.frameworks.operator import Comparison
from gscli.layout import NewOutput, gather_layout
from gscli.layout.axes import Beyond, Narrow, Negative, Policy, Tensor
from gscli.layout.families import along_axis_or_flat, described, elements_or_flat
from gscli.layout.refusals import allow, index_types

TakeMode: TypeAlias = Annotated[
    Literal["fill", "clip", "wrap"] | None,
    Option("an index out of range reads the fill value, the border, or the index modulo the size"),
]

WRAPPED = Policy(Negative.OUTSIDE, Beyond.WRAP)
CLIPPED = Policy(Negative.OUTSIDE, Beyond.CLIP)


@FRAMEWORK.operator(
    example="'[[1.5,2.5],[3.5,4.5],[5.5,6.5]]' '[2,-1,3]' --axis 0",
    refused="'[[1.5,2.5],[3.5,4.5]]' '[0]' --axis 2",
    compares=[
        Comparison(concept, f"JAX take ({mode})", ("a", "indices"), {"mode": mode}, axis="axis")
        for mode in ("fill", "clip", "wrap")
        for concept in ("gather", "take")
    ],
)
def take(
    a: Tensor,
    indices: Tensor,
    *,
    axis: Annotated[
        int | None, Option("axis of a, -r … r-1; none: a is read flat", role="axis")
    ] = None,
    mode: TakeMode = None,
    unique_indices: Promise = False,
    indices_are_sorted: Promise = False,
    fill_value: FillValue = None,
) -> NewOutput:
    """Take slices along one axis, or cells of the flattened array.

    output = a[:axis] ++ indices ++ a[axis+1:] (shapes). Mode fill (the default) counts -s … -1 from
    the end and gives fill_value for what is still outside: NaN, the lowest signed or the highest
    unsigned number, True. Clip moves an index to the border, so that -1 reads 0; wrap is a modulo.
    Fill cuts an index to 32 bits after counting, so 2^32 + 1 reads row 1. On an axis of length 0
    every index is refused. Only fill takes bool indices (0 and 1); JAX's other modes do not.
    JAX counts in the type of the indices (int8 -1 on 300 rows becomes 43); here it is 299.
    """
    allow(a, ELEMENTS)
    fills = mode in (None, "fill")
    index_types(indices, (*INDICES, "bool") if fills else INDICES)
    addressing = along_axis_or_flat(a, indices, axis)
    number = 0 if axis is None else axis % a.rank
    size = prod(a.shape) if axis is None else a.shape[number]
    if size == 0 and 0 not in indices.shape:
        raise IndexRefused(
            "index into an empty axis",
            where=described(indices),
            details=(described(a),),
            valid=f"none: axis {number} is empty",
        )
    if fills:
        policy = Policy(beyond=Beyond.SKIP, narrow=narrowed(a.shape, Narrow.LAST))
        return gather_layout(a, addressing, policy, fill=fill_of(a, fill_value))
    if mode == "wrap":
        counts_the_axis(indices, size)
    return gather_layout(a, addressing, WRAPPED if mode == "wrap" else CLIPPED)


@FRAMEWORK.operator(
    example="'[[1.5,2.5,3.5],[4.5,5.5,6.5]]' '[[0,-1],[3,1]]' --axis 1",
    refused="'[[1.5,2.5,3.5],[4.5,5.5,6.5]]' '[0,1]' --axis 1",
    compares=Comparison(
        "gather-elements", "JAX take_along_axis ({})", ("arr", "indices"), axis="axis"
    ).each("mode", {"fill": "fill", "clip": "clip"}),
)
def take_along_axis(
    arr: Tensor,
    indices: Tensor,
    *,
    axis: Annotated[
        int | None, Option("axis of arr, -r … r-1; none: arr is read flat", role="axis")
    ] = -1,
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
    border. Promise_in_bounds does neither count from the end nor promise anything outside (a CPU
    reads the border). From an axis of length 0 every index reads 0.
    """
    allow(arr, ELEMENTS)
    index_types(indices, INDICES)
    addressing = elements_or_flat(arr, indices, axis)
    size = prod(arr.shape) if axis is None else arr.shape[axis]
    if size == 0:
        return gather_layout(arr, addressing, Policy(beyond=Beyond.SKIP), fill=0)
    wraps = mode != "promise_in_bounds" if wrap_negative_indices is None else wrap_negative_indices
    beyond = READS[mode or "fill"]
    when = Narrow.FIRST if wraps else Narrow.LAST if beyond is Beyond.SKIP else Narrow.NEVER
    negative = Negative.FROM_END if wraps else Negative.OUTSIDE
    policy = Policy(negative, beyond, narrow=narrowed(arr.shape, when))
    return gather_layout(arr, addressing, policy, fill=fill_of(arr, fill_value))
