"""Random calls put to a runtime: what differs is made small and told once per kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from gscli.base import ExitCode
from gscli.base.records import Record
from gscli.frameworks.operator import Operator
from gscli.runtimes.generator import generate_cases
from gscli.runtimes.gradient_cases import generate_gradient_cases
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import Hello, Reply
from gscli.runtimes.shrinking import shrink_case
from gscli.runtimes.trials import (
    WARNINGS,
    FuzzCase,
    Mismatch,
    MismatchKind,
    find_mismatch,
    has_changed,
)

MAX_KINDS = 12
"""Kinds of differences of one operator and verdict that are made small; more are only counted."""

COSTLY: tuple[MismatchKind, ...] = ("crash", "hang", "memory", "garbage")
"""Kinds that cost a new process, and some the whole time limit."""

MAX_COSTLY_REPEATS = 5
"""Calls of one costly kind after which calls that meet the same rules are left out."""


class FuzzOptions(Record):
    """What a user asks for: calls in all, seconds (0: no limit), seed, how often each is asked.

    `has_gradients`: gradients of each call are asked for, too.
    """

    cases: int = 500
    seconds: float = 0.0
    seed: int = 7
    repeat: int = 1
    has_gradients: bool = False


@dataclass(eq=False)
class FuzzFinding:
    """One kind of difference: the smallest call that shows it, and how often it was met."""

    case: FuzzCase
    mismatch: Mismatch
    reply: Reply
    count: int = 1
    is_known: bool = False

    @property
    def signature(self) -> str:
        """A line for `--except`: operator, kind, and the rules that the smallest call meets."""
        words = ", ".join(sorted(self.case.distinctions)) or "plain"
        return f"{self.case.operator.full_name} {self.mismatch.kind}: {words}"

    @property
    def is_warning(self) -> bool:
        """Whether only --strict makes it a failure."""
        return self.mismatch.kind in WARNINGS

    def covers(self, other: FuzzCase, verdict: Mismatch) -> bool:
        """Whether another call shows the same kind: it meets all the rules of the smallest."""
        return (
            self.case.operator is other.operator
            and self.mismatch == verdict
            and self.case.distinctions <= other.distinctions
        )

    def is_saturated(self, other: FuzzCase) -> bool:
        """Whether another call would only show again what costs a process each time."""
        return (
            self.mismatch.kind in COSTLY
            and self.count >= MAX_COSTLY_REPEATS
            and self.covers(other, self.mismatch)
        )


@dataclass(eq=False)
class FuzzCounts:
    """What became of the calls of one operator."""

    cases: int = 0
    differing: int = 0
    unsupported: int = 0
    skipped: int = 0
    flaky: int = 0
    slow: int = 0


@dataclass(eq=False)
class FuzzReport:
    """Everything one run found."""

    hello: Hello
    counts_by_operator: dict[str, FuzzCounts]
    differences: list[FuzzFinding] = field(default_factory=list)
    seconds: float = 0.0
    restarts: int = 0
    interrupt_status: int = 0

    @property
    def was_interrupted(self) -> bool:
        """Whether a signal ended it; `interrupt_status` is the exit status that belongs to it."""
        return bool(self.interrupt_status)

    @property
    def cases(self) -> int:
        """How many calls were put to the runtime."""
        return sum(tally.cases for tally in self.counts_by_operator.values())

    def failures(self, *, strict: bool) -> list[FuzzFinding]:
        """Differences that count against the runtime and are not known."""
        return [
            finding
            for finding in self.differences
            if not finding.is_known and (strict or not finding.is_warning)
        ]


ProgressCallback = Callable[[FuzzReport], None]
CaseGenerator = Callable[[Operator, int, Mapping[str, object]], Iterator[FuzzCase]]


def fuzz(
    runtime: RuntimeProcess,
    operators: Sequence[Operator],
    options: FuzzOptions,
    known_signatures: Sequence[str] = (),
    on_progress: ProgressCallback = lambda _report: None,
) -> FuzzReport:
    """Put calls of the operators in turn to a started runtime.

    Ctrl-C, or another signal that ends gscli, ends with what there is.
    """
    assert runtime.hello is not None
    began = time.monotonic()
    report = FuzzReport(runtime.hello, {operator.full_name: FuzzCounts() for operator in operators})
    try:
        for trial in _iter_cases(operators, options, runtime.hello.rules, began):
            _run_fuzz_case(runtime, trial, options.repeat, report)
            report.seconds, report.restarts = time.monotonic() - began, runtime.restarts
            on_progress(report)
    except KeyboardInterrupt:
        report.interrupt_status = ExitCode.INTERRUPTED
    except SystemExit as ending:  # of `DeferredSignals`: SIGTERM and others
        report.interrupt_status = int(ending.code or 0)
    for kind in report.differences:
        kind.is_known = any(fnmatchcase(kind.signature, pattern) for pattern in known_signatures)
    report.seconds = time.monotonic() - began
    return report


def _iter_cases(
    operators: Sequence[Operator], wishes: FuzzOptions, rules: Mapping[str, object], began: float
) -> Iterator[FuzzCase]:
    """Calls of each operator in turn, until there are enough or the time is over."""
    generate: CaseGenerator = generate_gradient_cases if wishes.has_gradients else generate_cases
    sources = {operator: generate(operator, wishes.seed, rules) for operator in operators}
    count = 0
    while True:
        for operator in operators:
            if count >= wishes.cases or (
                wishes.seconds and time.monotonic() - began >= wishes.seconds
            ):
                return
            count += 1
            yield next(sources[operator])


def _run_fuzz_case(
    runtime: RuntimeProcess, trial: FuzzCase, repeat: int, report: FuzzReport
) -> None:
    """One call: ask, judge, and where it differs find the kind it belongs to."""
    tally = report.counts_by_operator[trial.operator.full_name]
    if any(known.is_saturated(trial) for known in report.differences):
        tally.skipped += 1
        return
    answer, mismatch = ask_runtime(runtime, trial, repeat)
    tally.cases += 1
    tally.unsupported += answer.status == "unsupported"
    if mismatch is None:
        return
    if not _count_known_kind(report, trial, mismatch):
        answer, confirmed = _rerun_in_new_process(runtime, trial, mismatch, repeat)
        if confirmed is None:
            tally.slow += mismatch.kind == "hang"
            tally.flaky += mismatch.kind != "hang"
            return
        if not _count_known_kind(report, trial, confirmed):
            _record_finding(runtime, trial, confirmed, answer, repeat, report)
    tally.differing += 1


def _count_known_kind(report: FuzzReport, trial: FuzzCase, mismatch: Mismatch) -> bool:
    """Whether a difference is of a kind that was met before; then it is counted there."""
    for known in report.differences:
        if known.covers(trial, mismatch):
            known.count += 1
            return True
    alike = [
        finding
        for finding in report.differences
        if finding.case.operator is trial.operator and finding.mismatch.kind == mismatch.kind
    ]
    if len(alike) < MAX_KINDS:
        return False
    alike[-1].count += 1
    return True


def _rerun_in_new_process(
    runtime: RuntimeProcess, trial: FuzzCase, mismatch: Mismatch, repeat: int
) -> tuple[Reply, Mismatch | None]:
    """The answer in a new process: what earlier calls did to the old one is not this call's fault.

    A runtime that writes outside its memory answers wrongly, or ends, at some later call.
    """
    if mismatch.kind != "unsteady":
        runtime.stop()
    return ask_runtime(runtime, trial, repeat)


def _record_finding(
    runtime: RuntimeProcess,
    trial: FuzzCase,
    mismatch: Mismatch,
    answer: Reply,
    repeat: int,
    report: FuzzReport,
) -> None:
    """A new kind: the smallest call that shows it, also in a new process."""
    smallest = shrink_case(trial, mismatch, lambda other: ask_runtime(runtime, other, repeat)[1])
    last, again = _rerun_in_new_process(runtime, smallest, mismatch, repeat)
    if again != mismatch:  # then the call as it was met is the evidence
        smallest, last = trial, answer
    for known in report.differences:
        if known.covers(smallest, mismatch) and smallest.distinctions == known.case.distinctions:
            known.count += 1
            return
    report.differences.append(FuzzFinding(smallest, mismatch, last))


def ask_runtime(
    runtime: RuntimeProcess, trial: FuzzCase, repeat: int
) -> tuple[Reply, Mismatch | None]:
    """The runtime's answer and its verdict; asked several times, all answers have to be one."""
    answer = runtime.run_call(trial.operator, trial.inputs, trial.attrs, trial.cotangent)
    mismatch = find_mismatch(trial, answer)
    for _ in range(repeat - 1):
        again = runtime.run_call(trial.operator, trial.inputs, trial.attrs, trial.cotangent)
        if has_changed(answer, again):
            return again, Mismatch("unsteady")
    return answer, mismatch
