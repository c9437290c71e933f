"""How many slices of a result hold a cell that differs: entries move slices whole."""

from __future__ import annotations

from math import prod

import numpy as np

from gscli.base.arrays import Indices
from gscli.layout import Layout
from gscli.layout.axes import Shape


class Slices:
    """Counts slices by the flat cells in them, which come in blocks and ascend.

    `shape` is that of the result, `window` says of each axis whether it lies inside a slice.

    >>> slices = Slices((2, 2, 3), (False, False, True))
    >>> slices.meet(np.array([0, 2, 3]))
    >>> slices.meet(np.array([4, 11]))
    >>> slices.count
    3
    """

    def __init__(self, shape: Shape, window: tuple[bool, ...]) -> None:
        self._shape = shape
        self._own = [axis for axis, inside in enumerate(window) if not inside]
        self._sizes = tuple(shape[axis] for axis in self._own)
        last = max((axis for axis in self._own if shape[axis] > 1), default=-1)
        self._run = prod(shape[last + 1 :]) if not any(window[: last + 1]) else 0
        self._flags = np.zeros(0 if self._run else prod(self._sizes), np.bool_)
        self._last, self._counted = -1, 0

    @property
    def count(self) -> int:
        """How many slices were met."""
        return self._counted if self._run else int(np.count_nonzero(self._flags))

    def meet(self, cells: Indices) -> None:
        """Count the slices that hold these cells; contiguous ones need no memory for it."""
        if not self._run:
            places = np.unravel_index(cells, self._shape)
            self._flags[np.ravel_multi_index([places[axis] for axis in self._own], self._sizes)] = 1
            return
        numbers = np.unique(cells // self._run)
        self._counted += numbers.size - int(numbers[0] == self._last)
        self._last = int(numbers[-1])


def slices_of(layout: Layout) -> Slices | None:
    """What counts the slices of a result; None where entries move single cells."""
    if layout.window_size == 1 or not layout.output_size:
        return None
    if layout.kind == "gather":
        depth = len(layout.addressing.entries)
        window = tuple(axis >= depth for axis in layout.addressing.order)
        return Slices(layout.result_shape, window)
    free = tuple(axis.column is None and axis.entry is None for axis in layout.axes)
    return Slices(layout.view_shape, free)
