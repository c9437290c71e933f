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
from gscli.layout.axes import Shape, row_major

Coordinates = tuple[int, ...]


class Piece(Record):
    """One chunk: its coordinates, the sizes of its rows' axes, its columns on each other axis."""

    coordinates: Coordinates
    rows: Shape
    columns: tuple[slice, ...]

    @property
    def run(self) -> int:
        """Cells of each row that lie in this chunk."""
        return math.prod(part.stop - part.start for part in self.columns)


class Grid(Record):
    """Data of some `shape` in chunks; the first `lead` axes tell a row from another.

    >>> grid = Grid((10, 6), (4, 3), 1)
    >>> grid.owners, grid.capacity, [piece.coordinates for piece in grid.pieces(2)]
    (3, 4, [(2, 0), (2, 1)])
    """

    shape: Shape
    chunk: Shape
    lead: int

    @classmethod
    def of(cls, shape: Shape, chunk: Shape, run: int) -> Grid | None:
        """The grid for rows of `run` cells; None where these are no whole axes."""
        for lead in range(len(shape) + 1):
            if math.prod(shape[lead:]) == run:
                return cls(shape, chunk, lead)
        return None

    @property
    def counts(self) -> Shape:
        """Chunks on each axis."""
        return tuple(-(-size // step) for size, step in zip(self.shape, self.chunk, strict=True))

    @property
    def owners(self) -> int:
        """How many different leading parts of coordinates there are."""
        return math.prod(self.counts[: self.lead])

    @property
    def capacity(self) -> int:
        """Rows of a chunk that is not cut off by the border."""
        return math.prod(self.chunk[: self.lead])

    def numbered(self, rows: Indices) -> Indices:
        """Rows counted owner by owner: `owner * capacity + row within the chunk`."""
        if self.chunk[1 : self.lead] == self.shape[1 : self.lead]:
            return rows  # chunks follow each other as rows do
        owner = within = np.zeros(rows.shape, np.int64)
        places = np.unravel_index(rows, self.shape[: self.lead])
        strides = zip(
            row_major(self.counts[: self.lead]), row_major(self.chunk[: self.lead]),
            self.chunk, places, strict=False,
        )  # fmt: skip
        for chunks, cells, step, place in strides:
            owner = owner + place // step * chunks
            within = within + place % step * cells
        return owner * self.capacity + within

    def pieces(self, owner: int) -> Iterator[Piece]:
        """The chunks of one owner, along the columns."""
        leading = np.unravel_index(owner, self.counts[: self.lead]) if self.lead else ()
        first = tuple(int(at) for at in leading)
        rows = tuple(
            min(step, size - at * step)
            for at, step, size in zip(first, self.chunk, self.shape, strict=False)
        )
        for rest in np.ndindex(*self.counts[self.lead :]):
            columns = tuple(
                slice(at * step, min((at + 1) * step, size))
                for at, step, size in zip(
                    rest, self.chunk[self.lead :], self.shape[self.lead :], strict=True
                )
            )
            yield Piece((*first, *rest), rows, columns)

    def by_owner(self, numbers: Indices) -> Iterator[tuple[int, slice]]:
        """Each owner in numbers that ascend by owner, and where its own stand."""
        owners = numbers // self.capacity
        starts = np.flatnonzero(np.diff(owners, prepend=-1)).tolist()
        for begin, end in pairwise([*starts, numbers.size]):
            yield int(owners[begin]), slice(begin, end)

    def within(self, numbers: Indices, piece: Piece) -> Indices:
        """Numbers within a chunk as rows of a piece, which the border may have cut."""
        full = self.chunk[: self.lead]
        if piece.rows[1:] == full[1:]:
            return numbers
        places = np.unravel_index(numbers, full)
        return np.asarray(np.ravel_multi_index(places, piece.rows), np.int64)

    def columns(self, rows: Array, piece: Piece) -> Array:
        """Of whole rows (n, run) the columns that lie in a piece, as (n, its run)."""
        shape = self.shape[self.lead :]
        if piece.run == math.prod(shape):
            return rows
        found = rows.reshape(-1, *shape)[(slice(None), *piece.columns)]
        return found.reshape(len(rows), piece.run)

    def put(self, rows: Array, places: Indices, piece: Piece, values: Array) -> None:
        """Write the columns of a piece, (n, its run), to some of the whole rows (all, run)."""
        shape = self.shape[self.lead :]
        if piece.run == math.prod(shape):
            rows[places] = values
            return
        sizes = [part.stop - part.start for part in piece.columns]
        cells = rows.reshape(-1, *shape)
        box: Any = (places, *piece.columns)
        cells[box] = values.reshape(-1, *sizes)
