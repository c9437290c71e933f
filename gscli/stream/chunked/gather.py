"""Gather from chunks: each is read once, and its rows go to where entries want them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gscli.base.arrays import Array, DType, Indices
from gscli.files.stores.chunks import ChunkedArray
from gscli.plan.plan import ValidatedPlan
from gscli.stream.chunked.grid import ChunkColumns, ChunkedRows, ChunkGrid
from gscli.stream.gather import MAX_PIECE_ROWS, PIECE_BYTES, iter_gathered
from gscli.stream.scatter import (
    MAX_SPILL_FILES,
    ExternalSort,
    iter_spilled,
    update_records,
)

MAX_PENDING_BYTES = 4 << 20
"""Bytes of rows that are on their way at a time."""


def iter_gathered_chunks(
    plan: ValidatedPlan, source: ChunkedArray, grid: ChunkGrid, folder: str | None
) -> Iterator[Array]:
    """Pieces of the canonical result, as (rows, run), one after the other.

    Rows of a result of many pieces are dealt out to temporary files, one for each range of the
    result, as they come; so each is written twice, and always forwards. (In one mapped file of
    the result nearly every row would touch a page that had to be found again: 2.4 times the CPU
    of the .npy stream.) Raises OSError where the files cannot be had.
    """
    run = plan.layout.form.row_size
    count, width = update_records(plan).count, run * source.dtype.itemsize
    if count <= min(MAX_PIECE_ROWS, PIECE_BYTES // max(width, 1)):
        yield from iter_gathered(plan, ChunkedRows(source, grid, width), source.dtype)
        return
    result = _ResultSorter(plan, source, grid, folder)
    yield from result.iter_sorted(result.iter_records(), 0, count)


def iter_rows_by_chunk(
    plan: ValidatedPlan, source: ChunkedArray, grid: ChunkGrid, folder: str | None
) -> Iterator[tuple[Indices, ChunkColumns, Array]]:
    """Places in the canonical result, a chunk, and what of its rows goes there, as (n, its run).

    Each chunk is read once at most. `folder`: for temporary files where entries are many, None for
    Python's choice.
    """
    width = plan.layout.form.row_size * source.dtype.itemsize
    chunk_rows = ChunkedRows(source, grid, width, keep=False)
    sort = ExternalSort(lambda places: places, 1, grid.rows_per_chunk, folder)
    for piece, updates in grid.iter_touched_chunks(sort, plan):
        step = max(MAX_PENDING_BYTES // max(piece.row_size * source.dtype.itemsize, 1), 1)
        for numbers, places in updates():
            for at in range(0, numbers.size, step):
                here = slice(at, at + step)
                yield places[here], piece, chunk_rows.read_rows(piece, numbers[here])


@dataclass(frozen=True)
class _ResultSorter:
    """A result that is put in order by way of files of records: place, columns, cells."""

    plan: ValidatedPlan
    source: ChunkedArray
    grid: ChunkGrid
    folder: str | None

    @cached_property
    def _columns(self) -> list[ChunkColumns]:
        """The chunks of any owner, of which only the columns are of interest."""
        return list(self.grid.chunks_of_row_group(0))

    @cached_property
    def _record(self) -> DType:
        most = max(piece.row_size for piece in self._columns)
        cells = ("cells", self.source.dtype, (most,))
        return np.dtype([("place", np.int64), ("columns", np.int64), cells])

    def iter_records(self) -> Iterator[Array]:
        """What `iter_rows_by_chunk` finds, as records."""
        grid = self.grid
        counts = grid.chunk_counts[grid.row_axes :]
        for places, piece, cells in iter_rows_by_chunk(self.plan, self.source, grid, self.folder):
            records = np.empty(places.size, self._record)
            records["place"] = places
            at = piece.coordinates[grid.row_axes :]
            records["columns"] = np.ravel_multi_index(at, counts) if at else 0
            records["cells"][:, : piece.row_size] = cells
            yield records

    def iter_sorted(self, records: Iterator[Array], first: int, last: int) -> Iterator[Array]:
        """The rows `first` … `last`-1 of the result, in pieces."""
        most = max(PIECE_BYTES // self._record.itemsize, 1)
        if last - first <= most:
            yield self._assemble_piece(records, first, last)
            return
        pieces = -(-(last - first) // most)
        size = -(-pieces // MAX_SPILL_FILES) * most
        at_once = max(MAX_PENDING_BYTES // self._record.itemsize, 1)
        for part in iter_spilled(records, "place", range(first, last, size), self.folder):
            end = min(part.first + size, last)
            yield from self.iter_sorted(part.iter_parts(at_once), part.first, end)

    def _assemble_piece(self, records: Iterator[Array], first: int, last: int) -> Array:
        layout = self.plan.layout
        rows = np.full((last - first, layout.form.row_size), layout.fill_value, self.source.dtype)
        for part in records:
            for number in np.unique(part["columns"]).tolist():
                own = part if len(self._columns) == 1 else part[part["columns"] == number]
                piece = self._columns[number]
                cells = own["cells"][:, : piece.row_size]
                self.grid.assign_columns(rows, own["place"] - first, piece, cells)
        return rows
