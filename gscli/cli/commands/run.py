"""`gscli run FOLDER…`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gscli.base.errors import InputRefused, UsageError
from gscli.base.text import counted
from gscli.cli.building import complete_file, tool
from gscli.cli.options import DOCUMENT, Settings

if TYPE_CHECKING:
    from gscli.lab.node_tests import Outcome

LISTED = 10
"""Skipped folders that are listed, unless -v asks for all."""


def build() -> Any:
    """The command."""
    return tool(run, "run", DOCUMENT)


def run(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="FOLDER...",
            help="node-test folders, or folders of them",
            autocompletion=complete_file,
        ),
    ],
    only: Annotated[
        str, typer.Option(help="only folders whose name contains TEXT", metavar="TEXT")
    ] = "",
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="only the summary")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="also what passed")] = False,
    *,
    settings: Settings,
) -> int:
    """Run official ONNX node tests and compare with their outputs.

    A folder holds model.onnx with one node and test_data_set_*/input_*.pb, output_*.pb; a folder of
    such folders stands for all of them. A line per failure, then N passed, M failed. A node that is
    no gather or scatter is skipped, with the reason. Exit status 1 when any fails, 65 when there is
    nothing to run.

    \b
    Examples:
      gscli run node/test_scatternd_add
      gscli run node --only scatter --json
    """
    from gscli.lab.node_tests import folders_below, run_folder
    from gscli.views.progress_bar import Progress

    chosen = [folder for folder in folders_below(folders) if only in folder.name]
    if not chosen:
        raise UsageError(f"no folder's name contains {only!r}"[:200], hint="leave out --only")
    outcomes: list[Outcome] = []
    with Progress("node tests", len(chosen), quiet=quiet) as progress:
        for folder in chosen:
            outcomes += run_folder(folder)
            progress.advance()
    counts = {
        status: sum(outcome.status == status for outcome in outcomes)
        for status in ("passed", "failed", "skipped")
    }
    if counts["skipped"] == len(outcomes):
        raise _nothing_to_run(outcomes)
    if settings.json is not None:
        tests = [outcome.to_dict() for outcome in outcomes]
        sys.stdout.write(json.dumps({**counts, "tests": tests}) + "\n")
        return int(counts["failed"] > 0)
    if not quiet:
        sys.stdout.writelines(_lines(outcomes, verbose=verbose))
    counts = {status: count for status, count in counts.items() if count or status != "skipped"}
    sys.stdout.write(", ".join(f"{count} {status}" for status, count in counts.items()) + "\n")
    return int(counts["failed"] > 0)


def _nothing_to_run(outcomes: Sequence[Outcome]) -> InputRefused:
    reasons = list(dict.fromkeys(outcome.skipped for outcome in outcomes))
    more = (f"… and {len(reasons) - LISTED} more reasons",) if len(reasons) > LISTED else ()
    return InputRefused(
        "nothing to run here",
        where=outcomes[0].folder if len(outcomes) == 1 else counted(len(outcomes), "folder"),
        details=(*reasons[:LISTED], *more),
        hint="name folders of gather or scatter node tests",
    )


def _lines(outcomes: Sequence[Outcome], *, verbose: bool) -> Iterator[str]:
    """Failures and the first skipped folders, or everything."""
    skipped = 0
    for outcome in outcomes:
        skipped += outcome.status == "skipped"
        hidden = outcome.status == "passed" or (outcome.status == "skipped" and skipped > LISTED)
        if verbose or not hidden:
            yield _line(outcome)
    if skipped > LISTED and not verbose:
        yield f"and {skipped - LISTED} more skipped: -v\n"


def _line(outcome: Outcome) -> str:
    place = f"{outcome.folder}/{outcome.data_set}".rstrip("/")
    word = "FAILED" if outcome.status == "failed" else outcome.status
    reason = outcome.problem or outcome.skipped
    return f"{word} {place}" + (f": {reason}" if reason else "") + "\n"
