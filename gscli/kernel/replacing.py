"""Scatter of whole slices without a reduction: only what stays in the output is written.

Where many outer positions share their entries, or there are more entries than rows, it pays to
find out first which entry writes each row last. The others are skipped, and rows that will be
replaced need not be copied.
"""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array, Flags, Indices
from gscli.base.records import Record
from gscli.kernel.addresses import resolved, rows_of
from gscli.kernel.rows import as_items
from gscli.kernel.tuning import Tuning, for_each
from gscli.kernel.updates import UpdateRows
from gscli.layout.layout import Layout
from gscli.plan.plan import JudgedPlan

CHUNK = 1 << 20
"""Bytes of output that are copied and patched while they are near."""

LONG_ROW = 8
"""Cells per row from which writing it costs more than finding out whether it is needed."""


def worth_replacing(layout: Layout) -> bool:
    """Whether a scatter into data should go this way."""
    form = layout.form
    plain = layout.reduction == "none" and layout.dtype != "str" and layout.accumulate is None
    crowded = form.run >= LONG_ROW and form.result[2] > form.data[2]
    return plain and form.kind == "slices" and (form.shares_entries or crowded)


def replaced(plan: JudgedPlan, data: Array, tuning: Tuning) -> Array:
    """A copy of data with the last update of each row that has one."""
    form, run = plan.layout.form, plan.layout.form.run
    batches, outer, rows, _ = form.data
    entries = form.result[2]
    output = np.empty(data.shape, data.dtype)
    source = as_items(np.ascontiguousarray(data).reshape(batches, outer, rows, run), run)
    target = as_items(output.reshape(batches, outer, rows, run), run)
    updates = UpdateRows(plan, data.dtype, form.result[:3])
    if len(source) > form.result[0]:  # a cut batch axis: the other batches stay as they are
        target[form.result[0] :] = source[form.result[0] :]
    several = max(CHUNK // max(rows * run * data.itemsize, 1), 1)
    chunks = [slice(first, first + several) for first in range(0, outer, several)]
    for batch in range(form.result[0]):
        addresses, live = rows_of(plan, batch * entries, (batch + 1) * entries, form.steps)
        found = _replacement(resolved(addresses), live, rows)

        def write(chunk: slice, batch: int = batch, found: Replacement = found) -> None:
            new, old = target[batch, chunk], source[batch, chunk]
            new[:, found.kept] = old[:, found.kept]
            items = updates.items((batch, chunk))
            new[:, found.rows] = items if found.entries is None else items[:, found.entries]

        for_each(chunks, write, tuning.threads_for(output))
    return output


class Replacement(Record):
    """Which rows are data's and which are updates: `entries` go to `rows`, None: all in turn."""

    kept: Indices | slice
    rows: Indices
    entries: Indices | None


def _replacement(addresses: Indices, live: Flags | None, rows: int) -> Replacement:
    last = last_writers(addresses, live, rows)
    touched, kept = np.flatnonzero(last >= 0), np.flatnonzero(last < 0)
    if touched.size == addresses.size and live is None:
        places, chosen = addresses, None
    else:
        places, chosen = touched, last[touched]
    # To copy all rows in one go is cheaper than to pick most of them.
    return Replacement(slice(None) if kept.size > touched.size else kept, places, chosen)


def last_writers(addresses: Indices, live: Flags | None, rows: int) -> Indices:
    """For each row the number of the last entry that writes it, or -1.

    >>> last_writers(np.array([2, 0, 2]), None, 4)
    array([ 1, -1,  2, -1])
    """
    last = np.full(rows, -1, np.int64)
    numbers = np.arange(addresses.size)
    if live is None:
        last[addresses] = numbers
    else:
        last[addresses[live]] = numbers[live]
    return last
