"""Recorded cases put to a runtime in place of gscli."""

from __future__ import annotations

from gscli.frameworks import find
from gscli.lab.cases import Case, Verdict, difference
from gscli.lab.runtimes.documents import values
from gscli.lab.runtimes.process import Runtime
from gscli.lab.runtimes.protocol import Answer


def judge_on(runtime: Runtime, case: Case) -> Verdict | None:
    """Ask a runtime and compare with the record; None where the runtime has no such thing."""
    assert runtime.hello is not None
    if case.operator not in runtime.hello.ops:
        return None
    answer = runtime.ask(find(case.operator), case.inputs, case.attrs)
    return None if answer.how == "unsupported" else Verdict(case, _problem(answer, case)[:300])


def _problem(answer: Answer, case: Case) -> str:
    if answer.how not in ("output", "error"):
        return f"{answer.how}: {answer.text}"
    if case.expect == "open":
        return ""
    if answer.output is None:
        return f"refused, recorded an answer: {answer.text}" if case.expect == "output" else ""
    if case.expect == "error" or case.output is None:
        return f"answered {values(answer.output)}, the record is a refusal"
    return difference(answer.output, case.output)
