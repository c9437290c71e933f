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
from functools import lru_cache, partial
from typing import IO

import numpy as np

from gscli.base.arrays import Array, DType, Indices
from gscli.base.records import Record
from gscli.disk import mapped
from gscli.kernel import ScatterOutput
from gscli.kernel.tiles import Region, Tile, Tiling
from gscli.layout import Layout
from gscli.plan.plan import ValidatedPlan

# Bytes of data that pass by at a time.
BLOCK = 1 << 20

# Addresses that are sorted in memory, at about 40 bytes each while it is done.
MAX_SORTED_RECORDS = 1 << 19

# Cells of updates that are read at a time, for as many blocks as they belong to.
PREFETCH_CELLS = 1 << 21

# Addresses in a lane, which is what is dealt out at a time.
SEQUENTIAL_TILE = MAX_SORTED_RECORDS // 8

# Temporary files open at a time.
MAX_SPILL_FILES = 64

# Bytes of records that are read back at a time.
SPILL_BYTES = 1 << 20

UPDATE_RECORD = np.dtype([("row", np.int64), ("place", np.int64)])

# What gives rows of a block and their updates (n, run), in entry order, as often as asked.
Updates = Callable[[], Iterator[tuple[Indices, Array]]]


def stable_argsort(keys: Indices, limit: int) -> Indices:
    """The stable sorting order of whole numbers 0 … limit-1, by 16 bits at a time.

    >>> stable_argsort(np.array([2, 0, 2, 1]), 3)
    array([1, 3, 0, 2])
    """
    order: Indices = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(16, (limit - 1).bit_length(), 16):
        order = order[np.argsort((keys >> shift).astype(np.uint16)[order], kind="stable")]
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
class Records:
    """Records in the order in which they come, some at a time, as often as they are asked for."""

    dtype: DType
    count: int
    iter_tables: Callable[[], Iterator[Array]]

    def read_all(self) -> Array:
        """All of them in one array."""
        return np.concatenate([np.empty(0, self.dtype), *self.iter_tables()])

    def iter_ranges(
        self, key: str, begin: int, end: int, *, unit: int, enough: int, folder: str | None
    ) -> Iterator[tuple[int, int, Records]]:
        """The records of ranges of a key, from `begin` to `end`-1, as (first, last + 1, records).

        A range has at most `enough` records or `unit` keys: until then records are dealt out to
        temporary files in `folder`, each gone when the next range is asked for. Raises OSError.
        """
        if self.count <= enough or end - begin <= unit:
            yield begin, end, self
            return
        size = -(-(end - begin) // (unit * MAX_SPILL_FILES)) * unit
        firsts = range(begin, end, size)
        counts = np.zeros(len(firsts), np.int64)
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile(dir=folder)) for _ in firsts]
            for table in self.iter_tables():
                numbers = (table[key] - begin) // size
                counts += np.bincount(numbers, minlength=len(firsts))
                parts = split_by_number(numbers, len(firsts), table)
                for file, (part,) in zip(files, parts, strict=True):
                    file.write(part.tobytes())
            for first, count, file in zip(firsts, counts.tolist(), files, strict=True):
                records = Records(self.dtype, count, partial(_iter_spilled, file, self.dtype))
                last = min(first + size, end)
                yield from records.iter_ranges(
                    key, first, last, unit=unit, enough=enough, folder=folder
                )
                file.close()  # the system frees its space


def _iter_spilled(file: IO[bytes], dtype: DType) -> Iterator[Array]:
    file.seek(0)
    while part := file.read(max(SPILL_BYTES // dtype.itemsize, 1) * dtype.itemsize):
        yield np.frombuffer(part, dtype)


def sort_by_row(table: Array) -> tuple[Indices, Indices]:
    """Rows and places of records, sorted by row, those of one row in entry order."""
    order = stable_argsort(table["row"], int(table["row"].max(initial=0)) + 1)
    return table["row"][order], table["place"][order]


def update_records(
    plan: ValidatedPlan,
    lanes: slice = slice(None),
    number: Callable[[Indices], Indices] = lambda rows: rows,
) -> Records:
    """Rows to be updated, as `number` counts them, and where their updates stand, in entry order:
    the live addresses of a plan, or of some lanes of its `sequence` in steps of LANE.

    Places count rows in the canonical order of the updates.
    """
    form = plan.layout.form

    def iter_tables() -> Iterator[Array]:
        route = Tiling(plan, SEQUENTIAL_TILE, sequential=True)
        for step in route.iter_tiles(route.partitions[lanes]):
            first, (rows, live) = _find_region_start(step.region, route.grid), step.flat_addresses()
            table = np.empty(rows.size, UPDATE_RECORD)
            table["row"], table["place"] = rows, np.arange(first, first + rows.size)
            table = table if live is None else table[live]
            table["row"] = number(table["row"])
            yield table
            mapped.release_pages(*plan.inputs.values())

    return Records(UPDATE_RECORD, math.prod(form.result_dims) // max(form.row_size, 1), iter_tables)


def _find_region_start(region: Region, grid: tuple[int, ...]) -> int:
    """The row-major number of a region's first place in the result's grid."""
    place = [at.start if isinstance(at, slice) else at for at in region]
    return int(np.ravel_multi_index(place, grid))


class RowBlock(Record):
    """The updates of one block of rows, `first` … `last`-1, counted from `first`.

    Without any, `has_updates` is False.
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
        self, records: Records, begin: int, end: int, *, touched: bool = False
    ) -> Iterator[RowBlock]:
        """The updates of each block of rows `begin` … `end`-1, or only of `touched` blocks."""
        size, most = self.rows_per_block, MAX_SORTED_RECORDS
        ranges = records.iter_ranges("row", begin, end, unit=size, enough=most, folder=self.folder)
        for first, last, part in ranges:
            if part.count <= most:
                rows, places = sort_by_row(part.read_all())
                yield from self.iter_sorted(rows, places, first, last, touched=touched)
            else:
                yield RowBlock(first, last, partial(self._iter_unsorted, part, first))

    def _iter_unsorted(self, records: Records, first: int) -> Iterator[tuple[Indices, Array]]:
        for table in records.iter_tables():
            yield table["row"] - first, self.updates(table["place"])

    def iter_sorted(
        self, rows: Indices, places: Indices, begin: int, end: int, *, touched: bool = False
    ) -> Iterator[RowBlock]:
        """As `iter_blocks`, of records that are sorted by row."""
        count = max(PREFETCH_CELLS // max(self.run, 1), 1)

        # One block alone may want a few rows from everywhere in a file of updates; many blocks
        # together want most of what lies side by side there.
        @lru_cache(1)
        def read_batch(start: int) -> Array:
            return self.updates(places[start : start + count])

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
                for start in range(low - low % count, high, count):
                    here = slice(max(low, start), min(high, start + count))
                    values = read_batch(start)[here.start - start : here.stop - start]
                    yield rows[here] - first, values

            yield RowBlock(first, last, updates, low < high)


@np.errstate(all="ignore")
def apply_updates(layout: Layout, block: Array, updates: Updates, run: int | None = None) -> Array:
    """A block of rows after its updates; `block` is overwritten.

    `run`: cells of a row that are here, where the block holds only some columns of all.
    """
    target, whole = ScatterOutput(layout, block, run), slice(None)
    target.count_updates(rows for rows, _ in updates())
    for rows, values in updates():
        target.apply_updates(Tile(whole, rows, None, (whole,)), values)
    return target.finalize()
