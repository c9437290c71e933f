"""What the signs of a drawing mean, in a few words each: for the one line below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gscli.traces.trace import Entry, How, Trace
from gscli.views.signs import Signs
from gscli.views.words.vocabularies import kind_of

_JOIN = "   "
_WORDS = {"end": "counts from the end", "fraction": "loses its fraction", "wraps": "wraps around"}
_SEVERAL = re.compile(r"(?<![^\s(])([a-zA-Z]+)\+(\d+)(?=:|\s)")


def numbers_key(trace: Trace, entries: Sequence[Entry], signs: Signs) -> str:
    """The signs beside the index numbers of some entries.

    >>> from gscli.traces.trace import trace
    >>> from gscli.views.options import ViewOptions
    >>> from gscli.views.signs import signs_of
    >>> found = trace("onnx.gather", {"data": [1, 2, 3], "indices": [-1]})
    >>> numbers_key(found, found.entries(), signs_of(ViewOptions()))
    '↺ counts from the end'
    """
    return _JOIN.join(_numbers(trace, entries, signs))


def drawn_key(drawing: str, signs: Signs, point: str = "") -> str:
    """The signs that stand alone in a drawing, and the letters of a crowded cell.

    `point`: what a lone point means there.

    >>> from gscli.views.options import ViewOptions
    >>> from gscli.views.signs import signs_of
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
    crowded = _SEVERAL.search(drawing)
    if crowded:
        first, more = crowded.groups()
        yield f"{crowded[0]}: {first} and {more} more entries"


def _alone(sign: str, drawing: str) -> bool:
    """Whether a sign stands for something by itself: `⋯ 3 planes not shown` says it in words."""
    return re.search(rf"(?<!\S){re.escape(sign)}(?!\S)(?! [\d,]+ plane)", drawing) is not None
