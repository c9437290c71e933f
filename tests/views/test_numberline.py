"""The number line of a comparison, checked against what the rule sets answered."""

from __future__ import annotations

import numpy as np
import pytest

from gscli.lab.answers import Comparing
from gscli.lab.compare import compare
from gscli.views.numberline import number_line

DATA = [10, 20, 30]


def gathered(*indices: int, data: object = DATA) -> Comparing:
    return compare("gather", {"data": data, "indices": list(indices)})


@pytest.mark.parametrize("indices", [(0, -1, 7), (2, 2, 1), (-3, 5), (-7,), (3, -4)])
def test_each_landing_is_where_the_value_came_from(indices: tuple[int, ...]) -> None:
    comparing = gathered(*indices)
    line = number_line(comparing)
    assert line is not None
    assert len(line.behaviours) == len(comparing.groups)
    for behaviour in line.behaviours:
        output = behaviour.group.first.output
        for landing in behaviour.landings:
            assert landing.written == indices[landing.number]
            assert landing.written in line.places
            if output is None:
                assert landing.fate in ("refused", "unreached")
                assert (landing.fate == "refused") == (
                    landing.number == behaviour.group.first.entry
                )
            elif landing.to is None:
                assert landing.fate == "skipped"
                assert output[landing.number] not in DATA
            else:
                assert output[landing.number] == DATA[landing.to]


def test_behaviours_have_names() -> None:
    line = number_line(gathered(0, -1, 7))
    assert line is not None
    names = {one.group.labels[0]: one.name for one in line.behaviours}
    assert names["ONNX Gather-13"] == "refuse what is outside"
    assert names["OpenVINO Gather-7"] == "refuse below zero too"
    assert names["NumPy take (wrap)"] == "wrap around"
    assert names["NumPy take (clip)"] == "clip to the nearest end"
    assert names["OpenVINO Gather-8"] == "from the end, else 0"
    assert names["TF gather GPU"] == "0 for anything outside"
    assert names["JAX x[i]"] == "from the end, then clip"


def test_a_scatter_drops() -> None:
    inputs = {"data": [1, 2, 3], "indices": [[0], [-1], [5]], "updates": [7, 8, 9]}
    line = number_line(compare("scatter-nd", inputs, only=["tf", "jax"]))
    assert line is not None
    fates = {one.name: [landing.fate for landing in one.landings] for one in line.behaviours}
    assert fates["drop what is outside"] == ["used", "skipped", "skipped"]
    assert fates["from the end, else drop"] == ["used", "wrapped", "skipped"]


@pytest.mark.parametrize(
    "comparing",
    [
        gathered(0, 40),
        gathered(*range(3), *range(3), *range(3), *range(3), 0),
        compare("gather", {"data": DATA, "indices": np.zeros(0, np.int64)}),
        compare("gather-nd", {"data": [[1, 2]], "indices": [[0, 1]]}),
        compare("gather-elements", {"data": [[1, 2]], "indices": [[0, 1]]}),
        compare("gather", {"data": DATA, "indices": [9]}, only=["onnx"]),
    ],
    ids=["far", "many", "none", "two axes", "own places", "refusals alone"],
)
def test_what_has_no_line(comparing: Comparing) -> None:
    assert number_line(comparing) is None
