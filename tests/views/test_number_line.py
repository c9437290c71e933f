"""The number line of a comparison, checked against what the rule sets answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from gscli.lab.answers import ComparisonResult, group_equal_results
from gscli.lab.compare import compare
from gscli.layout.axes import OutOfBounds
from gscli.plan.outcomes import AdjustedIndex
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.number_line import NumberLine
from gscli.views.number_line import make_number_line as line_of
from gscli.views.page import render_page
from gscli.views.terminal.compare import ComparisonView
from gscli.views.words.compare_words import describe_comparison
from gscli.views.words.comparison import ComparisonTexts

DATA = [10, 20, 30]
PLAIN = ViewOptions(width=100, color="none", lines=True)


def number_line(comparing: ComparisonResult) -> NumberLine | None:
    return line_of(ComparisonTexts(comparing, PLAIN))


def gathered(*indices: int, data: object = DATA) -> ComparisonResult:
    return compare("gather", {"data": data, "indices": list(indices)})


def refusing(index: int) -> set[str]:
    """The rule sets that refuse an index that is alone."""
    rows = (row for group in gathered(index).groups for row in group.rows)
    return {row.label for row in rows if row.output is None}


@pytest.mark.parametrize(
    "indices", [(0, -1, 7), (2, 2, 1), (-3, 5), (-7,), (3, -4), (7, -1), (9, -1, 9, -1, 9)]
)
def test_each_landing_is_where_the_value_came_from(indices: tuple[int, ...]) -> None:
    comparing = gathered(*indices)
    line = number_line(comparing)
    assert line is not None
    assert len(line.behaviours) == len(comparing.outcome_groups)
    for behaviour in line.behaviours:
        output = behaviour.group.first.output
        for landing in behaviour.indices:
            assert landing.written == indices[landing.entry_number]
            assert landing.written in line.places
            if output is None:
                assert landing.outcome in ("refused", "unreached")
                refused_by_all = refusing(landing.written) >= {*behaviour.group.labels}
                assert (landing.outcome == "refused") == refused_by_all
            elif landing.coordinate is None:
                assert landing.outcome == "skipped"
                assert output[landing.entry_number] not in DATA
            else:
                assert output[landing.entry_number] == DATA[landing.coordinate]


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


SEEN = {"wrap around": OutOfBounds.WRAP, "clip": OutOfBounds.CLIP, "else": OutOfBounds.SKIP}


@pytest.mark.parametrize("indices", [(0, 5), (2, -1), (5, 5, -4), (1, 0), (-3, 0)])
@pytest.mark.parametrize("data", [DATA, [0, 7, 0]])
def test_what_is_said_of_equal_answers_holds_for_all_of_them(
    indices: tuple[int, ...], data: list[int]
) -> None:
    """With three cells 5 is cell 2 where it wraps around and where it is clipped: one answer."""
    comparing = gathered(*indices, data=data)
    line = number_line(comparing)
    assert line is not None
    for one in line.behaviours:
        assert one.name
        told = [(i.entry_number, i.outcome, i.coordinate) for i in one.indices]
        for row in one.group.rows if one.group.first.trace else ():
            assert row.trace is not None
            found = [
                (e.number, *_fate(e.adjustments, int(e.vector[0]))) for e in row.trace.entries()
            ]
            assert found == told, (one.name, row.label)
            beyond = [kind for word, kind in SEEN.items() if word in one.name]
            assert not beyond or row.trace.layout.policy.out_of_bounds in beyond, (
                one.name,
                row.label,
            )
    drawn = render_text(ComparisonView(comparing, PLAIN), PLAIN)
    for row in (row for group in comparing.groups for row in group.rows):
        assert row.label in " ".join(drawn.split())


def _fate(adjustments: Sequence[AdjustedIndex], written: int) -> tuple[str, int | None]:
    return (adjustments[0].how, adjustments[0].coordinate) if adjustments else ("used", written)


def test_a_number_below_zero_is_not_called_so_where_it_counts_from_the_end() -> None:
    only = ["TF gather CPU", "ONNX"]
    (group,) = compare("gather", {"data": DATA, "indices": [-7]}, only=only).groups
    assert ComparisonTexts.describe_refusal(group).startswith(
        "-7 index out of range, legal 0 … 2, or -3 … 2 in ONNX"
    )


def test_a_scatter_drops() -> None:
    inputs = {"data": [1, 2, 3], "indices": [[0], [-1], [5]], "updates": [7, 8, 9]}
    line = number_line(compare("scatter-nd", inputs, only=["tf", "jax"]))
    assert line is not None
    fates = {one.name: [landing.outcome for landing in one.indices] for one in line.behaviours}
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
def test_what_has_no_line(comparing: ComparisonResult) -> None:
    assert number_line(comparing) is None


MEETING = {"data": [1, 2, 3, 4], "indices": [1, 1, 9], "updates": [10, 20, 30]}


@pytest.mark.parametrize(
    ("reduction", "told", "name"),
    [
        ("none", "b, the last, wins with 20", "the last one wins"),
        ("add", "2 + 10 + 20 = 32", "updates add up"),
        ("max", "max(2, 10, 20) = 20", "updates are combined by max"),
    ],
)
def test_entries_that_meet_say_what_comes_of_it(reduction: str, told: str, name: str) -> None:
    comparing = compare("scatter-elements", MEETING, reduction=reduction)
    line = number_line(comparing)
    assert line is not None
    for behaviour in line.behaviours:
        output = behaviour.group.first.output
        if output is None:
            assert not behaviour.duplicate_writes
            continue
        (meeting,) = behaviour.duplicate_writes
        assert meeting == (1, [0, 1], told)
        assert behaviour.name == f"drop what is outside, {name}"
        assert str(output[1]) == told.rsplit(maxsplit=1)[-1]
    drawn = render_text(ComparisonView(comparing, PLAIN), PLAIN)
    (met,) = [one for one in drawn.split("\n") if told in one]
    ruler = next(one for one in drawn.split("\n") if one.startswith("index"))
    assert met.index("ab") + 1 == ruler.index("1")
    assert f"  entries a, b: output[1], twice: {told}." in describe_comparison(comparing, PLAIN)


def test_a_meeting_is_shown_where_all_agree() -> None:
    inputs = {"data": [1, 2], "indices": [1, 1], "updates": [5, 6]}
    drawn = render_text(ComparisonView(compare("scatter-elements", inputs), PLAIN), PLAIN)
    assert "the last one wins" in drawn
    assert "b, the last, wins with 6" in drawn


def test_slices_have_a_line_too() -> None:
    inputs = {"data": [[1, 2], [3, 4]], "indices": [0, 0, -1], "updates": [[5, 6], [7, 8], [9, 9]]}
    drawn = render_text(ComparisonView(compare("scatter-update", inputs), PLAIN), PLAIN)
    assert "index   -1 │   0   1 │" in drawn
    assert "output[1,:]: 3 4 ≠ 9 9" in drawn
    assert "-1 is outside: dropped" in drawn
    assert "b, the last, wins" in drawn


@pytest.mark.parametrize("width", range(40, 140, 7))
@pytest.mark.parametrize("concept", ["gather", "scatter-elements"])
def test_no_line_is_wider_than_asked(width: int, concept: str) -> None:
    inputs = {key: MEETING[key] for key in ("data", "indices", "updates")}
    if concept == "gather":
        del inputs["updates"]
    options = ViewOptions(width=width, color="none")
    drawn = render_text(ComparisonView(compare(concept, inputs), options), options)
    assert max(map(len, drawn.split("\n"))) <= width
    assert not re.search(r"\S…", drawn)  # nothing is cut


def test_the_base_is_the_same_at_every_width() -> None:
    comparing = gathered(0, -1, 7)
    bases = set()
    for width in range(40, 141, 20):
        options = ViewOptions(width=width, color="none")
        drawn = " ".join(render_text(ComparisonView(comparing, options), options).split())
        bases.add(re.findall(r"a value other than (.*?)'s", drawn)[0])
    assert bases == {"NumPy take (clip)"}


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 2)])
def test_every_view_has_digits_enough_to_tell_answers_apart(
    shape: tuple[int, ...], *, lines: bool
) -> None:
    data = np.full(shape, 1 / 3)
    alone = compare("gather", {"data": data, "indices": np.arange(shape[0])}, only=["onnx"])
    row, other = alone.rows[0], np.where(np.arange(data.size).reshape(shape), data, data + 1e-9)
    rows = [row, row.with_runtime_answer("ort", other, None)]
    comparing = replace(alone, groups=group_equal_results(rows))
    options = PLAIN._replace(lines=lines)
    views = (
        render_text(ComparisonView(comparing, options), options),
        describe_comparison(comparing, options),
        render_page([comparing]),
    )
    for text in views:
        assert "0.3333333333333333" in text
        assert "0.3333333343333333" in text
