"""Rows: the cells that travel together, and the three things that are done to them.

`take` reads rows, `put` writes them, `reduce_rows` combines them in entry order. Every way in
which a reduction is computed gives the bits of the plain loop: an update meets its cell with one
ufunc call, after all earlier updates of that cell and before all later ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gscli.kernel import halves
from gscli.kernel.items import Ufunc, reduce_cells
from gscli.kernel.rounds import reduce_as_they_come, worth_a_try
from gscli.kernel.tuning import Tuning, for_each
from gscli.plan.plan import Array, Indices

NARROW = 20
"""Cells per row below which rows are reduced cell by cell."""
WIDE_BYTES = 1 << 13
"""Bytes per row from which each update is worth a call of its own."""
GROUP_BYTES = 1 << 19


def reduce_rows(
    rows: Array, addresses: Indices, values: Array, ufunc: Ufunc, tuning: Tuning
) -> None:
    """`rows[a] = ufunc(rows[a], value)` for each address and value in turn.

    rows is (n, run), addresses (m,), values (m, run); bit for bit the sequential loop.
    """
    run = rows.shape[1]
    if run < NARROW or values.size < tuning.few_cells or not _same_in_bulk(ufunc, rows, values):
        reduce_cells(rows, addresses, values, ufunc)
    elif run * rows.itemsize >= WIDE_BYTES:
        for address, value in zip(addresses.tolist(), values, strict=True):
            row = rows[address]
            ufunc(row, value, out=row)
    else:
        done = 0
        if worth_a_try(rows, addresses.size) and not halves.takes(rows.dtype, ufunc):
            done = reduce_as_they_come(rows, addresses, values, ufunc)
        if done < addresses.size:
            _reduce_groups(rows, addresses[done:], values[done:], ufunc, tuning)


def _same_in_bulk(ufunc: Ufunc, rows: Array, values: Array) -> bool:
    """Whether many rows at once give the bits of one cell after the other.

    Products of complex numbers do not: NumPy fuses multiplication and addition in long loops.
    """
    fused = ufunc is np.multiply and rows.dtype.kind == "c"
    return rows.dtype == values.dtype and rows.dtype.kind != "O" and not fused


def _reduce_groups(
    rows: Array, addresses: Indices, values: Array, ufunc: Ufunc, tuning: Tuning
) -> None:
    """Rows with equally many updates together, one ufunc reduction over their updates.

    Along the first axis of several, NumPy reduces in order and one element at a time.
    """
    run = rows.shape[1]
    limit = max(GROUP_BYTES // (run * rows.itemsize), 2)
    order = stable_order(addresses, len(rows))
    ordered = addresses.take(order)
    starts = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    times = np.diff(starts, append=addresses.size)

    def work(group: Indices) -> None:
        """Rows that have the same number of updates each, a few updates of all at a time."""
        targets, first = ordered.take(starts.take(group)), starts.take(group)
        current = rows.take(targets, axis=0)
        left, depth = int(times[group[0]]), max(limit // group.size - 1, 1)
        for done in range(0, left, depth):
            stack = np.empty((min(depth, left - done) + 1, group.size, run), rows.dtype)
            stack[0] = current
            places = order.take(np.arange(done, done + len(stack) - 1)[:, None] + first)
            values.take(places, axis=0, out=stack[1:], mode="wrap")
            current = _reduced(stack, ufunc)
        rows[targets] = current

    large = values.nbytes >= tuning.parallel_bytes
    for_each(list(_groups(times, limit)), work, tuning.threads if large else 1)


def _reduced(stack: Array, ufunc: Ufunc) -> Array:
    """One row after the other, along the first of several axes, where NumPy keeps the order."""
    if halves.takes(stack.dtype, ufunc):
        sums = halves.summed(stack, ufunc)
        if sums is not None:
            return sums
    # None: begin with the first update, for 0 + -0.0 would not be -0.0.
    result: Array = ufunc.reduce(stack, axis=0, dtype=stack.dtype, initial=None)
    return result


def _groups(times: Indices, limit: int) -> Iterator[Indices]:
    """Numbers of equal value together, few enough that their rows and updates stay near."""
    order = stable_order(times, int(times.max()) + 1)
    ordered = times[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    for group in np.split(order, edges):
        size = max(limit // (int(times[group[0]]) + 1), 1)
        for first in range(0, group.size, size):
            yield group[first : first + size]


def stable_order(keys: Indices, limit: int) -> Indices:
    """The stable sorting order of whole numbers 0 … limit-1, by 16 bits at a time.

    >>> stable_order(np.array([2, 0, 2, 1]), 3)
    array([1, 3, 0, 2])
    """
    order: Indices = np.argsort(keys.astype(np.uint16), kind="stable")
    shift = 16
    while limit > 1 << shift:
        digits = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
        shift += 16
    return order
