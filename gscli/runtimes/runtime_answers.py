"""A runtime's own answers as rows of a comparison, beside the rules'."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from gscli.base import InputRefused, UsageError, check_rule
from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.lab.answers import (
    ComparisonResult,
    RuleSetResult,
    UnsupportedRuleSet,
    group_equal_results,
)
from gscli.lab.gradient_comparison import GradientRow, find_roles, make_cotangent, rename_to_roles
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import Reply


class RuntimeQuestion(Record):
    """A comparison as a runtime is asked for it.

    `compare_with(only=…)` is the same comparison under some rule sets.
    """

    comparing: ComparisonResult
    compare_with: Callable[..., ComparisonResult]
    runtime: RuntimeProcess

    def add_results(self) -> ComparisonResult:
        """The comparison with a row for every operator of the runtime that can say the call; where
        none can, with the reasons.

        UsageError where the runtime has no operator for it.
        """
        comparing, runtime = self.comparing, self.runtime
        rows, (rules, unsupported) = comparing.rows, self._list_rules()
        for row in rules:
            answer = runtime.run_call(row.operator, row.inputs, row.attrs)
            error = _make_refusal(row, answer) if answer.output is None else None
            rows = [*rows, row.with_runtime_answer(runtime.hello.title, answer.output, error)]
        every = {row.label: row for row in (*comparing.unsupported, *unsupported)}.values()
        return replace(comparing, groups=group_equal_results(rows), unsupported=tuple(every))

    def iter_gradients(self, cotangent: Array | None = None) -> Iterator[GradientRow]:
        """The gradients that the runtime itself gives, for ones where there is no cotangent.

        UsageError where it gives none, or has no operator for the comparison.
        """
        hello = self.runtime.hello
        problem = f"{hello.title} gives no gradients"
        check_rule(hello.has_gradients, problem, "--grad", kind=UsageError)
        rules, unsupported = self._list_rules()
        for each in unsupported:
            label, name = f"{hello.title}: {each.label}", each.operators[0]
            yield GradientRow(label, name, None, {}, each.reason, from_runtime=True)
        for row in rules:
            label, name = f"{hello.title}: {row.label}", row.operator.full_name
            arrays, refusal = dict[str, Array](), "not asked, since its rules refuse this"
            if row.trace is not None:
                flow, typed = make_cotangent(row.trace, cotangent), row.trace.inputs
                inputs = {key: typed.get(key, array) for key, array in row.inputs.items()}
                answer = self.runtime.run_call(row.operator, inputs, row.attrs, flow)
                arrays = rename_to_roles(row.trace, answer.gradients or {})
                refusal = "" if arrays else answer.text or "no gradients"
            roles = find_roles(row.trace) if row.trace else frozenset()
            yield GradientRow(label, name, None, arrays, refusal, from_runtime=True, roles=roles)

    def _list_rules(self) -> tuple[list[RuleSetResult], list[UnsupportedRuleSet]]:
        """The rows of a comparison that the runtime can be asked for; where there are none, why."""
        hello, comparing = self.runtime.hello, self.comparing
        # The framework of a row can say the call: no comparison with it is refused as a whole.
        able = comparing.rows[0].operator.framework_name
        frameworks = dict.fromkeys(name.partition(".")[0] for name in sorted(hello.ops))
        answers, known = self.compare_with(only=[*frameworks, able]), {*hello.ops}
        rows = [row for row in answers.rows if _is_applicable(row, self.runtime)]
        unsupported = [row for row in answers.unsupported if not rows and known & {*row.operators}]
        problem = f"{hello.title} has no operator for compare {comparing.concept}"
        check_rule(bool(rows or unsupported), problem, kind=UsageError, valid=hello.answered_names)
        return rows, unsupported


def _is_applicable(row: RuleSetResult, runtime: RuntimeProcess) -> bool:
    """Whether the runtime has the operator, and goes by this row's rules for its device."""
    known = row.operator.attributes_by_name
    rules = {name: value for name, value in runtime.hello.rules.items() if name in known}
    attrs = {name: row.attrs.get(name, known[name].default) for name in rules}
    return row.operator.full_name in runtime.hello.ops and attrs == rules


def _make_refusal(row: RuleSetResult, answer: Reply) -> InputRefused:
    """The runtime's refusal; where the rules refuse too, it stands in their group."""
    if answer.status == "error" and isinstance(row.error, InputRefused):
        return row.error
    return InputRefused(f"{answer.status}: " * (answer.status != "error") + answer.text)
