"""What the kernel does at a time: one step, of some entries, or of all where they are few."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from gscli.base.arrays import Flags, Indices
from gscli.base.records import Record
from gscli.kernel.addresses import Addresses, resolved
from gscli.plan.plan import JudgedPlan

Region: TypeAlias = tuple[Any, ...]
Lane: TypeAlias = tuple[int, ...]

FEW_ENTRIES = 1024
"""Entries up to which a call takes longer than its work."""


class Step(Record):
    """Addresses of rows within `base`, a range of data's rows, for one region of the result.

    `live` has the shape of the addresses, or is None where all entries are. `region` indexes the
    result's grid. Where there are several `parts`, `base` is that many equal ranges, each of which
    takes the same addresses, counted from its own beginning; the first axis of the region counts
    them.
    """

    base: slice
    where: Addresses
    live: Flags | None
    region: Region
    parts: int = 1

    @property
    def addresses(self) -> Indices:
        """Row numbers within `base`; raises IndexRefused where an index number is out of range."""
        return resolved(self.where)

    def joined(self) -> Step:
        """The same step as one part: with the addresses of all parts, counted from `base`."""
        addresses = self.addresses
        if self.parts == 1:
            return self._replace(where=addresses)
        shape = (self.parts, *addresses.shape)
        size = (self.base.stop - self.base.start) // self.parts
        starts = np.arange(self.parts).reshape(-1, *[1] * addresses.ndim) * size
        live = None if self.live is None else np.broadcast_to(self.live, shape)
        return self._replace(where=addresses + starts, live=live, parts=1)

    @property
    def live_addresses(self) -> Indices:
        """The addresses within `base` of the entries that are live, one after the other."""
        step = self.joined()
        return step.addresses.reshape(-1) if step.live is None else step.addresses[step.live]


def few_addresses(plan: JudgedPlan) -> tuple[Indices, Flags | None] | None:
    """The addresses of a call whose overhead counts for more than its work, all in one; or None."""
    form, count = plan.layout.form, plan.layout.entry_count
    if count > FEW_ENTRIES:
        return None
    if form.is_flat:
        return plan.rows(0, count, form.steps)
    if form.kind != "elements":
        return None
    coordinates, live = plan.coordinates(0, plan.raw(0, 0, count))
    _, _, rows, inner = form.data
    return coordinates * inner + _starts(form.result[1:], rows * inner), live


@lru_cache(64)
def _starts(grid: tuple[int, int, int], size: int) -> Indices:
    """For each cell of an (outer, rows, inner) grid the address of row 0 of its column."""
    outer, _, inner = grid
    starts = np.arange(outer)[:, None, None] * size + np.arange(inner)
    flat: Indices = np.broadcast_to(starts, grid).reshape(-1)
    flat.flags.writeable = False
    return flat
