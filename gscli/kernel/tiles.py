"""Tiles: a plan's addresses piece by piece, and what is done to the rows there.

The grid of the result is (batches, outer, entries, width), without the run of cells that travel
along. It is cut into partitions, and these into tiles. Entries meet in cells along their own axis
alone. Where cells are written, a partition has all of that axis: partitions touch disjoint cells,
so that they may run in any order or at the same time, and the tiles of one come in entry order. A
gather writes every cell of its output once, so that each tile may be a partition of its own.

`take` reads rows, `write` replaces or updates them: by compiled loops where there are any and the
job is large, else by the NumPy calls that anyone would write. Both give the bits of the plain loop:
an update meets its cell after all earlier updates of that cell and before all later ones, and is
rounded to the cell's type. No address is followed that was not judged: by the plan, by compiled
loops, or by NumPy where it is left to it (`ValidatedPlan.numpy_rows`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain, product, starmap
from typing import Any, Literal, TypeAlias

import numpy as np

from gscli.base.arrays import Array, BoolArray, Indices, LiveIndices, parse_dtype
from gscli.base.records import Record
from gscli.kernel import loops, tuning
from gscli.kernel.loops import Deferred
from gscli.layout.axes import Negative, Number
from gscli.layout.forms import build_cells_form
from gscli.plan.indices import merge_live, unravel_range
from gscli.plan.plan import ValidatedPlan, fold_coordinates

Region: TypeAlias = tuple[Any, ...]


class Tile(Record):
    """Addresses of rows within `row_range`, a range of data's rows, for one `region` of the grid.

    `deferred`: the addresses, maybe still as index numbers. `live` has their shape, or is None
    where all entries are. `repeats`: `row_range` is that many equal ranges, which the first axis of
    the region counts; each takes the same addresses, from its own beginning on. `initial_rows`:
    what `row_range` will hold before.
    """

    row_range: slice
    deferred: Indices | Deferred
    live: BoolArray | None
    region: Region
    repeats: int = 1
    initial_rows: Array | None = None

    @property
    def addresses(self) -> Indices:
        """Row numbers within `row_range`; IndexRefused where an index number is out of range."""
        return self.deferred.resolve() if isinstance(self.deferred, Deferred) else self.deferred

    def repeated_addresses(self) -> LiveIndices:
        """Row numbers within all of `row_range`, in the shape of the region, and which are live."""
        rows, live = self.addresses, self.live
        if self.repeats > 1:
            size = (self.row_range.stop - self.row_range.start) // self.repeats
            rows = np.add.outer(np.arange(self.repeats) * size, rows)
            live = None if live is None else np.broadcast_to(live, rows.shape)
        return rows, live

    def flat_addresses(self) -> LiveIndices:
        """Row numbers within all of data, one entry after the other, and which are live."""
        rows, live = self.repeated_addresses()
        rows, begin = rows.reshape(-1), self.row_range.start
        return rows + begin if begin else rows, None if live is None else live.reshape(-1)


def take(rows: Array, tile: Tile, target: Array, fill: Number) -> None:
    """Read of all rows (n, run) those of one tile into `target` (*region, run); fill for no row."""
    source = rows[tile.row_range]
    if tile.live is not None or not loops.take(source, tile.deferred, target, tile.repeats):
        parts = source.reshape(tile.repeats, -1, rows.shape[1])
        items = target if tile.repeats > 1 else target[None]
        take_with_numpy(parts, tile.addresses, tile.live, items, fill)


def take_with_numpy(
    parts: Array, addresses: Indices, live: BoolArray | None, items: Array, fill: Number
) -> None:
    """Read rows of each of `parts` (parts, n, run) into items (parts, *entries, run)."""
    mode: Literal["wrap", "clip"] = "wrap" if live is None else "clip"  # wrap is the faster
    if items.flags.c_contiguous:
        parts.take(addresses, axis=1, out=items, mode=mode)
    else:  # which `out` would copy before, too
        items[...] = parts.take(addresses, axis=1, mode=mode)
    if live is not None:
        items[..., ~live, :] = fill


def write(
    rows: Array, tile: Tile, items: Array, ufunc: Any = None, own: slice | None = None
) -> None:
    """Write items (*region, run) to the rows of one tile, or combine them by `ufunc`, in turn; only
    to its `own` range of rows, where threads share them, so that they never meet in one.
    """
    target = rows[tile.row_range]
    where = own, tile.repeats, tile.initial_rows
    if tile.live is None and loops.write(target, tile.deferred, items, ufunc, *where):
        return
    if tile.initial_rows is not None:
        target[...] = tile.initial_rows
    if own is not None:
        addresses = tile.addresses
        mine = (own.start <= addresses) & (addresses < own.stop)
        live = mine if tile.live is None else mine & tile.live
        tile = tile._replace(deferred=addresses, live=live)
    write_with_numpy(target, *tile.repeated_addresses(), items, ufunc)


# Cells of rows that NumPy combines in less time than it takes to find their flat addresses.
FEW_CELLS = 256


def write_with_numpy(
    rows: Array, addresses: Indices, live: BoolArray | None, items: Array, ufunc: Any
) -> None:
    """Write or combine items (*entries, run) with rows."""
    run = rows.shape[1]
    if live is not None:
        addresses, items = addresses[live], items[live]
    if ufunc is not None and items.size <= FEW_CELLS:
        ufunc.at(rows, addresses, items)
    elif ufunc is not None:
        if run > 1:  # rows would take several times as long as the flat addresses of their cells
            addresses = addresses[..., None] * run + np.arange(run)
        ufunc.at(rows.reshape(-1), addresses.reshape(-1), items.reshape(-1))
    elif run == 1:
        rows[:, 0][addresses] = items[..., 0]
    else:
        rows[addresses] = items


# --- a plan cut into tiles --------------------------------------------------------------------

# Bytes of each row that a strip has at least: neighbours come from memory together.
STRIP_WIDTH = 256

# How many more entries a tile may have where nobody stores their addresses, and where it is all
# its thread does.
LARGER, LARGEST = 4, 64

# Cells of outer positions that share their entries: copied and soon written, or read.
CACHE_CELLS, SEVERAL = 1 << 20, 1 << 23


class Tiling:
    """The tiles of a plan, about `block` addresses each, by the partitions of its `grid`.

    A tile has several batches, each with its own entries, or some entries of one; all its outer
    positions share them. Elements have an index for every cell; those side by side never share one,
    so that each strip of them is a partition. `ordered`: every cell must meet its entries in turn,
    for it is written. `sequential`: regions follow one another in the row-major order of the grid,
    which is entry order too for every cell; so files are read and written. `packed`: strips may be
    worked on in a copy of their cells; `is_packed` says whether that pays.
    """

    def __init__(
        self, plan: ValidatedPlan, block: int, *, ordered: bool = False, sequential: bool = False,
        packed: bool = False,
    ) -> None:  # fmt: skip
        form = plan.layout.form
        dims, rows, is_cells = form.result_dims, form.data_dims[2], form.kind == "cells"
        grid = (1, *dims[:3]) if is_cells else (*dims[:3], dims[3] // max(form.row_size, 1))
        self.plan, self.grid, self.axes = plan, grid, deferrable_axes(plan)
        _, outer, entries, width = grid
        if self.axes and form.row_size == 1 and not (sequential or is_cells):
            block *= LARGEST if ordered and form.is_flat else LARGER
        wide = width
        if form.kind == "elements":
            strip = tuning.STRIP_BYTES // max(rows, 1) // STRIP_WIDTH * STRIP_WIDTH
            strip = max(strip, STRIP_WIDTH) // max(parse_dtype(plan.layout.dtype).itemsize, 1)
            wide = min(width, block if sequential else strip)
        self.tall = max(min(block // max(wide, 1), entries), 1)
        batches, together = block // max(wide * self.tall, 1), 1
        if outer != 1:
            batches, together = 1, batches
            if not sequential:
                cells = max(max(rows, entries) * form.row_size, 1)
                together = (CACHE_CELLS if ordered else SEVERAL) // cells
        self.is_packed = packed and wide < width and rows <= 2 * entries
        self.has_whole_tiles = wide == width and self.tall == entries
        sizes = batches, together, entries if ordered or self.is_packed else self.tall, wide
        pieces = [split_range(0, *each) for each in zip(grid, sizes, strict=True)]
        self.partitions: list[Region] = list(product(*pieces))
        if is_cells:
            self.windows = WindowRows(plan)
        if form.kind == "elements" and width > 1:
            self.elements = plan.columns[0].reshape(grid[0], *grid[2:])

    def iter_tiles(self, partitions: Iterable[Region]) -> Iterator[Tile]:
        """The tiles of partitions, one of these after the other, those of each in entry order."""
        for batches, outer, entries, own in partitions:
            for piece in split_range(entries.start, entries.stop, self.tall):
                yield self.make_tile((batches, outer, piece, own))

    def own_cells(self, data: Array, partition: Region) -> Array:
        """The cells that only this partition writes, of data or of an array like it."""
        form, (batches, outer, _, own) = self.plan.layout.form, partition
        dims, run = form.data_dims, form.row_size
        return data.reshape(*dims[:3], dims[3] // max(run, 1), run)[batches, outer, :, own]

    def pack_cells(self, data: Array, partition: Region) -> Array:
        """A copy of these cells as rows, all side by side: where tiles go that are packed."""
        return np.array(self.own_cells(data, partition), order="C").reshape(-1, 1)

    def make_tile(self, region: Region) -> Tile:
        """The addresses of one region of the grid."""
        form, (batches, outer, entries, own) = self.plan.layout.form, region
        several, sharing, _, width = (part.stop - part.start for part in region)
        size = math.prod(form.data_dims[2:]) // max(form.row_size, 1)
        begin = (batches.start * self.grid[1] + outer.start) * size
        if self.is_packed:
            size, begin = form.data_dims[2] * width, 0
        addresses = self._address_rows(batches, entries, own, size)
        has_axis = several > 1, sharing > 1, True, width > 1 or form.kind == "cells"
        axes = zip(region, has_axis, strict=True)
        place = tuple(part if is_kept else part.start for part, is_kept in axes)
        return Tile(slice(begin, begin + several * sharing * size), *addresses, place, sharing)

    def _address_rows(
        self, batches: slice, entries: slice, own: slice, size: int
    ) -> tuple[Indices | Deferred, BoolArray | None]:
        """Row numbers (batches, entries, width), each batch `size` rows after the one before, and
        which are live. There is no axis of batches or of width that has one place.
        """
        plan, count, strides = self.plan, self.grid[2], self.plan.layout.form.column_strides
        if plan.layout.form.kind == "cells":
            return self.windows.resolve(entries.start, entries.stop)
        shape = planes, _, width = tuple(part.stop - part.start for part in (batches, entries, own))
        shown, first = shape[planes == 1 : 2 + (width > 1)], own.start
        if self.is_packed:
            strides, first = (width,), 0
        if self.grid[3] > 1:
            numbers = [self.elements[batches, entries, own]]
        else:
            ends = batches.start * count + entries.start, (batches.stop - 1) * count + entries.stop
            columns = range(len(strides))
            numbers = [plan.raw_indices(column, *ends).reshape(shape) for column in columns]
        if self.axes:
            # Entries with one place are one line, which is the quickest to go along.
            lines = [each.swapaxes(1, 2) if width == 1 else each for each in numbers]
            facts = zip(lines, self.axes, strides, strict=True)
            column, *more = ((line, *axis, stride) for line, axis, stride in facts)
            deferred = [(*column, size, int(width > 1), first), *more]
            return Deferred(deferred, shown, plan.raise_out_of_bounds, self.is_packed), None
        resolved: Iterable[LiveIndices] = starmap(plan.coordinates, enumerate(numbers))
        if planes * width > 1 or first:
            places = np.arange(planes)[:, None, None] * size + np.arange(first, first + width)
            resolved, strides = chain(resolved, [(places, None)]), (*strides, 1)
        rows, live = fold_coordinates(resolved, strides, shape)
        if rows.shape != shape:  # there is no column; NumPy copies addresses that are broadcast
            rows = np.broadcast_to(rows, shape)
        return rows.reshape(shown), None if live is None else live.reshape(shown)


class WindowRows:
    """The rows of the windows of a plan's entries: columns, entry terms and window terms, all added
    up. `row_size`: how many cells each of these rows has.
    """

    def __init__(self, plan: ValidatedPlan) -> None:
        addressing, form = plan.layout.addressing, plan.layout.form
        self.plan, self.form = plan, form if form.kind == "cells" else build_cells_form(addressing)
        self.row_size, width = self.form.row_size, self.form.result_dims[2]
        self._window = unravel_range(0, width, addressing.window[: len(self.form.window_strides)])
        steps = [self._window[axis] * step for axis, step in self.form.window_strides]
        self._offsets = sum(steps, np.zeros(width, np.int64))

    def resolve(self, first: int, last: int) -> LiveIndices:
        """Row numbers of some entries, (entries, rows of a window), and which of them exist."""
        plan, form, offsets = self.plan, self.form, self._offsets
        coordinates, live = plan.resolve_range(first, last)
        grid = plan.entry_coordinates(first, last) if form.entry_strides else ()
        terms = [at * step for at, step in zip(coordinates, form.column_strides, strict=True)]
        terms += [grid[axis] * step for axis, step in form.entry_strides]
        rows = sum(terms, np.zeros(last - first, np.int64))[:, None]
        exists = None if live is None else live[:, None]
        for axis in () if plan.layout.policy.is_atomic else plan.layout.axes:
            if axis.column is None or axis.window is None:
                continue
            # Cells of a window that are judged alone, by the numbers that address them.
            at = coordinates[axis.column][:, None] + self._window[axis.window]
            if axis.entry is not None:
                at = at + grid[axis.entry][:, None]
            exists = merge_live((exists, (at >= 0) & (at < axis.size)))
        addresses = rows if offsets.size == 1 else rows + offsets
        return addresses, None if exists is None else np.broadcast_to(exists, addresses.shape)


def deferrable_axes(plan: ValidatedPlan) -> list[tuple[int, int]]:
    """For each column how many rows its axis has, and what C adds to negative numbers.

    No columns where addresses cannot wait until compiled loops need them. These know one policy,
    the common one: each number is one row, as it stands or from the end, or is refused.
    """
    layout = plan.layout
    few = layout.entry_count < tuning.MIN_NATIVE_ITEMS
    if not layout.has_strict_row_indices or few or loops.library() is None:
        return []
    from_end, axes = layout.policy.negative is Negative.FROM_END, list[tuple[int, int]]()
    for column, axis in enumerate(layout.column_axes):
        numbers, size = plan.raw_indices(column, 0, 0), layout.axes[axis].size
        if numbers.dtype.kind not in "iu" or not (numbers.dtype.isnative and numbers.flags.aligned):
            return []
        axes.append((size, size if from_end and numbers.dtype.kind == "i" else 0))
    return axes


def split_range(begin: int, end: int, size: int) -> list[slice]:
    """A range in pieces of one size, the last one maybe shorter."""
    size = max(size, 1)
    return [slice(first, min(first + size, end)) for first in range(begin, end, size)]


def cell_addresses(plan: ValidatedPlan, first: int, last: int) -> LiveIndices:
    """Flat addresses of the cells of some entries, (entries, window), and which of them exist; an
    address of another has no meaning.
    """
    windows = WindowRows(plan)
    (rows, inside), run = windows.resolve(first, last), windows.row_size
    cells = (rows[:, :, None] * run + np.arange(run)).reshape(len(rows), rows.shape[1] * run)
    return cells, None if inside is None else np.repeat(inside, run, axis=1)
