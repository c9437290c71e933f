"""The frames of a run: after each of its entries, that entry alone lit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from gscli.traces.trace import Entry, Trace
from gscli.views.lines import Drawn, wrapped
from gscli.views.options import ViewOptions
from gscli.views.palette import palette_of
from gscli.views.signs import LONGEST_LINE, signs_of
from gscli.views.style import PLAIN, Line
from gscli.views.terminal.entry_table import EntryTable
from gscli.views.terminal.flow import flow
from gscli.views.terminal.group import draw_group
from gscli.views.terminal.legend import legend
from gscli.views.terminal.picture import GAP, beside_table, title_lines
from gscli.views.terminal.progress import GRIDS, Done, grids, subjects_after
from gscli.views.words.purpose import purpose
from gscli.views.words.reasons import why
from gscli.views.words.statements import Teller

TABLE_ROWS = 12
"""Entries in the table of a frame, around the one that is lit."""

KEY_LINES = 3
"""Lines that the keys of --step take below a frame."""

TOGETHER = 26
"""Entries whose frames keep the same places for everything. Beyond them, room would be kept for
ever more, and each frame would cost more than the one before.
"""


class Frame(Drawn):
    """The run after one of its entries."""

    def __init__(self, frames: Frames, number: int) -> None:
        super().__init__(frames.options)
        self._frames = frames
        self._number = number

    def draw(self, width: int) -> list[Line]:
        """Title, entries and grids with one entry lit, its line, and why.

        On a screen that is too low for it, fewer entries stand in the table.
        """
        lines = self._drawn(width, TABLE_ROWS)
        over = len(lines) + KEY_LINES - (self.options.height or len(lines) + KEY_LINES)
        rows = min(TABLE_ROWS, self._frames.trace.entry_count)
        return lines if over <= 0 else self._drawn(width, max(rows - over - 2, 1))

    def _drawn(self, width: int, rows: int) -> list[Line]:
        frames, options = self._frames, self.options
        trace, entries = frames.trace, frames.entries(self._number + 1)
        palette, signs = palette_of(options), signs_of(options)
        lit = entries[self._number : self._number + 1] if self._number >= 0 else []
        first = options.show is None
        begin = max(self._number, 0) // TOGETHER * TOGETHER
        found = subjects_after(
            trace,
            entries[begin : begin + TOGETHER],
            self._number - begin,
            GRIDS[trace.kind] if first else options.show,
            frames.done.before(entries, begin),
        )
        found = grids(trace, found) if first else found
        group = draw_group(found, options, width)
        step = f"step {self._number + 1} of {trace.entry_count}"
        lines = [*title_lines(trace, options, width, step), []]
        near = max(min(self._number - rows // 2, len(entries) - rows), 0)
        told = entries[near : near + rows]
        table = EntryTable(trace, told, group.numbers, palette, signs, lit)
        blocks = list(group.blocks)
        if first:
            blocks, group = beside_table(table.draw(width), found, options, width, group)
        lines += [*flow(blocks, width, GAP), []]
        teller = Teller(trace, group.numbers, signs)
        lines += legend([teller.statement(entry) for entry in lit], width, palette, signs)
        head = "why  "
        told_why = [line for entry in lit for line in why(teller, entry)]
        for number, text in enumerate(told_why or [purpose(trace)]):
            for part in wrapped(signs.text(text, LONGEST_LINE), width - len(head)):
                lines.append([(head, palette.bold), (part, palette.dim if number else PLAIN)])
                head = " " * len(head)
        return lines


class Frames(Sequence[Frame]):
    """The frames of a trace, made when they are asked for."""

    def __init__(self, trace: Trace, options: ViewOptions) -> None:
        self.trace = trace
        self.options = options
        self.done = Done(trace)
        self._entries = trace.entries(TOGETHER)

    def entries(self, count: int) -> Sequence[Entry]:
        """The first entries, at least `count` of them."""
        if count > len(self._entries):
            self._entries = self.trace.entries(max(count, 2 * len(self._entries)))
        return self._entries

    def step(self, number: int) -> Frame:
        """The frame that people call `number`: 0 is before the first entry."""
        return Frame(self, number - 1)

    def __len__(self) -> int:
        return self.trace.entry_count

    @overload
    def __getitem__(self, number: int) -> Frame: ...
    @overload
    def __getitem__(self, number: slice) -> list[Frame]: ...
    def __getitem__(self, number: int | slice) -> Frame | list[Frame]:
        if isinstance(number, slice):
            return [Frame(self, one) for one in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return Frame(self, number % len(self))
