"""The one shared kernel: executes plans, knows no framework.

`gather` reads, `scatter` writes; both go through the plan block by block, and every cell meets its
updates in the order of the specification's sequential loop, bit for bit, whatever the sizes of the
blocks and the number of threads. (Which of two NaN survives an operation is not promised: NumPy
does not promise it.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gscli.base.arrays import Array, Indices, dtype_named
from gscli.kernel.reductions import REDUCTIONS, converted, divided, prepared, update_rows
from gscli.kernel.steps import Region, Step, combine, put, take, take_plainly
from gscli.kernel.tuning import DEFAULT, SHARED_BYTES, WHOLE, Share, Tuning, for_each, unfilled
from gscli.kernel.walks import Walk, walk
from gscli.layout import Layout
from gscli.plan.indices import FEW_ENTRIES
from gscli.plan.plan import ValidatedPlan

PASSES = 4
"""Times that a thread's own table must go into the updates: it is filled, and read at the end."""


def gather(plan: ValidatedPlan, data: Array, *, tuning: Tuning = DEFAULT) -> Array:
    """Read the cells of `data` that the plan addresses; skipped entries read the layout's fill.

    Returns a new array of the layout's output shape and data's dtype. A lazily validated plan
    raises IndexRefused.
    """
    form, layout = plan.layout.form, plan.layout
    if layout.moves_nothing:
        return arranged(layout, np.full(form.result, layout.fill, data.dtype))
    rows = np.ascontiguousarray(data).reshape(-1, form.run)
    result = unfilled(form.result, data.dtype)
    if (few := plan.small_call_addresses) is not None:
        take_plainly(rows[None], *few, result.reshape(1, -1, form.run), layout.fill)
        return arranged(layout, result)
    route = walk(plan, tuning.block)
    items = result.reshape(*route.grid, form.run)

    def read(lane: Region) -> None:
        for step in route.steps(lane):
            take(rows, step, items[step.region], layout.fill)

    for_each(route.lanes, read, tuning.threads_for(result))
    return arranged(layout, result)


def arranged(layout: Layout, result: Array) -> Array:
    """The canonical result with its axes in the operator's order."""
    order, wanted = layout.form.order, layout.addressing.order
    if order != wanted:
        both = layout.addressing.entries + layout.addressing.window
        full = result.reshape([both[axis] for axis in order])
        result = np.ascontiguousarray(full.transpose([order.index(axis) for axis in wanted]))
    return result.reshape(layout.output_shape)


def scatter(
    plan: ValidatedPlan, data: Array | None, *, base: Array | None = None, tuning: Tuning = DEFAULT
) -> Array:
    """A copy of `data` (or the fill) with the plan's updates written in entry order.

    Returns a new array of the layout's output shape, or `base`, where that is a copy of data that
    may be written to. A lazily validated plan raises IndexRefused.
    """
    if plan.layout.reduction == "none":
        return _scattered(plan, data, base, tuning)
    with np.errstate(all="ignore"):
        return _scattered(plan, data, base, tuning)


def _scattered(
    plan: ValidatedPlan, data: Array | None, base: Array | None, tuning: Tuning
) -> Array:
    layout, nothing = plan.layout, plan.layout.moves_nothing
    if data is not None and base is None and not nothing and _copied_late(layout, data):
        target = Target(layout, unfilled(data.shape, data.dtype))
        _write(plan, target, tuning, data)
        return target.finished()
    target = Target(layout, _base(layout, data, tuning) if base is None else base)
    if nothing:
        return target.finished()
    few = plan.small_call_addresses if target.counts is None else None
    if few is None:
        _write(plan, target, tuning)
    else:
        updates = update_rows(plan).reshape(-1, layout.form.run)
        step = Step(slice(None), *few, (slice(None),))
        target.update(step, prepared(layout, updates, target.work.dtype))
    return target.finished()


class Target:
    """The cells that a scatter writes: in their working type, as rows of those that move together.

    A reduction is started by counting the updates of each row where the rule needs it, and
    finished by dividing means and converting to the data's type. Overflow and NaN are part of the
    result: callers switch numpy's warnings about them off.
    """

    def __init__(self, layout: Layout, output: Array, run: int | None = None) -> None:
        """`run`: cells of a row that are here, where the output is only some columns of all."""
        self.layout, self.dtype, self.data = layout, output.dtype, output
        wide, run = layout.accumulate, layout.form.run if run is None else run
        self.work = output if wide is None else output.astype(dtype_named(wide))
        self.rule = REDUCTIONS.get(layout.reduction)
        if self.rule is not None and self.rule.meet is not None:
            self.work = np.ones_like(self.work)
        self.rows = self.work.reshape(self.work.size // max(run, 1), run)
        averaged = self.rule is not None and self.rule.divisor is not None
        counted = averaged or not layout.include_self
        self.counts = np.zeros(len(self.rows), np.int64) if counted and self.rule else None

    def count(self, rows: Indices) -> None:
        """Note that these rows will be updated, before the first one is."""
        if self.counts is not None:
            np.add.at(self.counts, rows, 1)

    def start(self) -> None:
        """Where data does not take part, touched rows begin with the reduction's identity."""
        if self.counts is not None and self.rule is not None and not self.layout.include_self:
            identity = np.asarray(self.rule.identity(self.work.dtype)).astype(self.work.dtype)
            self.rows[self.counts > 0] = identity

    def update(self, step: Step, updates: Array, share: Share = WHOLE) -> None:
        """Write or combine the updates (*region, run) of one step, in entry order."""
        if self.rule is None:
            put(self.rows, step, updates)
        else:
            combine(self.rows, step, updates, self.ufunc(updates.dtype), share)

    def ufunc(self, updates: np.dtype[Any]) -> Any:
        """What combines cells with updates of a type."""
        assert self.rule is not None
        return self.rule.for_types(self.work.dtype, updates)

    def finished(self) -> Array:
        """The output in its own type."""
        if self.rule is not None and self.rule.meet is not None:
            met = self.rule.meet(self.data, converted(self.work, self.dtype))
            return converted(met, dtype_named(self.layout.dtype))
        if self.counts is not None and self.rule is not None and self.rule.divisor is not None:
            if self.work.dtype != self.dtype:  # whole sums with fractional means, wide halves
                self.work = self.work.astype(self.dtype)
                self.rows = self.work.reshape(self.rows.shape)
            touched = self.counts > 0
            terms = self.counts[touched, None] + int(self.layout.include_self)
            self.rows[touched] = divided(self.rows[touched], terms, self.rule.divisor)
        if self.layout.dtype == "str":
            return self.work.astype(np.str_)
        return converted(self.work, self.dtype)


def _base(layout: Layout, data: Array | None, tuning: Tuning) -> Array:
    """What is written into; strings become objects, whose length no dtype cuts."""
    if data is None:
        dtype: Any = np.dtype(object) if layout.dtype == "str" else dtype_named(layout.dtype)
        if isinstance(layout.fill, int) and layout.fill == 0:
            return np.zeros(layout.output_shape, dtype)  # pages come zeroed and only when touched
        return np.full(layout.output_shape, layout.fill, dtype)
    if layout.dtype == "str":
        return data.astype(object, order="C")
    if data.nbytes < tuning.parallel_bytes or not data.flags.c_contiguous:
        return np.array(data, order="C", copy=True)
    copy = unfilled(data.shape, data.dtype)
    _copy(np.asarray(data), copy, tuning)
    return copy


def _copied_late(layout: Layout, data: Array) -> bool:
    """Whether a lane may copy the cells that it writes just before it does: they are near then.

    Lanes touch all of data, and every cell begins with the value that it has there.
    """
    if layout.entry_count <= FEW_ENTRIES or not data.flags.c_contiguous:
        return False
    form, rule = layout.form, REDUCTIONS.get(layout.reduction)
    whole = all(form.data[axis] == form.result[axis] for axis in (0, 1, 3))
    begins = layout.include_self and layout.accumulate is None and layout.dtype != "str"
    ends = rule is None or not (rule.meet or rule.divisor)
    return whole and begins and ends


def _copy(source: Array, target: Array, tuning: Tuning) -> None:
    """Copy data in halves."""
    flat, new, middle = source.reshape(-1), target.reshape(-1), source.size // 2

    def fill(half: slice) -> None:
        new[half] = flat[half]

    for_each([slice(0, middle), slice(middle, None)], fill, tuning.threads_for(source))


def _write(
    plan: ValidatedPlan, target: Target, tuning: Tuning, source: Array | None = None
) -> None:
    """Row-major order: the last writer wins, and updates are combined one at a time.

    `source`: data that has not been copied into the target yet.
    """
    layout, dtype = plan.layout, target.work.dtype
    route = walk(plan, tuning.block, ordered=True)
    updates = update_rows(plan).reshape(*route.grid, layout.form.run)
    if target.counts is not None:
        for step in route.every_step():
            rows, live = step.flat()
            target.count(rows if live is None else rows[live])
        target.start()
    threads = tuning.threads_for(target.work, updates.nbytes)
    count = threads if len(route.lanes) == 1 and _shareable(target, dtype, threads) else 1
    if count > 1 and dtype.kind in "biu" and updates.nbytes >= PASSES * count * target.work.nbytes:
        _combine_apart(walk(plan, tuning.block), target, source, updates, count)
        return
    if source is not None and len(route.lanes) == 1:
        _copy(source, target.data, tuning)
        source = None

    def write(part: tuple[Region, Share]) -> None:
        lane, share = part
        steps: Iterable[Step] = route.steps(lane)
        if source is not None:
            steps = _begun(list(steps), target, source, route.data, route.own(lane))
        for step in steps:
            target.update(step, prepared(layout, updates[step.region], dtype), share)

    shares = [Share(number, count) for number in range(count)]
    for_each([(lane, share) for lane in route.lanes for share in shares], write, threads)


def _combine_apart(
    route: Walk, target: Target, source: Array | None, updates: Array, threads: int
) -> None:
    """Combine whole numbers in a table for each thread, and these tables with each other.

    Whole numbers wrap, so that sums, products and limits have the same bits in any order. `source`:
    data that has not been copied into the target yet.
    """
    assert target.rule is not None
    rows, ufunc = target.rows, target.ufunc(target.work.dtype)
    identity = target.rule.identity(rows.dtype)
    tables = [rows, *(np.empty_like(rows) for _ in range(threads - 1))]
    waiting = iter(route.lanes)

    def work(table: Array) -> None:
        if table is not rows:
            table.fill(identity)
        elif source is not None:
            target.data[...] = source
        for lane in waiting:
            for step in route.steps(lane):
                values = prepared(target.layout, updates[step.region], rows.dtype)
                combine(table, step, values, ufunc)

    for_each(tables, work, threads)
    both = np.add if ufunc is np.subtract else ufunc
    for table in tables[1:]:
        both(rows, table, out=rows)


def _begun(
    steps: list[Step], target: Target, source: Array, shape: tuple[int, ...], own: Region
) -> list[Step]:
    """The steps of a lane, after its own cells were copied from the source.

    Where its only step has all of these for its base, that copies them itself, part by part.
    """
    cells, rows = target.data.reshape(shape)[own], target.rows
    if len(steps) == 1 and cells.size == rows[steps[0].base].size:
        return [steps[0]._replace(source=source.reshape(rows.shape)[steps[0].base])]
    cells[...] = source.reshape(shape)[own]
    return steps


def _shareable(target: Target, updates: np.dtype[Any], threads: int) -> bool:
    """Whether the only lane pays to be walked by every thread, each for a share of the cells."""
    if target.rule is None or target.work.nbytes < threads * SHARED_BYTES:
        return False
    from gscli.kernel import loops

    # Without compiled loops the threads would wait for each other.
    known = loops.combines(target.work.dtype, target.ufunc(updates))
    return known is not None and loops.library() is not None
