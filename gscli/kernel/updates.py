"""The values that a scatter writes, region by region in the form that the kernel wants."""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.base.arrays import Array, dtype_named
from gscli.kernel.reductions import comparable
from gscli.kernel.steps import Region
from gscli.layout.layout import Layout
from gscli.plan.plan import JudgedPlan


class UpdateRows:
    """A plan's updates as a view of `(*grid, run)`; regions are cast and scaled when asked for.

    Without a grid all entries stand in one row.
    """

    def __init__(
        self, plan: JudgedPlan, dtype: np.dtype[Any], grid: tuple[int, ...] = (-1,)
    ) -> None:
        self.layout, self.dtype = plan.layout, dtype
        form, view = plan.layout.form, plan.updates()
        if form.order != tuple(range(view.ndim)):
            view = view.transpose(form.order)
        self.view = view.reshape(*grid, form.run)

    def values(self, region: Region) -> Array:
        """The values of one region in the working dtype, as the reduction takes them."""
        return prepared(self.layout, self.view[region], self.dtype)


def prepared(layout: Layout, updates: Array, dtype: np.dtype[Any]) -> Array:
    """Updates as they are written or combined: cast, scaled, and NaN set aside where it loses."""
    return comparable(layout, scaled(layout, updates, dtype))


def scaled(layout: Layout, updates: Array, dtype: np.dtype[Any]) -> Array:
    """Updates in the working dtype where the operator casts them, times its scale if it has one."""
    cast = updates.dtype != dtype and (layout.updates is None or layout.updates.cast)
    scale = layout.updates.scale if layout.updates else None
    if not cast and scale is None:
        return updates
    with np.errstate(all="ignore"):
        values = updates.astype(dtype) if cast else updates
        return values if scale is None else values * np.asarray(scale).astype(dtype)


def updates_of(plan: JudgedPlan, first: int, last: int) -> Array:
    """The updates of some entries as (entries, window), in the working dtype and scaled."""
    layout = plan.layout
    rows = plan.updates()
    grid = plan.grid(first, last)
    chosen = rows[grid] if grid else rows[None]
    name = layout.accumulate or layout.dtype
    dtype = np.dtype(object) if name == "str" else dtype_named(name)
    return scaled(layout, chosen.reshape(last - first, layout.window_size), dtype)
