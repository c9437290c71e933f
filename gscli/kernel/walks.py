"""Walks: a plan's addresses step by step, so that every cell meets its entries in turn.

The grid of the result, without the run of cells that travel along, is cut into lanes, and each lane
into steps. Entries meet in cells along one axis of the grid alone. Where they are written, a lane
has all of that axis: lanes touch disjoint cells of the output, so they may run in any order or at
the same time, and the steps of one lane come in entry order. A gather writes every cell of its
output once, so there each step may be a lane of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from gscli.base.arrays import Array, Flags, Indices
from gscli.base.records import cached_property
from gscli.kernel import tuning
from gscli.kernel.steps import Addresses, Region, Step, resolved
from gscli.layout.axes import Negative
from gscli.layout.forms import Form, cells
from gscli.plan.plan import ValidatedPlan, folded, positions

if TYPE_CHECKING:
    from gscli.kernel.loops import Numbers

COLUMNS = 64
"""Cells side by side that are addressed together where rows are wide: a block of many rows and few
columns reads each line of data several times while it is near."""

LARGER, LARGEST = 4, 64
"""How many more entries a step may have where nobody stores their addresses, and where it is all
its thread does."""

NEAR, SEVERAL = 1 << 19, 1 << 22
"""Cells of a lane of outer positions that share their entries: copied and soon written, or read."""


def walk(
    plan: ValidatedPlan, block: int, *, ordered: bool = False, in_sequence: bool = False
) -> Walk:
    """The walk for a plan's form, about `block` addresses at a time.

    `ordered`: every cell must meet its entries in turn, for it is written. `in_sequence`: the
    regions of the steps follow one another in the row-major order of the result's grid, which is
    entry order too for every cell. What reads and writes files goes this way.
    """
    form = plan.layout.form
    if form.kind == "cells":
        return CellWalk(plan, form, block, ordered=ordered)
    if form.run == 1 and not in_sequence:
        if waits(plan):
            block *= LARGEST if ordered and form.is_flat else LARGER
        else:
            block //= max(len(form.steps), 1)  # the numbers of each column are copied
    batches, outer, entries, inner = form.result
    if form.kind == "elements":
        wide = inner if inner <= 2 * COLUMNS else COLUMNS
        wide = max(min(inner, block) if in_sequence else wide, 1)
        tall = max(min(block // wide, entries), 1)
        sizes = block // (wide * tall), tall, wide
        return ElementWalk(plan, form.result[1:], sizes, form.data[1:], ordered=ordered)
    together = block // max(entries, 1)
    if outer != 1 and not in_sequence:
        together = (NEAR if ordered else SEVERAL) // max(max(form.data[2], entries) * form.run, 1)
    sizes = (together, 1, block) if outer == 1 else (1, together, block)
    return SliceWalk(plan, (batches, outer, entries), sizes, form.data, ordered=ordered)


class Walk(ABC):
    """Lanes and steps of a `grid`; `sizes` are those of a step along each axis.

    `data`: shape of data whose axes are cut as those of the grid, but for `along`, where entries
    meet.
    """

    along: int

    def __init__(
        self,
        plan: ValidatedPlan,
        grid: tuple[int, ...],
        sizes: tuple[int, ...],
        data: tuple[int, ...],
        *,
        ordered: bool,
    ) -> None:
        self.plan, self.grid, self.data, self.size = plan, grid, data, sizes[self.along]
        self.axes = _axes(plan) if waits(plan) else []
        pieces = [_pieces(0, *each) for each in zip(grid, sizes, strict=True)]
        if ordered:
            pieces[self.along] = [slice(0, grid[self.along])]
        self.lanes = list(product(*pieces))

    def own(self, lane: Region) -> Region:
        """Which cells of `data` only this lane writes."""
        return (*lane[: self.along], slice(None), *lane[self.along + 1 :])

    def steps(self, lane: Region) -> Iterator[Step]:
        """The steps of one lane, in entry order."""
        before, entries, after = lane[: self.along], lane[self.along], lane[self.along + 1 :]
        for piece in _pieces(entries.start, entries.stop, self.size):
            yield self.step((*before, piece, *after))

    def every_step(self) -> Iterator[Step]:
        """The steps of all lanes, one lane after the other."""
        return chain.from_iterable(map(self.steps, self.lanes))

    @abstractmethod
    def step(self, region: Region) -> Step:
        """The addresses of one region of the grid."""

    def rows(
        self, first: int, last: int, factors: tuple[int, ...], parts: int = 1, part_step: int = 0
    ) -> tuple[Addresses, Flags | None]:
        """Row numbers of some entries, and which are live; each column counts `factors` times.

        The entries are `parts` equal ones, and each part begins `part_step` rows after the one
        before. Their shape is (entries,) or, where there are several parts, (parts, entries).
        """
        plan, each = self.plan, (last - first) // parts
        shape = (each,) if parts == 1 else (parts, each)
        if self.axes:
            numbers = [
                (plan.raw(column, first, last).reshape(parts, 1, -1), *axis, factor)
                for column, (axis, factor) in enumerate(zip(self.axes, factors, strict=True))
            ]
            return _numbers(plan, [(*numbers[0], part_step), *numbers[1:]], shape), None
        addresses, live = plan.rows(first, last, factors)
        if parts > 1:
            addresses = addresses.reshape(shape) + np.arange(parts)[:, None] * part_step
        return addresses, None if live is None else live.reshape(shape)


class SliceWalk(Walk):
    """Rows of slices: several short batches, each with its own entries, or one of them in blocks.

    All outer positions of a step share the entries of their batch.
    """

    along = 2

    def step(self, region: Region) -> Step:
        """Several batches from end to end, or a block of the entries of one."""
        (batches, outer, entries), form = region, self.plan.layout.form
        count, rows, first = form.result[2], form.data[2], batches.start
        several, sharing = batches.stop - first, outer.stop - outer.start
        begin = first * form.data[1] + outer.start
        base = slice(begin * rows, (begin + several * sharing) * rows)
        if several > 1:
            found = self.rows(first * count, batches.stop * count, form.steps, several, rows)
            return Step(base, *found, (batches, 0))
        found = self.rows(first * count + entries.start, first * count + entries.stop, form.steps)
        place = outer if sharing > 1 else outer.start
        return Step(base, *found, (first, place, entries), sharing)


class ElementWalk(Walk):
    """One index for every cell; columns never share one, so each strip of them is a lane."""

    along = 1

    @cached_property
    def numbers(self) -> Array:
        """The index numbers, of the shape of the grid."""
        return self.plan.columns[0].reshape(self.grid)

    def step(self, region: Region) -> Step:
        """A piece of a strip, of one outer position or of several low ones."""
        (outer, _, columns), plan, (_, height, inner) = region, self.plan, self.data
        size, left = height * inner, columns.start
        base = slice(outer.start * size, outer.stop * size)
        numbers = self.numbers[region]
        if self.axes:
            # One column of cells: its rows are one line, which is the quickest to go along.
            single = numbers.shape[2] == 1
            lines = numbers.swapaxes(1, 2) if single else numbers
            column = (lines, *self.axes[0], inner, size, int(not single), left)
            return Step(base, _numbers(plan, [column], numbers.shape), None, region)
        coordinates, live = plan.coordinates(0, numbers)
        starts = np.arange(numbers.shape[0])[:, None, None] * size
        addresses = coordinates * inner
        addresses += starts + np.arange(left, columns.stop)
        return Step(base, addresses, live, region)


class CellWalk(Walk):
    """The general form: columns, entry terms and window terms, all added up."""

    along = 0

    def __init__(self, plan: ValidatedPlan, form: Form, block: int, *, ordered: bool) -> None:
        self.form = form
        entries, width = form.result[1:3]
        sizes = max(block // max(width, 1), 1), width
        super().__init__(plan, (entries, width), sizes, form.data[2:], ordered=ordered)
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

    def step(self, region: Region) -> Step:
        """Some entries with all their cells."""
        found = self.addresses(region[0].start, region[0].stop)
        return Step(slice(0, self.form.data[2]), *found, region)

    def addresses(self, first: int, last: int) -> tuple[Indices, Flags | None]:
        """Row numbers of some entries' windows, (entries, window), and which of them exist."""
        coordinates: tuple[Indices, ...] = ()
        if self.partial:  # read once: cells are judged by the numbers that address them
            block = self.plan.block(first, last)
            coordinates, live = block.coordinates, block.live
            rows, _ = folded([(at, None) for at in coordinates], self.form.steps, last - first)
        else:
            found, live = self.rows(first, last, self.form.steps)
            rows = resolved(found)
        grid = self.plan.grid(first, last) if self.form.entry_terms else ()
        for axis, step in self.form.entry_terms:
            rows = rows + grid[axis] * step
        addresses = rows[:, None] + self.offsets
        alive = None if live is None else np.broadcast_to(live[:, None], addresses.shape)
        for exists in self._inside(coordinates, grid):
            present = np.broadcast_to(exists, addresses.shape)
            alive = present if alive is None else alive & present
        return addresses, alive

    def _inside(
        self, coordinates: tuple[Indices, ...], grid: tuple[Indices, ...]
    ) -> Iterator[Flags]:
        """On each axis where cells of a window are judged alone, which of them exist."""
        for axis in self.partial:
            assert axis.column is not None
            assert axis.window is not None
            at = coordinates[axis.column][:, None] + self.window[axis.window]
            if axis.entry is not None:
                at = at + grid[axis.entry][:, None]
            yield (at >= 0) & (at < axis.size)


def waits(plan: ValidatedPlan) -> bool:
    """Whether addresses can wait until compiled loops need them, which do all the plan would.

    They know one policy, the common one: each number is one row, as it stands or from the end, or
    is refused.
    """
    columns = range(len(plan.layout.column_axes))
    if not columns or not plan.layout.refuses_rows or plan.layout.entry_count < tuning.WORTH:
        return False
    from gscli.kernel import loops

    return all(loops.resolves(plan.raw(column, 0, 0)) for column in columns)


def _axes(plan: ValidatedPlan) -> list[tuple[int, int]]:
    """For each column how many rows its axis has, and what C adds to negative numbers."""
    sizes = [plan.layout.axes[axis].size for axis in plan.layout.column_axes]
    from_end = plan.layout.policy.negative is Negative.FROM_END
    signed = [from_end and plan.raw(k, 0, 0).dtype.kind == "i" for k in range(len(sizes))]
    return [(size, size * turns) for size, turns in zip(sizes, signed, strict=True)]


def _numbers(
    plan: ValidatedPlan, columns: list[tuple[Any, ...]], shape: tuple[int, ...]
) -> Numbers:
    """Index numbers that wait for C."""
    from gscli.kernel.loops import Numbers

    return Numbers(columns, shape, plan.refuse)


def _pieces(begin: int, end: int, size: int) -> list[slice]:
    size = max(size, 1)
    return [slice(first, min(first + size, end)) for first in range(begin, end, size)]


def addresses_of(plan: ValidatedPlan, first: int, last: int) -> tuple[Indices, Flags | None]:
    """Flat addresses of the cells of some entries, (entries, window), and which of them exist.

    What traces replay; cells that do not exist have an address of no meaning.
    """
    addresses, inside, run = window_rows(plan, first, last)
    flat = (addresses[:, :, None] * run + np.arange(run)).reshape(last - first, -1)
    return flat, None if inside is None else np.repeat(inside, run, axis=1)


def window_rows(plan: ValidatedPlan, first: int, last: int) -> tuple[Indices, Flags | None, int]:
    """Row numbers of the windows of some entries, (entries, rows of a window), and which exist.

    The last number is how many cells each of these rows has.
    """
    form = cells(plan.layout.addressing)
    walk = CellWalk(plan, form, last - first, ordered=True)
    return *walk.addresses(first, last), form.run
