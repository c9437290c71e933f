"""Large results go past the system's cache, from threads, while the next part is being made."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import repeat
from queue import SimpleQueue
from typing import Self, TypeAlias

import numpy as np

from gscli.base import GscliError
from gscli.base.arrays import Array
from gscli.disk.atomic import AtomicFile
from gscli.disk.system import write_error
from gscli.disk.uncached import MIN_DIRECT_BYTES, allocate_pages, set_direct, write_at

PreparedCall: TypeAlias = Callable[[], object]

BUFFER_BYTES = 6 << 20
"""Bytes in a buffer: a multiple of any device's blocks."""

THREADS = 2
"""Buffers on their way while one is filled, so that the device has always something to do."""


def write_parts(file: AtomicFile, parts: Iterable[Array], size: int) -> Generator[int]:
    """Write the `size` bytes of a file from its beginning, in turn; yields how many have left.

    Files that are small, no regular files, or on systems that know no other way are written as
    usual. Whoever stops before the end closes the generator before the file. Raises CannotWrite.
    """
    large = size >= MIN_DIRECT_BYTES and file.seekable() and file.tell() == 0
    if not large or not set_direct(file.fileno(), on=True):
        for part in parts:
            # As bytes, because bfloat16 and its like have no buffer of their own.
            yield file.write(part.reshape(-1).view(np.uint8).data)
        return
    position = 0
    try:
        with WriteBehind(file.name, THREADS) as behind:
            for buffer in fill_buffers(parts, repeat(BUFFER_BYTES)):
                file.poll()
                behind.submit(write_at, file.fileno(), buffer.data, position)
                position += buffer.size
                yield buffer.size
    finally:
        set_direct(file.fileno(), on=False)


def fill_buffers(parts: Iterable[Array], sizes: Iterator[int]) -> Iterator[Array]:
    """The bytes of some parts in new buffers of these sizes; the last one may be shorter.

    >>> parts = np.arange(3, dtype=np.uint8), np.arange(4, dtype=np.uint8)
    >>> [buffer.tolist() for buffer in fill_buffers(parts, repeat(5))]
    [[0, 1, 2, 0, 1], [2, 3]]
    """
    buffer, filled = allocate_pages(0), 0
    for part in parts:
        content = part.reshape(-1).view(np.uint8)
        while content.size:
            if filled == buffer.size:
                buffer, filled = allocate_pages(next(sizes)), 0
            count = min(buffer.size - filled, content.size)
            buffer[filled : filled + count] = content[:count]
            filled, content = filled + count, content[count:]
            if filled == buffer.size:
                yield buffer
    if filled < buffer.size:
        yield buffer[:filled]


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
