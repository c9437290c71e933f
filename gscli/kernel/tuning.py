"""What may be tuned in the kernel, and the second thread. Neither changes one bit of a result."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from gscli.plan.plan import BLOCK, Array

Lane = TypeVar("Lane")


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Tuning:
    """Sizes of the pieces in which work is done.

    `block`: addresses computed at a time, so few that they are still in a cache when they are used.
    `sorted_block`: entries sorted at a time in reductions of rows. `few_cells`: cells of updates
    up to which sorting costs more than it saves. `threads`: 1 or 2.
    `parallel_bytes`: smaller jobs stay on one thread, whose start would cost more than it saves.
    """

    block: int = 2 * BLOCK
    sorted_block: int = 1 << 20
    few_cells: int = 1 << 17
    threads: int = field(default_factory=lambda: min(2, _processors()))
    parallel_bytes: int = 4 << 20

    def threads_for(self, moved: Array) -> int:
        """How many threads a job deserves that reads or writes all of `moved`.

        One for small jobs, and for objects, whose counts of references need the lock.
        """
        small = moved.nbytes < self.parallel_bytes or moved.dtype.kind in "OT"
        return 1 if small else self.threads


DEFAULT = Tuning()


def for_each(lanes: Sequence[Lane], work: Callable[[Lane], None], threads: int) -> None:
    """Work on every lane, the second half of them in a second thread where `threads` is 2.

    Lanes touch disjoint cells, so that it does not matter which one is first.
    """
    if threads < 2 or len(lanes) < 2:  # noqa: PLR2004  two threads or two lanes
        for lane in lanes:
            work(lane)
        return
    middle, failures, stopped = len(lanes) // 2, list[BaseException](), threading.Event()

    def run(part: Sequence[Lane]) -> None:
        for lane in part:
            if stopped.is_set():
                return
            work(lane)

    def second() -> None:
        try:
            run(lanes[middle:])
        except BaseException as error:  # noqa: BLE001  raised again in the first thread
            failures.append(error)
            stopped.set()

    # A copy of the context, because numpy keeps its error state there.
    helper = threading.Thread(target=contextvars.copy_context().run, args=(second,))
    helper.start()
    try:
        run(lanes[:middle])
    except BaseException:
        stopped.set()
        raise
    finally:
        helper.join()
    if failures:
        raise failures[0]
