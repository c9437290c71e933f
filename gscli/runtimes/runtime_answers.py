"""A runtime's own answers: to recorded cases, and as rows of a comparison beside the rules'."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from gscli.base import InputRefused, UsageError
from gscli.frameworks import find_operator
from gscli.lab.answers import ComparisonResult, RuleSetResult
from gscli.lab.cases import Case, CaseResult, describe_gradient_difference
from gscli.lab.compare import group_equal_results
from gscli.lab.difference import describe_difference
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import Reply
from gscli.runtimes.reports import format_values


def run_case_on(runtime: RuntimeProcess, case: Case) -> CaseResult | None:
    """Ask a runtime and compare with the record; None where the runtime has no such thing."""
    assert runtime.hello is not None
    if case.operator not in runtime.hello.ops:
        return None
    flow = case.cotangent if runtime.hello.has_gradients else None
    answer = runtime.run_call(find_operator(case.operator), case.inputs, case.attrs, flow)
    if answer.status == "unsupported":
        return None
    is_tolerated = answer.status == "output" and case.expect == "error"
    return CaseResult(case, _describe_problem(answer, case)[:300], is_tolerated)


def _describe_problem(answer: Reply, case: Case) -> str:
    if answer.status not in ("output", "error"):
        return f"{answer.status}: {answer.text}"
    if case.expect == "open":
        return ""
    if answer.output is None:
        return f"refused, recorded an answer: {answer.text}" if case.expect == "output" else ""
    if case.expect == "error" or case.output is None:
        return f"answered {format_values(answer.output)}, the record is a refusal"
    problem = describe_difference(answer.output, case.output)
    if problem or answer.gradients is None:
        return problem
    return describe_gradient_difference(answer.gradients, case.gradients)


def add_runtime_results(
    comparing: ComparisonResult,
    compare_with: Callable[..., ComparisonResult],
    runtime: RuntimeProcess,
) -> ComparisonResult:
    """The comparison with a row for every operator of the runtime that can say the call.

    `compare_with(only=…)` is the same comparison under some rule sets. UsageError where the runtime
    has no operator for it.
    """
    assert runtime.hello is not None
    hello = runtime.hello
    frameworks = list(dict.fromkeys(name.partition(".")[0] for name in sorted(hello.ops)))
    rules = compare_with(only=frameworks).rows
    rows = list(_run_rule_sets([row for row in rules if _is_applicable(row, runtime)], runtime))
    if not rows:
        raise UsageError(
            f"{hello.title} has no operator for compare {comparing.concept}",
            valid=" ".join(sorted(hello.ops))[:600],
        )
    return replace(comparing, groups=tuple(group_equal_results([*comparing.rows, *rows])))


def _is_applicable(row: RuleSetResult, runtime: RuntimeProcess) -> bool:
    """Whether the runtime has the operator, and goes by this row's rules for its device."""
    assert runtime.hello is not None
    defaults = {attribute.name: attribute.default for attribute in row.operator.attributes}
    rules = {name: value for name, value in runtime.hello.rules.items() if name in defaults}
    attrs = {name: row.attrs.get(name, defaults[name]) for name in rules}
    return row.operator.full_name in runtime.hello.ops and attrs == rules


def _run_rule_sets(rules: list[RuleSetResult], runtime: RuntimeProcess) -> Iterator[RuleSetResult]:
    assert runtime.hello is not None
    for row in rules:
        answer = runtime.run_call(row.operator, row.inputs, row.attrs)
        error = _make_refusal(row, answer) if answer.output is None else None
        yield row.with_runtime_answer(runtime.hello.title, answer.output, error)


def _make_refusal(row: RuleSetResult, answer: Reply) -> InputRefused:
    """The runtime's refusal; where the rules refuse too, it stands in their group."""
    if answer.status == "error" and isinstance(row.error, InputRefused):
        return row.error
    how = "" if answer.status == "error" else f"{answer.status}: "
    return InputRefused(f"{how}{answer.text}")
