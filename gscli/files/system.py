"""What the operating system refuses, in gscli's words; and bytes that are to outlast a crash."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice

from gscli.base import CannotRead, CannotWrite
from gscli.base.words import safe

try:
    import fcntl
except ImportError:  # pragma: no cover  not on Windows
    fcntl = None  # type: ignore[assignment]  # asked for before each use

_NO_SUCH_CALL = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)

_MMAP_THRESHOLD, _RETURNED_FROM = -3, 6 << 20
"""glibc's M_MMAP_THRESHOLD; bytes of a block from which it has pages of its own."""

_TRIM_THRESHOLD, _KEPT = -1, 32 << 20
"""glibc's M_TRIM_THRESHOLD; bytes of smaller blocks that are kept for the next ones."""

MOST_NEIGHBOURS = 10_000
"""Files beside a missing one whose names are looked at."""


def reason(error: Exception) -> str:
    """What went wrong, without the number and the name that Python adds.

    >>> reason(OSError(28, "No space left on device", "x.npy"))
    'no space left on device'
    """
    told = getattr(error, "strerror", None) or str(error)
    if isinstance(error, OSError) and error.errno and not error.strerror:
        told = os.strerror(error.errno)
    return safe(told[:1].lower() + told[1:], 200)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn a failure of the system into CannotRead; `name` is safe to print."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the name, a closed stream
        told, hint = reason(error), ""
        if isinstance(error, OSError) and error.errno == errno.ENOENT:
            told, hint = "no such file", _near_files(str(error.filename or name))
        raise CannotRead(f"cannot read {name}", where=f"{name}: {told}", hint=hint) from error


@contextmanager
def writing(
    name: str, what: str = "cannot write", state: str = "", hint: str = ""
) -> Iterator[None]:
    """Turn a failure of the system into CannotWrite; `state`: what became of the file.

    A closed pipe stays BrokenPipeError, because the reader decided to go.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise refused(error, name, what, state, hint) from error


def refused(
    error: Exception, name: str, what: str = "cannot write", state: str = "", hint: str = ""
) -> CannotWrite:
    """CannotWrite for a failure of the system."""
    details = (state,) if state else ()
    return CannotWrite(
        f"{what} {name}", where=f"{name}: {reason(error)}", details=details, hint=hint
    )


def _near_files(path: str) -> str:
    """Which files beside a missing one have a name like it; else how values are written inline."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    known: list[str] = []
    with suppress(OSError, ValueError), os.scandir(folder or ".") as found:
        known = [entry.name for entry in islice(found, MOST_NEIGHBOURS)]
    near = get_close_matches(name, known, 3, 0.6)
    if near:
        return f"did you mean {' or '.join(safe(os.path.join(folder, one)) for one in near)}?"
    return "values are written as JSON, '[1,2,3]'; every other way: gscli help inputs"


def reserve(descriptor: int, offset: int, length: int) -> None:
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


def give_back_large_blocks() -> None:
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
        try:
            fcntl.fcntl(descriptor, full)
        except OSError:  # a file system that has no such request
            pass
        else:
            return
    os.fsync(descriptor)


def sync_folder(folder: str) -> None:
    """Make new and removed names of a folder durable, where its file system can; else OSError.

    A folder that cannot be opened for reading cannot be synced.
    """
    try:
        descriptor = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        sync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # the file system has no sync for folders
            raise
    finally:
        with suppress(OSError):
            os.close(descriptor)
