"""Undo journals: what a file held where it is about to be patched in place.

The journal is complete and on the device before the first byte of the file changes, and goes away
when the last one is there. Whatever stops the patch, power failure and SIGKILL included, the file
can be put back: at once after an error, otherwise the next time anybody opens it with gscli.

The format: a first line, (inode, size, offset, width), then (count, rows, old bytes) again and
again, then a count of 0, the CRC-32 of all before and a last line.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from gscli.base.errors import CannotRead, CannotWrite
from gscli.base.text import safe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAGIC, _SEAL = b"gscli undo 1\n", b"sealed\n"
_HEADER, _COUNT, _CRC = struct.Struct("<QQQQ"), struct.Struct("<Q"), struct.Struct("<I")
_NUMBER = struct.calcsize("<q")
_ENDING = _COUNT.size + _CRC.size + len(_SEAL)


def journal_of(path: str) -> str:
    """Where the journal of a file is: beside it, hidden, under a name of fixed length."""
    folder, name = os.path.split(os.path.realpath(path))
    key = os.fsencode(name)
    return os.path.join(folder, f".gscli-undo-{zlib.crc32(key):08x}{zlib.adler32(key):08x}")


class Journal:
    """The journal of one patch; `rows` of `width` bytes are counted from byte `offset`."""

    def __init__(self, path: str, descriptor: int, offset: int, width: int) -> None:
        self.name, self.path = safe(path), journal_of(path)
        self._target, self._crc = descriptor, 0
        with _writing(self.name):
            status = os.fstat(descriptor)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self.path, flags, 0o600)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                _close(self._descriptor)
                os.unlink(self.path)
                raise
        self._first = _MAGIC + _HEADER.pack(status.st_ino, status.st_size, offset, width)

    def add(self, rows: NDArray[np.int64], old: NDArray[np.uint8]) -> None:
        """Note what some rows (n,) hold: old bytes (n, width)."""
        with _writing(self.name):
            self._begin()
            self._write(_COUNT.pack(rows.size))
            self._write(rows.tobytes())
            self._write(old.tobytes())

    def seal(self) -> None:
        """The journal is complete and durable from here on; the file may change."""
        with _writing(self.name):
            self._begin()
            crc = _CRC.pack(self._crc)
            self._write(_COUNT.pack(0) + crc + _SEAL)
            os.fsync(self._descriptor)
            _sync_folder_of(self.path)

    def remove(self) -> None:
        """The patch is complete and durable: forget it."""
        with _writing(self.name):
            self._forget()
        try:
            _sync_folder_of(self.path)
        except OSError as error:
            raise CannotWrite(
                f"{self.name} is patched, but a power failure may undo that",
                where=f"folder of {self.name}: {error.strerror or error}",
            ) from error

    def roll_back(self) -> None:
        """Put back whatever was noted, if anything can have changed, and forget the patch.

        Where that fails the journal stays, for the next one who opens the file.
        """
        with _writing(self.name):
            try:
                _restore(self._descriptor, self._target)
            except BaseException:
                _close(self._descriptor)
                raise
            self._forget()
        with suppress(OSError):  # at worst the journal comes back, and puts back what is there
            _sync_folder_of(self.path)

    def _forget(self) -> None:
        try:
            os.unlink(self.path)
        finally:
            _close(self._descriptor)

    def _begin(self) -> None:
        first, self._first = self._first, b""
        self._write(first)

    def _write(self, content: bytes) -> None:
        self._crc = zlib.crc32(content, self._crc)
        view = memoryview(content)
        while view:
            view = view[os.write(self._descriptor, view) :]


def write_rows(
    descriptor: int, offset: int, rows: NDArray[np.int64], content: NDArray[np.uint8]
) -> None:
    """Rows (n,), rising, of a file get their content (n, width); neighbours in one call."""
    width = content.shape[1]
    gaps = [0, *((rows[1:] != rows[:-1] + 1).nonzero()[0] + 1).tolist(), rows.size]
    flat = content.reshape(-1).data
    for begin, end in pairwise(gaps):
        position = offset + int(rows[begin]) * width
        view = flat[begin * width : end * width]
        while view:
            done = os.pwrite(descriptor, view, position)
            view, position = view[done:], position + done


def recover(path: str) -> bool:
    """Put a file back whose patch was cut short; True if there was one. Cheap where there was not.

    Raises CannotRead where that must be left to a person: somebody is patching the file now, it
    was replaced since, or the journal is not the user's own. A stranger who may put files into
    the folder would otherwise have us write his bytes into ours.
    """
    try:
        journal, name = journal_of(path), safe(path)
    except (ValueError, OSError):  # a name that no file can have, or a folder that is gone
        return False
    if not os.path.lexists(journal):
        return False
    try:
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(journal, flags)
    except FileNotFoundError:  # whoever patched it is done
        return False
    except OSError as error:
        raise _unrecovered(name, journal, str(error.strerror)) from error
    try:
        return _put_back(descriptor, path, journal, name)
    except BlockingIOError as error:
        raise CannotRead(f"{name} is being patched by another process", where=name) from error
    except (OSError, ValueError, MemoryError, struct.error) as error:
        reason = error.strerror if isinstance(error, OSError) else "the journal is damaged"
        raise _unrecovered(name, journal, str(reason)) from error
    finally:
        _close(descriptor)


def _put_back(descriptor: int, path: str, journal: str, name: str) -> bool:
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    status = os.fstat(descriptor)
    if not status.st_nlink:  # finished between our opening and our lock: the patch is complete
        return False
    plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    if not plain or status.st_uid != os.geteuid():
        raise _unrecovered(name, journal, "the journal is not your own")
    target = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if _sealed(descriptor) and not _same_file(descriptor, target):
            raise _unrecovered(name, journal, "the file was replaced since")
        _restore(descriptor, target)
    finally:
        _close(target)
    with suppress(FileNotFoundError):
        os.unlink(journal)
    with suppress(OSError):  # at worst the journal comes back, and puts back what is there
        _sync_folder_of(journal)
    return True


def _unrecovered(name: str, journal: str, why: str) -> CannotRead:
    return CannotRead(
        f"a patch of {name} was cut short and cannot be taken back",
        where=f"{name}: {why}",
        hint=f"{safe(journal)} has the old bytes; delete it if the file is as it should be",
    )


def _restore(journal: int, target: int) -> None:
    """Write the old bytes back, if the journal was sealed: before that nothing has changed."""
    import numpy as np  # noqa: PLC0415  only where something went wrong

    if not _sealed(journal):
        return
    _, _, offset, width = _header(journal)
    for rows, old in _noted(journal, width):
        numbers = np.frombuffer(rows, np.int64)
        write_rows(target, offset, numbers, np.frombuffer(old, np.uint8).reshape(-1, width))
    os.fsync(target)


def _header(journal: int) -> tuple[int, int, int, int]:
    inode, size, offset, width = _HEADER.unpack(os.pread(journal, _HEADER.size, len(_MAGIC)))
    return inode, size, offset, width


def _same_file(journal: int, target: int) -> bool:
    status = os.fstat(target)
    return _header(journal)[:2] == (status.st_ino, status.st_size)


def _noted(journal: int, width: int) -> Iterator[tuple[bytes, bytes]]:
    """Row numbers and old bytes, a part at a time; ValueError where a part is said to be longer."""
    position = len(_MAGIC) + _HEADER.size
    end = os.fstat(journal).st_size - _ENDING
    while True:
        (count,) = _COUNT.unpack(os.pread(journal, _COUNT.size, position))
        if not count:
            return
        position += _COUNT.size
        if count * (_NUMBER + width) > end - position:
            raise ValueError("a part goes on beyond the end")
        rows = os.pread(journal, count * _NUMBER, position)
        old = os.pread(journal, count * width, position + len(rows))
        yield rows, old
        position += len(rows) + len(old)


def _sealed(journal: int) -> bool:
    """Whether everything that was noted is there, by its check sum."""
    size = os.fstat(journal).st_size
    crc, position, body = 0, 0, size - _ENDING
    if body < len(_MAGIC) + _HEADER.size or os.pread(journal, len(_MAGIC), 0) != _MAGIC:
        return False
    while position < body:
        part = os.pread(journal, min(1 << 20, body - position), position)
        crc, position = zlib.crc32(part, crc), position + len(part)
    return os.pread(journal, _ENDING, body) == _COUNT.pack(0) + _CRC.pack(crc) + _SEAL


def _sync_folder_of(path: str) -> None:
    from gscli.files.atomic import sync_folder  # noqa: PLC0415  only where something is patched

    sync_folder(os.path.dirname(path) or ".")


def _close(descriptor: int) -> None:
    """What had to last was synced before: a failure now changes nothing."""
    with suppress(OSError):
        os.close(descriptor)


@contextmanager
def _writing(name: str) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise CannotWrite(f"{name} is being patched by another process", where=name) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotWrite(f"cannot patch {name}", where=f"{name}: {reason}") from error
