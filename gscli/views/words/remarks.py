"""What a picture cannot draw: numbers that mean another coordinate, cells hit more than once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gscli.base.records import Record
from gscli.base.text import counted
from gscli.layout.boxes import Box
from gscli.plan.policy import legal_range
from gscli.traces.trace import Adjustment, Entry
from gscli.views.words.purpose import axis_names, slice_name
from gscli.views.words.statements import BOOLEAN, WORDS, Teller, mean_or_new, passed_over

LISTED = 4
"""Remarks of one kind before the rest is counted."""

_MOST_TERMS = 6


class Remark(Record):
    """The entries that it is about, and what is said; no entries: it counts what is left out."""

    entries: tuple[Entry, ...]
    text: str


def remarks(teller: Teller, entries: Sequence[Entry]) -> list[Remark]:
    """First what became of the numbers, then the cells that several entries met.

    >>> from gscli.traces.trace import trace
    >>> from gscli.views.numbers import NumberFormat
    >>> from gscli.views.options import ViewOptions
    >>> from gscli.views.signs import signs_of
    >>> inputs = {"data": [1, 2], "indices": [[-1], [1]], "updates": [9, 8]}
    >>> found = trace("onnx.scatter_nd", inputs, {"reduction": "add"})
    >>> teller = Teller(found, NumberFormat(), signs_of(ViewOptions()))
    >>> [one.text for one in remarks(teller, found.entries())]
    ['-1 counts from the end: cell 1', 'one cell, twice: 2 + 9 + 8 = 19']
    """
    if teller.moves_nothing:
        return []
    adjusted = list(_adjusted(teller, entries))
    met = list(_met(teller, entries)) if teller.trace.kind == "scatter" else []
    return [*_first(adjusted, "number"), *_first(met, "cell")]


def _first(found: list[Remark], thing: str) -> list[Remark]:
    rest = len(found) - LISTED
    more = [Remark((), f"and {counted(rest, f'more such {thing}')}")] if rest > 0 else []
    return found[:LISTED] + more


def _adjusted(teller: Teller, entries: Sequence[Entry]) -> Iterator[Remark]:
    """A remark per number and axis, with all entries that say it."""
    groups: dict[tuple[object, ...], list[tuple[Entry, Adjustment]]] = {}
    for entry in entries:
        for one in entry.adjustments:
            key = (one.axis, one.written, one.how, entry.live)
            groups.setdefault(key, []).append((entry, one))
    for found in groups.values():
        entry, one = found[0]
        yield Remark(tuple(entry for entry, _ in found), _meaning(teller, entry, one))


def _meaning(teller: Teller, entry: Entry, one: Adjustment) -> str:
    trace, written = teller.trace, one.written
    axis = trace.layout.column_axes[one.slot]
    place = f"{axis_names(trace.layout)[axis]} {one.coordinate}"
    if one.how == "clipped":
        return f"{written} is clipped to {place}"
    if one.how == "skipped":
        return f"{written} {_outside(teller, entry, one)}"
    if written < 0 and one.coordinate == written + one.size:
        return f"{written} counts from the end: {place}"
    if isinstance(written, float) and one.coordinate == int(written):
        return f"{written} loses its fraction: {place}"
    return f"{written} wraps around {one.size}: {place}"


def _outside(teller: Teller, entry: Entry, one: Adjustment) -> str:
    trace = teller.trace
    if entry.live:
        lost = f": {counted(entry.lost, 'update')} dropped" if entry.lost else ""
        return f"puts the window partly outside{lost}"
    fate = f"filled with {teller.fill()}" if trace.kind == "gather" else "dropped"
    if passed_over(trace, entry) and one.written < 0:
        return f"is below zero: {fate}"
    axis = trace.layout.axes[trace.layout.column_axes[one.slot]]
    low, high = legal_range(axis, trace.layout.policy)
    return f"is outside {low} … {high}: {fate}"


def _met(teller: Teller, entries: Sequence[Entry]) -> Iterator[Remark]:
    """Cells, and slices as a whole, that several entries wrote."""
    for found, told in meetings(teller, entries):
        assert found[0].target is not None
        thing = slice_name(tuple(stop - start for start, stop in found[0].target))
        times = "twice" if len(found) == 2 else f"{len(found)} times"  # noqa: PLR2004
        yield Remark(tuple(found), f"one {thing}, {times}: {told}")


def meetings(teller: Teller, entries: Sequence[Entry]) -> Iterator[tuple[list[Entry], str]]:
    """Entries that write the same cells, and what comes of it."""
    writers: dict[Box, list[Entry]] = {}
    for entry in entries:
        if entry.target is not None:
            writers.setdefault(entry.target, []).append(entry)
    for found in writers.values():
        if len(found) > 1:
            yield found, _outcome(teller, found)


def _outcome(teller: Teller, found: Sequence[Entry]) -> str:
    reduction, last = teller.trace.reduction, found[-1]
    changes = [entry.change for entry in found if entry.change is not None]
    single = len(changes) == len(found) and changes[-1].new.size == 1
    if reduction == "none":
        value = f" with {teller.value(changes[-1].new)}" if single else ""
        return f"{last.label}, the last, wins{value}"
    if not single:
        return {"add": "both are added"}.get(reduction, f"combined by {reduction}")
    terms = [change.update for change in changes]
    terms = terms if changes[0].fresh else [changes[0].old, *terms]
    texts = [teller.value(one.reshape(-1)[0]) for one in terms]
    if len(texts) > _MOST_TERMS:
        texts = [*texts[: _MOST_TERMS - 2], teller.signs.cut, texts[-1]]
    if teller.trace.averages:
        mean = teller.value(mean_or_new(teller.trace, changes[-1]).reshape(-1)[0])
        return f"({' + '.join(texts)}) / {teller.divisor(changes[-1])} = {mean}"
    result = teller.value(changes[-1].new.reshape(-1)[0])
    sign = WORDS | {"mul": teller.signs.times}
    sign = BOOLEAN if changes[-1].old.dtype.kind == "b" else sign
    if reduction in sign:
        return f"{f' {sign[reduction]} '.join(texts)} = {result}"
    return f"{reduction}({', '.join(texts)}) = {result}"
