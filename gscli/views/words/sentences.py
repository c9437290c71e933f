"""Full sentences in ASCII, one statement a line: for screen readers, logs and grep."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array, dtype_name
from gscli.layout.boxes import box_size
from gscli.traces.trace import Adjustment, Entry, Trace, label_of
from gscli.views.numbers import NumberFormat
from gscli.views.signs import Signs
from gscli.views.words.statements import Teller, at, mean_or_new, part_of, passed_over, shape_text

TOLD_CELLS = 100
"""Cells of a tensor or slice whose values are told."""

_PAST = {
    "add": "{0} is added to {1}",
    "sub": "{0} is subtracted from {1}",
    "mul": "{0} is multiplied into {1}",
    "div": "{1} is divided by {0}",
    "pow": "{1} is raised to the power of {0}",
    "sqrt_n": "{0} is added to the sum of {1}",
}


def sentence(teller: Teller, entry: Entry) -> str:
    """What one entry did, in words.

    >>> from gscli.traces.trace import trace
    >>> from gscli.views.numbers import NumberFormat
    >>> from gscli.views.options import ViewOptions
    >>> from gscli.views.signs import signs_of
    >>> found = trace("onnx.scatter_nd", {"data": [1, 2], "indices": [[-1]], "updates": [9]})
    >>> teller = Teller(found, NumberFormat(), signs_of(ViewOptions(utf8=False)))
    >>> sentence(teller, found.entries()[0])
    'entry a: indices[0] is (-1); -1 counts from the end and means 1; output[1] was 2, becomes 9.'
    """
    place, vector = teller.source(entry)
    parts = [f"entry {entry.label}: {place} is {vector}"]
    parts += [reason(one, over=passed_over(teller.trace, entry)) for one in entry.adjustments]
    if teller.moves_nothing:
        return "; ".join([*parts, "its slice is empty"]) + "."
    told = _gathered if teller.trace.kind == "gather" else _scattered
    return "; ".join([*parts, *told(teller, entry)]) + "."


def reason(one: Adjustment, *, over: bool) -> str:
    """What became of a number that is not its own coordinate; `over`: it skips its entry."""
    if one.how == "skipped" and over:
        return f"{one.written} is below zero, which skips the entry"
    if one.how == "skipped":
        return one.words().replace(" is outside", " is out of range")
    if one.how == "clipped":
        return f"{one.written} is clipped to {one.coordinate}"
    if one.coordinate is not None and one.written + one.size == one.coordinate:
        return f"{one.written} counts from the end and means {one.coordinate}"
    return f"{one.written} wraps to {one.coordinate}"


def _gathered(teller: Teller, entry: Entry) -> list[str]:
    result = teller.result_cell(entry)
    if entry.target is None:
        return [f"nothing is read, {result} gets the fill value {teller.fill()}"]
    told = f"{teller.target_cell(entry)} is read into {result}"
    if entry.result is not None and box_size(entry.target) == box_size(entry.result) == 1:
        return [f"{told}, the value is {teller.value(at(teller.trace.output, entry.result))}"]
    if entry.result is None or box_size(entry.result) > TOLD_CELLS:
        return [f"{told}, {teller.slice_size(entry.target)}"]
    values = teller.values(part_of(teller.trace.output, entry.result))
    return [f"{told}, the values are {', '.join(values)}"]


def _scattered(teller: Teller, entry: Entry) -> list[str]:
    update = teller.result_cell(entry)
    if entry.target is None:
        return [f"the entry is dropped and {update} is not used"]
    target, change = teller.target_cell(entry), entry.change
    if change is None or change.old.size != 1:
        told = [_slice(teller.trace, target, update)]
        if change is not None and change.old.size <= TOLD_CELLS:
            parts = (change.old, mean_or_new(teller.trace, change))
            was, now = (", ".join(teller.values(one)) for one in parts)
            told.append(f"it was {was}, becomes {now}")
    else:
        mean = teller.trace.averages
        old, new = (
            teller.value(one.reshape(-1)[0])
            for one in (change.old, mean_or_new(teller.trace, change))
        )
        kind = "mean" if teller.trace.reduction == "mean" else "result"
        told = [f"the {kind} for {target} is {new} so far" if mean else
                f"{target} was {old}, becomes {new}"]  # fmt: skip
        if change.fresh:
            told.append("the value of data is not counted")
    if change is not None and change.again is not None:
        told.append(f"entry {label_of(change.again)} wrote there before")
    if entry.dropped:
        lies = "is" if entry.lost == 1 else "are"
        told.append(f"{teller.dropped(entry)} {lies} outside and dropped")
    return told


def _slice(trace: Trace, target: str, update: str) -> str:
    if trace.reduction == "none":
        return f"{target} becomes {update}"
    if trace.reduction in _PAST:
        return _PAST[trace.reduction].format(update, target)
    return f"{target} becomes the {trace.reduction} of itself and {update}"


def tensor_lines(name: str, array: Array, numbers: NumberFormat, signs: Signs) -> list[str]:
    """Type, shape and, up to TOLD_CELLS cells, the values row by row.

    >>> from gscli.views.options import ViewOptions
    >>> from gscli.views.signs import signs_of
    >>> tensor_lines("data", np.array([[1, 2]]), NumberFormat(), signs_of(ViewOptions()))
    ['data is int64 with shape [1,2].', 'data[0,:] is 1, 2.']
    """
    head = f"{name} is {dtype_name(array.dtype)} with shape {shape_text(array.shape)}"
    if array.size > TOLD_CELLS or not array.size:
        return [head + "."]
    if array.ndim <= 1:
        word = "value is" if array.size == 1 else "values are"
        return [f"{head}, its {word} {', '.join(numbers.values(array, signs))}."]
    lines = [head + "."]
    for place in np.ndindex(array.shape[:-1]):
        row = ", ".join(numbers.values(array[place], signs))
        lines.append(f"{name}[{','.join(map(str, place))},:] is {row}.")
    return lines
