"""The tensors of a trace as the page lays them out: shown cells, their texts, their entries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from gscli.base import LimitRefused, check_rule
from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.plan.indices import IndexOutcome
from gscli.traces import Entry, Trace
from gscli.views.look import MATRIX, UTF8, Limits, ViewOptions
from gscli.views.sheet import Coordinates, VisibleTensor, is_part_requested, make_visible_tensors
from gscli.views.steps import iter_patches
from gscli.views.subject import TensorView, add_expected, initial_output, list_samples, make_views
from gscli.views.texts import CellTexts, NumberFormat, choose_number_format

if TYPE_CHECKING:
    from gscli.lab.expectation import OutputDiagnosis

# Entries that are told one by one unless the options say otherwise.
ENTRIES = 60

# Entries that are told where one of them is refused.
MOST_ENTRIES = 600

# What is shown of a large tensor.
ROWS, COLUMNS, PLANES = 12, 12, 6

# Cells of one tensor that a browser still lays out at once.
FULL_LIMIT = 20_000

_SAMPLED = 4096


class PageCell(Record):
    """A shown cell: its text, what it held at first, and the entries that touch it.

    `outcome`: what became of an index number, or of an update that no entry writes. `expected`:
    what it should hold, where it holds something else.
    """

    text: str
    initial_text: str
    entries: tuple[int, ...]
    outcome: IndexOutcome | None
    expected: str

    @property
    def is_changed(self) -> bool:
        """Whether it holds something else than at first, or than it should."""
        return bool(self.expected) or self.initial_text != self.text


class PageTensor:
    """One tensor: its sheets and the cells that they show.

    `sheets`: one of the whole, or for a large tensor one per neighbourhood (`has_regions`).
    `first`: what the cells held at first.
    """

    def __init__(
        self, sheets: list[VisibleTensor], numbers: NumberFormat, first: Array | None
    ) -> None:
        self.sheets, self.subject, self.has_regions = sheets, sheets[0].subject, sheets[0].is_region
        self.cells: dict[Coordinates, PageCell] = {}
        for sheet in sheets:
            written = CellTexts(sheet, numbers)
            started = numbers.format_cells(sheet.read_shown(first))
            for place, text in np.ndenumerate(written.cells):
                tail = written.difference_tails.get(place, "")
                entries = tuple(mark.number for mark in written.marked.get(place, ()))
                initial = str(started[place]) if started.size else ""
                own, expected = text.removesuffix(tail), tail.removeprefix(UTF8.differs)
                cell = PageCell(own, initial, entries, written.outcomes.get(place), expected)
                self.cells[sheet.to_coordinates(place)] = cell

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole tensor."""
        return tuple(self.subject.array.shape)

    @property
    def hidden_planes(self) -> int:
        """How many planes are not shown, of those that may be seen."""
        seen = [sheet.selection for sheet in self.sheets]
        every = prod(self.shape[:-MATRIX]) if self.has_regions else seen[0].plane_count
        return every - len({plane for part in seen for plane in part.planes})

    @property
    def is_whole(self) -> bool:
        """Whether every row and every column may be read off."""
        seen = self.sheets[0].selection
        has_all_rows = len(seen.rows) == len(seen.allowed[-2])
        return not self.has_regions and seen.has_all_columns and has_all_rows

    @property
    def is_upright(self) -> bool:
        """Vectors of indices and updates stand upright, so that an entry is one line of both."""
        return len(self.shape) == 1 and self.subject.role in ("indices", "updates")


class TraceView:
    """Everything the page shows of one trace."""

    def __init__(
        self, trace: Trace, options: ViewOptions, expectation: OutputDiagnosis | None = None
    ) -> None:
        self.trace, self.options = trace, options._replace(utf8=True)
        self.diagnosis = expectation

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries that are told."""
        refused = min(self.trace.first_refused + 1, MOST_ENTRIES)
        limit = self.options.limit
        return self.trace.entries(max(ENTRIES, refused) if limit is None else limit)

    @cached_property
    def tensors(self) -> list[PageTensor]:
        """The tensors that the options show, in drawing order; the output always.

        A scatter starts from a copy of data, so that one grid is data first and output last.
        """
        first = initial_output(self.trace) if self.trace.kind == "scatter" else None
        tensors: list[PageTensor] = []
        for sheets in self._sheets:
            role = sheets[0].subject.role
            numbers = self._choose_format(sheets) if role == "indices" else self.numbers
            tensors.append(PageTensor(sheets, numbers, first if role == "output" else None))
        last = self.trace.last_folded
        for at, cell in tensors[-1].cells.items():
            if last is not None and last[at] < 0:
                tensors[-1].cells[at] = cell._replace(initial_text=cell.text)
        return tensors

    @property
    def output(self) -> PageTensor:
        """The result."""
        return self.tensors[-1]

    @cached_property
    def numbers(self) -> NumberFormat:
        """One format for data, updates, output and what the cells held in between."""
        drawn = [item for own in self._sheets if own[0].subject.role != "indices" for item in own]
        return self._choose_format(drawn, list_samples(self.trace, self.entries, _SAMPLED))

    def _choose_format(
        self, sheets: Sequence[VisibleTensor], samples: Sequence[Array] = ()
    ) -> NumberFormat:
        return choose_number_format([*(sheet.values for sheet in sheets), *samples], self.options)

    @cached_property
    def steps(self) -> list[dict[Coordinates, str]]:
        """The texts that each entry leaves in the output's shown cells."""
        patches = [list(iter_patches(self.trace, [entry])) for entry in self.entries]
        steps: list[dict[Coordinates, str]] = [{} for _ in patches]
        for at, cell in self.output.cells.items():
            for number in cell.entries:
                for box, values in patches[number]:
                    whole = values.reshape([stop - start for start, stop in box])
                    place = tuple(own - start for own, (start, _) in zip(at, box, strict=True))
                    steps[number][at] = self.numbers.format_column(np.asarray(whole[place]))[0]
        return steps

    @cached_property
    def _sheets(self) -> list[list[VisibleTensor]]:
        drawn: tuple[str, ...] = ("indices", "updates", "output")
        if self.options.show is not None:
            drawn = (*self.options.show, "output")
        elif self.trace.kind == "gather":
            drawn = ("data", "indices", "output")
        views = add_expected(make_views(self.trace, self.entries, drawn), self.diagnosis)
        return list(map(self._visible_parts, views))

    def _visible_parts(self, subject: TensorView) -> list[VisibleTensor]:
        options, shape = self.options, tuple(subject.array.shape)
        problem = "too many cells to show them all"
        fits = not options.full or prod(shape) <= FULL_LIMIT
        where, legal = f"{subject.name} has {prod(shape):,} cells", f"at most {FULL_LIMIT:,} cells"
        hint = "without --full the page shows windows around the touched cells"
        check_rule(fits, problem, where, kind=LimitRefused, valid=legal, hint=hint)
        rows = options.rows or ROWS
        limits = Limits(rows, COLUMNS, planes=PLANES, edge=options.edge, full=options.full)
        target = subject.role == ("data" if self.trace.kind == "gather" else "output")
        close = limits._replace(planes=1) if target and not is_part_requested(options) else None
        # No cell may stand in two tables, so that lenses have no bounded reach.
        return make_visible_tensors(subject, options, limits, close, reach=max(shape, default=0))
