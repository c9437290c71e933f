"""Large results go past the system's cache, from threads, while the next part is being made."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import repeat

import numpy as np

from gscli.base import translate_errors
from gscli.base.arrays import Array, allocate_aligned
from gscli.disk.atomic import AtomicFile
from gscli.disk.system import write_error
from gscli.disk.uncached import MIN_DIRECT_BYTES, PAGE, set_direct, write_at

# Bytes in a buffer: a multiple of any device's blocks.
BUFFER_BYTES = 6 << 20

# Buffers on their way while one is filled, so that the device has always something to do.
THREADS = 2


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
                behind.start(write_at, file.fileno(), buffer.data, position)
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
    buffer, filled = allocate_aligned(0, PAGE), 0
    for part in parts:
        content = part.reshape(-1).view(np.uint8)
        while content.size:
            if filled == buffer.size:
                buffer, filled = allocate_aligned(next(sizes), PAGE), 0
            count = min(buffer.size - filled, content.size)
            buffer[filled : filled + count] = content[:count]
            filled, content = filled + count, content[count:]
            if filled == buffer.size:
                yield buffer
    if filled < buffer.size:
        yield buffer[:filled]


# No generator: a signal that arrives while it is entered would be lost.
class WriteBehind(AbstractContextManager["WriteBehind"]):
    """Calls that are done by other threads while the caller goes on; when a block ends, all are
    done. As many are on their way at a time as there are threads.
    """

    def __init__(self, name: str, threads: int) -> None:
        """`name`: of what is written, for messages. Without threads a call is done at once."""
        self._name, self._threads = name, threads
        self._pool = ThreadPoolExecutor(threads) if threads else None
        self._futures = deque[Future[object]]()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        if kind is None:
            with self._write_errors():
                for future in self._futures:
                    future.result()

    def start(self, call: Callable[..., object], *arguments: object) -> None:
        """Take a call; nobody may change its arguments any more. Raises what an earlier one met:
        GscliError as it is, else CannotWrite.
        """
        with self._write_errors():
            if self._futures and len(self._futures) == self._threads:
                self._futures.popleft().result()
            if self._pool is not None:
                try:
                    self._futures.append(self._pool.submit(call, *arguments))
                except RuntimeError:
                    # No more threads. One that is there may have the call, too, and then it is
                    # done twice.
                    self._pool.shutdown()
                    self._pool = None
            if self._pool is None:
                call(*arguments)

    def _write_errors(self) -> AbstractContextManager[None]:
        return translate_errors(lambda error: write_error(error, self._name), Exception)
