"""What one entry did, in short pieces that legend, explain and step put together."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.base.text import counted
from gscli.kernel.reductions import REDUCTIONS, divided
from gscli.layout.axes import Negative, Shape
from gscli.layout.boxes import Box, box_size
from gscli.traces.replay import Change
from gscli.traces.trace import Entry, Trace, label_of
from gscli.views.numbers import NumberFormat
from gscli.views.signs import Signs

SHORT_SLICE = 8
"""Cells of a slice whose values stand behind it."""


class Statement(Record):
    """`indices[0]` `(-1, 0)` `↺` `→ output[3,0]` `1.0 + 40.0 = 41.0` `(again: a)`."""

    number: int
    label: str
    live: bool
    place: str
    vector: str
    sign: str
    target: str
    result: str
    size: str
    note: str


class Teller:
    """Puts entries of one trace into words, numbers in the format of the picture."""

    def __init__(self, trace: Trace, numbers: NumberFormat, signs: Signs) -> None:
        self.trace = trace
        self.numbers = numbers
        self.signs = signs

    def statement(self, entry: Entry, *, reasons: bool = False) -> Statement:
        """The pieces for one entry; with `reasons` the note says why a number means another."""
        hows = dict.fromkeys(self.signs.of(one.how) for one in entry.adjustments if entry.live)
        told = self._gathered if self.trace.kind == "gather" else self._scattered
        target, result, notes = told(entry)
        if reasons:
            notes += [adjustment.words() for adjustment in entry.adjustments]
        place, vector = self.source(entry)
        return Statement(
            number=entry.number,
            label=entry.label,
            live=entry.live or self.moves_nothing,
            place=place,
            vector=vector,
            sign=" ".join(hows),
            target=target,
            result=result,
            size=self.slice_size(entry.target) if entry.target is not None else "",
            note=f"({'; '.join(notes)})" if notes else "",
        )

    def source(self, entry: Entry) -> tuple[str, str]:
        """Where the index stands, and what it says.

        >>> from gscli.traces.trace import trace
        >>> found = trace("onnx.gather_nd", {"data": [[1, 2]], "indices": [[0, -1]]})
        >>> from gscli.views.options import ViewOptions
        >>> from gscli.views.signs import signs_of
        >>> Teller(found, NumberFormat(), signs_of(ViewOptions())).source(found.entries()[0])
        ('indices[0]', '(0, -1)')
        """
        places: list[str] = []
        columns = self.trace.layout.addressing.columns
        for name, box in entry.indices:
            vector_dim = next(one.vector_dim for one in columns if one.source == name)
            place = [str(start) for start, _ in box]
            if vector_dim is not None:
                place[vector_dim] = ":"
                if vector_dim == len(place) - 1:
                    place.pop()
            places.append(f"{name}[{','.join(place)}]" if place else name)
        alone = len(columns) == 1 and columns[0].vector_dim is None
        vector = ", ".join(map(str, entry.vector))
        return ", ".join(places), vector if alone else f"({vector})"

    def value(self, value: object) -> str:
        """One number in the picture's format, without zeros at its end."""
        return self.numbers.short(value, self.signs)

    def values(self, part: Array) -> list[str]:
        """The values of a slice one after the other, in the picture's format."""
        return self.numbers.values(part, self.signs)

    def _listed(self, part: Array | None) -> str:
        """` = 6 7 8` behind a slice of few cells."""
        if part is None or not 1 < part.size <= SHORT_SLICE:
            return ""
        return f" = {' '.join(self.values(part))}"

    def fill(self) -> str:
        """What an entry that reads nothing is given."""
        output = self.trace.output
        return self.value(np.asarray(self.trace.layout.fill).astype(output.dtype))

    def slice_size(self, box: Box) -> str:
        """`4×4 slice`; nothing for a single cell."""
        sizes = [str(stop - start) for start, stop in box if stop - start != 1]
        if len(sizes) == 1:
            return f"slice of {sizes[0]}"
        return f"{self.signs.times.join(sizes)} slice" if sizes else ""

    def target_cell(self, entry: Entry) -> str:
        """The cell of data that was read, or of output that was written."""
        assert entry.target is not None
        layout = self.trace.layout
        name = layout.data if self.trace.kind == "gather" and layout.data else "output"
        return cell_text(name, entry.target, layout.data_shape)

    def result_cell(self, entry: Entry) -> str:
        """The cell of output that gather wrote, or of updates that scatter took."""
        layout = self.trace.layout
        if entry.result is None:
            return self.value(layout.updates.value) if layout.updates else ""
        if self.trace.kind == "gather":
            return cell_text("output", entry.result, layout.output_shape)
        updates = self.trace.tensor("updates")
        assert updates is not None
        return cell_text(updates.name, entry.result, updates.shape)

    def _gathered(self, entry: Entry) -> tuple[str, str, list[str]]:
        arrow, result = self.signs.arrow, self.result_cell(entry)
        if self.moves_nothing:
            return f"{arrow} an empty slice", "", []
        if entry.target is None:
            return self.skipped(entry), f"{arrow} {result} = {self.fill()}", ["fill"]
        assert entry.result is not None
        target = f"{arrow} {self.target_cell(entry)}"
        if box_size(entry.target) == box_size(entry.result) == 1:
            value = at(self.trace.output, entry.result)
            return target, f"{arrow} {result} = {self.value(value)}", []
        listed = self._listed(part_of(self.trace.output, entry.result))
        return target, f"{arrow} {result}{listed}", []

    @property
    def moves_nothing(self) -> bool:
        """Whether slices have no cells, because an axis of data is empty."""
        return self.trace.layout.window_size == 0

    def skipped(self, entry: Entry) -> str:
        """What stands where a live entry has its target."""
        why = "below zero" if passed_over(self.trace, entry) else "out of range"
        return f"{self.signs.skipped} {why}"

    def _scattered(self, entry: Entry) -> tuple[str, str, list[str]]:
        if self.moves_nothing:
            return f"{self.signs.arrow} an empty slice", "", []
        if entry.target is None:
            return self.skipped(entry), self._unused(entry), []
        change = entry.change
        target = f"{self.signs.arrow} {self.target_cell(entry)}"
        notes = [] if change is None or change.again is None else [self.again(change.again)]
        if entry.dropped:
            notes.append(f"{self.dropped(entry)} outside, dropped")
        if change is None or change.old.size != 1:
            after = None if change is None else mean_or_new(self.trace, change)
            return target, self._slice_written(entry) + self._listed(after), notes
        if self.trace.reduction == "none" and not notes:
            notes = [f"was {self.value(change.old.reshape(-1)[0])}"]
        if change.fresh:
            notes.append("old value not counted")
        return target, self.arithmetic(change), notes

    def dropped(self, entry: Entry) -> str:
        """The updates of a live entry whose cells do not exist."""
        if len(entry.dropped) > 1:
            return counted(entry.lost, "update")
        updates = self.trace.tensor("updates")
        assert updates is not None
        return cell_text(updates.name, entry.dropped[0], updates.shape)

    @staticmethod
    def again(first: int) -> str:
        """The mark of a cell that an earlier entry wrote."""
        return f"again: {label_of(first)}"

    def _unused(self, entry: Entry) -> str:
        name = self.result_cell(entry)
        if entry.result is None or box_size(entry.result) != 1:
            return f"dropped, {name} unused"
        updates = self.trace.tensor("updates")
        assert updates is not None
        return f"dropped, {name} = {self.value(at(updates.array, entry.result))} unused"

    def _slice_written(self, entry: Entry) -> str:
        update, reduction = self.result_cell(entry), self.trace.reduction
        forms = {
            "none": f"= {update}",
            "add": f"+= {update}",
            "sub": f"-= {update}",
            "mul": f"{self.signs.times}= {update}",
            "div": f"/= {update}",
            "pow": f"^= {update}",
            "sqrt_n": f"sum with {update}",
        }
        return forms.get(reduction, f"{reduction} with {update}")

    def divisor(self, change: Change) -> str:
        """By what a running sum is divided: the number of values it holds, or the root of that."""
        return str(change.terms) if self.trace.reduction == "mean" else f"sqrt({change.terms})"

    def arithmetic(self, change: Change) -> str:
        """The sum of one cell: `1.0 + 10.0 = 11.0`."""
        old, update, new = (
            self.value(one.reshape(-1)[0]) for one in (change.old, change.update, change.new)
        )
        reduction = self.trace.reduction
        words = BOOLEAN if change.old.dtype.kind == "b" else WORDS | {"mul": self.signs.times}
        if reduction == "none":
            return f"= {new}"
        if self.trace.averages:
            mean = self.value(mean_or_new(self.trace, change).reshape(-1)[0])
            summed = update if change.fresh else f"({old} + {update})"
            return f"{summed} / {self.divisor(change)} = {mean}"
        if reduction in words:
            return f"{old} {words[reduction]} {update} = {new}"
        return f"{reduction}({old}, {update}) = {new}"


WORDS = {"add": "+", "sub": "-", "div": "/", "pow": "^"}
BOOLEAN = {"add": "or", "sub": "xor", "mul": "and", "max": "or", "min": "and"}


def mean_or_new(trace: Trace, change: Change) -> Array:
    """What the cells hold after an entry: a running sum is divided as at the end."""
    rule = REDUCTIONS.get(trace.reduction)
    if rule is None or rule.divisor is None:
        return change.new
    with np.errstate(all="ignore"):
        return divided(change.new, np.full(change.new.shape, change.terms), rule.divisor)


def part_of(array: Array, box: Box) -> Array:
    """The cells of a box."""
    return array[tuple(slice(start, stop) for start, stop in box)]


def shape_text(shape: Shape) -> str:
    """A shape as it stands in a sentence.

    >>> shape_text((4, 3))
    '[4,3]'
    """
    return f"[{','.join(map(str, shape))}]"


def cell_text(name: str, box: Box, shape: Shape) -> str:
    """A cell or slice of a tensor.

    >>> cell_text("output", ((2, 3), (0, 4), (1, 3)), (5, 4, 4))
    'output[2,:,1:3]'
    """
    if not box:
        return name
    parts = [
        ":" if (start, stop) == (0, size) and size != 1
        else str(start) if stop == start + 1
        else f"{start}:{stop}"
        for (start, stop), size in zip(box, shape, strict=True)
    ]  # fmt: skip
    return f"{name}[{','.join(parts)}]"


def passed_over(trace: Trace, entry: Entry) -> bool:
    """Whether an index below zero is this operator's way to skip an entry."""
    return trace.layout.policy.negative is Negative.SKIP and any(
        one.how == "skipped" and one.written < 0 for one in entry.adjustments
    )


def at(array: Array, box: Box) -> Array:
    """The first cell of a box, as an array of rank 0."""
    return np.asarray(array[tuple(start for start, _ in box)])
