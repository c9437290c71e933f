"""`gscli batch FILE.jsonl`."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from gscli.cli.building import tool


def build() -> Any:  # noqa: ANN401  typer's command classes are private
    """The command."""
    return tool(batch, "batch")


def batch(
    file: Annotated[str, typer.Argument(metavar="FILE.jsonl", help="jobs; - is standard input")],
) -> int:
    """Run one job per line in one process and write one result per line.

    A line is {"op": "scatter_nd", "inputs": {…}, "attrs": {…}, "id": …}; a result has the id and
    either output or error. A refused line does not stop the rest; exit status 1 when there was one.
    """
    from gscli.cases import lines_of  # noqa: PLC0415
    from gscli.jobs import answer  # noqa: PLC0415
    from gscli.views.progress_bar import Progress  # noqa: PLC0415

    failed = False
    with Progress("jobs", None) as progress:
        for number, line in enumerate(lines_of(file), 1):
            if not line.strip():
                continue
            result = answer(line, number)
            failed = failed or "error" in result
            sys.stdout.write(json.dumps(result) + "\n")
            progress.advance()
    return int(failed)
