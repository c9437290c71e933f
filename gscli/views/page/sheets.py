"""The tensors of a trace as the page lays them out: shown cells, their texts, their entries."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from gscli.base import LimitRefused
from gscli.base.arrays import Array
from gscli.plan.indices import OutcomeSign
from gscli.traces import Entry, Trace
from gscli.views.look import UTF8, Limits, ViewOptions
from gscli.views.sheet import Cell, Sheet, is_asked, sheets_of
from gscli.views.steps import patches
from gscli.views.subject import Subject, expecting, start, subjects, values_told
from gscli.views.texts import NumberFormat, Texts, number_format

if TYPE_CHECKING:
    from gscli.lab.expectation import Expectation

ENTRIES = 60
"""Entries that are told one by one unless the options say otherwise."""

ROWS, COLUMNS, PLANES = 12, 12, 6
"""What is shown of a large tensor."""

FULL_LIMIT = 20_000
"""Cells of one tensor that a browser still lays out at once."""

_SAMPLED = 4096
_MATRIX = 2


class PageTensor:
    """One tensor: its sheets, the text of each shown cell, the entries that touch it.

    `sheets`: one of the whole, or for a large tensor one per neighbourhood (`lensed`). `start`:
    what the cells held at first, nothing without an array of that (`first`). `signs`: what became
    of index numbers, and of updates that no entry writes. `wanted`: what cells should hold that
    hold something else.
    """

    def __init__(
        self,
        subject: Subject,
        sheets: list[Sheet],
        numbers: NumberFormat,
        first: Array | None = None,
    ) -> None:
        self.subject, self.sheets, self.lensed = subject, sheets, sheets[0].lens
        self.texts: dict[Cell, str] = {}
        self.start: dict[Cell, str] = {}
        self.entries: dict[Cell, list[int]] = {}
        self.signs: dict[Cell, OutcomeSign] = {}
        self.wanted: dict[Cell, str] = {}
        for sheet in sheets:
            written, cells = Texts(sheet, numbers), sheet.cells()
            self.texts |= zip(cells, chain.from_iterable(written.planes), strict=True)
            self.start |= dict.fromkeys(cells, "")
            if first is not None and cells:
                started = map(numbers.texts, sheet.shown(first))
                self.start |= zip(cells, chain.from_iterable(started), strict=True)
            for place, marks in written.marked.items():
                self.entries[sheet.cell(place)] = [mark.number for mark in marks]
            self.signs |= {sheet.cell(place): how for place, how in written.how.items()}
            for place, tail in written.wrong.items():
                cell = sheet.cell(place)
                self.texts[cell] = self.texts[cell].removesuffix(tail)
                self.wanted[cell] = tail.removeprefix(UTF8.differs)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole tensor."""
        return tuple(self.subject.array.shape)

    @property
    def hidden_planes(self) -> int:
        """How many planes are not shown, of those that may be seen."""
        seen = [sheet.selection for sheet in self.sheets]
        every = prod(self.shape[:-_MATRIX]) if self.lensed else seen[0].plane_count
        return every - len({plane for one in seen for plane in one.planes})

    @property
    def is_whole(self) -> bool:
        """Whether every row and every column may be read off."""
        seen = self.sheets[0].selection
        return not self.lensed and seen.all_columns and len(seen.rows) == len(seen.allowed[-2])

    @property
    def has_gaps(self) -> bool:
        """Whether columns are left out of a table."""
        return not all(sheet.selection.all_columns for sheet in self.sheets)

    @property
    def upright(self) -> bool:
        """Vectors of indices and updates stand upright, so that an entry is one line of both."""
        return len(self.shape) == 1 and self.subject.role in ("indices", "updates")


class Scene:
    """Everything the page shows of one trace."""

    def __init__(
        self, trace: Trace, options: ViewOptions, expectation: Expectation | None = None
    ) -> None:
        self.trace, self.options = trace, options._replace(utf8=True)
        self.expectation = expectation

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries that are told."""
        return self.trace.entries(self.options.limit or ENTRIES)

    @cached_property
    def tensors(self) -> list[PageTensor]:
        """The tensors that the options show, in drawing order; the output always.

        A scatter starts from a copy of data, so that one grid is data first and output last.
        """
        first = start(self.trace) if self.trace.kind == "scatter" else None
        return [
            PageTensor(
                one,
                sheets,
                self._own(sheets) if one.role == "indices" else self.numbers,
                first if one.role == "output" else None,
            )
            for one, sheets in self._sheets
        ]

    @property
    def output(self) -> PageTensor:
        """The result."""
        return self.tensors[-1]

    @cached_property
    def numbers(self) -> NumberFormat:
        """One format for data, updates, output and what the cells held in between."""
        drawn = [one for subject, own in self._sheets if subject.role != "indices" for one in own]
        samples: list[Array] = [block for sheet in drawn for block in sheet.blocks]
        changes = [entry.change for entry in self.entries if entry.change is not None]
        told = [part for change in changes for part in values_told(self.trace, change)]
        samples += [part.reshape(-1)[:_SAMPLED] for part in told]
        return number_format(samples, self.options)

    @cached_property
    def steps(self) -> list[dict[Cell, str]]:
        """The texts that each entry leaves in the output's shown cells."""
        own: list[list[Cell]] = [[] for _ in self.entries]
        for cell, numbers in self.output.entries.items():
            for number in numbers:
                own[number].append(cell)
        found: list[dict[Cell, str]] = [{} for _ in own]
        for entry, cells, step in zip(self.entries, own, found, strict=True):
            for box, values in patches(self.trace, [entry]):
                whole = values.reshape([stop - start for start, stop in box])
                for cell in cells:
                    at = tuple(one - first for one, (first, _) in zip(cell, box, strict=True))
                    step[cell] = self.numbers.texts(np.asarray(whole[at]))[0]
        return found

    def _own(self, sheets: list[Sheet]) -> NumberFormat:
        return number_format([block for sheet in sheets for block in sheet.blocks], self.options)

    @cached_property
    def _sheets(self) -> list[tuple[Subject, list[Sheet]]]:
        drawn: tuple[str, ...] = ("indices", "updates", "output")
        if self.options.show is not None:
            drawn = (*self.options.show, "output")
        elif self.trace.kind == "gather":
            drawn = ("data", "indices", "output")
        found = expecting(subjects(self.trace, self.entries, drawn), self.expectation)
        return [(subject, self._seen(subject)) for subject in found]

    def _seen(self, subject: Subject) -> list[Sheet]:
        options, shape = self.options, tuple(subject.array.shape)
        if options.full and prod(shape) > FULL_LIMIT:
            raise LimitRefused(
                "too many cells to show them all",
                where=f"{subject.name} has {prod(shape):,} cells",
                valid=f"at most {FULL_LIMIT:,} cells",
                hint="without --full the page shows windows around the touched cells",
            )
        rows = options.rows or ROWS
        limits = Limits(rows, COLUMNS, planes=PLANES, edge=options.edge, full=options.full)
        target = subject.role == ("data" if self.trace.kind == "gather" else "output")
        close = limits._replace(planes=1) if target and not is_asked(options) else None
        # No cell may stand in two tables, so that lenses have no bounded reach.
        return sheets_of(subject, options, limits, close, reach=max(shape, default=0))
