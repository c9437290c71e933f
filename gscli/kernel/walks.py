"""Walks: a plan's addresses step by step, so that every cell meets its entries in turn.

The grid of the result, without the run of cells that travel along, is cut into lanes, and each lane
into steps. Entries meet in cells along one axis of the grid alone. Where they are written, a lane
has all of that axis: lanes touch disjoint cells of the output, so they may run in any order or at
the same time, and the steps of one lane come in entry order. A gather writes every cell of its
output once, so there each step may be a lane of its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product, repeat, starmap

import numpy as np

from gscli.base.arrays import Array, BoolArray, Indices, LiveIndices, parse_dtype
from gscli.base.records import cached_property
from gscli.kernel import tuning
from gscli.kernel.steps import Addresses, Region, Tile, resolve_addresses
from gscli.layout.axes import Negative
from gscli.layout.forms import CanonicalForm, build_cells_form
from gscli.plan.indices import unravel_range
from gscli.plan.plan import ValidatedPlan, fold_coordinates

STRIP_WIDTH = 256
"""Bytes of each row that a strip has at least: neighbours come from memory together."""

LARGER, LARGEST = 4, 64
"""How many more entries a step may have where nobody stores their addresses, and where it is all
its thread does."""

CACHE_CELLS, SEVERAL = 1 << 19, 1 << 22
"""Cells of a lane of outer positions that share their entries: copied and soon written, or read."""


def tile_plan(
    plan: ValidatedPlan, block: int, *, ordered: bool = False, sequential: bool = False,
    packed: bool = False,
) -> Tiling:  # fmt: skip
    """The walk for a plan's form, about `block` addresses at a time.

    `ordered`: every cell must meet its entries in turn, for it is written. `sequential`: the
    regions of the steps follow one another in the row-major order of the result's grid, which is
    entry order too for every cell. What reads and writes files goes this way. `packed`: a lane of
    some columns may be worked on in a copy of its cells, where that pays; see `pack_cells`.
    """
    form = plan.layout.form
    if form.kind == "cells":
        return CellTiling(plan, form, block, ordered=ordered)
    if form.row_size == 1 and not sequential:
        if deferrable_axes(plan):
            block *= LARGEST if ordered and form.is_flat else LARGER
        else:
            block //= max(len(form.column_strides), 1)  # the numbers of each column are copied
    _, outer, entries, inner = form.result_dims
    wide = 1
    if form.kind == "elements":
        width = tuning.STRIP_BYTES // max(form.data_dims[2], 1) // STRIP_WIDTH * STRIP_WIDTH
        strip = max(width, STRIP_WIDTH) // max(parse_dtype(plan.layout.dtype).itemsize, 1)
        wide = max(min(inner, block if sequential else strip), 1)
    tall = max(min(block // wide, entries), 1)
    batches, together = block // (wide * tall), 1
    if outer != 1:
        batches, together = 1, batches
        if not sequential:
            cells = max(max(form.data_dims[2], entries) * form.row_size, 1)
            together = (CACHE_CELLS if ordered else SEVERAL) // cells
    has_strips = form.kind == "elements" and wide < inner
    packed = packed and has_strips and form.data_dims[2] <= 2 * entries
    sizes = batches, together, tall, wide
    return RowTiling(plan, form, sizes, ordered=ordered or packed, packed=packed)


class Tiling(ABC):
    """Lanes and steps of a `grid`; `sizes` are those of a step along each axis.

    `data`: shape of data whose axes are cut as those of the grid, but for `along`, where entries
    meet.
    """

    along: int

    def __init__(
        self, plan: ValidatedPlan, grid: tuple[int, ...], sizes: tuple[int, ...],
        data: tuple[int, ...], *, ordered: bool, packed: bool = False,
    ) -> None:  # fmt: skip
        self.is_packed = packed
        self.plan, self.grid, self.data_dims = plan, grid, data
        self.tile_entries, self.axes = sizes[self.along], deferrable_axes(plan)
        pieces = [_split_range(0, *each) for each in zip(grid, sizes, strict=True)]
        if ordered:
            pieces[self.along] = [slice(0, grid[self.along])]
        self.partitions = list(product(*pieces))

    def partition_cells(self, lane: Region) -> Region:
        """Which cells of `data` only this lane writes."""
        return (*lane[: self.along], slice(None), *lane[self.along + 1 :])

    def pack_cells(self, rows: Array, lane: Region) -> Array:
        """A copy of the cells of a lane, all side by side: where tiles go that are packed."""
        return np.array(rows.reshape(self.data_dims)[self.partition_cells(lane)], order="C")

    def iter_tiles(self, lane: Region) -> Iterator[Tile]:
        """The steps of one lane, in entry order."""
        before, entries, after = lane[: self.along], lane[self.along], lane[self.along + 1 :]
        for piece in _split_range(entries.start, entries.stop, self.tile_entries):
            yield self.make_tile((*before, piece, *after))

    def iter_all_tiles(self) -> Iterator[Tile]:
        """The steps of all lanes, one lane after the other."""
        return chain.from_iterable(map(self.iter_tiles, self.partitions))

    def iter_numbers(self, first: int, last: int) -> Iterator[Array]:
        """The index numbers of some entries, column by column."""
        for column in range(len(self.plan.layout.column_axes)):
            yield self.plan.raw_indices(column, first, last)

    @abstractmethod
    def make_tile(self, region: Region) -> Tile:
        """The addresses of one region of the grid."""

    def find_addresses(
        self, columns: Iterable[Array], strides: Sequence[int], shape: tuple[int, int, int],
        size: int = 0, first: int = 0,
    ) -> tuple[Addresses, BoolArray | None]:  # fmt: skip
        """Row numbers of some places (planes, entries, width), and which of them are live.

        The numbers of each column count `strides` times, each plane begins `size` rows after the
        one before, and places side by side are neighbours from `first` on. There is no axis of
        planes or of width that has one place.
        """
        plan, (planes, entries, width) = self.plan, shape
        shown = (planes,) * (planes > 1) + (entries,) + (width,) * (width > 1)
        numbers = (column.reshape(shape) for column in columns)
        if self.axes:
            from gscli.kernel.loops import Deferred

            # Entries with one place are one line, which is the quickest to go along.
            lines = (own.swapaxes(1, 2) if width == 1 else own for own in numbers)
            ends = chain([(size, int(width > 1), first)], repeat((0, 0, 0)))
            terms = zip(lines, self.axes, strides, ends, strict=False)
            deferred = [(own, *axis, stride, *end) for own, axis, stride, end in terms]
            return Deferred(deferred, shown, plan.raise_out_of_bounds, is_near=self.is_packed), None
        resolved: Iterable[LiveIndices] = starmap(plan.coordinates, enumerate(numbers))
        if planes * width > 1 or first:
            starts = np.arange(planes)[:, None, None] * size
            resolved = chain(resolved, [(starts + np.arange(first, first + width), None)])
            strides = *strides, 1
        addresses, live = fold_coordinates(resolved, strides, shape)
        if addresses.shape != shape:  # there is no column
            addresses = np.broadcast_to(addresses, shape)
        return addresses.reshape(shown), None if live is None else live.reshape(shown)


class RowTiling(Tiling):
    """Rows of slices, or elements: several short batches, each with its own entries, or one of them
    in blocks.

    All outer positions of a step share the entries of their batch. Elements have an index for every
    cell; those side by side never share one, so that each strip of them is a lane.
    """

    along = 2

    def __init__(
        self, plan: ValidatedPlan, form: CanonicalForm, sizes: tuple[int, ...], *, ordered: bool,
        packed: bool,
    ) -> None:  # fmt: skip
        run = form.row_size
        both = form.result_dims, form.data_dims
        grid, data = [(*dims[:3], dims[3] // max(run, 1)) for dims in both]
        super().__init__(plan, grid, sizes, (*data, run), ordered=ordered, packed=packed)

    @cached_property
    def numbers(self) -> Array:
        """The index numbers of elements as (batches, entries, width)."""
        batches, _, entries, width = self.grid
        return self.plan.columns[0].reshape(batches, entries, width)

    def make_tile(self, region: Region) -> Tile:
        """Several batches from end to end, or a block of the entries of one."""
        batches, outer, entries, own = region
        _, all_outer, count, all_width = self.grid
        several, sharing, tall, width = (part.stop - part.start for part in region)
        strides, size = self.plan.layout.form.column_strides, math.prod(self.data_dims[2:4])
        begin, first = (batches.start * all_outer + outer.start) * size, own.start
        if self.is_packed:
            strides, size, begin, first = (width,), self.data_dims[2] * width, 0, 0
        if all_width == 1:
            ends = batches.start * count + entries.start, (batches.stop - 1) * count + entries.stop
            columns = self.iter_numbers(*ends)
        else:
            columns = iter([self.numbers[batches, entries, own]])
        addresses = self.find_addresses(columns, strides, (several, tall, width), size, first)
        kept = zip(region, (several > 1, sharing > 1, True, width > 1), strict=True)
        place = tuple(part if has_axis else part.start for part, has_axis in kept)
        return Tile(slice(begin, begin + several * sharing * size), *addresses, place, sharing)


class CellTiling(Tiling):
    """The general form: columns, entry terms and window terms, all added up."""

    along = 0

    def __init__(
        self, plan: ValidatedPlan, form: CanonicalForm, block: int, *, ordered: bool
    ) -> None:
        self.form = form
        entries, width = form.result_dims[1:3]
        sizes = max(block // max(width, 1), 1), width
        super().__init__(plan, (entries, width), sizes, form.data_dims[2:], ordered=ordered)
        layout = plan.layout
        shape = layout.addressing.window[: len(form.window_strides)]
        self.window = unravel_range(0, width, shape)
        self.offsets = np.zeros(width, np.int64)
        for axis, step in form.window_strides:
            self.offsets += self.window[axis] * step
        both = [axis for axis in layout.axes if axis.column is not None and axis.window is not None]
        self.partial = [] if layout.policy.is_atomic else both

    def make_tile(self, region: Region) -> Tile:
        """Some entries with all their cells."""
        addresses = self.window_addresses(region[0].start, region[0].stop)
        return Tile(slice(0, self.form.data_dims[2]), *addresses, region)

    def window_addresses(self, first: int, last: int) -> LiveIndices:
        """Row numbers of some entries' windows, (entries, window), and which of them exist."""
        coordinates: tuple[Indices, ...] = ()
        if self.partial:  # read once: cells are judged by the numbers that address them
            coordinates, live = self.plan.resolve_range(first, last)
            columns = [(at, None) for at in coordinates]
            rows, _ = fold_coordinates(columns, self.form.column_strides, last - first)
        else:
            strides, shape = self.form.column_strides, (1, last - first, 1)
            numbers, live = self.find_addresses(self.iter_numbers(first, last), strides, shape)
            rows = resolve_addresses(numbers)
        grid = self.plan.entry_coordinates(first, last) if self.form.entry_strides else ()
        for axis, step in self.form.entry_strides:
            rows = rows + grid[axis] * step
        addresses = rows[:, None]
        if self.offsets.size != 1:
            addresses = addresses + self.offsets
        alive = None if live is None else np.broadcast_to(live[:, None], addresses.shape)
        for exists in self._bounds_masks(coordinates, grid):
            present = np.broadcast_to(exists, addresses.shape)
            alive = present if alive is None else alive & present
        return addresses, alive

    def _bounds_masks(
        self, coordinates: tuple[Indices, ...], grid: tuple[Indices, ...]
    ) -> Iterator[BoolArray]:
        """On each axis where cells of a window are judged alone, which of them exist."""
        for axis in self.partial:
            assert axis.column is not None
            assert axis.window is not None
            at = coordinates[axis.column][:, None] + self.window[axis.window]
            if axis.entry is not None:
                at = at + grid[axis.entry][:, None]
            yield (at >= 0) & (at < axis.size)


def deferrable_axes(plan: ValidatedPlan) -> list[tuple[int, int]]:
    """For each column how many rows its axis has, and what C adds to negative numbers.

    None of them where addresses cannot wait until compiled loops need them, which do all the plan
    would. They know one policy, the common one: each number is one row, as it stands or from the
    end, or is refused.
    """
    layout = plan.layout
    if not layout.has_strict_row_indices or layout.entry_count < tuning.MIN_NATIVE_ITEMS:
        return []
    from gscli.kernel import loops

    from_end, axes = layout.policy.negative is Negative.FROM_END, list[tuple[int, int]]()
    for column, axis in enumerate(layout.column_axes):
        numbers, size = plan.raw_indices(column, 0, 0), layout.axes[axis].size
        if not loops.can_resolve(numbers):
            return []
        axes.append((size, size if from_end and numbers.dtype.kind == "i" else 0))
    return axes


def _split_range(begin: int, end: int, size: int) -> list[slice]:
    size = max(size, 1)
    return [slice(first, min(first + size, end)) for first in range(begin, end, size)]


def cell_addresses(plan: ValidatedPlan, first: int, last: int) -> LiveIndices:
    """Flat addresses of the cells of some entries, (entries, window), and which of them exist.

    What traces replay; cells that do not exist have an address of no meaning.
    """
    addresses, inside, run = window_row_addresses(plan, first, last)
    if run == 1:
        return addresses, inside
    cells = addresses[:, :, None] * run + np.arange(run)
    flat = cells.reshape(len(cells), addresses.shape[1] * run)
    return flat, None if inside is None else np.repeat(inside, run, axis=1)


def window_row_addresses(
    plan: ValidatedPlan, first: int, last: int
) -> tuple[Indices, BoolArray | None, int]:
    """Row numbers of the windows of some entries, (entries, rows of a window), and which exist.

    The last number is how many cells each of these rows has.
    """
    form = build_cells_form(plan.layout.addressing)
    walk = CellTiling(plan, form, last - first, ordered=True)
    return *walk.window_addresses(first, last), form.row_size
