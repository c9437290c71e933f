"""What a number means that is not its own coordinate: -1 the last one, 9 clipped, 5 outside.

One table for every view: a row per meaning, a column per vocabulary.
"""

from __future__ import annotations

from gscli.base.records import Record
from gscli.base.text import counted, safe
from gscli.layout.axes import Beyond, Negative
from gscli.layout.layout import Layout
from gscli.plan.policy import legal_range
from gscli.traces.trace import Adjustment, Entry, Trace
from gscli.views.words.facts import Teller
from gscli.views.words.purpose import axis_names


class Meaning(Record):
    """`remark` under a picture, `plain` in sentences, `moved` in a path, `rule` as a reason."""

    remark: str
    plain: str
    moved: str
    rule: str


_MEANINGS = {
    "end": Meaning(
        "{written} counts from the end: {place}",
        "{written} counts from the end and means {coordinate}",
        "counts from the end:",
        "an index below zero counts from the end",
    ),
    "fraction": Meaning(
        "{written} loses its fraction: {place}",
        "{written} loses its fraction and means {coordinate}",
        "loses its fraction:",
        "the fraction is cut off",
    ),
    "wraps": Meaning(
        "{written} wraps around {size}: {place}",
        "{written} wraps to {coordinate}",
        "wraps around to",
        "an index outside {wrapped}",
    ),
    "clipped": Meaning(
        "{written} is clipped to {place}",
        "{written} is clipped to {coordinate}",
        "is clipped to",
        "an index outside {clipped}",
    ),
    "below": Meaning(
        "{written} is below zero: {fate}",
        "{written} is below zero, which skips the entry",
        "",
        "an index below zero skips its entry",
    ),
    "outside": Meaning(
        "{written} is outside {low} … {high}: {fate}",
        "{beside}",
        "",
        "such an index {skipped}",
    ),
    "partly": Meaning(
        "{written} puts the window partly outside{lost}",
        "{beside}",
        "",
        "such an index {skipped}",
    ),
}


def _kind(trace: Trace, entry: Entry, one: Adjustment) -> str:
    policy = trace.layout.policy
    if one.how == "skipped":
        below = one.written < 0 and policy.negative is Negative.SKIP
        return "partly" if entry.live else "below" if below else "outside"
    if one.how == "clipped":
        return "clipped"
    if policy.negative is Negative.FROM_END and -one.size <= one.written < 0:
        return "end"
    return "fraction" if int(one.written) == one.coordinate else "wraps"


def meaning(teller: Teller, entry: Entry, one: Adjustment) -> Meaning:
    """What one number of an entry means, in every vocabulary.

    >>> from gscli.traces.trace import trace
    >>> from gscli.views.numbers import NumberFormat
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
    found = _MEANINGS[_kind(teller.trace, entry, one)]
    return Meaning(*(text.format(**facts) for text in found))


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
    return not entry.live and any(_kind(trace, entry, one) == "below" for one in entry.adjustments)


_BEYOND = {
    Beyond.RAISE: "is refused",
    Beyond.WRAP: "is taken modulo the size",
    Beyond.CLIP: "moves to the nearest end",
}


def outside(layout: Layout, beyond: Beyond) -> str:
    """What an index outside its range does, as the end of a sentence.

    >>> from gscli.traces.trace import trace
    >>> outside(trace("onnx.gather", {"data": [1], "indices": [0]}).layout, Beyond.SKIP)
    'reads nothing and gives 0'
    """
    if beyond is Beyond.SKIP:
        given = f"reads nothing and gives {safe(repr(layout.fill))}"
        return given if layout.kind == "gather" else "writes nothing"
    return _BEYOND[beyond]
