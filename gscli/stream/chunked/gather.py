"""Gather from chunks: each is read once, and its rows go to where entries want them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.files.stores.chunks import Chunks
from gscli.plan.plan import ValidatedPlan
from gscli.stream.chunked.chunk_rows import ChunkRows
from gscli.stream.chunked.grid import Grid, Piece
from gscli.stream.gather import PICKS, PIECE, gathered
from gscli.stream.scatter import FILES, Dealing, records_of, stable_argsort

LATER = 4 << 20
"""Bytes of rows that are on their way at a time."""


def gathered_by_chunk(
    plan: ValidatedPlan, source: Chunks, grid: Grid, folder: str | None
) -> Iterator[Array]:
    """Pieces of the canonical result, as (rows, run), one after the other.

    Rows of a result of many pieces are dealt out to temporary files, one for each range of the
    result, as they come; so each is written twice, and always forwards. (In one mapped file of
    the result nearly every row would touch a page that had to be found again: 2.4 times the CPU
    of the .npy stream.) Raises OSError where the files cannot be had.
    """
    run = plan.layout.form.run
    count, width = records_of(plan).count, run * source.dtype.itemsize
    if count <= min(PICKS, PIECE // max(width, 1)):
        yield from gathered(plan, ChunkRows(source, grid, width), source.dtype)
        return
    result = _Result(plan, source, grid, folder)
    yield from result.in_order(result.records(), 0, count)


def rows_by_chunk(
    plan: ValidatedPlan, source: Chunks, grid: Grid, folder: str | None
) -> Iterator[tuple[Indices, Piece, Array]]:
    """Places in the canonical result, a chunk, and what of its rows goes there, as (n, its run).

    Each chunk is read once at most. `folder`: for temporary files where entries are many, None for
    Python's choice.
    """
    width = plan.layout.form.run * source.dtype.itemsize
    chunk_rows = ChunkRows(source, grid, width, keep=False)
    dealing = Dealing(lambda places: places, 1, grid.capacity, folder)
    records = records_of(plan).renumbered(grid.numbered)
    for part in dealing.by_block(records, 0, grid.owners * grid.capacity, touched=True):
        for piece in grid.pieces(part.first // grid.capacity):
            step = max(LATER // max(piece.run * source.dtype.itemsize, 1), 1)
            for numbers, places in part.updates():
                for at in range(0, numbers.size, step):
                    here = slice(at, at + step)
                    yield places[here], piece, chunk_rows.of(piece, numbers[here])


@dataclass(frozen=True)
class _Result:
    """A result that is put in order by way of files of records: place, columns, cells."""

    plan: ValidatedPlan
    source: Chunks
    grid: Grid
    folder: str | None

    @cached_property
    def _columns(self) -> list[Piece]:
        """The chunks of any owner, of which only the columns are of interest."""
        return list(self.grid.pieces(0))

    @cached_property
    def _record(self) -> np.dtype[Any]:
        most = max(piece.run for piece in self._columns)
        cells = ("cells", self.source.dtype, (most,))
        return np.dtype([("place", np.int64), ("columns", np.int64), cells])

    def records(self) -> Iterator[Array]:
        """What `rows_by_chunk` finds, as records."""
        counts = self.grid.counts[self.grid.lead :]
        for places, piece, cells in rows_by_chunk(self.plan, self.source, self.grid, self.folder):
            found = np.empty(places.size, self._record)
            found["place"] = places
            at = piece.coordinates[self.grid.lead :]
            found["columns"] = np.ravel_multi_index(at, counts) if at else 0
            found["cells"][:, : piece.run] = cells
            yield found

    def in_order(self, records: Iterator[Array], first: int, last: int) -> Iterator[Array]:
        """The rows `first` … `last`-1 of the result, in pieces."""
        most = max(PIECE // self._record.itemsize, 1)
        if last - first <= most:
            yield self._piece(records, first, last)
            return
        pieces = -(-(last - first) // most)
        size = -(-pieces // FILES) * most
        firsts = range(first, last, size)
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile(dir=self.folder)) for _ in firsts]
            for part in records:
                numbers = (part["place"] - first) // size
                order = stable_argsort(numbers, len(files))
                ends = np.cumsum(np.bincount(numbers, minlength=len(files)))
                for file, own in zip(files, np.split(part[order], ends[:-1]), strict=True):
                    file.write(own.tobytes())
            for file, begin in zip(files, firsts, strict=True):
                yield from self.in_order(self._read(file), begin, min(begin + size, last))
                file.close()  # the system frees its space

    def _read(self, file: IO[bytes]) -> Iterator[Array]:
        file.seek(0)
        while part := file.read(max(LATER // self._record.itemsize, 1) * self._record.itemsize):
            yield np.frombuffer(part, self._record)

    def _piece(self, records: Iterator[Array], first: int, last: int) -> Array:
        layout = self.plan.layout
        rows = np.full((last - first, layout.form.run), layout.fill, self.source.dtype)
        for part in records:
            for number in np.unique(part["columns"]).tolist():
                own = part if len(self._columns) == 1 else part[part["columns"] == number]
                piece = self._columns[number]
                self.grid.put(rows, own["place"] - first, piece, own["cells"][:, : piece.run])
        return rows
