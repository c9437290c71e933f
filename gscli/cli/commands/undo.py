"""`gscli undo FILE [UNDO-FILE]`.

Put back the rows of a file whose patch with --in-place=direct was cut short.

The old rows are in FILE.gscli-undo, which goes away when they are back. FILE may have been
moved since, or be another hard link: where the file system keeps extended attributes it is
known all the same; elsewhere, name its undo file as well. A patch that is complete has none
and stays. Nothing is written unless every byte of each row is its old or its intended one: a
file that was written to since is refused. A copy is put back as well; then the undo file stays
for the file that was patched.

\b
Examples:
  gscli undo table.npy
  gscli undo moved.npy table.npy.gscli-undo
"""

from __future__ import annotations

import os
import sys

from gscli.cli.building import complete_file, tool
from gscli.cli.options import argument


@tool("undo")
def undo(
    file: str = argument("FILE", "what was patched", complete_file),
    undo_file: str | None = argument("UNDO-FILE", "where FILE alone does not tell", default=None),
) -> int:
    from gscli.base.words import format_count, sanitize
    from gscli.disk.mapped import undo_file_of
    from gscli.stream.undo_file import undo as put_back

    places = put_back(file, undo_file)
    sys.stdout.write(f"{sanitize(file)} is as it was: {format_count(places, 'place')} put back\n")
    place = undo_file or undo_file_of(file)
    if os.path.lexists(place):
        sys.stdout.write(f"{sanitize(place)} stays: the file that was patched is another one\n")
    return 0
