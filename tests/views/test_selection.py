"""What of a large tensor is shown."""

from __future__ import annotations

import pytest

from gscli.base import UsageError
from gscli.views.choices import check_slice, parse_slice, rank_coordinates
from gscli.views.look import Limits
from gscli.views.sheet import select_cells

LIMITS = Limits(rows=6, columns=8, planes=4)


def shown(size: int, *spans: tuple[int, int], budget: int = 8, **more: int) -> list[int]:
    limits = Limits(rows=budget, columns=budget, **more)
    return sorted(rank_coordinates(range(size), spans, budget, limits))


def test_a_small_axis_is_shown_whole() -> None:
    assert shown(8, (3, 4)) == list(range(8))


def test_touched_then_borders_then_neighbours() -> None:
    assert rank_coordinates(range(100), [(50, 51)], 5, LIMITS) == [50, 0, 99, 49, 51]


def test_touched_cells_come_first_when_room_is_short() -> None:
    spans = [(at, at + 1) for at in (90, 10, 50, 30, 70)]
    assert rank_coordinates(range(100), spans, 3, LIMITS) == [90, 10, 50]


def test_a_bar_over_the_whole_axis_needs_no_cell_of_it() -> None:
    assert shown(100, (0, 100)) == [0, 1, 2, 97, 98, 99]


def test_nothing_touched_shows_the_borders_or_fills() -> None:
    assert shown(100) == [0, 1, 2, 97, 98, 99]
    assert shown(100, fill=True) == [0, 1, 2, 3, 96, 97, 98, 99]


def test_edges_are_as_wide_as_asked() -> None:
    assert shown(100, (50, 51), edge=0) == [49, 50, 51]
    assert shown(100, (50, 51), edge=2) == [0, 1, 49, 50, 51, 98, 99]


def test_rows_are_not_left_out_one_at_a_time() -> None:
    boxes = [((at, at + 1), (0, 2)) for at in (4, 8)]
    found = select_cells((range(100), range(2)), boxes, Limits(rows=10, columns=8, edge=1))
    assert found.rows == (0, 3, 4, 5, 6, 7, 8, 9, 99)


def test_touched_planes_and_the_first_and_last() -> None:
    boxes = [((41, 42), (0, 1), (0, 1)), ((7, 8), (0, 1), (0, 1))]
    found = select_cells((range(100), range(3), range(3)), boxes, LIMITS)
    assert found.planes == ((0,), (7,), (41,), (99,))
    assert found.plane_count == 100


def test_five_axes_show_only_touched_planes_and_the_ends() -> None:
    box = ((1, 2), (0, 1), (1, 2), (0, 1), (0, 1))
    found = select_cells((range(2),) * 3 + (range(3),) * 2, [box], Limits(rows=6, columns=8))
    assert found.planes == ((0, 0, 0), (1, 0, 1), (1, 1, 1))


def test_full_shows_everything() -> None:
    found = select_cells(
        (range(50), range(60), range(70)), [], Limits(rows=1, columns=1, full=True)
    )
    assert (len(found.planes), len(found.rows), len(found.columns)) == (50, 60, 70)


def test_the_cost_does_not_depend_on_the_size() -> None:
    huge = 10**15
    found = select_cells((range(huge),) * 3, [((5, 6), (0, huge), (huge - 9, huge))], LIMITS)
    assert len(found.planes) * len(found.rows) * len(found.columns) < 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,:", (range(1), range(4))),
        ("-1,::2", (range(2, 3), range(0, 4, 2))),
        ("[1:, :2]", (range(1, 3), range(2))),
        ("+1,1: 3", (range(1, 2), range(1, 3))),
        ("0", None),
    ],
)
def test_slices(text: str, expected: tuple[range, ...] | None) -> None:
    assert parse_slice(text, (3, 4)) == expected


@pytest.mark.parametrize(
    "text", ["3,:", "a,:", "::-1,0", "::0,0", ",0", "1:2:3:4,0", "1" * 5000 + ",0"]
)
def test_slices_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="slice"):
        parse_slice(text, (3, 4))


def test_the_tensor_that_a_slice_does_not_fit_is_named() -> None:
    with pytest.raises(UsageError) as refused:
        check_slice("2", {"data": (4,), "output": (1,)})
    assert refused.value.details == ("'2' on an axis of output, of size 1",)
