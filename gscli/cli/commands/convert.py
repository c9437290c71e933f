"""`gscli convert IN OUT`.

Copy a tensor from one format to another, without losing a value unless --cast is given.

OUT is replaced as a whole; with ::NAME the other tensors of the file are kept. With --json:
{"file", "dtype", "shape"} of what was written.

\b
Examples:
  gscli convert input_0.pb input_0.npy
  gscli convert table.csv weights.npz::table --dtype float32
  gscli convert table.npy table.zarr --chunks 4096x64
  gscli convert data.npy - -f json
"""

from __future__ import annotations

from typing import Annotated

import typer

from gscli.cli.options import DOCUMENT, SHARED, Settings
from gscli.cli.tools import files_argument, tool

DTYPE = SHARED["dtype"]._replace(help="element type of the result")


@tool("convert", "format", DOCUMENT, DTYPE, "max_bytes")
def convert(
    source: Annotated[str, files_argument("IN", "FILE[::NAME], -, or inline")],
    target: Annotated[str, files_argument("OUT", "FILE[::NAME] or -")],
    cast: Annotated[bool, typer.Option("--cast", help="allow values to change")] = False,
    chunks: Annotated[
        str | None,
        typer.Option("--chunks", metavar="SIZES", help="chunks of a .zarr, e.g. 4096x64"),
    ] = None,
    *,
    settings: Settings,
) -> int:
    from gscli.cli.work.tensors import convert_file

    return convert_file(source, target, settings, cast=cast, chunks=chunks)
