"""Where each rule set sends an index: the axis as a line, and an arrow per number on its way.

index  -1 │  0   1   2 │  3   4   5   6   7
│ 10  20  30 │
b─┼────────→   │                      b: -1 + 3 = 2
│      ←─────┼──────────────────c   c: 7 mod 3 = 1
"""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.arrays import Array
from gscli.traces.trace import Adjustment, Entry, Trace, label_of
from gscli.views.numbers import NumberFormat
from gscli.views.palette import Palette
from gscli.views.signs import Signs, cells
from gscli.views.style import PLAIN, Line

MOST_ENTRIES = 8
_GAP = 2
_HEAD = "index "
_BAR = 2
"""Cells that an end of the axis takes."""

REASON = 22
"""Room for the words behind an arrow."""


class NumberLine:
    """One axis, all numbers that an index says, and the ways they go."""

    def __init__(
        self,
        data: Array,
        written: Sequence[int],
        numbers: NumberFormat,
        palette: Palette,
        signs: Signs,
    ) -> None:
        self.size = int(data.shape[0])
        self.first: int = min(0, *written)
        self.last: int = max(self.size - 1, *written)
        self.values = numbers.values(data, signs)
        self.palette, self.signs = palette, signs
        names = [str(place) for place in range(self.first, self.last + 1)]
        self.cell = max(map(cells, (*names, *self.values))) + _GAP

    @property
    def width(self) -> int:
        """Cells that a line takes, with the words behind it."""
        line = (self.last - self.first + 1) * self.cell + 2 * _BAR
        return len(_HEAD) + line + _GAP + REASON

    def ruler(self) -> list[Line]:
        """The coordinates, and below them the values."""
        places = range(self.first, self.last + 1)
        below = [self.values[at] if 0 <= at < self.size else "" for at in places]
        return [
            [(_HEAD + self._row([str(at) for at in places]), self.palette.dim)],
            [(" " * len(_HEAD) + self._row(below), PLAIN)],
        ]

    def arrow(self, entry: Entry, one: Adjustment, told: str) -> Line:
        """The way of one number to its cell, or to where it stops."""
        if one.coordinate is None:
            return self.stop(entry.number, int(one.written), told)
        start, end = self._end(int(one.written)), self._end(one.coordinate)
        line = list(self._row([""] * (self.last - self.first + 1)))
        dash, cross = ("─", "┼") if self.signs.utf8 else ("-", "+")
        for at in range(min(start, end), max(start, end) + 1):
            line[at] = dash if line[at] == " " else cross
        tips = "←→" if self.signs.utf8 else "<>"
        line[end] = tips[end > start]
        return self._told("".join(line), start, entry.number, told)

    def stop(self, number: int, written: int, told: str) -> Line:
        """A number that goes nowhere."""
        line = list(self._row([""] * (self.last - self.first + 1)))
        at = self._end(written)
        line[at - 1] = self.signs.skipped
        return self._told("".join(line), at, number, told)

    def _told(self, line: str, at: int, number: int, told: str) -> Line:
        style = self.palette.value(number)
        label = label_of(number)
        return [
            (" " * len(_HEAD) + line[:at], PLAIN),
            (label, style),
            (f"{line[at + 1 :]}{' ' * _GAP}", PLAIN),
            (told, self.palette.dim),
        ]

    def _end(self, place: int) -> int:
        """Where the last digit of a coordinate stands."""
        offset = place - self.first
        bars = (place >= 0) + (place >= self.size)
        return (offset + 1) * self.cell + _BAR * bars - 1

    def _row(self, texts: Sequence[str]) -> str:
        """One text per coordinate, with the two ends of the axis."""
        parts: list[str] = []
        for at, text in zip(range(self.first, self.last + 1), texts, strict=True):
            if at in (0, self.size):
                parts.append(f" {self.signs.bar}")
            parts.append(" " * (self.cell - cells(text)) + text)
        if self.last < self.size:
            parts.append(f" {self.signs.bar}")
        return "".join(parts)


def way(trace: Trace, one: Adjustment, fill: str) -> str:
    """What happens to a number, as arithmetic where it is some.

    >>> from gscli.traces.trace import trace
    >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> way(found, found.entries()[0].adjustments[0], "0")
    '-1 + 3 = 2'
    """
    written = one.written
    if one.coordinate is None:
        return f"{written} is outside: {fill if trace.kind == 'gather' else 'dropped'}"
    if one.how == "clipped":
        return f"{written} stops at {one.coordinate}"
    if one.coordinate == written + one.size:
        return f"{written} + {one.size} = {one.coordinate}"
    return f"{written} mod {one.size} = {one.coordinate}"
