"""From the row numbers of a plan to the chunks of a store, and to rows within a chunk.

A row is what one address of a plan moves: fixed coordinates on the leading axes of data, all of the
others. Chunks that share the leading part of their coordinates hold the same rows, each some of
their columns; together they have one owner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.base.records import Record
from gscli.layout.axes import Shape, row_major_strides
from gscli.plan.plan import ValidatedPlan
from gscli.stream.scatter import ExternalSort, Updates, update_records

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
    """Data of some `shape` in chunks; the first `lead` axes tell a row from another.

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
        for lead in range(len(shape) + 1):
            if math.prod(shape[lead:]) == run:
                return cls(shape, chunk, lead)
        return None

    @property
    def chunk_counts(self) -> Shape:
        """Chunks on each axis."""
        return tuple(-(-size // step) for size, step in zip(self.shape, self.chunk, strict=True))

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
        owner = within = np.zeros(rows.shape, np.int64)
        places = np.unravel_index(rows, self.shape[: self.row_axes])
        strides = zip(
            row_major_strides(self.chunk_counts[: self.row_axes]),
                row_major_strides(self.chunk[: self.row_axes]),
            self.chunk, places, strict=False,
        )  # fmt: skip
        for chunks, cells, step, place in strides:
            owner = owner + place // step * chunks
            within = within + place % step * cells
        return owner * self.rows_per_chunk + within

    def chunks_of_row_group(self, owner: int) -> Iterator[ChunkColumns]:
        """The chunks of one owner, along the columns."""
        first = tuple(map(int, np.unravel_index(owner, self.chunk_counts[: self.row_axes])))
        for rest in np.ndindex(*self.chunk_counts[self.row_axes :]):
            places = zip((*first, *rest), self.chunk, self.shape, strict=True)
            box = [slice(at * step, min((at + 1) * step, size)) for at, step, size in places]
            rows = tuple(part.stop - part.start for part in box[: self.row_axes])
            yield ChunkColumns((*first, *rest), rows, tuple(box[self.row_axes :]))

    def iter_row_groups(self, numbers: Indices) -> Iterator[tuple[int, slice]]:
        """Each owner in numbers that ascend by owner, and where its own stand."""
        owners = numbers // self.rows_per_chunk
        starts = np.flatnonzero(np.diff(owners, prepend=-1)).tolist()
        for begin, end in pairwise([*starts, numbers.size]):
            yield int(owners[begin]), slice(begin, end)

    def iter_touched_chunks(
        self, sort: ExternalSort, plan: ValidatedPlan
    ) -> Iterator[tuple[ChunkColumns, Updates]]:
        """Each chunk that a plan's live addresses are in, with its rows and their updates."""
        records = update_records(plan).renumber(self.number_by_row_group)
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
        shape = self.shape[self.row_axes :]
        if piece.row_size == math.prod(shape):
            return rows
        block = rows.reshape(-1, *shape)[(slice(None), *piece.columns)]
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
