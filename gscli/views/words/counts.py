"""What a run did in numbers: cells changed, entries skipped, cells hit twice."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.base.records import Record
from gscli.base.text import counted
from gscli.layout.axes import Shape
from gscli.layout.boxes import Box, box_size
from gscli.traces.trace import Entry, Trace

COUNTED_ENTRIES = 10_000
COUNTED_CELLS = 1 << 20


class Counts(Record):
    """Over the first `entries` entries; `changed` is None where too many cells were touched.

    `lost`: updates of windows partly outside that were dropped; `skipped` entries do not count.
    """

    entries: int
    skipped: int
    touched: int
    twice: int
    changed: int | None
    lost: int = 0


def counts(trace: Trace, entries: Sequence[Entry] | None = None) -> Counts | None:
    """Count a run, or None when it touches more cells than are worth listing.

    `entries`: those that the caller has already; by default the first COUNTED_ENTRIES.

    >>> from gscli.traces.trace import trace
    >>> counts(trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1, 2]}))
    Counts(entries=2, skipped=0, touched=1, twice=1, changed=None, lost=0)
    """
    entries = trace.entries(COUNTED_ENTRIES) if entries is None else entries
    targets = [entry.target for entry in entries if entry.target is not None]
    if sum(map(box_size, targets)) > COUNTED_CELLS:
        return None
    addresses = cell_numbers(targets, trace.layout.data_shape)
    cells, times = np.unique(addresses, return_counts=True)
    return Counts(
        len(entries),
        sum(not entry.live for entry in entries),
        int(cells.size),
        int((times > 1).sum()),
        _changed(trace, cells) if trace.kind == "scatter" else None,
        sum(entry.lost for entry in entries),
    )


def cell_numbers(boxes: Sequence[Box], shape: Shape) -> Indices:
    """Row-major numbers of the cells of every box, one after the other.

    >>> cell_numbers([((1, 2), (0, 2))], (3, 4))
    array([4, 5])
    """
    if not boxes:
        return np.zeros(0, np.int64)
    if not shape:
        return np.zeros(len(boxes), np.int64)
    if all(box_size(box) == 1 for box in boxes):
        places = np.array([[start for start, _ in box] for box in boxes], np.int64).T
        found: Indices = np.ravel_multi_index(tuple(places), shape).astype(np.int64)
        return found
    parts = [
        np.ravel_multi_index(np.ix_(*(np.arange(*ends) for ends in box)), shape).reshape(-1)
        for box in boxes
    ]
    return np.concatenate(parts, dtype=np.int64)


def _changed(trace: Trace, cells: Indices) -> int:
    """Touched cells whose value is another one now; NaN is the same as NaN."""
    if not cells.size:
        return 0
    new = _values(trace.output, cells)
    data = trace.tensor("data")
    old = np.full(new.shape, trace.layout.fill).astype(new.dtype)
    if data is not None:
        old = _values(data.array, cells)
    same = old == new
    if new.dtype.kind not in "biuUTO":
        same |= np.isnan(old) & np.isnan(new)
    return int((~same).sum())


def _values(array: Array, cells: Indices) -> Array:
    """Values by row-major number, without a copy of the array whatever its order in memory."""
    found: Array = array[np.unravel_index(cells, array.shape)] if array.ndim else array[None]
    return found


def counted_words(trace: Trace, found: Counts) -> str:
    """How many cells were read or changed, and what else is worth a number."""
    cells = prod(trace.layout.data_shape)
    gathered = trace.kind == "gather"
    number = found.touched if gathered or found.changed is None else found.changed
    parts = [f"{number:,} of {cells:,} cells {'read' if gathered else 'changed'}"]
    if found.skipped:
        what = "read the fill value" if gathered else "dropped"
        parts.append(f"{found.skipped:,} of {found.entries:,} entries {what}")
    if found.lost:
        parts.append(counted(found.lost, "update falls outside", "updates fall outside"))
    if found.twice:
        parts.append(
            f"{counted(found.twice, 'cell')} {'read' if gathered else 'hit'} twice or more"
        )
    told = ", ".join(parts)
    if found.entries < trace.entry_count:
        told += f" (counted over the first {found.entries:,} of {trace.entry_count:,} entries)"
    return told
