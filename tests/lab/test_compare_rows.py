"""Each row of a comparison is what the framework's own command answers; none is dropped."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from gscli.base import ContentRefused, InputRefused, UsageError
from gscli.cli import run_safely
from gscli.files.formats.jsonarray import dump_json
from gscli.frameworks import NAMES, load_framework, operators
from gscli.lab.answers import (
    ComparisonResult,
    RuleSetResult,
    comparison_to_dict,
    group_equal_results,
)
from gscli.lab.compare import compare
from gscli.lab.concepts import CONCEPTS, REDUCTION_NAMES, list_mappings
from gscli.lab.documents import replay_comparison

LISTS: dict[str, dict[str, object]] = {
    "gather": {"data": [[1, 2], [3, 4]], "indices": [[1], [0]]},
    "gather-elements": {"data": [[1, 2], [3, 4]], "indices": [[0, 1], [-1, 0]]},
    "gather-nd": {"data": [[1, 2], [3, 4]], "indices": [0, 1]},
    "scatter-elements": {"data": [1, 2, 3], "indices": [0, 2, 0], "updates": [7.5, 8, 9]},
    "scatter-nd": {"data": [0, 0], "indices": [[0], [0]], "updates": [1, 2]},
    "scatter-update": {"data": [1.5, 2, 3], "indices": [2, 0], "updates": [7, 8]},
    "take": {"data": [[10, 20], [30, 40]], "indices": [0, 9]},
}
TYPED = {
    name: {
        key: np.asarray(value, np.uint8 if key == "indices" and -1 not in np.ravel(value) else None)
        for key, value in inputs.items()
    }
    for name, inputs in LISTS.items()
}  # fmt: skip
ARGUMENTS: list[dict[str, int | str]] = [
    {}, {"axis": 1}, {"axis": -1}, {"axis": 5}, {"batch_dims": 1}, {"batch_dims": 1, "axis": 1},
    *({"reduction": name} for name in REDUCTION_NAMES),
]  # fmt: skip
TAKEN = {
    "axis": lambda concept: concept.takes_axis,
    "batch_dims": lambda concept: concept.takes_batch_dims,
    "reduction": lambda concept: concept.takes_reduction,
}
CALLS = [
    pytest.param(name, arguments, typed, marks=[pytest.mark.slow] * typed)
    for name, arguments, typed in product(CONCEPTS, ARGUMENTS, (False, True))
    if all(TAKEN[key](CONCEPTS[name]) for key in arguments)
]


# Of the pairs of frameworks one in so many is asked for every day.
EVERYDAY = 4


def made(
    name: str, arguments: dict[str, int | str], typed: bool, only: list[str]
) -> ComparisonResult:
    inputs = (TYPED if typed else LISTS)[name]
    return compare(name, inputs, only=only, **arguments)  # type: ignore[arg-type]


def rows_of(found: ComparisonResult) -> list[RuleSetResult]:
    return [row for group in found.groups for row in group.rows]


def word(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], typed: bool) -> str:
    return json.dumps(dump_json(array) if typed else array.tolist())


def command(row: RuleSetResult, *, typed: bool) -> list[str]:
    """The row as a user of its framework would type it."""
    words = row.operator.command_line.split()[1:]
    places = {name: place for place, name in enumerate(row.operator.input_names)}
    for name in sorted(row.inputs, key=lambda name: places.get(name, places.get("indices", 0))):
        words.append(word(row.inputs[name], typed or name == "axis"))
    for key, value in row.attrs.items():
        flag = key.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words.append(f"--{flag}={text}")
    return words


@pytest.mark.parametrize(("name", "arguments", "typed"), CALLS)
def test_a_row_is_what_the_command_of_its_framework_answers(
    name: str, arguments: dict[str, int | str], typed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(UsageError):  # no rule set has it; the next test reads what is said then
        answers_are_those_of_commands(made(name, arguments, typed, []), typed, capsys)


def answers_are_those_of_commands(
    found: ComparisonResult, typed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    for row in rows_of(found):
        code = run_safely([*command(row, typed=typed), "--json"])
        captured = capsys.readouterr()
        told = json.loads(captured.out or captured.err)
        if row.output is None:
            assert row.error is not None
            assert (code, told["error"]["problem"]) == (int(row.error.code), row.error.problem)
        else:
            assert code == 0, (row.label, told)
            assert told["output"] == dump_json(row.output), row.label
            assert row.trace is not None
            assert len(told["warnings"]) == len(row.trace.warnings)


def answer_or_refusal(
    name: str, arguments: dict[str, int | str], typed: bool, only: list[str]
) -> ComparisonResult | UsageError:
    try:
        return made(name, arguments, typed, only)
    except UsageError as error:
        return error


def beginnings(name: str) -> tuple[str, ...]:
    """What the labels of a framework's rule sets begin with: its title, or how these shorten it."""
    mappings = list_mappings()
    labels = {entry.label.split()[0] for own, entry in mappings if own.framework_name == name}
    return (load_framework(name).title, *sorted(labels))


@pytest.mark.parametrize(("name", "arguments", "typed"), CALLS)
def test_every_rule_set_that_is_asked_for_appears_in_order(
    name: str, arguments: dict[str, int | str], typed: bool
) -> None:
    for pair in [*product(NAMES, NAMES)][:: 1 if typed else EVERYDAY]:
        only = list(dict.fromkeys(pair))
        found = answer_or_refusal(name, arguments, typed, only)
        if isinstance(found, UsageError):
            assert found.problem.startswith("no rule set can express")
            details = " ".join(found.details)
            assert all(any(word in details for word in beginnings(one)) for one in only), details
            continue
        answered = {row.operator.framework.name for row in rows_of(found)}
        unsaid = {one.label for one in found.unsupported}
        for one in only:
            told = any(label.startswith(beginnings(one)) for label in unsaid)
            assert one in answered or told, (only, one)
        if only[0] in answered:
            assert found.groups[0].first.operator.framework.name == only[0]
        assert found.agree == (len(found.answers) == len(found.groups) == 1 and not unsaid)


@pytest.mark.parametrize("name", [name for name in CONCEPTS if CONCEPTS[name].takes_reduction])
def test_help_lists_the_reductions_that_some_rule_set_has(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["compare", name, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    listed = text.partition("what updates do to what is there: ")[2].partition(" --as")[0].split()
    answers = {
        reduction: answer_or_refusal(name, {"reduction": reduction}, False, [])
        for reduction in REDUCTION_NAMES
    }
    assert listed == [key for key, found in answers.items() if not isinstance(found, UsageError)]


@pytest.mark.parametrize("name", ["gatherr", "scatter", "torch", "scatter-add", "ScatterND", ""])
def test_an_unknown_operation_is_a_usage_error_with_a_way_on(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["compare", name, "[1,2]", "[0]"]) == 2
    assert "help: " in capsys.readouterr().err


def test_no_operator_is_a_bug_in_compare(capsys: pytest.CaptureFixture[str]) -> None:
    for operator in operators():
        for words in ([operator.command], [operator.framework.name, operator.command]):
            assert run_safely(["compare", *words, "[1]"]) == 2, words
            assert "help: " in capsys.readouterr().err


def test_words_of_as_that_mean_nothing_get_near_names() -> None:
    with pytest.raises(UsageError, match="did you mean numpy") as refused:
        compare("gather", {"data": [1], "indices": [0]}, only=["numppy"])
    assert "onnx" in refused.value.valid


def test_operators_are_named_to_compare_as_other_commands_take_them() -> None:
    inputs = {"data": [1, 2], "indices": [0]}
    asked = compare("gather", inputs, only=["tf.gather", "torch.index-select", "onnx.Gather"])
    assert {row.operator.full_name for row in asked.rows} == {
        "tensorflow.gather", "torch.index_select", "onnx.gather",
    }  # fmt: skip
    other = compare("gather", inputs, only=["numpy.put", "numpy.take"])
    assert [(row.label, row.reason) for row in other.unsupported] == [
        ("numpy.put", "gscli has none")
    ]
    assert len(other.rows) == len(compare("gather", inputs, only=["numpy"]).rows)
    with pytest.raises(UsageError, match="did you mean ONNX Gather-13"):
        compare("gather", inputs, only=["onnx.gathr"])


def test_open_orders_are_told_on_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "scatter-nd", "[0,0]", "[[0],[0]]", "[1,2]", "--as", "onnx,jax"]
    for form in ([], ["--plain"]):
        assert run_safely([*words, *form]) == 0
        told = capsys.readouterr().out
        assert "2 entries write the same cell: a warning of ONNX ScatterND-18, JAX at.set." in told


def test_what_a_text_leaves_open_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    run_safely(["compare", "gather-elements", "[[1,2],[3,4]]", "[[1,0]]", "--axis", "1"])
    told = " ".join(capsys.readouterr().out.split())
    assert "ONNX does not say whether indices may be smaller than data off the axis" in told


def test_an_operation_is_spelt_as_in_python_too() -> None:
    inputs = {"data": [1, 2], "indices": [[0]], "updates": [5]}
    assert compare("scatter_nd", inputs).concept == "scatter-nd"  # type: ignore[arg-type]


def test_a_runtimes_rows_are_read_back_from_a_document() -> None:
    """They are believed as they stand; the rules' answers are made again and must agree."""
    inputs = {"data": [10, 20, 30], "indices": [0, -1, 2]}
    made = compare("gather", inputs, only=["onnx", "torch"])
    rules = [row for group in made.groups for row in group.rows]
    wrong = np.array([10, 99, 30])
    own = [
        replace(rules[0], label=f"ort 1: {rules[0].label}", trace=None, runtime_output=wrong,
                error=None, from_runtime=True),
        replace(rules[1], label=f"torch 2: {rules[1].label}", from_runtime=True),
        replace(rules[1], label=f"odd 3: {rules[1].label}", error=InputRefused("no such kernel"),
                from_runtime=True),
    ]  # fmt: skip
    asked = replace(made, groups=group_equal_results([*rules, *own]))
    text = json.dumps(comparison_to_dict(asked))
    again = replay_comparison(json.loads(text))
    assert json.dumps(comparison_to_dict(again)) == text
    assert [group.labels for group in again.groups] == [group.labels for group in asked.groups]
    strange = json.loads(text)
    strange["rows"][-1]["label"] = "ort 1: some other rule"
    with pytest.raises(ContentRefused, match="about no rule set"):
        replay_comparison(strange)


def test_a_runtime_explains_its_answer_only_where_it_is_that_of_its_rules() -> None:
    """Three cells: 7 is the last where it is clipped, and a runtime's wrap may be there too."""
    inputs = {"data": [10, 20, 30], "indices": [7]}
    made = compare("take", inputs, only=["NumPy take (clip)", "NumPy take (wrap)"])
    clip, wrap = made.rows
    runtime = [row.with_runtime_answer("numpy 2", clip.output, None) for row in (clip, wrap)]
    asked = replace(made, groups=group_equal_results([clip, wrap, *runtime]))
    ways = [group.labels for group in asked.groups[0].outcome_groups]
    assert ways == [(clip.label, f"numpy 2: {clip.label}"), (f"numpy 2: {wrap.label}",)]


CUBE = np.arange(12).reshape(2, 2, 3)
SQUARE = np.array([[1, 0], [0, 1]])


def _put(axis: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    found = np.zeros((2, 2), np.int64)
    np.put_along_axis(found, SQUARE, SQUARE + 5, axis)
    return found


def _slices(axis: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    found = np.zeros((2, 3), np.int64)
    found[(slice(None),) * (axis % 2) + ([1, 0],)] = np.arange(4 if axis == 1 else 6).reshape(2, -1)
    return found


# Calls within every range and without an open order: their answer is one, by plain NumPy.
ASKED = [
    *(("gather", {"data": CUBE, "indices": [1, 0]}, {"axis": axis}, CUBE.take([1, 0], axis))
      for axis in (0, 1, -1)),
    ("gather", {"data": CUBE, "indices": SQUARE}, {"axis": 1, "batch_dims": 1},
     np.stack([CUBE[n].take(SQUARE[n], 0) for n in range(2)])),
    ("gather-nd", {"data": CUBE, "indices": SQUARE[:, :1]}, {"batch_dims": 1},
     np.stack([CUBE[n, SQUARE[n, 0]] for n in range(2)])),
    *(("gather-elements", {"data": SQUARE + 5, "indices": SQUARE}, {"axis": axis},
       np.take_along_axis(SQUARE + 5, SQUARE, axis)) for axis in (0, 1)),
    *(("scatter-elements", {"data": SQUARE * 0, "indices": SQUARE, "updates": SQUARE + 5},
       {"axis": axis}, _put(axis)) for axis in (0, 1)),
    *(("scatter-update", {"data": np.zeros((2, 3), np.int64), "indices": [1, 0],
                          "updates": np.arange(4 if axis == 1 else 6).reshape(2, -1)},
       {"axis": axis}, _slices(axis)) for axis in (0, 1)),
    ("scatter-nd", {"data": [1, 2], "indices": [[0], [0]], "updates": [3, 4]},
     {"reduction": "add"}, np.array([8, 2])),
    ("scatter-nd", {"data": [5, 2], "indices": [[0], [0]], "updates": [3, 4]},
     {"reduction": "max"}, np.array([5, 2])),
]  # fmt: skip


@pytest.mark.parametrize(("concept", "inputs", "asked", "answer"), ASKED)
def test_every_row_answers_the_call_that_was_asked_for(
    concept: str,
    inputs: dict[str, object],
    asked: dict[str, object],
    answer: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
) -> None:
    found = compare(concept, inputs, **asked)  # type: ignore[arg-type]  # names of the table
    rows = [row for group in found.groups for row in group.rows if row.output is not None]
    assert len(rows) > 1
    for row in rows:
        assert np.array_equal(row.output, answer), row.label


def test_what_all_give_is_compared_with_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert run_safely(["compare", "gather", "[1,2]", "[[0,1]]", "--html", str(page)]) == 0
    for text in (capsys.readouterr().out, page.read_text()):
        assert "others are compared" not in text
        assert "the only answer" in text


def test_a_reference_too_large_to_draw_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["compare", "scatter-nd", "zeros:300x64", "[[1]]", "ones:1x64"]) == 0
    assert capsys.readouterr().out.count("the only answer") == 1
