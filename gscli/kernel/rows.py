"""Rows: the cells that travel together, and the three things that are done to them.

`take` reads rows, `put` writes them, `combine` updates them in entry order: by compiled loops where
there are any and the job is large, else by the NumPy calls that anyone would write. Both give the
bits of the plain loop: an update meets its cell after all earlier updates of that cell and before
all later ones, and is rounded to the cell's type.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Literal

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.kernel import tuning
from gscli.kernel.steps import Step
from gscli.kernel.tuning import WHOLE, Share
from gscli.layout.axes import Number

Ufunc = Any


def take(rows: Array, step: Step, target: Array, fill: Number) -> None:
    """Read the rows of one step into `target` (*region, run); entries that are not live read fill.

    rows is (n, run), all of the plan's.
    """
    source = rows[step.base]
    if (loops := compiled(step, target)) and loops.take(source, step.where, target, step.parts):
        return
    mode: Literal["wrap", "clip"] = "wrap" if step.live is None else "clip"  # wrap is the faster
    parts = source.reshape(step.parts, -1, rows.shape[1])
    items = target if step.parts > 1 else target[None]
    if items.flags.c_contiguous:
        parts.take(step.addresses, axis=1, out=items, mode=mode)
    else:
        items[...] = parts.take(step.addresses, axis=1, mode=mode)
    if step.live is not None:
        target[..., ~step.live, :] = fill


def put(rows: Array, step: Step, items: Array) -> None:
    """Write items (*region, run) to the rows of one step; the last one of a row stays."""
    target = rows[step.base]
    if (loops := compiled(step, items)) and loops.put(target, step.where, items, step.parts):
        return
    addresses = step.addresses
    if step.live is not None:
        addresses, items = addresses[step.live], items[..., step.live, :]
    if step.parts > 1:
        target.reshape(step.parts, -1, rows.shape[1])[:, addresses] = items
    elif rows.shape[1] == 1:
        target[:, 0][addresses] = items[..., 0]  # NumPy is quickest with one axis
    else:
        target[addresses] = items


def combine(rows: Array, step: Step, updates: Array, ufunc: Ufunc, share: Share = WHOLE) -> None:
    """Combine updates (*region, run) with the rows of one step, one after the other.

    Only a `share` of the cells, so that threads never meet in one.
    """
    target = rows[step.base]
    loops = compiled(step, updates)
    if loops and loops.combine(target, step.where, updates, ufunc, parts=step.parts, share=share):
        return
    step = step.joined()
    live = ... if step.live is None else step.live
    combine_cells(target, step.addresses[live], updates[live], ufunc, share)


def compiled(step: Step, items: Array) -> ModuleType | None:
    """The compiled loops, where they may do a step: all its entries are live, and it is large."""
    if step.live is not None or items.size < tuning.WORTH:
        return None
    from gscli.kernel import loops

    return loops


def combine_cells(
    rows: Array, addresses: Indices, updates: Array, ufunc: Ufunc, share: Share = WHOLE
) -> None:
    """Combine updates (*n, run) with rows at `addresses` (*n), cell by cell.

    NumPy's `ufunc.at` is quick with flat addresses, and several times slower with rows.
    """
    run = rows.shape[1]
    cells, values = addresses.reshape(-1), updates.reshape(-1)
    if run > 1:
        cells = (cells[:, None] * run + np.arange(run)).reshape(-1)
    if share != WHOLE:
        (top, bottom), (low, high) = share.cut(len(rows), run, rows.itemsize)
        row, column = np.divmod(cells, run)
        mine = (top <= row) & (row < bottom) & (low <= column) & (column < high)
        cells, values = cells[mine], values[mine]
    ufunc.at(rows.reshape(-1), cells, values)
