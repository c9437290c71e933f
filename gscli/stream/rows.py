"""An array as rows, wherever it lies: in memory, in a file, in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gscli.base.arrays import Array, is_lazy
from gscli.disk import mapped
from gscli.stream.rowfile import FileRows, InMemoryRows

if TYPE_CHECKING:
    from gscli.stream.chunked.chunk_rows import ChunkedRows

Rows: TypeAlias = "FileRows | InMemoryRows | ChunkedRows"
"""Data as rows, wherever they lie."""


def open_rows(array: Array, width: int) -> Rows:
    """An array as rows of `width` bytes: from its chunks, from its file, or from memory."""
    if is_lazy(array):
        from gscli.files.stores.stand_ins import spill_to_disk
        from gscli.stream.chunked.chunk_rows import ChunkedRows
        from gscli.stream.chunked.grid import ChunkGrid

        source = array.source
        grid = ChunkGrid.for_row_size(source.shape, source.chunk_shape, width // array.itemsize)
        if grid is not None:
            return ChunkedRows(source, grid, width)
        array = spill_to_disk(source, None)
    place = mapped.find_file(array)
    if place is None:
        return InMemoryRows(array, width)
    return FileRows(*place, width, array.nbytes // width)
