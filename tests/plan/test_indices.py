"""The judging of indices: nothing to judge is never refused, offsets reach the end they have."""

from __future__ import annotations

import numpy as np
import pytest

from gscli.base import IndexRefused
from gscli.layout.axes import Axis, Policy, SegmentNumbers
from gscli.plan.indices import describe_out_of_range, number_segments


def test_nothing_is_never_outside() -> None:
    assert describe_out_of_range(np.zeros(0, np.int64), Axis(0, column=0), Policy()) is None


@pytest.mark.parametrize(
    ("has_end", "own", "valid", "meaning"),
    [
        (False, [1, 2], "0", "offsets are where segments begin, ascending: 0 … 3"),
        (True, [0, 2], "3", "offsets are where segments begin and, one more, where the last one"),
    ],
)
def test_offsets_that_have_an_end_say_so_and_reach_it(
    has_end: bool, own: list[int], valid: str, meaning: str
) -> None:
    numbers = SegmentNumbers("offsets", True, True, has_end)
    with pytest.raises(IndexRefused) as refused:
        number_segments(numbers, np.array(own), (3,))
    assert refused.value.valid == valid
    assert refused.value.hint.startswith(meaning)
