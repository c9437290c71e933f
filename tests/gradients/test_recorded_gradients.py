"""What frameworks gave for gradients is what gscli says under their conventions."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from shell import call_gscli

from gscli.frameworks import find_operator
from gscli.gradients.call import trace_gradients
from gscli.lab.cases import Case, read_cases
from gscli.runtimes.recorded import describe_gradient_difference, run_case
from gscli.traces import trace_call

FILE = Path(__file__).parents[1] / "vectors" / "gradients.jsonl"
FRAMEWORKS = ("torch", "jax", "tensorflow")


@cache
def cases() -> list[Case]:
    return list(read_cases(str(FILE)))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_recorded_gradients_are_those_of_the_convention(framework: str) -> None:
    own = [case for case in cases() if case.operator.startswith(f"{framework}.")]
    promised = [case for case in own if case.expect == "output"]
    assert [case.id for case in promised if run_case(case).problem] == []
    assert len(promised) >= 300


def test_what_is_called_a_flaw_is_one() -> None:
    """Of cases whose gradient is known to be wrong in the framework, some differ in each."""
    for framework in FRAMEWORKS:
        flawed = [case for case in cases() if case.operator.startswith(f"{framework}.")
                  and case.expect == "open"]  # fmt: skip
        assert any(map(differs, flawed)), framework


def differs(case: Case) -> bool:
    trace = trace_call(find_operator(case.operator), case.inputs, case.attrs)
    arrays = trace_gradients(trace, case.cotangent).arrays
    return bool(describe_gradient_difference(arrays, case.gradients))


def test_verify_holds_gradients_against_the_record(tmp_path: Path) -> None:
    record = json.loads(FILE.read_text("utf-8").splitlines()[0])
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(record), "utf-8")
    assert call_gscli("verify", str(path)).returncode == 0
    flow = next(iter(record["gradients"].values()))
    flow["data"][0] += 1
    path.write_text(json.dumps(record), "utf-8")
    refused = call_gscli("verify", str(path))
    assert refused.returncode == 1
    assert b"gradient of " in refused.stdout
    flow["shape"] = [-1]
    path.write_text(json.dumps(record), "utf-8")
    assert call_gscli("verify", str(path)).returncode in (1, 65)
