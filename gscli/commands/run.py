"""`gscli run FOLDER…`."""

from __future__ import annotations

import json as json_text
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gscli.cli.building import complete_file, tool

if TYPE_CHECKING:
    from gscli.node_tests import Outcome


def build() -> Any:  # noqa: ANN401  typer's command classes are private
    """The command."""
    return tool(run, "run")


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
    json: Annotated[
        str | None, typer.Option(help="print one JSON document, errors too", metavar="")
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="only the summary")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="also what passed")] = False,
) -> int:
    """Run official ONNX node tests and compare with their outputs.

    A folder holds model.onnx with one node and test_data_set_*/input_*.pb, output_*.pb; a folder of
    such folders stands for all of them. A line per failure, then N passed, M failed. Exit status 1
    when any fails.

    \b
    Examples:
      gscli run node/test_scatternd_add
      gscli run node --only scatter --json
    """  # noqa: D301  \b keeps typer from joining the lines
    from gscli.node_tests import folders_below, run_folder  # noqa: PLC0415
    from gscli.views.progress_bar import Progress  # noqa: PLC0415

    chosen = [folder for folder in folders_below(folders) if only in folder.name]
    outcomes: list[Outcome] = []
    with Progress("node tests", len(chosen), quiet=quiet) as progress:
        for folder in chosen:
            outcomes += run_folder(folder)
            progress.advance()
    failed = [outcome for outcome in outcomes if outcome.problem]
    counts = {"passed": len(outcomes) - len(failed), "failed": len(failed)}
    if json is not None:
        tests = [outcome.to_dict() for outcome in outcomes]
        sys.stdout.write(json_text.dumps({**counts, "tests": tests}) + "\n")
        return int(bool(failed))
    if not quiet:
        sys.stdout.writelines(_line(outcome) for outcome in (outcomes if verbose else failed))
    sys.stdout.write(", ".join(f"{count} {word}" for word, count in counts.items()) + "\n")
    return int(bool(failed))


def _line(outcome: Outcome) -> str:
    place = f"{outcome.folder}/{outcome.data_set}".rstrip("/")
    return f"FAILED {place}: {outcome.problem}\n" if outcome.problem else f"passed {place}\n"
