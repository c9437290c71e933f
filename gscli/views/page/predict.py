"""Predictions before a step: which wrong answers come from which misunderstanding.

The right answer is in the tables; here stand the answers that a reader gives who swaps row and
column, reads -1 as 0, counts along another axis, replaces in place of adding, and what to say then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

from gscli.base.arrays import Array
from gscli.traces import Entry, Trace
from gscli.views.subject import initial_output, take_box
from gscli.views.summary import axis_word
from gscli.views.words.facts import Describer

# A misunderstanding, by its name among the explanations.
MistakeKind: TypeAlias = str

# A cell of the addressed tensor; None: any coordinate of that axis.
CellPattern: TypeAlias = list[int | None]

_PAIR = 2

_EXPLANATIONS: dict[MistakeKind, str] = {
    "swapped": "Swapped: the first number is for axis {axes[0]}, the second for axis {axes[1]}.",
    "end": "A number below zero counts from the end: -1 is the last one, not the first.",
    "one": "One too few: indices count from 0.",
    "clipped": "Not around the end: here an index outside moves to the nearest end.",
    "wrapped": "Not at the end: here an index outside goes round and starts again.",
    "outside": "It has no cell: one of its numbers is out of range, or ignored.",
    "inside": "It does land somewhere: no number of it is refused or dropped here.",
    "axis": "The index counts along axis {axes[0]}: it names a {thing}.",
    "replaced": "That is the update alone: {reduction} combines it with the cell.",
    "added": "Nothing is added here: the update replaces what was there.",
    "forgotten": "An earlier entry was here: begin with what the cell holds now, not as it began.",
    "kept": "That is what the cell holds already.",
    "index": "That is the index itself, and not what stands at that place.",
}


class Mistakes:
    """The misunderstandings that one trace can meet.

    >>> from gscli.traces import trace
    >>> inputs = {"data": [[1, 2], [3, 4]], "indices": [[0, 1]], "updates": [9]}
    >>> found = trace("onnx.scatter_nd", inputs)
    >>> list(Mistakes(found).iter_wrong_targets(found.entries()[0]))
    [([1, 0], 'swapped')]
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._shape = trace.layout.data_shape

    def explain(self, kind: MistakeKind) -> str:
        """What to say to an answer of this kind."""
        axes, reduction = (*self._trace.layout.column_axes, 0), self._trace.reduction
        thing = axis_word(axes[0], len(self._shape)).replace(f"axis {axes[0]}", "slice")
        return _EXPLANATIONS[kind].format(axes=axes, thing=thing, reduction=reduction)

    def iter_wrong_targets(self, entry: Entry) -> Iterator[tuple[CellPattern, MistakeKind]]:
        """Cells that a reader takes for the target, none of them right: the first kind is told."""
        if entry.target is None or self._trace.layout.is_flattened:
            return
        ends = zip(entry.target, self._shape, strict=True)
        right = [None if stop - start == size > 1 else start for (start, stop), size in ends]
        for place, kind in self._iter_wrong_cells(entry, right):
            pairs = zip(place, self._shape, strict=True)
            inside = all(at is None or 0 <= at < size for at, size in pairs)
            if inside and place != right:
                yield place, kind

    def iter_wrong_values(
        self, entry: Entry, teller: Describer
    ) -> Iterator[tuple[str, MistakeKind]]:
        """Values that a reader expects in a cell, none of them right; for single cells."""
        change = entry.change
        if self._trace.kind == "gather":
            if len(entry.vector) == 1:
                yield str(entry.vector[0]), "index"
            return
        if change is None or change.new.size != 1:
            return
        old, update, new = change.old, change.update, change.new
        listed = teller.format_values
        if self._trace.reduction != "none":
            yield listed(update), "replaced"
            if change.previous_writer is not None and self._trace.reduction == "add":
                assert entry.target is not None
                first = take_box(initial_output(self._trace), entry.target)
                yield listed(_add(first.reshape(1).astype(old.dtype), update)), "forgotten"
        elif new.dtype.kind in "iuf":
            yield listed(_add(old, update)), "added"
        yield listed(old), "kept"

    def _iter_wrong_cells(
        self, entry: Entry, right: CellPattern
    ) -> Iterator[tuple[CellPattern, MistakeKind]]:
        def replace(changes: Mapping[int, int | None]) -> CellPattern:
            return [changes.get(axis, at) for axis, at in enumerate(right)]

        axes = self._trace.layout.column_axes
        numbers = {axis: int(entry.vector[slot]) for slot, axis in enumerate(axes)}
        if len(axes) == _PAIR:
            first, second = axes
            yield replace({first: right[second], second: right[first]}), "swapped"
        below = {axes[item.slot] for item in entry.adjustments if item.outcome == "from_end"}
        if below:
            yield replace(dict.fromkeys(below, 0)), "end"
            yield replace({axis: -numbers[axis] for axis in below}), "end"
        for item in entry.adjustments:
            axis = axes[item.slot]
            if item.outcome == "clipped":
                yield replace({axis: int(item.raw_value) % item.size}), "clipped"
            elif item.outcome == "wrapped":
                yield replace({axis: item.size - 1 if item.raw_value > 0 else 0}), "wrapped"
        if len(axes) == 1 and len(self._shape) > 1:
            every = dict.fromkeys(range(len(self._shape)))
            for other in every:
                if other != axes[0]:
                    yield replace({**every, other: numbers[axes[0]]}), "axis"
        yield replace({axis: at - 1 for axis in axes if (at := right[axis]) is not None}), "one"


def _add(left: Array, right: Array) -> Array:
    """The sum that a reader expects, beyond its type too."""
    with np.errstate(all="ignore"):
        return left + right
