"""Cells whose gradient several could have: who equals a maximum, who wrote a cell that one set."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import to_json, unravel_place
from gscli.base.records import Record
from gscli.base.words import entry_label
from gscli.gradients.call import Gradients
from gscli.layout.axes import Shape


class SharedCell(Record):
    """One cell of the output: what it holds, and who could be given its gradient.

    `entries` are their numbers in the order of the loop; `has_data`: what the cell starts with,
    too; `counts_data`: that takes no part but is counted among those that share.
    """

    cell: Shape
    value: float
    has_data: bool
    entries: tuple[int, ...]
    counts_data: bool = False

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "cell": list(self.cell), "value": to_json(self.value), "data": self.has_data,
            "entries": [entry_label(number) for number in self.entries],
        }  # fmt: skip


def find_shared_cells(gradients: Gradients, limit: int) -> tuple[list[SharedCell], int]:
    """The first `limit` cells that ties of a maximum or several writers share, and their number.

    >>> import gscli
    >>> from gscli.gradients.call import trace_gradients
    >>> run = gscli.trace("onnx.scatter", {"data": [1.0, 2.0], "indices": [1, 1],
    ...                                    "updates": [5.0, 6.0]})
    >>> find_shared_cells(trace_gradients(run), 5)
    ([SharedCell(cell=(1,), value=6.0, has_data=False, entries=(0, 1), counts_data=False)], 1)
    """
    run = gradients.trace
    if run.layout.value_names[1] is None or run.reduction not in ("none", "max", "min"):
        return [], 0
    walk = gradients.walk()
    if run.reduction == "none":
        own = counted = np.zeros(walk.final.shape, bool)
        numbers, cells = walk.writers
    else:
        own, counted, (numbers, cells) = walk.own_holds, walk.counted_holds, walk.extreme_holders
    counts = np.bincount(cells, minlength=own.size) + counted.reshape(-1)
    shared = np.flatnonzero((counts > 1) & (walk.counts.reshape(-1) > 0))
    described = list[SharedCell]()
    for cell in shared[:limit].tolist():
        entries = numbers[cells == cell] // run.layout.window_size
        place = unravel_place(cell, walk.final.shape)
        value, has_data = float(walk.final[place]), bool(own[place] and counted[place])
        absent = bool(counted[place]) and not has_data
        described.append(SharedCell(place, value, has_data, tuple(entries.tolist()), absent))
    return described, len(shared)
