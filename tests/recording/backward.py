"""Programs of `grad --code` that were run in the real frameworks: tests/vectors/backward.json.

    GSCLI_PYTHONS='torch=/path/to/python jax=/path/to/python' python tests/record.py backward

runs the programs of some calls of every operator in the targets that are named there; the rows of
others stay as they are. With GSCLI_OPERATORS='torch.gather torch.take' only these operators are
run. A row has the version, and for each operator how many programs gave the output and the loop's
gradients, and the digest of their text. A program that does not is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

from float_calls import VALUED

import gscli
from gscli.base import GscliError
from gscli.codegen import preamble
from gscli.codegen.backward import BACKWARD_TARGETS, write_backward
from gscli.frameworks import find_operator
from gscli.gradients.call import trace_gradients
from gscli.runtimes.gradient_cases import generate_gradient_cases
from gscli.traces import Trace

FILE = "tests/vectors/backward.json"
CALLS, SEED = 4, 7

_RUN = """
import json, sys
import numpy as np
import {target}
np.seterr(all="ignore")
for line in sys.stdin:
    call, own = json.loads(line), {{"print": lambda *_: None}}
    exec(call["program"], own)
    answer = np.asarray(own["output"].detach() if "{target}" == "torch" else own["output"])
    right = np.allclose(answer, np.array(call["output"], float), equal_nan=True)
    for name, expected in call["gradients"].items():
        flow = own[name].grad if "{target}" == "torch" else own[name + "_gradient"]
        flow = np.zeros(np.shape(expected)) if flow is None else np.asarray(flow)
        right = right and np.allclose(flow, np.array(expected, float), equal_nan=True)
    assert right, call["program"]
print({target}.__version__)
"""


def iter_programs(name: str, target: str) -> Iterator[tuple[str, dict[str, object]]]:
    """The program of each call of an operator, and what it must give."""
    operator = find_operator(name)
    if name not in VALUED:
        return
    for case in islice(generate_gradient_cases(operator, SEED), CALLS):
        run = case.expected_result
        assert isinstance(run, Trace)
        if run.reduction == "pow" and not (run.inputs[str(run.layout.data_name)] > 0).all():
            continue  # what flows to exponents of zero and negative bases is open
        try:
            with patch.object(preamble, "MAX_INLINE_CELLS", 1 << 20):
                gradients = trace_gradients(run, case.cotangent, "loop")
                program = "\n".join(write_backward(gradients, target))
        except GscliError:
            continue
        layout = run.layout
        roles = {layout.data_name: "data", "value": "value"}
        roles |= {layout.updates.name: "updates"} if layout.updates else {}
        flows = {roles[key]: flow.tolist() for key, flow in gradients.arrays.items()}
        yield program, {"output": run.output.tolist(), "gradients": flows}


def digest(programs: list[str]) -> str:
    """What tells other text."""
    return hashlib.sha256("\0".join(programs).encode()).hexdigest()[:16]


def made() -> Mapping[str, bytes]:
    """The table, with the rows of the targets that can be run here made anew."""
    path = Path(__file__).parents[2] / FILE
    table = json.loads(path.read_text("utf-8")) if path.exists() else {}
    pythons = dict(word.split("=", 1) for word in os.environ.get("GSCLI_PYTHONS", "").split())
    for target in BACKWARD_TARGETS:
        if target in pythons:
            table[target] = _run(target, pythons[target], table.get(target, {}))
    return {FILE: (json.dumps(table, indent=1) + "\n").encode()}


def _run(target: str, python: str, known: Mapping[str, Any]) -> dict[str, object]:
    operators, lines, wanted = {}, list[str](), os.environ.get("GSCLI_OPERATORS", "").split()
    for name in (operator.full_name for operator in gscli.operators()):
        if wanted and name not in wanted:
            operators[name] = known["operators"][name]
            continue
        pairs = list(iter_programs(name, target))
        operators[name] = [len(pairs), digest([program for program, _ in pairs])]
        lines += [json.dumps({"program": program, **facts}) for program, facts in pairs]
    done = subprocess.run(
        [python, "-c", _RUN.format(target=target)], input="\n".join(lines), text=True,
        capture_output=True, check=False, env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    version = done.stdout.strip()
    assert not wanted or version == known["version"], f"{target} {version} runs all operators"
    return {"version": version, "operators": operators}
