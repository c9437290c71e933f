"""Which entries of a scatter write the same cells."""

from __future__ import annotations

import numpy as np

from gscli.plan import BLOCK, Indices, Plan

JUDGED = 1 << 22
"""Entries that are looked at; each needs an address."""


def duplicate_writers(plan: Plan, limit: int) -> tuple[list[tuple[int, ...]], int]:
    """Groups of entries that write the same cells (the first `limit`), and how many groups.

    Looks at the first JUDGED entries only, and tells slices apart by their first cells.

    >>> import gscli
    >>> inputs = {"data": [0, 0, 0], "indices": [[1], [2], [1]], "updates": [7, 8, 9]}
    >>> duplicate_writers(gscli.trace("scatter_nd", inputs).run.plan, 3)
    ([(0, 2)], 1)
    """
    count = min(plan.layout.entry_count, JUDGED)
    if plan.layout.kind == "gather" or count < 2:  # noqa: PLR2004  one entry meets no other
        return [], 0
    first_cells = _first_cells(plan, count)
    numbers = np.flatnonzero(first_cells >= 0)
    cells = first_cells[numbers]
    order = np.argsort(cells, kind="stable")
    cells, numbers = cells[order], numbers[order]
    starts = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
    ends = np.r_[starts[1:], cells.size]
    repeated = np.flatnonzero(ends - starts > 1)
    earliest = repeated[np.argsort(numbers[starts[repeated]], kind="stable")][:limit]
    groups = [tuple(int(n) for n in numbers[starts[g] : ends[g]]) for g in earliest]
    return groups, int(repeated.size)


def _first_cells(plan: Plan, count: int) -> Indices:
    """Flat address of the first cell of each entry, -1 where it is skipped."""
    found = np.full(count, -1, np.int64)
    layout = plan.layout
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        block, grid = plan.block(first, last), plan.grid(first, last)
        total = np.zeros(last - first, np.int64)
        for axis, stride in zip(layout.axes, layout.strides, strict=True):
            if axis.column is not None:
                total += block.coordinates[axis.column] * stride
            if axis.entry is not None:
                total += grid[axis.entry] * stride
        found[first:last] = total if block.live is None else np.where(block.live, total, -1)
    return found
