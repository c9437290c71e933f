"""From the row numbers of a plan to the chunks of a store, and to rows within a chunk.

A row is what one address of a plan moves: fixed coordinates on the leading axes of data, all of the
others. Chunks that share the leading part of their coordinates hold the same rows, each some of
their columns; together they have one owner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from gscli.base.arrays import Array, Indices, unravel_place
from gscli.base.records import Record
from gscli.files.stores.chunks import ChunkedArray, count_chunks, slice_chunk
from gscli.layout.axes import Shape
from gscli.plan.plan import ValidatedPlan
from gscli.stream.scatter import ExternalSort, Updates, stable_argsort, update_records

Coordinates = tuple[int, ...]


class ChunkColumns(Record):
    """One chunk: its coordinates, the sizes of its rows' axes, its columns on each other axis."""

    coordinates: Coordinates
    rows: Shape
    columns: tuple[slice, ...]

    @property
    def row_size(self) -> int:
        """Cells of each row that lie in this chunk."""
        return math.prod(part.stop - part.start for part in self.columns)


class ChunkGrid(Record):
    """Data of some `shape` in chunks; the first `row_axes` axes tell a row from another.

    >>> grid = ChunkGrid((10, 6), (4, 3), 1)
    >>> (
    ...     grid.row_group_count,
    ...     grid.rows_per_chunk,
    ...     [piece.coordinates for piece in grid.chunks_of_row_group(2)],
    ... )
    (3, 4, [(2, 0), (2, 1)])
    """

    shape: Shape
    chunk: Shape
    row_axes: int

    @classmethod
    def for_row_size(cls, shape: Shape, chunk: Shape, run: int) -> ChunkGrid | None:
        """The grid for rows of `run` cells; None where these are no whole axes."""
        fitting = (lead for lead in range(len(shape) + 1) if math.prod(shape[lead:]) == run)
        return next((cls(shape, chunk, lead) for lead in fitting), None)

    @property
    def chunk_counts(self) -> Shape:
        """Chunks on each axis."""
        return count_chunks(self.shape, self.chunk)

    @property
    def row_group_count(self) -> int:
        """How many different leading parts of coordinates there are."""
        return math.prod(self.chunk_counts[: self.row_axes])

    @property
    def rows_per_chunk(self) -> int:
        """Rows of a chunk that is not cut off by the border."""
        return math.prod(self.chunk[: self.row_axes])

    def number_by_row_group(self, rows: Indices) -> Indices:
        """Rows counted owner by owner: `owner * capacity + row within the chunk`."""
        if self.chunk[1 : self.row_axes] == self.shape[1 : self.row_axes]:
            return rows  # chunks follow each other as rows do
        sizes, counts = self.chunk[: self.row_axes], self.chunk_counts[: self.row_axes]
        places = np.unravel_index(rows, self.shape[: self.row_axes])
        parts = [divmod(place, size) for place, size in zip(places, sizes, strict=True)]
        owners, within = zip(*parts, strict=True)
        numbers = np.ravel_multi_index(owners, counts) * self.rows_per_chunk
        return np.asarray(numbers + np.ravel_multi_index(within, sizes), np.int64)

    def chunks_of_row_group(self, owner: int) -> Iterator[ChunkColumns]:
        """The chunks of one owner, along the columns."""
        first = unravel_place(owner, self.chunk_counts[: self.row_axes])
        for rest in np.ndindex(*self.chunk_counts[self.row_axes :]):
            box = slice_chunk(self.shape, self.chunk, (*first, *rest))
            rows = tuple(part.stop - part.start for part in box[: self.row_axes])
            yield ChunkColumns((*first, *rest), rows, box[self.row_axes :])

    def iter_row_groups(self, numbers: Indices) -> Iterator[tuple[int, Indices, Indices]]:
        """Each owner of some numbers, where its own stand among them, and its rows within a chunk.

        They are in the order of the numbers.
        """
        owners = numbers // self.rows_per_chunk
        order = stable_argsort(owners, self.row_group_count)
        starts = np.flatnonzero(np.diff(owners[order], prepend=-1)).tolist()
        for begin, end in pairwise([*starts, numbers.size]):
            places = order[begin:end]
            owner = int(owners[places[0]])
            yield owner, places, numbers[places] - owner * self.rows_per_chunk

    def iter_touched_chunks(
        self, sort: ExternalSort, plan: ValidatedPlan
    ) -> Iterator[tuple[ChunkColumns, Updates]]:
        """Each chunk that a plan's live addresses are in, with its rows and their updates."""
        records = update_records(plan, number=self.number_by_row_group)
        count = self.row_group_count * self.rows_per_chunk
        for part in sort.iter_blocks(records, 0, count, touched=True):
            for piece in self.chunks_of_row_group(part.first // self.rows_per_chunk):
                yield piece, part.updates

    def rows_in_chunk(self, numbers: Indices, piece: ChunkColumns) -> Indices:
        """Numbers within a chunk as rows of a piece, which the border may have cut."""
        full = self.chunk[: self.row_axes]
        if piece.rows[1:] == full[1:]:
            return numbers
        places = np.unravel_index(numbers, full)
        return np.asarray(np.ravel_multi_index(places, piece.rows), np.int64)

    def select_columns(self, rows: Array, piece: ChunkColumns) -> Array:
        """Of whole rows (n, run) the columns that lie in a piece, as (n, its run)."""
        block = rows.reshape(-1, *self.shape[self.row_axes :])[(slice(None), *piece.columns)]
        return block.reshape(len(rows), piece.row_size)

    def assign_columns(
        self, rows: Array, places: Indices, piece: ChunkColumns, values: Array
    ) -> None:
        """Write the columns of a piece, (n, its run), to some of the whole rows (all, run)."""
        shape = self.shape[self.row_axes :]
        if piece.row_size == math.prod(shape):
            rows[places] = values
            return
        sizes = [part.stop - part.start for part in piece.columns]
        cells = rows.reshape(-1, *shape)
        box: Any = (places, *piece.columns)
        cells[box] = values.reshape(-1, *sizes)


# Bytes of chunks that are kept for the next rows, where those follow.
CACHE_BYTES = 32 << 20


class ChunkedRows:
    """Data in chunks as rows; each chunk is read once for each call, and in its own order."""

    def __init__(
        self, chunks: ChunkedArray, grid: ChunkGrid, width: int, *, keep: bool = True
    ) -> None:
        """`width`: bytes of a row. `keep`: whether several chunks are kept for the next rows."""
        self.chunks, self.grid, self.width = chunks, grid, width
        self._run = width // chunks.dtype.itemsize
        most = CACHE_BYTES // max(chunks.chunk_bytes, 1) if keep else 1
        self._read_chunk = lru_cache(max(most, 1))(chunks.read_chunk)

    def read(self, first: int, into: Array) -> None:
        """Consecutive rows from row `first` on; as many as `into` (rows, width) has."""
        self.take(np.arange(first, first + len(into)), into)

    def take(self, rows: Indices, into: Array) -> None:
        """The rows numbered `rows`, in that order, to `into` (rows, width)."""
        self.take_numbered(self.grid.number_by_row_group(rows), into)

    def take_numbered(self, numbers: Indices, into: Array) -> None:
        """As `take`, of rows that are counted owner by owner."""
        target = into.view(self.chunks.dtype).reshape(-1, self._run)
        for owner, places, within in self.grid.iter_row_groups(numbers):
            for piece in self.grid.chunks_of_row_group(owner):
                self.grid.assign_columns(target, places, piece, self.read_rows(piece, within))

    def read_rows(self, piece: ChunkColumns, numbers: Indices) -> Array:
        """Some rows of one chunk, as (rows, its run); they are counted as in a whole chunk."""
        chunk = self._read_chunk(piece.coordinates).reshape(-1, piece.row_size)
        return chunk.take(self.grid.rows_in_chunk(numbers, piece), axis=0, mode="wrap")
