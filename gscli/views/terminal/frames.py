"""One entry at a time: only it is lit, cells that are done keep their new value.

No full-screen mode, so that scrollback stays; without a terminal the frames follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gscli.base import UsageError
from gscli.base.arrays import Array
from gscli.base.records import cached_property
from gscli.base.words import counted
from gscli.traces import Entry, Trace
from gscli.traces.entries import iter_entries
from gscli.views.choices import check_requests
from gscli.views.lines import Drawing, paragraph
from gscli.views.look import PLAIN, Line, ViewOptions
from gscli.views.picture import key_lines, title_lines, with_table
from gscli.views.steps import Done, subjects_after
from gscli.views.subject import GRIDS, expecting, grids
from gscli.views.summary import purpose
from gscli.views.terminal.legend import legend
from gscli.views.words.below import explain_outcome_signs
from gscli.views.words.facts import Teller
from gscli.views.words.formula import why

if TYPE_CHECKING:
    from gscli.lab.expectation import Expectation

TABLE_ROWS = 12
"""Entries in the table of a frame, around the one that is lit."""

KEY_LINES = 3
"""Lines that the keys of --step take below a frame."""

TOGETHER = 26
"""Entries whose frames keep the same places for everything. Beyond them, room would be kept for
ever more, and each frame would cost more than the one before.
"""


class Frame(Drawing):
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
        frames, options, look, signs = self._frames, self.options, self.look, self.signs
        trace, entries = frames.trace, frames.entries(self._number + 1)
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
        if frames.expectation is not None:
            found = expecting(found, frames.expectation, frames.last > self._number)
        near = max(min(self._number - rows // 2, len(entries) - rows), 0)
        told = entries[near : near + rows]
        drawing, group = with_table(trace, told, found, options, width, lit=lit)
        step = f"step {self._number + 1} of {trace.entry_count}"
        lines = [*title_lines(trace, options, width, step), []]
        lines += [*drawing, []]
        teller = Teller(trace, group.numbers)
        lines += legend(teller, lit, width, look)
        reason, *more = [text for entry in lit for text in why(teller, entry)] or [purpose(trace)]
        lines += paragraph(signs.line(reason), width, head=[("why  ", look.bold)])
        for text in more:
            lines += paragraph(signs.line(text), width, look.dim, head=[("     ", PLAIN)])
        unread = "not read yet" if trace.kind == "gather" else ""
        return lines + key_lines(
            [explain_outcome_signs(trace, told, signs)], drawing, width, look, unread
        )


class Frames:
    """The frames of a trace, made when they are asked for.

    Cells that no later entry reaches and that differ from an `expectation` show both values.
    """

    def __init__(
        self, trace: Trace, options: ViewOptions, expectation: Expectation | None = None
    ) -> None:
        self.trace = trace
        self.options = options
        self.expectation = expectation
        self.done = Done(trace)
        self._entries = trace.entries(TOGETHER)

    def entries(self, count: int) -> Sequence[Entry]:
        """The first entries, at least `count` of them."""
        if count > len(self._entries):
            self._entries = self.trace.entries(max(count, 2 * len(self._entries)))
        return self._entries

    @cached_property
    def last(self) -> Array:
        """The number of the last entry that reaches each cell of the output; -1 where none does."""
        gathers = self.trace.kind == "gather"
        found = np.full(self.trace.output.shape, -1)
        for entry in iter_entries(self.trace.plan, len(self), replayed=False):
            box = entry.result if gathers else entry.target
            if box is not None:
                found[tuple(slice(*span) for span in box)] = entry.number
        return found

    def step(self, number: int) -> Frame:
        """The frame that people call `number`, 0 before the first entry; UsageError beyond."""
        if not 0 <= number <= len(self):
            raise UsageError(
                f"there is no step {number}",
                where=counted(len(self), "entry", "entries"),
                valid=f"0 … {len(self)}",
            )
        return Frame(self, number - 1)

    def __len__(self) -> int:
        return self.trace.entry_count

    def __iter__(self) -> Iterator[Frame]:
        return (self.step(number + 1) for number in range(len(self)))


STEPPED_ENTRIES = 100
"""Frames that are printed in a row, unless a limit says otherwise."""


def frames(trace: Trace, options: ViewOptions, expectation: Expectation | None = None) -> Frames:
    """One renderable per entry.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1, 0]})
    >>> len(frames(found, ViewOptions()))
    2
    """
    check_requests(trace, options)
    return Frames(trace, options, expectation)


def listed_steps(found: Frames, options: ViewOptions) -> range:
    """The steps of a series, from what there was before: STEPPED_ENTRIES of them, or the limit."""
    limit = STEPPED_ENTRIES if options.limit is None else options.limit
    return range(min(limit, len(found)) + 1)
