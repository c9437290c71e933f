"""Random calls: the command that is told for one is that very call."""

from __future__ import annotations

import io
import json
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from conftest import everyday, slow

from gscli.base import GscliError, UsageError
from gscli.cli import run_safely
from gscli.files.formats.jsonarray import load_json
from gscli.frameworks import find_operator, operators
from gscli.frameworks.operator import Operator
from gscli.lab.difference import describe_difference
from gscli.runtimes.findings import FuzzFinding, group_by_cause
from gscli.runtimes.generator import generate_cases
from gscli.runtimes.packs import case_to_record
from gscli.runtimes.protocol import Reply
from gscli.runtimes.trials import WARNINGS, FuzzCase, Mismatch, find_mismatch, lacks_gradients
from gscli.traces import Trace

OPERATORS = list(operators())


@pytest.mark.parametrize("calls", [slice(2), *slow([slice(2, 6)])], ids=["some", "others"])
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda one: one.full_name)
def test_the_command_of_a_call_gives_what_the_rules_gave(operator: Operator, calls: slice) -> None:
    for trial in islice(generate_cases(operator, 11), calls.start, calls.stop):
        program, *words = shlex.split(trial.command)
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run_safely([*words, "--json=output"])
        assert program == "gscli"
        document = json.loads(out.getvalue() or err.getvalue())
        if trial.is_index_refused:
            assert isinstance(trial.expected_result, GscliError)
            assert code == int(trial.expected_result.code), trial.command
            assert document["error"]["problem"] == trial.expected_result.problem, trial.command
        elif isinstance(trial.expected_result, Trace):
            assert code == 0, (trial.command, document)
            answer = load_json(document, "the output")
            assert describe_difference(answer, trial.expected_result.output) == "", trial.command


@pytest.mark.parametrize(
    "operator", [one for one in OPERATORS if one.attribute("axis")], ids=lambda one: one.full_name
)
def test_calls_name_several_axes(operator: Operator) -> None:
    attribute = operator.attribute("axis")
    assert attribute is not None
    trials = islice(generate_cases(operator, 7), 40)
    axes = {trial.attrs.get(attribute.name, attribute.default) for trial in trials}
    assert len(axes) > 1, "draw_… of gscli/runtimes/random_shapes.py gives it no axis"


def test_the_same_seed_draws_the_same_calls() -> None:
    for operator in OPERATORS:
        one, other = (
            [trial.command for trial in islice(generate_cases(operator, 5), 3)] for _ in range(2)
        )
        assert one == other, operator.full_name


def test_what_a_text_leaves_open_is_no_failure() -> None:
    operator = find_operator("onnx.gather_elements")
    inputs = {"data": np.array([[1, 2], [3, 4]]), "indices": np.array([[1]])}
    call = FuzzCase(operator, inputs, {"axis": 0, "opset": 13})
    assert call.is_open
    for answer in (Reply("error", text="smaller"), Reply("output", np.array([[2]]))):
        wrong = find_mismatch(call, answer)
        assert wrong is not None
        assert (wrong.kind, wrong.kind in WARNINGS) == ("open", True)
    crash = find_mismatch(call, Reply("crash", text="SIGSEGV"))
    assert crash is not None
    assert crash.kind == "crash"
    assert case_to_record(call, 0)["expect"] == "open"
    plain = replace(call, inputs={**inputs, "indices": np.array([[1, 1]])})
    assert not plain.is_open
    assert case_to_record(plain, 0)["expect"] == "output"


def test_a_refusal_that_no_text_asks_for_is_open_and_one_that_it_asks_for_is_not() -> None:
    def judge(place: int, mode: str) -> tuple[str, str]:
        inputs = {"past_cache": [[1, 6, 11]], "update": [[10]], "write_indices": [place]}
        arrays = {name: np.array(value) for name, value in inputs.items()}
        operator = find_operator("onnx.tensor_scatter")
        call = FuzzCase(operator, arrays, {"axis": 1, "mode": mode})
        wrong = find_mismatch(call, Reply("output", np.array([[1, 6, 10]])))
        return case_to_record(call, 0)["expect"], wrong.kind if wrong else ""

    assert judge(-1, "linear") == ("open", "open")
    assert judge(3, "linear") == ("error", "answers")
    assert judge(-1, "circular") == ("output", "")


def test_an_answer_without_a_gradient_that_the_rules_give_is_counted_as_not_supported() -> None:
    inputs = {"data": np.array([1.0]), "indices": np.array([0])}
    call = FuzzCase(find_operator("onnx.gather"), inputs, {}, has_gradients=True)
    answer = Reply("output", np.array([1.0]))
    assert lacks_gradients(call, answer)
    assert lacks_gradients(call, answer._replace(gradients={"data": None}))
    assert not lacks_gradients(call, answer._replace(gradients={"data": np.array([1.0])}))
    assert not lacks_gradients(replace(call, has_gradients=False), answer)
    unread = replace(call, inputs={**inputs, "indices": np.zeros(0, np.int64)})
    assert not lacks_gradients(unread, Reply("output", np.zeros(0)))


@pytest.mark.parametrize(
    ("updates", "answer", "kind"),
    [
        ([7.0, 8.0], 7.0, "winner"),
        ([np.nan, 8.0], np.nan, "winner"),
        ([-0.0, 0.0], -0.0, "winner"),
        ([7.0, 8.0], np.nan, "value"),
        ([np.nan, 8.0], 9.0, "value"),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_whatever_was_written_to_a_cell_may_win_there(
    updates: list[float], answer: float, kind: str, dtype: str
) -> None:
    first, written, last = (
        load_json({"dtype": dtype, "shape": [len(data)], "data": data}, "tensor")
        for data in ([3.0], updates, [answer])
    )
    inputs = {"data": first, "indices": np.array([0, 0]), "updates": written}
    call = FuzzCase(find_operator("onnx.scatter_elements"), inputs, {})
    assert find_mismatch(call, Reply("output", last)) == Mismatch(kind)  # type: ignore[arg-type]  # a word of these


def finding(name: str, kind: str, attrs: dict[str, object], **inputs: object) -> FuzzFinding:
    arrays = {key: np.array(value) for key, value in inputs.items()}
    case = FuzzCase(find_operator(name), arrays, attrs)
    mismatch = Mismatch(kind, "words of the runtime")  # type: ignore[arg-type]  # a word of these
    return FuzzFinding(case, mismatch, Reply("error"))


def test_findings_of_one_cause_stand_together_and_others_apart() -> None:
    low = finding("onnx.gather", "crash", {}, data=[1], indices=[-2])
    high = finding("onnx.gather_nd", "crash", {}, data=[[1, 2]], indices=[[0, 7]])
    empty = finding("onnx.gather", "crash", {}, data=[1], indices=np.zeros(0, int))
    legal = finding("onnx.gather", "refuses", {}, data=[1], indices=[-1])
    plain = finding("onnx.gather", "refuses", {}, data=[1], indices=[0])
    same = finding("onnx.gather_elements", "refuses", {}, data=[1], indices=[0])
    causes = group_by_cause([high, empty, legal, low, plain, same])
    assert [cause.findings for cause in causes] == [
        (low, high), (empty,), (legal,), (plain, same)
    ]  # fmt: skip
    assert causes[0].words == {"index out of range"}
    title = "onnx.gather, onnx.gather_nd the process ends (index out of range)"
    assert causes[0].describe(has_rules=True) == title
    low.is_known = True
    assert len(group_by_cause([low, high])) == 2


def test_an_attribute_that_is_none_yet_is_not_judged() -> None:
    arrays = {name: np.array([1]) for name in ("data", "updates")} | {"indices": np.array([0])}
    call = FuzzCase(
        find_operator("onnx.scatter_elements"), arrays, {"reduction": "max", "opset": 13}
    )
    assert isinstance(call.expected_result, UsageError)
    assert find_mismatch(call, Reply("output", np.array([1]))) is None


def test_updates_that_stretch_over_indices_are_named() -> None:
    arrays = {"a": np.array([1, 2]), "indices_0": np.array([[0], [1]]), "b": np.array([10])}
    call = FuzzCase(find_operator("numpy.add.at"), arrays, {})
    assert call.distinctions == {"stretched updates"}
    assert not replace(call, inputs={**arrays, "b": np.array([[10], [11]])}).distinctions


def test_a_computed_number_below_the_normal_ones_may_become_zero_and_a_moved_one_may_not() -> None:
    small = np.array([2.0**-1030])
    inputs = {"x": np.array([2.0]), "indices_0": np.array([0]), "values": np.array([-1030.0])}
    power = FuzzCase(find_operator("jax.at.power"), inputs, {})
    assert np.array_equal(power.expected_tensors()[""], small)
    move = FuzzCase(find_operator("jax.take"), {"a": small, "indices": np.array([0])}, {})
    zero = Reply("output", np.array([0.0]))
    assert find_mismatch(power, zero) is None
    assert find_mismatch(power, Reply("output", np.array([2.0**-1020]))) == Mismatch("value")
    assert find_mismatch(move, zero) == Mismatch("value")


def test_a_finding_says_what_only_a_call_of_more_axes_or_of_32_bits_shows() -> None:
    operator, indices = find_operator("onnx.gather"), np.array([0])
    deep = FuzzCase(operator, {"data": np.zeros((1, 1, 1), np.int32), "indices": indices}, {})
    assert {"rank 3 or more", "data int32"} <= deep.distinctions
    flat = FuzzCase(operator, {"data": np.zeros((1, 1), np.int64), "indices": indices}, {})
    assert not {"rank 3 or more", "data int32"} & flat.distinctions
    assert deep.covered_rules == flat.covered_rules  # no rules that a pack of cases has to meet


@pytest.mark.parametrize(
    "operator", everyday(OPERATORS, OPERATORS[::8]), ids=lambda one: one.full_name
)
def test_calls_are_answered_more_often_than_not_and_seldom_refused_for_a_shape(
    operator: Operator,
) -> None:
    calls = list(islice(generate_cases(operator, 5), 60))
    answered = [isinstance(call.expected_result, Trace) for call in calls]
    for_index = [call.is_index_refused for call in calls]
    assert sum(answered) > len(calls) / 2
    assert sum(answered) + sum(for_index) > len(calls) * 3 / 4
