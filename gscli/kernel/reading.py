"""Gather: read the addressed rows, block by block, into a new array."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array
from gscli.kernel.rows import take
from gscli.kernel.steps import Lane, Step
from gscli.kernel.tuning import DEFAULT, Tuning, for_each
from gscli.layout.layout import Layout
from gscli.plan.plan import JudgedPlan


def gather(plan: JudgedPlan, data: Array, *, tuning: Tuning = DEFAULT) -> Array:
    """Read the cells of `data` that the plan addresses; skipped entries read the layout's fill.

    Returns a new array of the layout's output shape and data's dtype. A late plan
    raises IndexRefused.
    """
    form, layout = plan.layout.form, plan.layout
    if layout.moves_nothing:
        return arranged(layout, np.full(form.result, layout.fill, data.dtype))
    rows = np.ascontiguousarray(data).reshape(-1, form.run)
    result = np.empty(form.result, data.dtype)
    if (few := plan.few_addresses) is not None:
        step = Step(slice(None), *few, (slice(None),))
        take(rows, step, result.reshape(-1, form.run), layout.fill)
        return arranged(layout, result)
    from gscli.kernel.routes import walk

    route = walk(plan, tuning.block, ordered=False)
    items = result.reshape(*route.grid, form.run)

    def read(lane: Lane) -> None:
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
