"""Gather from chunks: each is read once, and its rows go to where entries want them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from gscli.base.arrays import Array, DType, Indices
from gscli.files.stores.chunks import ChunkedArray
from gscli.plan.plan import ValidatedPlan
from gscli.stream.chunked.grid import ChunkColumns, ChunkedRows, ChunkGrid
from gscli.stream.gather import MAX_PIECE_ROWS, PIECE_BYTES, iter_gathered
from gscli.stream.scatter import ExternalSort, Records, update_records

# Bytes of rows that are on their way at a time.
MAX_PENDING_BYTES = 4 << 20


def iter_gathered_chunks(
    plan: ValidatedPlan, source: ChunkedArray, grid: ChunkGrid, folder: str | None
) -> Iterator[Array]:
    """Pieces of the canonical result, as (rows, run), one after the other.

    Rows of a result of many pieces are dealt out to temporary files, one for each range of the
    result, as they come; so each is written twice, and always forwards. (In one mapped file of
    the result nearly every row would touch a page that had to be found again: 2.4 times the CPU
    of the .npy stream.) Raises OSError where the files cannot be had.
    """
    layout, dtype = plan.layout, source.dtype
    run, count = layout.form.row_size, update_records(plan).count
    width = run * dtype.itemsize
    if count <= min(MAX_PIECE_ROWS, PIECE_BYTES // max(width, 1)):
        yield from iter_gathered(plan, ChunkedRows(source, grid, width), dtype)
        return
    columns = list(grid.chunks_of_row_group(0))  # of any owner: only the columns are of interest
    cells = ("cells", dtype, (max(piece.row_size for piece in columns),))
    record = np.dtype([("place", np.int64), ("columns", np.int64), cells])
    most = max(PIECE_BYTES // record.itemsize, 1)
    rows_by_chunk = iter_rows_by_chunk(plan, source, grid, folder)
    records = Records(record, count, partial(_iter_records, rows_by_chunk, grid, record))
    ranges = records.iter_ranges("place", 0, count, unit=most, enough=-1, folder=folder)
    for first, last, part in ranges:
        rows = np.full((last - first, run), layout.fill_value, dtype)
        for table in part.iter_tables():
            for number in np.unique(table["columns"]).tolist():
                own = table if len(columns) == 1 else table[table["columns"] == number]
                piece = columns[number]
                values = own["cells"][:, : piece.row_size]
                grid.assign_columns(rows, own["place"] - first, piece, values)
        yield rows


def _iter_records(
    rows_by_chunk: Iterator[tuple[Indices, ChunkColumns, Array]], grid: ChunkGrid, record: DType
) -> Iterator[Array]:
    """Places, the number of the chunk's columns, and cells, as records."""
    counts = grid.chunk_counts[grid.row_axes :]
    for places, piece, cells in rows_by_chunk:
        records = np.empty(places.size, record)
        records["place"] = places
        at = piece.coordinates[grid.row_axes :]
        records["columns"] = np.ravel_multi_index(at, counts) if at else 0
        records["cells"][:, : piece.row_size] = cells
        yield records


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
