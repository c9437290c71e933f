"""`gscli verify CASES.jsonl…`.

Run recorded cases and compare with their answers.

A case is a line {"id", "framework", "op", "inputs", "attrs", "expect", "output"}: inputs map
names to T = {"dtype", "shape", "data"}, expect is "output", "error" or "open" (nothing is
promised). More of T: gscli help runtimes.

A failure prints its id, the difference and the command that reproduces it (of a long case the
tensors as CASES.jsonl::ID/NAME; with --on it asks the runtime again); then `N passed, M failed`.
A case beyond a limit of gscli's own, of an unknown operator, with an input that the operator has
not, or a misspelt attribute, fails as not tried: it is no refusal by the rules. An attribute that
resembles none may be of another version, and is refused by the rules. Lines that are no cases are
counted as refused, the first of them is told at the end, and --junit and --format github have each
as an error. Exit status 1 when any case fails, 65 where none does and a line is no case. - reads
cases from standard input. With --json: every count of the last line by its name ("passed",
"failed", …), "failures", each with its id, problem and command, "warnings" likewise, and "refusals"
where lines are no cases. --on puts the cases to a runtime in place of gscli; what it does not
support is skipped and counted, and an answer where the record refuses is a warning, unless
--strict. Where no case was run the status is 65, or 2 with --only.

Failures alike are told together at the end: how many, the rules that all of them meet, and the
name under which fuzz tells them. --except names a file of ids, or of such names, whose failures do
not count. With --on, --report writes a text for each cause, and a script, as fuzz does. --format
github prints failures as annotations of lines of CASES.jsonl, for GitHub's pull requests.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from gscli.base import InputRefused, UsageError, check_rule
from gscli.base.records import Record, group_pairs
from gscli.base.words import format_count
from gscli.cli.building import complete_file, tool
from gscli.cli.commands.runtimes import (
    DEFAULT_TIMEOUT,
    JUNIT,
    KNOWN,
    ON,
    PATIENCE,
    PYTHON,
    REPORT,
    KnownFailures,
    check_folders_exist,
    start_checked,
)
from gscli.cli.messages import print_message
from gscli.cli.options import (
    JSON_OPTION,
    Settings,
    argument,
    check_places,
    detect_screen,
    option,
    print_report,
    print_stderr,
)

if TYPE_CHECKING:
    from gscli.base import GscliError
    from gscli.lab.cases import Case
    from gscli.runtimes.findings import FuzzFinding
    from gscli.runtimes.process import RuntimeProcess
    from gscli.runtimes.recorded import CaseResult


Outcome: TypeAlias = Literal["failed", "warning", "known", "refused"]
FORMATS = ("text", "github")


@tool("verify", JSON_OPTION)
def verify(
    files: Sequence[str] = argument(
        "CASES.jsonl...", "recorded cases; a single one may stand here itself", complete_file
    ),
    only: str = option("only cases whose id contains TEXT", "TEXT", default=""),
    on: str = ON,
    python: str | None = PYTHON,
    patience: float = PATIENCE,
    known: str | None = KNOWN,
    junit: str | None = JUNIT,
    reports: str | None = REPORT,
    report_format: str = option(
        "how failures are printed", "NAME", flag="--format", choices=FORMATS, default="text",
        excludes=("json", "quiet"), why="--format is how failures are printed one by one",
    ),
    strict: bool = option(
        "also fail where a runtime answers and the record refuses",
        needs="on", why="--strict is about a runtime",
    ),
    quiet: bool = option("only the summary", short="-q"),
    *,
    settings: Settings,
) -> int:  # fmt: skip
    from gscli.frameworks import check_single_stdin
    from gscli.lab.cases import read_cases
    from gscli.runtimes.findings import FuzzReport
    from gscli.runtimes.recorded import run_case, run_case_on
    from gscli.views.progress_bar import ProgressBar

    check_places(settings, {"--junit": junit})
    check_single_stdin(files)
    is_xml, problem = not str(junit).endswith(".jsonl"), "a JUnit report is XML, no list of cases"
    check_rule(is_xml, problem, f"--junit {junit}", kind=UsageError, hint="--junit report.xml")
    check_folders_exist(junit)
    accepted, began = KnownFailures.read(known), time.monotonic()
    write = print_stderr if junit == "-" else sys.stdout.write
    # What asks the runtime again; gscli itself needs none of it.
    usual = "" if patience == DEFAULT_TIMEOUT else f"{patience:g}"
    values = {"--on": on, "--python": python, "--patience": usual}
    words = [word for name, value in values.items() if value for word in (name, value)]
    form = None if quiet or settings.json else report_format
    tally = _CaseCounts(accepted, strict, form, write, [*words, *["--strict"] * strict])
    with (
        start_checked(on, python, patience) if on else nullcontext() as started,
        ProgressBar("cases", None) as progress,
    ):
        runtime = started[0] if started else None
        run = partial(run_case_on, runtime) if runtime else run_case
        for path in files:
            for case in read_cases(path, partial(tally.refuse, path)):
                if only in case.id:
                    tally.add(run(case), case, path)
                    progress.advance()
    accepted.warn_of_unmatched(name for failure in tally.failures for name in failure.names)
    was_tried = len(tally.passed) + len(tally.failures) > len(tally.refusals)
    if not was_tried and not tally.refusals:
        raise _nothing_run_error(tally, only, runtime)
    if reports is not None and runtime is not None:
        from gscli.codegen.reproduction import ReportFolder

        ReportFolder(reports, on).update(FuzzReport(runtime.hello, {}, tally.findings))
    if junit is not None:
        _save_junit(junit, tally, on, time.monotonic() - began)
    counts = tally.to_dict(is_runtime=bool(on))
    failures = [failure.to_dict() for failure in tally.select("failed")]
    warnings = [warning.to_dict() for warning in tally.select("warning")]
    refusals = [refusal.to_dict() for refusal in tally.refusals]
    document = {**counts, "failures": failures, "warnings": warnings}
    document |= {"refusals": refusals} if refusals else {}
    make_text = partial(_format_counts, tally, counts)
    print_report(settings, lambda: document, make_text, is_aside=junit == "-")
    if not was_tried and only:
        raise _nothing_run_error(tally, only, runtime)
    if tally.refusals and not tally.select("failed"):
        raise tally.refusals[0]
    if tally.refusals and settings.json is None:
        print_message(tally.refusals[0], detect_screen(sys.stderr))
    return int(bool(tally.select("failed")))


def _format_counts(tally: _CaseCounts, counts: dict[str, int]) -> str:
    causes = _format_causes(tally.findings) if tally.form == "text" else ()
    return "".join(causes) + ", ".join(f"{count} {what}" for what, count in counts.items()) + "\n"


def _nothing_run_error(tally: _CaseCounts, only: str, runtime: RuntimeProcess | None) -> GscliError:
    """What to say where no case was run: a run that tries nothing must not look like a success."""
    if tally.skipped:
        problem = f"the runtime answers none of {format_count(len(tally.skipped), 'case')}"
        asks = any(case.cotangent is not None for case in tally.skipped)
        is_lacking = asks and runtime is not None and not runtime.hello.has_gradients
        reason = "it answers no gradients, for which cases with a cotangent ask; " * is_lacking
        return InputRefused(problem, hint=f"{reason}gscli runtimes R tells what it answers")
    if only:
        problem = f"no{' readable' * bool(tally.refusals)} case's id contains {only!r}"[:200]
        details = tuple(": ".join([r.where, r.problem, *r.details]) for r in tally.refusals[:1])
        return UsageError(problem, details=details, hint="leave out --only, or write it as in ids")
    return InputRefused("there is no case here", hint="gscli cases OP -o FILE.jsonl writes some")


class FailedCase(Record):
    """A case that did not pass: its problem, the command that shows it, and where it is written.

    A line that is no case is refused; it goes by its place, and no command shows it.
    """

    outcome: Outcome
    id: str
    problem: str
    command: str
    path: str
    line: int
    finding: FuzzFinding | None

    @property
    def names(self) -> tuple[str, ...]:
        """What `--except` may call it: its id, and the name under which `fuzz` tells it."""
        return (self.id,) if self.finding is None else (self.id, self.finding.signature)

    def to_dict(self) -> dict[str, str]:
        """The JSON form."""
        return {"id": self.id, "problem": self.problem, "command": self.command}

    def format_text(self, form: str) -> str:
        """A block for people, or a workflow command of GitHub that annotates the case's line.

        People are told of a refused line at the end.
        """
        if form == "text":
            word = {"failed": "FAILED"}.get(self.outcome, self.outcome)
            command = f"  {self.command}\n" if self.command else ""
            return f"{word} {self.id}: {self.problem}\n{command}" * (self.outcome != "refused")
        level = "error" if self.outcome in ("failed", "refused") else "warning"
        place = f"file={_escape(self.path, ':,')},line={self.line},title={_escape(self.id, ':,')}"
        text = "; ".join(filter(None, (self.problem, self.command)))
        return f"::{level} {place}::{_escape(text)}\n"


def _escape(text: str, more: str = "") -> str:
    """As GitHub's workflow commands have it: % and line ends, in properties `more` characters."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


@dataclass
class _CaseCounts:
    """What became of the cases so far, and what is said of each failure as it comes."""

    accepted: KnownFailures
    strict: bool
    form: str | None
    write: Callable[[str], object]
    options: Sequence[str]
    skipped: list[Case] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    failures: list[FailedCase] = field(default_factory=list)
    refusals: list[GscliError] = field(default_factory=list)

    @property
    def findings(self) -> list[FuzzFinding]:
        """One for each kind of failure that counts, as `fuzz` tells them, with how many of it."""
        kinds: dict[tuple[str, str], FuzzFinding] = {}
        for finding in filter(None, [failure.finding for failure in self.select("failed")]):
            kind = finding.signature, finding.mismatch.reason
            kinds.setdefault(kind, replace(finding, count=0)).count += 1
        return list(kinds.values())

    def to_dict(self, *, is_runtime: bool) -> dict[str, int]:
        """How many cases became what; what was skipped is told of a runtime."""
        counts = {"passed": len(self.passed), "failed": len(self.select("failed"))}
        rare: tuple[Outcome, ...] = ("warning", "known")
        counts |= {name: len(self.select(name)) for name in rare if self.select(name)}
        counts |= {"skipped": len(self.skipped)} if is_runtime else {}
        return counts | ({"refused": len(self.refusals)} if self.refusals else {})

    def select(self, outcome: Outcome) -> list[FailedCase]:
        """The cases that failed so."""
        return [failure for failure in self.failures if failure.outcome == outcome]

    def refuse(self, path: str, refusal: GscliError, line: int) -> None:
        """Count a line that is no case, and print it where lines are annotated."""
        self.refusals.append(refusal)
        problem = "; ".join([refusal.problem, *refusal.details])
        self._note(FailedCase("refused", refusal.where, problem, "", path, line, None))

    def _note(self, failure: FailedCase) -> None:
        self.failures.append(failure)
        if self.form is not None:
            self.write(failure.format_text(self.form))

    def add(self, result: CaseResult | None, case: Case, path: str) -> None:
        """Count a case and print its failure; None where a runtime has no such thing."""
        if result is None:
            self.skipped.append(case)
        elif not result.problem:
            self.passed.append(case.id)
        else:
            from gscli.lab.cases import build_repro_command

            finding = result.finding
            is_gradient = finding is not None and finding.case.has_gradients
            command = build_repro_command(case, path, self.options, has_gradients=is_gradient)
            facts = case.id, result.problem, command, path, case.line, finding
            failure = FailedCase("failed", *facts)
            if any(map(self.accepted.match, failure.names)):
                failure = failure._replace(outcome="known")
            elif result.is_tolerated and not self.strict:
                failure = failure._replace(outcome="warning")
            self._note(failure)


def _format_causes(findings: Sequence[FuzzFinding]) -> Iterator[str]:
    """A line for failures that differ alike, with the rules that all of them meet."""
    from gscli.runtimes.findings import group_by_cause

    for cause in group_by_cause(findings):
        if cause.total > 1:
            count = format_count(cause.total, "case")
            yield f"alike in {count}: {cause.describe(has_rules=True)}\n"
            yield from (f"  known as: {finding.signature}\n" for finding in cause.findings)


def _save_junit(path: str, tally: _CaseCounts, on: str, seconds: float) -> None:
    """A test case for each case and refused line; known and tolerated failures are skipped ones,
    as are cases that the runtime does not answer.
    """
    from gscli.cli.call.results import save_text
    from gscli.runtimes.reports import format_junit_suite

    name, kinds = on or "gscli", {"failed": "failure", "refused": "error"}
    rows = [
        (kinds.get(failure.outcome, "skipped"), (failure.id, failure.problem, failure.command))
        for failure in tally.failures
    ]
    rows += [("skipped", (case.id, "not supported", "")) for case in tally.skipped]
    others = group_pairs(rows)
    save_text(path, format_junit_suite(f"gscli verify {name}", name, seconds, tally.passed, others))
