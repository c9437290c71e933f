"""`gscli fuzz OP… --on R`.

Put random calls to a runtime and hold its answers against the rules.

A call that differs is made as small as it gets and told once per cause, with the command that
shows the rules' answer. The runtime runs in a process of its own: a crash, a hang or garbage is
an answer too. A call that is late is given three times --patience in a new process before it is a
hang. Exit status 1 for a failure that is not in --except. `gscli help runtimes` tells what R may
be and how to write an adapter.

\b
Examples:
  gscli fuzz onnx --on onnxruntime
  gscli fuzz torch.scatter-reduce --on torch:compile --python ~/torch/bin/python
  gscli fuzz onnx.gather-nd onnx.scatter-nd --on 'python my_backend.py' --time 60
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gscli.base import UsageError
from gscli.base.words import format_count, join_lines
from gscli.cli.building import tool
from gscli.cli.commands.runtimes import (
    JUNIT,
    KNOWN,
    MAX_SECONDS,
    ON,
    PATIENCE,
    PYTHON,
    REPORT,
    SEED,
    KnownFailures,
    check_folders_exist,
    is_json_lines,
    start_checked,
    write_cases,
)
from gscli.cli.completion import complete_operator_name
from gscli.cli.options import (
    JSON_OPTION,
    Settings,
    argument,
    check_places,
    option,
    output_option,
    print_report,
    refuse_flags,
)

if TYPE_CHECKING:
    from gscli.runtimes.findings import FuzzFinding, FuzzReport
    from gscli.runtimes.fuzz import FuzzOptions
    from gscli.views.progress_bar import ProgressBar

MOST_CASES = 10_000_000
USUAL_CASES = 500


@tool("fuzz", JSON_OPTION)
def fuzz(
    operators: Sequence[str] = argument(
        "[OP...]", "onnx.scatter-nd, or a framework; else all the runtime has",
        complete_operator_name, (),
    ),
    on: str = ON,
    python: str | None = PYTHON,
    cases: int | None = option(
        f"calls in all (default {USUAL_CASES}, or as many as --time allows)", "N", minimum=1,
        maximum=MOST_CASES,
    ),
    seed: int = SEED,
    seconds: float = option(
        "stop after SECONDS", "SECONDS", flag="--time", maximum=MAX_SECONDS, default=0.0
    ),
    repeat: int = option(
        "ask each call N times and compare the answers", "N", default=1, minimum=1,
        shows_default=True,
    ),
    patience: float = PATIENCE,
    known: str | None = KNOWN,
    output: str | None = output_option(
        "the smallest calls as recorded cases, or as ONNX node tests", "FILE.jsonl|FOLDER", "-o"
    ),
    junit: str | None = JUNIT,
    reports: str | None = REPORT,
    gradients: bool = option("ask for gradients, too, of runtimes that have them", flag="--grad"),
    strict: bool = option("also fail where the rules refuse or leave open"),
    quiet: bool = option("only the summary", short="-q"),
    *,
    settings: Settings,
) -> int:  # fmt: skip
    from gscli.cli.call.results import save_text
    from gscli.codegen.reproduction import ReportFolder
    from gscli.runtimes.fuzz import FuzzOptions
    from gscli.runtimes.fuzz import fuzz as put_calls
    from gscli.runtimes.packs import check_node_test_target
    from gscli.runtimes.reports import format_junit, format_report, format_summary, report_to_dict
    from gscli.views.progress_bar import ProgressBar

    if not on:
        raise UsageError("fuzz needs a runtime", valid="--on R", hint="gscli runtimes lists them")
    check_places(settings, {"-o": output, "--junit": junit})
    count = cases or (MOST_CASES if seconds else USUAL_CASES)
    limits = FuzzOptions(count, seconds, seed, repeat, gradients)
    accepted = KnownFailures.read(known)
    folder = None if output is None or is_json_lines(output) else output
    problem, otherwise = "ONNX node tests hold no gradients", "-o cases.jsonl, or "
    refuse_flags(["--grad"] * (gradients and folder is not None), problem, otherwise)
    check_folders_exist(junit, None if folder else output)
    with start_checked(on, python, patience, operators) as (runtime, chosen):
        if gradients and not runtime.hello.has_gradients:
            problem, legal = f"{on} answers no gradients", "--on torch, --on jax, --on tensorflow"
            hint = "gscli help runtimes tells how an adapter answers them"
            raise UsageError(problem[:200], where="--grad", valid=legal, hint=hint)
        if folder is not None:
            check_node_test_target(folder, [operator.full_name for operator in chosen])
        write = ReportFolder(reports, on).update if reports else lambda _: None
        with ProgressBar("calls", None if seconds else count, quiet=quiet) as progress:
            report = put_calls(runtime, chosen, limits, _make_watcher(progress, limits, write))
        for difference in report.differences:
            difference.is_known = accepted.match(difference.signature)
        write(report)
    accepted.warn_of_unmatched(difference.signature for difference in report.differences)
    lines = (format_summary if quiet else format_report)(report, strict=strict)
    make_document, is_aside = partial(report_to_dict, report, strict=strict), "-" in (output, junit)
    print_report(settings, make_document, partial(join_lines, lines), is_aside=is_aside)
    if junit is not None:
        save_text(junit, format_junit(report, strict=strict))
    if output is not None:
        new = [difference.case for difference in report.differences if not difference.is_known]
        write_cases(new, output)
    if report.interrupt_status:
        return report.interrupt_status
    return int(bool(report.failures(strict=strict)))


def _make_watcher(
    progress: ProgressBar, options: FuzzOptions, write: Callable[[FuzzReport], None]
) -> Callable[[FuzzReport], None]:
    """What shows the rate of calls, the kinds found and the time left, and writes what is new."""
    seen: list[FuzzFinding] = []

    def watch(report: FuzzReport) -> None:
        if report.differences != seen:
            seen[:] = report.differences
            write(report)
        kinds = format_count(len(report.differences), "kind")
        rate = report.cases / max(report.seconds, 1e-3)
        left = max(options.seconds - report.seconds, 0)
        more = f", {left:.0f} s left" if options.seconds else ""
        progress.update(report.cases, label=f"{kinds} of differences, {rate:.0f}/s{more}")

    return watch
