"""`gscli verify CASES.jsonl…`.

Run recorded cases and compare with their answers.

A case is a line {"id", "framework", "op", "inputs", "attrs", "expect", "output"}: inputs map
names to T = {"dtype", "shape", "data"}, expect is "output", "error" or "open" (nothing is
promised). More of T: gscli help runtimes.

A failure prints its id, the difference and the command that reproduces it (of a long case the
tensors as CASES.jsonl::ID/NAME); then `N passed, M failed`. A case beyond a limit of gscli's
own fails as not tried: it is no refusal by the rules. Exit status 1 when any fails; lines that
are no cases are counted as refused, and the first of them is told at the end. - reads cases
from standard input. With --json: {"passed", "failed", "failures"}, each failure with its id,
problem and command. --on puts the cases to a runtime in place of gscli; what it does not
support is skipped and counted. Where no case was run the status is 65, or 2 with --only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from gscli.base.words import format_count
from gscli.cli.building import complete_file, tool
from gscli.cli.commands.runtimes import ON, PATIENCE, PYTHON, start_checked
from gscli.cli.options import JSON_OPTION, Settings, argument, option, print_json

if TYPE_CHECKING:
    from gscli.base import GscliError
    from gscli.lab.cases import Case, CaseResult


@tool("verify", JSON_OPTION)
def verify(
    files: Sequence[str] = argument(
        "CASES.jsonl...", "recorded cases; a single one may stand here itself", complete_file
    ),
    only: str = option("only cases whose id contains TEXT", "TEXT", default=""),
    on: str = ON,
    python: str | None = PYTHON,
    patience: float = PATIENCE,
    quiet: bool = option("only the summary", short="-q"),
    *,
    settings: Settings,
) -> int:
    report = None if quiet or settings.json is not None else sys.stdout.write
    tally = _run_cases(files, only, on, python, patience, report)
    counts = {"passed": tally.passed, "failed": len(tally.failures)}
    if on:
        counts["skipped"] = tally.skipped
    if tally.refusals:
        counts["refused"] = len(tally.refusals)
    if not tally.passed and not tally.failures and not tally.refusals:
        raise _nothing_run_error(tally, only)
    if settings.json is not None:
        print_json({**counts, "failures": tally.failures})
    else:
        sys.stdout.write(", ".join(f"{count} {what}" for what, count in counts.items()) + "\n")
    if tally.refusals:
        raise tally.refusals[0]
    return int(bool(tally.failures))


def _nothing_run_error(tally: _CaseCounts, only: str) -> GscliError:
    """What to say where no case was run: a run that tries nothing must not look like a success."""
    from gscli.base import InputRefused, UsageError

    if tally.skipped:
        problem = f"the runtime answers none of {format_count(tally.skipped, 'case')}"
        return InputRefused(problem, hint="gscli runtimes R tells what it answers")
    if only:
        return UsageError(f"no case's id contains {only!r}"[:200], hint="leave out --only")
    return InputRefused("there is no case here", hint="gscli cases OP -o FILE.jsonl writes some")


@dataclass
class _CaseCounts:
    """What became of the cases so far."""

    passed: int = 0
    skipped: int = 0
    failures: list[dict[str, str]] = field(default_factory=list)
    refusals: list[GscliError] = field(default_factory=list)


def _run_cases(
    files: Sequence[str],
    only: str,
    on: str,
    python: str | None,
    patience: float,
    report: Callable[[str], object] | None,
) -> _CaseCounts:
    """Run the cases whose id contains `only`, on a runtime if one is named; report each failure."""
    from gscli.lab.cases import build_repro_command, read_cases, run_case
    from gscli.views.progress_bar import ProgressBar

    tally = _CaseCounts()
    with ExitStack() as stack:
        run: Callable[[Case], CaseResult | None] = run_case
        if on:
            from gscli.runtimes.runtime_answers import run_case_on

            started, _ = stack.enter_context(start_checked(on, python, patience))
            run = partial(run_case_on, started)
        progress = stack.enter_context(ProgressBar("cases", None))
        every = ((path, case) for path in files for case in read_cases(path, tally.refusals))
        for path, case in every:
            if only not in case.id:
                continue
            verdict = run(case)
            progress.advance()
            if verdict is None:
                tally.skipped += 1
            elif verdict.has_passed:
                tally.passed += 1
            else:
                failure = {"problem": verdict.problem, "command": build_repro_command(case, path)}
                tally.failures.append({"id": case.id, **failure})
                if report is not None:
                    report("FAILED {id}: {problem}\n  {command}\n".format(**tally.failures[-1]))
    return tally
