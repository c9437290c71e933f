"""jax.ops.segment_sum, segment_prod, segment_min and segment_max."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from gscli.base import ShapeRefused, check_rule
from gscli.base.words import INTEGERS, NON_TEXT_DTYPES, empty_reduction
from gscli.declare import MaxValueInput
from gscli.declare.attributes import Option, Promise
from gscli.frameworks.jax import (
    FRAMEWORK,
    WRITE_MODES,
    Mode,
    broadcast_values,
    check_axis_filled,
    check_bool_arithmetic,
    index_policy,
)
from gscli.frameworks.operator import FamilyMember
from gscli.layout import NewOutput, scatter_layout
from gscli.layout.axes import OutOfBounds, Reduction, Tensor, Truncation
from gscli.layout.families import address_axis
from gscli.layout.refusals import check_dtypes

NumSegments: TypeAlias = Annotated[
    int | None, Option("number of segments; default: the largest id plus one")
]


def _segment(reduction: Reduction) -> FamilyMember:
    """An operator `segment_NAME`; they differ in their reduction and what it starts from."""

    def segment(
        data: Tensor, segment_ids: MaxValueInput, *,
        num_segments: NumSegments = None, indices_are_sorted: Promise = False,
        unique_indices: Promise = False, mode: Mode = None,
    ) -> NewOutput:  # fmt: skip
        check_dtypes(data, NON_TEXT_DTYPES, segment_ids, INTEGERS)
        check_bool_arithmetic(data.dtype, reduction, str(data))
        count = _count_segments(segment_ids) if num_segments is None else num_segments
        problem, where = "the number of segments is negative", f"num_segments = {count}"
        check_rule(count >= 0, problem, where, segment_ids, valid="0 and more")
        has_cells = count > 0 or segment_ids.rank > 0
        check_axis_filled(has_cells, data, segment_ids, "none: there are no segments")
        output = Tensor("output", (count, *data.shape[1:]), data.dtype)
        addressing = address_axis(output, segment_ids, 0)
        beyond = WRITE_MODES[mode] if count else OutOfBounds.SKIP
        policy = index_policy(output.shape, beyond, when=Truncation.AFTER_NEGATIVE)
        values = broadcast_values(data, addressing.result_shape)
        fill = empty_reduction(data.dtype, reduction, infinite=True)
        return scatter_layout(
            None, values, addressing, policy, dtype=data.dtype, reduction=reduction, fill=fill
        )

    return FRAMEWORK.family_member(segment, "'[1,2,3,4]' '[0,2,0,-1]' --num-segments 4")


@_segment("add")
def segment_sum() -> None:
    """Sum the slices of data that have the same id; segments without any are 0.

    output = (num_segments) ++ data.shape[1:]; data stretches to segment_ids ++ data.shape[1:]. Ids
    outside 0 … num_segments-1, negative ones too, are dropped (mode clip: added to the border). Ids
    are cut to 32 bits. Integers wrap; bool is refused.
    """


@_segment("mul")
def segment_prod() -> None:
    """Multiply the slices of data that have the same id; segments without any are 1.

    Shapes and modes as in segment_sum. Integers wrap; bool is refused.
    """


@_segment("min")
def segment_min() -> None:
    """Smallest of the slices with the same id; segments without any: inf, the highest integer.

    Shapes and modes as in segment_sum. NaN stays; bool is AND, an empty segment True. Floats that
    have no inf begin with NaN or the highest number.
    """


@_segment("max")
def segment_max() -> None:
    """Largest of the slices with the same id; segments without any: -inf, the lowest integer.

    Shapes and modes as in segment_sum. NaN stays; bool is OR, an empty segment False. Floats that
    have no -inf begin with NaN or the lowest number.
    """


def _count_segments(ids: Tensor) -> int:
    if not ids.values:
        problem = "segment_ids are empty, so the number of segments is unknown"
        raise ShapeRefused(problem, where=str(ids), hint="--num-segments N")
    return ids.values[0] + 1
