"""What the lines of `--code` gave in the real frameworks: tests/vectors/code.json.

    GSCLI_PYTHONS='torch=/path/to/python jax=/path/to/python' python tests/record.py code

runs the recorded cases of every operator in the targets that are named there, a case after the
other in one process for each target; the rows of other targets stay as they are. What is called
exact is run with other index numbers, too: `others` counts these runs. With
GSCLI_OPERATORS='torch.gather torch.take' only these operators are run.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from conftest import Array, Case, arguments, operator_name, recorded

from gscli.base import GscliError
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.code import generate_code
from gscli.codegen.execution import compare_reply, start_snippet_process
from gscli.codegen.native import TARGETS
from gscli.frameworks import find_operator
from gscli.frameworks.duplicates import find_duplicate_writers
from gscli.frameworks.execute import execute
from gscli.frameworks.operator import Operator
from gscli.plan.plan import ValidatedPlan
from gscli.runtimes.protocol import Reply

FILE = "tests/vectors/code.json"
PATIENCE = 30.0

# Cases of an operator; of more, this many from all over the list. JAX compiles every step.
MOST, FEWER = 60, {"jax": 12}

# Other index numbers that lines which are called exact are run with.
OTHERS, FEWER_OTHERS = 40, {"jax": 8, "stablehlo": 8, "openvino": 8, "tensorflow": 16}

# The farthest index: NumPy subtracts the size, mode wrap, until a number fits.
FAR = 10**6


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
                operators[name] = run_operator_lines(target, running, cases)
            elif name in known["operators"]:
                operators[name] = known["operators"][name]
        return {"version": version, "operators": operators}


def other_calls(
    operator: Operator, plan: ValidatedPlan, case: Case, count: int
) -> Iterator[tuple[dict[str, Array], Array | None, bool]]:
    """A call with other index numbers and masks: what its lines read, its output, if any, and
    whether the framework leaves open which of several values for a cell that is.

    In turn legal numbers, negative ones, numbers all about the axis, equal ones, one far away.
    """
    analysis, rng = CallAnalysis(operator, plan), np.random.default_rng(0)
    given, attributes = arguments(case)
    variables = {
        name: variable
        for name, variable in analysis.variables.items()
        if name in given
        and name in (*analysis.index_names, *analysis.masks)
        and given[name].dtype.kind in "iub"
        and given[name].size == analysis.arrays_by_variable[variable].size
    }
    sizes = [axis.size for axis in plan.layout.axes] or [1]
    counted = operator.counted_inputs(plan.layout.attributes)
    far = max(sizes) if counted else FAR  # they say how large the output is
    for turn in range(count if variables else 0):
        numbers = {name: _other_numbers(given[name], sizes, rng, turn, far) for name in variables}
        reads = {
            variable: numbers[name].reshape(analysis.arrays_by_variable[variable].shape)
            for name, variable in variables.items()
        }
        is_open = False
        try:
            other, output = execute(operator, {**given, **numbers}, attributes)
            is_open = bool(
                other.layout.unspecified_order and find_duplicate_writers(other, 1).total
            )
        except GscliError:
            output = None
        yield {**analysis.arrays_by_variable, **reads}, output, is_open


def _other_numbers(
    array: Array, sizes: list[int], rng: np.random.Generator, turn: int, far: int
) -> Array:
    if array.dtype == bool:
        return rng.permutation(array.reshape(-1)).reshape(array.shape)
    low, high = min(sizes), max(sizes)
    begin, end = [(0, low), (-low, low), (-high - 2, high + 3), (0, low), (0, low)][turn % 5]
    numbers = rng.integers(begin, max(end, begin + 1), array.shape)
    if turn % 5 == 3:
        numbers = np.full(array.shape, numbers.flat[0] if array.size else 0)
    if turn % 5 == 4 and array.size:
        numbers = np.array(numbers)
        numbers.flat[rng.integers(array.size)] = rng.choice([high, -high - 1, -1, -high, far, -far])
    bounds = np.iinfo(array.dtype)
    return np.clip(numbers, bounds.min, min(bounds.max, far)).astype(array.dtype)


def find_difference(reply: Reply, expected: Array | None) -> str:
    """What is wrong with an answer to a call with this output, or to one that is refused."""
    if expected is None:
        return "it answers where the call is refused" if reply.status == "output" else ""
    result = compare_reply(reply, expected)
    equal = result["result"] in ("equal", "not supported")
    return "" if equal else f"other indices: {result['result']}: {result.get('text', '')}"


def run_operator_lines(target: str, running: Any, cases: list[dict[str, Any]]) -> dict[str, Any]:
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
        result = compare_reply(running.run_snippet(answer, code.inputs), output)
        runs[result["result"]] += 1
        if result["result"] not in ("equal", "not supported") and answer.verdict != "differs":
            odd[case["id"]] = f"{result['result']}: {result.get('text', '')}"[:160]
        if answer.verdict == "exact":
            is_own = answer.operation == f"{answer.title}'s own {operator.name}"
            count = FEWER_OTHERS.get(target, OTHERS)
            for reads, expected, is_open in other_calls(operator, plan, case, count):
                if is_own and (expected is None or is_open):
                    continue  # refused for what the framework does not check
                runs["others"] += 1
                if problem := find_difference(running.run_snippet(answer, reads), expected):
                    odd[case["id"]] = problem[:160]
    found: dict[str, Any] = {"said": dict(sorted(said.items())), "runs": dict(sorted(runs.items()))}
    return {**found, "odd": odd} if odd else found
