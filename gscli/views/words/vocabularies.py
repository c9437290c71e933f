"""What one entry did and what its numbers mean: as a path from index to value, in plain sentences.

Vocabularies are tables of data over the same facts: a row per case, what is said as patterns. What
is said of numbers that are not their own coordinates stands in `gscli.plan.outcomes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from gscli.base.arrays import Array, dtype_name
from gscli.base.records import Record
from gscli.base.words import format_shape, sanitize
from gscli.layout import Layout
from gscli.plan.indices import IndexOutcome, format_legal_range
from gscli.plan.outcomes import OUTCOMES, AdjustedIndex, describe_skips, outcome_of
from gscli.traces import Entry
from gscli.views.summary import name_axes
from gscli.views.texts import NumberFormat
from gscli.views.words.facts import TOLD_CELLS, Describer


class SentenceTemplates(Record):
    """`rows`: what is said in a case, or in a case of some amount; `notes`: what is added."""

    rows: Mapping[str, tuple[str, ...]]
    notes: Mapping[str, str] = {}


# What leads to a value, which may be empty, and the value.
PATH_TEMPLATES = SentenceTemplates(
    {
        "empty": ("{index} {arrow} an empty slice", ""),
        "unbagged": ("{index} {arrow} {target}, which is in no bag", ""),
        "refused": ("{index}{why}, which is refused", ""),
        "filled": ("{index}{why} {arrow} {result} is filled with", "{new}"),
        "dropped": ("{index}{why}, so {unused} is dropped", ""),
        "read": ("{index}{moved} {arrow} {target} {arrow} {result} =", "{new}"),
        "read many": ("{index}{moved} {arrow} {target} {arrow} {result}, {size}", ""),
        "folded": ("{index}{moved} {arrow} {target} = {new}{times} {arrow} {result}", ""),
        "gradient": ("{index}{moved} {arrow} {result} =", "{new}"),
        "gradient many": ("{index}{moved} {arrow} {result}, {size}", ""),
        "unknown": ("{index}{moved} {arrow} {target} is written", ""),
        "set": ("{index}{moved} {arrow} {target}: {old} becomes", "{new}"),
        "met": ("{index}{moved} {arrow} {target}: {sum} =", "{new}"),
        "first": ("{index}{moved} {arrow} {target}: starts with", "{new}"),
        "": ("{index}{moved} {arrow} {target} {by}, {size}", ""),
    },
    {
        "again": ", again after {again}",
        "lost": ", {lost} dropped outside",
        "fresh": ", its old value is not counted",
        "total": ", which comes to {total}",
    },
)

# What an entry moves, and how one cell came to its value.
MOVE_TEMPLATES = SentenceTemplates(
    {
        "refused": ("", ""),
        "read": ("{new}", ""),
        "read many": ("{target}", ""),
        "gradient": ("{new}", ""),
        "set one": ("{update}", "{old} → {new}"),
        "met one": ("{update}", "{sum} = {new}"),
        "first one": ("{update}", "{new}"),
        "": ("{result}", ""),
    },
)

PLAIN_TEMPLATES = SentenceTemplates(
    {
        "empty": ("its slice is empty",),
        "unbagged": ("{target} is in no bag",),
        "refused": ("the call is refused",),
        "filled": ("nothing is read, {result} gets the fill value {new}",),
        "dropped": ("the entry is dropped and {result} is not used",),
        "dropped alone": ("the entry is dropped",),
        "read one": ("{target} is read into {result}, the value is {new}",),
        "read some": ("{target} is read into {result}, the values are {new}",),
        "read many": ("{target} is read into {result}, {size}",),
        "folded one": ("{target}, which is {new}, goes into {result}{times}",),
        "folded some": ("{target}, whose values are {new}, goes into {result}{times}",),
        "folded many": ("{target} goes into {result}{times}, {size}",),
        "gradient": ("{result} is {new}",),
        "gradient many": ("{result}, {size}",),
        "met one": ("{target} was {old}, becomes {new}",),
        "mean one": ("{target} is {new} so far",),
        "first": ("{target} becomes {new}",),
        "met some": ("{past}", "it was {old}, becomes {new}"),
        "mean some": ("{past}", "it is {new} so far"),
        "": ("{past}",),
    },
    {
        "fresh": "its old value is not counted",
        "total": "{result} comes to {total}",
        "again": "entry {again} wrote there before",
        "lost": "{lost} {lie} outside and dropped",
    },
)


# Cases of which is said what is said of others, where they have no row of their own.
_ALIKE = {"filled": "read", "folded": "read", "set": "met", "mean": "met", "first": "met"}


def format_entry(
    describer: Describer, entry: Entry, vocabulary: SentenceTemplates
) -> tuple[list[str], list[str]]:
    """The parts of what is said of an entry, and the notes."""
    facts = describer.describe(entry)
    rows = vocabulary.rows
    texts = facts.texts | {"moved": format_adjusted_vector(entry)}
    names = (facts.case, _ALIKE.get(facts.case, facts.case))
    amounts = (f" {facts.amount}", "")[: 1 + (facts.amount != "many")]
    keys = [name + amount for name in names for amount in amounts]
    parts = next(rows[key] for key in [*keys, ""] if key in rows)
    notes = [vocabulary.notes[note] for note in vocabulary.notes if note in texts]
    said, added = ([template.format(**texts) for template in each] for each in (parts, notes))
    return said, added


def describe_entry(teller: Describer, entry: Entry) -> str:
    """What one entry did, in plain words.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.scatter_nd", {"data": [1, 2], "indices": [[-1]], "updates": [9]})
    >>> describe_entry(Describer(found, NumberFormat()), found.entries()[0])
    'entry a: indices[0] is (-1); -1 counts from the end and means 1; output[1] was 2, becomes 9.'
    """
    place, vector = teller.locate_index(entry)
    parts, notes = format_entry(teller, entry, PLAIN_TEMPLATES)
    means = [describe_index(teller, index, "plain") for index in entry.adjustments]
    index = [f"{place} is {vector}"] * bool(place)
    return f"entry {entry.label}: {'; '.join([*index, *means, *parts, *notes])}."


def describe_tensor(
    name: str, array: Array, numbers: NumberFormat, most: int = TOLD_CELLS
) -> list[str]:
    """Type, shape and, up to so many cells, the values row by row.

    >>> describe_tensor("data", np.array([[1, 2]]), NumberFormat())
    ['data is int64 with shape [1,2].', 'data[0,:] is 1, 2.']
    """
    head = f"{name} is {dtype_name(array.dtype)} with shape {format_shape(array.shape)}"
    if array.size > most or not array.size:
        return [head + "."]
    if array.ndim <= 1:
        word = "value is" if array.size == 1 else "values are"
        return [f"{head}, its {word} {', '.join(numbers.format_values(array))}."]
    lines = [head + "."]
    for place in np.ndindex(array.shape[:-1]):
        row = ", ".join(numbers.format_values(array[place]))
        lines.append(f"{name}[{','.join(map(str, place))},:] is {row}.")
    return lines


def describe_index(
    teller: Describer, index: AdjustedIndex, audience: Literal["remark", "plain", "rule", "way"]
) -> str:
    """What one number of an entry means: under a picture, in sentences, as a reason.

    >>> from gscli.traces import trace
    >>> from gscli.views.texts import NumberFormat
    >>> found = trace("onnx.gather", {"data": [[1], [2]], "indices": [-1]})
    >>> (entry,) = found.entries()
    >>> describe_index(Describer(found, NumberFormat()), entry.adjustments[0], "remark")
    '-1 counts from the end: row 1'
    >>> found = trace("jax.at.set", {"x": [], "indices_0": [5], "values": [1]})
    >>> (entry,) = found.entries()
    >>> describe_index(Describer(found, NumberFormat()), entry.adjustments[0], "remark")
    '5 is outside an empty axis: dropped'
    """
    layout, template = teller.trace.layout, getattr(OUTCOMES[index.outcome], audience)
    number = layout.column_axes[index.slot]
    axis = layout.axes[number]
    fate = describe_skips(layout, index.outcome).word
    fate = f"filled with {teller.format_fill()}" if fate == "filled" else fate
    is_far = index.raw_value < 0 and outcome_of(layout.policy, negative=True) == "unsigned"
    return index.format(
        template, fate=fate, does=describe_effect(layout, "unsigned" if is_far else index.outcome),
        place=f"{name_axes(layout)[number]} {index.coordinate}", change=index.change(layout),
        legal=format_legal_range(axis, layout.policy) if axis.size else "an empty axis",
    )  # fmt: skip


def format_adjusted_vector(entry: Entry) -> str:
    """What the policy made of the vector, if anything: ` counts from the end: 2`."""
    moved = [index for index in entry.adjustments if index.coordinate is not None]
    if not moved:
        return ""
    numbers = dict(enumerate(entry.vector)) | {index.slot: index.coordinate for index in moved}
    text = ", ".join(map(str, numbers.values()))
    path, *others = dict.fromkeys(index.path for index in moved)
    return f" {'means' if others else path} {text if len(numbers) == 1 else f'({text})'}"


def describe_effect(layout: Layout, outcome: IndexOutcome) -> str:
    """What an index of this outcome does, as the end of a sentence.

    >>> from gscli.traces import trace
    >>> describe_effect(trace("onnx.gather", {"data": [1], "indices": [0]}).layout, "outside")
    'reads nothing and gives 0'
    """
    reads = f"reads nothing and gives {sanitize(repr(layout.fill_value))}"
    nothing = reads if describe_skips(layout).word == "filled" else "writes nothing"
    return OUTCOMES[outcome].does.format(nothing=nothing)
