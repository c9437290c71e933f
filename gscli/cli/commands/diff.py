"""`gscli diff A B`.

Hold two tensors against each other; exit status 1 when they differ.

Types and shapes first, then values: integers, bool and text must be equal, other numbers equal
within the last bits of their type (--rtol, --atol), NaN equals NaN. Of containers, members of
one name are held against each other.

\b
Examples:
  gscli diff output.npy expected.npy
  gscli diff mine.npz theirs.npz --rtol 1e-3 --json
"""

from __future__ import annotations

from typing import Annotated

from gscli.cli.options import DOCUMENT, SHARED, Settings
from gscli.cli.tools import files_argument, tool

RTOL = SHARED["rtol"]._replace(help="difference allowed, times the value in B")
ATOL = SHARED["atol"]._replace(help="difference allowed to all")


@tool("diff", DOCUMENT, RTOL, ATOL, "max_bytes", "limit", "quiet", "color", "width", "debug")
def diff(
    first: Annotated[str, files_argument("A", "FILE[::NAME], - or inline")],
    second: Annotated[str, files_argument("B", "what A should be")],
    *,
    settings: Settings,
) -> int:
    from gscli.cli.work.expect import diff_files

    return diff_files(first, second, settings)
