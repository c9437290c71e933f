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
from gscli.files.stores.stand_ins import stand_in, store_of
from gscli.files.stores.zarr_format import check_writable, chunk_sizes, created
from gscli.files.stores.zarr_place import Place, is_array_or_group, place_of
from gscli.files.stores.zarr_store import Store, open_store
from gscli.kernel.walks import walk
from gscli.plan.plan import Plan
from gscli.stream.chunked.grid import Grid
from gscli.stream.chunked.scatter import twin
from gscli.stream.chunked.to_store import grid_of
from gscli.stream.cluster import tasks
from gscli.stream.cluster.connection import check_workers, cluster_client, let_go
from gscli.stream.cluster.packed_plans import InFile, named, packed
from gscli.stream.cluster.tasks import Deal
from gscli.stream.scatter import LANE
from gscli.stream.to_file import Report, output_dtype

ENTRIES = 1 << 17
"""Entries that a task judges or deals out."""

GROUP = 64 << 20
"""Bytes of chunks that one task owns."""

KEYS = 64
"""Untouched chunks that one task copies."""


def run_on_cluster(
    plan: Plan, path: str, address: str = "", *, progress: Report | None = None,
    client: Any = None,
) -> Array:  # fmt: skip
    """Write the result to the Zarr store `path`, whole or not at all; the bits of one process.

    `address`: of a Dask scheduler, or "" for workers of this machine. Data must lie in a store. The
    workers judge the plan. Raises GscliError alone.
    """
    store = None if plan.layout.data is None else store_of(plan.inputs[plan.layout.data])
    grid = None if store is None else grid_of(plan, store)
    ordered = plan.layout.form.order == plan.layout.addressing.order
    if store is None or grid is None or not (plan.layout.kind == "scatter" or ordered):
        raise UsageError(
            "--engine dask needs data in a Zarr store, in rows that one chunk holds whole",
            where=plan.layout.data or "no data",
            hint="leave --engine out: the result is the same",
        )
    check_writable(place_of(path))
    if client is not None:
        return _Job(client, plan, store, grid, progress).written(place_of(path))
    with cluster_client(address) as own:
        return _Job(own, plan, store, grid, progress).written(place_of(path))


class _Job:
    """One run: the futures of its tasks, and who is told how far it is."""

    def __init__(
        self, client: Any, plan: Plan, store: Store, grid: Grid, progress: Report | None
    ) -> None:
        self.client, self.plan, self.store, self.progress = client, plan, store, progress
        row = plan.layout.form.run * store.dtype.itemsize
        self.how = Deal(grid, max(GROUP // max(grid.capacity * row, 1), 1))
        self._row = row
        self._futures = WeakSet[Any]()  # a future that nobody wants any more frees its result

    def written(self, place: Place) -> Array:
        """Judge, then make the folder and fill it."""
        target = os.path.realpath(place.path)
        content = packed(self.plan)
        paths = [a.path for a in map(_file, self.plan.inputs.values()) if a is not None]
        folder = os.path.dirname(target)
        own = [self.store.folder] if self.store.folder else [self.store.place.path]
        check_workers(self.client, [*paths, *own, folder])
        self._content = self.client.submit(bytes, content, pure=False)
        self._judge()
        with open_folder(
            place.path,
            is_array_or_group,
            check=lambda: mapped.check_unchanged(*self.plan.inputs.values()),
        ) as hidden:
            try:
                (self._scatter if self.plan.layout.kind == "scatter" else self._gather)(hidden)
            except BaseException:
                let_go(self.client, self._futures)
                raise
            _remove_partial(hidden)
        return stand_in(open_store(place, 1 << 62, self.store.dtype))

    def _judge(self) -> None:
        count = self.plan.layout.entry_count
        spans = [(at, min(at + ENTRIES, count)) for at in range(0, count, ENTRIES)]
        asked = [self._submit(tasks.judge, self._content, *span) for span in spans]
        if any(self.client.gather(asked)):
            self.plan.check_indices()  # says which; the client sees the same files

    def _dealt(self) -> list[list[Any]]:
        """For each group its shares, one of each task, in entry order."""
        lanes = len(walk(self.plan.assume_validated(), LANE, in_sequence=True).lanes)
        step = max(ENTRIES // LANE, 1)
        spans = [slice(at, at + step) for at in range(0, lanes, step)]
        if self.plan.layout.moves_nothing:
            spans = []
        dealt = [self._submit(tasks.deal, self._content, span, self.how) for span in spans]
        return self._picked(dealt, self.how.groups)

    def _picked(self, dealt: Sequence[Any], groups: int) -> list[list[Any]]:
        return [[self._submit(tasks.pick, d, group) for d in dealt] for group in range(groups)]

    def _scatter(self, hidden: str) -> None:
        target = twin(self.store, hidden)
        patched = [
            self._submit(tasks.patch, self._content, shares, self.how, self.store, target)
            for shares in self._dealt()
            if shares
        ]
        self._wait(patched, self.store.nbytes)
        keys = [key for key in self.store.keys() if not _is_there(hidden, key)]  # noqa: SIM118
        copied = [
            self._submit(tasks.copy, self.store, hidden, keys[at : at + KEYS])
            for at in range(0, len(keys), KEYS)
        ]
        self._wait(copied, self.store.nbytes)

    def _gather(self, hidden: str) -> None:
        layout, dtype = self.plan.layout, output_dtype(self.plan.assume_validated())
        sizes = chunk_sizes(None, dtype, layout.output_shape)
        whole = Grid.of(layout.output_shape, sizes, layout.form.run)
        assert whole is not None
        sizes = sizes[: whole.lead] + tuple(max(n, 1) for n in layout.output_shape[whole.lead :])
        target = created(Place(hidden), dtype, layout.output_shape, sizes, like=self.store)
        if 0 in layout.output_shape:
            return
        grid = whole._replace(chunk=sizes)
        onward = Deal(grid, max(GROUP // max(grid.capacity * self._row, 1), 1))
        fetched = [
            self._submit(tasks.fetch, self._content, shares, self.how, self.store, onward)
            for shares in self._dealt()
            if shares
        ]
        placed = [
            self._submit(tasks.place, self._content, shares, group, onward, target)
            for group, shares in enumerate(self._picked(fetched, onward.groups))
        ]
        del fetched
        self._wait(placed, prod(layout.output_shape) * dtype.itemsize)

    def _submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        future = self.client.submit(task, *arguments, pure=False)
        self._futures.add(future)
        return future

    def _wait(self, futures: Sequence[Any], total: int) -> None:
        """Until all are done; the first failure is raised."""
        done = 0
        from distributed import as_completed

        finished: Any = as_completed
        for future in finished(futures, loop=self.client.loop):
            done += future.result()
            if self.progress is not None:
                self.progress(min(done, total), total)


def _file(array: Array) -> InFile | None:
    found = named(array)
    return found if isinstance(found, InFile) else None


def _is_there(folder: str, key: str) -> bool:
    return os.path.lexists(os.path.join(folder, key))


def _remove_partial(folder: str) -> None:
    """What a worker that was killed has left of a chunk; another one wrote it since."""
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".partial"):
                os.remove(os.path.join(path, name))
