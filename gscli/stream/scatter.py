"""Scatter from file to file: data pass by in blocks, and each block meets its updates on the way.

For that the addresses are sorted. Where they are too many to be sorted in memory, they are first
dealt out to temporary files by range of rows, again and again until a range fits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.base.records import Record
from gscli.disk import mapped
from gscli.kernel import ScatterOutput
from gscli.kernel.steps import Region, Tile
from gscli.kernel.walks import tile_plan
from gscli.layout import Layout
from gscli.layout.axes import row_major_strides
from gscli.plan.plan import ValidatedPlan

BLOCK = 1 << 20
"""Bytes of data that pass by at a time."""

MAX_SORTED_RECORDS = 1 << 19
"""Addresses that are sorted in memory, at about 40 bytes each while it is done."""

PREFETCH_CELLS = 1 << 21
"""Cells of updates read ahead."""

SEQUENTIAL_TILE = MAX_SORTED_RECORDS // 8
"""Addresses in a lane, which is what is dealt out at a time."""

MAX_SPILL_FILES = 64
"""Temporary files open at a time."""

RECORD_DTYPE = np.dtype([("row", np.int64), ("place", np.int64)])

Updates = Callable[[], Iterator[tuple[Indices, Array]]]
"""What gives rows of a block and their updates (n, run), in entry order, as often as asked."""


def stable_argsort(keys: Indices, limit: int) -> Indices:
    """The stable sorting order of whole numbers 0 … limit-1, by 16 bits at a time.

    >>> stable_argsort(np.array([2, 0, 2, 1]), 3)
    array([1, 3, 0, 2])
    """
    order: Indices = np.argsort(keys.astype(np.uint16), kind="stable")
    shift = 16
    while limit > 1 << shift:
        digits = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
        shift += 16
    return order


@dataclass(frozen=True)
class UpdateRecords:
    """Rows to be updated and where their updates stand, in entry order, in chunks."""

    count: int
    iter_chunks: Callable[[], Iterator[tuple[Indices, Indices]]]

    def renumber(self, number: Callable[[Indices], Indices]) -> UpdateRecords:
        """The same records with other numbers for their rows."""

        def chunks() -> Iterator[tuple[Indices, Indices]]:
            for rows, places in self.iter_chunks():
                yield number(rows), places

        return UpdateRecords(self.count, chunks)

    def sort_all(self) -> tuple[Indices, Indices]:
        """All of them, sorted by row, those of one row in entry order."""
        rows, places = (np.concatenate(part) for part in zip(*self.iter_chunks(), strict=True))
        order = stable_argsort(rows, int(rows.max(initial=0)) + 1)
        return rows[order], places[order]


def update_records(plan: ValidatedPlan, lanes: slice = slice(None)) -> UpdateRecords:
    """The live addresses of a plan, or of some lanes of its `sequence` in steps of LANE.

    Places count rows in the canonical order of the updates.
    """
    entries = plan.layout.form.result_dims
    run = plan.layout.form.row_size
    count = entries[0] * entries[1] * entries[2] * entries[3] // max(run, 1)

    def chunks() -> Iterator[tuple[Indices, Indices]]:
        yield np.empty(0, np.int64), np.empty(0, np.int64)  # at least one chunk to put together
        route = tile_plan(plan, SEQUENTIAL_TILE, sequential=True)
        for lane in route.partitions[lanes]:
            for step in route.iter_tiles(lane):
                first, (rows, live) = _region_start(step.region, route.grid), step.flat_addresses()
                places = np.arange(first, first + rows.size)
                yield (rows, places) if live is None else (rows[live], places[live])
                mapped.release_pages(*plan.inputs.values())

    return UpdateRecords(count, chunks)


def _region_start(region: Region, grid: tuple[int, ...]) -> int:
    """The row-major number of a region's first place in the result's grid."""
    steps = row_major_strides(grid)
    return sum((at.start if isinstance(at, slice) else at) * step
               for at, step in zip(region, steps, strict=False))  # fmt: skip


class Prefetcher:
    """Updates in the order of `places`, read for many blocks at a time, forwards as a rule.

    One block alone may want a few rows from everywhere in a file of updates; many blocks together
    want most of what lies side by side there.
    """

    def __init__(self, updates: Callable[[Indices], Array], places: Indices, count: int) -> None:
        self._updates, self._places, self._count = updates, places, count
        self._begin = self._end = 0
        self._held = updates(places[:0])

    def read_slice(self, here: slice) -> Array:
        """The updates at `places[here]`."""
        if here.stop > self._end or here.start < self._begin:
            self._begin, self._end = here.start, max(here.stop, here.start + self._count)
            self._held = self._updates(self._places[self._begin : self._end])
        return self._held[here.start - self._begin : here.stop - self._begin]


class RowBlock(Record):
    """The updates of one block of rows, `first` … `last`-1, counted from `first`.

    Without any, `touched` is False.
    """

    first: int
    last: int
    updates: Updates
    has_updates: bool = True


@dataclass(frozen=True)
class ExternalSort:
    """Deals updates out to blocks of rows.

    `updates` gives the updates at some places as (places, …), of `run` cells each.
    """

    updates: Callable[[Indices], Array]
    run: int
    rows_per_block: int
    folder: str | None

    def iter_blocks(
        self, records: UpdateRecords, begin: int, end: int, *, touched: bool = False
    ) -> Iterator[RowBlock]:
        """The updates of each block of rows `begin` … `end`-1, or only of `touched` blocks."""
        if records.count <= MAX_SORTED_RECORDS:
            yield from self._sort_in_memory(records, begin, end, touched=touched)
        elif end - begin <= self.rows_per_block:
            yield self._pass_through(records, begin, end)
        else:
            yield from self._spill_to_files(records, begin, end, touched=touched)

    def _sort_in_memory(
        self, records: UpdateRecords, begin: int, end: int, *, touched: bool
    ) -> Iterator[RowBlock]:
        rows, places = records.sort_all()
        count = max(PREFETCH_CELLS // max(self.run, 1), 1)
        ahead = Prefetcher(self.updates, places, count)
        size = self.rows_per_block
        firsts: Iterable[int] = range(begin, end, size)
        if touched:
            firsts = (np.unique((rows - begin) // size) * size + begin).tolist()
        for first in firsts:
            last = min(first + size, end)
            low, high = np.searchsorted(rows, (first, last)).tolist()

            def updates(
                first: int = first, low: int = low, high: int = high
            ) -> Iterator[tuple[Indices, Array]]:
                for at in range(low, high, count):
                    here = slice(at, min(at + count, high))
                    yield rows[here] - first, ahead.read_slice(here)

            yield RowBlock(first, last, updates, low < high)

    def _pass_through(self, records: UpdateRecords, begin: int, end: int) -> RowBlock:
        def updates() -> Iterator[tuple[Indices, Array]]:
            for rows, places in records.iter_chunks():
                yield rows - begin, self.updates(places)

        return RowBlock(begin, end, updates)

    def _spill_to_files(
        self, records: UpdateRecords, begin: int, end: int, *, touched: bool
    ) -> Iterator[RowBlock]:
        """Deal the records out to files by range of rows, then go on with each range."""
        blocks = -(-(end - begin) // self.rows_per_block)
        size = -(-blocks // MAX_SPILL_FILES) * self.rows_per_block
        ranges = [(first, min(first + size, end)) for first in range(begin, end, size)]
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile(dir=self.folder)) for _ in ranges]
            counts = np.zeros(len(ranges), np.int64)
            for rows, places in records.iter_chunks():
                numbers = (rows - begin) // size
                order = stable_argsort(numbers, len(ranges))
                table = np.empty(rows.size, RECORD_DTYPE)
                table["row"], table["place"] = rows[order], places[order]
                here = np.bincount(numbers, minlength=len(ranges))
                parts = np.split(table, np.cumsum(here)[:-1])
                for file, part in zip(files, parts, strict=True):
                    file.write(part.tobytes())
                counts += here
            for file, count, ends in zip(files, counts.tolist(), ranges, strict=True):
                yield from self.iter_blocks(_read_spilled(file, count), *ends, touched=touched)
                file.close()  # the system frees its space


@dataclass(frozen=True)
class BlockScatter:
    """One scatter on its way: the layout, how updates are dealt out, and where blocks come from.

    The dealing's updates are (places, run) in the working type; `blocks` gives the data of a range
    of rows as (rows, run), which may be overwritten.
    """

    layout: Layout
    dealing: ExternalSort
    blocks: Callable[[int, int], Array]

    def iter_output(self, records: UpdateRecords, begin: int, end: int) -> Iterator[Array]:
        """The output of rows `begin` … `end`-1, block by block in order."""
        for part in self.dealing.iter_blocks(records, begin, end):
            block = self.blocks(part.first, part.last)
            yield apply_updates(self.layout, block, part.updates) if part.has_updates else block


@np.errstate(all="ignore")
def apply_updates(layout: Layout, block: Array, updates: Updates, run: int | None = None) -> Array:
    """A block of rows after its updates; `block` is overwritten.

    `run`: cells of a row that are here, where the block holds only some columns of all.
    """
    target, whole = ScatterOutput(layout, block, run), slice(None)
    if target.counts is not None:
        for rows, _ in updates():
            target.count_updates(rows)
        target.init_identity()
    for rows, values in updates():
        target.apply_updates(Tile(whole, rows, None, (whole,)), values)
    return target.finalize()


def _read_spilled(file: IO[bytes], count: int) -> UpdateRecords:
    def chunks() -> Iterator[tuple[Indices, Indices]]:
        file.seek(0)
        yield np.empty(0, np.int64), np.empty(0, np.int64)
        while part := file.read(SEQUENTIAL_TILE * RECORD_DTYPE.itemsize):
            records = np.frombuffer(part, RECORD_DTYPE)
            yield records["row"], records["place"]

    return UpdateRecords(count, chunks)
