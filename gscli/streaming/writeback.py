"""Large results go past the system's cache, from threads, while the next part is being made.

In the cache each 4 KiB of a result would need a page of its own, which takes longer to find than
to fill, push out what others keep there, and wait for the last sync.
"""

from __future__ import annotations

import errno
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gscli.errors import CannotWrite
from gscli.formats.atomic import AtomicFile

UNCACHED_FROM = 128 << 20
"""Bytes of a result from which it goes past the cache."""

STRIDE = 3 << 20
"""Bytes in a buffer: a multiple of any device's blocks."""

BUFFERS = 3
"""One to fill and two on their way, so that the device has always something to do."""


@contextmanager
def written_through(file: AtomicFile, size: int) -> Iterator[Callable[[bytes | memoryview], int]]:
    """What writes the `size` bytes of a file from its beginning, in turn; all is told at the end.

    Files that are small, no regular files, or on systems that know no other way are written as
    usual. Raises CannotWrite.
    """
    large = size >= UNCACHED_FROM and file.seekable() and file.tell() == 0
    stream = _stream(file) if large else None
    if stream is None:
        yield file.write
        return
    try:
        yield stream.write
        stream.finish()
    finally:
        stream.stop()


def _stream(file: AtomicFile) -> _Stream | None:
    try:
        return _Stream(file) if _set_direct(file, on=True) else None
    except OSError:  # no memory for its buffers
        _set_direct(file, on=False)
        return None


def _set_direct(file: AtomicFile, *, on: bool) -> bool:
    """Whether the system can be told to write a file past its cache, and has been."""
    flag = getattr(os, "O_DIRECT", 0)
    if not flag:
        return False
    import fcntl  # noqa: PLC0415  not on every system

    flags = fcntl.fcntl(file.fileno(), fcntl.F_GETFL)
    try:
        fcntl.fcntl(file.fileno(), fcntl.F_SETFL, flags | flag if on else flags & ~flag)
    except OSError:
        return False
    return True


class _Stream:
    """Buffers of whole pages, in turn: while one is filled, the others are on their way."""

    def __init__(self, file: AtomicFile) -> None:
        self._file, self._size = file, STRIDE
        self._buffers = [mmap.mmap(-1, STRIDE) for _ in range(BUFFERS)]
        self._threads: list[threading.Thread] = []
        self._filled = self._position = 0
        self._error: OSError | CannotWrite | None = None

    def write(self, data: bytes | memoryview) -> int:
        """Take a copy of some bytes, and send each buffer that is full."""
        with memoryview(data) as view:
            done = 0
            while done < view.nbytes:
                count = min(self._size - self._filled, view.nbytes - done)
                self._buffers[0][self._filled : self._filled + count] = view[done : done + count]
                self._filled, done = self._filled + count, done + count
                if self._filled == self._size:
                    self._send()
            return done

    def finish(self) -> None:
        """Write what is left, which need not be whole blocks, as usual."""
        self.stop()
        self._tell()
        self._file.seek(self._position)
        with memoryview(self._buffers[0]) as view:
            self._file.write(view[: self._filled])

    def stop(self) -> None:
        """Wait for the threads, for nobody may close the file before; leave the file as it was."""
        self._wait(0)
        _set_direct(self._file, on=False)

    def _wait(self, left: int) -> None:
        """Until no more than so many of the threads may still be at work, the newest ones."""
        while len(self._threads) > left:
            if self._threads[0].is_alive():
                self._threads[0].join()
            del self._threads[0]

    def _send(self) -> None:
        full, position = self._buffers.pop(0), self._position
        self._buffers.append(full)
        self._position, self._filled = position + self._size, 0
        self._threads.append(threading.Thread(target=self._leave, args=(full, position)))
        try:
            self._threads[-1].start()
        except RuntimeError:  # no more threads
            self._leave(full, position)
        self._wait(len(self._buffers) - 1)
        self._tell()

    def _leave(self, buffer: mmap.mmap, position: int) -> None:
        try:
            with memoryview(buffer) as view:
                self._put(view, position)
        except (OSError, CannotWrite) as error:
            self._error = error

    def _put(self, view: memoryview, position: int) -> None:
        done, direct = 0, True
        while done < view.nbytes:
            try:
                done += os.pwrite(self._file.fileno(), view[done:], position + done)
            except OSError as error:
                # Neither blocks nor addresses that this device takes, or what a full one left.
                if error.errno != errno.EINVAL or not direct:
                    raise
                direct = False
                _set_direct(self._file, on=False)

    def _tell(self) -> None:
        if self._error is not None:
            name, error = self._file.name, self._error
            reason = error.strerror if isinstance(error, OSError) else ""
            raise CannotWrite(f"cannot write {name}", where=f"{name}: {reason or error}") from error
