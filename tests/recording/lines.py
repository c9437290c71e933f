"""What the lines of `--code` gave in the real frameworks: tests/vectors/code.json.

    GSCLI_PYTHONS='torch=/path/to/python jax=/path/to/python' python tests/record.py code

runs the recorded cases of every operator in the targets that are named there, a case after the
other in one process for each target; the rows of other targets stay as they are. With
GSCLI_OPERATORS='torch.gather torch.take' only these operators are run.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from conftest import arguments, operator_name, recorded

from gscli.codegen.code import generate_code
from gscli.codegen.execution import compare_reply, start_snippet_process
from gscli.codegen.native import TARGETS
from gscli.frameworks import find_operator
from gscli.frameworks.execute import execute

FILE = "tests/vectors/code.json"
PATIENCE = 30.0

MOST, FEWER = 60, {"jax": 12}
"""Cases of an operator; of more, this many from all over the list. JAX compiles every step."""


def sampled(target: str) -> dict[str, list[dict[str, Any]]]:
    """The recorded cases with an answer, by operator."""
    most = FEWER.get(target, MOST)
    answered = {
        name: [case for case in cases if case["expect"] == "output"]
        for name, cases in recorded().items()
    }
    return {name: cases[:: -(-len(cases) // most)] for name, cases in answered.items() if cases}


def made() -> dict[str, bytes]:
    """The table, with the rows of the targets that can be run here made anew."""
    path = Path(__file__).parents[2] / FILE
    table = json.loads(path.read_text("utf-8")) if path.exists() else {}
    pythons = dict(word.split("=", 1) for word in os.environ.get("GSCLI_PYTHONS", "").split())
    for target in TARGETS:
        if target in pythons:
            table[target] = _row(target, pythons[target], table.get(target, {}))
    rows = [f"{json.dumps(name)}: {_lines(table[name])}" for name in TARGETS if name in table]
    return {FILE: ("{\n" + ",\n".join(rows) + "\n}\n").encode()}


def _lines(row: dict[str, Any]) -> str:
    """A row with a line for each operator."""
    operators = ",\n    ".join(
        f"{json.dumps(k)}: {json.dumps(v)}" for k, v in row["operators"].items()
    )
    version = json.dumps(row["version"])
    return f'{{\n  "version": {version},\n  "operators": {{\n    {operators}\n  }}\n}}'


def _row(target: str, python: str, known: dict[str, Any]) -> dict[str, Any]:
    """What the target gave for the operators that are wanted, and for the others what is known."""
    wanted = os.environ.get("GSCLI_OPERATORS", "").split()
    with start_snippet_process(target, python, PATIENCE) as running:
        assert running.hello is not None
        version = running.hello.version
        assert not wanted or version == known["version"], (
            f"{target} {version} runs all operators or none: {known['version']} is recorded"
        )
        operators = {}
        for name, cases in sampled(target).items():
            if not wanted or name in wanted:
                operators[name] = _of(target, running, cases)
            elif name in known["operators"]:
                operators[name] = known["operators"][name]
        return {"version": version, "operators": operators}


def _of(target: str, running: Any, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """What was said of an operator's lines and what their runs gave, counted; odd runs by name."""
    said: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    odd: dict[str, str] = {}
    for case in cases:
        operator = find_operator(operator_name(case))
        plan, output = execute(operator, *arguments(case))
        code = generate_code(operator, plan, output, [TARGETS[target]])
        (answer,) = code.answers
        said[answer.verdict + " (composition)" * answer.composed] += 1
        if answer.verdict == "none":
            continue
        result = compare_reply(running.run(answer, code.inputs), output)
        runs[result["result"]] += 1
        if result["result"] not in ("equal", "not supported") and answer.verdict != "differs":
            odd[case["id"]] = f"{result['result']}: {result.get('text', '')}"[:160]
    found: dict[str, Any] = {"said": dict(sorted(said.items())), "runs": dict(sorted(runs.items()))}
    return {**found, "odd": odd} if odd else found
