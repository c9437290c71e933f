"""The one shared kernel: executes plans, knows no framework.

`gather` reads, `scatter` writes; both go through the plan tile by tile, and every cell meets its
updates in the order of the specification's sequential loop, bit for bit, whatever the sizes of
tiles and the number of threads. (NumPy does not promise which of two NaN survives an operation.)
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from gscli.base.arrays import Array, Indices, parse_dtype
from gscli.base.words import NARROW_FLOATS
from gscli.kernel import loops, tiles
from gscli.kernel.reductions import REDUCTIONS, canonical_updates, prepare_updates, saturating_cast
from gscli.kernel.tiles import Region, Tile, Tiling, split_range
from gscli.kernel.tuning import DEFAULT, Tuning, empty_aligned, run_parallel
from gscli.layout import Fold, Layout
from gscli.plan.plan import ValidatedPlan


def gather(plan: ValidatedPlan, data: Array, *, tuning: Tuning = DEFAULT) -> Array:
    """Read the cells of `data` that the plan addresses; skipped entries read the layout's fill.

    Returns a new array of the layout's output shape and data's dtype. A lazily validated plan
    raises IndexRefused.
    """
    form, layout = plan.layout.form, plan.layout
    if layout.fold is not None:
        return _fold_cells(plan, multiply_cells(plan, data), layout.fold, tuning)
    if layout.is_noop:
        return to_result_axes(layout, np.full(form.result_dims, layout.fill_value, data.dtype))
    run, fill = form.row_size, layout.fill_value
    rows = np.ascontiguousarray(data).reshape(-1, run)
    result = empty_aligned(form.result_dims, data.dtype)
    if (few := plan.small_call_addresses) is not None:
        tiles.take_with_numpy(rows[None], *few, result.reshape(1, -1, run), fill)
        return to_result_axes(layout, result)
    tiling = Tiling(plan, tuning.tile_size, packed=True)
    items = result.reshape(*tiling.grid, run)

    def read(partition: Region) -> None:
        own = tiling.pack_cells(rows, partition) if tiling.is_packed else rows
        for tile in tiling.iter_tiles([partition]):
            tiles.take(own, tile, items[tile.region], fill)

    run_parallel(tiling.partitions, read, tuning.threads_for(result))
    return to_result_axes(layout, result)


def multiply_cells(plan: ValidatedPlan, data: Array) -> Array:
    """The cells that a folded gather reads, times their factors, in the type they are folded in."""
    layout, fold, factors = plan.layout, plan.layout.fold, plan.entry_factors
    assert fold is not None
    cells = gather(ValidatedPlan(layout.read_layout, plan.inputs), data)
    cells = cells.astype(parse_dtype(fold.scatter.dtype), copy=False)
    with np.errstate(all="ignore"):
        return cells if factors is None else np.asarray(cells * factors.astype(cells.dtype))


def _fold_cells(plan: ValidatedPlan, cells: Array, fold: Fold, tuning: Tuning) -> Array:
    """What the cells of a gather come to in their bags, in the type of the output."""
    layout = plan.layout
    output = scatter(plan.plan_fold(cells), None, tuning=tuning)
    with np.errstate(all="ignore"):
        if fold.is_weighted and (factors := plan.entry_factors) is not None:
            output = output / factors.astype(output.dtype).sum()
        return output.astype(parse_dtype(layout.dtype)).reshape(layout.output_shape)


def to_result_axes(layout: Layout, result: Array) -> Array:
    """The canonical result with its axes in the operator's order."""
    if layout.form.result_axes != layout.addressing.result_axes:
        result = np.ascontiguousarray(turn_to_result_axes(layout, result))
    return result.reshape(layout.output_shape)


def turn_to_result_axes(layout: Layout, result: Array) -> Array:
    """The same as a view, whose cells lie in memory as the canonical result has them."""
    order, axes = layout.form.result_axes, layout.addressing.result_axes
    both = layout.addressing.entry_shape + layout.addressing.window
    full = result.reshape([both[axis] for axis in order])
    return full.transpose([order.index(axis) for axis in axes])


@np.errstate(all="ignore")  # overflow and NaN are part of a result
def scatter(
    plan: ValidatedPlan, data: Array | None, *, base: Array | None = None, tuning: Tuning = DEFAULT
) -> Array:
    """A copy of `data` (or the fill) with the plan's updates written in entry order.

    Returns a new array of the layout's output shape, or `base`, where that is a copy of data that
    may be written to. A lazily validated plan raises IndexRefused.
    """
    layout = plan.layout
    output, source = _make_base(layout, data, tuning) if base is None else (base, None)
    target = ScatterOutput(layout, output, source=source)
    if not layout.is_noop:
        _apply_updates(plan, target, tuning)
    return target.finalize()


class ScatterOutput:
    """The cells that a scatter writes: in their working type, as rows of those that move together.

    First the updates of each row are counted where the rule needs that, last means are divided and
    cells converted to the data's type. Overflow and NaN are part of the result: callers switch
    NumPy's warnings off. `source`: data that has not been copied into the output yet.
    """

    def __init__(
        self, layout: Layout, output: Array, run: int | None = None, source: Array | None = None
    ) -> None:
        """`run`: cells of a row that are here, where the output is only some columns of all."""
        self.layout, self.dtype, self.data, self.source = layout, output.dtype, output, source
        wide, run = layout.accumulate_dtype, layout.form.row_size if run is None else run
        self.accumulator = output if wide is None else output.astype(parse_dtype(wide))
        self.rule = REDUCTIONS[layout.reduction]
        if self.rule.epilogue is not None:
            self.accumulator = np.ones_like(self.accumulator)
        self.rows = self.accumulator.reshape(self.accumulator.size // max(run, 1), run)
        self.keeps_lone = layout.written_updates.keeps_lone
        unlike = self.rule.divisor is not None or not layout.include_self or self.keeps_lone
        counted = self.rule.ufunc is not None and unlike
        self.counts = np.zeros(len(self.rows), np.int64) if counted else None

    def copy_source(self) -> None:
        """Copy the data that has not been."""
        if self.source is not None:
            self.data[...] = self.source
            self.source = None

    def count_updates(self, updated: Iterable[Indices]) -> None:
        """Count the updates of each row, before the first one, where the rule needs their number;
        where data does not take part, these rows begin with the reduction's identity.
        """
        if self.counts is None:
            return
        for rows in updated:
            np.add.at(self.counts, rows, 1)
        if not self.layout.include_self:
            self.rows[self.counts > 0] = self.rule.identity(self.rows.dtype)

    def apply_updates(
        self, tile: Tile, updates: Array, rows: Array | None = None, own: slice | None = None
    ) -> None:
        """Write or combine the updates (*region, run) of one tile in entry order; `rows`: where, if
        not in the output's; `own`: the range of them that they may go to.
        """
        rows = self.rows if rows is None else rows
        if self.keeps_lone:  # the addresses are read twice
            tile = tile._replace(deferred=tile.addresses)
        tiles.write(rows, tile, updates, self.rule.select_ufunc(rows.dtype, updates.dtype), own)
        if self.keeps_lone and self.counts is not None:
            numbers, live = tile.flat_addresses()
            # What is not live may have any address.
            lone = (live is None or live) & (self.counts.take(numbers, mode="clip") == 1)
            rows[numbers[lone]] = updates.reshape(len(numbers), -1)[lone]

    def finalize(self) -> Array:
        """The output in its own type."""
        rule = self.rule
        if rule.epilogue is not None:
            result = rule.epilogue(self.data, rule.convert(self.data, self.accumulator))
            return saturating_cast(result, parse_dtype(self.layout.dtype))
        if self.counts is not None and rule.divisor is not None:
            # Whole sums may have fractional means; halves are summed in a wider type.
            self.accumulator = self.accumulator.astype(self.dtype, copy=False)
            rows, touched = self.accumulator.reshape(self.rows.shape), self.counts > self.keeps_lone
            terms = self.counts[touched, None] + self.layout.own_terms
            rows[touched] = rule.divide_sums(rows[touched], terms, as_c=self.keeps_lone)
        if self.layout.dtype == "str":
            return self.accumulator.astype(np.str_)
        return saturating_cast(self.accumulator, self.dtype)


def _make_base(layout: Layout, data: Array | None, tuning: Tuning) -> tuple[Array, Array | None]:
    """What is written into, and data where they are not copied into it yet; strings become objects,
    whose length no dtype cuts.
    """
    if data is None:
        dtype: Any = np.dtype(object) if layout.dtype == "str" else parse_dtype(layout.dtype)
        zero = isinstance(layout.fill_value, int) and layout.fill_value == 0
        if zero and layout.dtype not in NARROW_FLOATS:  # some of which have no zero
            return np.zeros(layout.output_shape, dtype), None  # touched pages alone are cleared
        return np.full(layout.output_shape, layout.fill_value, dtype), None
    if layout.dtype == "str":
        return data.astype(object, order="C"), None
    # Partitions may copy the cells that they write just before, for these are near then, where they
    # touch all of data and every cell begins with the value that it has there.
    form, rule = layout.form, REDUCTIONS[layout.reduction]
    large = data.nbytes >= tuning.parallel_bytes and data.flags.c_contiguous
    whole = large and all(form.data_dims[axis] == form.result_dims[axis] for axis in (0, 1, 3))
    begins = layout.include_self and layout.accumulate_dtype is None and not layout.is_noop
    if whole and begins and not (rule.epilogue or rule.divisor):
        return empty_aligned(data.shape, data.dtype), data
    return np.array(data, order="C", copy=True), None


def _apply_updates(plan: ValidatedPlan, target: ScatterOutput, tuning: Tuning) -> None:
    """Row-major order: the last writer wins, and updates are combined one at a time."""
    if _apply_at_once(plan, target):
        return
    layout, dtype = plan.layout, target.accumulator.dtype
    tiling = Tiling(plan, tuning.tile_size, ordered=True, packed=target.counts is None)
    updates = canonical_updates(plan).reshape(*tiling.grid, layout.form.row_size)
    addresses = (tile.flat_addresses() for tile in tiling.iter_tiles(tiling.partitions))
    target.count_updates(rows if live is None else rows[live] for rows, live in addresses)
    threads = tuning.threads_for(target.accumulator, updates.nbytes)
    alone = len(tiling.partitions) == 1
    sharing = _choose_sharing(target, updates, threads) if alone else ""
    near = tiling.is_packed or tiling.has_whole_tiles
    if alone or not near or (threads == 1 and layout.form.row_size > 1):  # rows at once are quicker
        target.copy_source()
    if sharing == "tables":
        _combine_in_tables(Tiling(plan, tuning.tile_size), target, updates, threads)
        return
    source = None if target.source is None else target.source.reshape(target.rows.shape)

    def apply(part: tuple[Region, slice | None]) -> None:
        partition, own = part
        rows = target.rows
        if tiling.is_packed:  # cells go into a copy of their own, and back
            rows = tiling.pack_cells(rows if source is None else source, partition)
        walk = tiling.iter_tiles([partition])
        if source is not None and rows is target.rows:  # each tile has its rows copied just before
            walk = (tile._replace(initial_rows=source[tile.row_range]) for tile in walk)
        for tile in walk:
            values = prepare_updates(layout, updates[tile.region], dtype)
            target.apply_updates(tile, values, rows, own)
        if rows is not target.rows:
            cells = tiling.own_cells(target.rows, partition)
            cells[...] = rows.reshape(cells.shape)

    count, shares = len(target.rows) // layout.form.data_dims[1], list[slice | None]([None])
    if sharing == "rows":
        shares = [*split_range(0, count, -(-count // threads))]
    run_parallel([*product(tiling.partitions, shares)], apply, threads)


def _apply_at_once(plan: ValidatedPlan, target: ScatterOutput) -> bool:
    """Write or combine all updates in one call of NumPy where that is quicker, else answer False.

    So it is where they are few, and with cells where there are no compiled loops: two looks at 10⁷
    numbers, the plan's and NumPy's own, took a fifth of a whole `ufunc.at`.
    """
    if target.counts is not None:
        return False
    rows, live = plan.small_call_addresses or (None, None)
    if rows is None and target.rows.shape[1] == 1 and loops.library() is None:
        rows = plan.numpy_rows
    if rows is None:
        return False
    target.copy_source()
    updates = canonical_updates(plan).reshape(-1, plan.layout.form.row_size)
    updates = prepare_updates(plan.layout, updates, target.rows.dtype)
    ufunc = target.rule.select_ufunc(target.rows.dtype, updates.dtype)
    try:
        tiles.write_with_numpy(target.rows, rows, live, updates, ufunc)
    except IndexError:
        plan.raise_out_of_bounds()
    return True


def _combine_in_tables(tiling: Tiling, target: ScatterOutput, updates: Array, threads: int) -> None:
    """Combine whole numbers in a table for each thread, and these tables with each other: numbers
    that wrap have sums, products and limits of the same bits in any order.
    """
    rows, ufunc = target.rows, target.rule.select_ufunc(target.rows.dtype, target.rows.dtype)
    identity, waiting = target.rule.identity(rows.dtype), iter(tiling.partitions)
    tables = [rows, *(np.empty_like(rows) for _ in range(threads - 1))]

    def work(table: Array) -> None:
        if table is not rows:
            table.fill(identity)
        for tile in tiling.iter_tiles(waiting):
            values = prepare_updates(target.layout, updates[tile.region], rows.dtype)
            target.apply_updates(tile, values, table)

    run_parallel(tables, work, threads)
    both = np.add if ufunc is np.subtract else ufunc
    for table in tables[1:]:
        both(rows, table, out=rows)


def _choose_sharing(target: ScatterOutput, updates: Array, threads: int) -> str:
    """What several threads that walk the only partition pay to have of their own, if anything."""
    cells = target.accumulator
    ufunc = target.rule.select_ufunc(cells.dtype, cells.dtype)
    if threads == 1 or target.keeps_lone or loops.native_reduction(cells.dtype, ufunc) is None:
        return ""  # NumPy's threads would wait for each other
    # Tables are filled, and read at the end.
    if cells.dtype.kind in "biu" and updates.nbytes >= 4 * threads * cells.nbytes:
        return "tables"
    return "rows" if loops.can_share_rows(target.rows, threads) else ""
