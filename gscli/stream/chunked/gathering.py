"""Gather from a store: each chunk is read once, and its rows go to where entries want them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np

from gscli.base.arrays import Array
from gscli.files import mapped
from gscli.files.chunks import Chunks
from gscli.files.system import reserve
from gscli.plan.plan import JudgedPlan
from gscli.stream.chunked.grid import Grid
from gscli.stream.chunked.rows import ChunkRows
from gscli.stream.reading import PICKS, PIECE, gathered
from gscli.stream.writing import Dealing, records_of

LATER = 4 << 20
"""Bytes of a finished result that are handed on at a time."""


def gathered_by_chunk(
    plan: JudgedPlan, source: Chunks, grid: Grid, folder: str | None, stack: ExitStack
) -> Iterator[Array]:
    """Pieces of the canonical result, as (rows, run), one after the other.

    A result of more than one piece is made in a temporary file of its size, in the order of the
    chunks. Raises OSError where the file cannot be had.
    """
    run, dtype = plan.layout.form.run, source.dtype
    count = records_of(plan).count
    width = run * dtype.itemsize
    if count <= min(PICKS, PIECE // max(width, 1)):
        yield from gathered(plan, ChunkRows(source, grid, width), dtype)
        return
    file = stack.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115
    reserve(file.fileno(), 0, count * width)
    rows = np.memmap(file, dtype, "r+", 0, (count, run))
    gather_by_chunk(plan, source, grid, rows, folder)
    for first in range(0, count, max(LATER // width, 1)):
        yield np.asarray(rows[first : first + max(LATER // width, 1)])
        mapped.release(rows)


def gather_by_chunk(
    plan: JudgedPlan, source: Chunks, grid: Grid, rows: Array, folder: str | None
) -> None:
    """Put the canonical result into `rows`, (count, run) zeros; each chunk is read once at most.

    `folder`: for temporary files where entries are many, None for Python's choice.
    """
    if plan.layout.fill and not plan.layout.refuses_rows:
        count = max(LATER // max(rows.strides[0], 1), 1)
        for first in range(0, len(rows), count):
            rows[first : first + count] = plan.layout.fill
            mapped.release(rows)
    dealing = Dealing(lambda places: places, 1, grid.capacity, folder)
    records = records_of(plan).renumbered(grid.numbered)
    for part in dealing.by_block(records, 0, grid.owners * grid.capacity, touched=True):
        for piece in grid.pieces(part.first // grid.capacity):
            block = source.read(piece.coordinates).reshape(-1, piece.run)
            for numbers, places in part.updates():
                found = block.take(grid.within(numbers, piece), axis=0, mode="wrap")
                grid.put(rows, places, piece, found)
                mapped.release(rows)
