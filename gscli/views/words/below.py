"""What is said below a picture: what became of numbers and cells, what its signs mean, counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.base.records import Record
from gscli.base.text import counted
from gscli.layout.axes import Box, Shape, box_size
from gscli.traces.trace import Adjustment, Entry, How, Trace
from gscli.views.look import Signs
from gscli.views.words.facts import Teller, mean_or_new
from gscli.views.words.purpose import slice_name
from gscli.views.words.vocabularies import kind_of, meaning

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
    >>> inputs = {"data": [1, 2], "indices": [[-1], [1]], "updates": [9, 8]}
    >>> found = trace("onnx.scatter_nd", inputs, {"reduction": "add"})
    >>> teller = Teller(found, NumberFormat())
    >>> [one.text for one in remarks(teller, found.entries())]
    ['-1↺ counts from the end: cell 1', 'one cell, twice: 2 + 9 + 8 = 19']
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
        signed = f"{one.written}{teller.signs.of(one.how)}"  # as it stands in the picture
        told = meaning(teller, entry, one).remark.replace(str(one.written), signed, 1)
        yield Remark(tuple(entry for entry, _ in found), told)


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
        value = f" with {teller.values(changes[-1].new)[0]}" if single else ""
        return f"{last.label}, the last, wins{value}"
    if not single:
        return {"add": "both are added"}.get(reduction, f"combined by {reduction}")
    terms = [change.update for change in changes]
    terms = terms if changes[0].fresh else [changes[0].old, *terms]
    texts = [teller.values(one)[0] for one in terms]
    if len(texts) > _MOST_TERMS:
        texts = [*texts[: _MOST_TERMS - 2], teller.signs.cut, texts[-1]]
    result = teller.values(mean_or_new(teller.trace, changes[-1]))[0]
    return f"{teller.joined(texts, changes[-1])} = {result}"


_JOIN = "   "
_WORDS = {"end": "counts from the end", "fraction": "loses its fraction", "wraps": "wraps around"}
_SEVERAL = r"(?<![^\s(])([a-zA-Z]+)\+(\d+)(?=:|\s)"


def numbers_key(trace: Trace, entries: Sequence[Entry], signs: Signs) -> str:
    """The signs beside the index numbers of some entries.

    >>> from gscli.traces.trace import trace
    >>> from gscli.views.look import ViewOptions
    >>> from gscli.views.look import signs_of
    >>> found = trace("onnx.gather", {"data": [1, 2, 3], "indices": [-1]})
    >>> numbers_key(found, found.entries(), signs_of(ViewOptions()))
    '↺ counts from the end'
    """
    return _JOIN.join(_numbers(trace, entries, signs))


def drawn_key(drawing: str, signs: Signs, point: str = "") -> str:
    """The signs that stand alone in a drawing, and the letters of a crowded cell.

    `point`: what a lone point means there.

    >>> from gscli.views.look import ViewOptions
    >>> from gscli.views.look import signs_of
    >>> drawn_key("0  ⋯  a+4:9", signs_of(ViewOptions()))
    '⋯ columns left out   a+4: a and 4 more entries'
    """
    return _JOIN.join(_drawn(drawing, signs, point))


def _numbers(trace: Trace, entries: Sequence[Entry], signs: Signs) -> Iterator[str]:
    found: dict[How, set[str]] = {"wrapped": set(), "clipped": set(), "skipped": set()}
    for entry in entries:
        for one in entry.adjustments:
            found[one.how].add(_WORDS.get(kind_of(trace, entry, one), ""))
    fate = "filled" if trace.kind == "gather" else "dropped"
    if found["wrapped"]:
        yield f"{signs.wrapped} {' or '.join(sorted(found['wrapped']))}"
    if found["clipped"]:
        yield f"{signs.clipped} moved to the nearest end"
    if found["skipped"]:
        yield f"{signs.skipped} out of range, {fate}"


def _drawn(drawing: str, signs: Signs, point: str) -> Iterator[str]:
    gaps = {signs.across: "columns", signs.down: "rows"}
    left_out = {sign: what for sign, what in gaps.items() if _alone(sign, drawing)}
    if left_out:
        yield f"{' '.join(left_out)} {' and '.join(left_out.values())} left out"
    if point and _alone(signs.point, drawing):
        yield f"{signs.point} {point}"
    crowded = re.search(_SEVERAL, drawing) if "+" in drawing else None
    if crowded:
        first, more = crowded.groups()
        yield f"{crowded[0]}: {first} and {more} more entries"


def _alone(sign: str, drawing: str) -> bool:
    """Whether a sign stands for something by itself: `⋯ 3 planes not shown` says it in words."""
    alone = rf"(?<!\S){re.escape(sign)}(?!\S)(?! [\d,]+ plane)"
    return sign in drawing and re.search(alone, drawing) is not None


COUNTED_ENTRIES = 10_000
COUNTED_CELLS = 1 << 20


class Counts(Record):
    """Over the first `entries` entries; `changed` is None where too many cells were touched.

    `lost`: updates of windows partly outside that were dropped; `skipped` entries do not count.
    """

    entries: int
    skipped: int
    touched: int
    twice: int
    changed: int | None
    lost: int = 0


def counts(trace: Trace, entries: Sequence[Entry] | None = None) -> Counts | None:
    """Count a run, or None when it touches more cells than are worth listing.

    `entries`: those that the caller has already; by default the first COUNTED_ENTRIES.

    >>> from gscli.traces.trace import trace
    >>> counts(trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1, 2]}))
    Counts(entries=2, skipped=0, touched=1, twice=1, changed=None, lost=0)
    """
    entries = trace.entries(COUNTED_ENTRIES) if entries is None else entries
    targets = [entry.target for entry in entries if entry.target is not None]
    if sum(map(box_size, targets)) > COUNTED_CELLS:
        return None
    addresses = cell_numbers(targets, trace.layout.data_shape)
    cells, times = np.unique(addresses, return_counts=True)
    return Counts(
        len(entries),
        sum(not entry.live for entry in entries),
        int(cells.size),
        int((times > 1).sum()),
        _changed(trace, cells) if trace.kind == "scatter" else None,
        sum(entry.lost for entry in entries),
    )


def cell_numbers(boxes: Sequence[Box], shape: Shape) -> Indices:
    """Row-major numbers of the cells of every box, one after the other.

    >>> cell_numbers([((1, 2), (0, 2))], (3, 4))
    array([4, 5])
    """
    if not boxes:
        return np.zeros(0, np.int64)
    if not shape:
        return np.zeros(len(boxes), np.int64)
    if all(box_size(box) == 1 for box in boxes):
        places = np.array([[start for start, _ in box] for box in boxes], np.int64).T
        found: Indices = np.ravel_multi_index(tuple(places), shape).astype(np.int64)
        return found
    parts = [
        np.ravel_multi_index(np.ix_(*(np.arange(*ends) for ends in box)), shape).reshape(-1)
        for box in boxes
    ]
    return np.concatenate(parts, dtype=np.int64)


def _changed(trace: Trace, cells: Indices) -> int:
    """Touched cells whose value is another one now; NaN is the same as NaN."""
    if not cells.size:
        return 0
    new = _values(trace.output, cells)
    data = trace.tensor("data")
    old = np.full(new.shape, trace.layout.fill).astype(new.dtype)
    if data is not None:
        old = _values(data.array, cells)
    same = old == new
    if new.dtype.kind not in "biuUTO":
        same |= np.isnan(old) & np.isnan(new)
    return int((~same).sum())


def _values(array: Array, cells: Indices) -> Array:
    """Values by row-major number, without a copy of the array whatever its order in memory."""
    found: Array = array[np.unravel_index(cells, array.shape)] if array.ndim else array[None]
    return found


def counted_words(trace: Trace, found: Counts) -> str:
    """How many cells were read or changed, and what else is worth a number."""
    cells = prod(trace.layout.data_shape)
    gathered = trace.kind == "gather"
    number = found.touched if gathered or found.changed is None else found.changed
    parts = [f"{number:,} of {cells:,} cells {'read' if gathered else 'changed'}"]
    if found.skipped:
        what = "read the fill value" if gathered else "dropped"
        parts.append(f"{found.skipped:,} of {found.entries:,} entries {what}")
    if found.lost:
        parts.append(counted(found.lost, "update falls outside", "updates fall outside"))
    if found.twice:
        parts.append(
            f"{counted(found.twice, 'cell')} {'read' if gathered else 'hit'} twice or more"
        )
    told = ", ".join(parts)
    if found.entries < trace.entry_count:
        told += f" (counted over the first {found.entries:,} of {trace.entry_count:,} entries)"
    return told
