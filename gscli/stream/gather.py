"""Rows wherever they lie, and gather from them: pieces in the order in which they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gscli.base.arrays import Array, DType, is_lazy
from gscli.disk import mapped
from gscli.kernel.tiles import Tiling
from gscli.plan.plan import ValidatedPlan
from gscli.stream.rowfile import FileRows, InMemoryRows

if TYPE_CHECKING:
    from gscli.stream.chunked.grid import ChunkedRows

# Data as rows, wherever they lie.
Rows: TypeAlias = "FileRows | InMemoryRows | ChunkedRows"

# Bytes of result that are gathered at a time: the file is passed over once for each piece.
PIECE_BYTES = 36 << 20

# Rows gathered at a time at most: sorting them takes about 40 bytes for each.
MAX_PIECE_ROWS = 1 << 20


def iter_gathered(plan: ValidatedPlan, source: Rows, dtype: DType) -> Iterator[Array]:
    """Pieces of the canonical result, as (rows, run), one after the other.

    `source` has the data as rows of the form's run. A piece is overwritten by the next one.
    """
    run = plan.layout.form.row_size
    most = max(min(PIECE_BYTES // source.width, MAX_PIECE_ROWS), 1)
    buffer = np.empty((0, run), dtype)
    tiling = Tiling(plan, most, sequential=True)
    for step in tiling.iter_tiles(tiling.partitions):
        rows, live = step.flat_addresses()
        if len(buffer) < rows.size:
            buffer = np.empty((rows.size, run), dtype)
        piece = buffer[: rows.size]
        target = piece.view(np.uint8).reshape(rows.size, source.width)
        if live is None:
            source.take(rows, target)
        else:
            chosen = np.empty((int(live.sum()), source.width), np.uint8)
            source.take(rows[live], chosen)
            target[live] = chosen
            piece[~live] = plan.layout.fill_value
        yield piece
        mapped.release_pages(*plan.inputs.values())


def open_rows(array: Array, width: int) -> Rows:
    """An array as rows of `width` bytes: from its chunks, from its file, or from memory."""
    if is_lazy(array):
        from gscli.stream.chunked.grid import ChunkedRows, ChunkGrid

        source = array.source
        grid = ChunkGrid.for_row_size(source.shape, source.chunk_shape, width // array.itemsize)
        if grid is not None:
            return ChunkedRows(source, grid, width)
        array = source.spill_to_disk()
    place = mapped.find_file(array)
    if place is None:
        return InMemoryRows(array, width)
    return FileRows(*place, width, array.nbytes // width)
