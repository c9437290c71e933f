"""Run one operator on data in chunks: to a Zarr store, or to an array in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from functools import partial
from math import prod

import numpy as np

from gscli.base.arrays import CHUNKED_LIMIT, Array, check_chunked
from gscli.disk import mapped
from gscli.disk.uncached import aligned
from gscli.files.stores.chunks import Chunks
from gscli.files.stores.folder import open_folder
from gscli.files.stores.stand_ins import chunks_of, spooled, stand_in
from gscli.files.stores.zarr_format import check_writable, created
from gscli.files.stores.zarr_place import Place, is_array_or_group, place_of
from gscli.files.stores.zarr_store import Store, open_store
from gscli.kernel import arranged, gather, scatter
from gscli.plan.plan import Plan, ValidatedPlan
from gscli.stream.chunked.gather import rows_by_chunk
from gscli.stream.chunked.grid import Coordinates, Grid
from gscli.stream.chunked.scatter import copy_untouched, scatter_by_chunk, twin
from gscli.stream.to_file import Report, output_dtype, pieces, temporary_files, updates_at
from gscli.stream.writeback import WriteBehind

WAITING = 2
"""Chunks that are being written while one is made."""

LARGEST = 16 << 20
"""Bytes of a chunk up to which others may wait; larger ones would take too much memory."""


def run_to_store(plan: ValidatedPlan, path: str, *, progress: Report | None = None) -> Array:
    """Write the result to the Zarr store `path`, which appears whole or not at all.

    A scatter keeps chunks, codecs and attributes of data's store. `progress` is called with bytes
    written so far and in all. Returns what stands for the new array. Raises GscliError alone.
    """
    mapped.release(*plan.inputs.values())
    place = place_of(path)
    check_writable(place)
    folder = os.path.dirname(os.path.realpath(place.path))
    with ExitStack() as stack, temporary_files(folder):
        hidden = stack.enter_context(
            open_folder(
                place.path,
                is_array_or_group,
                check=lambda: mapped.check_unchanged(*plan.inputs.values()),
            )
        )
        total = prod(plan.layout.output_shape) * output_dtype(plan).itemsize
        done = 0
        # Closed before the folder is removed: whoever writes behind has ended then.
        written = stack.enter_context(closing(_written(plan, hidden, folder)))
        for count in written:
            done += count
            if progress is not None:
                progress(min(done, total), total)
    opaque = output_dtype(plan)
    return stand_in(open_store(place, 1 << 62, opaque))


def run_in_memory(plan: ValidatedPlan, max_bytes: int | None = None) -> Array:
    """The result of a plan with data in chunks, as an array.

    A gather reads the chunks that it needs, each one once. A scatter reads all of data, which may
    have `max_bytes`. Raises GscliError alone.
    """
    layout = plan.layout
    data = plan.inputs[layout.data or ""]
    source = chunks_of(data)
    assert source is not None
    if layout.kind == "scatter":
        check_chunked(source.nbytes, source.name, max_bytes or CHUNKED_LIMIT)
        whole = source.whole().reshape(layout.data_shape)
        return scatter(plan, whole, base=whole)
    if layout.moves_nothing:
        return gather(plan, data)
    grid = grid_of(plan, source)
    with temporary_files(None):
        if grid is None:
            return gather(plan, spooled(source, None).reshape(layout.data_shape))
        result = np.full(layout.form.result, layout.fill, source.dtype)
        rows = result.reshape(-1, layout.form.run)
        for places, piece, cells in rows_by_chunk(plan, source, grid, None):
            grid.put(rows, places, piece, cells)
    return arranged(layout, result)


def grid_of(plan: Plan, source: Chunks) -> Grid | None:
    """How rows of a plan lie in the chunks of its data; None where they are no whole axes."""
    return Grid.of(source.shape, source.chunk, plan.layout.form.run)


def _written(plan: ValidatedPlan, hidden: str, folder: str) -> Generator[int]:
    """Write the store; yields bytes as they are done."""
    layout, dtype = plan.layout, output_dtype(plan)
    source = None if layout.data is None else chunks_of(plan.inputs[layout.data])
    store = source if isinstance(source, Store) else None
    grid = None if store is None else grid_of(plan, store)
    if layout.kind == "scatter" and store is not None and grid is not None:
        target = twin(store, hidden)
        if not layout.moves_nothing:
            updates = updates_at(plan, dtype)
            with _write_behind(target) as behind:
                write = partial(behind.submit, target.write)
                yield from scatter_by_chunk(plan, store, write, grid, updates, folder)
        with WriteBehind(target.name, WAITING) as behind:
            yield from copy_untouched(store, hidden, behind.submit)
        return
    target = created(Place(hidden), dtype, layout.output_shape, like=store)
    with ExitStack() as stack, _write_behind(target) as behind:
        write = partial(behind.submit, target.write)
        yield from in_order(pieces(plan, dtype, folder, stack), target, write)


def _write_behind(target: Store) -> WriteBehind:
    """For calls that hold a chunk each while they wait, for which a large one leaves no room."""
    return WriteBehind(target.name, 0 if target.chunk_bytes > LARGEST else WAITING)


def in_order(
    parts: Iterator[Array], target: Store, write: Callable[[Coordinates, Array], None]
) -> Iterator[int]:
    """Write cells that come in row-major order to an array whose chunks follow each other so."""
    counts = [-(-size // step) for size, step in zip(target.shape, target.chunk, strict=True)]
    places = np.ndindex(*counts)
    size = prod(target.chunk) * target.dtype.itemsize
    held, filled = aligned(size), 0
    at = next(places, None)
    for part in parts:
        content = part.reshape(-1).view(np.uint8)
        while content.size:
            assert at is not None
            wanted = prod(s.stop - s.start for s in target.box(at)) * target.dtype.itemsize
            count = min(wanted - filled, content.size)
            held[filled : filled + count] = content[:count]
            filled, content = filled + count, content[count:]
            if filled == wanted:
                write(at, held[:wanted].view(target.dtype))
                yield wanted
                at, held, filled = next(places, None), aligned(size), 0
