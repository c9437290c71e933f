"""Why an entry did what it did: the rule with this entry's numbers, and where the rule stands."""

from __future__ import annotations

from gscli.layout.axes import Beyond, Negative
from gscli.traces.trace import Adjustment, Entry, Trace, label_of
from gscli.views.words.formula import Formula, outside
from gscli.views.words.statements import Teller


def why(teller: Teller, entry: Entry) -> list[str]:
    r"""Sentences about one entry, the last one names the source of the rule.

    >>> from gscli.traces.trace import trace
    >>> from gscli.views.numbers import NumberFormat
    >>> from gscli.views.options import ViewOptions
    >>> from gscli.views.signs import signs_of
    >>> found = trace("onnx.gather", {"data": [1, 2, 3], "indices": [-1]})
    >>> told = why(Teller(found, NumberFormat(), signs_of(ViewOptions())), found.entries()[0])
    >>> print(*told, sep="\n")
    output[i] = data[indices[i]] with i = 0.
    -1 on axis 0 of size 3 is 2: an index below zero counts from the end.
    Rule: ONNX gather, opset 13.
    """
    trace, formula = teller.trace, Formula(teller.trace)
    place = formula.at(entry)
    told = [f"{formula.equation} with {place}." if place else f"{formula.equation}."]
    told += [_adjusted(trace, one) for one in entry.adjustments]
    if entry.target is None and not entry.adjustments:
        told.append("The window lies outside the data.")
    told += _met(teller, entry)
    return [*told, source(trace)]


def source(trace: Trace) -> str:
    """Framework, operator and version that the rule is taken from."""
    operator, version = trace.operator, trace.attributes.get("opset")
    word = operator.framework.version_word
    told = f"Rule: {operator.framework.title} {operator.name}"
    told += f", {word} {version}" if version is not None else ""
    note = trace.layout.policy.note
    return f"{told}; {note}." if note else f"{told}."


def _adjusted(trace: Trace, one: Adjustment) -> str:
    """What was done to one number, and the rule that says so."""
    policy = trace.layout.policy
    if one.how == "skipped" and one.written < 0 and policy.negative is Negative.SKIP:
        rule = "an index below zero skips its entry"
    elif one.how == "skipped":
        rule = f"such an index {outside(trace.layout, Beyond.SKIP)}"
    elif one.how == "clipped":
        rule = f"an index outside {outside(trace.layout, Beyond.CLIP)}"
    elif policy.negative is Negative.FROM_END and -one.size <= one.written < 0:
        rule = "an index below zero counts from the end"
    elif isinstance(one.written, float) and int(one.written) == one.coordinate:
        rule = "the fraction is cut off"
    else:
        rule = f"an index outside {outside(trace.layout, Beyond.WRAP)}"
    return f"{one.words()}: {rule}."


def _met(teller: Teller, entry: Entry) -> list[str]:
    """What happens where an earlier entry wrote already."""
    trace, change = teller.trace, entry.change
    if trace.kind == "scatter" and change is None and entry.target is not None:
        return ["The slice is too large to be replayed: output shows the final values."]
    if change is None or change.again is None or entry.target is None:
        return []
    told = f"{teller.target_cell(entry)} was already written by entry {label_of(change.again)}"
    if trace.reduction != "none":
        sum_ = f": {teller.arithmetic(change)}" if change.old.size == 1 else ""
        return [f"{told}, and reduction {trace.reduction} combines them{sum_}."]
    if trace.layout.open_order:
        return [f"{told}. {trace.layout.open_order}; here the last entry wins."]
    return [f"{told}; the last entry wins."]
