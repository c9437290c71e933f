"""Rows as single items, and the plain way to combine them with updates: cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.plan.plan import Array, Indices

Ufunc = Any

LARGEST_ITEM = 1 << 16


def as_items(array: Array, run: int) -> Array:
    """Rows of `run` cells as single items, which NumPy moves faster than rows of an axis.

    The last axis has `run` cells and vanishes where that is possible, else array itself.

    >>> as_items(np.zeros((4, 3), np.float32), 3).shape
    (4,)
    """
    if run == 1:
        return array.reshape(array.shape[:-1])
    size = run * array.itemsize
    if array.dtype.kind in "OT" or size > LARGEST_ITEM:
        return array
    return array.view(f"V{size}").reshape(array.shape[:-1])


def reduce_cells(rows: Array, addresses: Indices, values: Array, ufunc: Ufunc) -> None:
    """`rows[a] = ufunc(rows[a], value)` for each address and value in turn, one cell at a time."""
    run = rows.shape[1]
    cells = addresses if run == 1 else addresses[:, None] * run + np.arange(run)
    ufunc.at(rows.reshape(-1), cells.reshape(-1), values.reshape(-1))
