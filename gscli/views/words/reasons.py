"""Why an entry did what it did: the rule with this entry's numbers, and where the rule stands."""

from __future__ import annotations

from gscli.traces import Entry, Trace, label_of
from gscli.views.words.facts import Teller
from gscli.views.words.formula import Formula
from gscli.views.words.vocabularies import TERSE, meaning, told


def why(teller: Teller, entry: Entry) -> list[str]:
    r"""Sentences about one entry, the last one names the source of the rule.

    >>> from gscli.traces import trace
    >>> from gscli.views.texts import NumberFormat
    >>> found = trace("onnx.gather", {"data": [1, 2, 3], "indices": [-1]})
    >>> print(*why(Teller(found, NumberFormat()), found.entries()[0]), sep="\n")
    output[i] = data[indices[i]] with i = 0.
    -1 on axis 0 of size 3 is 2: an index below zero counts from the end.
    Rule: ONNX gather, opset 13.
    """
    trace, formula = teller.trace, Formula(teller.trace)
    place = formula.at(entry)
    lines = [f"{formula.equation} with {place}." if place else f"{formula.equation}."]
    lines += [f"{one.words()}: {meaning(teller, entry, one).rule}." for one in entry.adjustments]
    if entry.target is None and not entry.adjustments:
        lines.append("The window lies outside the data.")
    return [*lines, *_earlier(teller, entry), source(trace)]


def source(trace: Trace) -> str:
    """Framework, operator and version that the rule is taken from."""
    operator, version = trace.operator, trace.attributes.get("opset")
    word = operator.framework.version_word
    told = f"Rule: {operator.framework.title} {operator.name}"
    told += f", {word} {version}" if version is not None else ""
    note = trace.layout.policy.note
    return f"{told}; {note}." if note else f"{told}."


def _earlier(teller: Teller, entry: Entry) -> list[str]:
    """What happens where an earlier entry wrote already."""
    trace, change = teller.trace, entry.change
    if trace.kind == "scatter" and change is None and entry.target is not None:
        return ["The slice is too large to be replayed: output shows the final values."]
    if change is None or change.again is None or entry.target is None:
        return []
    again = f"{teller.target_cell(entry)} was already written by entry {label_of(change.again)}"
    if trace.reduction != "none":
        (_, met), _ = told(teller, entry, TERSE)
        sum_ = f": {met}" if change.old.size == 1 else ""
        return [f"{again}, and reduction {trace.reduction} combines them{sum_}."]
    if trace.layout.open_order:
        return [f"{again}. {trace.layout.open_order}; here the last entry wins."]
    return [f"{again}; the last entry wins."]
