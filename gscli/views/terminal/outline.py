"""The map of a large tensor: each touched plane as an outline, a letter where an entry lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from gscli.layout.axes import Shape
from gscli.views.lenses import group_by_plane
from gscli.views.lines import Block, flow_blocks, make_block
from gscli.views.look import PLAIN, Line, Style, StyleSheet, cell_len
from gscli.views.subject import Mark

WIDEST, NARROWEST = 40, 30
TALLEST, FLATTEST = 8, 2
"""Columns and lines that an outline takes."""

MAX_LETTERS = 26
"""Entries that have a letter on a map; more are points."""

MOST_PLANES = 6
SHIFTS = 8
"""Cells that a letter may stand beside its place."""

_ASPECT = 2.2
"""A line is so many times as high as a column is wide."""

_MATRIX = 2
_GAP = 3

Canvas: TypeAlias = list[list[tuple[str, Style]]]


def render_map_text(shape: Shape, marks: Sequence[Mark], width: int, look: StyleSheet) -> Block:
    """The map of a tensor of rank 2 or more; planes that are touched alike share an outline."""
    planes = group_by_plane(marks)
    drawn = [
        _PlaneMap(shape[-_MATRIX:], name, own, width, look) for name, own in planes[:MOST_PLANES]
    ]
    signs = look.signs
    lines: list[Line] = [[("where", look.bold), ("   rows down, columns across", look.dim)]]
    lines += flow_blocks(
        [make_block(list(outline.lines())) for outline in drawn], width, _GAP, between=0
    )
    for count, text in (
        (sum(outline.crowded for outline in drawn), "letters lie too close to be drawn"),
        (
            sum(mark.number >= MAX_LETTERS for mark in marks),
            f"entries are drawn as {signs.point}",
        ),
        (len(planes) - len(drawn), "more touched planes"),
    ):
        lines += [[(f"{signs.across} {count} {text}", look.dim)]] if count else []
    return make_block(lines)


class _PlaneMap:
    """One plane, or several that are touched in the same places."""

    def __init__(
        self,
        shape: Shape,
        name: str,
        marks: Sequence[Mark],
        width: int,
        look: StyleSheet,
    ) -> None:
        self._shape, self._name, self._signs, self._look = shape, name, look.signs, look
        self._margin = len(str(shape[0] - 1)) + 2
        room = min(WIDEST, width - self._margin - 2)
        rows, columns = shape
        self._high = max(FLATTEST, min(TALLEST, rows, round(room * rows / columns / _ASPECT)))
        self._wide = min(room, max(NARROWEST, round(self._high * _ASPECT * columns / rows)))
        self._canvas: Canvas = [[(" ", PLAIN)] * self._wide for _ in range(self._high)]
        self.crowded = sum(not self._draw_mark(mark) for mark in marks if mark.number < MAX_LETTERS)
        for mark in marks:
            if mark.number >= MAX_LETTERS:
                self._draw_extent(mark, look.signs.point)

    def lines(self) -> Iterator[Line]:
        """The plane's name, the ends of its columns, and the frame with the ends of its rows."""
        dim, (rows, columns) = self._look.dim, self._shape
        across, down = ("─", "│") if self._signs.utf8 else ("-", "|")
        corners = "┌┐└┘" if self._signs.utf8 else "++++"
        if self._name:
            yield [(self._name, self._look.bold)]
        last = str(columns - 1)
        head = f"0{'columns':^{self._wide - 1 - len(last)}}{last}"
        yield [(" " * (self._margin + 1) + head, dim)]
        edge = across * self._wide
        yield [(f"{'0':>{self._margin - 1}} {corners[0]}{edge}{corners[1]}", dim)]
        for line in self._canvas:
            yield [(" " * self._margin + down, dim), *line, (down, dim)]
        yield [(f"{rows - 1:>{self._margin - 1}} {corners[2]}{edge}{corners[3]}", dim)]

    def _draw_mark(self, mark: Mark) -> bool:
        """Draw the letter of an entry and, if it is more than a point, how far it reaches."""
        top, left = self._draw_extent(mark)
        return self._draw_letter(mark.label, top, left, self._style(mark))

    def _draw_extent(self, mark: Mark, sign: str = "") -> tuple[int, int]:
        """Draw where an entry lies, by `sign` or a line; the first place of it."""
        (top, bottom), (left, right) = (
            (start * room // size, (stop * room - 1 if stop - start > 1 else start * room) // size)
            for (start, stop), size, room in zip(
                mark.box[-_MATRIX:], self._shape, (self._high, self._wide), strict=True
            )
        )
        line = ("─" if self._signs.utf8 else "-") if top == bottom else self._signs.bar
        for row in range(top, bottom + 1):
            for place in range(left, right + 1):
                if self._canvas[row][place] == (" ", PLAIN):
                    self._canvas[row][place] = (sign or line, self._style(mark))
        return top, left

    def _style(self, mark: Mark) -> Style:
        return self._look.alarm if mark.alarm else self._look.value_style(mark.number)

    def _draw_letter(self, label: str, line: int, wanted: int, style: Style) -> bool:
        """Write a label at its place, or beside it where another stands."""
        size = cell_len(label)
        for shift in sorted(range(-SHIFTS, SHIFTS + 1), key=lambda one: (abs(one), one < 0)):
            first = min(wanted, self._wide - size) + shift
            places = range(first, first + size)
            free = first >= 0 and first + size <= self._wide
            if free and not any(self._canvas[line][place][0].isalpha() for place in places):
                for place, letter in zip(places, label, strict=True):
                    self._canvas[line][place] = (letter, style)
                return True
        return False
