"""The tensors of a trace as the page lays them out: shown cells, their texts, their entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gscli.base.arrays import Array
from gscli.base.errors import LimitRefused
from gscli.layout.boxes import Box
from gscli.traces.trace import Entry, How, Trace
from gscli.views.lenses import Lens, lenses
from gscli.views.numbers import NumberFormat, number_format
from gscli.views.options import ViewOptions
from gscli.views.signs import signs_of
from gscli.views.subject import Subject, subjects
from gscli.views.window import Limits, Window, parse_slice, window

if TYPE_CHECKING:
    from gscli.lab.expectation import Expectation

Cell: TypeAlias = tuple[int, ...]

ENTRIES = 60
"""Entries that are told one by one unless the options say otherwise."""

ROWS, COLUMNS, PLANES = 12, 12, 6
"""What is shown of a large tensor."""

FULL_LIMIT = 20_000
"""Cells of one tensor that a browser still lays out at once."""

SIGNS = signs_of(ViewOptions())
_SAMPLED = 4096
_WIDEST = 40
_MATRIX = 2


@dataclass(frozen=True)
class Sheet:
    """One tensor: what of it is shown, the text of each shown cell, the entries that touch it.

    `windows`: one on the whole, or for a large tensor a lens per neighbourhood (`lensed`). `texts`
    and `entries` know shown cells only.
    """

    subject: Subject
    windows: tuple[Window, ...]
    lensed: bool
    texts: dict[Cell, str]
    entries: dict[Cell, list[int]]

    @property
    def array(self) -> Array:
        """The whole tensor."""
        return self.subject.array

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole tensor."""
        return tuple(self.array.shape)

    @property
    def cells(self) -> list[Cell]:
        """Shown cells, plane by plane, row by row."""
        return list(self.texts)

    @property
    def hidden_planes(self) -> int:
        """How many planes are not shown, of those that may be seen."""
        every = prod(self.shape[:-_MATRIX]) if self.lensed else self.windows[0].plane_count
        return every - len({plane for seen in self.windows for plane in seen.planes})

    @property
    def is_whole(self) -> bool:
        """Whether every row and every column may be read off."""
        (*_, rows, columns), seen = self.windows[0].allowed, self.windows[0]
        shown = (len(seen.rows), len(seen.columns)) == (len(rows), len(columns))
        return shown and not self.lensed

    @property
    def has_gaps(self) -> bool:
        """Whether columns are left out of a table."""
        return any(len(seen.columns) < len(seen.allowed[-1]) for seen in self.windows)

    @property
    def upright(self) -> bool:
        """Vectors of indices and updates stand upright, so that an entry is one line of both."""
        return len(self.shape) == 1 and self.subject.role in ("indices", "updates")

    def cell(self, lead: Cell, row: int, column: int) -> Cell:
        """Where a cell of a plane lies in the tensor: numbers and vectors are drawn as one row."""
        rank = len(self.shape)
        return (*lead, row, column)[-rank:] if rank else ()


@dataclass(frozen=True)
class Scene:
    """Everything the page shows of one trace."""

    trace: Trace
    options: ViewOptions
    expectation: Expectation | None = None

    @cached_property
    def wanted(self) -> dict[Cell, str]:
        """What shown cells of the output should hold and do not."""
        held, sheet = self.expectation, self.output
        if held is None or not held.difference.same_shape or not held.difference.different:
            return {}
        holds, should = (values_at(array, sheet.cells) for array in (sheet.array, held.expected))
        found: dict[Cell, str] = {}
        texts = self.numbers.texts(should)
        for place in np.flatnonzero(held.differs(holds, should)).tolist():
            cell = sheet.cells[place]
            alike = sheet.texts[cell] == texts[place]  # all digits tell them apart
            found[cell] = SIGNS.text(str(should[place]), _WIDEST) if alike else texts[place]
        return found

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries that are told."""
        return self.trace.entries(self.options.limit or ENTRIES)

    @cached_property
    def sheets(self) -> list[Sheet]:
        """The tensors that the options show, in drawing order; the output always.

        A scatter starts from a copy of data, so that one grid is data first and output last.
        """
        return [self._sheet(subject, seen, lensed) for subject, seen, lensed in self._seen]

    @property
    def output(self) -> Sheet:
        """The sheet of the result."""
        return self.sheets[-1]

    @cached_property
    def numbers(self) -> NumberFormat:
        """One format for data, updates, output and what the cells held in between."""
        samples = [
            values_at(subject.array, list(cells_of(seen, subject.array.ndim)))
            for subject, seen, _ in self._seen
            if subject.role != "indices"
        ]
        changes = [entry.change for entry in self.entries if entry.change is not None]
        samples += [part.reshape(-1)[:_SAMPLED] for c in changes for part in (c.old, c.new)]
        return number_format(samples, self.options)

    @cached_property
    def _seen(self) -> list[tuple[Subject, tuple[Window, ...], bool]]:
        drawn: tuple[str, ...] = ("indices", "updates", "output")
        if self.options.show is not None:
            drawn = (*self.options.show, "output")
        elif self.trace.kind == "gather":
            drawn = ("data", "indices", "output")
        return [
            (subject, *self._windows(subject))
            for subject in subjects(self.trace, self.entries, drawn)
        ]

    def _windows(self, subject: Subject) -> tuple[tuple[Window, ...], bool]:
        """A window on the tensor; on a large one that is touched in places, a lens for each."""
        whole, limits = self._window(subject)
        boxes, shape = self._boxes(subject), tuple(subject.array.shape)
        target = subject.role == ("data" if self.trace.kind == "gather" else "output")
        asked = self.options.full or self.options.rows or self.options.slice
        apart: list[Lens] = []
        if target and not asked and not whole.complete:
            # No cell may stand in two tables, so that lenses have no bounded reach.
            apart = lenses(shape, boxes, self.options.edge, reach=max(shape, default=0))
        if not apart:
            return (whole,), False
        limits = limits._replace(planes=1)
        return tuple(window(lens, boxes, limits) for lens in apart), True

    def _boxes(self, subject: Subject) -> list[Box]:
        """What should be seen of a tensor: touched cells, and those that are not as expected."""
        held, boxes = self.expectation, [mark.box for mark in subject.marks]
        if subject.role != "output" or held is None or not held.difference.same_shape:
            return boxes
        return [*boxes, *(tuple((at, at + 1) for at in one.at) for one in held.difference.cells)]

    def _window(self, subject: Subject) -> tuple[Window, Limits]:
        options, shape = self.options, tuple(subject.array.shape)
        if options.full and prod(shape) > FULL_LIMIT:
            raise LimitRefused(
                "too many cells to show them all",
                where=f"{subject.name} has {prod(shape):,} cells",
                valid=f"at most {FULL_LIMIT:,} cells",
                hint="without --full the page shows windows around the touched cells",
            )
        allowed = None
        if options.slice is not None and subject.role in ("data", "output"):
            allowed = parse_slice(options.slice, shape)
        limits = Limits(
            rows=options.rows or ROWS,
            columns=COLUMNS,
            planes=PLANES,
            edge=options.edge,
            full=options.full,
        )
        return window(allowed or tuple(map(range, shape)), self._boxes(subject), limits), limits

    def _sheet(self, subject: Subject, seen: tuple[Window, ...], lensed: bool) -> Sheet:
        cells = list(cells_of(seen, subject.array.ndim))
        values = values_at(subject.array, cells)
        own = subject.role == "indices"
        numbers = number_format([values], self.options) if own else self.numbers
        texts = dict(zip(cells, numbers.texts(values), strict=True))
        found: dict[Cell, list[int]] = {}
        used: set[Cell] = set()
        for mark in subject.marks:
            for cell in cells_of(seen, subject.array.ndim, mark.box):
                found.setdefault(cell, []).append(mark.number)
                if not mark.alarm:
                    used.add(cell)
        if subject.role == "updates":
            signs: dict[Cell, How] = dict.fromkeys(found.keys() - used, "skipped")
            subject = subject._replace(signs=signs)
        return Sheet(subject, seen, lensed, texts, found)


def cells_of(windows: Sequence[Window], rank: int, box: Box | None = None) -> Iterator[Cell]:
    """Coordinates of the shown cells, those in `box` only if one is given."""
    for seen in windows:
        padded = ((0, 1),) * (_MATRIX - rank) + box if box is not None else seen_all(seen)
        *lead, rows, columns = padded
        within = [column for column in seen.columns if columns[0] <= column < columns[1]]
        for plane in seen.planes:
            if all(start <= at < stop for at, (start, stop) in zip(plane, lead, strict=True)):
                for row in seen.rows:
                    if rows[0] <= row < rows[1]:
                        for column in within:
                            yield (*plane, row, column)[-rank:] if rank else ()


def seen_all(seen: Window) -> Box:
    """The box of all that may be seen."""
    return tuple((one[0], one[-1] + 1) if one else (0, 0) for one in seen.allowed)


def values_at(array: Array, cells: Sequence[Cell]) -> Array:
    """The values of some cells as a one-dimensional array."""
    if not cells or not array.ndim:
        return array.reshape(-1)[: len(cells)]
    places = tuple(np.array(axis) for axis in zip(*cells, strict=True))
    return np.asarray(array[places])
