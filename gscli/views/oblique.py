"""Planes that a figure draws as oblique sheets: which runs belong to one, and how far it leans."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from gscli.base.records import Record
from gscli.views.lines import line_width
from gscli.views.look import PLAIN, Line, cells

SLOPE = 0.7
"""Cells that a line of a sheet stands further right than the line below it."""


class Leaning(Record):
    """Where a sheet stands, in lines and cells, half-open, before it leans."""

    top: int
    bottom: int
    left: int
    right: int

    def shift(self, line: float) -> float:
        """Cells by which a place in the sheet moves to the right; its foot stays."""
        return SLOPE * (self.bottom - line)


def leaning(lines: Sequence[Line], name: str) -> list[Line]:
    """The lines of a plane as a sheet below its caption, with the room that it takes to lean."""
    caption, *rows = lines
    width = max(map(line_width, lines)) + ceil(SLOPE * len(rows))
    room = (" " * (width - line_width(caption)), PLAIN)
    return [[*caption, room], *([(text, style._replace(sheet=name)) for text, style in row]
                                for row in rows)]  # fmt: skip


def sheets(lines: Sequence[Line]) -> dict[str, Leaning]:
    """Where the sheets of a drawing stand."""
    found: dict[str, Leaning] = {}
    for number, line in enumerate(lines):
        at = 0
        for text, style in line:
            stop = at + cells(text)
            if style.sheet:
                old = found.get(style.sheet, Leaning(number, number + 1, at, stop))
                left, right = min(old.left, at), max(old.right, stop if text.strip() else at)
                found[style.sheet] = Leaning(old.top, number + 1, left, right)
            at = stop
    return found
