"""TensorFlow: unsorted_segment and segment, whose ids are sorted and tell how many there are."""

from __future__ import annotations

from functools import partial
from typing import Annotated, TypeAlias

from gscli.base import IndexRefused, check_rule
from gscli.base.words import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMBERS,
    bit_width,
    empty_reduction,
    format_shape,
)
from gscli.declare import SortedInput
from gscli.declare.attributes import Option
from gscli.frameworks.operator import FamilyMember
from gscli.frameworks.tensorflow import FRAMEWORK, NAN_WINS, REAL, Device, is_compiled
from gscli.layout import NewOutput, scatter_layout
from gscli.layout.axes import (
    RAISE_OUTSIDE,
    Negative,
    OutOfBounds,
    Policy,
    Reduction,
    Tensor,
    Updates,
    unspecified_nan,
)
from gscli.layout.families import address_axis
from gscli.layout.refusals import check_dtypes, check_min_rank

# What unsorted_segment_sum takes; the other reductions have no kernel for int16.
SUM_ID_DTYPES = ("int16", "int32", "int64")

Segments: TypeAlias = Annotated[int, Option("how many segments the result has")]


def _unsorted_segment(
    reduction: Reduction,
    allowed: tuple[str, ...],
    numbers: str,
    ids: tuple[str, ...] = ("int32", "int64"),
) -> FamilyMember:
    """An operator `unsorted_segment_NAME`; they differ in their reduction and element types."""

    def segment(
        data: Tensor, segment_ids: Tensor, *, num_segments: Segments, device: Device = "cpu"
    ) -> NewOutput:
        check_dtypes(data, allowed, segment_ids, ids)
        _check_segment_ids(data, segment_ids, num_segments, device)
        rows = Tensor("output", (num_segments, *data.shape[segment_ids.rank :]), data.dtype)
        # A mean also counts the ids themselves, and so looks at them when data is empty.
        averages = reduction in ("mean", "sqrt_n")
        checked = device == "cpu" and (averages or 0 not in data.shape)
        whole_mean = reduction == "mean" and data.dtype in INTEGERS
        quotient = "float32" if bit_width(data.dtype) <= 16 else "float64"  # noqa: PLR2004  bits
        return scatter_layout(
            None,
            Updates("data", cast=not whole_mean),
            address_axis(rows, segment_ids, 0),
            Policy(Negative.SKIP, OutOfBounds.RAISE if checked else OutOfBounds.SKIP),
            dtype=quotient if whole_mean else data.dtype,
            reduction=reduction,
            include_self=not averages,
            accumulate=data.dtype if whole_mean else None,
            fill=empty_reduction(data.dtype, reduction),
            unspecified=unspecified_nan("TensorFlow", reduction, NAN_WINS),
        )

    return FRAMEWORK.family_member(segment, f"'{numbers}' '[2,0,-1,2]' --num-segments 4")


@_unsorted_segment("add", NUMBERS, "[1,2,3,4]", ids=SUM_ID_DTYPES)
def unsorted_segment_sum() -> None:
    """Add up the rows of data that carry the same segment id; an empty segment is 0.

    output = [num_segments] ++ data.shape[rank(segment_ids):], and data.shape starts with the shape
    of segment_ids. A negative id drops its row; one ≥ num_segments is refused on the CPU, unless
    data is empty, and dropped on a GPU and under XLA. This sum takes int16 ids too, and so do the
    means made from it; the others take int32 and int64.
    """


@_unsorted_segment("mul", NUMBERS, "[1,2,3,4]")
def unsorted_segment_prod() -> None:
    """Multiply the rows of data that carry the same segment id; an empty segment is 1.

    Shapes and ids as in unsorted-segment-sum. TensorFlow gives a row of a negative id the gradient
    nan where it is nan or the product of segment 0 is not finite, and under XLA a row of an id too
    large one by the product of the last segment; gscli gives both 0.
    """


@_unsorted_segment("max", REAL, "[1.5,2.5,3.5,4.5]")
def unsorted_segment_max() -> None:
    """Keep the largest of the rows of data that carry the same segment id.

    Shapes and ids as in unsorted-segment-sum; real numbers only. An empty segment holds the lowest
    finite number of the type, not -inf. NaN is chosen to win, which TensorFlow does not promise.
    """


@_unsorted_segment("min", REAL, "[1.5,2.5,3.5,4.5]")
def unsorted_segment_min() -> None:
    """Keep the smallest of the rows of data that carry the same segment id.

    Shapes and ids as in unsorted-segment-sum; real numbers only. An empty segment holds the highest
    finite number of the type, not inf. NaN is chosen to win, which TensorFlow does not promise.
    """


@_unsorted_segment("mean", REAL, "[1.0,2.0,3.0,4.0]", ids=SUM_ID_DTYPES)
def unsorted_segment_mean() -> None:
    """Average the rows of data that carry the same segment id; an empty segment is 0.

    Shapes and ids as in unsorted-segment-sum; real numbers only. The sum is made in data's type and
    divided once by the number of rows; for integers, whose sum wraps, the quotient is a float32
    (8 and 16 bits) or a float64. Ids are judged even when data is empty.
    """


@_unsorted_segment("sqrt_n", FLOATS, "[1.0,2.0,3.0,4.0]", ids=SUM_ID_DTYPES)
def unsorted_segment_sqrt_n() -> None:
    """Add up the rows of data that carry the same segment id, and divide by the root of how many.

    Shapes and ids as in unsorted-segment-mean; floats only, and an empty segment is 0. The sum, the
    root and the quotient are made in data's type.
    """


def _check_segment_ids(data: Tensor, segment_ids: Tensor, num_segments: int, device: str) -> None:
    """An id for each row of data, and segments for them to go to."""
    count = f"num_segments = {num_segments}"
    check_rule(num_segments >= 0, "num_segments is negative", count, valid="0 or more")
    fits, legal = data.shape[: segment_ids.rank] == segment_ids.shape, "one id for each row of data"
    problem = "data does not start with the shape of segment_ids"
    where = f"data {format_shape(data.shape)}, segment_ids {format_shape(segment_ids.shape)}"
    fitting = (*segment_ids.shape, *data.shape[segment_ids.rank :])
    check_rule(fits, problem, where, name=data.name, wanted=fitting, valid=legal)
    has_place = num_segments > 0 or 0 in segment_ids.shape or not is_compiled(device)
    problem, legal = "XLA writes into no segments at all", "1 or more, or no segment_ids"
    check_rule(has_place, problem, count, valid=legal)


def _sorted_segment(reduction: Reduction, allowed: tuple[str, ...]) -> FamilyMember:
    """An operator `segment_NAME`; they differ in their reduction and element types."""

    def segment(data: Tensor, segment_ids: SortedInput) -> NewOutput:
        check_dtypes(data, allowed, segment_ids)
        fitting = (*segment_ids.shape, *data.shape[1:]) if segment_ids.rank == 1 else None
        check_min_rank(data, wanted=fitting)
        problem, legal = "segment_ids are one id for each row of data", format_shape(data.shape[:1])
        fits, name = segment_ids.rank == 1 and segment_ids.shape == data.shape[:1], data.name
        check_rule(fits, problem, segment_ids, data, name=name, wanted=fitting, valid=legal)
        last, ascending = segment_ids.values or (-1, 1)
        check_ids = partial(check_rule, kind=IndexRefused)
        hint = "unsorted-segment-sum and its like take any order"
        problem = "segment_ids are not in ascending order"
        check_ids(bool(ascending), problem, segment_ids, hint=hint)
        is_legal = last >= 0 or not segment_ids.values
        check_ids(is_legal, "segment_ids are negative", segment_ids, valid="0 and more")
        rows = data._replace(name="output", shape=(last + 1, *data.shape[1:]))
        return scatter_layout(
            None,
            Updates("data", keeps_lone=data.dtype not in INTEGERS),
            address_axis(rows, segment_ids, 0),
            RAISE_OUTSIDE,
            dtype=data.dtype,
            reduction=reduction,
            include_self=reduction in ("add", "mul"),
            fill=1 if reduction == "mul" else 0,
            unspecified=unspecified_nan("TensorFlow", reduction, NAN_WINS),
        )

    return FRAMEWORK.family_member(segment, "'[[1.0,2.0],[3.0,4.0],[5.0,6.0]]' '[0,2,2]'")


@_sorted_segment("add", NUMBERS)
def segment_sum() -> None:
    """Add up the rows of data that carry the same id; a segment without rows is 0.

    output = [last id + 1] ++ data.shape[1:]. segment_ids are one list of ids, one for each row of
    data, in ascending order from 0 on; an id may be left out, and no data gives no segment.
    """


@_sorted_segment("mul", NUMBERS)
def segment_prod() -> None:
    """Multiply the rows of data that carry the same id; a segment without rows is 1.

    Shapes and ids as in segment-sum. What NumPy makes NaN of complex infinities stays NaN, where
    TensorFlow has infinities.
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
