"""`gscli diff A B`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gscli.cli.building import complete_file, tool
from gscli.cli.options import DOCUMENT, SHARED, Settings

RTOL = SHARED["rtol"]._replace(help="difference allowed, times the value in B")
ATOL = SHARED["atol"]._replace(help="difference allowed to all")


def build() -> Any:
    """The command."""
    shared = (DOCUMENT, RTOL, ATOL, "max_bytes", "limit", "quiet", "color", "width", "debug")
    return tool(diff, "diff", *shared)


def diff(
    first: Annotated[
        str,
        typer.Argument(metavar="A", help="FILE[::NAME], - or inline", autocompletion=complete_file),
    ],
    second: Annotated[
        str, typer.Argument(metavar="B", help="what A should be", autocompletion=complete_file)
    ],
    *,
    settings: Settings,
) -> int:
    """Hold two tensors against each other; exit status 1 when they differ.

    Types and shapes first, then values: integers, bool and text must be equal, other numbers equal
    within the last bits of their type (--rtol, --atol), NaN equals NaN. Of containers, members of
    one name are held against each other.

    \b
    Examples:
      gscli diff output.npy expected.npy
      gscli diff mine.npz theirs.npz --rtol 1e-3 --json
    """
    from gscli.cli.work.expecting import diff_files

    return diff_files(first, second, settings)
