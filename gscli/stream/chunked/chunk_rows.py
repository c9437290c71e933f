"""Rows of an array in chunks, with the methods of `FileRows`."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.files.stores.chunks import ChunkedArray
from gscli.stream.chunked.grid import ChunkColumns, ChunkGrid, Coordinates
from gscli.stream.rowfile import SPARSE_FACTOR, WINDOW, FileRows
from gscli.stream.scatter import stable_argsort

CACHE_BYTES = 32 << 20
"""Bytes of chunks that are kept for the next rows, where those follow."""


class ChunkedRows:
    """Data in chunks as rows; each chunk is read once for each call, and in its own order.

    Where the file of a chunk has nothing but its cells, and few of its rows are wanted, no others
    are read.
    """

    def __init__(
        self, chunks: ChunkedArray, grid: ChunkGrid, width: int, *, keep: bool = True
    ) -> None:
        """`width`: bytes of a row. `keep`: whether several chunks are kept for the next rows."""
        self.chunks, self.grid, self.width = chunks, grid, width
        self._run, self._most = width // chunks.dtype.itemsize, CACHE_BYTES if keep else 0
        self._cache: dict[Coordinates, Array] = {}

    def read(self, first: int, into: Array) -> None:
        """Consecutive rows from row `first` on; as many as `into` (rows, width) has."""
        self.take(np.arange(first, first + len(into)), into)

    def take(self, rows: Indices, into: Array) -> None:
        """The rows numbered `rows`, in that order, to `into` (rows, width)."""
        if not rows.size:
            return
        grid = self.grid
        numbers = grid.number_by_row_group(rows)
        order = stable_argsort(numbers, grid.row_group_count * grid.rows_per_chunk)
        ordered = numbers[order]
        target = into.view(self.chunks.dtype).reshape(-1, self._run)
        for owner, here in grid.iter_row_groups(ordered):
            within = ordered[here] - owner * grid.rows_per_chunk
            for piece in grid.chunks_of_row_group(owner):
                grid.assign_columns(target, order[here], piece, self.read_rows(piece, within))

    def read_rows(self, piece: ChunkColumns, numbers: Indices) -> Array:
        """Some rows of one chunk, as (rows, its run); they are counted as in a whole chunk."""
        few = numbers.size * WINDOW <= self.chunks.chunk_bytes * SPARSE_FACTOR
        file = self.chunks.raw_chunk_file(piece.coordinates) if few else None
        if file is None:
            within = self.grid.rows_in_chunk(numbers, piece)
            return self._cached_chunk(piece).take(within, axis=0, mode="wrap")
        width = piece.row_size * self.chunks.dtype.itemsize
        block = np.empty((numbers.size, piece.row_size), self.chunks.dtype)
        with closing(file):
            rows = FileRows(file, 0, width, file.size // width)
            rows.take(numbers, block.view(np.uint8).reshape(numbers.size, width))
        return self.chunks.normalize_values(block)

    def _cached_chunk(self, piece: ChunkColumns) -> Array:
        """The rows of one chunk, kept while they are the latest."""
        chunk = self._cache.get(piece.coordinates)
        if chunk is None:
            kept = sum(block.nbytes for block in self._cache.values())
            if kept + self.chunks.chunk_bytes > self._most:
                self._cache.clear()
            chunk = self.chunks.read_chunk(piece.coordinates).reshape(-1, piece.row_size)
            self._cache[piece.coordinates] = chunk
        return chunk
