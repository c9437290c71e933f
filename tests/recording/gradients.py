"""What real frameworks give for gradients: tests/vectors/gradients.jsonl.

    GSCLI_PYTHONS='torch=/path/to/python jax=/path/to/python' python tests/record.py gradients

asks the frameworks that are named there; the cases of others stay as they are. A case has the form
of a recorded one, with a `cotangent` and the `gradients` that the framework gave: by input, null
where it has none. Where its gradient is known to be wrong the case is open, and a note says why.
Calls that it refuses are left out, as are those whose output is not ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from float_calls import Call, float_calls
from worlds import GOOD

from gscli.files.formats.jsonarray import dump_json
from gscli.frameworks import find_operator
from gscli.lab.calls import dump_call
from gscli.layout.axes import OutOfBounds
from gscli.runtimes.catalogue import build_runtime_command
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import Reply
from gscli.traces import Trace

FILE = "tests/vectors/gradients.jsonl"
FRAMEWORKS = ("torch", "jax", "tensorflow")

# How many calls of an operator have such values.
KINDS = {"generic": 8, "ties": 12, "nan": 6}

# Cells of an output that is recorded.
MOST_CELLS = 24


def made() -> dict[str, bytes]:
    """The cases, those of the frameworks that can be run here made anew."""
    path = Path(__file__).parents[2] / FILE
    known = path.read_text("utf-8").splitlines() if path.exists() else []
    pythons = dict(word.split("=", 1) for word in os.environ.get("GSCLI_PYTHONS", "").split())
    lines = list[str]()
    for framework in FRAMEWORKS:
        if framework in pythons:
            lines += ask_framework(framework, pythons[framework])
        else:
            lines += [line for line in known if f'"framework": "{framework}"' in line]
    return {FILE: "".join(f"{line}\n" for line in lines).encode()}


def ask_framework(framework: str, python: str) -> Iterator[str]:
    """The cases of a framework."""
    with RuntimeProcess(build_runtime_command(framework, python), patience=60) as runtime:
        hello = runtime.start()
        for name in (name for name in GOOD if name in hello.ops):
            for kind, count in KINDS.items():
                calls = [c for c in float_calls(name, 4 * count, kind) if is_small(c)]
                for number, call in enumerate(calls[:count]):
                    output = call.trace.output
                    flow = np.random.default_rng(number).integers(1, 6, output.shape)
                    cotangent = flow.astype(output.dtype)
                    operator = find_operator(name)
                    reply = runtime.run_call(operator, call.inputs, call.attrs, cotangent)
                    if is_answered(call, reply):
                        flaw = name_flaw(call.trace)
                        yield json.dumps({
                            "id": f"{name}/gradient/{kind}/{number}", "version": hello.version,
                            **dump_call(operator, call.inputs, call.attrs),
                            "expect": "open" if flaw else "output", "output": dump_json(output),
                            "cotangent": dump_json(cotangent), "gradients": dump_gradients(reply),
                            **({"note": flaw} if flaw else {}),
                        })  # fmt: skip


def is_small(call: Call) -> bool:
    """Whether a call is worth a line, and not much more."""
    return 0 < call.trace.output.size <= MOST_CELLS


def is_answered(call: Call, reply: Reply) -> bool:
    """Whether the framework has gradients of this very output."""
    if reply.gradients is None or reply.output is None:
        return False
    return bool(np.allclose(reply.output, call.trace.output, equal_nan=True))


def dump_gradients(reply: Reply) -> dict[str, object]:
    """The gradients as tensors of a document."""
    gradients = reply.gradients or {}
    return {name: None if array is None else dump_json(array) for name, array in gradients.items()}


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
