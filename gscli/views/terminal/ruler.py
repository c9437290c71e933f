"""A number line on the terminal: the axis once, and below it a line per number on its way.

index  -1 │  0   1   2 │  3   4   5   6   7
          │ 10  20  30 │
        b─┼────────→   │                      -1 + 3 = 2
          │      ←─────┼──────────────────c   7 mod 3 = 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gscli.traces import entry_label
from gscli.views.lines import line_width
from gscli.views.look import PLAIN, Line, StyleSheet, cell_len
from gscli.views.number_line import Behaviour, NumberLine, ResolvedIndex

_GAP = 2
_HEAD = "index "

# Cells that an end of the axis takes.
_BAR = 2

# Room for the words behind an arrow.
REASON = 22


class NumberLineRenderer:
    """Draws what becomes of the indices of a number line below its coordinates."""

    def __init__(self, line: NumberLine, look: StyleSheet) -> None:
        self.line, self.look, self.signs = line, look, look.signs
        self.cell = max(map(cell_len, (*map(str, line.places), *line.values))) + _GAP

    @property
    def width(self) -> int:
        """Cells that a line takes, with the words behind it."""
        return len(_HEAD) + len(self.line.places) * self.cell + 2 * _BAR + _GAP + REASON

    def render_head(self) -> list[Line]:
        """The coordinates, and below them the values if cells have one each."""
        inside = self.line.is_inside
        below = [self.line.values[at] if inside(at) else "" for at in self.line.places]
        lines: list[Line] = [[(_HEAD + self._row([*map(str, self.line.places)]), self.look.dim)]]
        return lines + ([[(" " * len(_HEAD) + self._row(below), PLAIN)]] if any(below) else [])

    def render_ways(self, behaviour: Behaviour) -> Iterator[Line]:
        """A line per number that is not its own coordinate, and per cell that is hit twice."""
        for index in behaviour.indices:
            if index.outcome in ("skipped", "refused"):
                line, at = self._blank(), self._position_of(index.written)
                line[at - 1] = self.signs.skipped
                yield self._render_line(line, at, [index.entry_number], index.text)
            elif index.coordinate is not None and index.outcome != "used":
                yield self._render_arrow(index, index.coordinate)
        for cell, numbers, text in behaviour.duplicate_writes:  # letters below their cell
            length = sum(len(entry_label(number)) for number in numbers)
            start = max(self._position_of(cell) - length + 1, 0)
            yield self._render_line(self._blank(), start, numbers, text)

    def _render_arrow(self, index: ResolvedIndex, coordinate: int) -> Line:
        """The way of a number to its cell, or to the end where it stops."""
        start, end = map(self._position_of, (index.written, coordinate))
        line = self._blank()
        dash, cross, *tips = list("─┼←→" if self.signs.utf8 else "-+<>")
        for at in range(min(start, end), max(start, end) + 1):
            line[at] = dash if line[at] == " " else cross
        line[end] = tips[end > start]
        return self._render_line(line, start, [index.entry_number], index.text)

    def _render_line(
        self, cells: Sequence[str], start: int, numbers: Sequence[int], text: str
    ) -> Line:
        """A line with letters of entries written over it from `start`, and words behind it."""
        line = "".join(cells)
        chips = [(entry_label(number), self.look.value_style(number)) for number in numbers]
        stop = start + line_width(chips)
        before, behind = " " * len(_HEAD) + line[:start], line[stop:] + " " * _GAP
        words = (self.signs.sanitize_line(text), self.look.dim)
        return [(before, PLAIN), *chips, (behind, PLAIN), words]

    def _position_of(self, place: int) -> int:
        """Where the last digit of a coordinate stands."""
        offset = place - self.line.places.start
        return (offset + 1) * self.cell + _BAR * ((place >= 0) + (place >= self.line.size)) - 1

    def _blank(self) -> list[str]:
        return list(self._row([""] * len(self.line.places)))

    def _row(self, texts: Sequence[str]) -> str:
        """One text per coordinate, with the two ends of the axis."""
        parts: list[str] = []
        for at, text in zip(self.line.places, texts, strict=True):
            if at in (0, self.line.size):
                parts.append(f" {self.signs.bar}")
            parts.append(" " * (self.cell - cell_len(text)) + text)
        if self.line.places[-1] < self.line.size:
            parts.append(f" {self.signs.bar}")
        return "".join(parts)
