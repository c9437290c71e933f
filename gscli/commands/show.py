"""`gscli show FILE[::NAME]…`."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from gscli.cli.building import shared_options, tool
from gscli.options import Settings

DRAWING = (
    "json", "max_bytes", "dtype", "full", "rows", "edge", "slice", "precision", "svg", "color",
    "palette", "width", "quiet", "debug",
)  # fmt: skip


def build() -> Any:  # noqa: ANN401  typer's command classes are private
    """The command."""
    parameters = [
        inspect.Parameter(
            "files", inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=Annotated[
                list[str], typer.Argument(metavar="FILE[::NAME]...", help="what to look at")
            ],
        ),
        inspect.Parameter(
            "stat", inspect.Parameter.KEYWORD_ONLY, default=False,
            annotation=Annotated[bool, typer.Option("--stat", help="min, max, mean, nan and inf")],
        ),
        *shared_options(*DRAWING),
    ]  # fmt: skip

    def show(files: list[str], *, stat: bool = False, **options: Any) -> int:  # noqa: ANN401
        """List what a file holds, or print a tensor.

        A file with several tensors is listed: name, type, shape, bytes. FILE::NAME prints one of
        them; so does a file that holds only one.
        """
        from gscli.app.showing import show_files  # noqa: PLC0415

        return show_files(files, Settings(**options), statistics_only=stat)

    show.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    show.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return tool(show, "show")
