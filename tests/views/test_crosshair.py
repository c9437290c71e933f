"""The crosshair of a figure, read back: it ends at the heads of its target and strikes no text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from conftest import slow

from gscli.traces import Trace, trace
from gscli.views.figure import CELL, CROSSHAIR_MARGIN, LINE, render_svg
from gscli.views.look import ViewOptions
from gscli.views.picture import Picture
from gscli.views.terminal.frames import Frames

OPTIONS = ViewOptions(width=100, figure=True)


def scatter(**more: object) -> Trace:
    inputs = {"data": np.ones((4, 3)), "indices": [[0, 1], [2, 2], [0, 1], [-1, 0]]}
    updates = {"updates": np.array([10.0, 20.0, 30.0, 40.0])}
    return trace("onnx.scatter_nd", {**inputs, **updates, **more}, {"reduction": "add"})


RUNS = {
    "scatter": scatter(),
    "rows": trace("onnx.gather", {"data": np.arange(12).reshape(4, 3), "indices": [2, 0, -1]}),
    "columns": trace("onnx.gather", {"data": np.eye(4), "indices": [2, 0]}, {"axis": 1}),
    "elements": trace(
        "onnx.gather_elements", {"data": np.arange(9).reshape(3, 3), "indices": [[0, 2, 1]]}
    ),
    "planes": trace(
        "onnx.scatter_nd",
        {
            "data": np.arange(36).reshape(3, 3, 4),
            "indices": [[1, 2, 3], [0, 0, 1]],
            "updates": [7, 9],
        },
    ),
    "vector": trace("onnx.scatter_nd", {"data": [1, 2, 3], "indices": [[2]], "updates": [9]}),
    "sheets": trace("onnx.gather", {"data": np.arange(36).reshape(3, 3, 4), "indices": [2, 0]}),
    "stacked": trace("onnx.gather", {"data": np.eye(3, 9), "indices": [[2, 0], [1, 1]]}),
    "large": trace("onnx.gather_nd", {"data": np.zeros((500, 500)), "indices": [[3, 4], [99, -1]]}),
}


def segments(svg: str) -> list[list[tuple[float, float]]]:
    """The points of each elbow."""
    shapes = [one.attrib for one in ET.fromstring(svg).iter() if one.tag.endswith("path")]
    drawn = [one["d"] for one in shapes if one["fill"] == "none"]
    return [[(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", d)]
            for d in drawn]  # fmt: skip


def words(svg: str) -> list[tuple[str, float, float, float]]:
    """Each word of a figure: its text, both ends, and its base; those of sheets where they lean."""
    found: list[tuple[str, float, float, float]] = []
    root = ET.fromstring(svg)
    parts = [(root, 0.0, 0.0)]
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        one, zero, slope, unit, move, still = re.findall(r"-?[\d.]+", group.attrib["transform"])
        assert (one, zero, unit, still) == ("1", "0", "1", "0")
        parts.append((group, float(slope), float(move)))
    for part, slope, move in parts:
        for word in part.iterfind("{http://www.w3.org/2000/svg}text"):
            x, y, length = (float(word.attrib[name]) for name in ("x", "y", "textLength"))
            x += slope * (y - 5) + move
            found.append((word.text or "", x, x + length, y))
    return found


@pytest.mark.parametrize("width", [60, *slow([40, 80, 120])])
@pytest.mark.parametrize("name", RUNS)
def test_elbows_strike_no_text(name: str, width: int) -> None:
    steps = Frames(RUNS[name], OPTIONS._replace(width=width))
    for step in range(1, len(steps) + 1):
        svg = render_svg(steps.step(step), "t")
        elbows = segments(svg)
        assert elbows, name
        for points in elbows:
            for (x, y), (to_x, to_y) in pairwise(points[:-1]):
                assert abs(x - to_x) < 0.11 or abs(y - to_y) < 0.11
                for word, left, right, base in words(svg):
                    # Letters stand between eleven pixels above their base and one below it.
                    if max(y, to_y) <= base - 11 or min(y, to_y) >= base + 1:
                        continue
                    over = min(x, to_x) < right - 1 and left + 1 < max(x, to_x)
                    assert not over, (name, width, step, word)


def test_bands_lead_from_the_heads_to_the_cell() -> None:
    frame = Frames(RUNS["scatter"], OPTIONS).step(3)
    root = ET.fromstring(render_svg(frame, "t"))
    bands = [one.attrib for one in root.iter() if "fill-opacity" in one.attrib]
    row, column = ((float(one["x"]), float(one["y"])) for one in bands)
    lines = ["".join(text for text, _ in line) for line in frame.render_lines()]
    (target,) = [number for number, line in enumerate(lines) if "c:11→41" in line]
    assert row[1] == CROSSHAIR_MARGIN + target * LINE
    assert row[0] == pytest.approx(CROSSHAIR_MARGIN + lines[target].index("0 │") * CELL, abs=0.01)
    assert column[1] < row[1]
    assert {one["fill"] for one in bands} == {"#F0E442"}


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("name", ["rows", "columns", "elements", "stacked"])
def test_a_gather_copies_with_an_arrow_from_the_read_cells_to_their_place(
    name: str, width: int
) -> None:
    """The last elbow begins beside the cells in data and ends at the output's."""
    steps = Frames(RUNS[name], OPTIONS._replace(width=width))
    for step in range(1, len(steps) + 1):
        frame = steps.step(step)
        lines = frame.render_lines()
        spots: dict[str, list[tuple[float, float, float]]] = {}
        for number, line in enumerate(lines):
            at = 0
            for text, style in line:
                box = (at, number, at + len(text))
                spots.setdefault(style.role, []).append(box)
                at += len(text)
        *_, copied = segments(render_svg(frame, "t"))
        (x, y), (to_x, to_y) = (_cell(copied[0]), _cell(copied[-1]))
        assert any(
            start <= x <= stop + 0.1 and line <= y <= line + 1
            for start, line, stop in spots["cell"]
        ), (name, step)
        (start, line, stop), *_ = spots["result"]
        beside = line <= to_y <= line + 1 and to_x <= start
        above = to_y < line and start <= to_x <= stop
        assert beside or above, (name, step, lines[int(to_y)])


@pytest.mark.parametrize("width", [90, *slow([72, 120])])
def test_a_copy_runs_clear_of_the_edge_of_its_sheet(width: int) -> None:
    steps = Frames(RUNS["sheets"], OPTIONS._replace(width=width))
    for step in range(1, len(steps) + 1):
        svg = render_svg(steps.step(step), "t")
        *_, copied = segments(svg)
        groups = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g")
        sheets = [group[0].attrib for group in groups]
        feet = {float(sheet["y"]) + float(sheet["height"]) for sheet in sheets}
        level = [y for (_, y), (_, to_y) in pairwise(copied) if y == to_y]
        assert level
        assert min(abs(y - foot) for y in level for foot in feet) > 2


def _cell(point: tuple[float, float]) -> tuple[float, float]:
    """A point in cells and lines."""
    return (point[0] - CROSSHAIR_MARGIN) / CELL, (point[1] - CROSSHAIR_MARGIN) / LINE


@pytest.mark.parametrize("width", [60, 71, 72, 120])
def test_planes_of_wide_figures_are_oblique_sheets(width: int) -> None:
    """A sheet holds one plane, whole; from 600 pixels on it leans, and stays within the figure."""
    options = OPTIONS._replace(width=width)
    for name, count in (("planes", 3), ("rows", 0)):
        svg = render_svg(Picture(RUNS[name], options), "t")
        root = ET.fromstring(svg)
        groups = root.findall("{http://www.w3.org/2000/svg}g")
        assert len(groups) == count * (width * CELL >= 600)
        for number, group in enumerate(groups):
            (edge,) = [one for one in group if one.attrib.get("stroke")]
            top, height = float(edge.attrib["y"]), float(edge.attrib["height"])
            texts = [one.text for one in group if one.text]
            untouched = {str(value) for value in range(12 * number, 12 * number + 12)} - {"1", "23"}
            assert untouched <= set(texts)
            slope, move = (float(one) for one in re.findall(r"(-?[\d.]+) 1 ([\d.]+)", svg)[number])
            right = float(edge.attrib["x"]) + float(edge.attrib["width"])
            assert right + slope * top + move <= float(root.attrib["width"])
            assert abs(slope * (top + height) + move) < 0.1  # its foot stays where it was


@pytest.mark.parametrize("rows", [1, 3, 30])
def test_heads_of_oblique_sheets_stand_above_their_columns(rows: int) -> None:
    """However tall a sheet is, its head is nearer to its own column's foot than to the next."""
    run = trace("onnx.gather", {"data": np.zeros((2, rows, 5), np.int64), "indices": [1]})
    svg = render_svg(Picture(run, OPTIONS._replace(full=True)), "t")
    groups = ET.fromstring(svg).findall("{http://www.w3.org/2000/svg}g")
    slopes = [float(one) for one in re.findall(r"1 0 (-[\d.]+) 1", svg)]
    assert len(groups) == len(slopes) == 3
    for group, slope in zip(groups, slopes, strict=True):
        fourth, last, *_ = [float(one.attrib["x"]) for one in group if one.text in {"3", "4"}]
        (edge,) = [one for one in group if one.attrib.get("stroke")]
        assert 2 * -slope * (float(edge.attrib["height"]) - LINE) < last - fourth


def test_pictures_of_several_entries_have_none() -> None:
    assert not segments(render_svg(Picture(scatter(), OPTIONS), "t"))


def test_a_skipped_entry_has_none() -> None:
    found = trace(
        "tensorflow.tensor_scatter_nd_update",
        {"tensor": [1, 2], "indices": [[7], [0]], "updates": [5, 6]},
        {"device": "gpu"},
    )
    steps = Frames(found, OPTIONS)
    assert not segments(render_svg(steps.step(1), "t"))
    assert segments(render_svg(steps.step(2), "t"))
