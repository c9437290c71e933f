"""A runtime's own answers: to recorded cases, and as rows of a comparison beside the rules'."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from gscli.base import InputRefused, UsageError
from gscli.frameworks import find
from gscli.lab.answers import Comparing, Row
from gscli.lab.cases import Case, Verdict
from gscli.lab.compare import grouped
from gscli.lab.difference import describe_difference
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import Reply
from gscli.runtimes.reports import values


def judge_on(runtime: RuntimeProcess, case: Case) -> Verdict | None:
    """Ask a runtime and compare with the record; None where the runtime has no such thing."""
    assert runtime.hello is not None
    if case.operator not in runtime.hello.ops:
        return None
    answer = runtime.ask(find(case.operator), case.inputs, case.attrs)
    return None if answer.how == "unsupported" else Verdict(case, _problem(answer, case)[:300])


def _problem(answer: Reply, case: Case) -> str:
    if answer.how not in ("output", "error"):
        return f"{answer.how}: {answer.text}"
    if case.expect == "open":
        return ""
    if answer.output is None:
        return f"refused, recorded an answer: {answer.text}" if case.expect == "output" else ""
    if case.expect == "error" or case.output is None:
        return f"answered {values(answer.output)}, the record is a refusal"
    return describe_difference(answer.output, case.output)


def with_runtime(
    comparing: Comparing, compared: Callable[..., Comparing], runtime: RuntimeProcess
) -> Comparing:
    """The comparison with a row for every operator of the runtime that can say the call.

    `compared(only=…)` is the same comparison under some rule sets. UsageError where the runtime
    has no operator for it.
    """
    assert runtime.hello is not None
    hello = runtime.hello
    frameworks = list(dict.fromkeys(name.partition(".")[0] for name in sorted(hello.ops)))
    rules = compared(only=frameworks).rows
    rows = list(_rows([row for row in rules if _is_asked(row, runtime)], runtime))
    if not rows:
        raise UsageError(
            f"{hello.title} has no operator for compare {comparing.concept}",
            valid=" ".join(sorted(hello.ops))[:600],
        )
    return replace(comparing, groups=tuple(grouped([*comparing.rows, *rows])))


def _is_asked(row: Row, runtime: RuntimeProcess) -> bool:
    """Whether the runtime has the operator, and goes by this row's rules for its device."""
    assert runtime.hello is not None
    defaults = {attribute.name: attribute.default for attribute in row.operator.attributes}
    wanted = {name: value for name, value in runtime.hello.rules.items() if name in defaults}
    given = {name: row.attrs.get(name, defaults[name]) for name in wanted}
    return row.operator.full_name in runtime.hello.ops and given == wanted


def _rows(rules: list[Row], runtime: RuntimeProcess) -> Iterator[Row]:
    assert runtime.hello is not None
    for row in rules:
        answer = runtime.ask(row.operator, row.inputs, row.attrs)
        label = f"{runtime.hello.title}: {row.label}"
        own = replace(
            row, label=label, trace=None, error=None, answered=answer.output, from_runtime=True
        )
        if answer.output is None:
            own = replace(own, error=_refusal(row, answer))
        yield own


def _refusal(row: Row, answer: Reply) -> InputRefused:
    """The runtime's refusal; where the rules refuse too, it stands in their group."""
    if answer.how == "error" and isinstance(row.error, InputRefused):
        return row.error
    how = "" if answer.how == "error" else f"{answer.how}: "
    return InputRefused(f"{how}{answer.text}")
