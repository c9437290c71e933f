"""Random calls put to a runtime: what differs is made small and told once per kind."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf

from gscli.base import ExitCode, UsageError, check_rule
from gscli.base.records import Record
from gscli.frameworks.operator import Operator
from gscli.runtimes.findings import FuzzFinding, FuzzReport
from gscli.runtimes.generator import generate_cases
from gscli.runtimes.gradient_cases import generate_gradient_cases
from gscli.runtimes.process import OutOfTime, RuntimeProcess
from gscli.runtimes.protocol import Reply
from gscli.runtimes.shrinking import shrink_case
from gscli.runtimes.trials import (
    COSTLY,
    FuzzCase,
    Mismatch,
    find_mismatch,
    has_changed,
    lacks_gradients,
)

# Kinds of differences of one operator and verdict that are made small; more are only counted.
MAX_KINDS = 12


class FuzzOptions(Record):
    """What a user asks for: calls in all, seconds (0: no limit), seed, how often each is asked.

    `has_gradients`: gradients of each call are asked for, too.
    """

    cases: int = 500
    seconds: float = 0.0
    seed: int = 7
    repeat: int = 1
    has_gradients: bool = False


CaseRunner = Callable[[FuzzCase], tuple[Reply, Mismatch | None]]

# How many times as long a call may take that was late before.
SURE_OF_HANG = 3

# Calls in a row that differ in their contents alone, where a runtime compiles for shapes.
#
# JAX takes 30 to 140 ms for a new one, and less than 1 ms for the next call.
CALLS_PER_SHAPE = 12


def fuzz(
    runtime: RuntimeProcess,
    operators: Sequence[Operator],
    options: FuzzOptions,
    on_progress: Callable[[FuzzReport], None] = lambda _report: None,
) -> FuzzReport:
    """Put calls of the operators in turn to a started runtime.

    Ctrl-C, or another signal that ends gscli, ends with what there is.
    """
    began = time.monotonic()
    runtime.deadline = began + options.seconds if options.seconds else inf
    report = FuzzReport(runtime.hello, {operator.full_name: Counter() for operator in operators})
    run = _FuzzRun(runtime, options.repeat, report)
    try:
        for trial in _iter_cases(operators, options, runtime):
            run.run_case(trial)
            report.seconds, report.restarts = time.monotonic() - began, runtime.restarts
            on_progress(report)
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        report.interrupt_status = ExitCode.INTERRUPTED
    except SystemExit as ending:  # of `DeferredSignals`: SIGTERM and others
        report.interrupt_status = int(ending.code or 0)
    report.seconds = time.monotonic() - began
    return report


def _iter_cases(
    operators: Sequence[Operator], options: FuzzOptions, runtime: RuntimeProcess
) -> Iterator[FuzzCase]:
    """Calls of each operator in turn, until there are enough or the time is over."""
    hello = runtime.hello
    generate = generate_gradient_cases if options.has_gradients else generate_cases
    if options.has_gradients:
        operators = [operator for operator in operators if any(generate(operator, options.seed))]
        check_rule(bool(operators), "no random calls of these have gradients", kind=UsageError)
    in_a_row = min(CALLS_PER_SHAPE, ceil(options.cases / len(operators))) if hello.compiles else 1
    sources = {each: generate(each, options.seed, hello.rules, in_a_row) for each in operators}
    for number in range(options.cases):
        if time.monotonic() >= runtime.deadline:
            return
        yield next(sources[operators[number // in_a_row % len(operators)]])


class _FuzzRun:
    """Calls that are put to a runtime, `repeat` times each, and what they add to a report."""

    def __init__(self, runtime: RuntimeProcess, repeat: int, report: FuzzReport) -> None:
        self.runtime, self.repeat, self.report = runtime, repeat, report

    def run_case(self, trial: FuzzCase) -> None:
        """One call: ask, judge, and where it differs find the kind it belongs to."""
        runtime, report = self.runtime, self.report
        tally = report.counts_by_operator[trial.operator.full_name]
        if any(known.is_saturated(trial) for known in report.differences):
            tally["left_out"] += 1
            return
        was_spoiled, before = runtime.is_spoiled, runtime.call_count
        answer, mismatch = self._ask(trial)
        runtime.is_spoiled |= trial.is_unchecked
        tally["cases"] += 1
        tally["unsupported"] += answer.status == "unsupported" or lacks_gradients(trial, answer)
        if mismatch is None:
            return
        if not self._count_known_kind(trial, mismatch):
            first = answer
            answer, confirmed = self._rerun_in_new_process(trial, mismatch)
            if confirmed is None:
                tally["slow_once" if mismatch.kind == "hang" else "only_after_others"] += 1
                sequence = Mismatch("sequence", mismatch.kind)
                if mismatch.kind == "hang" or was_spoiled or trial.is_unchecked:
                    return  # a slow machine, or a call of which the framework promises nothing
                if not self._count_known_kind(trial, sequence):
                    finding = FuzzFinding(trial, sequence, first, calls_before=before)
                    report.differences.append(finding)
                return
            if not self._count_known_kind(trial, confirmed):
                self._record_finding(trial, confirmed, answer)
        tally["differ"] += 1

    def _ask(self, trial: FuzzCase) -> tuple[Reply, Mismatch | None]:
        """The answer and its verdict; asked several times, all answers have to be one."""
        call = trial.operator, trial.inputs, trial.attrs, trial.cotangent
        answer = self.runtime.run_call(*call)
        for _ in range(self.repeat - 1):
            again = self.runtime.run_call(*call)
            if has_changed(answer, again):
                return again, Mismatch("unsteady")
        return answer, find_mismatch(trial, answer)

    def _ask_new_process(self, trial: FuzzCase) -> tuple[Reply, Mismatch | None]:
        self.runtime.stop()
        return self._ask(trial)

    def _count_known_kind(self, trial: FuzzCase, mismatch: Mismatch) -> bool:
        """Whether a difference is of a kind that was met before; then it is counted there."""
        differences = self.report.differences
        covering = (known for known in differences if known.covers(trial, mismatch))
        own = (known for known in differences if known.case.operator is trial.operator)
        alike = [known for known in own if known.mismatch.kind == mismatch.kind]
        known = next(covering, alike[-1] if len(alike) >= MAX_KINDS else None)
        if known is not None:
            known.count += 1
        return known is not None

    def _rerun_in_new_process(
        self, trial: FuzzCase, mismatch: Mismatch
    ) -> tuple[Reply, Mismatch | None]:
        """The answer in a new process: what earlier calls did to the old one is not its fault.

        A runtime that writes outside its memory answers wrongly, or ends, at some later call. One
        that is late may have a busy machine, and is given more time before it is blamed.
        """
        ask = self._ask if mismatch.kind == "unsteady" else self._ask_new_process
        patience = self.runtime.patience
        self.runtime.patience *= SURE_OF_HANG if mismatch.kind == "hang" else 1
        try:
            return ask(trial)
        finally:
            self.runtime.patience = patience

    def _record_finding(self, trial: FuzzCase, mismatch: Mismatch, answer: Reply) -> None:
        """A new kind: the smallest call that shows it, also in a new process."""
        differences = self.report.differences
        smallest, last = self._shrink_and_confirm(trial, mismatch, answer)
        for known in differences:
            words = known.case.distinctions
            if known.covers(smallest, mismatch) and smallest.distinctions == words:
                known.count += 1
                return
        finding = FuzzFinding(smallest, mismatch, last)
        for known in [item for item in differences if finding.covers(item.case, item.mismatch)]:
            finding.count += known.count
            differences.remove(known)
        differences.append(finding)

    def _shrink_and_confirm(
        self, trial: FuzzCase, mismatch: Mismatch, answer: Reply
    ) -> tuple[FuzzCase, Reply]:
        """The smallest call with its answer in a new process; the call as it was met where there
        is none, and the smallest so far where time is over.
        """
        best = trial, answer
        # What was asked before may take part: then each call is put to a new process.
        for ask in (self._ask, self._ask_new_process):

            def find_wrong(other: FuzzCase, ask: CaseRunner = ask) -> Mismatch | None:
                nonlocal best
                reply, wrong = ask(other)
                if wrong == mismatch and mismatch.kind in COSTLY:  # whose processes are new anyway
                    best = other, reply
                return wrong

            try:
                smallest = shrink_case(trial, mismatch, find_wrong)
                last, again = self._rerun_in_new_process(smallest, mismatch)
            except OutOfTime:
                return best
            if again == mismatch:
                return smallest, last
        return trial, answer
