"""A new file takes the place of the one that was read, and of no other.

Between the last look at a name and its change, somebody may move another file there, and a plain
rename would delete that one unseen. Where the system can let two names change places in one step
(Linux), what was under the name can be looked at afterwards and be put back.
"""

from __future__ import annotations

import errno
import os

from gscli.base import CannotWrite, GscliError
from gscli.base.words import reason
from gscli.disk.mapped import RegularFile

_AT_FDCWD = -100
_EXCHANGE = 2
"""renameat2(2): both names must exist, and neither is missing at any moment."""

_NOT_HERE = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}


def exchange(one: str, other: str) -> bool:
    """Let the names of two files change places; False where the system cannot. Raises OSError."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:  # not Linux, or an old C library
        return False
    names = os.fsencode(one), os.fsencode(other)
    if not call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE):
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), other)


def take_place(temporary: str, target: str, over: RegularFile | None) -> bool:
    """Give the name `target` to the file `temporary`: whatever has it loses it, or with `over` that
    file alone, and only if it is as it was when it was opened.

    Returns whether the old file is left under the name `temporary`. Raises OSError, CannotRead and
    CannotWrite, and then whatever is left there is to be deleted.
    """
    if over is None:
        os.replace(temporary, target)
        return False
    new = os.stat(temporary)
    over.check_unchanged()
    over.check_named()
    try:
        exchanged = exchange(temporary, target)
    except FileNotFoundError as error:
        raise over.replaced() from error
    if not exchanged:
        os.replace(temporary, target)
        return False
    try:
        if not over.is_at(temporary):
            raise over.replaced()
        over.check_unchanged()
    except GscliError:
        _put_back(temporary, target, new)
        raise
    return True


def _put_back(temporary: str, target: str, new: os.stat_result) -> None:
    """Return a name to the file that was found under it; a still newer one keeps it."""
    try:
        exchange(temporary, target)
        if not os.path.samestat(os.stat(temporary), new):
            exchange(temporary, target)
    except OSError as error:
        kept = f"{temporary}-kept"
        os.rename(temporary, kept)  # from here on nobody deletes it
        raise CannotWrite(
            f"{target} was replaced meanwhile, and cannot be put back",
            where=f"{target}: {reason(error)}",
            details=(f"what had the name is {kept} now",),
        ) from error
