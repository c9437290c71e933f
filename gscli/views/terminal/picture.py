"""The picture: data, indices, updates and output with the cells of every entry, and a legend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gscli.base.arrays import Array
from gscli.base.text import LETTERED, counted
from gscli.traces.trace import Entry, Trace
from gscli.views.lines import Drawn, flow, line_width, paragraph
from gscli.views.look import Line, ViewOptions, cells, look_of
from gscli.views.subject import GRIDS, Subject, expecting, grids, subjects
from gscli.views.terminal.entries import EntryTable, key_lines, legend, remark_lines
from gscli.views.terminal.group import Group, check_requests, draw_group
from gscli.views.words.below import counted_words, counts, numbers_key, remarks
from gscli.views.words.facts import Teller, part_of, values_told
from gscli.views.words.purpose import purpose

if TYPE_CHECKING:
    from gscli.lab.expectation import Expectation

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

    >>> from gscli.traces.trace import trace
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
    check_requests(trace, options)
    return Picture(trace, options, title=title, expectation=expectation)


class Picture(Drawn):
    """All tensors of a trace and a line per entry."""

    def __init__(
        self,
        trace: Trace,
        options: ViewOptions,
        *,
        title: bool,
        expectation: Expectation | None = None,
    ) -> None:
        super().__init__(options)
        self.trace = trace
        self.title = title
        self.expectation = expectation
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
        self.wrong, teller = group.wrong, Teller(trace, group.numbers)
        if first:
            lines += paragraph(self.signs.line(purpose(trace)), width)
            told = remark_lines(remarks(teller, self.marked), width, look)
            means = self._counted()
        else:
            told = legend(teller, self.told, width, look)
            means = numbers_key(trace, self.told if told else [], self.signs)
        told += key_lines([means], drawing, width, look)
        lines += [*([[]] if lines else []), *drawing, *([[], *told] if told else [])]
        return lines + self._not_shown(group, width)

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

    def _not_shown(self, group: Group, width: int) -> list[Line]:
        dim, lines = self.look.dim, list[Line]()
        for text in self._left_out(group):
            lines += paragraph(text, width - 1, dim, head=[(f"{self.signs.across} ", dim)])
        return [[], *lines] if lines else []

    def _left_out(self, group: Group) -> list[str]:
        notes: list[str] = []
        total = self.trace.entry_count
        undrawn = total - len(self.marked)
        hidden = [(name, count + undrawn) for name, count in group.hidden if count + undrawn]
        if hidden:
            where = ", ".join(f"{name} {count:,}" for name, count in hidden)
            notes.append(f"entries not seen: {where}: --rows N, --full, gscli explain")
        if len(self.marked) < total:
            notes.append(
                f"{total:,} entries, {len(self.marked)} drawn, {len(self.told)} listed: "
                "--limit N, gscli explain"
            )
        elif len(self.told) < total:
            rest = total - len(self.told)
            more = counted(rest, "more entry", "more entries")
            notes.append(f"{more} not listed: --limit {total}, gscli explain")
        return notes


def with_table(
    trace: Trace,
    told: Sequence[Entry],
    found: Sequence[Subject],
    options: ViewOptions,
    width: int,
    extras: Sequence[Array] = (),
    lit: Sequence[Entry] | None = None,
) -> tuple[list[Line], Group]:
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
