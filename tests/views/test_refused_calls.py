"""Pictures of calls that are refused because of an index: the entry is shown, nothing is made."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from refused import BAD_INDEX, refused_command

from gscli import operators
from gscli.cli import run_safely
from gscli.frameworks import find_operator
from gscli.frameworks.operator import Operator
from gscli.plan import plan_call
from gscli.traces import Trace, trace_call

GATHER = {"data": [[0, 1, 2], [3, 4, 5]], "indices": [[0, 7], [-9, 2]]}


@pytest.mark.parametrize("operator", operators()[::4], ids=lambda operator: operator.full_name)
def test_a_bad_index_is_drawn_and_stays_refused(
    operator: Operator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(refused_command(operator))[1:]
    assert run_safely(words) == 65
    alone = capsys.readouterr()
    pictures = ["--svg", "call.svg", "--html", "call.html"]
    assert run_safely([*words, *pictures, "-o", "out.npy"]) == 65
    drawn = capsys.readouterr()
    assert drawn.err == alone.err
    is_index = alone.err.startswith(BAD_INDEX)
    files = {path.name for path in tmp_path.iterdir()}
    assert files == ({"call.svg", "call.html"} if is_index else set())
    assert ("refused" in drawn.out) == is_index
    assert alone.out == ""


def refused_trace() -> Trace:
    operator = find_operator("gather_elements")
    inputs = {name: np.array(values) for name, values in GATHER.items()}
    plan = plan_call(operator, inputs, {"axis": 1}).skip_refused()
    return Trace(operator, plan, np.zeros((2, 2), int))


def test_what_is_refused_has_no_cell_and_the_rest_is_as_it_would_be() -> None:
    entries = refused_trace().entries()
    assert [entry.target for entry in entries] == [((0, 1), (0, 1)), None, None, ((1, 2), (2, 3))]
    outcomes = [[index.outcome for index in entry.adjustments] for entry in entries]
    assert outcomes == [[], ["refused"], ["refused"], []]
    known = refused_trace().known_cells
    assert known is not None
    assert known.tolist() == [[True, False], [False, True]]
    legal = trace_call(find_operator("gather"), {"data": [1], "indices": [0]}, {})
    assert not legal.is_refused
    assert legal.known_cells is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--step", "2"],
            "b  indices[0,1] = 7: 7 on axis 1 of size 3 is outside, which is refused",
        ),
        (["--step", "4"], "1 │   ·  d:5"),
        (["--svg", "a.svg"], "2 of 6 cells would be read, 2 of 4 entries refused"),
        (
            ["--svg", "a.svg", "--plain"],
            "7 on axis 1 of size 3 is out of range; the call is refused",
        ),
        (["--expect", "[[0,2],[3,5]]"], "indices out of range are clipped to the nearest end"),
        (["--expect", "[[9,9],[9,9]]"], "no rule set of compare and no common mistake"),
        (["--svg", "call.svg"], "refused, so that none is   · empty\n"),
        (["--step", "4"], "   · empty\n"),
        (["--expect", "[[0,0],[0,5]]"], "entries with an index out of range read 0"),
    ],
)
def test_a_refused_call_is_shown_where_that_is_asked_for(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = [str(values).replace(" ", "") for values in GATHER.values()]
    assert run_safely(["gather-elements", *inputs, "--axis", "1", *words]) == 65
    shown = capsys.readouterr()
    assert told in shown.out
    assert shown.err.startswith("error: index out of range")
    assert run_safely(["gather-elements", *inputs, "--axis", "1", *words, "-q"]) == 65
    quiet = capsys.readouterr().out
    assert told in quiet if "--expect" in words else not quiet, "no picture"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "b   -100✗ is ignored: dropped"),
        ([], "1 of 2 entries dropped, 1 of 2 entries refused, so"),
        (["--step", "2"], "-100 is ignored, so it is dropped"),
        (["--step", "2"], "✗ ignored, dropped   ✗ out of range, refused"),
        (["--plain"], "-100 is the number that is ignored; the entry is dropped.\n"),
        (["--plain"], "Legal: 0 .. 1 on axis 1; -100 is ignored, anything else is refused."),
    ],
)
def test_what_is_ignored_beside_a_bad_index_is_not_refused(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["torch", "nll-loss", "[[-0.1,-0.9],[-0.4,-0.6]]", "[7,-100]", *words]
    assert run_safely([*call, "--svg", str(tmp_path / "call.svg")]) == 65
    assert told in capsys.readouterr().out


def test_what_is_below_zero_beside_a_bad_index_is_counted_as_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["[1,2,3,4]", "[0,-1,5,-2]", "--num-segments", "2", "--svg", str(tmp_path / "call.svg")]
    assert run_safely(["tf", "unsorted-segment-sum", *words]) == 65
    counts = "2 of 4 entries dropped, 1 of 4 entries refused"
    assert counts in capsys.readouterr().out


def test_causes_of_a_refused_call_go_on_below_themselves(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_safely(["--width", "60", "gather", "[1,2,3]", "[7]", "--expect", "[3]"]) == 65
    _, *causes = capsys.readouterr().out.splitlines()
    assert len(causes) > 2
    assert all(line.startswith("  ") for line in causes)
