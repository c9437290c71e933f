"""Scatter from file to file: data pass by in blocks, and each block meets its updates on the way.

For that the addresses are sorted. Where they are too many to be sorted in memory, they are first
dealt out to temporary files by range of rows, again and again until a range fits.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO

import numpy as np

from gscli.base.arrays import Array, DType, Indices
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


def split_by_number(numbers: Indices, count: int, *arrays: Array) -> Iterator[tuple[Array, ...]]:
    """The rows of arrays dealt out by their numbers 0 … count-1; those of one stay in order.

    >>> [rows.tolist() for (rows,) in split_by_number(np.array([1, 0, 1]), 2, np.array([7, 8, 9]))]
    [[8], [7, 9]]
    """
    order = stable_argsort(numbers, count)
    ends = np.cumsum(np.bincount(numbers, minlength=count))[:-1]
    parts = (np.split(array.take(order, axis=0, mode="wrap"), ends) for array in arrays)
    return zip(*parts, strict=True)


@dataclass(frozen=True)
class UpdateRecords:
    """Rows to be updated and where their updates stand, in entry order, in chunks."""

    count: int
    iter_chunks: Callable[[], Iterator[tuple[Indices, Indices]]]

    def renumber(self, number: Callable[[Indices], Indices]) -> UpdateRecords:
        """The same records with other numbers for their rows."""
        chunks = self.iter_chunks
        return UpdateRecords(self.count, lambda: ((number(rows), at) for rows, at in chunks()))

    def sort_all(self) -> tuple[Indices, Indices]:
        """All of them, sorted by row, those of one row in entry order."""
        rows, places = map(np.concatenate, zip(*self.iter_chunks(), strict=True))
        order = stable_argsort(rows, int(rows.max(initial=0)) + 1)
        return rows[order], places[order]


def update_records(plan: ValidatedPlan, lanes: slice = slice(None)) -> UpdateRecords:
    """The live addresses of a plan, or of some lanes of its `sequence` in steps of LANE.

    Places count rows in the canonical order of the updates.
    """
    form = plan.layout.form
    count = math.prod(form.result_dims) // max(form.row_size, 1)

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
            yield from self.iter_sorted(*records.sort_all(), begin, end, touched=touched)
        elif end - begin <= self.rows_per_block:
            chunks = records.iter_chunks
            yield RowBlock(
                begin, end, lambda: ((rows - begin, self.updates(at)) for rows, at in chunks())
            )
        else:
            tables = map(_to_table, records.iter_chunks())
            blocks = -(-(end - begin) // self.rows_per_block)
            size = -(-blocks // MAX_SPILL_FILES) * self.rows_per_block
            for part in iter_spilled(tables, "row", range(begin, end, size), self.folder):
                last = min(part.first + size, end)
                yield from self.iter_blocks(_to_records(part), part.first, last, touched=touched)

    def iter_sorted(
        self, rows: Indices, places: Indices, begin: int, end: int, *, touched: bool = False
    ) -> Iterator[RowBlock]:
        """As `iter_blocks`, of records that are sorted by row."""
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


class SpilledRecords(Record):
    """Records of the keys from `first` on in a temporary file, in the order in which they came."""

    first: int
    size: int
    dtype: DType
    file: IO[bytes]

    def iter_parts(self, count: int) -> Iterator[Array]:
        """Up to `count` records at a time."""
        self.file.seek(0)
        while part := self.file.read(count * self.dtype.itemsize):
            yield np.frombuffer(part, self.dtype)


def iter_spilled(
    tables: Iterable[Array], key: str, firsts: range, folder: str | None
) -> Iterator[SpilledRecords]:
    """Records dealt out to temporary files by ranges of their `key`, which begin at `firsts`.

    Each file is gone when the next one is asked for. Raises OSError.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile(dir=folder)) for _ in firsts]
        sizes, dtype = [0] * len(files), np.dtype(np.void)
        for table in tables:
            dtype, numbers = table.dtype, (table[key] - firsts.start) // firsts.step
            parts = split_by_number(numbers, len(files), table)
            for number, (part,) in enumerate(parts):
                files[number].write(part.tobytes())
                sizes[number] += part.size
        for first, size, file in zip(firsts, sizes, files, strict=True):
            yield SpilledRecords(first, size, dtype, file)
            file.close()  # the system frees its space


def _to_table(chunk: tuple[Indices, Indices]) -> Array:
    table = np.empty(chunk[0].size, RECORD_DTYPE)
    table["row"], table["place"] = chunk
    return table


def _to_records(part: SpilledRecords) -> UpdateRecords:
    def chunks() -> Iterator[tuple[Indices, Indices]]:
        yield np.empty(0, np.int64), np.empty(0, np.int64)
        for records in part.iter_parts(SEQUENTIAL_TILE):
            yield records["row"], records["place"]

    return UpdateRecords(part.size, chunks)


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
