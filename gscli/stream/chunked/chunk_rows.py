"""Rows of an array in chunks, with the methods of `RowFile`."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.files.stores.chunks import Chunks
from gscli.stream.chunked.grid import Coordinates, Grid, Piece
from gscli.stream.rowfile import SPARSE, WINDOW, RowFile
from gscli.stream.scatter import stable_argsort

HELD = 32 << 20
"""Bytes of chunks that are kept for the next rows, where those follow."""


class ChunkRows:
    """Data in chunks as rows; each chunk is read once for each call, and in its own order.

    Where the file of a chunk has nothing but its cells, and few of its rows are wanted, no others
    are read.
    """

    def __init__(self, chunks: Chunks, grid: Grid, width: int, *, keep: bool = True) -> None:
        """`width`: bytes of a row. `keep`: whether several chunks are kept for the next rows."""
        self.chunks, self.grid, self.width = chunks, grid, width
        self._run, self._most = width // chunks.dtype.itemsize, HELD if keep else 0
        self._held: dict[Coordinates, Array] = {}

    def read(self, first: int, into: Array) -> None:
        """Consecutive rows from row `first` on; as many as `into` (rows, width) has."""
        self.take(np.arange(first, first + len(into)), into)

    def take(self, rows: Indices, into: Array) -> None:
        """The rows numbered `rows`, in that order, to `into` (rows, width)."""
        if not rows.size:
            return
        grid = self.grid
        numbers = grid.numbered(rows)
        order = stable_argsort(numbers, grid.owners * grid.capacity)
        ordered = numbers[order]
        target = into.view(self.chunks.dtype).reshape(-1, self._run)
        for owner, here in grid.by_owner(ordered):
            within = ordered[here] - owner * grid.capacity
            for piece in grid.pieces(owner):
                grid.put(target, order[here], piece, self.of(piece, within))

    def of(self, piece: Piece, numbers: Indices) -> Array:
        """Some rows of one chunk, as (rows, its run); they are counted as in a whole chunk."""
        few = numbers.size * WINDOW <= self.chunks.chunk_bytes * SPARSE
        file = self.chunks.cells_file(piece.coordinates) if few else None
        if file is None:
            within = self.grid.within(numbers, piece)
            return self._block(piece).take(within, axis=0, mode="wrap")
        width = piece.run * self.chunks.dtype.itemsize
        found = np.empty((numbers.size, piece.run), self.chunks.dtype)
        with closing(file):
            rows = RowFile(file, 0, width, file.size // width)
            rows.take(numbers, found.view(np.uint8).reshape(numbers.size, width))
        return self.chunks.checked(found)

    def _block(self, piece: Piece) -> Array:
        """The rows of one chunk, kept while they are the latest."""
        found = self._held.get(piece.coordinates)
        if found is None:
            kept = sum(block.nbytes for block in self._held.values())
            if kept + self.chunks.chunk_bytes > self._most:
                self._held.clear()
            found = self.chunks.read(piece.coordinates).reshape(-1, piece.run)
            self._held[piece.coordinates] = found
        return found
