"""Gather: read the addressed rows, block by block, into a new array."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from gscli.kernel.items import as_items
from gscli.kernel.routes import few_addresses, walk
from gscli.kernel.tuning import DEFAULT, Tuning, for_each
from gscli.kernel.walks import Lane, Step
from gscli.layout.axes import Number
from gscli.layout.layout import Layout
from gscli.plan.plan import Array, Flags, Indices, JudgedPlan


def gather(plan: JudgedPlan, data: Array, *, tuning: Tuning = DEFAULT) -> Array:
    """Read the cells of `data` that the plan addresses; skipped entries read the layout's fill.

    Returns a new array of the layout's output shape and data's dtype. A late plan raises
    IndexRefused.
    """
    form, layout = plan.layout.form, plan.layout
    if layout.moves_nothing:
        return arranged(layout, np.full(form.result, layout.fill, data.dtype))
    rows = np.ascontiguousarray(data).reshape(-1, form.run)
    if (few := few_addresses(plan)) is not None:
        return arranged(layout, _read_at_once(rows, *few, layout.fill))
    result = np.empty(form.result, data.dtype)
    if form.shares_entries:
        _read_shared(plan, rows, result, tuning)
    else:
        _read(plan, rows, result, tuning)
    return arranged(layout, result)


_Mode: TypeAlias = Literal["wrap", "clip"]


def _mode(live: Flags | None) -> _Mode:
    """How `take` looks at addresses: "wrap" is fastest where all are legal, and slow where not."""
    return "wrap" if live is None else "clip"


def _read_at_once(rows: Array, addresses: Indices, live: Flags | None, fill: Number) -> Array:
    """Few entries and one step."""
    result = rows.take(addresses, axis=0, mode=_mode(live))
    if live is not None:
        result[~live] = fill
    return result


def _read(plan: JudgedPlan, rows: Array, result: Array, tuning: Tuning) -> None:
    """Any form: one `take` for each step of the walk."""
    run = rows.shape[1]
    source = as_items(rows, run)
    route = walk(plan, tuning.block, ordered=False)
    cells = result.reshape(*route.grid, run)
    target = as_items(cells, run)

    def read(lane: Lane) -> None:
        for step in route.steps(lane):
            _take(source[step.base], step, target[step.region])
            if step.live is not None:
                cells[step.region][~step.live] = plan.layout.fill

    for_each(route.lanes, read, tuning.threads_for(result))


def _take(source: Array, step: Step, target: Array) -> None:
    """The rows of one step, read into `target`."""
    mode = _mode(step.live)
    if step.apart:
        for part, numbers, out in zip(*step.parts(source), target, strict=True):
            part.take(numbers, axis=0, out=out, mode=mode)
    elif target.flags.c_contiguous:
        source.take(step.addresses, axis=0, out=target, mode=mode)
    else:
        target[...] = source.take(step.addresses, axis=0, mode=mode)


def _read_shared(plan: JudgedPlan, rows: Array, result: Array, tuning: Tuning) -> None:
    """Slices whose outer positions share their entries: one `take` along the axis."""
    form, run = plan.layout.form, rows.shape[1]
    batches, outer, count, _ = form.data
    entries = form.result[2]
    source = as_items(rows.reshape(batches, outer, count, run), run)
    target = as_items(result, run)
    middle = outer // 2
    for batch in range(len(result)):
        numbers, live = plan.rows(batch * entries, (batch + 1) * entries, form.steps)
        mode = _mode(live)

        def read(
            part: slice, batch: int = batch, numbers: Array = numbers, mode: _Mode = mode
        ) -> None:
            out = target[batch, part]
            source[batch, part].take(numbers, axis=1, out=out, mode=mode)

        halves = [slice(0, middle), slice(middle, None)]
        for_each(halves, read, tuning.threads_for(result[batch]))
        if live is not None:
            result[batch][:, ~live] = plan.layout.fill


def arranged(layout: Layout, result: Array) -> Array:
    """The canonical result with its axes in the operator's order."""
    order, wanted = layout.form.order, layout.addressing.order
    if order != wanted:
        both = layout.addressing.entries + layout.addressing.window
        full = result.reshape([both[axis] for axis in order])
        result = np.ascontiguousarray(full.transpose([order.index(axis) for axis in wanted]))
    return result.reshape(layout.output_shape)
