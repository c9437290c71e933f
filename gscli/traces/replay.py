"""Replaying a scatter entry by entry: what each touched cell held before and after each entry.

Works on a compact copy of the touched cells only, with the kernel's own reduction table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.base.records import Record
from gscli.files.arrays import Array, Indices, dtype_named
from gscli.kernel.reductions import REDUCTIONS, comparable, converted, updates_of
from gscli.kernel.walks import addresses_of
from gscli.plan.plan import JudgedPlan

REPLAYED_CELLS = 1 << 20
"""Cells replayed at most; entries beyond have no change."""


class Change(Record):
    """What one entry did: values before, the updates as applied, values after (window, flat).

    `again`: number of the last entry before that wrote one of the cells, or None. `fresh`: the
    reduction started from its identity here (include_self off). `terms`: values in each cell so
    far, for mean, whose `new` is the running sum.
    """

    old: Array
    update: Array
    new: Array
    again: int | None
    fresh: bool
    terms: int


class Replay:
    """The first `count` entries of a scatter, replayed in order on first use."""

    def __init__(self, plan: JudgedPlan, count: int) -> None:
        window = max(plan.layout.window_size, 1)
        self._plan = plan
        self._count = min(count, REPLAYED_CELLS // window)
        self._changes: dict[int, Change] | None = None

    def change(self, number: int) -> Change | None:
        """What entry `number` did, or None beyond the replayed entries."""
        if self._changes is None:
            self._changes = self._replayed() if self._count else {}
        return self._changes.get(number)

    def _replayed(self) -> dict[int, Change]:
        layout = self._plan.layout
        addresses, inside = addresses_of(self._plan, 0, self._count)
        if inside is not None:
            addresses = np.where(inside, addresses, 0)  # skipped cells have no address of meaning
        cells, compact = np.unique(addresses, return_inverse=True)
        compact = compact.reshape(addresses.shape)
        values, updates = self._start(cells), self._updates()
        writers = np.full(cells.shape, -1, np.int64)
        terms = np.full(cells.shape, int(layout.include_self), np.int64)
        changes: dict[int, Change] = {}
        for number in range(self._count):
            keep = slice(None) if inside is None else inside[number]
            where, update = compact[number][keep], updates[number][keep]
            if where.size == 0:
                continue
            fresh = not layout.include_self and bool((terms[where] == 0).any())
            if fresh:
                unset = where[terms[where] == 0]
                identity = REDUCTIONS[layout.reduction].identity(values.dtype)
                values[unset] = np.asarray(identity).astype(values.dtype)
            met = values[where]
            combined = self._combined(met, update)
            values[where] = combined
            old, new = self._meeting(cells[where], met), self._meeting(cells[where], combined)
            terms[where] += 1
            earlier = writers[where]
            again = int(earlier.max()) if (earlier >= 0).any() else None
            writers[where] = number
            changes[number] = Change(old, update, new, again, fresh, int(terms[where].max()))
        return changes

    def _start(self, cells: Indices) -> Array:
        layout = self._plan.layout
        rule = REDUCTIONS.get(layout.reduction)
        if rule is not None and rule.meet is not None:
            return np.ones(cells.shape, self._working_dtype())
        if layout.data is None:
            return np.full(cells.shape, layout.fill, self._working_dtype())
        return self._data(cells).astype(self._working_dtype())

    def _data(self, cells: Indices) -> Array:
        assert self._plan.layout.data is not None
        found: Array = self._plan.inputs[self._plan.layout.data].reshape(-1)[cells]
        return found

    def _meeting(self, cells: Indices, values: Array) -> Array:
        """What the cells hold: the values, or what these make of data where they meet it last."""
        rule = REDUCTIONS.get(self._plan.layout.reduction)
        if rule is None or rule.meet is None:
            return values
        data = self._data(cells)
        with np.errstate(all="ignore"):
            return rule.meet(data, converted(values, data.dtype))

    def _working_dtype(self) -> np.dtype[Any]:
        layout = self._plan.layout
        if layout.dtype == "str":
            return np.dtype(object)
        return dtype_named(layout.accumulate or layout.dtype)

    def _updates(self) -> Array:
        rows = updates_of(self._plan, 0, self._count)
        updates = self._plan.layout.updates
        if updates is not None and not updates.cast:
            return rows
        return rows.astype(self._working_dtype(), copy=False)

    def _combined(self, old: Array, update: Array) -> Array:
        reduction = self._plan.layout.reduction
        if reduction == "none":
            return update
        rule = REDUCTIONS[reduction]
        ufunc = rule.for_types(old.dtype, update.dtype)
        with np.errstate(all="ignore"):
            taken = comparable(self._plan.layout, update)
            combined: Array = np.asarray(ufunc(old, taken)).astype(old.dtype, copy=False)
        return combined
