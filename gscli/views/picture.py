"""The picture: a table of entries, beside it the grids that they touch, and what is said below."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.base.words import LETTERED
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.layout.axes import box_size
from gscli.traces import Entry, Trace
from gscli.views.group import DrawnGroup, draw_group
from gscli.views.lines import Block, Drawing, beside, block, column, flow, line_width, paragraph
from gscli.views.look import PLAIN, Line, Look, Role, Style, ViewOptions, cells, left, look_of
from gscli.views.sheet import is_asked
from gscli.views.subject import (
    GRIDS,
    Subject,
    expecting,
    grids,
    part_of,
    subjects,
    values_told,
)  # fmt: skip
from gscli.views.summary import (
    axis_names,
    counted_words,
    counts,
    drawn_key,
    purpose,
    slice_name,
)  # fmt: skip
from gscli.views.texts import NumberFormat

if TYPE_CHECKING:
    from gscli.lab.expectation import Expectation

BETWEEN = 2
"""Cells between the columns of the table of entries."""


MARKED_ENTRIES = LETTERED
"""Entries whose cells are marked, unless the options ask for more."""
TOLD_ENTRIES = 20
"""Entries that the legend lists, unless the options say otherwise."""
GAP = 4
NARROWEST_GRID = 12


def picture(
    trace: Trace,
    options: ViewOptions,
    *,
    title: bool = True,
    expectation: Expectation | None = None,
) -> Picture:
    """The picture of one run, as a rich renderable; UsageError for a wrong `show` or `slice`.

    Cells of the output that differ from an `expectation` are drawn with both values.

    >>> from gscli.traces import trace
    >>> from gscli.views.lines import render
    >>> options = ViewOptions(color="none")
    >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> print(render(picture(found, options), options), end="")
    gather
    Each number of indices names a cell of data; its value is copied to output.
    <BLANKLINE>
         indices [1]    data  int64 [3]     output  int64 [1]
          cell             0     1     2       0
     a     -1↺            10    20  a:30    a:30
    <BLANKLINE>
     a   -1↺ counts from the end: cell 2
    1 of 3 cells read
    """
    if is_asked(options) or options.show is not None or options.limit is not None:
        from gscli.views.choices import check_requests

        check_requests(trace, options)
    return Picture(trace, options, title, expectation)


class Picture(Drawing):
    """All tensors of a trace and a line per entry."""

    def __init__(
        self, trace: Trace, options: ViewOptions, title: bool, expectation: Expectation | None
    ) -> None:
        super().__init__(options)
        self.trace, self.title, self.expectation = trace, title, expectation
        self.wrong = 0
        """Differing cells that the last drawing shows."""

    @cached_property
    def marked(self) -> list[Entry]:
        """The entries whose cells are marked."""
        limit = self.options.limit
        if self.options.full and limit is None:
            return self.trace.entries()
        return self.trace.entries(max(MARKED_ENTRIES, limit or 0))

    @cached_property
    def told(self) -> list[Entry]:
        """The entries that the legend lists."""
        limit = self.options.limit
        if limit is None and not self.options.full:
            limit = TOLD_ENTRIES
        return self.marked[:limit]

    def draw(self, width: int) -> list[Line]:
        """Title, what happens in a sentence, the entries and the grid that they touch.

        With `show` a sheet per tensor and a legend. Then what is not shown.
        """
        options, trace, look = self.options, self.trace, self.look
        lines = [*title_lines(trace, options, width)] if self.title else []
        first = options.show is None
        found = subjects(trace, self.marked, GRIDS[trace.kind] if first else options.show)
        found = expecting(grids(trace, found) if first else found, self.expectation)
        extras = self._arithmetic()
        drawing, group = with_table(trace, self.told, found, options, width, extras)
        self.wrong = group.wrong
        if first:
            lines += paragraph(self.signs.line(purpose(trace)), width)
            told, means = self._remarks(group.numbers, width), self._counted()
        else:
            from gscli.views.terminal.legend import legend
            from gscli.views.words.below import explain_outcome_signs
            from gscli.views.words.facts import Teller

            told = legend(Teller(trace, group.numbers), self.told, width, look)
            means = explain_outcome_signs(trace, self.told if told else [], self.signs)
        told += key_lines([means], drawing, width, look)
        lines += [*([[]] if lines else []), *drawing, *([[], *told] if told else [])]
        return lines + self._not_shown(group, width)

    def _remarks(self, numbers: NumberFormat, width: int) -> list[Line]:
        """What is said of numbers that mean others, and of cells that several entries write."""
        targets = [entry.target for entry in self.marked if entry.target is not None]
        alone = self.trace.kind == "gather" or len(set(targets)) == len(targets)
        if alone and not any(entry.adjustments for entry in self.marked):
            return []
        from gscli.views.terminal.legend import remark_lines
        from gscli.views.words.below import remarks
        from gscli.views.words.facts import Teller

        return remark_lines(remarks(Teller(self.trace, numbers), self.marked), width, self.look)

    def _counted(self) -> str:
        """How many cells were read or changed, where every entry is at hand."""
        if len(self.marked) < self.trace.entry_count or not self.marked:
            return ""
        found = counts(self.trace, self.marked)
        return counted_words(self.trace, found) if found else ""

    def _arithmetic(self) -> list[Array]:
        """Values between old and new that only the legend shows, and updates of another type."""
        changes = [entry.change for entry in self.told if entry.change is not None]
        alone = [change for change in changes if change.new.size == 1]
        found = [one for change in alone for one in values_told(self.trace, change)[2:]]
        updates = self.trace.tensor("updates")
        if updates is None or updates.array.dtype == self.trace.output.dtype:
            return found
        taken = [entry.result for entry in self.told if entry.result is not None]
        return found + [part_of(updates.array, box) for box in taken]

    def _not_shown(self, group: DrawnGroup, width: int) -> list[Line]:
        if len(self.told) == self.trace.entry_count and not any(dict(group.hidden).values()):
            return []
        from gscli.views.terminal.legend import left_out

        dim, lines = self.look.dim, list[Line]()
        for text in left_out(self.trace, len(self.marked), len(self.told), group.hidden):
            lines += paragraph(text, width - 1, dim, head=[(f"{self.signs.across} ", dim)])
        return [[], *lines]


def with_table(
    trace: Trace,
    told: Sequence[Entry],
    found: Sequence[Subject],
    options: ViewOptions,
    width: int,
    extras: Sequence[Array] = (),
    lit: Sequence[Entry] | None = None,
) -> tuple[list[Line], DrawnGroup]:
    """The table of entries and the grids, beside it where fewer lines then show as much.

    With `show` the sheets alone.
    """
    group = draw_group(found, options, width, extras)
    if options.show is not None:
        return flow(group.blocks, width, GAP), group
    table = EntryTable(trace, told, group.numbers, look_of(options), lit).draw(width)
    below, room = flow([table, *group.blocks], width, GAP), width - table.width - GAP
    if room < NARROWEST_GRID:
        return below, group
    fits = all(block.width <= room for block in group.blocks)
    slim = group if fits else draw_group(found, options, room, extras)
    beside = flow([table, *slim.blocks], width, GAP)
    fewer = len(beside) < len(below) and slim.columns == group.columns
    return (beside, slim) if fewer else (below, group)


def title_lines(trace: Trace, options: ViewOptions, width: int, more: str = "") -> list[Line]:
    """`scatter-nd   reduction=add`, continued below where the attributes are many."""
    look = look_of(options)
    signs = look.signs
    shown = [
        signs.text(f"{key}={_compact(value)}", width - 3)
        for key, value in trace.shown_attributes.items()
    ]
    lines: list[Line] = [[(trace.operator.command_line.removeprefix("gscli "), look.bold)]]
    for number, text in enumerate([*shown, *([more] if more else [])]):
        gap = "  " if 0 < number < len(shown) else "   "
        if line_width(lines[-1]) + len(gap) + cells(text) > width:
            lines.append([])
        lines[-1].append((gap + text, look.dim))
    return lines


def _compact(value: object) -> str:
    return str(value).replace(" ", "") if isinstance(value, tuple) else str(value)


MOST_VALUES = 8
"""Updates of one slice that stand in the table; of larger ones it says the shape."""


class TableColumn(Record):
    """A column of texts, one per entry. `chips`: they bear the colour of their entry."""

    head: str
    texts: tuple[str, ...]
    chips: bool = True


class TableGroup(Record):
    """Neighbouring columns under one title; the widest of two groups may be left out first."""

    title: str
    facts: str
    columns: tuple[TableColumn, ...]


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

    def _drawn(self, groups: Sequence[TableGroup]) -> Block:
        entries, dim = self.entries, self.look.dim
        labels = max((cells(entry.label) for entry in entries), default=1)
        headed = any(column.head for group in groups for column in group.columns)
        dots: list[Line] = [[(f" {self.signs.down}", dim)]]
        above = dots if entries and entries[0].number > 0 else []
        below = dots if entries and entries[-1].number < self.trace.entry_count - 1 else []
        chips = [[(f" {left(entry.label, labels)} ", self._style(entry))] for entry in entries]
        margin: Line = [(" " * (labels + BETWEEN), PLAIN)]
        blocks = [block([margin, *([[]] if headed else []), *above, *chips, *below])]
        for group in groups:
            title: Line = [(group.title, self.look.bold), (f" {group.facts}", dim)]
            before = [("", PLAIN)] * len(above)
            drawn = [self._column(one, before, headed=headed) for one in group.columns]
            blocks.append(block([title, *beside(drawn, 0)]))
        none: list[Line] = [] if entries else [[(" no entries", dim)]]
        return block([*beside(blocks, BETWEEN), *none])

    def _column(self, one: TableColumn, before: Line, *, headed: bool) -> Block:
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

    def _indices(self, *, places: bool) -> TableGroup:
        layout, names = self.trace.layout, axis_names(self.trace.layout)
        columns: list[TableColumn] = []
        if places and len(layout.addressing.entries) > 1:
            texts = tuple(f"[{','.join(map(str, entry.at))}]" for entry in self.entries)
            columns.append(TableColumn("at", texts, chips=False))
        for name, axis in zip(names, layout.axes, strict=True):
            if axis.column is not None:
                columns.append(TableColumn(name, self._numbers(axis.column)))
            elif axis.entry is not None and places:
                own = tuple(str(entry.at[axis.entry]) for entry in self.entries)
                columns.append(TableColumn(name, own, chips=False))
        first, *others = layout.index_inputs or ("",)
        title = ", ".join([first, *(f"_{name.rpartition('_')[2]}" for name in others)])
        facts = self._shape(first) if first else ""
        return TableGroup(self.signs.text(title, 60), facts, tuple(columns))

    def _numbers(self, slot: int) -> tuple[str, ...]:
        """What stands in one index column, each with the sign of what became of it."""
        hows = [
            {one.slot: self.signs.of(one.sign) for one in entry.adjustments}.get(slot, "")
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

    def _updates(self) -> list[TableGroup]:
        found = self.trace.tensor("updates")
        if found is None:
            return []
        texts = [self._update(found.array, entry) for entry in self.entries]
        count = max(map(len, texts), default=0)
        columns = tuple(
            TableColumn("", tuple(row[place] if place < len(row) else "" for row in texts))
            for place in range(count)
        )
        return [TableGroup(self.signs.text(found.name, 40), self._shape(found.name), columns)]

    def _update(self, array: Array, entry: Entry) -> list[str]:
        """The values that one entry brings, or the shape of its slice where they are many."""
        box = entry.result
        if box is None:
            return [""]
        sizes = tuple(stop - start for start, stop in box if stop - start != 1)
        if len(sizes) > 1 or box_size(box) > MOST_VALUES:
            return [f"{slice_name(sizes)} {self.signs.times.join(map(str, sizes))}"]
        values = array[tuple(slice(start, stop) for start, stop in box)]
        prefix = REDUCTION_WORDS[self.trace.reduction].sign.replace("×", self.signs.times)
        texts = self.numbers.texts(values.reshape(-1))
        return [_signed(prefix, text) for text in texts]


def _signed(prefix: str, text: str) -> str:
    """`+10`, but `-3` where -3 is added and `-(-3)` where it is taken away."""
    if not prefix or not text.startswith("-"):
        return prefix + text
    return text if prefix == "+" else f"{prefix}({text})"


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
