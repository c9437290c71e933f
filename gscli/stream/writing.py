"""Scatter from file to file: data pass by in blocks, and each block meets its updates on the way.

For that the addresses are sorted. Where they are too many to be sorted in memory, they are first
dealt out to temporary files by range of rows, again and again until a range fits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.files import mapped
from gscli.kernel.routes import in_sequence
from gscli.kernel.rows import stable_order
from gscli.kernel.walks import Step
from gscli.kernel.writing import Target
from gscli.layout.layout import Layout
from gscli.plan.plan import JudgedPlan

BLOCK = 1 << 20
"""Bytes of data that pass by at a time."""

SORTED = 1 << 19
"""Addresses that are sorted in memory, at about 40 bytes each while it is done."""

AHEAD = 1 << 21
"""Cells of updates read ahead."""

FILES = 64
"""Temporary files open at a time."""

RECORD = np.dtype([("row", np.int64), ("place", np.int64)])


@dataclass(frozen=True)
class Records:
    """Rows to be updated and where their updates stand, in entry order, in chunks."""

    count: int
    chunks: Callable[[], Iterator[tuple[Indices, Indices]]]

    def together(self) -> tuple[Indices, Indices]:
        """All of them, sorted by row, those of one row in entry order."""
        rows, places = (np.concatenate(part) for part in zip(*self.chunks(), strict=True))
        order = stable_order(rows, int(rows.max(initial=0)) + 1)
        return rows[order], places[order]


def records_of(plan: JudgedPlan) -> Records:
    """The live addresses of a plan; places count rows in the canonical order of the updates."""
    entries = plan.layout.form.result
    run = plan.layout.form.run
    count = entries[0] * entries[1] * entries[2] * entries[3] // max(run, 1)

    def chunks() -> Iterator[tuple[Indices, Indices]]:
        done = 0
        yield np.empty(0, np.int64), np.empty(0, np.int64)  # at least one chunk to put together
        for step in in_sequence(plan, SORTED // 8):
            places = np.arange(done, done + step.addresses.size)
            done += step.addresses.size
            if step.live is not None:
                places = places[step.live.reshape(-1)]
            yield step.live_addresses + (step.base.start or 0), places
            mapped.release(*plan.inputs.values())

    return Records(count, chunks)


class Ahead:
    """Updates in the order of `places`, read for many blocks at a time.

    One block alone may want a few rows from everywhere in a file of updates; many blocks together
    want most of what lies side by side there.
    """

    def __init__(self, updates: Callable[[Indices], Array], places: Indices, count: int) -> None:
        self._updates, self._places, self._count = updates, places, count
        self._begin = self._end = 0
        self._held = updates(places[:0])

    def part(self, here: slice) -> Array:
        """The updates at `places[here]`; each part begins where the one before ended."""
        if here.stop > self._end:
            self._begin, self._end = here.start, max(here.stop, here.start + self._count)
            self._held = self._updates(self._places[self._begin : self._end])
        return self._held[here.start - self._begin : here.stop - self._begin]


@dataclass(frozen=True)
class Scattering:
    """One scatter on its way: the layout, where updates come from, and where blocks come from.

    `updates` gives the updates at some places as (places, run) in the working type; `blocks`
    the data of a range of rows as (rows, run), which may be overwritten.
    """

    layout: Layout
    updates: Callable[[Indices], Array]
    blocks: Callable[[int, int], Array]
    rows_per_block: int
    folder: str | None

    def written(self, records: Records, begin: int, end: int) -> Iterator[Array]:
        """The output of rows `begin` … `end`-1, block by block in order."""
        if records.count <= SORTED:
            yield from self._from_memory(records, begin, end)
        elif end - begin <= self.rows_per_block:
            yield self._one_block(records, begin, end)
        else:
            yield from self._dealt_out(records, begin, end)

    def _from_memory(self, records: Records, begin: int, end: int) -> Iterator[Array]:
        rows, places = records.together()
        updates = Ahead(self.updates, places, max(AHEAD // self.layout.form.run, 1))
        for first in range(begin, end, self.rows_per_block):
            last = min(first + self.rows_per_block, end)
            here = slice(*np.searchsorted(rows, (first, last)).tolist())
            block = self.blocks(first, last)
            if here.start < here.stop:
                chunk = rows[here] - first, updates.part(here)
                block = self._updated(block, [chunk].__iter__)
            yield block

    def _one_block(self, records: Records, begin: int, end: int) -> Array:
        def chunks() -> Iterator[tuple[Indices, Array]]:
            for rows, places in records.chunks():
                yield rows - begin, self.updates(places)

        return self._updated(self.blocks(begin, end), chunks)

    def _updated(
        self, block: Array, chunks: Callable[[], Iterator[tuple[Indices, Array]]]
    ) -> Array:
        """One block of data with all its updates, which come as rows and values in entry order."""
        with np.errstate(all="ignore"):
            return self._combined(block, chunks)

    def _combined(
        self, block: Array, chunks: Callable[[], Iterator[tuple[Indices, Array]]]
    ) -> Array:
        target, whole = Target(self.layout, block), slice(None)
        if target.counts is not None:
            for rows, _ in chunks():
                target.count(whole, rows)
            target.start()
        for rows, values in chunks():
            target.update(Step(whole, rows, None, (whole,)), values)
        return target.finished()

    def _dealt_out(self, records: Records, begin: int, end: int) -> Iterator[Array]:
        """Deal the records out to files by range of rows, then go on with each range."""
        blocks = -(-(end - begin) // self.rows_per_block)
        size = -(-blocks // FILES) * self.rows_per_block
        ranges = [(first, min(first + size, end)) for first in range(begin, end, size)]
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile(dir=self.folder)) for _ in ranges]
            counts = np.zeros(len(ranges), np.int64)
            for rows, places in records.chunks():
                numbers = (rows - begin) // size
                order = stable_order(numbers, len(ranges))
                found = np.empty(rows.size, RECORD)
                found["row"], found["place"] = rows[order], places[order]
                here = np.bincount(numbers, minlength=len(ranges))
                shares = np.split(found, np.cumsum(here)[:-1])
                for file, share in zip(files, shares, strict=True):
                    file.write(share.tobytes())
                counts += here
            for file, count, part in zip(files, counts.tolist(), ranges, strict=True):
                yield from self.written(_records_in(file, count), *part)
                file.close()  # the system frees its space


def _records_in(file: IO[bytes], count: int) -> Records:
    def chunks() -> Iterator[tuple[Indices, Indices]]:
        file.seek(0)
        yield np.empty(0, np.int64), np.empty(0, np.int64)
        while part := file.read(SORTED // 8 * RECORD.itemsize):
            found = np.frombuffer(part, RECORD)
            yield found["row"], found["place"]

    return Records(count, chunks)
