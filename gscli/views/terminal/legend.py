"""What stands around a picture: lines of entries, remarks, and the map of a large tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TypeAlias

from gscli.base.words import format_count
from gscli.layout.axes import Shape
from gscli.traces import Entry, Trace
from gscli.views.lenses import group_by_plane
from gscli.views.lines import Block, flow_blocks, line_width, make_block, wrap_paragraph
from gscli.views.look import PLAIN, Line, Signs, Style, StyleSheet, cell_len, pad_right
from gscli.views.subject import Mark
from gscli.views.words.below import Remark
from gscli.views.words.facts import Describer
from gscli.views.words.vocabularies import TERSE_TEMPLATES, format_entry

_COLUMNS = 3
GAP = 2
_NAMED = 6


def render_entries(
    teller: Describer,
    entries: Sequence[Entry],
    width: int,
    look: StyleSheet,
    *,
    reasons: bool = False,
) -> list[Line]:
    """The entries' lines, none wider than `width`; `reasons`: why a number means another."""
    if not entries:
        return []
    labels = max(cell_len(entry.label) for entry in entries)
    rows = [_render_pieces(teller, entry, look, reasons=reasons) for entry in entries]
    # Size and note stand free behind the columns. The chip of a coloured legend is one cell wider
    # than a bare label; both break at the same places.
    widths = [max(map(line_width, column)) for column in list(zip(*rows, strict=True))[:_COLUMNS]]
    head = labels + 3
    aligned = head + sum(widths) + GAP * sum(1 for number in widths[1:] if number)
    fits = aligned <= width
    lines: list[Line] = []
    for entry, row in zip(entries, rows, strict=True):
        columns = row[:_COLUMNS]
        if fits:
            columns = [[*piece, (" " * (room - line_width(piece)), PLAIN)]
                       for piece, room in zip(columns, widths, strict=True)]  # fmt: skip
        size = teller.format_slice_size(entry.target) if entry.target is not None else ""
        if size and fits and aligned + GAP + cell_len(size) <= width:
            columns.append([(size, PLAIN)])
        live = entry.live or teller.is_empty
        chip = _render_chip(
            entry, labels, look, look.value_style(entry.number) if live else look.alarm
        )
        lines += _wrap_pieces(chip, [*columns, row[-1]], head, width, look.signs)
    return lines


def render_remarks(remarks: Sequence[Remark], width: int, look: StyleSheet) -> list[Line]:
    """Remarks, each behind the letters that it is about."""
    lines: list[Line] = []
    for remark in remarks:
        head: Line = [
            (f" {entry.label} ", look.value_style(entry.number) if entry.live else look.alarm)
            for entry in remark.entries[:_NAMED]
        ]
        if len(remark.entries) > _NAMED:
            head.append((f" +{len(remark.entries) - _NAMED} ", look.dim))
        head.append(("  " if head else "", PLAIN))
        lines += wrap_paragraph(look.signs.sanitize_line(remark.text), width, head=head)
    return lines


def _render_pieces(
    teller: Describer, entry: Entry, look: StyleSheet, *, reasons: bool
) -> list[Line]:
    """`indices[0] = (-1, 0) ↺`, `→ output[3,0]`, `1 + 40 = 41` and `(again: a)`."""
    (target, result, *usual), notes = format_entry(teller, entry, TERSE_TEMPLATES)
    notes = notes or usual
    if reasons:
        notes += [adjustment.words() for adjustment in entry.adjustments]
    place, vector = teller.locate_index(entry)
    hows = dict.fromkeys(
        teller.signs.for_outcome(item.sign) for item in entry.adjustments if entry.live
    )
    live = entry.live or teller.is_empty
    return [
        [(f"{place} = " if place else "", look.dim), (" ".join([vector, *hows]), PLAIN)],
        [(target, PLAIN if live else look.bold)],
        [(result, look.bold)],
        [(f"({'; '.join(notes)})" if notes else "", look.note)],
    ]


def _render_chip(entry: Entry, labels: int, look: StyleSheet, style: Style) -> Line:
    if not look.bars:
        return [(pad_right(f"{entry.label}:", labels + 1), style), (" ", PLAIN)]
    return [(f" {pad_right(entry.label, labels)} ", style), (" ", PLAIN)]


def _wrap_pieces(
    chip: Line, row: Sequence[Line], head: int, width: int, signs: Signs
) -> list[Line]:
    """Pieces one after the other, broken between them, within one only where it must be."""
    lines: list[Line] = [list(chip)]
    used, indent = head, line_width(chip)
    start = head
    for piece in row:
        size = line_width(piece)
        if not size:
            continue
        gap = 0 if used == start else GAP
        if used + gap + size > width and used > start:
            lines.append([(" " * indent, PLAIN)])
            used, start, gap = indent, indent, 0
        if used + gap + size <= width:
            lines[-1] += [(" " * gap, PLAIN), *piece]
            used += gap + size
            continue
        for number, part in enumerate(_wrap_piece(piece, width - used, signs)):
            if number:
                lines.append([(" " * indent, PLAIN)])
                start = indent
            lines[-1] += [(part, piece[-1][1])]
            used = start + cell_len(part)
    return lines


def _wrap_piece(piece: Line, width: int, signs: Signs) -> list[str]:
    text = "".join(text for text, _ in piece).rstrip()
    return [signs.truncate(part, width) for part in wrap(text, width, break_on_hyphens=False)]


def describe_hidden_entries(
    trace: Trace, marked: int, listed: int, hidden: Sequence[tuple[str, int]]
) -> list[str]:
    """Which entries are not drawn or not listed, and the options that show them."""
    notes: list[str] = []
    total = trace.entry_count
    unseen = [(name, count + total - marked) for name, count in hidden if count + total - marked]
    if unseen:
        where = ", ".join(f"{name} {count:,}" for name, count in unseen)
        notes.append(f"entries not seen: {where}: --rows N, --full, gscli explain")
    if marked < total:
        notes.append(
            f"{total:,} entries, {marked} drawn, {listed} listed: --limit N, gscli explain"
        )
    elif listed < total:
        more = format_count(total - listed, "more entry", "more entries")
        notes.append(f"{more} not listed: --limit {total}, gscli explain")
    return notes


WIDEST, NARROWEST = 40, 30
TALLEST, FLATTEST = 8, 2
"""Columns and lines that an outline of a map takes."""

MAX_LETTERS = 26
"""Entries that have a letter on a map; more are points."""

MOST_PLANES = 6
SHIFTS = 8
"""Cells that a letter may stand beside its place."""

_ASPECT = 2.2
"""A line is so many times as high as a column is wide."""

_MATRIX = 2
_MAP_GAP = 3

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
        [make_block(list(outline.lines())) for outline in drawn], width, _MAP_GAP, between=0
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
        self, shape: Shape, name: str, marks: Sequence[Mark], width: int, look: StyleSheet
    ) -> None:
        self._shape, self._name, self._signs, self._look = shape, name, look.signs, look
        self._margin = len(str(shape[0] - 1)) + 2
        room = min(WIDEST, width - self._margin - 2)
        rows, columns = shape
        self._high = max(FLATTEST, min(TALLEST, rows, round(room * rows / columns / _ASPECT)))
        self._wide = min(room, max(NARROWEST, round(self._high * _ASPECT * columns / rows)))
        self._canvas: Canvas = [[(" ", PLAIN)] * self._wide for _ in range(self._high)]
        self.crowded = 0
        for mark in marks:
            if mark.number < MAX_LETTERS:
                top, left = self._draw_extent(mark)
                self.crowded += not self._draw_letter(mark.label, top, left, self._style(mark))
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

    def _draw_letter(self, label: str, line: int, place: int, style: Style) -> bool:
        """Write a label at its place, or beside it where another stands."""
        row, size = self._canvas[line], cell_len(label)
        for shift in sorted(range(-SHIFTS, SHIFTS + 1), key=lambda by: (abs(by), by < 0)):
            first = min(place, self._wide - size) + shift
            free = first >= 0 and first + size <= self._wide
            if free and not any(text.isalpha() for text, _ in row[first : first + size]):
                row[first : first + size] = [(letter, style) for letter in label]
                return True
        return False
