"""Scatter: copy data, then write or combine the updates, every cell in entry order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gscli.base.arrays import dtype_named
from gscli.kernel.items import as_items
from gscli.kernel.reductions import REDUCTIONS, converted, divided
from gscli.kernel.replacing import replaced, worth_replacing
from gscli.kernel.routes import few_addresses, numpy_judges, walk
from gscli.kernel.rows import reduce_rows
from gscli.kernel.tuning import DEFAULT, Tuning, for_each
from gscli.kernel.updates import Updates
from gscli.kernel.walks import Lane, Step, Walk
from gscli.layout.layout import Layout
from gscli.plan.plan import Array, Flags, Indices, JudgedPlan

NEAR = 6 << 20
"""Bytes of output that stay in the caches."""


def scatter(
    plan: JudgedPlan, data: Array | None, *, base: Array | None = None, tuning: Tuning = DEFAULT
) -> Array:
    """A copy of `data` (or the fill) with the plan's updates written in entry order.

    Returns a new array of the layout's output shape, or `base`, where that is a copy of data that
    may be written to. A late plan raises IndexRefused.
    """
    with np.errstate(all="ignore"):
        return _scattered(plan, data, base, tuning)


def _scattered(plan: JudgedPlan, data: Array | None, base: Array | None, tuning: Tuning) -> Array:
    layout = plan.layout
    written = numpy_judges(plan) and layout.include_self and layout.reduction != "mean"
    nothing = layout.moves_nothing
    if data is not None and base is None and worth_replacing(layout) and not nothing:
        return replaced(plan, data, tuning)
    target = Target(layout, _base(layout, data, tuning) if base is None else base)
    if nothing:
        return target.finished()
    few = few_addresses(plan) if target.counts is None else None
    try:
        if few is not None:
            _write_at_once(plan, target, *few, tuning)
        elif layout.reduction == "none":
            _write(plan, target, tuning, written=written)
        else:
            _reduce(plan, target, tuning, written=written)
    except IndexError:  # what was written goes with the output
        plan.judge()
        raise
    return target.finished()


class Target:
    """The cells that a scatter writes: in their working type, as rows of those that move together.

    A reduction is started by counting the updates of each row where the rule needs it, and
    finished by dividing means and converting to the data's type. Overflow and NaN are part of the
    result: callers switch numpy's warnings about them off.
    """

    def __init__(self, layout: Layout, output: Array) -> None:
        self.layout, self.dtype = layout, output.dtype
        wide = layout.accumulate
        self.work = output if wide is None else output.astype(dtype_named(wide))
        self.rule = REDUCTIONS.get(layout.reduction)
        counted = layout.reduction == "mean" or not layout.include_self
        self.counts = np.zeros(len(self.rows), np.int64) if counted and self.rule else None

    @property
    def rows(self) -> Array:
        """All cells as (rows, run)."""
        run = self.layout.form.run
        return self.work.reshape(self.work.size // max(run, 1), run)

    def count(self, base: slice, addresses: Indices) -> None:
        """Note that these rows will be updated, before the first one is."""
        if self.counts is not None:
            np.add.at(self.counts[base], addresses, 1)

    def start(self) -> None:
        """Where data does not take part, touched rows begin with the reduction's identity."""
        if self.counts is not None and self.rule is not None and not self.layout.include_self:
            identity = np.asarray(self.rule.identity(self.work.dtype)).astype(self.work.dtype)
            self.rows[self.counts > 0] = identity

    def reduce(self, base: slice, addresses: Indices, values: Array, tuning: Tuning) -> None:
        """Combine updates (m, run) with the rows at `addresses` (m,) of `base`, one by one."""
        assert self.rule is not None
        ufunc = self.rule.for_types(self.work.dtype, values.dtype)
        reduce_rows(self.rows[base], addresses, values, ufunc, tuning)

    def reduce_step(self, step: Step, values: Array, tuning: Tuning) -> None:
        """Combine the updates of a step with its rows."""
        if step.apart and step.live is None and self.layout.form.run == 1:
            assert self.rule is not None
            update_at = self.rule.for_types(self.work.dtype, values.dtype).at
            parts, addresses = step.parts(self.rows[step.base].reshape(-1))
            for part, numbers, terms in zip(parts, addresses, values[..., 0], strict=True):
                update_at(part, numbers, terms)
            return
        if step.live is not None:
            values = values[step.live]
        values = values.reshape(-1, self.layout.form.run)
        self.reduce(step.base, step.live_addresses, values, tuning)

    def finished(self) -> Array:
        """The output in its own type."""
        if self.counts is not None and self.layout.reduction == "mean":
            if self.work.dtype != self.dtype:  # whole sums with fractional means, wide halves
                self.work = self.work.astype(self.dtype)
            touched = self.counts > 0
            terms = self.counts[touched, None] + int(self.layout.include_self)
            self.rows[touched] = divided(self.rows[touched], terms)
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
    copy = np.empty(data.shape, data.dtype)
    source, target = np.asarray(data).reshape(-1), copy.reshape(-1)
    middle = data.size // 2

    def fill(half: slice) -> None:
        target[half] = source[half]

    for_each([slice(0, middle), slice(middle, None)], fill, tuning.threads)
    return copy


def _write_at_once(
    plan: JudgedPlan, target: Target, addresses: Indices, live: Flags | None, tuning: Tuning
) -> None:
    """Few entries and one step."""
    values = Updates(plan, target.work.dtype).values((slice(None),))
    if live is not None:
        addresses, values = addresses[live], values[live]
    if target.rule is None:
        target.rows[addresses] = values
    else:
        target.reduce(slice(None), addresses, values, tuning)


def _whole(plan: JudgedPlan, target: Target, *, written: bool) -> int:
    """The number of entries where all of them are best written at once, else 0.

    NumPy looks at all indices of a call before it uses the first. In blocks they are near for the
    second look; but where the cells are far, that takes longer than it saves.
    """
    return plan.layout.entry_count if written and target.work.nbytes > NEAR else 0


def _write(plan: JudgedPlan, target: Target, tuning: Tuning, *, written: bool) -> None:
    """Row-major order, the last writer wins."""
    run = plan.layout.form.run
    rows = as_items(target.rows, run)
    whole = _whole(plan, target, written=written)
    route = walk(plan, whole or tuning.block, ordered=True, written=written)
    updates = Updates(plan, target.work.dtype, route.grid)

    def write(lane: Lane) -> None:
        for step in route.steps(lane):
            items = updates.items(step.region)
            if step.live is not None:
                rows[step.base][step.live_addresses] = items[step.live]
            elif step.apart:
                for part, numbers, values in zip(*step.parts(rows[step.base]), items, strict=True):
                    part[numbers] = values
            else:
                items = items.reshape(step.addresses.size, *rows.shape[1:])
                rows[step.base][step.addresses.reshape(-1)] = items

    for_each(route.lanes, write, tuning.threads_for(target.work))


def _reduce(plan: JudgedPlan, target: Target, tuning: Tuning, *, written: bool) -> None:
    """Apply the reduction one update at a time, each rounded to the working dtype."""
    whole = _whole(plan, target, written=written)
    block = tuning.block if plan.layout.form.run == 1 else tuning.sorted_block
    route = walk(plan, whole or block, ordered=True, written=written)
    updates = Updates(plan, target.work.dtype, route.grid)
    if target.counts is not None:
        for step in _steps(route):
            target.count(step.base, step.live_addresses)
        target.start()
    for step in _steps(route):
        target.reduce_step(step, updates.values(step.region), tuning)


def _steps(route: Walk) -> Iterator[Step]:
    for lane in route.lanes:
        yield from route.steps(lane)
