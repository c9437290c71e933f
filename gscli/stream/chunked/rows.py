"""Rows of an array in chunks, with the methods of `RowFile`."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.files.chunks import Chunks
from gscli.kernel.rows import stable_order
from gscli.stream.chunked.grid import Grid, Piece

HELD = 32 << 20
"""Bytes of chunks that are kept for the next rows, where those follow."""


class ChunkRows:
    """Data in chunks as rows; each chunk is read once for each call, and in its own order."""

    def __init__(self, chunks: Chunks, grid: Grid, width: int) -> None:
        """`width`: bytes of a row."""
        self.chunks, self.grid, self.width = chunks, grid, width
        self._run = width // chunks.dtype.itemsize
        self._held: dict[tuple[int, ...], Array] = {}

    def read(self, first: int, into: Array) -> None:
        """Consecutive rows from row `first` on; as many as `into` (rows, width) has."""
        self.take(np.arange(first, first + len(into)), into)

    def take(self, rows: Indices, into: Array) -> None:
        """The rows numbered `rows`, in that order, to `into` (rows, width)."""
        if not rows.size:
            return
        grid = self.grid
        numbers = grid.numbered(rows)
        order = stable_order(numbers, grid.owners * grid.capacity)
        ordered = numbers[order]
        target = into.view(self.chunks.dtype).reshape(-1, self._run)
        for owner, here in grid.by_owner(ordered):
            within = ordered[here] - owner * grid.capacity
            for piece in grid.pieces(owner):
                block = self._block(piece)
                found = block.take(grid.within(within, piece), axis=0, mode="wrap")
                grid.put(target, order[here], piece, found)

    def _block(self, piece: Piece) -> Array:
        """The rows of one chunk, kept while they are the latest."""
        found = self._held.get(piece.coordinates)
        if found is None:
            found = self.chunks.read(piece.coordinates).reshape(-1, piece.run)
            if found.nbytes + sum(block.nbytes for block in self._held.values()) > HELD:
                self._held.clear()
            self._held[piece.coordinates] = found
        return found
