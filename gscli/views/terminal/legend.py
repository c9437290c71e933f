"""What stands around a picture: lines of entries, remarks, and the map of a large tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from gscli.base.words import format_count
from gscli.layout.axes import Shape
from gscli.traces import Entry
from gscli.views.lenses import group_by_plane
from gscli.views.lines import Block, flow_blocks, make_block, wrap_paragraph, wrap_runs
from gscli.views.look import MATRIX, PLAIN, Line, Style, StyleSheet, cell_len, pad_right
from gscli.views.subject import Mark, TensorView
from gscli.views.words.below import Remark
from gscli.views.words.facts import Describer
from gscli.views.words.vocabularies import PATH_TEMPLATES, format_entry

_NAMED = 6


def render_entries(
    teller: Describer, entries: Sequence[Entry], width: int, look: StyleSheet
) -> list[Line]:
    """The path of each entry from its index to the value, in lines of at most `width`."""
    labels, lines = max((cell_len(entry.label) for entry in entries), default=0), list[Line]()
    for entry in entries:
        (path, value), notes = format_entry(teller, entry, PATH_TEMPLATES)
        chip = look.value_style(entry.number, alarm=not (entry.live or teller.is_empty))
        head: Line = [(f" {pad_right(entry.label, labels)} ", chip), (" ", PLAIN)]
        text = [(path, PLAIN), (f" {value}" * bool(value), look.bold), ("".join(notes), look.note)]
        lines += wrap_runs(text, width, head)
    return lines


def render_remarks(remarks: Sequence[Remark], width: int, look: StyleSheet) -> list[Line]:
    """Remarks, each behind the letters that it is about."""
    lines: list[Line] = []
    for remark in remarks:
        head: Line = [
            (f" {entry.label} ", look.value_style(entry.number, alarm=not entry.live))
            for entry in remark.entries[:_NAMED]
        ]
        if len(remark.entries) > _NAMED:
            head.append((f" +{len(remark.entries) - _NAMED} ", look.dim))
        head.append(("  " if head else "", PLAIN))
        lines += wrap_paragraph(look.signs.sanitize_line(remark.text), width, head=head)
    return lines


WIDEST, NARROWEST = 40, 30

# Columns and lines that an outline of a map takes.
TALLEST, FLATTEST = 8, 2

# Entries that have a letter on a map; more are points.
MAX_LETTERS = 26

MOST_PLANES = 6

# Cells that a letter may stand beside its place.
SHIFTS = 8

# A line is so many times as high as a column is wide.
_ASPECT = 2.2

_MAP_GAP = 3


def render_map_text(view: TensorView, width: int, look: StyleSheet) -> Block:
    """The map of a tensor of rank 2 or more."""
    title: Line = [("where", look.bold), ("   rows down, columns across", look.dim)]
    outlines, notes = draw_plane_maps(view, width, look)
    return make_block([title, *flow_blocks(outlines, width, _MAP_GAP, between=0), *notes])


def draw_plane_maps(
    view: TensorView, width: int, look: StyleSheet
) -> tuple[list[Block], list[Line]]:
    """An outline for each plane, of planes that are touched alike one; and what none shows."""
    planes, shape = group_by_plane(view.marks), view.array.shape[-MATRIX:]
    drawn = [_PlaneMap(shape, *plane, width, look) for plane in planes[:MOST_PLANES]]
    counts = {
        "too close to be marked": sum(outline.crowded for outline in drawn),
        f"drawn as {look.signs.point}": sum(outline.points for outline in drawn),
        "on no map": sum(len(plane[1]) for plane in planes[MOST_PLANES:]),
        "left out of the map": view.left_out or 0,
    }
    notes: list[Line] = [
        [(f"{look.signs.across} {format_count(count, 'entry is', 'entries are')} {text}", look.dim)]
        for text, count in counts.items() if count
    ]  # fmt: skip
    return [make_block(list(outline.lines())) for outline in drawn], notes


class _PlaneMap:
    """One plane, or several that are touched in the same places."""

    def __init__(
        self, shape: Shape, name: str, marks: Sequence[Mark], width: int, look: StyleSheet
    ) -> None:
        self._shape, self._name, self._signs, self._look = shape, name, look.signs, look
        self._margin = len(str(shape[0] - 1)) + 2
        room = min(WIDEST, width - self._margin - 2)
        rows, columns = shape
        self._high = max(FLATTEST, min(TALLEST, rows, round(room * rows / columns / _ASPECT)))
        self._wide = min(room, max(NARROWEST, round(self._high * _ASPECT * columns / rows)))
        self._canvas: list[Line] = [[(" ", PLAIN)] * self._wide for _ in range(self._high)]
        self.points = letters = 0
        for number, mark in enumerate(marks):  # points last
            if number < MAX_LETTERS:
                letters += self._draw_letter(mark, *self._draw_extent(mark)[0])
            else:
                places = self._draw_extent(mark, look.signs.point)
                signs = {self._canvas[row][place][0] for row, place in places}
                self.points += look.signs.point in signs
        self.crowded = len(marks) - letters - self.points

    def lines(self) -> Iterator[Line]:
        """The plane's name, the ends of its columns, and the frame with the ends of its rows."""
        dim, (rows, columns) = self._look.dim, self._shape
        across, down, *corners = list("─│┌┐└┘" if self._signs.utf8 else "-|++++")
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

    def _draw_extent(self, mark: Mark, sign: str = "") -> list[tuple[int, int]]:
        """Draw where an entry lies, by `sign` or a line; the places, of others too."""
        axes = zip(mark.box[-MATRIX:], self._shape, (self._high, self._wide), strict=True)
        (top, bottom), (left, right) = (
            (start * room // size, (stop * room - 1 if stop - start > 1 else start * room) // size)
            for (start, stop), size, room in axes
        )
        line = ("─" if self._signs.utf8 else "-") if top == bottom else self._signs.bar
        places = list(product(range(top, bottom + 1), range(left, right + 1)))
        for row, place in places:
            if self._canvas[row][place] == (" ", PLAIN):
                self._canvas[row][place] = (sign or line, self._style(mark))
        return places

    def _style(self, mark: Mark) -> Style:
        return self._look.value_style(mark.number, alarm=mark.alarm)

    def _draw_letter(self, mark: Mark, line: int, place: int) -> bool:
        """Write an entry's label at its place, or beside it where another stands."""
        row, size = self._canvas[line], cell_len(mark.label)
        for shift in sorted(range(-SHIFTS, SHIFTS + 1), key=lambda by: (abs(by), by < 0)):
            first = min(place, self._wide - size) + shift
            free = first >= 0 and first + size <= self._wide
            if free and not any(text.isalpha() for text, _ in row[first : first + size]):
                row[first : first + size] = [(letter, self._style(mark)) for letter in mark.label]
                return True
        return False
