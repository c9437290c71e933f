"""What `gscli.watch` notes and says, without any framework."""

from __future__ import annotations

import json
import pickle
import sys
from io import StringIO
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import gscli
from gscli.base import GscliError, IndexRefused, Notice
from gscli.watch.aten import COMPOSITES, RULES, find_rule
from gscli.watch.findings import (
    LineHistory,
    Place,
    Places,
    Report,
    WatchedIndex,
    find_name,
    point_at,
    suggest_accumulation,
)
from gscli.watch.judging import ProgramCall, SeenCall, infer_ranges, refuse_call, save_call


def make_call(numbers: list[list[int]]) -> ProgramCall:
    inputs = {"input": np.arange(12.0).reshape(3, 4), "index": np.array(numbers)}
    return ProgramCall("torch.gather", inputs, {"dim": 1}, inputs, "aten.gather on cpu")


def make_note(history: LineHistory, problem: str, label: str) -> Notice:
    return Notice(problem, where=history.place.where, details=(label,))


def here() -> FrameType:
    return sys._getframe(1)


def refuse(numbers: list[list[int]]) -> WatchedIndex:
    history = LineHistory(Place("a.py:3 in f"))
    chosen = make_call(numbers)
    table, picks = chosen.origins["input"], chosen.origins["index"]
    assert table is not picks
    error = refuse_call(SeenCall(chosen, history, here()))
    assert error is not None
    return error


def test_a_bad_index_is_told_in_the_words_of_the_program() -> None:
    error = refuse([[0, 2], [1, -1]])
    assert isinstance(error, IndexError)
    assert (
        str(error)
        == """
error: negative index
  --> a.py:3 in f
   |  picks[1,1] = -1
   |               ^^ axis 1 of table [3×4]: legal 0 … 3
   |  picks[1]   1  [-1]
   |  4 indices: 1 below 0, 3 legal, 0 above 3 (least -1, greatest 2)
   |  aten.gather on cpu
  help: --save FILE.npz, in Python save=, keeps it for other commands
"""
    )


def test_a_legal_call_is_none() -> None:
    assert refuse_call(SeenCall(make_call([[3]]), LineHistory(Place("a.py:3")), None)) is None


def test_a_long_row_is_shown_around_the_number() -> None:
    assert "  [9]  " in str(refuse([[0] * 20 + [9] + [1] * 20]))
    assert "… 0  0  0  0  0  0  [9]  1  1  1  1  1  1 …" in str(refuse([[0] * 20 + [9] + [1] * 20]))


def test_a_position_is_that_of_what_the_program_gave() -> None:
    given = np.array([[0, 1], [7, 0]])
    inputs = {"input": np.zeros((3, 4)), "index": given.reshape(-1)}
    call = ProgramCall("torch.index_select", inputs, {"dim": 0}, {"index": given})
    error = refuse_call(SeenCall(call, LineHistory(Place("a.py:3")), here()))
    assert error is not None
    assert error.findings[0].position == (1, 0)
    assert "given[1,0] = 7" in str(error)


def test_the_error_survives_a_pickle_and_is_made_of_a_text() -> None:
    error = refuse([[5]])
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert isinstance(again, IndexRefused)
    assert str(WatchedIndex("Caught WatchedIndex in worker 0.\nline")).endswith("\nline")


def test_text_of_the_program_is_escaped() -> None:
    report = Report()
    history = LineHistory(Place("evil\x1b[2J.py:1 in f"))
    report.add("lost", make_note(history, "gone\x1b]0;x\x07", "aten.\x9b5m"))
    assert not {"\x1b", "\x07", "\x9b"} & set(report.report())


def test_findings_of_one_place_are_told_once_and_counted() -> None:
    report, history = Report(), LineHistory(Place("a.py:1 in f"))
    for _ in range(12):
        report.add("lost", make_note(history, "gone", "aten.put_"))
    report.add("from-end", make_note(history, "negative", "aten.index"))
    report.calls["put_"] += 12
    report.unjudged["index with a mask|indices with a mask"] += 1
    report.unwatched["other thread"] += 2
    text = report.report()
    assert text.count("gone") == 1
    assert "   |  12 times\n" in text
    assert text.endswith(
        "watched 12 calls, 0 indices: 12 put_; not judged: 1 index with a mask; "
        "not watched: 2 other threads\n"
    )
    assert not report.has_bad_index
    assert [finding.to_dict()["count"] for finding in report.findings] == [12, 1]


def test_json_has_a_line_for_each_finding_and_one_for_the_counts() -> None:
    report, stream = Report(), StringIO()
    report.add("index", refuse([[0], [9]]))
    report.write_lines(stream)
    finding, counts = map(json.loads, stream.getvalue().splitlines())
    facts = ("kind", "position", "value", "legal", "count", "total")
    assert [finding[name] for name in facts] == ["index", [1, 0], 9, [0, 3], 1, 1]
    assert counts == {
        "calls": {},
        "indices": 0,
        "not_judged": {},
        "not_watched": {},
        "not_counted": {},
    }
    assert report.to_dict()["findings"] == [finding]
    assert report.has_bad_index


def test_the_expression_that_runs_is_underlined() -> None:
    line = point_at(sys._getframe())
    assert line is not None
    assert line.text[line.start : line.start + line.length] == "point_at(sys._getframe())"


def test_a_line_whose_text_nobody_has_is_none() -> None:
    scope: dict[str, object] = {"here": here}
    exec(compile("frame = here()", "<string>", "exec"), scope)
    assert point_at(scope["frame"]) is None  # type: ignore[arg-type]


def test_the_innermost_frame_outside_hidden_folders_is_the_users() -> None:
    places = Places()
    frame = places.find_frame(here())
    assert frame is not None
    first, second = (places.find_history(frame) for _ in range(2))
    assert "in test_the_innermost" in first.place.where
    assert first.place == second.place
    assert places.find_frame(None) is None
    assert "no line" in places.find_history(None).place.where


TABLE = np.arange(3)


class Cache:
    def __init__(self) -> None:
        self.keys = np.arange(4)

    def find(self, *values: object) -> str:
        return find_name(sys._getframe(), values[0])


class Module:
    tensors = (("tokens.weight", TABLE),)

    def named_parameters(self) -> tuple[tuple[str, object], ...]:
        return self.tensors


def test_names_are_the_programs() -> None:
    cache = Cache()
    assert cache.find(cache.keys) == "self.keys"
    assert find_name(sys._getframe(), TABLE) == "TABLE"
    assert cache.find(object()) == ""
    scope: dict[str, object] = {
        "find_name": find_name,
        "sys": sys,
        "model": Module(),
        "made": TABLE,
    }
    exec("def f(model, t):\n return find_name(sys._getframe(), t[0])", scope)
    assert scope["f"](Module(), (TABLE,)) == "model.tokens.weight"  # type: ignore[operator]


@pytest.mark.parametrize(
    "line",
    [
        "c[b, d] += a", "c.index_put_(b)", "c[b] = a", "c[b]  += (", "", "c[b] += a + 1",
        "c[d] += a", "c[b] += wide", "c[b] += 2 * a", "c[b] += whole", "c[b] += nothing",
    ],
)  # fmt: skip
def test_an_addition_is_suggested_in_general_where_it_would_not_do(line: str) -> None:
    place = Place("a.py:1", refuse([[7]]).detail_items[0]._replace(text=line))  # type: ignore[union-attr]
    b, a = np.array([0, 0]), np.ones(2)
    d, wide, whole = b.copy(), np.ones((1, 2)), np.ones(2, int)
    assert (len(d), wide.size, whole.size) == (2, 2, 2)
    assert suggest_accumulation(place, sys._getframe(), b, a).endswith("accumulate=True")
    named = place._replace(line=place.line and place.line._replace(text="c[b] += a"))
    assert suggest_accumulation(named, sys._getframe(), b, a).endswith(": c.index_add_(0, b, a)")
    assert suggest_accumulation(named, sys._getframe(), None, a).endswith("accumulate=True")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("c[b] -= a", "to subtract every occurrence: c.index_add_(0, b, a, alpha=-1)"),
        ("c[b] -= 2 * a", "to subtract every occurrence: index_add_ with alpha=-1"),
        ("c[b] *= a", "multiply by every occurrence: index_reduce_ or scatter_reduce_ with 'prod'"),
        *((f"c[b] {sign} a", f"PyTorch has no call that does {sign} for every occurrence")
          for sign in ("/=", "//=", "%=", "**=", "|=", "<<=")),
        ("c[b] = a >= b", "to add every occurrence: index_add_, scatter_add_ or accumulate=True"),
    ],
)  # fmt: skip
def test_what_does_the_same_for_every_occurrence_is_suggested(line: str, hint: str) -> None:
    a, b = np.ones(2), np.array([0, 0])
    place = Place("a.py:1", refuse([[7]]).detail_items[0]._replace(text=line))  # type: ignore[union-attr]
    assert suggest_accumulation(place, sys._getframe(), b, a).endswith(hint)


def test_a_saved_call_is_taken_by_the_command_of_its_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from shlex import split

    from gscli.cli import run_safely

    monkeypatch.chdir(tmp_path)
    call = make_call([[0], [9]])
    for values in (call.inputs, {"index": call.inputs["index"]}):
        command = save_call(call, values, "case.npz")  # type: ignore[arg-type]
        assert command.startswith("gscli torch gather ")
        assert run_safely(["check", *split(command)[1:]]) == 1
        assert "case.npz::index: index[1,0] = 9: index out of range" in capsys.readouterr().out


def test_every_rule_names_an_operator_and_its_inputs() -> None:
    from gscli.frameworks import find_operator

    for name, rule in (RULES | COMPOSITES).items():
        operator = find_operator(rule.operator)
        assert not name.endswith("_") or rule is find_rule(name)
        assert rule.renamed.keys() <= set(operator.input_names), name
        assert set(rule.unread) <= operator.attributes_by_name.keys(), name


def test_ranges_of_shapes_that_do_not_fit_are_a_refusal() -> None:
    with pytest.raises(GscliError):
        infer_ranges(
            "torch.gather", {"input": np.zeros(3), "index": np.zeros((2, 2), int)}, {"dim": 0}
        )


def test_arguments_that_mean_nothing_are_refused() -> None:
    with pytest.raises(GscliError, match="on_error"):
        gscli.watch(on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(GscliError, match="every"):
        gscli.watch(every=0)


def test_jax_is_needed_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(GscliError, match="needs the JAX of your program"):
        gscli.watch.jax(len)


def test_the_screen_of_readme_was_printed() -> None:
    """It is one of torch.md, where test_torch.py has it printed anew."""
    root = Path(__file__).parents[2]
    section = (root / "README.md").read_text().partition("## Watch a program")[2].partition("<!--")
    lines = [line for line in section[0].splitlines() if line.startswith("    ")]
    assert lines
    screen = "".join(f"{line.removeprefix('    ')}\n" for line in lines)
    assert f"\n{screen}\nwatched " in (root / "tests" / "watch" / "torch.md").read_text()
