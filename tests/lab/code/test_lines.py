"""The lines of `--code`: NumPy's are run for every operator, others where they are installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import ml_dtypes
import numpy as np
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
    slow,
)

from gscli import operators
from gscli.frameworks import find
from gscli.frameworks.execute import execute
from gscli.lab.code.code import written
from gscli.lab.code.execution import given_lines
from gscli.lab.code.native import TARGETS
from gscli.lab.code.target_answers import Code, TargetAnswer

EVERYDAY = 5
"""Cases of an operator that the everyday run tries."""


def cases_of(name: str) -> list[Case]:
    """The recorded cases of an operator that have an answer."""
    framework = "jax" if name.startswith("stablehlo.") else name.partition(".")[0]
    assert framework in FRAMEWORKS
    found = [case for case in load_cases(framework) if operator_name(case) == name]
    return [case for case in found if case["expect"] == "output"]


def code_of(case: Case, *targets: str) -> Code:
    """The lines for a recorded case."""
    operator = find(operator_name(case))
    plan, output = execute(operator, *arguments(case))
    return written(operator, plan, output, [TARGETS[name] for name in targets])


def ran(answer: TargetAnswer, inputs: dict[str, Array]) -> Array:
    """What the lines of a target that is installed here give."""
    names: dict[str, Any] = {"given": {key: np.asarray(value) for key, value in inputs.items()}}
    code = "\n".join([*given_lines(answer, inputs), *answer.call])
    with np.errstate(all="ignore"):
        exec(compile(code, "lines", "exec"), {"ml_dtypes": ml_dtypes} | names, names)
    return np.asarray(names["output"])


def spread(cases: list[Case], count: int) -> list[Case]:
    """Some of the cases, from all over the list."""
    return cases[:: max(len(cases) // count, 1)]


NAMES = [operator.full_name for operator in operators()]
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


REFUSED_HERE = (
    "NOT_IMPLEMENTED",
    "data type is not supported",
    "can't be converted",
    "not currently registered",
)
"""What onnxruntime says of types that it has no kernel for."""

LOSES_TEXT = "onnxruntime loses all but the first cell of a slice of strings"


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_onnx_models_give_what_the_framework_gave(name: str) -> None:
    complaints = []
    for case in spread(cases_of(name), 3):
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


WITHOUT = {("stablehlo", "torch.masked_select"), ("stablehlo", "torch.masked_scatter")}
"""Shapes that depend on values."""


@pytest.mark.parametrize("target", TARGETS)
def test_every_operator_has_lines_or_a_reason(target: str) -> None:
    for name in NAMES:
        found = [code_of(case, target).answers[0] for case in spread(cases_of(name), 3)]
        for answer in found:
            assert bool(answer.lines) != (answer.verdict == "none")
            assert bool(answer.reason) == (answer.verdict in ("none", "differs"))
        assert any(answer.lines for answer in found) or (target, name) in WITHOUT, name


@pytest.mark.parametrize("target", ["numpy", "torch", "jax", "tensorflow", "openvino", "mxnet"])
def test_lines_of_python_are_python(target: str) -> None:
    for operator in operators():
        for case in spread(cases_of(operator.full_name), 2):
            (answer,) = code_of(case, target).answers
            compile("\n".join(answer.lines), target, "exec")
