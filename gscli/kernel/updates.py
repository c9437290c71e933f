"""The values that a scatter writes, region by region in the form that the kernel wants."""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.kernel.reductions import comparable
from gscli.kernel.walks import Region, Walk
from gscli.layout import Layout
from gscli.plan import Array, Plan


class Updates:
    """A plan's updates as a view of `(*grid, run)`; regions are cast and scaled when asked for."""

    def __init__(self, plan: Plan, route: Walk, dtype: np.dtype[Any]) -> None:
        self.layout, self.dtype = plan.layout, dtype
        form, view = plan.layout.form, plan.updates()
        if form.order != tuple(range(view.ndim)):
            view = view.transpose(form.order)
        self.view = view.reshape(*route.grid, form.run)

    def values(self, region: Region) -> Array:
        """The values of one region in the working dtype, as the reduction takes them."""
        return comparable(self.layout, scaled(self.layout, self.view[region], self.dtype))


def scaled(layout: Layout, updates: Array, dtype: np.dtype[Any]) -> Array:
    """Updates in the working dtype where the operator casts them, times its scale if it has one."""
    cast = updates.dtype != dtype and (layout.updates is None or layout.updates.cast)
    scale = layout.updates.scale if layout.updates else None
    if not cast and scale is None:
        return updates
    with np.errstate(all="ignore"):
        values = updates.astype(dtype) if cast else updates
        return values if scale is None else values * np.asarray(scale).astype(dtype)
