"""What frameworks gave for gradients is what gscli says under their conventions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gscli.files.formats.jsonarray import load_json
from gscli.frameworks import find_operator
from gscli.gradients.call import Gradients, trace_gradients
from gscli.lab.calls import read_call, read_name
from gscli.layout.axes import OutOfBounds
from gscli.traces import Trace, trace_call

FILE = Path(__file__).parents[1] / "vectors" / "gradients.jsonl"
FRAMEWORKS = ("torch", "jax", "tensorflow")


@cache
def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def run_case(case: Mapping[str, Any]) -> Gradients:
    inputs, attrs = read_call(case, load_json)
    trace = trace_call(find_operator(read_name(case)), inputs, attrs)
    return trace_gradients(trace, load_json(case["cotangent"], "cotangent"))


def agrees(case: Mapping[str, Any], gradients: Gradients) -> bool:
    recorded = {
        name: load_json(tensor, name)
        for name, tensor in case["gradients"].items() if tensor is not None
    }  # fmt: skip
    return all(
        array.shape == gradients.arrays[name].shape
        and np.allclose(array, gradients.arrays[name], 1e-10, 1e-12, equal_nan=True)
        for name, array in recorded.items() if name in gradients.arrays
    )  # fmt: skip


def name_flaw(trace: Trace) -> str:
    """Why a framework's own gradient is not that of its convention; "" where it should be."""
    framework, odd = (
        trace.operator.framework.name,
        any(not np.isfinite(array).all() for array in trace.inputs.values()),
    )
    if trace.reduction == "mul" and odd:
        return "the product is divided by each factor: infinities and NaN spread"
    if framework == "jax" and not all(trace.plan.in_bounds):
        outside = trace.layout.policy.out_of_bounds
        if trace.reduction in ("max", "min") and outside is OutOfBounds.CLIP:
            return "jax#40626: the way back does not clip"
        if trace.kind == "gather" and outside is OutOfBounds.CLIP:
            return "indices that were promised to be in bounds are dropped on the way back"
    return ""


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_recorded_gradients_are_those_of_the_convention(framework: str) -> None:
    wrong, flawed, tried = [], 0, 0
    for case in cases():
        if case["framework"] != framework:
            continue
        gradients = run_case(case)
        if name_flaw(gradients.trace):
            flawed += not agrees(case, gradients)
        else:
            tried += 1
            wrong += [] if agrees(case, gradients) else [case["id"]]
    assert not wrong
    assert tried >= 300
    assert flawed
