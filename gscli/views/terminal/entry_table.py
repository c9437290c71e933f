"""The entries as one table: what each index says, headed by what it addresses, and its update."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.arrays import Array
from gscli.base.records import cached_property
from gscli.layout.boxes import Box, box_size
from gscli.traces.trace import Entry, Trace
from gscli.views.lines import Block, block, line_width
from gscli.views.look import PLAIN, Line, Look, Role, Style
from gscli.views.numbers import NumberFormat
from gscli.views.signs import cells, left, right
from gscli.views.words.purpose import axis_names, slice_name

GAP = 2
MOST_VALUES = 8
"""Updates of one slice that stand in the table; of larger ones it says the shape."""

_PREFIXES = {"add": "+", "sub": "-", "div": "/", "pow": "^"}


class Column:
    """A column of texts, one per entry. `chips`: they bear the colour of their entry."""

    def __init__(self, head: str, texts: tuple[str, ...], chips: bool = True) -> None:
        self.head, self.texts, self.chips = head, texts, chips

    @cached_property
    def width(self) -> int:
        """The widest text or the head."""
        return max(map(cells, (self.head, *self.texts)))


class Group:
    """Neighbouring columns under one title; the widest of two groups may be left out first."""

    def __init__(self, title: str, facts: str, columns: tuple[Column, ...]) -> None:
        self.title, self.facts, self.columns = title, facts, columns

    @cached_property
    def width(self) -> int:
        """Columns with a blank on either side, or the title."""
        own = sum(column.width + GAP for column in self.columns)
        return max(own, cells(self.title) + cells(self.facts) + 1)


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
        labels = max((cells(entry.label) for entry in self.entries), default=1)
        margin: Line = [(" " * (labels + GAP), PLAIN)]
        titles, heads = list(margin), list(margin)
        for group in groups:
            facts = left(group.facts, group.width - cells(group.title) - 1)
            titles += [(" " * GAP, PLAIN), (group.title, self.look.bold)]
            titles.append((" " + facts, self.look.dim))
            texts = [column.head for column in group.columns]
            heads += [(" " * GAP, PLAIN), *self._row(group, texts, None)]
        lines = [titles, heads] if any(c.head for g in groups for c in g.columns) else [titles]
        for number, entry in enumerate(self.entries):
            line: Line = [(f" {left(entry.label, labels)} ", self._style(entry))]
            for group in groups:
                texts = [column.texts[number] for column in group.columns]
                line += [(" " * GAP, PLAIN), *self._row(group, texts, entry)]
            lines.append(line)
        dots: list[Line] = [[(f" {self.signs.down}", self.look.dim)]]
        below = self.entries and self.entries[-1].number < self.trace.entry_count - 1
        above = self.entries and self.entries[0].number > 0
        if not self.entries:
            lines.append([(" no entries", self.look.dim)])
        start = len(lines) - len(self.entries)
        lines[start:start] = dots if above else []
        return block([*lines, *(dots if below else [])])

    def _row(self, group: Group, texts: Sequence[str], entry: Entry | None) -> Line:
        line: Line = []
        for column, text in zip(group.columns, texts, strict=True):
            style = self.look.dim
            if entry is not None and column.chips:
                style = self._style(entry)
            line.append((f" {right(text, column.width)} ", style))
        return [*line, (" " * (group.width - line_width(line)), PLAIN)]

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
        sizes = _sizes(box)
        if len(sizes) > 1 or box_size(box) > MOST_VALUES:
            return [f"{slice_name(sizes)} {self.signs.times.join(map(str, sizes))}"]
        values = array[tuple(slice(start, stop) for start, stop in box)]
        prefix = {**_PREFIXES, "mul": self.signs.times}.get(self.trace.reduction, "")
        texts = self.numbers.texts(values.reshape(-1))
        return [_signed(prefix, text) for text in texts]


def _sizes(box: Box) -> tuple[int, ...]:
    return tuple(stop - start for start, stop in box if stop - start != 1)


def _signed(prefix: str, text: str) -> str:
    """`+10`, but `-3` where -3 is added and `-(-3)` where it is taken away."""
    if not prefix or not text.startswith("-"):
        return prefix + text
    return text if prefix == "+" else f"{prefix}({text})"
