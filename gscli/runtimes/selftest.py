"""Whether an adapter may judge: odd tensors come back as they went, and plain calls are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli.base import ContentRefused, check_rule
from gscli.base.arrays import parse_dtype
from gscli.frameworks.operator import Operator
from gscli.lab.difference import describe_difference
from gscli.lab.examples import build_probe
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.trials import FuzzCase, find_mismatch
from gscli.traces import Trace


def iter_edge_cases() -> Iterator[NDArray[Any]]:
    """Tensors that adapters have been seen to change: no axes, no cells, NaN, large integers."""
    yield np.array(3.5, np.float32)
    yield np.zeros((0, 3), np.float64)
    yield np.array([np.nan, np.inf, -np.inf])
    yield np.array([2**63 - 1, -(2**63)])
    yield np.array([2**64 - 1], np.uint64)
    yield np.array([[True], [False]])
    yield np.array([1 + 2j], np.complex64)
    yield np.array([0.5, 65504], np.float16)
    yield np.array(["", "ü"])


def check_adapter(runtime: RuntimeProcess, operators: Sequence[Operator]) -> None:
    """Start a runtime and try it on legal cases. ContentRefused where it must not judge."""
    hello = runtime.start()
    if hello.has_echo:
        for array in iter_edge_cases():
            answer = runtime.echo(array)
            rule = f"the adapter of {hello.name} does not answer echo"
            problem = f"{answer.status} {answer.text}" if answer.status != "unsupported" else ""
            if answer.output is not None:
                rule = f"the adapter of {hello.name} changes tensors on the way"
                problem = describe_difference(answer.output, array)
            where = f"{array.dtype.name} {list(array.shape)}: {problem}"[:200]
            hint = "mend the adapter: what it says of the runtime cannot be believed"
            check_rule(not problem, rule, where, kind=ContentRefused, hint=hint)
    _check_examples(runtime, operators)


def _check_examples(runtime: RuntimeProcess, operators: Sequence[Operator]) -> None:
    """At least one plain call has to be right, or it is the adapter that is wrong."""
    rules = dict(runtime.hello.rules)
    failures: list[tuple[str, str]] = []
    for trial in _iter_examples(operators, rules):
        answer = runtime.run_call(trial.operator, trial.inputs, trial.attrs)
        wrong = find_mismatch(trial, answer)
        if wrong is None and answer.status == "output":
            return
        reason = answer.text or (wrong.kind if wrong else answer.status)
        failures.append((answer.status, f"{trial.command}: {reason}"))
    is_unsupported = {status for status, _ in failures} == {"unsupported"}
    verdict = "supports" if is_unsupported else "is right in"
    status, text = failures[0] if failures else ("", f"its rules refuse them: {rules}")
    hint = "look at the adapter first: gscli help runtimes"
    if status == "hang":
        hint = "--patience SECONDS, where calls need longer"
    problem = f"{runtime.hello.title} {verdict} none of the plain calls"
    raise ContentRefused(problem, where=text[:300], hint=hint)


def _iter_examples(operators: Sequence[Operator], rules: dict[str, object]) -> Iterator[FuzzCase]:
    """The examples of the operators with as few attributes as can be, in 64 and in 32 bits."""
    for operator in operators:
        known = operator.attributes_by_name
        own = {name: value for name, value in rules.items() if name in known}
        probe = build_probe(operator, own)
        if probe is None:
            continue
        for bits in ("64", "32"):
            inputs = dict(probe.inputs)
            for name, array in probe.inputs.items():
                if array.dtype.kind in "if":
                    inputs[name] = array.astype(parse_dtype(array.dtype.name.replace("64", bits)))
            attrs = probe.attrs.items()
            needed = {k: v for k, v in attrs if k in rules or known[k].is_required}
            trials = [FuzzCase(operator, inputs, attrs) for attrs in (needed, probe.attrs)]
            legal = (trial for trial in trials if isinstance(trial.expected_result, Trace))
            yield from islice(legal, 1)
