"""TensorFlow: the segment family, whose ids are sorted and tell how many segments there are."""

from __future__ import annotations

from gscli.base import IndexRefused, ShapeRefused
from gscli.base.words import COMPLEX, FLOATS, NUMBERS, format_shape
from gscli.declare import SortedInput
from gscli.frameworks.operator import FamilyMember
from gscli.frameworks.tensorflow.rules import FRAMEWORK, REAL, unspecified_nan
from gscli.layout import Layout, NewOutput, scatter_layout
from gscli.layout.axes import RAISE_OUTSIDE, Reduction, Tensor, Updates
from gscli.layout.families import address_axis, describe
from gscli.layout.refusals import check_dtype, check_index_dtype, check_min_rank


def _sorted_segment(reduction: Reduction, allowed: tuple[str, ...]) -> FamilyMember:
    """An operator `segment_NAME`; they differ in their reduction and element types."""

    def segment(data: Tensor, segment_ids: SortedInput) -> NewOutput:
        check_dtype(data, allowed)
        return _build_segment_layout(data, segment_ids, reduction)

    return FRAMEWORK.family_member(
        segment,
        example="'[[1.0,2.0],[3.0,4.0],[5.0,6.0]]' '[0,2,2]'",
        refused="'[1.0,2.0,3.0]' '[0,2,1]'",
    )


@_sorted_segment("add", NUMBERS)
def segment_sum() -> None:
    """Add up the rows of data that carry the same id; a segment without rows is 0.

    output = [last id + 1] ++ data.shape[1:]. segment_ids are one list of ids, one for each row of
    data, in ascending order from 0 on; an id may be left out, and no data gives no segment.
    """


@_sorted_segment("mul", NUMBERS)
def segment_prod() -> None:
    """Multiply the rows of data that carry the same id; a segment without rows is 1.

    Shapes and ids as in segment-sum.
    """


@_sorted_segment("max", REAL)
def segment_max() -> None:
    """Keep the largest of the rows of data that carry the same id; a segment without rows is 0.

    Shapes and ids as in segment-sum; real numbers only. NaN is chosen to win; in TensorFlow that
    depends on where it stands.
    """


@_sorted_segment("min", REAL)
def segment_min() -> None:
    """Keep the smallest of the rows of data that carry the same id; a segment without rows is 0.

    Shapes and ids as in segment-sum; real numbers only. NaN is chosen to win; in TensorFlow that
    depends on where it stands.
    """


@_sorted_segment("mean", (*FLOATS, *COMPLEX))
def segment_mean() -> None:
    """Average the rows of data that carry the same id; a segment without rows is 0.

    Shapes and ids as in segment-sum. Integers are refused here: TensorFlow 2.21 lets their sum wrap
    in their own type and cuts the quotient toward zero, so that int8 100, 100, 100 average 14.
    """


def _build_segment_layout(data: Tensor, ids: Tensor, reduction: Reduction) -> Layout:
    check_index_dtype(ids)
    check_min_rank(data)
    if ids.rank != 1 or ids.shape != data.shape[:1]:
        raise ShapeRefused(
            "segment_ids are one id for each row of data",
            where=describe(ids),
            details=(describe(data),),
            valid=format_shape(data.shape[:1]),
        )
    last, ascending = ids.values or (-1, 1)
    if not ascending:
        raise IndexRefused(
            "segment_ids are not in ascending order",
            where=describe(ids),
            hint="unsorted-segment-sum and its like take any order",
        )
    if ids.values and last < 0:
        raise IndexRefused("segment_ids are negative", where=describe(ids), valid="0 and more")
    rows = data._replace(name="output", shape=(last + 1, *data.shape[1:]))
    return scatter_layout(
        None,
        Updates("data"),
        address_axis(rows, ids, 0),
        RAISE_OUTSIDE,
        dtype=data.dtype,
        reduction=reduction,
        include_self=reduction in ("add", "mul"),
        fill=1 if reduction == "mul" else 0,
        unspecified=unspecified_nan(reduction),
    )
