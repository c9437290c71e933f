"""Random calls put to a runtime: what differs is made small and told once per kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from gscli.base.records import Record
from gscli.frameworks.operator import Operator
from gscli.runtimes.generator import trials
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import Hello, Reply
from gscli.runtimes.shrinking import shrunk
from gscli.runtimes.trials import WARNINGS, Kind, Mismatch, Trial, differs, verdict

MAX_KINDS = 12
"""Kinds of differences of one operator and verdict that are made small; more are only counted."""

COSTLY: tuple[Kind, ...] = ("crash", "hang", "memory", "garbage")
"""Kinds that cost a new process, and some the whole time limit."""

ENOUGH = 5
"""Calls of one costly kind after which calls that meet the same rules are left out."""


class FuzzOptions(Record):
    """What a user asks for: calls in all, seconds (0: no limit), seed, how often each is asked."""

    cases: int = 500
    seconds: float = 0.0
    seed: int = 7
    repeat: int = 1


@dataclass(eq=False)
class FuzzFinding:
    """One kind of difference: the smallest call that shows it, and how often it was met."""

    trial: Trial
    verdict: Mismatch
    answer: Reply
    count: int = 1
    asked: int = 0
    known: bool = False

    @property
    def signature(self) -> str:
        """A line for `--except`: operator, kind, and the rules that the smallest call meets."""
        words = ", ".join(sorted(self.trial.traits)) or "plain"
        return f"{self.trial.operator.full_name} {self.verdict.kind}: {words}"

    @property
    def is_warning(self) -> bool:
        """Whether only --strict makes it a failure."""
        return self.verdict.kind in WARNINGS

    def covers(self, other: Trial, verdict: Mismatch) -> bool:
        """Whether another call shows the same kind: it meets all the rules of the smallest."""
        return (
            self.trial.operator is other.operator
            and self.verdict == verdict
            and self.trial.traits <= other.traits
        )

    def is_enough(self, other: Trial) -> bool:
        """Whether another call would only show again what costs a process each time."""
        return (
            self.verdict.kind in COSTLY
            and self.count >= ENOUGH
            and self.trial.operator is other.operator
            and self.trial.traits <= other.traits
        )


@dataclass(eq=False)
class FuzzCounts:
    """What became of the calls of one operator."""

    cases: int = 0
    differ: int = 0
    unsupported: int = 0
    spared: int = 0
    spoiled: int = 0
    slow: int = 0
    words: str = ""


@dataclass(eq=False)
class Report:
    """Everything one run found."""

    hello: Hello
    tallies: dict[str, FuzzCounts]
    differences: list[FuzzFinding] = field(default_factory=list)
    seconds: float = 0.0
    restarts: int = 0
    interrupted: bool = False

    @property
    def cases(self) -> int:
        """How many calls were put to the runtime."""
        return sum(tally.cases for tally in self.tallies.values())

    def failures(self, *, strict: bool) -> list[FuzzFinding]:
        """Differences that count against the runtime and are not known."""
        return [
            found
            for found in self.differences
            if not found.known and (strict or not found.is_warning)
        ]


Watch = Callable[[Report], None]


def fuzz(
    runtime: RuntimeProcess,
    operators: Sequence[Operator],
    wishes: FuzzOptions,
    known: Sequence[str] = (),
    watch: Watch = lambda _report: None,
) -> Report:
    """Put calls of the operators in turn to a started runtime. Ctrl-C ends with what there is."""
    assert runtime.hello is not None
    began = time.monotonic()
    report = Report(runtime.hello, {operator.full_name: FuzzCounts() for operator in operators})
    try:
        for trial in _iter_cases(operators, wishes, runtime.hello.rules, began):
            _run_fuzz_case(runtime, trial, wishes.repeat, report)
            report.seconds, report.restarts = time.monotonic() - began, runtime.restarts
            watch(report)
    except KeyboardInterrupt:
        report.interrupted = True
    for found in report.differences:
        found.known = any(fnmatchcase(found.signature, pattern) for pattern in known)
    report.seconds = time.monotonic() - began
    return report


def _iter_cases(
    operators: Sequence[Operator],
    wishes: FuzzOptions,
    rules: Mapping[str, object],
    began: float,
) -> Iterator[Trial]:
    """Calls of each operator in turn, until there are enough or the time is over."""
    sources = {operator: trials(operator, wishes.seed, rules) for operator in operators}
    count = 0
    while True:
        for operator in operators:
            if count >= wishes.cases or (
                wishes.seconds and time.monotonic() - began >= wishes.seconds
            ):
                return
            count += 1
            yield next(sources[operator])


def _run_fuzz_case(runtime: RuntimeProcess, trial: Trial, repeat: int, report: Report) -> None:
    """One call: ask, judge, and where it differs find the kind it belongs to."""
    tally = report.tallies[trial.operator.full_name]
    if any(known.is_enough(trial) for known in report.differences):
        tally.spared += 1
        return
    answer, found = asked(runtime, trial, repeat)
    tally.cases += 1
    if answer.how == "unsupported":
        tally.unsupported += 1
        tally.words = answer.text
    if found is None:
        return
    if not _count_known_kind(report, trial, found):
        answer, confirmed = _rerun_in_new_process(runtime, trial, found, repeat)
        if confirmed is None:
            tally.slow += found.kind == "hang"
            tally.spoiled += found.kind != "hang"
            return
        if not _count_known_kind(report, trial, confirmed):
            _record_finding(runtime, trial, confirmed, answer, repeat, report)
    tally.differ += 1


def _count_known_kind(report: Report, trial: Trial, found: Mismatch) -> bool:
    """Whether a difference is of a kind that was met before; then it is counted there."""
    for known in report.differences:
        if known.covers(trial, found):
            known.count += 1
            return True
    alike = [
        one
        for one in report.differences
        if one.trial.operator is trial.operator and one.verdict.kind == found.kind
    ]
    if len(alike) < MAX_KINDS:
        return False
    alike[-1].count += 1
    return True


def _rerun_in_new_process(
    runtime: RuntimeProcess, trial: Trial, found: Mismatch, repeat: int
) -> tuple[Reply, Mismatch | None]:
    """The answer in a new process: what earlier calls did to the old one is not this call's fault.

    A runtime that writes outside its memory answers wrongly, or ends, at some later call.
    """
    if found.kind != "unsteady":
        runtime.stop()
    return asked(runtime, trial, repeat)


def _record_finding(
    runtime: RuntimeProcess,
    trial: Trial,
    found: Mismatch,
    answer: Reply,
    repeat: int,
    report: Report,
) -> None:
    """A new kind: the smallest call that shows it, also in a new process."""
    smallest, steps = shrunk(trial, found, lambda other: asked(runtime, other, repeat)[1])
    last, again = _rerun_in_new_process(runtime, smallest, found, repeat)
    if again != found:  # then the call as it was met is the evidence
        smallest, last = trial, answer
    for known in report.differences:
        if known.covers(smallest, found) and smallest.traits == known.trial.traits:
            known.count += 1
            return
    report.differences.append(FuzzFinding(smallest, found, last, asked=steps))


def asked(runtime: RuntimeProcess, trial: Trial, repeat: int) -> tuple[Reply, Mismatch | None]:
    """The runtime's answer and its verdict; asked several times, all answers have to be one."""
    answer = runtime.ask(trial.operator, trial.inputs, trial.attrs)
    found = verdict(trial, answer)
    for _ in range(repeat - 1):
        again = runtime.ask(trial.operator, trial.inputs, trial.attrs)
        if differs(answer, again):
            return again, Mismatch("unsteady")
    return answer, found
