"""`gscli convert IN OUT`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gscli.cli.building import complete_file, tool
from gscli.cli.completion import dtypes_for, one_of
from gscli.cli.options import FORMATS, Settings


def build() -> Any:  # noqa: ANN401  typer's command classes are private
    """The command."""
    return tool(convert, "convert")


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN", help="FILE[::NAME], -, or inline", autocompletion=complete_file
        ),
    ],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="FILE[::NAME] or -", autocompletion=complete_file)
    ],
    dtype: Annotated[
        str | None,
        typer.Option(help="element type of the result", metavar="NAME", autocompletion=dtypes_for),
    ] = None,
    cast: Annotated[bool, typer.Option("--cast", help="allow values to change")] = False,
    format_: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            help="format of the result",
            metavar="NAME",
            autocompletion=one_of(FORMATS),
        ),
    ] = None,
    json: Annotated[
        str | None, typer.Option(help="print one JSON document, errors too", metavar="")
    ] = None,
    max_bytes: Annotated[
        str | None, typer.Option(help="limit for what is built in memory", metavar="SIZE")
    ] = None,
) -> int:
    """Copy a tensor from one format to another, without losing a value unless --cast is given.

    OUT is replaced as a whole; with ::NAME the other tensors of the file are kept. With --json:
    {"file", "dtype", "shape"} of what was written.

    \b
    Examples:
      gscli convert input_0.pb input_0.npy
      gscli convert table.csv weights.npz::table --dtype float32
      gscli convert data.npy - -f json
    """  # noqa: D301  \b keeps typer from joining the lines
    from gscli.cli.work.showing import convert_file  # noqa: PLC0415

    settings = Settings(dtype=dtype, format=format_, json=json, max_bytes=max_bytes)
    return convert_file(source, target, settings, cast=cast)
