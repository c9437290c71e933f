"""Run one operator on a Zarr store by the workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import prod
from typing import Any
from weakref import WeakSet

from gscli.base import UsageError
from gscli.base.arrays import Array
from gscli.disk import mapped
from gscli.files.stores.folder import open_folder
from gscli.files.stores.stand_ins import make_lazy_array, zarr_source
from gscli.files.stores.zarr_format import check_writable, choose_chunk_shape, create_zarr_array
from gscli.files.stores.zarr_place import ZarrPath, is_array_or_group, parse_location
from gscli.files.stores.zarr_store import ZarrArray, open_zarr_array
from gscli.kernel.walks import tile_plan
from gscli.plan.plan import Plan
from gscli.stream.chunked.grid import ChunkGrid
from gscli.stream.chunked.scatter import create_like
from gscli.stream.chunked.to_store import chunk_grid
from gscli.stream.cluster import tasks
from gscli.stream.cluster.connection import cancel_futures, check_workers, cluster_client
from gscli.stream.cluster.packed_plans import FileReference, pickle_plan, to_file_reference
from gscli.stream.cluster.tasks import Shuffle
from gscli.stream.scatter import SEQUENTIAL_TILE
from gscli.stream.to_file import ProgressCallback, output_dtype

ENTRIES = 1 << 17
"""Entries that a task judges or deals out."""

GROUP = 64 << 20
"""Bytes of chunks that one task owns."""

KEYS = 64
"""Untouched chunks that one task copies."""


def run_on_cluster(
    plan: Plan, path: str, address: str = "", *, progress: ProgressCallback | None = None,
    client: Any = None,
) -> Array:  # fmt: skip
    """Write the result to the Zarr store `path`, whole or not at all; the bits of one process.

    `address`: of a Dask scheduler, or "" for workers of this machine. Data must lie in a store. The
    workers judge the plan. Raises GscliError alone.
    """
    store = (
        None if plan.layout.data_name is None else zarr_source(plan.inputs[plan.layout.data_name])
    )
    grid = None if store is None else chunk_grid(plan, store)
    ordered = plan.layout.form.result_axes == plan.layout.addressing.result_axes
    if store is None or grid is None or not (plan.layout.kind == "scatter" or ordered):
        raise UsageError(
            "--engine dask needs data in a Zarr store, in rows that one chunk holds whole",
            where=plan.layout.data_name or "no data",
            hint="leave --engine out: the result is the same",
        )
    check_writable(parse_location(path))
    if client is not None:
        return _FilePatch(client, plan, store, grid, progress).execute(parse_location(path))
    with cluster_client(address) as own:
        return _FilePatch(own, plan, store, grid, progress).execute(parse_location(path))


class _FilePatch:
    """One run: the futures of its tasks, and who is told how far it is."""

    def __init__(
        self,
        client: Any,
        plan: Plan,
        store: ZarrArray,
        grid: ChunkGrid,
        progress: ProgressCallback | None,
    ) -> None:
        self.client, self.plan, self.store, self.progress = client, plan, store, progress
        row = plan.layout.form.row_size * store.dtype.itemsize
        self.shuffle = Shuffle(grid, max(GROUP // max(grid.rows_per_chunk * row, 1), 1))
        self._row = row
        self._futures = WeakSet[Any]()  # a future that nobody wants any more frees its result

    def execute(self, place: ZarrPath) -> Array:
        """Judge, then make the folder and fill it."""
        target = os.path.realpath(place.path)
        content = pickle_plan(self.plan)
        paths = [a.path for a in map(_file_reference, self.plan.inputs.values()) if a is not None]
        folder = os.path.dirname(target)
        own = [self.store.folder] if self.store.folder else [self.store.place.path]
        check_workers(self.client, [*paths, *own, folder])
        self._content = self.client.submit(bytes, content, pure=False)
        self._check_indices()
        with open_folder(
            place.path,
            is_array_or_group,
            check=lambda: mapped.check_unchanged(*self.plan.inputs.values()),
        ) as hidden:
            try:
                (self._scatter if self.plan.layout.kind == "scatter" else self._gather)(hidden)
            except BaseException:
                cancel_futures(self.client, self._futures)
                raise
            _remove_partial(hidden)
        return make_lazy_array(open_zarr_array(place, 1 << 62, self.store.dtype))

    def _check_indices(self) -> None:
        count = self.plan.layout.entry_count
        spans = [(at, min(at + ENTRIES, count)) for at in range(0, count, ENTRIES)]
        flags = [self._submit(tasks.is_range_out_of_bounds, self._content, *span) for span in spans]
        if any(self.client.gather(flags)):
            self.plan.check_indices()  # says which; the client sees the same files

    def _shuffle_entries(self) -> list[list[Any]]:
        """For each group its shares, one of each task, in entry order."""
        lanes = len(
            tile_plan(self.plan.assume_validated(), SEQUENTIAL_TILE, sequential=True).partitions
        )
        step = max(ENTRIES // SEQUENTIAL_TILE, 1)
        spans = [slice(at, at + step) for at in range(0, lanes, step)]
        if self.plan.layout.is_noop:
            spans = []
        buckets = [
            self._submit(tasks.split_entries, self._content, span, self.shuffle) for span in spans
        ]
        return self._transpose_buckets(buckets, self.shuffle.bucket_count)

    def _transpose_buckets(self, parts: Sequence[Any], groups: int) -> list[list[Any]]:
        return [
            [self._submit(tasks.select_bucket, d, group) for d in parts] for group in range(groups)
        ]

    def _scatter(self, hidden: str) -> None:
        target = create_like(self.store, hidden)
        patched = [
            self._submit(
                tasks.scatter_chunks, self._content, shares, self.shuffle, self.store, target
            )
            for shares in self._shuffle_entries()
            if shares
        ]
        self._wait_for(patched, self.store.nbytes)
        keys = [key for key in self.store.stored_keys() if not _has_chunk(hidden, key)]
        copied = [
            self._submit(tasks.copy_chunks, self.store, hidden, keys[at : at + KEYS])
            for at in range(0, len(keys), KEYS)
        ]
        self._wait_for(copied, self.store.nbytes)

    def _gather(self, hidden: str) -> None:
        layout, dtype = self.plan.layout, output_dtype(self.plan.assume_validated())
        sizes = choose_chunk_shape(None, dtype, layout.output_shape)
        whole = ChunkGrid.for_row_size(layout.output_shape, sizes, layout.form.row_size)
        assert whole is not None
        sizes = sizes[: whole.row_axes] + tuple(
            max(n, 1) for n in layout.output_shape[whole.row_axes :]
        )
        target = create_zarr_array(
            ZarrPath(hidden), dtype, layout.output_shape, sizes, like=self.store
        )
        if 0 in layout.output_shape:
            return
        grid = whole._replace(chunk=sizes)
        onward = Shuffle(grid, max(GROUP // max(grid.rows_per_chunk * self._row, 1), 1))
        fetched = [
            self._submit(tasks.gather_rows, self._content, shares, self.shuffle, self.store, onward)
            for shares in self._shuffle_entries()
            if shares
        ]
        placed = [
            self._submit(tasks.write_result_chunks, self._content, shares, group, onward, target)
            for group, shares in enumerate(self._transpose_buckets(fetched, onward.bucket_count))
        ]
        del fetched
        self._wait_for(placed, prod(layout.output_shape) * dtype.itemsize)

    def _submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        future = self.client.submit(task, *arguments, pure=False)
        self._futures.add(future)
        return future

    def _wait_for(self, futures: Sequence[Any], total: int) -> None:
        """Until all are done; the first failure is raised."""
        done = 0
        from distributed import as_completed

        finished: Any = as_completed
        for future in finished(futures, loop=self.client.loop):
            done += future.result()
            if self.progress is not None:
                self.progress(min(done, total), total)


def _file_reference(array: Array) -> FileReference | None:
    reference = to_file_reference(array)
    return reference if isinstance(reference, FileReference) else None


def _has_chunk(folder: str, key: str) -> bool:
    return os.path.lexists(os.path.join(folder, key))


def _remove_partial(folder: str) -> None:
    """What a worker that was killed has left of a chunk; another one wrote it since."""
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".partial"):
                os.remove(os.path.join(path, name))
