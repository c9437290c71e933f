"""`--check`: what a run of the lines said, held against gscli's output."""

from __future__ import annotations

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import gscli
from gscli.codegen.execution import compare_reply, run_checks
from gscli.codegen.native import TARGETS
from gscli.runtimes.protocol import Reply


def test_numpys_lines_are_run_and_missing_frameworks_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking = TARGETS["tensorflow"]._replace(needs=("no-tensorflow",))
    monkeypatch.setitem(TARGETS, "tensorflow", lacking)
    inputs = {"data": [1.5, 2.5], "indices": [1]}
    found = gscli.code("onnx.gather", inputs, to="numpy,tensorflow", check=True)
    numpy, tensorflow = (answer.run_result for answer in found.answers)
    assert numpy == {"result": "equal", "version": np.__version__}
    assert tensorflow["result"] == "not installed"
    assert "install no-tensorflow" in tensorflow["text"]
    assert "run in NumPy" in str(found)


def test_a_target_without_lines_is_not_run() -> None:
    found = gscli.code("onnx.gather", {"data": ["a"], "indices": [0]}, to="torch", check=True)
    assert found.answers[0].run_result == {}


def test_a_framework_that_does_not_come_up_is_told(tmp_path: Path) -> None:
    """An interpreter that says it has NumPy, and then leaves."""
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\ncase "$2" in *run_path*) exit 3;; esac\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    found = gscli.code("onnx.gather", {"data": [1], "indices": [0]}, to="numpy")
    (answer,) = run_checks(found, str(python)).answers
    assert answer.run_result["result"] == "does not start"
    assert "status 3" in answer.run_result["text"]


def test_lines_that_take_too_long_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gscli.codegen.execution.TIMEOUT_SECONDS", 0.5)
    found = gscli.code("onnx.gather", {"data": [1], "indices": [0]}, to="numpy")
    slow = found.answers[0].__class__(
        "numpy", "NumPy", "exact", call=("import time", "time.sleep(60)")
    )
    (answer,) = run_checks(found._replace(answers=(slow,))).answers
    assert answer.run_result["result"] == "took too long"


@pytest.mark.parametrize(
    ("output", "expected", "result", "text"),
    [
        (np.array([1, 2]), np.array([1, 2]), "equal", ""),
        (np.array([[1, 2]]), np.array([1, 2]), "not equal", "shape is [1,2], expected [2]"),
        (np.array([1], np.int32), np.array([1]), "not equal", "dtype is int32, expected int64"),
        (np.array([1.0 + 1e-16]), np.array([1.0]), "equal", ""),
    ],
)
def test_what_runs_say(output: np.ndarray, expected: np.ndarray, result: str, text: str) -> None:
    said = compare_reply(Reply("output", output), expected)
    assert (said["result"], said.get("text", "")) == (result, text)


def test_bits_of_bfloat16_are_read() -> None:
    expected = np.array([1.5], ml_dtypes.bfloat16)
    assert compare_reply(Reply("output", expected.view(np.int16)), expected) == {"result": "equal"}


@pytest.mark.parametrize(
    ("how", "result"),
    [("error", "failed"), ("unsupported", "not supported"), ("hang", "took too long")],
)
def test_what_gives_no_output_is_told(how: str, result: str) -> None:
    said = compare_reply(Reply(how, text="why"), np.zeros(1))  # type: ignore[arg-type]
    assert said == {"result": result, "text": "why"}
