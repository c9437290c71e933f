"""What one entry did and what its numbers mean: terse for legends, in plain sentences, for pages.

Vocabularies are tables of data over the same facts: a row per case, what is said as patterns. So
are meanings of numbers that are not their own coordinates: a row each, a column per vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gscli.base.arrays import Array, dtype_name
from gscli.base.records import Record
from gscli.base.words import counted, safe
from gscli.layout import Layout
from gscli.layout.axes import Beyond, Negative
from gscli.plan.indices import legal_range
from gscli.traces import Adjustment, Entry, Trace
from gscli.views.summary import axis_names
from gscli.views.texts import NumberFormat
from gscli.views.words.facts import Brackets, Teller, shape_text

TOLD_CELLS = 100
"""Cells of a tensor or slice whose values are told in sentences."""


class Vocabulary(Record):
    """`rows`: what is said in a case, or in a case of some amount; `notes`: what is added."""

    brackets: Brackets
    rows: Mapping[str, tuple[str, ...]]
    notes: Mapping[str, str] = {}


TERSE = Vocabulary(
    Brackets(8),
    {
        "empty": ("{arrow} an empty slice", ""),
        "filled": ("{skipped}", "{arrow} {result} = {new}", "fill"),
        "dropped": ("{skipped}", "dropped, {unused} unused"),
        "read": ("{arrow} {target}", "{arrow} {result} = {new}"),
        "read many": ("{arrow} {target}", "{arrow} {result}"),
        "set one": ("{arrow} {target}", "= {new}", "was {old}"),
        "met one": ("{arrow} {target}", "{sum} = {new}"),
        "set some": ("{arrow} {target}", "{by} = {new}"),
        "met some": ("{arrow} {target}", "{by} = {new}"),
        "": ("{arrow} {target}", "{by}"),
    },
    {
        "again": "again: {again}",
        "lost": "{lost} outside, dropped",
        "fresh": "old value not counted",
    },
)
"""Target, result, and a note where there is no other."""

PLAIN = Vocabulary(
    Brackets(TOLD_CELLS, between=", "),
    {
        "empty": ("its slice is empty",),
        "filled": ("nothing is read, {result} gets the fill value {new}",),
        "dropped": ("the entry is dropped and {result} is not used",),
        "read one": ("{target} is read into {result}, the value is {new}",),
        "read some": ("{target} is read into {result}, the values are {new}",),
        "read many": ("{target} is read into {result}, {size}",),
        "set one": ("{target} was {old}, becomes {new}",),
        "met one": ("{target} was {old}, becomes {new}",),
        "mean one": ("{target} is {new} so far",),
        "first one": ("{target} becomes {new}",),
        "set some": ("{past}", "it was {old}, becomes {new}"),
        "met some": ("{past}", "it was {old}, becomes {new}"),
        "mean some": ("{past}", "it is {new} so far"),
        "": ("{past}",),
    },
    {
        "fresh": "the value of data is not counted",
        "again": "entry {again} wrote there before",
        "lost": "{lost} {lie} outside and dropped",
    },
)


def told(teller: Teller, entry: Entry, vocabulary: Vocabulary) -> tuple[list[str], list[str]]:
    """The parts of what is said of an entry, and the notes."""
    facts = teller.facts(entry, vocabulary.brackets)
    rows = vocabulary.rows
    texts = facts.texts | {"moved": moved(teller, entry)}
    why = "below zero" if passed_over(teller.trace, entry) else "out of range"
    texts["skipped"] = f"{teller.signs.skipped} {why}"
    names = (facts.case, "met" if facts.case in ("mean", "first") else facts.case)
    keys = [*(f"{name} {facts.amount}" for name in names), *names[: 2 * (facts.amount != "many")]]
    parts = next(rows[key] for key in [*keys, ""] if key in rows)
    notes = [vocabulary.notes[note] for note in vocabulary.notes if note in facts.notes]
    return [one.format(**texts) for one in parts], [one.format(**texts) for one in notes]


def sentence(teller: Teller, entry: Entry) -> str:
    """What one entry did, in plain words.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.scatter_nd", {"data": [1, 2], "indices": [[-1]], "updates": [9]})
    >>> sentence(Teller(found, NumberFormat()), found.entries()[0])
    'entry a: indices[0] is (-1); -1 counts from the end and means 1; output[1] was 2, becomes 9.'
    """
    place, vector = teller.source(entry)
    parts, notes = told(teller, entry, PLAIN)
    means = [meaning(teller, entry, one).plain for one in entry.adjustments]
    return "; ".join([f"entry {entry.label}: {place} is {vector}", *means, *parts, *notes]) + "."


def tensor_lines(
    name: str, array: Array, numbers: NumberFormat, most: int = TOLD_CELLS
) -> list[str]:
    """Type, shape and, up to so many cells, the values row by row.

    >>> tensor_lines("data", np.array([[1, 2]]), NumberFormat())
    ['data is int64 with shape [1,2].', 'data[0,:] is 1, 2.']
    """
    head = f"{name} is {dtype_name(array.dtype)} with shape {shape_text(array.shape)}"
    if array.size > most or not array.size:
        return [head + "."]
    if array.ndim <= 1:
        word = "value is" if array.size == 1 else "values are"
        return [f"{head}, its {word} {', '.join(numbers.values(array))}."]
    lines = [head + "."]
    for place in np.ndindex(array.shape[:-1]):
        row = ", ".join(numbers.values(array[place]))
        lines.append(f"{name}[{','.join(map(str, place))},:] is {row}.")
    return lines


class NumberMeaning(Record):
    """`remark` under a picture, `plain` in sentences, `moved` in a path, `rule` as a reason."""

    remark: str
    plain: str
    moved: str
    rule: str


_MEANINGS = {
    "end": NumberMeaning(
        "{written} counts from the end: {place}",
        "{written} counts from the end and means {coordinate}",
        "counts from the end:",
        "an index below zero counts from the end",
    ),
    "fraction": NumberMeaning(
        "{written} loses its fraction: {place}",
        "{written} loses its fraction and means {coordinate}",
        "loses its fraction:",
        "the fraction is cut off",
    ),
    "wraps": NumberMeaning(
        "{written} wraps around {size}: {place}",
        "{written} wraps to {coordinate}",
        "wraps around to",
        "an index outside {wrapped}",
    ),
    "clipped": NumberMeaning(
        "{written} is clipped to {place}",
        "{written} is clipped to {coordinate}",
        "is clipped to",
        "an index outside {clipped}",
    ),
    "below": NumberMeaning(
        "{written} is below zero: {fate}",
        "{written} is below zero, which skips the entry",
        "",
        "an index below zero skips its entry",
    ),
    "outside": NumberMeaning(
        "{written} is outside {low} … {high}: {fate}",
        "{beside}",
        "",
        "such an index {skipped}",
    ),
    "partly": NumberMeaning(
        "{written} puts the window partly outside{lost}",
        "{beside}",
        "",
        "such an index {skipped}",
    ),
}


def kind_of(trace: Trace, entry: Entry, one: Adjustment) -> str:
    """Which row of the meanings is that of a number."""
    policy = trace.layout.policy
    if one.how == "skipped":
        below = one.written < 0 and policy.negative is Negative.SKIP
        return "partly" if entry.live else "below" if below else "outside"
    if one.how == "clipped":
        return "clipped"
    if policy.negative is Negative.FROM_END and -one.size <= one.written < 0:
        return "end"
    return "fraction" if int(one.written) == one.coordinate else "wraps"


def meaning(teller: Teller, entry: Entry, one: Adjustment) -> NumberMeaning:
    """What one number of an entry means, in every vocabulary.

    >>> from gscli.traces import trace
    >>> from gscli.views.texts import NumberFormat
    >>> found = trace("onnx.gather", {"data": [[1], [2]], "indices": [-1]})
    >>> (entry,) = found.entries()
    >>> meaning(Teller(found, NumberFormat()), entry, entry.adjustments[0])[:2]
    ('-1 counts from the end: row 1', '-1 counts from the end and means 1')
    """
    layout = teller.trace.layout
    axis = layout.column_axes[one.slot]
    low, high = legal_range(layout.axes[axis], layout.policy)
    facts = one._asdict() | {
        "beside": one.words().replace(" is outside", " is out of range"),
        "place": f"{axis_names(layout)[axis]} {one.coordinate}",
        "low": low,
        "high": high,
        "fate": fate(teller),
        "lost": f": {counted(entry.lost, 'update')} dropped" if entry.lost else "",
        "wrapped": outside(layout, Beyond.WRAP),
        "clipped": outside(layout, Beyond.CLIP),
        "skipped": outside(layout, Beyond.SKIP),
    }
    found = _MEANINGS[kind_of(teller.trace, entry, one)]
    return NumberMeaning(*(text.format(**facts) for text in found))


def fate(teller: Teller) -> str:
    """What becomes of an entry without a cell."""
    return f"filled with {teller.fill()}" if teller.trace.kind == "gather" else "dropped"


def moved(teller: Teller, entry: Entry) -> str:
    """What the policy made of the vector, if anything: ` counts from the end: 2`."""
    vector, verbs = list(entry.vector), list[str]()
    for one in entry.adjustments:
        if one.coordinate is not None:
            vector[one.slot] = one.coordinate
            verbs.append(meaning(teller, entry, one).moved)
    if not verbs:
        return ""
    told = str(vector[0]) if len(vector) == 1 else f"({', '.join(map(str, vector))})"
    return f" {' and '.join(dict.fromkeys(verbs))} {told}"


def passed_over(trace: Trace, entry: Entry) -> bool:
    """Whether an index below zero is this operator's way to skip an entry."""
    return not entry.live and any(
        kind_of(trace, entry, one) == "below" for one in entry.adjustments
    )


_BEYOND = {
    Beyond.RAISE: "is refused",
    Beyond.WRAP: "is taken modulo the size",
    Beyond.CLIP: "moves to the nearest end",
}


def outside(layout: Layout, beyond: Beyond) -> str:
    """What an index outside its range does, as the end of a sentence.

    >>> from gscli.traces import trace
    >>> outside(trace("onnx.gather", {"data": [1], "indices": [0]}).layout, Beyond.SKIP)
    'reads nothing and gives 0'
    """
    if beyond is Beyond.SKIP:
        given = f"reads nothing and gives {safe(repr(layout.fill))}"
        return given if layout.kind == "gather" else "writes nothing"
    return _BEYOND[beyond]
