"""`gscli fuzz OP… --on R`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gscli.base.errors import CannotRead, ExitCode, UsageError
from gscli.base.text import counted, safe
from gscli.cli.building import complete_file, tool
from gscli.cli.options import DOCUMENT, Settings
from gscli.cli.work.runtimes import PATIENCE, On, Patience, Python

if TYPE_CHECKING:
    from gscli.lab.runtimes.fuzz import Report

MOST_CASES = 10_000_000


def build() -> Any:
    """The command."""
    return tool(fuzz, "fuzz", DOCUMENT)


def fuzz(
    operators: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OP...]", help="onnx.scatter-nd, or a framework; else all the runtime has"
        ),
    ] = None,
    on: On = "",
    python: Python = None,
    cases: Annotated[
        int, typer.Option(help="calls in all", metavar="N", min=1, max=MOST_CASES)
    ] = 500,
    seed: Annotated[int, typer.Option(help="the same seed asks the same", metavar="N")] = 7,
    seconds: Annotated[
        float,
        typer.Option(
            "--time", help="stop after SECONDS", metavar="SECONDS", min=0, show_default=False
        ),
    ] = 0.0,
    repeat: Annotated[
        int, typer.Option(help="ask each call N times and compare the answers", metavar="N", min=1)
    ] = 1,
    patience: Patience = PATIENCE,
    known: Annotated[
        str | None,
        typer.Option(
            "--except",
            help="known differences, a line each",
            metavar="FILE",
            autocompletion=complete_file,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.jsonl|FOLDER",
            help="the smallest calls as recorded cases, or as ONNX node tests",
        ),
    ] = None,
    junit: Annotated[str | None, typer.Option(help="also a JUnit report", metavar="FILE")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="also fail where the rules refuse or leave open")
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="only the summary")] = False,
    *,
    settings: Settings,
) -> int:
    """Put random calls to a runtime and hold its answers against the rules.

    A call that differs is made as small as it gets and told once per kind, with the command that
    shows the rules' answer. The runtime runs in a process of its own: a crash, a hang or garbage is
    an answer too. Exit status 1 for a failure that is not in --except. `gscli help runtimes` tells
    what R may be and how to write an adapter.

    \b
    Examples:
      gscli fuzz onnx --on onnxruntime
      gscli fuzz torch.scatter-reduce --on torch:compile --python ~/torch/bin/python
      gscli fuzz onnx.gather-nd onnx.scatter-nd --on 'python my_backend.py' --time 60
    """
    from gscli.cli.work.runtimes import judging
    from gscli.lab.runtimes.fuzz import Wishes
    from gscli.lab.runtimes.fuzz import fuzz as put
    from gscli.views.progress_bar import Progress

    if not on:
        raise UsageError("fuzz needs a runtime", valid="--on R", hint="gscli runtimes lists them")
    wishes = Wishes(cases, seconds, seed, repeat)
    accepted = _lines(known)
    with (
        judging(on, python, patience, operators or ()) as (runtime, chosen),
        Progress("calls", None if seconds else cases, quiet=quiet) as progress,
    ):

        def watch(report: Report) -> None:
            kinds = counted(len(report.differences), "kind")
            rate = report.cases / max(report.seconds, 1e-3)
            progress.update(report.cases, label=f"{kinds} of differences, {rate:.0f}/s")

        report = put(runtime, chosen, wishes, accepted, watch)
    _tell(report, settings, strict=strict, quiet=quiet)
    _save(report, output, junit, strict=strict)
    if report.interrupted:
        return ExitCode.INTERRUPTED
    return int(bool(report.failures(strict=strict)))


def _tell(report: Report, settings: Settings, *, strict: bool, quiet: bool) -> None:
    from gscli.lab.runtimes.documents import document, summary, told

    if settings.json is not None:
        sys.stdout.write(json.dumps(document(report, strict=strict)) + "\n")
        return
    lines = summary if quiet else told
    sys.stdout.writelines(line + "\n" for line in lines(report, strict=strict))


def _save(report: Report, output: str | None, junit: str | None, *, strict: bool) -> None:
    from gscli.cli.work.drawing import save_text
    from gscli.lab.runtimes import documents, packs

    if junit is not None:
        save_text(junit, documents.junit(report, strict=strict))
    if output is None:
        return
    found = [difference.trial for difference in report.differences if not difference.known]
    if output.endswith(".jsonl") or output == "-":
        save_text(output, packs.lines([found]))
    elif found:
        names = dict.fromkeys(trial.operator.full_name for trial in found)
        packs.write_node_tests(
            output,
            {name: [one for one in found if one.operator.full_name == name] for name in names},
        )


def _lines(path: str | None) -> list[str]:
    """The lines of a file of known differences; a line that begins with # is a remark."""
    if path is None:
        return []
    from gscli.lab.cases import lines_of

    try:
        texts = [line.decode("utf-8").strip() for line in lines_of(path)]
    except UnicodeDecodeError:
        raise CannotRead("the known differences are not UTF-8 text", where=safe(path)) from None
    return [text for text in texts if text and not text.startswith("#")]
