"""Run one operator from files to a .npy file, in memory that does not grow with them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain
from math import prod
from pathlib import Path
from typing import TypeAlias

import numpy as np

from gscli.base.arrays import Array, Arrays, DType, Indices, parse_dtype
from gscli.disk import mapped
from gscli.disk.atomic import open_atomic
from gscli.disk.system import temp_file_errors, write_errors
from gscli.files.formats.npy import iter_byte_blocks, npy_header
from gscli.kernel import turn_to_result_axes
from gscli.kernel.reductions import canonical_updates, prepare_updates
from gscli.layout import Layout
from gscli.layout.axes import Fit
from gscli.plan.plan import ValidatedPlan
from gscli.stream.gather import Rows, iter_gathered, open_rows
from gscli.stream.rowfile import FileRows, InMemoryRows
from gscli.stream.scatter import BLOCK, ExternalSort, apply_updates, update_records
from gscli.stream.writeback import write_parts

# Who is told how many bytes are done, and how many there are in all.
Progress: TypeAlias = Callable[[int, int], None] | None


class ProgressCounter:
    """Counts bytes that are done, never more than there are, and says so."""

    def __init__(self, report: Progress, total: int) -> None:
        self._report, self._total, self._done = report, total, 0

    def add(self, count: int) -> None:
        """So many more are done."""
        self._done = min(self._done + count, self._total)
        if self._report is not None:
            self._report(self._done, self._total)

    def consume(self, counts: Generator[int]) -> None:
        """Add numbers as they come; what gives them has ended afterwards, whatever happens."""
        with closing(counts):
            for count in counts:
                self.add(count)


# Bytes of a mapped input from which a result is streamed rather than made in memory.
MIN_STREAM_BYTES = 64 << 20


def is_worth_streaming(inputs: Arrays) -> bool:
    """Whether any input is a mapped file so large that the result should not be held in memory."""
    large = (array for array in inputs.values() if array.nbytes >= MIN_STREAM_BYTES)
    return any(mapped.find_file(array) is not None for array in large)


def run_to_file(plan: ValidatedPlan, path: str, *, progress: Progress = None) -> Array:
    """Write the result to the .npy file `path`, which appears complete or not at all.

    `progress` is called with the bytes of the result written so far and in all. Returns the new
    file, mapped. Raises GscliError alone.
    """
    mapped.release_pages(*plan.inputs.values())
    dtype, shape = output_dtype(plan), plan.layout.output_shape
    header, total = npy_header(dtype, shape), prod(shape) * dtype.itemsize
    folder = _folder_for_temporary_files(path)
    size = len(header) + total
    with temp_file_errors(folder):
        parts = chain([np.frombuffer(header, np.uint8)], iter_pieces(plan, dtype, folder))
        with open_atomic(path, size=size) as file:
            ProgressCounter(progress, total).consume(write_parts(file, parts, size))
            mapped.check_unchanged(*plan.inputs.values())
            if 0 in shape or not file.seekable():
                return np.empty(shape, dtype)
            with write_errors(file.name):  # mapped while the old content can still stay
                return np.memmap(file, dtype, "r", len(header), shape)


@contextmanager
def open_result(plan: ValidatedPlan) -> Iterator[Iterator[Array]]:
    """The result in pieces, in row-major order, each overwritten by the next one; no file is made.

    Temporary files are where Python puts them.
    """
    mapped.release_pages(*plan.inputs.values())
    with temp_file_errors(None):
        yield iter_pieces(plan, output_dtype(plan), None)


def _folder_for_temporary_files(path: str) -> str | None:
    """Beside the result, where there is room for it; never beside a device or a pipe.

    None for Python's choice. A name that no file can have is left to the writer to refuse.
    """
    with suppress(OSError, ValueError):
        target = Path(os.path.realpath(path))
        if (target.is_file() or not target.exists()) and target.parent.is_dir():
            return str(target.parent)
    return None


def output_dtype(plan: ValidatedPlan) -> DType:
    """The element type of the result."""
    data = plan.layout.data_name
    return parse_dtype(plan.layout.dtype) if data is None else plan.inputs[data].dtype


def iter_pieces(plan: ValidatedPlan, dtype: DType, folder: str | None) -> Iterator[Array]:
    """The result's cells in row-major order, some at a time; a piece is overwritten by the next.

    Temporary files lie in `folder`.
    """
    layout = plan.layout
    if 0 in layout.output_shape:
        return iter(())
    if layout.kind == "scatter":
        return _iter_scattered(plan, dtype, folder)
    source = open_data_rows(plan, dtype)
    if isinstance(source, FileRows | InMemoryRows):
        pieces = iter_gathered(plan, source, dtype)
    else:
        from gscli.stream.chunked.gather import iter_gathered_chunks

        pieces = iter_gathered_chunks(plan, source.chunks, source.grid, folder)
    if layout.form.result_axes == layout.addressing.result_axes:
        return pieces
    return _iter_transposed(layout, pieces, dtype, folder)


def _iter_transposed(
    layout: Layout, pieces: Iterator[Array], dtype: DType, folder: str | None
) -> Iterator[Array]:
    """The canonical result by way of a temporary file, with its axes in the operator's order."""
    with tempfile.TemporaryFile(dir=folder) as file:
        for piece in pieces:
            file.write(piece.reshape(-1).view(np.uint8).data)
        file.flush()
        full = np.memmap(file, dtype, "r")
    for block in iter_byte_blocks(turn_to_result_axes(layout, np.asarray(full))):
        yield np.frombuffer(block, np.uint8).view(dtype)
        mapped.release_pages(full)


def _iter_scattered(plan: ValidatedPlan, dtype: DType, folder: str | None) -> Iterator[Array]:
    layout, run = plan.layout, plan.layout.form.row_size
    rows, width = prod(layout.output_shape) // run, run * dtype.itemsize
    per_block = max(BLOCK // width, 1)
    source = open_data_rows(plan, dtype) if layout.data_name is not None else None
    buffer = np.empty((min(per_block, rows), run), dtype)
    sort = ExternalSort(make_update_reader(plan, dtype), run, per_block, folder)
    for part in sort.iter_blocks(update_records(plan), 0, rows):
        block = buffer[: part.last - part.first]
        if source is None:
            block[...] = layout.fill_value
        else:
            source.read(part.first, block.view(np.uint8).reshape(len(block), width))
        yield apply_updates(layout, block, part.updates) if part.has_updates else block


def open_data_rows(plan: ValidatedPlan, dtype: DType) -> Rows:
    """The data as rows of the form's run."""
    assert plan.layout.data_name is not None
    return open_rows(plan.inputs[plan.layout.data_name], plan.layout.form.row_size * dtype.itemsize)


def make_update_reader(plan: ValidatedPlan, dtype: DType) -> Callable[[Indices], Array]:
    """A function from places in the canonical order to updates, as (places, run), ready to use."""
    layout, run = plan.layout, plan.layout.form.row_size
    working = dtype if layout.accumulate_dtype is None else parse_dtype(layout.accumulate_dtype)
    written = layout.written_updates
    name, plain = written.name, written.fit in (Fit.EXACT, Fit.RESHAPE)
    if name is None or not plain or layout.form.result_axes != layout.addressing.result_axes:
        rows = canonical_updates(plan).reshape(-1, run)
        return lambda places: prepare_updates(layout, rows[places], working)
    array = plan.inputs[name]
    source = open_rows(array, run * array.itemsize)

    def updates(places: Indices) -> Array:
        block = np.empty((places.size, run), array.dtype)
        source.take(places, block.view(np.uint8).reshape(places.size, source.width))
        return prepare_updates(layout, block, working)

    return updates
