"""An array as rows, wherever it lies: in memory, in a file, in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gscli.base.arrays import Array, is_left
from gscli.disk import mapped
from gscli.stream.rowfile import HeldRows, RowFile

if TYPE_CHECKING:
    from gscli.stream.chunked.chunk_rows import ChunkRows

Rows: TypeAlias = "RowFile | HeldRows | ChunkRows"
"""Data as rows, wherever they lie."""


def rows_of(array: Array, width: int) -> Rows:
    """An array as rows of `width` bytes: from its chunks, from its file, or from memory."""
    if is_left(array):
        return _rows_in_chunks(array, width)
    place = mapped.file_of(array)
    if place is None:
        return HeldRows(array, width)
    return RowFile(*place, width, array.nbytes // width)


def _rows_in_chunks(array: Array, width: int) -> Rows:
    from gscli.files.stores.stand_ins import chunks_of, spooled
    from gscli.stream.chunked.chunk_rows import ChunkRows
    from gscli.stream.chunked.grid import Grid

    source = chunks_of(array)
    assert source is not None
    grid = Grid.of(source.shape, source.chunk, width // array.itemsize)
    return rows_of(spooled(source, None), width) if grid is None else ChunkRows(source, grid, width)
