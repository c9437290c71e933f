"""`gscli run FOLDER…`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from gscli.cli.building import tool


def build() -> Any:  # noqa: ANN401  typer's command classes are private
    """The command."""
    return tool(run, "run")


def run(
    folders: Annotated[list[str], typer.Argument(metavar="FOLDER...", help="node-test folders")],
    only: Annotated[str, typer.Option(help="only names that contain TEXT", metavar="TEXT")] = "",
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="only the summary")] = False,
) -> int:
    """Run official ONNX node tests and compare with their outputs.

    A folder holds model.onnx with one node and test_data_set_*/input_*.pb, output_*.pb; a folder of
    such folders stands for all of them. Exit status 1 when any output differs.
    """
    from gscli.node_tests import folders_below, run_folder  # noqa: PLC0415
    from gscli.views.progress_bar import Progress  # noqa: PLC0415

    chosen = [folder for folder in folders_below(folders) if only in folder.name]
    passed = failed = 0
    with Progress("node tests", len(chosen)) as progress:
        for folder in chosen:
            for outcome in run_folder(folder):
                passed, failed = passed + (not outcome.problem), failed + bool(outcome.problem)
                if outcome.problem and not quiet:
                    where = f"{outcome.folder}/{outcome.data_set}".rstrip("/")
                    sys.stdout.write(f"FAILED {where}: {outcome.problem}\n")
            progress.advance()
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return int(failed > 0)
