"""What writing asks of the operating system: refusals in our words, locks, room, durability."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from gscli.base import CannotWrite, check_rule, translate_errors
from gscli.base.words import error_reason, sanitize
from gscli.disk.mapped import RegularFile, open_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

try:
    import fcntl
except ImportError:  # pragma: no cover  not on Windows
    fcntl = None  # type: ignore[assignment]  # asked for before each use

_NO_SUCH_CALL = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)

# How to go on where the system says why it does not write.
_NO_ROOM_HINT = "make room there, or name another place"
_HINTS = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _NO_ROOM_HINT)
_HINTS[errno.EFBIG] = "this process, or the file system, allows no file of this size: see ulimit -f"
_HINTS[errno.EBADF] = "it was closed: > FILE opens it"

# glibc's M_MMAP_THRESHOLD; bytes of a block from which it has pages of its own.
_MMAP_THRESHOLD, _RETURNED_FROM = -3, 6 << 20

# glibc's M_TRIM_THRESHOLD; bytes of smaller blocks that are kept for the next ones.
_TRIM_THRESHOLD, _KEPT = -1, 32 << 20


def write_errors(
    name: str, what: str = "cannot write", state: str = "", hint: str = ""
) -> AbstractContextManager[None]:
    """Turn a failure of the system into CannotWrite, as `write_error` does."""
    make_error = partial(write_error, name=name, what=what, state=state, hint=hint)
    return translate_errors(make_error, OSError, ValueError)


def write_error(
    error: Exception, name: str, what: str = "cannot write", state: str = "", hint: str = ""
) -> CannotWrite:
    """CannotWrite for a failure of the system; `state`: what became of the file.

    >>> print(write_error(OSError(errno.ENOSPC, "No space left on device"), "x.npy").hint)
    make room there, or name another place
    """
    name, hint = name or "''", hint or _HINTS.get(getattr(error, "errno", 0), "")
    where, details = f"{name}: {error_reason(error)}", (state,) * bool(state)
    return CannotWrite(f"{what} {name}", where=where, details=details, hint=hint)


def temp_file_errors(folder: str | None) -> AbstractContextManager[None]:
    """Turn what fails of temporary files into CannotWrite; None for Python's choice of a folder."""
    import tempfile

    def translate(error: Exception) -> CannotWrite:
        name = folder or tempfile.tempdir or "no folder"  # Python chooses at the first file
        hint = "" if folder else "TMPDIR=FOLDER names another place"
        return write_error(error, sanitize(name), "cannot write temporary files in", hint=hint)

    return translate_errors(translate, OSError, ValueError)


def write_all(
    write: Callable[[memoryview, int], int | None], data: ReadableBuffer, position: int = 0
) -> int:
    """Hand all bytes of a buffer to `write`, which may take less than it gets, with their place
    from `position` on; how many they are.

    >>> parts = []
    >>> write_all(lambda part, at: parts.append((bytes(part[:2]), at)) or len(part[:2]), b"abc", 7)
    3
    >>> parts
    [(b'ab', 7), (b'c', 9)]
    """
    with memoryview(data) as whole, whole.cast("B") as view:
        done = 0
        while done < view.nbytes:
            done += write(view[done:], position + done) or 0
        return done


def try_lock(file: RegularFile) -> bool | None:
    """Whether the lock of a file or folder could be had; None where there are no locks.

    So it is on some file systems, and on others for those who only read.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextmanager
def lock_file(file: RegularFile) -> Iterator[None]:
    """Keep other gscli processes from patching the file, whatever name they know it by."""
    is_locked = try_lock(file)
    problem = f"{file.name} is being patched by another process"
    hint = "wait until that has ended, then run this again"
    check_rule(is_locked is not False, problem, file.name, kind=CannotWrite, hint=hint)
    try:
        yield
    finally:
        if is_locked:
            with suppress(OSError):
                fcntl.flock(file.descriptor, fcntl.LOCK_UN)


def preallocate(descriptor: int, offset: int, length: int) -> None:
    """Room on the device for some bytes of a file, so that writing them cannot fill it.

    Nothing happens where system or file system have no such call: macOS, musl on some file systems,
    ZFS. Raises OSError for a full disk, a quota and the like.
    """
    ask = getattr(os, "posix_fallocate", None)
    if ask is None or not length:
        return
    try:
        ask(descriptor, offset, length)
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise


def trim_large_allocations() -> None:
    """Have this process return memory of several megabytes to the system when it is freed.

    The allocator of Linux keeps up to 32 MiB of each, with gaps between: a stream of packed chunks
    of 16 MiB took 270 MiB so, and 150 since. Other systems have no such call.
    """
    import ctypes

    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _RETURNED_FROM)
        library.mallopt(_TRIM_THRESHOLD, _KEPT)


def sync(descriptor: int) -> None:
    """Wait until the device has what was written to a file. Raises OSError."""
    full = getattr(fcntl, "F_FULLFSYNC", None)  # on macOS fsync alone stops at the drive's memory
    if full is not None:
        with suppress(OSError):  # a file system that has no such request
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


def sync_folder(folder: str) -> None:
    """Make new and removed names of a folder durable, where its file system can; else OSError.

    A folder that cannot be opened for reading cannot be synced.
    """
    try:
        file = open_file(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    with closing(file):
        try:
            sync(file.descriptor)
        except OSError as error:
            if error.errno != errno.EINVAL:  # the file system has no sync for folders
                raise


def check_space(place: str | int, needed: int, name: str, what: str = "", hint: str = "") -> None:
    """CannotWrite where the file system of a folder or open file has not so many bytes left.

    `what` stands before the name in the message. Raises OSError.
    """
    status = os.statvfs(place)
    free = status.f_bavail * status.f_frsize
    problem, hint = f"not enough space for {what}{name}", hint or _NO_ROOM_HINT
    where = f"{name}: needs {needed:,} bytes, {free:,} are free"
    check_rule(needed <= free, problem, where, kind=CannotWrite, hint=hint)
