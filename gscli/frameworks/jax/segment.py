"""jax.ops.segment_sum, segment_prod, segment_min and segment_max."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from gscli.base import ShapeRefused
from gscli.base.words import INTEGERS, SMALL_INTEGERS, highest, lowest
from gscli.declare import Largest
from gscli.declare.attributes import Option, Promise
from gscli.frameworks.jax.common import (
    ELEMENTS,
    FRAMEWORK,
    INDICES,
    WRITES,
    Mode,
    has_arithmetic,
    narrowed,
    updates_of,
)
from gscli.frameworks.operator import Operator
from gscli.layout import Layout, NewOutput, scatter_layout
from gscli.layout.axes import Beyond, Narrow, Negative, Number, Policy, Reduction, Tensor
from gscli.layout.families import along_axis, described
from gscli.layout.refusals import allow, index_types

NumSegments: TypeAlias = Annotated[
    int | None, Option("number of segments; default: the largest id plus one")
]


def _declared(name: str, reduction: Reduction, doc: str) -> Operator:
    """An operator `segment_NAME`; they differ in their reduction and what it starts from."""

    def segment(
        data: Tensor,
        segment_ids: Largest,
        *,
        num_segments: NumSegments = None,
        indices_are_sorted: Promise = False,
        unique_indices: Promise = False,
        mode: Mode = None,
    ) -> NewOutput:
        return _segment(data, segment_ids, num_segments, mode, reduction)

    segment.__doc__ = doc
    return FRAMEWORK.operator(
        name=f"segment_{name}",
        example="'[1,2,3,4]' '[0,2,0,-1]' --num-segments 4",
        refused="'[1,2,3]' '[0,1]' --num-segments 4",
    )(segment)


segment_sum = _declared(
    "sum",
    "add",
    """Sum the slices of data that have the same id; segments without any are 0.

    output = (num_segments) ++ data.shape[1:]; data stretches to segment_ids ++ data.shape[1:]. Ids
    outside 0 … num_segments-1, negative ones too, are dropped (mode clip: added to the border). Ids
    are cut to 32 bits. Integers wrap; bool is refused.
    """,
)
segment_prod = _declared(
    "prod",
    "mul",
    """Multiply the slices of data that have the same id; segments without any are 1.

    Shapes and modes as in segment_sum. Integers wrap; bool is refused.
    """,
)
segment_min = _declared(
    "min",
    "min",
    """Smallest of the slices with the same id; segments without any: inf, the highest integer.

    Shapes and modes as in segment_sum. NaN stays; bool is AND, an empty segment True.
    """,
)
segment_max = _declared(
    "max",
    "max",
    """Largest of the slices with the same id; segments without any: -inf, the lowest integer.

    Shapes and modes as in segment_sum. NaN stays; bool is OR, an empty segment False.
    """,
)


def _segment(
    data: Tensor,
    ids: Tensor,
    num_segments: int | None,
    mode: str | None,
    reduction: Reduction,
) -> Layout:
    allow(data, ELEMENTS)
    index_types(ids, INDICES)
    has_arithmetic(data.dtype, reduction, described(data))
    count = _count(ids) if num_segments is None else num_segments
    if count < 0:
        raise ShapeRefused(
            "the number of segments is negative",
            where=f"num_segments = {count}",
            details=(described(ids),),
            valid="0 and more",
        )
    output = Tensor("output", (count, *data.shape[1:]), data.dtype)
    addressing = along_axis(output, ids, 0)
    beyond = WRITES[mode] if count else Beyond.SKIP
    return scatter_layout(
        None,
        updates_of(data, addressing.result_shape),
        addressing,
        Policy(Negative.OUTSIDE, beyond, narrow=narrowed(output.shape, Narrow.LAST)),
        dtype=data.dtype,
        reduction=reduction,
        fill=_identity(data.dtype, reduction),
    )


def _identity(name: str, reduction: Reduction) -> Number:
    """What a segment without slices holds."""
    if reduction in ("add", "mul"):
        return int(reduction == "mul")
    whole = name in ("bool", *INTEGERS, *SMALL_INTEGERS)
    if reduction == "min":
        return highest(name) if whole else float("inf")
    return lowest(name) if whole else float("-inf")


def _count(ids: Tensor) -> int:
    if not ids.values:
        raise ShapeRefused(
            "segment_ids are empty, so the number of segments is unknown",
            where=described(ids),
            hint="--num-segments N",
        )
    return ids.values[0] + 1
