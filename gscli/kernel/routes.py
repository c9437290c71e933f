"""Which way a plan's addresses are computed: the walk for its form, or none where few suffice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gscli.base.arrays import Flags, Indices
from gscli.kernel.addresses import waits
from gscli.kernel.steps import Step
from gscli.kernel.walks import CellWalk, ElementWalk, SharedWalk, SliceWalk, Walk
from gscli.layout.forms import cells
from gscli.plan.plan import JudgedPlan

LARGER, LARGEST = 4, 64
"""How many more entries a step may have where nobody stores their addresses, and where it is all
that its thread does."""

NEAR, SEVERAL = 1 << 19, 1 << 22
"""Cells of a lane of outer positions that share their entries: copied and soon written, or read."""


def walk(plan: JudgedPlan, block: int, *, ordered: bool) -> Walk:
    """The walk for a plan's form, about `block` addresses at a time.

    `ordered`: every cell must meet its entries in turn, for it is written.
    """
    form = plan.layout.form
    if form.run == 1 and waits(plan):
        block *= LARGEST if ordered and form.is_flat else LARGER
    if form.kind == "cells":
        return CellWalk(plan, form, block, ordered=ordered)
    if form.kind == "elements":
        return ElementWalk(plan, form, block, ordered=ordered)
    if not form.shares_entries:
        return SliceWalk(plan, form, block, ordered=ordered)
    cells = max(form.data[2], form.result[2]) * form.run
    return SharedWalk(plan, form, block, (NEAR if ordered else SEVERAL) // max(cells, 1))


def in_sequence(plan: JudgedPlan, block: int) -> Iterator[Step]:
    """All steps, their regions one after the other in the row-major order of the result's grid.

    That is entry order too for every cell. What reads and writes files goes this way.
    """
    route = sequence(plan, block)
    for lane in route.lanes:
        for step in route.steps(lane):
            yield step.joined()


def sequence(plan: JudgedPlan, block: int) -> Walk:
    """The walk of `in_sequence`: its lanes follow each other in the result's grid."""
    form = plan.layout.form
    if form.kind == "cells":
        return CellWalk(plan, form, block, ordered=False)
    if form.kind == "elements":
        return ElementWalk(plan, form, block, ordered=False, in_sequence=True)
    if form.shares_entries:
        return SharedWalk(plan, form, block, together=block // max(form.result[2], 1))
    return SliceWalk(plan, form, block, ordered=False)


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
