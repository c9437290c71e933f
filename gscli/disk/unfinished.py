"""Patches by `--in-place=direct` that were cut short: which file they are of, whatever its name.

The undo file lies beside the file. Where the file system has extended attributes, the file itself
says as well where its undo file is, and which file both are: so it is known by a second name or
after a move, too, and a copy of the file, which has another number, is not taken for it. The undo
file says the same. Elsewhere it is known by the name alone under which it was patched.
"""

from __future__ import annotations

import os
from contextlib import suppress

from gscli.base import READ_NOTICES, CannotWrite, GscliWarning, Notice, check_rule, warn_caller
from gscli.base.words import quote_word
from gscli.disk.mapped import ATTRIBUTE, UNDO_SUFFIX, RegularFile, find_undo_file

_HINT = "if none runs, gscli undo {name} puts old rows back; or keep the data, delete the undo file"


class UnfinishedPatch(GscliWarning):
    """A file is read of which there is an undo file; the hint says what to do with that."""

    def __str__(self) -> str:
        return str(self.notice)


def mark_unfinished(file: RegularFile, undo: RegularFile) -> None:
    """Have both files say that they belong together, where their file system can keep that."""
    numbers = f"{file.status.st_ino} {undo.status.st_ino} ".encode()
    for marked in (undo, file):
        with suppress(OSError, AttributeError):
            os.setxattr(marked.descriptor, ATTRIBUTE, numbers + os.fsencode(undo.path))


def is_undo_file_of(file: RegularFile, undo: RegularFile) -> bool:
    """Whether an undo file is of this file and not of another, which this one may be a copy of."""
    with suppress(OSError, AttributeError, ValueError):
        own, number, _ = os.getxattr(undo.descriptor, ATTRIBUTE).split(b" ", 2)
        if int(number) == undo.status.st_ino:  # not a copy itself, out of a backup for one
            return (file.status.st_ino, file.status.st_dev) == (int(own), undo.status.st_dev)
    named = undo.path.removesuffix(UNDO_SUFFIX)
    return not os.path.exists(named) or os.path.samefile(named, file.path)


def unmark_unfinished(file: RegularFile) -> None:
    """Have a file say so no more."""
    with suppress(OSError, AttributeError):
        os.removexattr(file.descriptor, ATTRIBUTE)


def warn_of_unfinished(path: str, undo_file: str) -> None:
    """Tell a reader that rows of a file may be mixed."""
    problem = f"{path} may be a mix: a patch is under way, or was cut short"
    notice = Notice(problem, where=undo_file, hint=_HINT.format(name=quote_word(path)))
    if str(notice) not in map(str, READ_NOTICES):  # by another input of the same run
        READ_NOTICES.append(notice)
    warn_caller(UnfinishedPatch(notice))


def refuse_unfinished(path: str) -> None:
    """CannotWrite where a patch was cut short: patched once more, the file would stay a mix, and
    with another file under its name nobody could tell what the undo file is for.
    """
    undo, hint = find_undo_file(path), _HINT.format(name=quote_word(path))
    problem = f"a patch of {path} is under way, or was cut short"
    check_rule(undo is None, problem, undo, "nothing was written", kind=CannotWrite, hint=hint)
