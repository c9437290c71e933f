"""Every recorded answer of the real frameworks, asked of gscli and of the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pytest
from conftest import (
    FRAMEWORKS,
    Array,
    Case,
    arguments,
    assert_close,
    decode,
    load_cases,
    operator_name,
    recorded,
)

import gscli

Run = Callable[[str, dict[str, Array], dict[str, Any]], Array]


def _complaint(case: Case, run: Run, refusal: type[Exception]) -> str:
    """What is wrong with the answer to one case, or the empty string."""
    name, expect = operator_name(case), case["expect"]
    inputs, attrs = arguments(case)
    try:
        actual = run(name, inputs, attrs)
    except refusal as error:
        return f"refused: {error}" if expect == "output" else ""
    except Exception as error:  # noqa: BLE001  (a crash is a finding like any other)
        return f"crashed: {type(error).__name__}: {error}"
    if expect == "error":
        return f"accepted: {case.get('error', {}).get('message', case.get('note', ''))}"
    if expect == "open":
        return ""
    try:
        assert_close(actual, decode(case["output"]))
    except AssertionError as error:
        return str(error)
    return ""


def _check(name: str, run: Run, refusal: type[Exception]) -> None:
    complaints = {case["id"]: _complaint(case, run, refusal) for case in recorded()[name]}
    lines = [f"{key}: {complaint}" for key, complaint in complaints.items() if complaint]
    assert not lines, "\n".join([f"{len(lines)} of {len(complaints)} cases", *lines])


NAMES = [operator.full_name for operator in gscli.operators()]


@pytest.mark.parametrize("name", NAMES)
def test_gscli_and_the_oracle_answer_as_recorded(name: str) -> None:
    _check(name, gscli.run, gscli.GscliError)
    _check(name, oracle.run, oracle.Refused)


# Cases of each framework; recording anew may add to them.
FEWEST = {
    "onnx": 799, "openvino": 529, "numpy": 280, "tensorflow": 515, "mxnet": 140, "caffe2": 56,
    "torch": 390, "jax": 550,
}  # fmt: skip


def test_every_recorded_case_is_asked() -> None:
    counts = {framework: len(load_cases(framework)) for framework in FRAMEWORKS}
    assert {name: min(count, FEWEST[name]) for name, count in counts.items()} == FEWEST
    assert set(recorded()) == set(NAMES), "cases of nothing that is declared, or no cases"
    assert sum(len(cases) for cases in recorded().values()) == sum(counts.values())


def test_the_recording_is_complete_enough_to_fail() -> None:
    """A wrong answer is a complaint: the comparison is not vacuous."""
    case = next(c for c in load_cases("onnx") if c["expect"] == "output")
    wrong: Run = lambda name, inputs, attrs: oracle.run(name, inputs, attrs)[..., :0]  # noqa: E731
    assert _complaint(case, wrong, oracle.Refused)
    refused = next(c for c in load_cases("onnx") if c["expect"] == "error")
    assert _complaint(refused, lambda *_: np.zeros(1), oracle.Refused)
