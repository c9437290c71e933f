"""The map of a large tensor and the lenses on its neighbourhoods, read back from the picture."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from views.reading import tables

from gscli.base.words import entry_label
from gscli.traces import Trace, trace
from gscli.views.lenses import split_into_regions
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.page import render_page
from gscli.views.picture import Picture
from gscli.views.terminal.frames import Frames
from gscli.views.terminal.legend import MAX_LETTERS, SHIFTS

FRAME = re.compile(r"│(.*)│$")


def scattered(cells: list[tuple[int, int]], shape: tuple[int, int]) -> Trace:
    inputs = {"data": np.zeros(shape), "indices": cells, "updates": np.arange(1.0, len(cells) + 1)}
    return trace("onnx.scatter_nd", inputs)


def drawn(found: Trace, width: int = 60, **options: object) -> str:
    shown = ViewOptions(width=width, color="none", **options)  # type: ignore[arg-type]
    return render_text(Picture(found, shown), shown)


def frame(text: str) -> list[str]:
    """What stands within the outline."""
    return [one[1] for line in text.split("\n") if (one := FRAME.search(line))]


@pytest.mark.parametrize("seed", range(20))
def test_letters_lie_where_their_cells_do(seed: int) -> None:
    rng = random.Random(seed)
    shape = (rng.choice([50, 300, 4000]), rng.choice([50, 300, 4000]))
    count = rng.choice([1, 3, 20, 40])
    cells = [(rng.randrange(shape[0]), rng.randrange(shape[1])) for _ in range(count)]
    text = drawn(scattered(cells, shape))
    lines = frame(text)
    marked = dict.fromkeys(["too close to be marked", "drawn as ·"], 0)
    notes = re.findall(r"⋯ (\d+) (?:entries are|entry is) (.*)", text)
    marked |= {words: int(count) for count, words in notes}
    missing = 0
    for number, (row, column) in list(enumerate(cells))[:MAX_LETTERS]:
        line = lines[row * len(lines) // shape[0]]
        place = line.find(entry_label(number))
        missing += place < 0
        assert place < 0 or abs(place - column * len(line) // shape[1]) <= SHIFTS
    crowded, points = marked.values()
    assert points >= "".join(lines).count("·")
    assert crowded + points == missing + max(count - MAX_LETTERS, 0)


def test_an_entry_beneath_others_is_not_called_a_point() -> None:
    found = trace("onnx.gather", {"data": np.zeros((3000, 3000)), "indices": np.arange(100)})
    text = drawn(found)
    assert "·" not in text
    assert "⋯ 91 entries are too close to be marked" in text


@pytest.mark.parametrize(("limit", "rest"), [(None, 100), (50, 100), (300, 0)])
def test_a_map_says_how_many_entries_it_leaves_out(limit: int | None, rest: int) -> None:
    found = trace("onnx.gather", {"data": np.zeros((3000, 3000)), "indices": np.arange(300)})
    notes = re.findall(r"⋯ (\d+) entries are (.*)", drawn(found, limit=limit))
    counts = {words: int(count) for count, words in notes}
    assert counts.pop("left out of the map", 0) == rest
    assert sum(counts.values()) <= 300 - rest
    page = render_page([found], options=ViewOptions(limit=limit))
    assert ("left out of the map" in page) is (rest > 0)


def test_a_slice_reaches_across_its_map() -> None:
    found = trace("onnx.gather", {"data": np.zeros((500, 500)), "indices": [0, 499]})
    lines = frame(drawn(found))
    assert lines[0] == "a" + "─" * (len(lines[0]) - 1)
    assert lines[-1] == "b" + "─" * (len(lines[0]) - 1)
    found = trace("onnx.gather", {"data": np.zeros((500, 500)), "indices": [0]}, {"axis": 1})
    assert [line[0] for line in frame(drawn(found))] == ["a", *"│││││││"]


def test_planes_that_are_touched_have_a_map_each() -> None:
    inputs = {"data": np.zeros((9, 90, 90)), "indices": [[1, 5, 5], [7, 80, 80]], "updates": [1, 2]}
    inputs["updates"] = np.array([1.0, 2.0])
    text = drawn(trace("onnx.scatter_nd", inputs), 120)
    assert re.search(r"^ *.*\[1,:,:\] +\[7,:,:\]", text, re.MULTILINE)
    places = [[plane, plane, 5] for plane in (0, 1, 2, 3, 4, 5, 6, 6)]
    many = {"data": np.zeros((9, 90, 90)), "indices": places}
    assert "⋯ 2 entries are on no map\n" in drawn(trace("onnx.gather_nd", many))
    many["indices"] = places[:-1]
    assert "⋯ 1 entry is on no map\n" in drawn(trace("onnx.gather_nd", many))


def test_entries_of_a_later_step_have_letters_too() -> None:
    inputs = {"data": np.zeros((90, 90)), "indices": np.arange(60)[:, None]}
    frame_of_last = Frames(trace("onnx.gather_nd", inputs), ViewOptions(color="none")).step(60)
    text = render_text(frame_of_last, frame_of_last.options)
    assert "ah" in "".join(frame(text))
    assert "·" not in text


def test_each_neighbourhood_has_a_lens_with_was_and_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gscli.views.group.LENS_GAP", 1000)  # below each other
    found = scattered([(3, 17), (412, 300), (413, 301), (999, -1)], (1000, 1000))
    lines = drawn(found, 80).split("\n")
    start = lines.index("3 neighbourhoods, close up")
    end = next(n for n, line in enumerate(lines) if "counts from the end" in line)
    shown = [table for _, table in tables(lines[start + 1 : end])]
    cells = {place: cell.text for table in shown for place, cell in table.cells.items()}
    assert {place: text for place, text in cells.items() if text != "0"} == {
        (3, 17): "0→1", (412, 300): "0→2", (413, 301): "0→3", (999, 999): "0→4"
    }  # fmt: skip
    assert len(cells) == 9 + 16 + 4


def test_what_one_table_holds_is_not_taken_apart() -> None:
    rows = [((at, at + 1), (0, 500)) for at in (3, 300)]
    assert split_into_regions((500, 500), rows) == []
    assert split_into_regions((500, 500), [((0, 500), (0, 400))]) == []
    assert len(split_into_regions((500, 500), [((1, 2), (1, 2)), ((90, 91), (200, 201))])) == 2


def test_rows_that_are_asked_for_are_one_table() -> None:
    found = scattered([(3, 17), (412, 300)], (1000, 1000))
    assert "close up" in drawn(found)
    assert "close up" not in drawn(found, rows=5)
    assert "where" not in drawn(found, slice="0:9,0:9")


def test_every_neighbour_has_a_lens_of_bounded_reach() -> None:
    diagonal = [((at, at + 1), (at, at + 1)) for at in range(0, 100, 2)]
    found = split_into_regions((1000, 1000), diagonal)
    assert len(found) > 1
    assert all(len(axis) <= 8 for lens in found for axis in lens)


def test_a_point_on_a_map_is_not_called_empty() -> None:
    """It stands for an entry beyond those with letters; in the steps of a gather for a cell."""
    numbers = np.arange(40)
    inputs = {
        "data": np.zeros((200, 200)),
        "indices": np.stack([numbers * 5, numbers * 5], axis=1),
        "updates": np.ones(40),
    }
    options = ViewOptions(color="none")
    drawn = render_text(Picture(trace("onnx.scatter_nd", inputs), options), options)
    assert "·" in drawn
    assert "· empty" not in drawn
