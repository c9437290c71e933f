"""Recorded cases put to gscli itself or to a runtime, and held against their records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gscli.base import GscliError, LimitRefused, UsageError
from gscli.base.arrays import Array, Arrays
from gscli.base.records import Record
from gscli.frameworks import find_operator
from gscli.frameworks.operator import Operator
from gscli.gradients import VALUE
from gscli.gradients.call import trace_gradients
from gscli.lab.cases import GRADIENT_TOLERANCE, MAX_OUTPUT_BYTES, Case
from gscli.lab.difference import describe_difference
from gscli.runtimes.findings import FuzzFinding
from gscli.runtimes.protocol import Reply
from gscli.runtimes.reports import format_values
from gscli.runtimes.trials import (
    GRADIENT_KINDS,
    WARNINGS,
    FuzzCase,
    Mismatch,
    find_mismatch,
    find_output_mismatch,
    normalize_message,
)
from gscli.traces import trace_call

if TYPE_CHECKING:
    from gscli.runtimes.process import RuntimeProcess

MAX_PROBLEM_CHARACTERS = 300


class CaseResult(Record):
    """What became of a case: `problem` is empty when it passed.

    `is_tolerated`: a runtime answers where the record is a refusal, as `fuzz` tolerates. `finding`:
    the failure as `fuzz` tells it; None where a case passed or was not tried.
    """

    problem: str = ""
    is_tolerated: bool = False
    finding: FuzzFinding | None = None


def run_case(case: Case) -> CaseResult:
    """Run one case and compare with the record. Raises nothing.

    A limit of gscli's own is no refusal by the rules, nor is the name of an operator that gscli has
    not, of an input that the operator has not, or of a misspelt attribute: it was not tried.
    """
    reply = _answer_by_rules(case)
    if reply.status != "unsupported":
        return _judge_reply(case, reply)
    problem = f"not tried: {reply.text}"[:MAX_PROBLEM_CHARACTERS]
    return CaseResult("" if case.expect == "open" else problem)


def run_case_on(runtime: RuntimeProcess, case: Case) -> CaseResult | None:
    """Ask a runtime and compare with the record; None where the runtime has no such thing."""
    has_gradients = case.cotangent is None or runtime.hello.has_gradients
    if case.operator not in runtime.hello.ops or not has_gradients:
        return None
    operator = find_operator(case.operator)
    if unknown := _explain_unknown_name(operator, case):
        return CaseResult(f"not tried: {unknown}"[:MAX_PROBLEM_CHARACTERS])
    reply = runtime.run_call(operator, case.inputs, case.attrs, case.cotangent)
    if reply.status == "unsupported":
        return None
    by_rules = find_mismatch(FuzzCase(operator, case.inputs, case.attrs), reply)
    is_tolerated = reply.status == "output" and case.expect == "error"
    is_tolerated |= by_rules is not None and by_rules.kind in WARNINGS
    return _judge_reply(case, reply)._replace(is_tolerated=is_tolerated)


def _explain_unknown_name(operator: Operator, case: Case) -> str:
    """What is wrong with the name of an input that the operator has not, or with a misspelt one.

    An attribute that resembles none may be of another version: its refusal is one by the rules. So
    is that of a missing input; all are taken for given here.
    """
    apart = {"indices_per_axis", *operator.scalar_attributes}
    inputs = sorted(({*operator.input_names} - {operator.variadic} | case.inputs.keys()) - apart)
    for attrs in ([], sorted({*case.attrs} - apart)):
        try:
            operator.check_names(inputs, attrs)
        except GscliError as wrong:
            return str(wrong) if isinstance(wrong, UsageError) and (wrong.hint or not attrs) else ""
    return ""


def _answer_by_rules(case: Case) -> Reply:
    """What the rules answer, as a runtime would."""
    try:
        operator = find_operator(case.operator)
    except UsageError as unknown:
        return Reply("unsupported", text=str(unknown))
    try:
        if operator.variadic in case.inputs:  # a name that only Python's callers may use
            operator.check_names(case.inputs)
        trace = trace_call(operator, case.inputs, case.attrs, max_bytes=MAX_OUTPUT_BYTES)
        flows = trace_gradients(trace, case.cotangent).arrays if case.gradients else None
    except (LimitRefused, MemoryError) as limit:
        return Reply("unsupported", text=str(limit) or "not enough memory")
    except GscliError as refusal:
        wrong_name = _explain_unknown_name(operator, case)
        return Reply("unsupported" if wrong_name else "error", text=wrong_name or str(refusal))
    return Reply("output", trace.output, "", flows)


def _judge_reply(case: Case, reply: Reply) -> CaseResult:
    """An answer held against the record."""
    mismatch, problem = _find_difference(case, reply)
    if mismatch is None:
        return CaseResult()
    operator, is_gradient = find_operator(case.operator), mismatch.kind in GRADIENT_KINDS
    call = FuzzCase(operator, case.inputs, case.attrs, is_gradient, case)
    return CaseResult(problem[:MAX_PROBLEM_CHARACTERS], finding=FuzzFinding(call, mismatch, reply))


def _find_difference(case: Case, reply: Reply) -> tuple[Mismatch | None, str]:
    """How an answer differs from the record: as a kind, and in words."""
    if reply.status in ("crash", "hang", "memory", "garbage"):
        return Mismatch(reply.status), f"{reply.status}: {reply.text}"
    if case.expect == "open" or (reply.output is None and case.expect == "error"):
        return None, ""
    if reply.output is None:
        reason = normalize_message(reply.text)
        return Mismatch("refuses", reason), f"refused, recorded an answer: {reply.text}"
    if case.expect == "error" or case.output is None:
        text = f"answered {format_values(reply.output)}, the record is a refusal"
        return Mismatch("answers", "the record is a refusal"), text
    if problem := describe_difference(reply.output, case.output):
        return find_output_mismatch(reply.output, case.output) or Mismatch("value"), problem
    flows, wrong = reply.gradients or {}, Mismatch("gradient")
    problem = describe_gradient_difference(flows, case.gradients)
    if reply.status == "error":
        wrong = Mismatch("gradient-refused", normalize_message(reply.text))
        problem = f"refused the gradient: {reply.text}"
    return (wrong, problem) if problem else (None, "")


def describe_gradient_difference(actual: Mapping[str, Array | None], recorded: Arrays) -> str:
    """The first gradient that is not as recorded, in words; "" where all are.

    >>> import numpy as np
    >>> describe_gradient_difference({"data": np.array([1.0])}, {"data": np.array([2.0])})
    'gradient of data[0] is 1.0, recorded 2.0'
    """
    for name, flow in recorded.items():
        own = actual.get(name)
        if own is None:
            return f"no gradient of {name}, recorded one"
        if name == VALUE:  # a number has no type of its own
            own = own.astype(flow.dtype)
        if problem := describe_difference(own, flow, f"gradient of {name}", GRADIENT_TOLERANCE):
            return problem
    return ""
