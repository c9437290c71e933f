"""Wrong predictions, and what is said to them."""

from __future__ import annotations

import numpy as np
import pytest
from page.examples import EXAMPLES, added, clipped, gathered
from page.test_page import facts

from gscli import trace
from gscli.traces import Trace
from gscli.views.look import ViewOptions
from gscli.views.page import render_page
from gscli.views.page.predict import Mistakes
from gscli.views.page.sheets import TraceView
from gscli.views.words.facts import Describer


def places(found: Trace, entry: int) -> dict[str, list[list[int | None]]]:
    told: dict[str, list[list[int | None]]] = {}
    for place, kind in Mistakes(found).iter_wrong_targets(found.entries()[entry]):
        told.setdefault(kind, []).append(place)
    return told


def values(found: Trace, entry: int) -> dict[str, str]:
    scene = TraceView(found, ViewOptions())
    told = Mistakes(found).iter_wrong_values(
        scene.entries[entry], Describer(scene.trace, scene.numbers)
    )
    return {kind: text for text, kind in told}


def test_row_and_column_may_be_swapped() -> None:
    assert places(added(), 0)["swapped"] == [[1, 0]]
    assert "swapped" not in places(added(), 1)
    planes = trace("onnx.gather_nd", {"data": np.ones((2, 2, 3)), "indices": [[1, 0]]})
    assert "number is for axis 0, the second for axis 1" in Mistakes(planes).explain("swapped")


def test_minus_one_may_be_read_as_zero_or_one() -> None:
    assert places(added(), 3)["end"] == [[0, 0], [1, 0]]
    below = trace("numpy.take", {"a": [10, 20, 30], "indices": [-1]}, {"mode": "clip"})
    assert "end" not in places(below, 0)


def test_an_index_may_be_counted_along_another_axis() -> None:
    inputs = {"data": np.arange(9).reshape(3, 3), "indices": [2]}
    last = trace("onnx.gather", inputs, {"axis": 1})
    assert places(last, 0)["axis"] == [[2, None]]
    assert Mistakes(last).explain("axis") == ("The index counts along axis 1: it names a column.")
    assert places(gathered(), 1) == {"axis": [[None, 0]]}
    four = trace("onnx.gather", {"data": np.ones((2, 2, 2, 3)), "indices": [1]}, {"axis": 1})
    assert Mistakes(four).explain("axis") == "The index counts along axis 1: it names a slice."


def test_an_index_outside_may_be_wrapped_where_it_is_clipped() -> None:
    assert places(clipped(), 0)["clipped"] == [[2]]
    wrapped = trace("numpy.take", {"a": [10, 20, 30], "indices": [7]}, {"mode": "wrap"})
    assert places(wrapped, 0)["wrapped"] == [[2]]


def test_counting_may_begin_with_one() -> None:
    assert places(added(), 1)["one"] == [[1, 1]]


def test_an_update_may_replace_and_an_earlier_one_be_forgotten() -> None:
    assert values(added(), 2) == {"replaced": "30", "forgotten": "31", "kept": "11"}
    found = trace("onnx.scatter_nd", {"data": [1, 2], "indices": [[1]], "updates": [9]})
    assert values(found, 0) == {"added": "11", "kept": "2"}
    assert values(gathered(), 2) == {"index": "-1"}
    inputs = {"data": [np.inf], "indices": [[0]], "updates": [-np.inf]}
    assert values(trace("onnx.scatter_nd", inputs), 0)["added"] == "nan"


def test_what_is_said_holds_for_ignored_numbers_changed_signs_and_cells_without_data() -> None:
    inputs = {"input": [[-1.0, -2.0]], "target": [-100]}
    said = Mistakes(trace("torch.nll_loss", inputs))
    assert said.explain("outside").endswith("out of range, or ignored.")
    assert "copied" not in said.explain("index")
    assert "not with data" not in said.explain("forgotten")


def test_the_question_names_what_is_read() -> None:
    planes = trace("onnx.gather", {"data": np.ones((2, 3, 4)), "indices": [[0, 2]]}, {"axis": 1})
    for found, thing in ((gathered(), "row"), (planes, "slice"), (clipped(), "cell")):
        assert facts(render_page([found]))[0]["thing"] == thing


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_wrong_place_is_the_right_one(name: str) -> None:
    found = EXAMPLES[name]()
    predictions = Mistakes(found)
    for entry in found.entries():
        for place, kind in predictions.iter_wrong_targets(entry):
            assert predictions.explain(kind)
            assert entry.target is not None
            box = zip(place, entry.target, strict=True)
            assert not all(at is None or start <= at < stop for at, (start, stop) in box) or (
                None in place
            )
