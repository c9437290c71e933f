"""Run one operator on a Zarr store by the workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from math import prod
from operator import getitem
from pathlib import Path
from typing import Any
from weakref import WeakSet

from gscli.base import UsageError
from gscli.base.arrays import Array, LazyArray
from gscli.files.stores.zarr_format import check_writable, choose_chunk_shape, create_zarr_array
from gscli.files.stores.zarr_place import ZarrPath, parse_location
from gscli.files.stores.zarr_store import ZarrArray, open_zarr_array, zarr_source
from gscli.kernel.tiles import Tiling
from gscli.plan.plan import Plan
from gscli.stream.chunked.grid import ChunkGrid
from gscli.stream.chunked.scatter import create_like, iter_untouched
from gscli.stream.chunked.to_store import chunk_grid, open_new_store
from gscli.stream.cluster import tasks
from gscli.stream.cluster.connection import cancel_futures, check_workers, cluster_client
from gscli.stream.cluster.tasks import FileReference, Shuffle, pickle_plan, to_file_reference
from gscli.stream.scatter import SEQUENTIAL_TILE
from gscli.stream.to_file import Progress, ProgressCounter, output_dtype

# Entries that a task judges or deals out.
ENTRIES = 1 << 17

# Bytes of chunks that one task owns.
GROUP = 64 << 20

# Untouched chunks that one task copies.
KEYS = 64


def run_on_cluster(
    plan: Plan, path: str, address: str = "", *, progress: Progress = None, client: Any = None
) -> Array:
    """Write the result to the Zarr store `path`, whole or not at all; the bits of one process.

    `address`: of a Dask scheduler, or "" for workers of this machine. Data must lie in a store. The
    workers judge the plan. Raises GscliError alone.
    """
    store = zarr_source(plan.inputs.get(plan.layout.data_name or ""))
    grid = None if store is None else chunk_grid(plan, store)
    ordered = plan.layout.form.result_axes == plan.layout.addressing.result_axes
    if store is None or grid is None or not (plan.layout.kind == "scatter" or ordered):
        problem = "--engine dask needs data in a Zarr store, in rows that one chunk holds whole"
        where = plan.layout.data_name or "no data"
        raise UsageError(problem, where=where, hint="leave --engine out: the result is the same")
    place = parse_location(path)
    check_writable(place)
    with cluster_client(address) if client is None else nullcontext(client) as own:
        return _ClusterRun(own, plan, store, grid, progress).execute(place)


class _ClusterRun:
    """One run: the futures of its tasks, and who is told how far it is."""

    def __init__(
        self, client: Any, plan: Plan, store: ZarrArray, grid: ChunkGrid, progress: Progress
    ) -> None:
        self.client, self.plan, self.store, self.progress = client, plan, store, progress
        self.shuffle = self._make_shuffle(grid)
        self._futures = WeakSet[Any]()  # a future that nobody wants any more frees its result

    def _make_shuffle(self, grid: ChunkGrid) -> Shuffle:
        row = self.plan.layout.form.row_size * self.store.dtype.itemsize
        return Shuffle(grid, max(GROUP // max(grid.rows_per_chunk * row, 1), 1))

    def execute(self, place: ZarrPath) -> Array:
        """Judge, then make the folder and fill it."""
        target = os.path.realpath(place.path)
        inputs = map(to_file_reference, self.plan.inputs.values())
        paths = [item.path for item in inputs if isinstance(item, FileReference)]
        own = self.store.folder or self.store.place.path
        check_workers(self.client, [*paths, own, os.path.dirname(target)])
        self._content = self.client.submit(bytes, pickle_plan(self.plan), pure=False)
        self._check_indices()
        with open_new_store(self.plan, place) as hidden:
            try:
                (self._scatter if self.plan.layout.kind == "scatter" else self._gather)(hidden)
            except BaseException:
                cancel_futures(self.client, self._futures)
                raise
            _remove_partial(hidden)
        return LazyArray.of(open_zarr_array(place, opaque=self.store.dtype))

    def _check_indices(self) -> None:
        count = self.plan.layout.entry_count
        spans = [(at, min(at + ENTRIES, count)) for at in range(0, count, ENTRIES)]
        flags = [self._submit(tasks.is_range_out_of_bounds, self._content, *span) for span in spans]
        if any(self.client.gather(flags)):
            self.plan.check_indices()  # says which; the client sees the same files

    def _shuffle_entries(self) -> list[list[Any]]:
        """For each group its shares, one of each task, in entry order."""
        route = Tiling(self.plan.assume_validated(), SEQUENTIAL_TILE, sequential=True)
        lanes = 0 if self.plan.layout.is_noop else len(route.partitions)
        step = max(ENTRIES // SEQUENTIAL_TILE, 1)
        buckets = [
            self._submit(tasks.split_entries, self._content, slice(at, at + step), self.shuffle)
            for at in range(0, lanes, step)
        ]
        return self._transpose_buckets(buckets, self.shuffle)

    def _transpose_buckets(self, parts: Sequence[Any], how: Shuffle) -> list[list[Any]]:
        groups = range(how.bucket_count)
        return [[self._submit(getitem, shares, group) for shares in parts] for group in groups]

    def _submit_each(self, task: Callable[..., Any], target: ZarrArray | Shuffle) -> list[Any]:
        """The futures of a task for each group that has shares."""
        how = self._content, self.shuffle, self.store, target
        return [self._submit(task, shares, *how) for shares in self._shuffle_entries() if shares]

    def _scatter(self, hidden: str) -> None:
        patched = self._submit_each(tasks.scatter_chunks, create_like(self.store, hidden))
        self._wait_for(patched, self.store.nbytes)
        keys = list(iter_untouched(self.store.stored_keys(), hidden))
        copied = [
            self._submit(tasks.copy_chunks, self.store, hidden, keys[at : at + KEYS])
            for at in range(0, len(keys), KEYS)
        ]
        self._wait_for(copied, self.store.nbytes)

    def _gather(self, hidden: str) -> None:
        layout, dtype = self.plan.layout, output_dtype(self.plan.assume_validated())
        shape = layout.output_shape
        sizes = choose_chunk_shape(None, dtype, shape)
        whole = ChunkGrid.for_row_size(shape, sizes, layout.form.row_size)
        assert whole is not None
        sizes = sizes[: whole.row_axes] + tuple(max(size, 1) for size in shape[whole.row_axes :])
        target = create_zarr_array(ZarrPath(hidden), dtype, shape, sizes, like=self.store)
        if 0 in shape:
            return
        onward = self._make_shuffle(whole._replace(chunk=sizes))
        fetched = self._submit_each(tasks.gather_rows, onward)
        placed = [
            self._submit(tasks.write_result_chunks, shares, self._content, group, onward, target)
            for group, shares in enumerate(self._transpose_buckets(fetched, onward))
        ]
        del fetched
        self._wait_for(placed, prod(shape) * dtype.itemsize)

    def _submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        future = self.client.submit(task, *arguments, pure=False)
        self._futures.add(future)
        return future

    def _wait_for(self, futures: Sequence[Any], total: int) -> None:
        """Until all are done; the first failure is raised."""
        counter = ProgressCounter(self.progress, total)
        from distributed import as_completed

        finished: Any = as_completed
        for future in finished(futures, loop=self.client.loop):
            counter.add(future.result())


def _remove_partial(folder: str) -> None:
    """What a worker that was killed has left of a chunk; another one wrote it since."""
    for path in Path(folder).rglob("*.partial"):
        path.unlink()
