"""Large results go past the system's cache, from threads, while the next part is being made."""

from __future__ import annotations

import _thread
import mmap
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from queue import SimpleQueue
from typing import Self, TypeAlias

from gscli.base import GscliError
from gscli.disk.atomic import AtomicFile
from gscli.disk.system import write_error
from gscli.disk.uncached import MIN_DIRECT_BYTES, set_direct, write_at

Write: TypeAlias = Callable[[bytes | memoryview], int]
PreparedCall: TypeAlias = Callable[[], object]

BUFFER_BYTES = 3 << 20
"""Bytes in a buffer: a multiple of any device's blocks."""

BUFFER_COUNT = 3
"""One to fill and two on their way, so that the device has always something to do."""


def open_direct_writer(file: AtomicFile, size: int) -> AbstractContextManager[Write]:
    """What writes the `size` bytes of a file from its beginning, in turn; all is told at the end.

    Files that are small, no regular files, or on systems that know no other way are written as
    usual. Raises CannotWrite.
    """
    large = size >= MIN_DIRECT_BYTES and file.seekable() and file.tell() == 0
    try:
        if large and set_direct(file.fileno(), on=True):
            return _DirectWriter(file)
    except OSError:  # no memory for its buffers
        set_direct(file.fileno(), on=False)
    return nullcontext(file.write)


class WriteBehind:
    """Calls that are done by other threads, in turn, while the caller goes on; when a block ends,
    all are done. As many are on their way at a time as there are threads.

    The threads are plain ones that go through a queue. A Thread ends in a weak reference's
    callback, where the exception of a signal that arrives just then would be dropped; and a queue
    knows what was given to it, whenever a signal comes.
    """

    def __init__(self, name: str, threads: int) -> None:
        """`name`: of what is written, for messages. Without threads a call is done at once."""
        self._name = name
        self._calls = SimpleQueue[PreparedCall | None]()
        self._slots = SimpleQueue[None]()
        for _ in range(max(threads, 1)):
            self._slots.put(None)
        self._error: Exception | None = None
        self._threads: list[_thread.LockType] = []
        with suppress(RuntimeError):  # no more threads
            for _ in range(threads):
                self._threads.append(self._start_thread())

    # No generator: a signal that arrives while it is entered would be lost.
    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.join()
        if kind is None:
            self.raise_error()

    def submit(self, call: Callable[..., object], *arguments: object) -> None:
        """Take a call; nobody may change its arguments any more. Raises what an earlier one met."""
        self._slots.get()
        if self._threads:
            self._calls.put(partial(call, *arguments))
        else:
            self._run_call(partial(call, *arguments))
        self.raise_error()

    def join(self) -> None:
        """Wait until all is done."""
        for _ in self._threads:
            self._calls.put(None)
        while self._threads:
            with self._threads[-1]:
                pass
            del self._threads[-1]

    def raise_error(self) -> None:
        """Raise what a call raised: GscliError as it is, else CannotWrite."""
        if self._error is not None:
            known = isinstance(self._error, GscliError)
            raise self._error if known else write_error(self._error, self._name) from self._error

    def _start_thread(self) -> _thread.LockType:
        """A thread; what it returns can be locked when the thread has ended."""
        ended = _thread.allocate_lock()
        ended.acquire()
        _thread.start_new_thread(self._run_calls, (ended,))
        return ended

    def _run_calls(self, ended: _thread.LockType) -> None:
        try:
            while (call := self._calls.get()) is not None:
                self._run_call(call)
        finally:
            ended.release()

    def _run_call(self, call: PreparedCall) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001  a block that is not written must be told of
            self._error = error
        finally:
            self._slots.put(None)


class _DirectWriter:
    """Buffers of whole pages: while one is filled, the others leave by way of two threads."""

    def __init__(self, file: AtomicFile) -> None:
        self._file, self._size = file, BUFFER_BYTES
        self._free = SimpleQueue[mmap.mmap]()
        for _ in range(BUFFER_COUNT):
            self._free.put(mmap.mmap(-1, BUFFER_BYTES))
        self._filling = self._free.get()
        self._filled = self._position = 0
        self._behind = WriteBehind(file.name, BUFFER_COUNT - 1)

    # No generator: a signal that arrives while it is entered would leave it to end later, when the
    # file is closed.
    def __enter__(self) -> Write:
        return self.write

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self.join()

    def write(self, data: bytes | memoryview) -> int:
        """Take a copy of some bytes, and send each buffer that is full."""
        with memoryview(data) as view:
            done = 0
            while done < view.nbytes:
                count = min(self._size - self._filled, view.nbytes - done)
                self._filling[self._filled : self._filled + count] = view[done : done + count]
                self._filled, done = self._filled + count, done + count
                if self._filled == self._size:
                    self._submit_buffer()
            return done

    def finish(self) -> None:
        """Write what is left, which need not be whole blocks, as usual."""
        self.join()
        self._behind.raise_error()
        self._file.seek(self._position)
        with memoryview(self._filling) as view:
            self._file.write(view[: self._filled])

    def join(self) -> None:
        """Wait for the threads, for nobody may close the file before; leave the file as it was."""
        self._behind.join()
        set_direct(self._file.fileno(), on=False)

    def _submit_buffer(self) -> None:
        self._file.poll()
        self._behind.submit(self._write_and_free, self._filling, self._position)
        self._position, self._filled = self._position + self._size, 0
        self._filling = self._free.get()

    def _write_and_free(self, buffer: mmap.mmap, position: int) -> None:
        try:
            with memoryview(buffer) as view:
                write_at(self._file.fileno(), view, position)
        finally:
            self._free.put(buffer)
