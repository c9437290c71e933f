"""The crosshair of a step in a figure: bands that cross at its target, elbows to the heads.

Drawings say what their runs of text are by `Style.role`; all else is read off where these stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from gscli.base.records import Record
from gscli.views.look import Line, Role
from gscli.views.signs import cells

_APART = 5
"""Pixels between the two elbows of an entry."""

_GAP = 4
"""Cells without text that part two blocks."""

Point: TypeAlias = tuple[float, float]


class Spot(Record):
    """A run of text: its line, its first cell and the one behind it, and its colour."""

    line: int
    start: int
    stop: int
    color: str


class Grid(Record):
    """Pixels of a figure: its margin, width of a cell, height of a line."""

    margin: int
    cell: float
    line: int

    def x(self, cell: float) -> float:
        """The left side of a cell."""
        return self.margin + cell * self.cell

    def y(self, line: float) -> float:
        """The top of a line."""
        return self.margin + line * self.line


class Crosshair:
    """What a figure draws under and over its words for the entry of a step."""

    def __init__(self, lines: Sequence[Line], grid: Grid, ink: str) -> None:
        self._grid, self._ink = grid, ink
        self._texts = [_by_cell("".join(text for text, _ in line)) for line in lines]
        self._spots: dict[Role, list[Spot]] = {}
        for number, line in enumerate(lines):
            at = 0
            for text, style in line:
                width = cells(text)
                if style.role:
                    spot = Spot(number, at, at + width, style.ground)
                    self._spots.setdefault(style.role, []).append(spot)
                at += width
        self._targets = self._spots.get("cell", [])

    def under(self) -> Iterator[str]:
        """Bands from the heads to the cells."""
        for head in self._spots.get("row", []):
            ends = [one.stop for one in self._targets if one.line == head.line]
            if ends:
                yield self._band(head.start, head.line, max(ends), head.line + 1, head.color)
        for head in self._spots.get("column", []):
            column = [one for one in self._targets if one.start < head.stop <= one.stop]
            below = [one for one in column if one.line > head.line]
            if below:
                last = max(one.line for one in below)
                start = min(one.start for one in below)
                yield self._band(start, head.line, below[0].stop, last + 1, head.color)

    def over(self) -> Iterator[str]:
        """Elbows from the entry to the first head of its row and of its column."""
        entry = self._spots.get("entry", [])
        if not entry or not self._targets:
            return
        rows, columns = (self._spots.get(role, [])[:1] for role in ("row", "column"))
        first = self._targets[0]
        if not rows and not columns:  # a vector has no letters at its heads
            columns = [first._replace(line=first.line - 1, start=first.stop - 1)]
        above = min(one.line for one in (*columns, *rows)) - (0 if columns else 1)
        for head in rows:
            yield from self._elbow(entry, self._to_row(entry, head, above), 0)
        for head in columns:
            yield from self._elbow(entry, self._to_column(entry, head), len(rows))

    def _to_row(self, entry: Sequence[Spot], head: Spot, above: int) -> list[Point]:
        """Straight along a free lane; else through the lane above the heads and down beside."""
        grid = self._grid
        lane, y = self._lane(entry, head.line), grid.y(head.line + 0.5)
        points = [(grid.x(head.start) - 4, y), (grid.x(head.start), y)]
        if lane is not None and lane < head.start and self._is_open(head.line, lane, head.start):
            return [(grid.x(lane + 0.5), y), *points]
        beside, over = grid.x(head.start - 0.7), grid.y(above) - 1
        return [(self._outside(entry, above, 0), over), (beside, over), (beside, y), *points[1:]]

    def _to_column(self, entry: Sequence[Spot], head: Spot) -> list[Point]:
        grid = self._grid
        x, over = grid.x(head.stop - 0.5), grid.y(head.line) - 1
        return [(self._outside(entry, head.line, _APART), over), (x, over), (x, over + 6)]

    def _outside(self, entry: Sequence[Spot], line: int, apart: int) -> float:
        """The lane behind the entry, or where text stands in it that before the whole figure."""
        lane = self._lane(entry, line)
        left = self._grid.x(0) - _APART - apart
        return left if lane is None else self._grid.x(lane + 0.5) + apart

    def _lane(self, entry: Sequence[Spot], line: int) -> int | None:
        """A column of cells behind the entry without text between its line and another."""
        stop = self._end(entry)
        lines = range(min(line, entry[0].line), max(line, entry[0].line) + 1)
        for lane in range(stop, stop + _GAP):
            if all(self._is_open(one, lane, lane + 2) for one in lines):
                return lane
        return None

    def _end(self, entry: Sequence[Spot]) -> int:
        """Where the line of the entry ends in its table."""
        own, stop = self._texts[entry[0].line], max(one.stop for one in entry)
        while stop < len(own) and own[stop : stop + _GAP].strip():
            stop += 1
        return stop

    def _is_open(self, line: int, start: int, stop: int) -> bool:
        """Whether no text stands in some cells of a line."""
        return not self._texts[line][start:stop].strip()

    def _elbow(self, entry: Sequence[Spot], rest: Sequence[Point], order: int) -> Iterator[str]:
        grid, lane = self._grid, rest[0][0]
        y = grid.y(entry[0].line + 0.5) + 4 * order - 2
        behind = lane > grid.x(0)
        start = self._end(entry) if behind else min(one.start for one in entry)
        points = [(grid.x(start), y), (lane, y), *rest]
        shape = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        for color, width in ((self._ink, 3.2), (entry[0].color, 1.6)):
            yield (
                f'<path d="{shape}" fill="none" stroke="{color}" stroke-width="{width}"'
                ' stroke-linejoin="round" shape-rendering="auto"/>'
            )
        (x, y), flat = points[-1], points[-1][1] == points[-2][1]
        tip = f"M{x:.1f} {y:.1f}" + ("l-6 -4v8z" if flat else "l-4 -6h8z")
        yield f'<path d="{tip}" fill="{self._ink}" shape-rendering="auto"/>'

    def _band(self, left: int, top: int, right: int, bottom: int, color: str) -> str:
        grid = self._grid
        return (
            f'<rect x="{grid.x(left):.2f}" y="{grid.y(top)}"'
            f' width="{(right - left) * grid.cell:.2f}" height="{(bottom - top) * grid.line}"'
            f' fill="{color}" fill-opacity=".28"/>'
        )


def _by_cell(text: str) -> str:
    """Text in which each character takes one cell."""
    return "".join(one + "x" * (cells(one) - 1) for one in text)
