"""What is told below a picture: a line per entry, and remarks behind the letters they are about."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from gscli.base.words import format_count
from gscli.traces import Entry, Trace
from gscli.views.lines import line_width, wrap_paragraph
from gscli.views.look import PLAIN, Line, Signs, Style, StyleSheet, cell_len, pad_right
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
        columns = _pad_columns(row[:_COLUMNS], widths) if fits else row[:_COLUMNS]
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


def _pad_columns(row: Sequence[Line], widths: Sequence[int]) -> list[Line]:
    return [
        [*piece, (" " * (width - line_width(piece)), PLAIN)]
        for piece, width in zip(row, widths, strict=True)
    ]


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
