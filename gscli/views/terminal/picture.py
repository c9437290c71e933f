"""The picture: data, indices, updates and output with the cells of every entry, and a legend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from gscli.base.arrays import Array
from gscli.base.text import counted
from gscli.traces.entries import LETTERED
from gscli.traces.trace import Entry, Trace
from gscli.views.lines import Drawn, line_width, wrapped
from gscli.views.options import ViewOptions
from gscli.views.palette import Palette, palette_of
from gscli.views.signs import Signs, cells, signs_of
from gscli.views.style import Line
from gscli.views.terminal.flow import flow
from gscli.views.terminal.group import Group, check_requests, draw_group
from gscli.views.terminal.legend import legend
from gscli.views.terminal.subject import subjects
from gscli.views.words.statements import Teller

MARKED_ENTRIES = LETTERED
"""Entries whose cells are marked, unless the options ask for more."""
TOLD_ENTRIES = 20
"""Entries that the legend lists, unless the options say otherwise."""
GAP = 4


def picture(trace: Trace, options: ViewOptions, *, title: bool = True) -> Picture:
    """The picture of one run, as a rich renderable; UsageError for a wrong `show` or `slice`.

    >>> from gscli.traces.trace import trace
    >>> from gscli.views.lines import render
    >>> options = ViewOptions(color="none")
    >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> print(render(picture(found, options), options), end="")
    gather
    <BLANKLINE>
    data  int64 [3]     indices  int64 [1]    output  int64 [1]
       0     1     2       0                     0
      10    20  a:30    a:-1↺                 a:30
    <BLANKLINE>
    a: indices[0] = -1 ↺  → data[2]  → output[0] = 30
    """
    check_requests(trace, options)
    return Picture(trace, options, title=title)


class Picture(Drawn):
    """All tensors of a trace and a line per entry."""

    def __init__(self, trace: Trace, options: ViewOptions, *, title: bool) -> None:
        super().__init__(options)
        self.trace = trace
        self.title = title

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
        """Title, tensors, legend, and what is not shown."""
        lines = self._draw(width, self.options.show)
        data = self.trace.tensor("data")
        if data is None or not self._too_high(lines):
            return lines
        rest = [one.name for one in self.trace.tensors if one.role != "data"]
        note = f"{data.name} not shown: --show {','.join([data.name, *rest])}"
        return self._draw(width, rest, [note])

    def _too_high(self, lines: Sequence[Line]) -> bool:
        """Whether data should go: after a scatter, output shows the same cells."""
        options = self.options
        if options.height is None or options.show is not None or options.full:
            return False
        return self.trace.kind == "scatter" and len(lines) >= options.height

    def _draw(
        self, width: int, show: Sequence[str] | None, notes: Sequence[str] = ()
    ) -> list[Line]:
        palette, signs = palette_of(self.options), signs_of(self.options)
        group = draw_group(
            subjects(self.trace, self.marked, show), self.options, width, self._arithmetic()
        )
        lines = [*title_lines(self.trace, self.options, width), []] if self.title else []
        lines += flow(group.blocks, width, GAP)
        teller = Teller(self.trace, group.numbers, signs)
        told = legend([teller.statement(entry) for entry in self.told], width, palette, signs)
        lines += [[], *told] if told else []
        return lines + _notes([*notes, *self._not_shown(group)], width, palette, signs)

    def _arithmetic(self) -> list[Array]:
        """Values between old and new that only the legend shows."""
        changes = [entry.change for entry in self.told if entry.change is not None]
        return [change.new for change in changes if change.new.size == 1]

    def _not_shown(self, group: Group) -> list[str]:
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


def title_lines(trace: Trace, options: ViewOptions, width: int, more: str = "") -> list[Line]:
    """`scatter-nd   reduction=add`, continued below where the attributes are many."""
    palette, signs = palette_of(options), signs_of(options)
    shown = [
        signs.text(f"{key}={_compact(value)}", width - 3)
        for key, value in trace.shown_attributes.items()
    ]
    lines: list[Line] = [[(trace.operator.command_line.removeprefix("gscli "), palette.bold)]]
    for number, text in enumerate([*shown, *([more] if more else [])]):
        gap = "  " if 0 < number < len(shown) else "   "
        if line_width(lines[-1]) + len(gap) + cells(text) > width:
            lines.append([])
        lines[-1].append((gap + text, palette.dim))
    return lines


def _compact(value: object) -> str:
    return str(value).replace(" ", "") if isinstance(value, tuple) else str(value)


def _notes(notes: Sequence[str], width: int, palette: Palette, signs: Signs) -> list[Line]:
    lines: list[Line] = [[]] if notes else []
    for note in notes:
        for number, part in enumerate(wrapped(note, width - 3)):
            mark = f"{signs.across} " if number == 0 else "  "
            lines.append([(mark + part, palette.dim)])
    return lines
