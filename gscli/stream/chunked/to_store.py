"""Run one operator on data in chunks: to a Zarr store, to an array in memory, or as a commit.

A scatter into an Icechunk repository is one commit: readers see all of it or nothing.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager
from functools import partial
from math import prod
from typing import Any

import numpy as np

from gscli.base import CannotWrite, UsageError, check_rule
from gscli.base.arrays import MAX_CHUNKED_BYTES, Array, LazyArray, check_chunked_size, is_lazy
from gscli.base.words import format_count
from gscli.disk import mapped
from gscli.disk.interrupts import DeferredSignals, record_result
from gscli.disk.system import temp_file_errors
from gscli.files.content import import_extra
from gscli.files.stores.chunks import ChunkedArray
from gscli.files.stores.folder import open_folder
from gscli.files.stores.zarr_format import check_writable, create_zarr_array
from gscli.files.stores.zarr_place import (
    ZarrPath,
    is_array_or_group,
    is_repository,
    parse_location,
    zarr_write_errors,
)
from gscli.files.stores.zarr_store import ZarrArray, open_zarr_array, zarr_source
from gscli.kernel import gather, scatter, to_result_axes
from gscli.plan.plan import Plan, ValidatedPlan
from gscli.stream.chunked.gather import iter_rows_by_chunk
from gscli.stream.chunked.grid import ChunkColumns, ChunkGrid
from gscli.stream.chunked.scatter import copy_chunk, create_like, iter_untouched, scatter_by_chunk
from gscli.stream.patch import make_in_place_error
from gscli.stream.scatter import ExternalSort, Updates
from gscli.stream.to_file import (
    Progress,
    ProgressCounter,
    iter_pieces,
    make_update_reader,
    output_dtype,
)
from gscli.stream.writeback import WriteBehind, fill_buffers

# Chunks that are being written while one is made.
MAX_PENDING = 2

# Bytes of a chunk up to which others may wait; larger ones would take too much memory.
MAX_QUEUED_CHUNK_BYTES = 16 << 20


def run_to_store(plan: ValidatedPlan, path: str, *, progress: Progress = None) -> Array:
    """Write the result to the Zarr store `path`, which appears whole or not at all.

    A scatter keeps chunks, codecs and attributes of data's store. `progress` is called with bytes
    written so far and in all. Returns what stands for the new array. Raises GscliError alone.
    """
    mapped.release_pages(*plan.inputs.values())
    place = parse_location(path)
    folder = os.path.dirname(os.path.realpath(place.path))
    with temp_file_errors(folder), open_new_store(plan, place) as hidden:
        total = prod(plan.layout.output_shape) * output_dtype(plan).itemsize
        ProgressCounter(progress, total).consume(_write_result(plan, hidden, folder))
    return LazyArray.of(open_zarr_array(place, opaque=output_dtype(plan)))


def open_new_store(plan: Plan, place: ZarrPath) -> AbstractContextManager[str]:
    """The folder in which a store grows, as long as the inputs of a plan are as they were."""
    check_writable(place)
    check = partial(mapped.check_unchanged, *plan.inputs.values())
    return open_folder(place.path, is_array_or_group, check=check)


def run_in_memory(plan: ValidatedPlan, max_bytes: int | None = None) -> Array:
    """The result of a plan with data in chunks, as an array.

    A gather reads the chunks that it needs, each one once. A scatter reads all of data, which may
    have `max_bytes`. Raises GscliError alone.
    """
    layout = plan.layout
    data = plan.inputs[layout.data_name or ""]
    assert is_lazy(data)
    source: ChunkedArray = data.source
    if layout.kind == "scatter":
        check_chunked_size(source.nbytes, source.name, max_bytes or MAX_CHUNKED_BYTES)
        whole = source.read_all().reshape(layout.data_shape)
        return scatter(plan, whole, base=whole)
    if layout.is_noop:
        return gather(plan, data)
    grid = chunk_grid(plan, source)
    with temp_file_errors(None):
        if grid is None:
            return gather(plan, source.spill_to_disk().reshape(layout.data_shape))
        result = np.full(layout.form.result_dims, layout.fill_value, source.dtype)
        rows = result.reshape(-1, layout.form.row_size)
        for places, piece, cells in iter_rows_by_chunk(plan, source, grid, None):
            grid.assign_columns(rows, places, piece, cells)
    return to_result_axes(layout, result)


def chunk_grid(plan: Plan, source: ChunkedArray) -> ChunkGrid | None:
    """How rows of a plan lie in the chunks of its data.

    None where they are no whole axes, and where what is read is folded before it is written.
    """
    if plan.layout.fold is not None:
        return None
    return ChunkGrid.for_row_size(source.shape, source.chunk_shape, plan.layout.form.row_size)


def _write_result(plan: ValidatedPlan, hidden: str, folder: str) -> Generator[int]:
    """Yields bytes as they are done."""
    layout, dtype = plan.layout, output_dtype(plan)
    store = zarr_source(plan.inputs.get(layout.data_name or ""))
    grid = None if store is None else chunk_grid(plan, store)
    if layout.kind == "scatter" and store is not None and grid is not None:
        target = create_like(store, hidden)
        if not layout.is_noop:
            with _write_behind(target) as behind:
                write = partial(behind.start, target.write_chunk)
                touched = _iter_touched(plan, grid, folder)
                yield from scatter_by_chunk(layout, grid, store, touched, write)
        with WriteBehind(target.name, MAX_PENDING) as behind:
            for key in iter_untouched(store.stored_keys(), hidden):
                behind.start(copy_chunk, store, key, hidden)
                yield store.chunk_bytes
        return
    target = create_zarr_array(ZarrPath(hidden), dtype, layout.output_shape, like=store)
    with _write_behind(target) as behind:
        places = np.ndindex(*target.chunk_counts)
        sizes = (prod(target.chunk_sizes(at)) * dtype.itemsize for at in places)
        chunks = fill_buffers(iter_pieces(plan, dtype, folder), sizes)
        for at, cells in zip(np.ndindex(*target.chunk_counts), chunks, strict=False):
            behind.start(target.write_chunk, at, cells.view(dtype))
            yield cells.size


def _iter_touched(
    plan: ValidatedPlan, grid: ChunkGrid, folder: str | None
) -> Iterator[tuple[ChunkColumns, Updates]]:
    """Each chunk that a scatter changes, with its updates."""
    updates = make_update_reader(plan, output_dtype(plan))
    sort = ExternalSort(updates, plan.layout.form.row_size, grid.rows_per_chunk, folder)
    return grid.iter_touched_chunks(sort, plan)


def _write_behind(target: ZarrArray) -> WriteBehind:
    """For calls that hold a chunk each while they wait, for which a large one leaves no room."""
    large = target.chunk_bytes > MAX_QUEUED_CHUNK_BYTES
    return WriteBehind(target.name, 0 if large else MAX_PENDING)


def commit_scatter(
    plan: ValidatedPlan, store: ZarrArray, message: str | None = None, *, progress: Progress = None
) -> tuple[int, str]:
    """Write a scatter's updates into the repository where data lie, and commit them; how many
    chunks that changed, and the snapshot, "" where nothing changed.

    Whoever reads meanwhile sees the old version, which keeps its snapshot. Raises UsageError for
    other stores, CannotWrite where somebody else committed to the same chunks in the meantime.
    """
    place, layout = store.place, plan.layout
    if layout.kind != "scatter" or not is_repository(place.path):
        raise make_in_place_error(place.name, place.name if layout.kind == "scatter" else "")
    branch, session = _open_session(place)
    with zarr_write_errors(place.name):
        array = import_extra("zarr", "zarr").open_array(session.store, path=place.member, mode="r+")
    target = ZarrArray(array, place, 1 << 62, store.dtype)
    grid = chunk_grid(plan, target)
    if target.shape != store.shape or grid is None:
        raise CannotWrite(f"{place.name} was changed meanwhile", hint="run the command again")
    chunks, counter = 0, ProgressCounter(progress, target.nbytes)
    if not layout.is_noop:
        touched = _iter_touched(plan, grid, None)
        for count in scatter_by_chunk(layout, grid, target, touched, target.write_chunk):
            chunks += 1
            counter.add(count)
    if not session.has_uncommitted_changes:
        return 0, ""
    said = message or f"gscli scatter, {format_count(layout.entry_count, 'entry', 'entries')}"
    try:
        with DeferredSignals():
            snapshot = session.commit(said)
            record_result(place.name, "has a new commit")
    except import_extra("icechunk", "icechunk").ConflictError as error:
        problem = f"{place.name} was committed to by somebody else meanwhile"
        where = f"{branch} of {place.name}"
        details = ("nothing of this run was committed",)
        hint = "run the command again: it then starts from the new version"
        raise CannotWrite(problem, where=where, details=details, hint=hint) from error
    return chunks, snapshot


def _open_session(place: ZarrPath) -> tuple[str, Any]:
    """The branch that a place names, and icechunk's session that may write to it."""
    from gscli.files.stores.icechunk_store import BRANCH, open_repository

    repository = open_repository(place.path)
    branch = place.version or BRANCH
    branches = sorted(repository.list_branches())
    problem = f"{branch} is no branch, and only a branch can be committed to"
    check_rule(branch in branches, problem, place.name, kind=UsageError, valid=", ".join(branches))
    with zarr_write_errors(place.name):
        return branch, repository.writable_session(branch)
