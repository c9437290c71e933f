"""The entries as one table: what each index says, headed by what it addresses, and its update."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.layout.boxes import box_size
from gscli.traces.trace import Entry, Trace
from gscli.views.lines import Block, beside, block, column
from gscli.views.look import PLAIN, Line, Look, Role, Style
from gscli.views.numbers import NumberFormat
from gscli.views.signs import cells, left
from gscli.views.words.facts import VERBS
from gscli.views.words.purpose import axis_names, slice_name

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
