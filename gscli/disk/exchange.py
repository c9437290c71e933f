"""New content takes the name of what had it when the run began, and of nothing else.

Between the last look at a name and its change, somebody may put another file or folder there, and
a plain rename would delete that one unseen. Where the system can let two names change places in
one step, or give a name only where it is free (Linux), what was under the name can be looked at
afterwards and be put back.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress

from gscli.base import CannotWrite, GscliError
from gscli.base.words import error_reason
from gscli.disk.mapped import RegularFile

_AT_FDCWD = -100

# renameat2(2): the new name must be free; or both names exist, and neither is missing ever.
_NOREPLACE, _EXCHANGE = 1, 2

_NOT_HERE = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}


def exchange_names(path: str, other: str) -> bool:
    """Let two names change places; False where the system cannot. Raises OSError."""
    return _renameat2(path, other, _EXCHANGE)


def rename_to_free(old: str, new: str) -> None:
    """Rename a file or folder; FileExistsError, another OSError where the name is not free.

    Where the system cannot look and rename in one step, a file gets a second name before it loses
    its first, and a folder can take the place of an empty one.
    """
    if _renameat2(old, new, _NOREPLACE):
        return
    if os.path.lexists(new):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
    if stat.S_ISREG(os.lstat(old).st_mode):
        try:
            os.link(old, new)
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
        else:
            os.unlink(old)
            return
    os.rename(old, new)


def _renameat2(old: str, new: str, flag: int) -> bool:
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:  # not Linux, or an old C library
        return False
    if not call(_AT_FDCWD, os.fsencode(old), _AT_FDCWD, os.fsencode(new), flag):
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), new)


def replace_file(
    temporary: str, target: str, old: RegularFile | None, *, is_input: bool = False
) -> bool:
    """Give the name `target` to what is called `temporary`; whether `old` is left under that name.

    `old` is what had the name when the run began, file or folder, or None where it was free; it
    must have the content that it had. With `is_input` it was read as well, and must still have its
    name. Raises OSError, CannotRead and CannotWrite, and then whatever is left under `temporary` is
    to be deleted.
    """
    if old is None:
        _take_free_name(temporary, target)
        return False
    if is_input:
        old.check_unchanged()
        if not old.is_same_file(old.path):
            raise old.replaced_error()
    new = os.stat(temporary)
    try:
        can_exchange = exchange_names(temporary, target)
    except FileNotFoundError as error:
        if is_input:
            raise old.replaced_error() from error
        _take_free_name(temporary, target)
        return False
    if not can_exchange:
        _replace_by_renaming(temporary, target, old)
        return False
    try:
        if is_input and old.is_same_file(temporary):
            old.check_unchanged(was_renamed=True)
        _check_same(old, temporary)
    except GscliError:
        _restore_name(temporary, target, new)
        raise
    return True


def _take_free_name(temporary: str, target: str) -> None:
    try:
        rename_to_free(temporary, target)
    except FileExistsError as error:
        problem, details = f"{target} was made by somebody else meanwhile", ("nothing was written",)
        hint = "run the command again"
        raise CannotWrite(problem, where=target, details=details, hint=hint) from error


def _check_same(old: RegularFile, path: str) -> None:
    """CannotWrite where a path is not the old content."""
    if not old.is_same_file(path) or not old.is_unchanged(was_renamed=True):
        raise old.replaced_error()


def _replace_by_renaming(temporary: str, target: str, old: RegularFile) -> None:
    """As `replace_file`, by two steps: a file is never without its name, a folder for a moment."""
    if not os.path.lexists(target):
        _take_free_name(temporary, target)
        return
    if not stat.S_ISDIR(old.status.st_mode):
        _check_same(old, target)
        os.replace(temporary, target)
        return
    aside = f"{temporary}-old"  # a name that nobody takes for a leftover
    os.rename(target, aside)
    try:
        _check_same(old, aside)
        rename_to_free(temporary, target)
    except BaseException:
        rename_to_free(aside, target)
        raise
    remove_folder(old, aside)


def remove_folder(folder: RegularFile, path: str) -> None:
    """Remove an open folder and all that is in it, as far as that can be; of another one that has
    got its name, nothing.
    """
    shutil.rmtree(".", ignore_errors=True, dir_fd=folder.descriptor)
    with suppress(OSError):
        os.rmdir(path)


def _restore_name(temporary: str, target: str, new: os.stat_result) -> None:
    """Return a name to what was found under it; something still newer keeps it."""
    try:
        exchange_names(temporary, target)
        if not os.path.samestat(os.stat(temporary), new):
            exchange_names(temporary, target)
    except OSError as error:
        kept = f"{temporary}-kept"
        os.rename(temporary, kept)  # from here on nobody deletes it
        problem = f"{target} was replaced meanwhile, and cannot be put back"
        where, details = f"{target}: {error_reason(error)}", (f"what had the name is {kept} now",)
        raise CannotWrite(problem, where=where, details=details) from error
