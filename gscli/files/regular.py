"""An open regular file, and everything that is read from it through that one descriptor.

A name may come to mean another file at any moment; a descriptor cannot. What was judged, what is
read and what is locked are therefore always the same file.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from gscli.base import CannotRead, CannotWrite, ContentRefused
from gscli.base.words import safe
from gscli.files.system import reading

try:
    import fcntl
except ImportError:  # pragma: no cover  Windows has no such locks
    fcntl = None  # type: ignore[assignment]  # asked for before each use


UNDO_SUFFIX = ".gscli-undo"


def undo_file_of(path: str) -> str:
    """The undo file's name (`gscli.files.undo`): beside the file that links lead to."""
    return os.path.realpath(path) + UNDO_SUFFIX


def is_unfinished(path: str) -> bool:
    """Whether a patch of the file is under way, or was cut short."""
    try:
        return os.path.lexists(undo_file_of(path))
    except (ValueError, OSError):  # a name that no file can have, or a folder that is gone
        return False


LOST: list[str] = []
"""Files of which this process lost mapped pages."""


class RegularFile:
    """An open file, how it was when it was opened, and the name under which that happened.

    It is closed with `close()`, or when the last array that lies in it is gone.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        """Raises OSError, and then the descriptor is still the caller's."""
        self.descriptor, self.lost = -1, False
        self.path, self.name = os.path.abspath(path), safe(path)
        self._opened = os.fstat(descriptor)
        self.descriptor = descriptor

    @property
    def size(self) -> int:
        """Bytes when it was opened."""
        return self._opened.st_size

    @property
    def has_holes(self) -> bool:
        """Whether parts of it have no room on the device yet."""
        return os.fstat(self.descriptor).st_blocks * 512 < self.size

    def read(self, offset: int, length: int) -> bytes:
        """Exactly the bytes asked for; ContentRefused where the file became shorter."""
        parts = []
        with reading(self.name):
            while length:
                part = os.pread(self.descriptor, length, offset)
                if not part:
                    raise ContentRefused("the file became shorter", where=self.name)
                parts.append(part)
                offset, length = offset + len(part), length - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def fill(self, offset: int, view: memoryview) -> None:
        """All of `view` from a place on; ContentRefused where the file became shorter."""
        with reading(self.name):
            while view.nbytes:
                done = os.preadv(self.descriptor, [view], offset)
                if not done:
                    raise ContentRefused("the file became shorter", where=self.name)
                view, offset = view[done:], offset + done

    def lose(self) -> None:
        """What was mapped from the file is not its content any more."""
        self.lost = True
        LOST.append(self.name)

    def check_unchanged(self) -> None:
        """CannotRead where somebody wrote to the file since it was opened.

        Index values are judged first and used later: they must not be other ones by then.
        """
        with reading(self.name):
            now = os.fstat(self.descriptor)
        seen = now.st_size, now.st_mtime_ns
        if self.lost or seen != (self._opened.st_size, self._opened.st_mtime_ns):
            raise CannotRead(
                f"{self.name} was changed while it was being read",
                where=self.name,
                hint="run the command again when nobody writes to it",
            )

    def check_named(self) -> None:
        """CannotWrite where the name means another file by now, or none."""
        if not self.is_at(self.path):
            raise self.replaced()

    def is_at(self, path: str) -> bool:
        """Whether another name means this file, too."""
        try:
            return os.path.samestat(os.stat(path), self._opened)
        except OSError:
            return False

    def for_writing(self) -> RegularFile:
        """The same file once more, opened to be written to. Raises OSError, CannotWrite."""
        again = opened(self.path, os.O_RDWR)
        if os.path.samestat(os.fstat(again.descriptor), self._opened):
            return again
        again.close()
        raise self.replaced()

    def replaced(self) -> CannotWrite:
        """What is said where the name means another file by now, or none."""
        return CannotWrite(
            f"{self.name} was moved or replaced meanwhile",
            where=self.name,
            details=("nothing was written",),
            hint="run the command again",
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other gscli processes from patching the file, whatever name they know it by."""
        if fcntl is not None:
            try:
                fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise CannotWrite(
                    f"{self.name} is being patched by another process", where=self.name
                ) from error
            except OSError:  # a file system without locks, or one that locks only for writers
                pass
        try:
            yield
        finally:
            if fcntl is not None:
                with suppress(OSError):
                    fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def release(self) -> None:
        """Leave the descriptor to the caller."""
        self.descriptor = -1

    def close(self) -> None:
        """Give the descriptor back; what was read is read, so that a failure changes nothing."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def check_system() -> None:
    """CannotRead where Python lacks the calls that files are read and written with: on Windows."""
    if not hasattr(os, "pread"):
        raise CannotRead(
            "gscli reads and writes files on Linux and macOS alone",
            where=sys.platform,
            hint="on Windows, run it in WSL",
        )


def opened(path: str, flags: int, mode: int = 0o600) -> RegularFile:
    """A file opened with some flags, whatever kind it is of. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, mode)
    try:
        return RegularFile(descriptor, path)
    except OSError:
        with suppress(OSError):
            os.close(descriptor)
        raise


def open_regular(path: str) -> RegularFile | None:
    """A regular file opened to be read; None for anything else, and for what cannot be opened.

    A pipe is not even opened: its writer would take us for the reader, and leave with us.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        waits = os.O_NONBLOCK | os.O_NOCTTY  # it may have become a pipe by now
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | waits)
    except (OSError, ValueError):
        return None
    with suppress(OSError):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return RegularFile(descriptor, path)
    with suppress(OSError):
        os.close(descriptor)
    return None
