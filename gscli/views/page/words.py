"""What the page says: one sentence per entry, one line of counts. Words only, no markup.

A sentence stands beside the picture and in its live region, so it must read well aloud: words for
the signs of the tables, and the numbers of small slices written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from gscli.base.arrays import Array
from gscli.base.text import counted
from gscli.layout.boxes import Box, box_size
from gscli.traces.replay import Change
from gscli.traces.trace import Adjustment, Entry, How, label_of
from gscli.views.page.sheets import SIGNS, Scene
from gscli.views.words.counts import counts
from gscli.views.words.statements import Teller

SPELLED = 4
"""Slices of up to so many cells are written out."""

_ACTS = {
    "none": "write",
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "pow": "raise",
    "max": "max",
    "min": "min",
    "mean": "average",
    "sqrt_n": "sum",
}
_BETWEEN = {
    "add": "+", "sub": "−", "mul": "×", "div": "÷", "pow": "^", "mean": "+", "sqrt_n": "+",
}  # fmt: skip
_BOOLEAN = {"add": "or", "sub": "xor", "mul": "and", "mean": "or"}
_SPOKEN: dict[How, str] = {"wrapped": "wraps", "clipped": "clipped", "skipped": "out of range"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """The index and what follows from it, the value that leads to, and a remark."""

    words: str
    value: str = ""
    after: str = ""

    def __str__(self) -> str:
        value = f" {self.value}" if self.value else ""
        return f"{self.words}{value}{self.after}"


class Speaker:
    """Sentences about the entries of one scene."""

    def __init__(self, scene: Scene) -> None:
        self._trace = scene.trace
        self._teller = Teller(scene.trace, scene.numbers, SIGNS)

    def sentence(self, entry: Entry) -> Sentence:
        """All that one entry did.

        >>> from gscli.traces.trace import trace
        >>> from gscli.views.options import ViewOptions
        >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
        >>> print(Speaker(Scene(found, ViewOptions())).sentence(found.entries()[0]))
        indices[0] = -1 counts from the end: 2 → data[2] → output[0] = 30
        """
        place, vector = self._teller.source(entry)
        index = f"{place} = {vector}" if place else f"the vector {vector}"
        if not entry.live:
            return self._skipped(entry, index)
        moved = moved_words(entry)
        if self._trace.kind == "gather":
            return self._read(entry, index, moved)
        return self._written(entry, index, moved)

    @property
    def act(self) -> str:
        """What an entry does with its value, as one verb."""
        return "copy" if self._trace.kind == "gather" else _ACTS[self._trace.reduction]

    @property
    def sign(self) -> str:
        """What stands before an update where it meets the value that is there."""
        boolean = self._trace.layout.dtype == "bool"
        return (_BOOLEAN if boolean else _BETWEEN).get(self._trace.reduction, "")

    def value(self, entry: Entry) -> str:
        """What the entry moves: the value of one cell, or the name of its slice."""
        change = entry.change
        if change is not None and change.update.size == 1:
            return self.listed(change.update)
        if self._trace.kind == "gather" and entry.live and entry.result is not None:
            found = self._spelled(self._trace.output, entry.result)
            return found or self._teller.target_cell(entry)
        return self._teller.result_cell(entry)

    def sum(self, entry: Entry) -> str:
        """How one cell came to its value, or nothing for slices and gathers."""
        change = entry.change
        if change is None or change.new.size != 1:
            return ""
        old, update, new = map(self.listed, (change.old, change.update, change.new))
        if self._trace.reduction == "none":
            return f"{old} → {new}"
        return new if change.fresh else f"{self._combined(change, old, update)} = {new}"

    @cached_property
    def counts(self) -> str:
        """Cells touched, entries dropped, cells hit more than once, and what that leaves open."""
        trace = self._trace
        found = counts(trace)
        told = [counted(trace.entry_count, "entry", "entries")]
        if found is None:
            return told[0]
        if found.entries < trace.entry_count:
            told = [f"of the first {found.entries:,} of {trace.entry_count:,} entries"]
        cells = counted(prod(trace.layout.data_shape), "cell")
        told.append(
            f"{found.touched:,} of {cells} {'read' if trace.kind == 'gather' else 'written'}"
        )
        if found.twice:
            told.append(f"{counted(found.twice, 'cell')} more than once")
        if found.skipped:
            what = "out of range and filled" if trace.kind == "gather" else "dropped"
            told.append(f"{counted(found.skipped, 'entry', 'entries')} {what}")
        if found.lost:
            told.append(counted(found.lost, "update falls outside", "updates fall outside"))
        left_open = trace.layout.open_order if found.twice else ""
        note = f" {left_open}; here the last one stays." if left_open else ""
        return f"{', '.join(told)}.{note}"

    def _skipped(self, entry: Entry, index: str) -> Sentence:
        outside = [item.words() for item in entry.adjustments if item.how == "skipped"]
        why = f": {', '.join(outside)}" if outside else " lies outside"
        result = self._teller.result_cell(entry)
        if self._trace.kind == "gather":
            assert entry.result is not None
            filled = self._spelled(self._trace.output, entry.result)
            return Sentence(f"{index}{why} → {result} is filled{' with' * bool(filled)}", filled)
        updates = self._trace.tensor("updates")
        if updates is None or entry.result is None:
            return Sentence(f"{index}{why}, so nothing is written")
        value = self._spelled(updates.array, entry.result)
        return Sentence(f"{index}{why}, so {result}{f' = {value}' * bool(value)} is dropped")

    def _read(self, entry: Entry, index: str, moved: str) -> Sentence:
        assert entry.target is not None
        assert entry.result is not None
        source, place = self._teller.target_cell(entry), self._teller.result_cell(entry)
        path = f"{index}{moved} → {source} → {place}"
        values = self._spelled(self._trace.output, entry.result)
        if values:
            return Sentence(f"{path} =", values)
        return Sentence(f"{path}, {self._teller.slice_size(entry.target)}")

    def _written(self, entry: Entry, index: str, moved: str) -> Sentence:
        assert entry.target is not None
        place, change = self._teller.target_cell(entry), entry.change
        path = f"{index}{moved} → {place}"
        if change is None:
            return Sentence(f"{path} is written")
        after = "" if change.again is None else f", again after {label_of(change.again)}"
        after += f", {self._teller.dropped(entry)} dropped outside" if entry.dropped else ""
        old, update, new = map(self.listed, (change.old, change.update, change.new))
        if not new:
            what = self._combined(change, place, self._teller.result_cell(entry))
            size = self._teller.slice_size(entry.target)
            return Sentence(f"{path}: {what}, {size}{after}")
        if change.fresh:
            return Sentence(f"{path}: starts with", new, ", nothing before it counts")
        if self._trace.reduction == "none":
            return Sentence(f"{path}: {old} becomes", new, after)
        if self._trace.averages:
            after = f", the sum of {change.terms} values{after}"
        return Sentence(f"{path}: {self._combined(change, old, update)} =", new, after)

    def _combined(self, change: Change, old: str, update: str) -> str:
        reduction = self._trace.reduction
        if reduction == "none" or change.fresh:
            return f"becomes {update}"
        between = _BOOLEAN if change.old.dtype.kind == "b" else _BETWEEN
        if reduction in between:
            return f"{old} {between[reduction]} {update}"
        return f"{reduction}({old}, {update})"

    def _spelled(self, array: Array, box: Box) -> str:
        if box_size(box) > SPELLED:
            return ""
        return self.listed(np.asarray(array[tuple(slice(*ends) for ends in box)]))

    def listed(self, array: Array) -> str:
        """One value, a short list, or nothing where there are many."""
        if not 0 < array.size <= SPELLED:
            return ""
        texts = self._teller.numbers.texts(array, SIGNS)
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def moved_words(entry: Entry) -> str:
    """What the policy made of the vector, if anything."""
    vector, moved = list(entry.vector), []
    for item in entry.adjustments:
        if item.coordinate is not None:
            vector[item.slot] = item.coordinate
            moved.append(item)
    if not moved:
        return ""
    told = str(vector[0]) if len(vector) == 1 else f"({', '.join(map(str, vector))})"
    return f" {' and '.join(dict.fromkeys(map(_verb, moved)))} {told}"


def _verb(item: Adjustment) -> str:
    if item.how == "clipped":
        return "is clipped to"
    return "counts from the end:" if -item.size <= item.written < 0 else "wraps around to"


def spoken_sign(how: How) -> str:
    """The word for the sign beside an index number.

    >>> spoken_sign("wrapped")
    'wraps'
    """
    return _SPOKEN[how]


def shape_words(shape: tuple[int, ...]) -> str:
    """A shape as the page writes it.

    >>> shape_words((4, 3)), shape_words(())
    ('[4×3]', 'one number')
    """
    return f"[{'×'.join(map(str, shape))}]" if shape else "one number"
