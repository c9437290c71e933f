"""What one entry did: terse for legends, in plain sentences, and as the page says it.

Each is a table of data over the same facts: a row per case, the parts of what is said as patterns.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gscli.base.arrays import Array, dtype_name
from gscli.base.records import Record
from gscli.traces.trace import Entry
from gscli.views.numbers import NumberFormat
from gscli.views.words.facts import Brackets, Teller, shape_text
from gscli.views.words.meanings import meaning, moved, passed_over

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

    >>> from gscli.traces.trace import trace
    >>> found = trace("onnx.scatter_nd", {"data": [1, 2], "indices": [[-1]], "updates": [9]})
    >>> sentence(Teller(found, NumberFormat()), found.entries()[0])
    'entry a: indices[0] is (-1); -1 counts from the end and means 1; output[1] was 2, becomes 9.'
    """
    place, vector = teller.source(entry)
    parts, notes = told(teller, entry, PLAIN)
    means = [meaning(teller, entry, one).plain for one in entry.adjustments]
    return "; ".join([f"entry {entry.label}: {place} is {vector}", *means, *parts, *notes]) + "."


def tensor_lines(name: str, array: Array, numbers: NumberFormat) -> list[str]:
    """Type, shape and, up to TOLD_CELLS cells, the values row by row.

    >>> tensor_lines("data", np.array([[1, 2]]), NumberFormat())
    ['data is int64 with shape [1,2].', 'data[0,:] is 1, 2.']
    """
    head = f"{name} is {dtype_name(array.dtype)} with shape {shape_text(array.shape)}"
    if array.size > TOLD_CELLS or not array.size:
        return [head + "."]
    if array.ndim <= 1:
        word = "value is" if array.size == 1 else "values are"
        return [f"{head}, its {word} {', '.join(numbers.values(array))}."]
    lines = [head + "."]
    for place in np.ndindex(array.shape[:-1]):
        row = ", ".join(numbers.values(array[place]))
        lines.append(f"{name}[{','.join(map(str, place))},:] is {row}.")
    return lines
