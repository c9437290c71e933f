"""What may be tuned in the kernel, and the second thread. Neither changes one bit of a result."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextvars import copy_context
from threading import Thread
from typing import Any, TypeVar

import numpy as np

from gscli.base.arrays import Array, allocate_aligned
from gscli.base.records import Record
from gscli.plan.indices import BLOCK

Item = TypeVar("Item")

# Cells from which a call pays: loading the library takes 0.3 ms once, a call about 6 µs.
MIN_NATIVE_ITEMS = 1 << 13


class Tuning(Record):
    """Sizes of the pieces in which work is done.

    `tile_size`: addresses computed at a time, so few that they are still in a cache when they are
    used. `parallel_bytes`: smaller jobs stay on one thread, whose start costs more than it saves.
    """

    tile_size: int = 2 * BLOCK
    threads: int = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    parallel_bytes: int = 4 << 20

    def threads_for(self, moved: Array, size: int = 0) -> int:
        """How many threads a job deserves that reads or writes all of `moved`, and `size` bytes:
        one if it is small, or of objects, whose counts of references need the lock.
        """
        small = moved.nbytes + size < self.parallel_bytes or moved.dtype.kind in "OT"
        return 1 if small else self.threads


DEFAULT = Tuning()

# Bytes of a strip, the cells of all rows in some columns: so many stay in the second cache.
STRIP_BYTES = 1 << 20

CACHE_LINE = 64  # bytes

# Bytes that glibc keeps for a process that has given back so many at once, at most 32 MiB. Else it
# gives the arrays of each tile back to the system, which clears them anew for the next one: by
# NumPy alone W13 axis 1 takes 170 ms in place of 48.
KEPT_BYTES = 31 << 20


def empty_aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array without values; a large one begins where a line of the caches does, for what is
    written past these is written in whole lines.
    """
    size = math.prod(shape) * dtype.itemsize
    if size < DEFAULT.parallel_bytes or dtype.hasobject:
        return np.empty(shape, dtype)
    np.empty(KEPT_BYTES, np.uint8)
    return allocate_aligned(size, CACHE_LINE).view(dtype).reshape(shape)


def run_parallel(partitions: Sequence[Item], work: Callable[[Item], None], threads: int) -> None:
    """Work on all partitions, in up to `threads` threads; the first failure is raised here.

    They touch disjoint cells, so that it does not matter which one is first. Each thread takes the
    next one that nobody has taken.
    """
    waiting, failures = iter(partitions), list[BaseException]()  # its next is one operation

    def run() -> None:
        try:
            for partition in waiting:
                if failures:
                    return
                work(partition)
        except BaseException as error:  # noqa: BLE001  raised again in the first thread
            failures.append(error)

    # Copies of the context, because numpy keeps its error state there.
    more = range(1, min(threads, len(partitions)))
    others = [Thread(target=copy_context().run, args=(run,)) for _ in more]
    for other in others:
        other.start()
    run()
    for other in others:
        other.join()
    if failures:
        raise failures.pop()  # whose traceback holds this list
