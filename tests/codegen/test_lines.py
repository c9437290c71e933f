"""The lines of `--code`: NumPy's are run for every operator, others where they are installed."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Array, Case, arguments, assert_close, decode, operator_name, recorded, slow

from gscli import operators
from gscli.codegen.code import generate_code
from gscli.codegen.execution import build_preamble
from gscli.codegen.native import TARGETS
from gscli.codegen.target_answers import Code, Snippet
from gscli.frameworks import find_operator
from gscli.frameworks.execute import execute
from gscli.lab.examples import build_probe
from gscli.traces import trace_call

# Cases of an operator that the everyday run tries.
EVERYDAY = 3


def cases_of(name: str) -> list[Case]:
    """The recorded cases of an operator that have an answer."""
    return [case for case in recorded()[name] if case["expect"] == "output"]


def code_of(case: Case, *targets: str) -> Code:
    """The lines for a recorded case."""
    operator = find_operator(operator_name(case))
    plan, output = execute(operator, *arguments(case))
    return generate_code(operator, plan, output, [TARGETS[name] for name in targets])


def ran(answer: Snippet, inputs: dict[str, Array]) -> Array:
    """What the lines of a target that is installed here give."""
    names: dict[str, Any] = {"given": {key: np.asarray(value) for key, value in inputs.items()}}
    code = "\n".join([*build_preamble(answer, inputs), *answer.call])
    with np.errstate(all="ignore"):
        exec(compile(code, "lines", "exec"), {"ml_dtypes": ml_dtypes} | names, names)
    return np.asarray(names["output"])


def cases_of_framework(framework: str) -> list[Case]:
    """Three cases of each of its operators."""
    names = [name for name in NAMES if name.startswith(f"{framework}.")]
    return [case for name in names for case in spread(cases_of(name), 3)]


def spread(cases: list[Case], count: int) -> list[Case]:
    """Some of the cases, from all over the list."""
    return cases[:: max(len(cases) // count, 1)]


NAMES = [operator.full_name for operator in operators()]
OWNERS = sorted({name.partition(".")[0] for name in NAMES})
NUMPY = [*((name, EVERYDAY) for name in NAMES), *slow((name, 10_000) for name in NAMES)]


@pytest.mark.parametrize("parameters", NUMPY, ids=str)
def test_numpys_lines_give_what_the_framework_gave(parameters: tuple[str, int]) -> None:
    name, count = parameters
    cases = spread(cases_of(name), count)
    assert cases
    complaints = []
    for case in cases:
        (answer,) = code_of(case, "numpy").answers
        if answer.verdict == "none":
            assert answer.reason
            continue
        found = code_of(case, "numpy")
        try:
            assert_close(ran(answer, dict(found.inputs)), decode(case["output"]))
        except Exception as error:  # noqa: BLE001  whatever a line raises is a finding
            complaints.append(f"{case['id']}: {error!r}\n" + "\n".join(answer.call))
    assert not complaints, "\n".join(complaints)


# What onnxruntime says of types that it has no kernel for.
REFUSED_HERE = (
    "NOT_IMPLEMENTED",
    "data type is not supported",
    "can't be converted",
    "not currently registered",
)

LOSES_TEXT = "onnxruntime loses all but the first cell of a slice of strings"


@pytest.mark.slow  # the gate has it
@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
@pytest.mark.parametrize("framework", OWNERS)
def test_onnx_models_give_what_the_framework_gave(framework: str) -> None:
    complaints = []
    for case in cases_of_framework(framework):
        found = code_of(case, "onnx")
        (answer,) = found.answers
        text = any(array.dtype.kind == "U" for array in found.inputs.values())
        if answer.verdict in ("none", "differs") or text:
            continue  # LOSES_TEXT
        try:
            assert_close(ran(answer, dict(found.inputs)), decode(case["output"]))
        except AssertionError as error:
            complaints.append(f"{case['id']}: {error}\n" + "\n".join(answer.call))
        except Exception as error:  # noqa: BLE001  onnxruntime's own kinds
            if not any(words in str(error) for words in REFUSED_HERE):
                complaints.append(f"{case['id']}: {error!r}\n" + "\n".join(answer.call))
    assert not complaints, "\n".join(complaints)


MASKED = ("torch.masked_select", "torch.masked_scatter", "numpy.compress")
FOLDED = ("torch.embedding_bag", "torch.nll_loss")
WITHOUT = {("stablehlo", name) for name in MASKED}
WITHOUT |= {(target, name) for target in TARGETS if target != "torch" for name in FOLDED}
"""Shapes that depend on values, and reads that are reduced."""


# Targets whose lines are Python and nothing else.
PYTHON = {"numpy", "torch", "jax", "tensorflow", "openvino"}


@pytest.mark.parametrize("framework", OWNERS)
def test_every_operator_has_lines_or_a_reason(framework: str) -> None:
    for name in (name for name in NAMES if name.startswith(f"{framework}.")):
        found = [code_of(case, *TARGETS).answers for case in spread(cases_of(name), 3)]
        for target, answers in zip(TARGETS, zip(*found, strict=True), strict=True):
            for answer in answers:
                assert bool(answer.lines) != (answer.verdict == "none"), (target, name)
                assert bool(answer.reason) == (answer.verdict in ("none", "differs")), target
                _, dot, function = answer.operation.partition("[")[0].rpartition(".")
                called = rf"\.{function}\b" if dot else ""
                assert re.search(called, "\n".join(answer.lines)), (target, name, function)
                if target in PYTHON:
                    compile("\n".join(answer.lines), f"{target} for {name}", "exec")
            some = any(answer.lines for answer in answers)
            assert some or (target, name) in WITHOUT, f"no lines of {name} for {target}: WITHOUT?"


# Operators that are written with another operation of their own framework, and why.
OTHERS_LINE = {
    "onnx.scatter": "an old name of ScatterElements",
    "onnx.tensor_scatter": "opset 24; the lines are of opset 18, where ScatterND does it",
}


def test_every_operator_is_written_with_its_own_operation() -> None:
    lacking = set()
    for operator in operators():
        if operator.framework_name not in TARGETS:
            continue
        target = TARGETS[operator.framework_name]
        probe = build_probe(operator, {})
        assert probe is not None
        trace = trace_call(operator, probe.inputs, probe.attrs)
        (answer,) = generate_code(operator, trace.plan, trace.output, [target]).answers
        own = answer.operation == f"{target.title}'s own {operator.name}"
        if not own and operator.full_name not in {
            native.operator
            for native in (*target.ops("gather"), *target.ops("scatter"))
            if native.name == answer.operation
        }:
            lacking.add(operator.full_name)
    new = sorted(lacking - set(OTHERS_LINE))
    assert not new, f"{new}: a line of CALL_TEMPLATES in own.py, or an operation of their target"
    assert lacking == set(OTHERS_LINE)
