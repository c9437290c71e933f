"""A line per entry, its pieces in columns; where they do not fit, under each other."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from rich.style import Style

from gscli.views.lines import Line
from gscli.views.palette import PLAIN, Palette
from gscli.views.signs import Signs, cells, left
from gscli.views.statements import Statement

_GAP = 2


def legend(
    statements: Sequence[Statement], width: int, palette: Palette, signs: Signs
) -> list[Line]:
    """The entries' lines, none wider than `width`."""
    if not statements:
        return []
    labels = max(cells(one.label) for one in statements)
    rows = [_pieces(one, palette) for one in statements]
    widths = [max(cells(row[column][0]) for row in rows) for column in range(4)]
    head = labels + 3
    aligned = head + sum(widths) + _GAP * sum(1 for one in widths[1:] if one)
    lines: list[Line] = []
    for one, row in zip(statements, rows, strict=True):
        chip = _chip(one, labels, palette)
        if aligned <= width:
            lines.append(chip + _aligned(row, widths))
        else:
            lines += _folded(chip, row, head, width, signs)
    return lines


def _pieces(one: Statement, palette: Palette) -> list[tuple[str, Style]]:
    source = f"{one.source} {one.sign}" if one.sign else one.source
    told = palette.bold
    return [
        (source, palette.dim if one.live else PLAIN),
        (one.target, PLAIN if one.live else told),
        (one.result, told),
        (one.note, palette.note),
    ]


def _chip(one: Statement, labels: int, palette: Palette) -> Line:
    style = palette.value(one.number) if one.live else palette.alarm
    if not palette.bars:
        return [(left(f"{one.label}:", labels + 1), style), (" ", PLAIN)]
    return [(f" {left(one.label, labels)} ", style), (" ", PLAIN)]


def _aligned(row: Sequence[tuple[str, Style]], widths: Sequence[int]) -> Line:
    line: Line = []
    for (text, style), width in zip(row, widths, strict=True):
        if width:
            gap = " " * (_GAP if line else 0)
            line += [(gap, PLAIN), (text, style), (" " * (width - cells(text)), PLAIN)]
    return line


def _folded(
    chip: Line, row: Sequence[tuple[str, Style]], head: int, width: int, signs: Signs
) -> list[Line]:
    """Pieces one after the other, broken between them, within one only where it must be."""
    lines: list[Line] = [list(chip)]
    used = head
    for text, style in row:
        if not text:
            continue
        gap = 0 if used == head else _GAP
        if used + gap + cells(text) > width and used > head:
            lines.append([(" " * (head + _GAP), PLAIN)])
            used, gap = head + _GAP, 0
        for number, part in enumerate(_broken(text, width - used - gap, signs)):
            if number:
                lines.append([(" " * (head + _GAP), PLAIN)])
                used, gap = head + _GAP, 0
            lines[-1] += [(" " * gap, PLAIN), (part, style)]
            used += gap + cells(part)
    return lines


def _broken(text: str, width: int, signs: Signs) -> list[str]:
    if cells(text) <= width:
        return [text]
    return [signs.fit(part, width) for part in wrap(text, width, break_on_hyphens=False)]
