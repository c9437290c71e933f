"""`gscli show FILE[::NAME]…`.

List what a file holds, or print a tensor.

A file with several tensors is listed: name, type, shape, bytes. FILE::NAME prints one of
them; so does a file that holds only one. - is standard input.

\b
Examples:
  gscli show weights.safetensors
  gscli show weights.safetensors::embedding --slice 0:3,: --precision 3
  gscli show data.npz --stat --json
"""

from __future__ import annotations

from typing import Annotated

import typer

from gscli.cli.options import Settings
from gscli.cli.tools import files_argument, tool

DRAWING = (
    "json", "dtype", "max_bytes", "full", "rows", "edge", "slice", "precision", "svg", "theme",
    "plain", "quiet", "color", "palette", "width", "debug",
)  # fmt: skip
STATISTICS = "one line: min and max with their places, mean, counts of nan, inf and zero"


@tool("show", *DRAWING)
def show(
    files: Annotated[list[str], files_argument("FILE[::NAME]...", "what to look at")],
    stat: Annotated[bool, typer.Option("--stat", help=STATISTICS)] = False,
    *,
    settings: Settings,
) -> int:
    from gscli.cli.work.tensors import show_files

    return show_files(files, settings, statistics_only=stat)
