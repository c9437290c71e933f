"""Walks: a plan's addresses in blocks, in an order in which every cell meets its entries in turn.

One walk for each form of layout, which `walk` chooses. Its lanes touch disjoint cells of
the output, so they may run in any order or at the same time; the steps of one lane come in entry
order. A gather writes every cell of its output once, so there each block may be a lane of its own
(`ordered` False).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from gscli.files.arrays import Flags, Indices
from gscli.kernel.steps import Lane, Region, Step, cells_of, resolved, rows_of, waits
from gscli.layout.forms import Form, cells
from gscli.plan.plan import JudgedPlan, positions

COLUMNS = 64
"""Cells side by side that are addressed together where rows are wide."""

LARGER, LARGEST = 4, 64
"""How many more entries a step may have where nobody stores their addresses, and where it is all
that its thread does."""

NEAR, SEVERAL = 1 << 19, 1 << 22
"""Cells of a lane of outer positions that share their entries: copied and soon written, or read."""


class Walk(ABC):
    """`grid`: shape of the result without the run of cells that travel along."""

    grid: tuple[int, ...]
    lanes: list[Lane]

    @abstractmethod
    def steps(self, lane: Lane) -> Iterator[Step]:
        """The steps of one lane, in entry order."""

    @abstractmethod
    def own(self, lane: Lane) -> Region:
        """Which cells of the form's data only this lane writes."""


class SliceWalk(Walk):
    """Each batch has its own entries, and nothing lies between the batches and the rows."""

    def __init__(
        self,
        plan: JudgedPlan,
        form: Form,
        block: int,
        *,
        ordered: bool,
    ) -> None:
        self.plan, self.factors = plan, form.steps
        batches, _, self.rows, _ = form.data
        batches, _, self.entries, _ = form.result
        self.grid = (batches, self.entries)
        self.block = block
        pieces = [(0, self.entries)] if ordered else _ranges(0, self.entries, block)
        several = _ranges(0, batches, block // max(self.entries, 1))
        self.lanes = [(*few, *piece) for few in several for piece in pieces]

    def own(self, lane: Lane) -> Region:
        """Whole batches."""
        return (slice(*lane[:2]),)

    def steps(self, lane: Lane) -> Iterator[Step]:
        """Blocks of one batch, or several short batches at a time."""
        start, stop, begin, end = lane
        base = slice(start * self.rows, stop * self.rows)
        if stop - start > 1:
            several = start * self.entries, stop * self.entries
            addresses, live = rows_of(self.plan, *several, self.factors, stop - start, self.rows)
            yield Step(base, addresses, live, (slice(start, stop),))
            return
        offset = start * self.entries
        for first, last in _ranges(begin, end, self.block):
            addresses, live = rows_of(self.plan, offset + first, offset + last, self.factors)
            yield Step(base, addresses, live, (start, slice(first, last)))


class SharedWalk(Walk):
    """Several outer positions share the entries of their batch."""

    def __init__(self, plan: JudgedPlan, form: Form, block: int, together: int) -> None:
        """`together`: outer positions of a lane."""
        self.plan, self.block = plan, block
        self.factors = form.steps
        _, self.outer, self.rows, _ = form.data
        batches, _, self.entries, _ = form.result
        self.grid = (batches * self.outer, self.entries)
        pieces = _ranges(0, self.outer, together)
        self.lanes = [(batch, *piece) for batch in range(batches) for piece in pieces]

    def own(self, lane: Lane) -> Region:
        """Some outer positions of a batch."""
        return (lane[0], slice(*lane[1:]))

    def steps(self, lane: Lane) -> Iterator[Step]:
        """For each block of entries all outer positions of the lane."""
        batch, begin, end = lane
        start = batch * self.outer
        base = slice((start + begin) * self.rows, (start + end) * self.rows)
        for first, last in _ranges(0, self.entries, self.block):
            offset = batch * self.entries
            addresses, live = rows_of(self.plan, offset + first, offset + last, self.factors)
            region = (slice(start + begin, start + end), slice(first, last))
            if end - begin > 1:
                yield Step(base, addresses, live, region, end - begin)
            else:
                yield Step(base, addresses, live, (start + begin, slice(first, last)))


class ElementWalk(Walk):
    """One index for every cell. Where rows are wide, blocks are as narrow as cache lines allow.

    A block of 64 columns and many rows reads each line of data several times while it is near;
    columns never share a cell, so each strip of them is a lane.
    """

    def __init__(
        self, plan: JudgedPlan, form: Form, block: int, *, ordered: bool, in_sequence: bool = False
    ) -> None:
        self.plan, self.numbers = plan, plan.columns[0].reshape(form.result[1:])
        _, _, self.rows, self.inner = form.data
        outer, height, width = self.grid = form.result[1:]
        wide = width if width <= 2 * COLUMNS else COLUMNS
        wide = max(min(width, block) if in_sequence else wide, 1)
        self.tall = max(min(block // wide, height), 1)
        deep = max(block // (wide * self.tall), 1)
        strips = _ranges(0, width, wide)
        pieces = [(0, height)] if ordered else _ranges(0, height, self.tall)
        self.lanes = [
            (*places, *strip, *piece)
            for places in _ranges(0, outer, deep)
            for strip, piece in _pairs(strips, pieces, rows_first=in_sequence)
        ]

    def own(self, lane: Lane) -> Region:
        """A strip of columns."""
        return (0, slice(*lane[:2]), slice(None), slice(*lane[2:4]))

    def steps(self, lane: Lane) -> Iterator[Step]:
        """A strip of columns from top to bottom, of one outer position or of several low ones."""
        first, last, left, right, top, bottom = lane
        size = self.rows * self.inner
        base = slice(first * size, last * size)
        for begin, end in _ranges(top, bottom, self.tall):
            region = (slice(first, last), slice(begin, end), slice(left, right))
            addresses, live = cells_of(self.plan, self.numbers[region], self.inner, size, left)
            yield Step(base, addresses, live, region)


class CellWalk(Walk):
    """The general form: columns, entry terms and window terms, all added up."""

    def __init__(self, plan: JudgedPlan, form: Form, block: int, *, ordered: bool) -> None:
        self.plan, self.form = plan, form
        entries, width = self.grid = form.result[1:3]
        self.block = max(block // max(width, 1), 1)
        self.lanes = [*_ranges(0, entries, entries if ordered else self.block)]
        layout = plan.layout
        shape = layout.addressing.window[: len(form.window_terms)]
        self.window = positions(0, width, shape)
        self.offsets = sum(
            (self.window[axis] * step for axis, step in form.window_terms),
            np.zeros(width, np.int64),
        )
        self.partial = [
            axis
            for axis in layout.axes
            if axis.column is not None and axis.window is not None and not layout.policy.whole
        ]

    def own(self, lane: Lane) -> Region:
        """All: entries may meet anywhere."""
        del lane
        return (slice(None),)

    def steps(self, lane: Lane) -> Iterator[Step]:
        """Blocks of entries with all their cells."""
        for first, last in _ranges(lane[0], lane[1], self.block):
            addresses, live = self.addresses(first, last)
            yield Step(slice(0, self.form.data[2]), addresses, live, (slice(first, last),))

    def addresses(self, first: int, last: int) -> tuple[Indices, Flags | None]:
        """Row numbers of some entries' windows, (entries, window), and which of them exist."""
        found, live = rows_of(self.plan, first, last, self.form.steps)
        rows = resolved(found)
        grid = self.plan.grid(first, last) if self.form.entry_terms else ()
        for axis, step in self.form.entry_terms:
            rows = rows + grid[axis] * step
        addresses = rows[:, None] + self.offsets
        alive = None if live is None else np.broadcast_to(live[:, None], addresses.shape)
        for exists in self._inside(first, last, grid):
            present = np.broadcast_to(exists, addresses.shape)
            alive = present if alive is None else alive & present
        return addresses, alive

    def _inside(self, first: int, last: int, grid: tuple[Indices, ...]) -> Iterator[Flags]:
        """On each axis where cells of a window are judged alone, which of them exist."""
        coordinates = self.plan.block(first, last).coordinates if self.partial else ()
        for axis in self.partial:
            assert axis.column is not None
            assert axis.window is not None
            at = coordinates[axis.column][:, None] + self.window[axis.window]
            if axis.entry is not None:
                at = at + grid[axis.entry][:, None]
            yield (at >= 0) & (at < axis.size)


def _pairs(
    strips: list[tuple[int, int]], pieces: list[tuple[int, int]], *, rows_first: bool
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    if rows_first:
        return [(strip, piece) for piece in pieces for strip in strips]
    return [(strip, piece) for strip in strips for piece in pieces]


def _ranges(begin: int, end: int, size: int) -> list[tuple[int, int]]:
    size = max(size, 1)
    return [(first, min(first + size, end)) for first in range(begin, end, size)]


def walk(plan: JudgedPlan, block: int, *, ordered: bool) -> Walk:
    """The walk for a plan's form, about `block` addresses at a time.

    `ordered`: every cell must meet its entries in turn, for it is written.
    """
    form = plan.layout.form
    if form.run == 1 and waits(plan):
        block *= LARGEST if ordered and form.is_flat else LARGER
    if form.kind == "cells":
        return CellWalk(plan, form, block, ordered=ordered)
    if form.kind == "elements":
        return ElementWalk(plan, form, block, ordered=ordered)
    if not form.shares_entries:
        return SliceWalk(plan, form, block, ordered=ordered)
    cells = max(form.data[2], form.result[2]) * form.run
    return SharedWalk(plan, form, block, (NEAR if ordered else SEVERAL) // max(cells, 1))


def in_sequence(plan: JudgedPlan, block: int) -> Iterator[Step]:
    """All steps, their regions one after the other in the row-major order of the result's grid.

    That is entry order too for every cell. What reads and writes files goes this way.
    """
    route = sequence(plan, block)
    for lane in route.lanes:
        for step in route.steps(lane):
            yield step.joined()


def sequence(plan: JudgedPlan, block: int) -> Walk:
    """The walk of `in_sequence`: its lanes follow each other in the result's grid."""
    form = plan.layout.form
    if form.kind == "cells":
        return CellWalk(plan, form, block, ordered=False)
    if form.kind == "elements":
        return ElementWalk(plan, form, block, ordered=False, in_sequence=True)
    if form.shares_entries:
        return SharedWalk(plan, form, block, together=block // max(form.result[2], 1))
    return SliceWalk(plan, form, block, ordered=False)


def addresses_of(plan: JudgedPlan, first: int, last: int) -> tuple[Indices, Flags | None]:
    """Flat addresses of the cells of some entries, (entries, window), and which of them exist.

    What traces replay; cells that do not exist have an address of no meaning.
    """
    addresses, inside, run = window_rows(plan, first, last)
    flat = (addresses[:, :, None] * run + np.arange(run)).reshape(last - first, -1)
    return flat, None if inside is None else np.repeat(inside, run, axis=1)


def window_rows(plan: JudgedPlan, first: int, last: int) -> tuple[Indices, Flags | None, int]:
    """Row numbers of the windows of some entries, (entries, rows of a window), and which exist.

    The last number is how many cells each of these rows has.
    """
    form = cells(plan.layout.addressing)
    walk = CellWalk(plan, form, last - first, ordered=True)
    return *walk.addresses(first, last), form.run
