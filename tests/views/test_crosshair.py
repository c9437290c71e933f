"""The crosshair of a figure, read back: it ends at the heads of its target and strikes no text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from gscli.traces.trace import Trace, trace
from gscli.views.figure import CELL, LANES, LINE, to_svg
from gscli.views.options import ViewOptions
from gscli.views.terminal.step import frames

OPTIONS = ViewOptions(width=100, crosshair=True)


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
    "large": trace("onnx.gather_nd", {"data": np.zeros((500, 500)), "indices": [[3, 4], [99, -1]]}),
}


def segments(svg: str) -> list[list[tuple[float, float]]]:
    """The points of each elbow."""
    shapes = [one.attrib for one in ET.fromstring(svg).iter() if one.tag.endswith("path")]
    drawn = [one["d"] for one in shapes if one["fill"] == "none"]
    return [[(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", d)]
            for d in drawn]  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("name", RUNS)
def test_elbows_strike_no_text(name: str, width: int) -> None:
    found = RUNS[name]
    steps = frames(found, OPTIONS._replace(width=width))
    for step in range(1, len(steps) + 1):
        frame = steps.step(step)
        lines = ["".join(text for text, _ in line) for line in frame.lines()]
        elbows = segments(to_svg(frame, "t"))
        assert elbows, name
        for points in elbows:
            for (x, y), (to_x, to_y) in pairwise(points[:-1]):
                assert x == to_x or y == to_y
                for line, text in enumerate(lines):
                    # Letters stand between the top of a line and its base.
                    top, base = LANES + line * LINE + 4, LANES + line * LINE + 16
                    if max(y, to_y) <= top or min(y, to_y) >= base:
                        continue
                    for cell, letter in enumerate(text):
                        left = LANES + cell * CELL
                        over = min(x, to_x) < left + CELL - 1 and left + 1 < max(x, to_x)
                        assert not over or letter == " ", (name, width, step, line, text, cell)


def test_bands_lead_from_the_heads_to_the_cell() -> None:
    frame = frames(RUNS["scatter"], OPTIONS).step(3)
    root = ET.fromstring(to_svg(frame, "t"))
    bands = [one.attrib for one in root.iter() if "fill-opacity" in one.attrib]
    row, column = ((float(one["x"]), float(one["y"])) for one in bands)
    lines = ["".join(text for text, _ in line) for line in frame.lines()]
    (target,) = [number for number, line in enumerate(lines) if "c:11→41" in line]
    assert row[1] == LANES + target * LINE
    assert row[0] == pytest.approx(LANES + lines[target].index(" c 0 │") * CELL + CELL, abs=0.01)
    assert column[1] < row[1]
    assert {one["fill"] for one in bands} == {"#F0E442"}


def test_pictures_of_several_entries_have_none() -> None:
    from gscli.views.terminal.picture import picture

    assert not segments(to_svg(picture(scatter(), ViewOptions()), "t"))


def test_a_skipped_entry_has_none() -> None:
    found = trace(
        "tensorflow.tensor_scatter_nd_update",
        {"tensor": [1, 2], "indices": [[7], [0]], "updates": [5, 6]},
        {"device": "gpu"},
    )
    steps = frames(found, OPTIONS)
    assert not segments(to_svg(steps.step(1), "t"))
    assert segments(to_svg(steps.step(2), "t"))
