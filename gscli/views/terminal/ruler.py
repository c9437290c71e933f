"""A number line on the terminal: the axis once, and below it a line per number on its way.

index  -1 │  0   1   2 │  3   4   5   6   7
          │ 10  20  30 │
        b─┼────────→   │                      -1 + 3 = 2
          │      ←─────┼──────────────────c   7 mod 3 = 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gscli.views.look import PLAIN, Line, StyleSheet, cell_len
from gscli.views.number_line import Behaviour, DuplicateWrite, NumberLine, ResolvedIndex

_GAP = 2
_HEAD = "index "
_BAR = 2
"""Cells that an end of the axis takes."""

REASON = 22
"""Room for the words behind an arrow."""


class NumberLineRenderer:
    """Draws the landings of a number line below its coordinates."""

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
        for landing in behaviour.indices:
            if landing.outcome in ("wrapped", "clipped"):
                yield self._arrow(landing)
            elif landing.outcome == "skipped":
                yield self.render_stop(landing, landing.describe(behaviour.skip_text))
        for meeting in behaviour.duplicate_writes:
            yield self._render_duplicate_write(meeting)

    def render_stop(self, landing: ResolvedIndex, told: str) -> Line:
        """A number that goes nowhere."""
        line = self._blank()
        at = self._position_of(landing.written)
        line[at - 1] = self.signs.skipped
        return self._render_line("".join(line), at, [landing.entry_number], landing.label, told)

    def _arrow(self, landing: ResolvedIndex) -> Line:
        """The way of a number to its cell, or to the end where it stops."""
        assert landing.coordinate is not None
        start, end = map(self._position_of, (landing.written, landing.coordinate))
        line = self._blank()
        dash, cross = ("─", "┼") if self.signs.utf8 else ("-", "+")
        for at in range(min(start, end), max(start, end) + 1):
            line[at] = dash if line[at] == " " else cross
        tips = "←→" if self.signs.utf8 else "<>"
        line[end] = tips[end > start]
        return self._render_line(
            "".join(line), start, [landing.entry_number], landing.label, landing.describe("")
        )

    def _render_duplicate_write(self, meeting: DuplicateWrite) -> Line:
        """The letters of the entries that meet in a cell, below it."""
        by_number = {
            index.entry_number: index for each in self.line.behaviours for index in each.indices
        }
        letters = "".join(by_number[number].label for number in meeting.numbers)
        at = max(self._position_of(meeting.cell) - len(letters) + 1, 0)
        line = "".join(self._blank())
        return self._render_line(line, at, meeting.numbers, letters, meeting.outcome_text)

    def _render_line(
        self, line: str, at: int, numbers: Sequence[int], letters: str, told: str
    ) -> Line:
        """A line with letters written over it from `at`, and words behind it."""
        size = len(letters) // len(numbers)
        chips: Line = [
            (letters[place * size : (place + 1) * size], self.look.value_style(number))
            for place, number in enumerate(numbers)
        ]
        return [
            (" " * len(_HEAD) + line[:at], PLAIN),
            *chips,
            (f"{line[at + len(letters) :]}{' ' * _GAP}", PLAIN),
            (told, self.look.dim),
        ]

    def _position_of(self, place: int) -> int:
        """Where the last digit of a coordinate stands."""
        offset = place - self.line.places.start
        bars = (place >= 0) + (place >= self.line.size)
        return (offset + 1) * self.cell + _BAR * bars - 1

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
