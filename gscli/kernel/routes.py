"""Which way a plan's addresses are computed: the walk for its form, or none where few suffice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from gscli.base.arrays import Flags, Indices
from gscli.kernel.addresses import waits
from gscli.kernel.walks import CellWalk, ElementWalk, SharedWalk, SliceWalk, Step, Walk
from gscli.layout.forms import cells
from gscli.plan.plan import JudgedPlan

FEW_ENTRIES = 1024
"""Entries up to which a call takes longer than its work."""

LARGER = 4
"""How many more entries a step may have where nobody stores their addresses."""


def walk(plan: JudgedPlan, block: int, *, ordered: bool) -> Walk:
    """The walk for a plan's form, about `block` addresses at a time.

    `ordered`: every cell must meet its entries in turn, for it is written.
    """
    form = plan.layout.form
    if form.run == 1 and waits(plan):
        block *= LARGER
    if form.kind == "cells":
        return CellWalk(plan, form, block, ordered=ordered)
    if form.kind == "elements":
        return ElementWalk(plan, form, block, ordered=ordered)
    if not form.shares_entries:
        return SliceWalk(plan, form, block, ordered=ordered)
    return SharedWalk(plan, form, block)


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


def in_sequence(plan: JudgedPlan, block: int) -> Iterator[Step]:
    """All steps, their regions one after the other in the row-major order of the result's grid.

    That is entry order too for every cell. What reads and writes files goes this way.
    """
    form = plan.layout.form
    route: Walk
    if form.kind == "cells":
        route = CellWalk(plan, form, block, ordered=False)
    elif form.kind == "elements":
        route = ElementWalk(plan, form, block, ordered=False, in_sequence=True)
    elif form.shares_entries:
        route = SharedWalk(plan, form, block, together=block // max(form.result[2], 1))
    else:
        route = SliceWalk(plan, form, block, ordered=False)
    for lane in route.lanes:
        for step in route.steps(lane):
            yield step.joined()


def addresses_of(plan: JudgedPlan, first: int, last: int) -> tuple[Indices, Flags | None]:
    """Flat addresses of the cells of some entries, (entries, window), and which of them exist.

    What traces replay; cells that do not exist have an address of no meaning.
    """
    addresses, inside, run = window_rows(plan, first, last)
    flat = (addresses[:, :, None] * run + np.arange(run)).reshape(last - first, -1)
    return flat, None if inside is None else np.repeat(inside, run, axis=1)


def window_rows(plan: JudgedPlan, first: int, last: int) -> tuple[Indices, Flags | None, int]:
    """Row numbers of the windows of some entries, (entries, rows of a window), and which exist.

    The last number is how many cells each of these rows has.
    """
    form = cells(plan.layout.addressing)
    walk = CellWalk(plan, form, last - first, ordered=True)
    return *walk.addresses(first, last), form.run
