"""A line per entry, its pieces in columns; where they do not fit, under each other."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from gscli.views.lines import line_width, wrapped
from gscli.views.palette import Palette
from gscli.views.signs import LONGEST_LINE, Signs, cells, left
from gscli.views.style import PLAIN, Line
from gscli.views.words.remarks import Remark
from gscli.views.words.statements import Statement

_GAP = 2
_COLUMNS = 3
_NAMED = 6


def legend(
    statements: Sequence[Statement], width: int, palette: Palette, signs: Signs
) -> list[Line]:
    """The entries' lines, none wider than `width`."""
    if not statements:
        return []
    labels = max(cells(one.label) for one in statements)
    rows = [_pieces(one, palette) for one in statements]
    # Size and note stand free behind the columns. The chip of a coloured legend is one cell wider
    # than a bare label; both break at the same places.
    widths = [max(map(line_width, column)) for column in list(zip(*rows, strict=True))[:_COLUMNS]]
    head = labels + 3
    aligned = head + sum(widths) + _GAP * sum(1 for one in widths[1:] if one)
    fits = aligned <= width
    lines: list[Line] = []
    for one, row in zip(statements, rows, strict=True):
        columns = _padded(row[:_COLUMNS], widths) if fits else row[:_COLUMNS]
        if one.size and fits and aligned + _GAP + cells(one.size) <= width:
            columns.append([(one.size, PLAIN)])
        lines += _folded(_chip(one, labels, palette), [*columns, row[-1]], head, width, signs)
    return lines


def remark_lines(found: Sequence[Remark], width: int, palette: Palette, signs: Signs) -> list[Line]:
    """Remarks, each behind the letters that it is about."""
    lines: list[Line] = []
    for one in found:
        named = one.entries[:_NAMED]
        head: Line = []
        for entry in named:
            alarm = not entry.live
            style = palette.alarm if alarm else palette.value(entry.number)
            head.append((f" {entry.label} ", style))
        if len(one.entries) > len(named):
            head.append((f" +{len(one.entries) - len(named)} ", palette.dim))
        head.append(("  " if head else "", PLAIN))
        indent = line_width(head)
        text = signs.text(one.text, LONGEST_LINE)
        for number, part in enumerate(wrapped(text, width - indent)):
            lines.append([*(head if not number else [(" " * indent, PLAIN)]), (part, PLAIN)])
    return lines


def _pieces(one: Statement, palette: Palette) -> list[Line]:
    sign = f" {one.sign}" if one.sign else ""
    return [
        [(f"{one.place} = " if one.place else "", palette.dim), (one.vector + sign, PLAIN)],
        [(one.target, PLAIN if one.live else palette.bold)],
        [(one.result, palette.bold)],
        [(one.note, palette.note)],
    ]


def _chip(one: Statement, labels: int, palette: Palette) -> Line:
    style = palette.value(one.number) if one.live else palette.alarm
    if not palette.bars:
        return [(left(f"{one.label}:", labels + 1), style), (" ", PLAIN)]
    return [(f" {left(one.label, labels)} ", style), (" ", PLAIN)]


def _padded(row: Sequence[Line], widths: Sequence[int]) -> list[Line]:
    return [
        [*piece, (" " * (width - line_width(piece)), PLAIN)]
        for piece, width in zip(row, widths, strict=True)
    ]


def _folded(chip: Line, row: Sequence[Line], head: int, width: int, signs: Signs) -> list[Line]:
    """Pieces one after the other, broken between them, within one only where it must be."""
    lines: list[Line] = [list(chip)]
    used, indent = head, line_width(chip)
    start = head
    for piece in row:
        size = line_width(piece)
        if not size:
            continue
        gap = 0 if used == start else _GAP
        if used + gap + size > width and used > start:
            lines.append([(" " * indent, PLAIN)])
            used, start, gap = indent, indent, 0
        if used + gap + size <= width:
            lines[-1] += [(" " * gap, PLAIN), *piece]
            used += gap + size
            continue
        for number, part in enumerate(_broken(piece, width - used, signs)):
            if number:
                lines.append([(" " * indent, PLAIN)])
                start = indent
            lines[-1] += [(part, piece[-1][1])]
            used = start + cells(part)
    return lines


def _broken(piece: Line, width: int, signs: Signs) -> list[str]:
    text = "".join(text for text, _ in piece).rstrip()
    return [signs.fit(part, width) for part in wrap(text, width, break_on_hyphens=False)]
