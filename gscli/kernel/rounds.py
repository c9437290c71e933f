"""Rows that few entries share, combined as they come.

Sorting brings the updates of each row together, but then they are read from all over memory. Where
a block of entries hardly meets a row twice, it takes less time to combine all rows of the block
with their first updates at once, and then to see to the few that have more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.kernel.items import as_items, reduce_cells
from gscli.plan.plan import Array, Indices

BLOCK, SMALLEST_BLOCK = 4096, 512
ROWS_PER_ENTRY = 16
"""So many rows for each entry of a block that few of them meet."""
NARROW_BYTES = 256
"""Bytes per row from which sorting is as fast."""
CROWDED = 8
"""Where more than one entry of so many finds its row taken, sorting is faster."""


def worth_a_try(rows: Array, count: int) -> bool:
    """Whether `count` updates should be combined with these rows as they come.

    A number is kept for every row, so that there must not be many more rows than updates.
    """
    narrow = rows.shape[1] * rows.itemsize <= NARROW_BYTES
    return narrow and SMALLEST_BLOCK * ROWS_PER_ENTRY <= len(rows) <= 4 * count


def reduce_as_they_come(rows: Array, addresses: Indices, values: Array, ufunc: Any) -> int:  # noqa: ANN401
    """Combine updates with their rows in entry order until they crowd; how many were combined.

    rows is (n, run), addresses (m,), values (m, run) of the rows' type.
    """
    run, block = rows.shape[1], min(BLOCK, len(rows) // ROWS_PER_ENTRY)
    first_of, numbers = np.empty(len(rows), np.int64), np.arange(block)
    items, current = as_items(rows, run), np.empty((block, run), rows.dtype)
    for start in range(0, addresses.size, block):
        at, updates = addresses[start : start + block], values[start : start + block]
        first_of[at[::-1]] = numbers[: at.size][::-1]
        firsts = first_of.take(at)
        later = np.flatnonzero(firsts != numbers[: at.size])
        if later.size * CROWDED > at.size:
            return start
        combined = current[: at.size]
        taken = as_items(combined, run)
        items.take(at, out=taken, mode="wrap")
        ufunc(combined, updates, out=combined)
        items.put(at, taken, mode="wrap")
        # Rows that were met again hold their last update; they begin anew with their first.
        heads = firsts.take(later)
        items.put(at.take(heads), taken.take(heads), mode="wrap")
        reduce_cells(rows, at.take(later), updates.take(later, axis=0), ufunc)
    return addresses.size
