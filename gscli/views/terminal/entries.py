"""The entries one by one: as a table beside the grid, and as lines of a legend."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.layout.axes import box_size
from gscli.traces.trace import Entry, Trace
from gscli.views.lines import Block, beside, block, column, line_width, paragraph
from gscli.views.look import PLAIN, Line, Look, Role, Signs, Style, cells, left
from gscli.views.numbers import NumberFormat
from gscli.views.words.below import Remark, drawn_key
from gscli.views.words.facts import VERBS, Teller
from gscli.views.words.purpose import axis_names, slice_name
from gscli.views.words.vocabularies import TERSE, told

GAP = 2
MOST_VALUES = 8
"""Updates of one slice that stand in the table; of larger ones it says the shape."""


class Column(Record):
    """A column of texts, one per entry. `chips`: they bear the colour of their entry."""

    head: str
    texts: tuple[str, ...]
    chips: bool = True


class Group(Record):
    """Neighbouring columns under one title; the widest of two groups may be left out first."""

    title: str
    facts: str
    columns: tuple[Column, ...]


class EntryTable:
    """Rows for `entries`; `lit` are in colour, all by default (a step lights one)."""

    def __init__(
        self,
        trace: Trace,
        entries: Sequence[Entry],
        numbers: NumberFormat,
        look: Look,
        lit: Sequence[Entry] | None = None,
    ) -> None:
        self.trace, self.entries = trace, entries
        self.numbers, self.look, self.signs = numbers, look, look.signs
        self.lit = {entry.number for entry in (entries if lit is None else lit)}
        self._role: Role = "" if lit is None else "entry"

    def draw(self, width: int) -> Block:
        """The table; where it is too wide, first updates go, then where the indices stand."""
        updates = self._updates()
        for groups in (
            [self._indices(places=True), *updates],
            [self._indices(places=False), *updates],
            [self._indices(places=False)],
        ):
            drawn = self._drawn(groups)
            if drawn.width <= width:
                return drawn
        return drawn

    def _drawn(self, groups: Sequence[Group]) -> Block:
        entries, dim = self.entries, self.look.dim
        labels = max((cells(entry.label) for entry in entries), default=1)
        headed = any(column.head for group in groups for column in group.columns)
        dots: list[Line] = [[(f" {self.signs.down}", dim)]]
        above = dots if entries and entries[0].number > 0 else []
        below = dots if entries and entries[-1].number < self.trace.entry_count - 1 else []
        chips = [[(f" {left(entry.label, labels)} ", self._style(entry))] for entry in entries]
        margin: Line = [(" " * (labels + GAP), PLAIN)]
        blocks = [block([margin, *([[]] if headed else []), *above, *chips, *below])]
        for group in groups:
            title: Line = [(group.title, self.look.bold), (f" {group.facts}", dim)]
            before = [("", PLAIN)] * len(above)
            drawn = [self._column(one, before, headed=headed) for one in group.columns]
            blocks.append(block([title, *beside(drawn, 0)]))
        none: list[Line] = [] if entries else [[(" no entries", dim)]]
        return block([*beside(blocks, GAP), *none])

    def _column(self, one: Column, before: Line, *, headed: bool) -> Block:
        heads = [(f" {one.head} ", self.look.dim)] if headed else []
        styles = [self._style(each) if one.chips else self.look.dim for each in self.entries]
        texts = [f" {text} " for text in one.texts]
        return column([*heads, *before, *zip(texts, styles, strict=True)])

    def _style(self, entry: Entry) -> Style:
        if entry.number not in self.lit:
            return self.look.dim
        skipped = not entry.live and self.trace.layout.window_size > 0
        style = self.look.alarm if skipped else self.look.value(entry.number)
        return self.look.as_role(style, self._role)

    def _indices(self, *, places: bool) -> Group:
        layout, names = self.trace.layout, axis_names(self.trace.layout)
        columns: list[Column] = []
        if places and len(layout.addressing.entries) > 1:
            texts = tuple(f"[{','.join(map(str, entry.at))}]" for entry in self.entries)
            columns.append(Column("at", texts, chips=False))
        for name, axis in zip(names, layout.axes, strict=True):
            if axis.column is not None:
                columns.append(Column(name, self._numbers(axis.column)))
            elif axis.entry is not None and places:
                own = tuple(str(entry.at[axis.entry]) for entry in self.entries)
                columns.append(Column(name, own, chips=False))
        first, *others = layout.index_inputs or ("",)
        title = ", ".join([first, *(f"_{name.rpartition('_')[2]}" for name in others)])
        facts = self._shape(first) if first else ""
        return Group(self.signs.text(title, 60), facts, tuple(columns))

    def _numbers(self, slot: int) -> tuple[str, ...]:
        """What stands in one index column, each with the sign of what became of it."""
        hows = [
            {one.slot: self.signs.of(one.how) for one in entry.adjustments}.get(slot, "")
            for entry in self.entries
        ]
        wide = max(map(cells, hows), default=0)
        return tuple(
            f"{entry.vector[slot]}{left(how, wide)}"
            for entry, how in zip(self.entries, hows, strict=True)
        )

    def _shape(self, name: str) -> str:
        shape = self.trace.inputs[name].shape
        return f"[{self.signs.times.join(map(str, shape))}]"

    def _updates(self) -> list[Group]:
        found = self.trace.tensor("updates")
        if found is None:
            return []
        texts = [self._update(found.array, entry) for entry in self.entries]
        count = max(map(len, texts), default=0)
        columns = tuple(
            Column("", tuple(row[place] if place < len(row) else "" for row in texts))
            for place in range(count)
        )
        return [Group(self.signs.text(found.name, 40), self._shape(found.name), columns)]

    def _update(self, array: Array, entry: Entry) -> list[str]:
        """The values that one entry brings, or the shape of its slice where they are many."""
        box = entry.result
        if box is None:
            return [""]
        sizes = tuple(stop - start for start, stop in box if stop - start != 1)
        if len(sizes) > 1 or box_size(box) > MOST_VALUES:
            return [f"{slice_name(sizes)} {self.signs.times.join(map(str, sizes))}"]
        values = array[tuple(slice(start, stop) for start, stop in box)]
        prefix = VERBS[self.trace.reduction].sign.replace("×", self.signs.times)
        texts = self.numbers.texts(values.reshape(-1))
        return [_signed(prefix, text) for text in texts]


def _signed(prefix: str, text: str) -> str:
    """`+10`, but `-3` where -3 is added and `-(-3)` where it is taken away."""
    if not prefix or not text.startswith("-"):
        return prefix + text
    return text if prefix == "+" else f"{prefix}({text})"


_COLUMNS = 3
_NAMED = 6


def legend(
    teller: Teller, entries: Sequence[Entry], width: int, look: Look, *, reasons: bool = False
) -> list[Line]:
    """The entries' lines, none wider than `width`; `reasons`: why a number means another."""
    if not entries:
        return []
    labels = max(cells(entry.label) for entry in entries)
    rows = [_pieces(teller, entry, look, reasons=reasons) for entry in entries]
    # Size and note stand free behind the columns. The chip of a coloured legend is one cell wider
    # than a bare label; both break at the same places.
    widths = [max(map(line_width, column)) for column in list(zip(*rows, strict=True))[:_COLUMNS]]
    head = labels + 3
    aligned = head + sum(widths) + GAP * sum(1 for one in widths[1:] if one)
    fits = aligned <= width
    lines: list[Line] = []
    for entry, row in zip(entries, rows, strict=True):
        columns = _padded(row[:_COLUMNS], widths) if fits else row[:_COLUMNS]
        size = teller.slice_size(entry.target) if entry.target is not None else ""
        if size and fits and aligned + GAP + cells(size) <= width:
            columns.append([(size, PLAIN)])
        live = entry.live or teller.moves_nothing
        chip = _chip(entry, labels, look, look.value(entry.number) if live else look.alarm)
        lines += _folded(chip, [*columns, row[-1]], head, width, look.signs)
    return lines


def remark_lines(found: Sequence[Remark], width: int, look: Look) -> list[Line]:
    """Remarks, each behind the letters that it is about."""
    lines: list[Line] = []
    for one in found:
        head: Line = [
            (f" {entry.label} ", look.value(entry.number) if entry.live else look.alarm)
            for entry in one.entries[:_NAMED]
        ]
        if len(one.entries) > _NAMED:
            head.append((f" +{len(one.entries) - _NAMED} ", look.dim))
        head.append(("  " if head else "", PLAIN))
        lines += paragraph(look.signs.line(one.text), width, head=head)
    return lines


def key_lines(
    told: Sequence[str], drawing: Sequence[Line], width: int, look: Look, point: str = ""
) -> list[Line]:
    """What is told below a drawing, and what its signs mean: one line where both fit in it.

    `point`: what a lone point means there.
    """
    text = "\n".join("".join(part for part, _ in line) for line in drawing)
    parts = [part for part in (*told, drawn_key(text, look.signs, point)) if part]
    joined = "   ".join(parts)
    parts = [joined] if parts and cells(joined) <= width else parts
    return [line for part in parts for line in paragraph(part, width, look.dim)]


def _pieces(teller: Teller, entry: Entry, look: Look, *, reasons: bool) -> list[Line]:
    """`indices[0] = (-1, 0) ↺`, `→ output[3,0]`, `1 + 40 = 41` and `(again: a)`."""
    (target, result, *usual), notes = told(teller, entry, TERSE)
    notes = notes or usual
    if reasons:
        notes += [adjustment.words() for adjustment in entry.adjustments]
    place, vector = teller.source(entry)
    hows = dict.fromkeys(teller.signs.of(one.how) for one in entry.adjustments if entry.live)
    live = entry.live or teller.moves_nothing
    return [
        [(f"{place} = " if place else "", look.dim), (" ".join([vector, *hows]), PLAIN)],
        [(target, PLAIN if live else look.bold)],
        [(result, look.bold)],
        [(f"({'; '.join(notes)})" if notes else "", look.note)],
    ]


def _chip(entry: Entry, labels: int, look: Look, style: Style) -> Line:
    if not look.bars:
        return [(left(f"{entry.label}:", labels + 1), style), (" ", PLAIN)]
    return [(f" {left(entry.label, labels)} ", style), (" ", PLAIN)]


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
        gap = 0 if used == start else GAP
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
