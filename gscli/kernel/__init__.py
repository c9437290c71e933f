"""The one shared kernel: executes plans, knows no framework.

`gather` reads, `scatter` writes; both go through the plan block by block, and every cell meets its
updates in the order of the specification's sequential loop, bit for bit, whatever the sizes of the
blocks and the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.arrays import dtype_named
from gscli.forms import cells
from gscli.kernel.reductions import REDUCTIONS, comparable, converted, divided
from gscli.kernel.rows import as_items, reduce_rows
from gscli.kernel.tuning import DEFAULT, Tuning, for_each
from gscli.kernel.updates import Updates, scaled
from gscli.kernel.walks import Cells, Lane, Walk, walk
from gscli.layout import Layout
from gscli.plan import Array, Flags, Indices, Plan

__all__ = [
    "REDUCTIONS", "Tuning", "addresses_of", "comparable", "converted", "gather", "scatter",
    "updates_of",
]  # fmt: skip


def gather(plan: Plan, data: Array, *, tuning: Tuning = DEFAULT) -> Array:
    """Read the cells of `data` that the plan addresses; skipped entries read the layout's fill.

    Returns a new array of the layout's output shape and data's dtype.
    """
    result = np.empty(plan.layout.form.result, data.dtype)
    if result.size:
        _gather(plan, data, result, tuning)
    return _arranged(plan.layout, result)


def scatter(plan: Plan, data: Array | None, *, tuning: Tuning = DEFAULT) -> Array:
    """A copy of `data` (or the fill) with the plan's updates written in entry order."""
    layout = plan.layout
    output = _base(layout, data, tuning)
    work = output if layout.accumulate is None else output.astype(dtype_named(layout.accumulate))
    if work.size and layout.entry_count and layout.window_size:
        if layout.reduction == "none":
            _write(plan, work, tuning)
        else:
            work = _reduce(plan, work, output.dtype, tuning)
    return work.astype(np.str_) if layout.dtype == "str" else converted(work, output.dtype)


def _gather(plan: Plan, data: Array, result: Array, tuning: Tuning) -> None:
    form, fill = plan.layout.form, plan.layout.fill
    if data.size == 0:
        result.fill(fill)
        return
    run = form.run
    source = as_items(np.ascontiguousarray(data).reshape(-1, run), run)
    route = walk(plan, tuning.block, ordered=False)
    rows = result.reshape(*route.grid, run)
    target = as_items(rows, run)

    def read(lane: Lane) -> None:
        for step in route.steps(lane):
            part = target[step.region]
            if part.flags.c_contiguous:
                source[step.base].take(step.addresses, axis=0, out=part, mode="clip")
            else:
                target[step.region] = source[step.base].take(step.addresses, axis=0, mode="clip")
            if step.live is not None:
                rows[step.region][~step.live] = fill

    for_each(route.lanes, read, _threads(result, tuning))


def _arranged(layout: Layout, result: Array) -> Array:
    """The canonical result with its axes in the operator's order."""
    order, wanted = layout.form.order, layout.addressing.order
    if order != wanted:
        both = layout.addressing.entries + layout.addressing.window
        full = result.reshape([both[axis] for axis in order])
        result = np.ascontiguousarray(full.transpose([order.index(axis) for axis in wanted]))
    return result.reshape(layout.output_shape)


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
    copy = np.empty(data.shape, data.dtype)
    source, target = np.asarray(data).reshape(-1), copy.reshape(-1)
    middle = data.size // 2

    def fill(half: slice) -> None:
        target[half] = source[half]

    for_each([slice(0, middle), slice(middle, None)], fill, tuning.threads)
    return copy


def _rows(plan: Plan, work: Array) -> Array:
    """The cells of what is written, as rows of those that travel together."""
    return work.reshape(-1, plan.layout.form.run)


def _write(plan: Plan, work: Array, tuning: Tuning) -> None:
    """Row-major order, the last writer wins."""
    run = plan.layout.form.run
    rows = as_items(_rows(plan, work), run)
    route = walk(plan, tuning.block, ordered=True, last_only=True)
    updates = Updates(plan, route, work.dtype)

    def write(lane: Lane) -> None:
        for step in route.steps(lane):
            values = np.ascontiguousarray(updates.values(step.region), work.dtype)
            items = as_items(values, run)
            if step.live is None:
                items = items.reshape(step.addresses.size, *items.shape[step.addresses.ndim :])
                rows[step.base][step.addresses.reshape(-1)] = items
            else:
                rows[step.base][step.addresses[step.live]] = items[step.live]

    for_each(route.lanes, write, _threads(work, tuning))


def _reduce(plan: Plan, work: Array, dtype: np.dtype[Any], tuning: Tuning) -> Array:
    """Apply the reduction one update at a time, each rounded to the working dtype."""
    layout, rule = plan.layout, REDUCTIONS[plan.layout.reduction]
    run = layout.form.run
    rows = _rows(plan, work)
    route = walk(plan, tuning.block if run == 1 else tuning.sorted_block, ordered=True)
    updates = Updates(plan, route, work.dtype)
    counts = None
    if layout.reduction == "mean" or not layout.include_self:
        counts = _counts(route, len(rows))
    if counts is not None and not layout.include_self:
        rows[counts > 0] = np.asarray(rule.identity(work.dtype)).astype(work.dtype)
    with np.errstate(all="ignore"):
        for lane in route.lanes:
            for step in route.steps(lane):
                values = updates.values(step.region)
                chosen = slice(None) if step.live is None else step.live
                ufunc = rule.for_types(work.dtype, values.dtype)
                reduce_rows(
                    rows[step.base],
                    step.addresses[chosen].reshape(-1),
                    values[chosen].reshape(-1, run),
                    ufunc,
                    tuning,
                )
        if counts is not None and layout.reduction == "mean":
            if work.dtype != dtype:  # whole sums with fractional means, halves summed in float32
                work = work.astype(dtype)
                rows = _rows(plan, work)
            touched = counts > 0
            terms = counts[touched, None] + int(layout.include_self)
            rows[touched] = divided(rows[touched], terms)
    return work


def _counts(route: Walk, rows: int) -> Indices:
    """How many entries each row has."""
    counts = np.zeros(rows, np.int64)
    for lane in route.lanes:
        for step in route.steps(lane):
            found = step.addresses if step.live is None else step.addresses[step.live]
            np.add.at(counts[step.base], found.reshape(-1), 1)
    return counts


def _threads(moved: Array, tuning: Tuning) -> int:
    small = moved.nbytes < tuning.parallel_bytes or moved.dtype.kind in "OT"
    return 1 if small else tuning.threads


def addresses_of(plan: Plan, first: int, last: int) -> tuple[Indices, Flags | None]:
    """Flat addresses of the cells of some entries, (entries, window), and which of them exist.

    What traces replay; cells that do not exist have an address of no meaning.
    """
    form = cells(plan.layout.addressing)
    run = form.run
    addresses, inside = Cells(plan, form, last - first, ordered=True).addresses(first, last)
    flat = (addresses[:, :, None] * run + np.arange(run)).reshape(last - first, -1)
    return flat, None if inside is None else np.repeat(inside, run, axis=1)


def updates_of(plan: Plan, first: int, last: int) -> Array:
    """The updates of some entries as (entries, window), in the working dtype and scaled."""
    layout = plan.layout
    rows = plan.updates()
    grid = plan.grid(first, last)
    chosen = rows[grid] if grid else rows[None]
    name = layout.accumulate or layout.dtype
    dtype = np.dtype(object) if name == "str" else dtype_named(name)
    return scaled(layout, chosen.reshape(last - first, layout.window_size), dtype)
