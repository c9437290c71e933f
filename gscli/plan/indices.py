"""Index numbers as they are written: one view for each column over the grid of entries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.base.records import cached_property
from gscli.layout.axes import Column, Following, Shape, Trues
from gscli.layout.layout import Layout

BLOCK = 1 << 16
"""Entries judged or resolved at a time: their addresses stay in the second-level cache."""

FEW_ENTRIES = 1024
"""Entries up to which a call takes longer than its work."""

MOST_FLATITER_AXES = 32
"""NumPy's flat iterators stop there; arrays may have 64 axes."""


class WrittenIndices:
    """A layout with the arrays that it was made for, and where their index numbers stand.

    `inputs`: arrays by argument name, of the shapes and dtypes that the layout was made from; the
    index numbers that the layout makes itself are put beside them.
    """

    def __init__(self, layout: Layout, inputs: Mapping[str, Array]) -> None:
        self.layout, self.inputs = layout, inputs
        if layout.addressing.ranges:
            made = {
                name: _made(numbers, inputs).reshape(shape)
                for name, numbers, shape in layout.addressing.ranges
            }
            self.inputs = {**inputs, **made}

    def __reduce__(self) -> tuple[type[WrittenIndices], tuple[Layout, Mapping[str, Array]]]:
        """Pickled without what was computed from these two."""
        return type(self), (self.layout, self.inputs)

    @cached_property
    def columns(self) -> tuple[Array, ...]:
        """One view per index column, broadcast to the entry grid, in the indices' own type."""
        entries = self.layout.addressing.entries
        views = []
        for column in self.layout.addressing.columns:
            view = self.own_column(column)
            views.append(view if view.shape == entries else np.broadcast_to(view, entries))
        return tuple(views)

    def own_column(self, column: Column) -> Array:
        """The numbers of one column in the shape of their input."""
        array = self.inputs[column.source]
        if column.slot is None or column.vector_dim is None:
            return array
        return array[(slice(None),) * column.vector_dim + (column.slot,)]

    @cached_property
    def _flat_columns(self) -> tuple[Array | np.flatiter[Array], ...]:
        return tuple([self._flat_column(*pair) for pair in enumerate(self.columns)])

    def _flat_column(self, number: int, view: Array) -> Array | np.flatiter[Array]:
        """One column as something that slices flat without a copy of all of it."""
        column = self.layout.addressing.columns[number]
        source = self.inputs[column.source]
        if view.ndim <= 1 or view.flags.c_contiguous:
            return view.reshape(-1)
        last = column.vector_dim == source.ndim - 1 and source.shape[:-1] == view.shape
        if last and source.flags.c_contiguous:
            return source.reshape(-1, source.shape[-1])[:, column.slot]
        return view.flat if view.ndim <= MOST_FLATITER_AXES else view.reshape(-1)

    @cached_property
    def vectors(self) -> Array | None:
        """All numbers as (entries, columns), where they stand like that and are several."""
        columns = self.layout.addressing.columns
        if len(columns) < 2:  # noqa: PLR2004  several
            return None
        source = self.inputs[columns[0].source]
        alike = all(
            column.source == columns[0].source and column.vector_dim == source.ndim - 1
            for column in columns
        )
        shaped = source.shape == (*self.layout.addressing.entries, len(columns))
        if not (alike and shaped and source.flags.c_contiguous):
            return None
        return source.reshape(-1, len(columns))

    def raw(self, column: int, first: int, last: int) -> Array:
        """Index numbers as written, entries `first` … `last`-1, in their own dtype."""
        return np.asarray(self._flat_columns[column][first:last])

    def grid(self, first: int, last: int) -> tuple[Indices, ...]:
        """Position of each entry in the entry grid, one array per grid axis."""
        return positions(first, last, self.layout.addressing.entries)

    def vector(self, entry: int) -> tuple[int | float, ...]:
        """The numbers of one entry as written."""
        return tuple(
            self.raw(column, entry, entry + 1)[0].item() for column in range(len(self.columns))
        )

    def index_position(self, column: int, entry: int) -> tuple[int, ...]:
        """Where in its input the number of this column and entry stands."""
        declared = self.layout.addressing.columns[column]
        grid = [int(at[0]) for at in self.grid(entry, entry + 1)]
        shape = list(self.inputs[declared.source].shape)
        if declared.vector_dim is not None:
            del shape[declared.vector_dim]
        kept = grid[len(grid) - len(shape) :]
        position = [0 if size == 1 else int(at) for at, size in zip(kept, shape, strict=True)]
        if declared.vector_dim is not None and declared.slot is not None:
            position.insert(declared.vector_dim, declared.slot)
        return tuple(position)


def _made(numbers: range | Trues | Following, inputs: Mapping[str, Array]) -> Indices:
    """The index numbers of a slice, of a mask's True cells in row-major order, or that follow."""
    if isinstance(numbers, range):
        return np.arange(numbers.start, numbers.stop, numbers.step)
    if isinstance(numbers, Following):
        first = inputs[numbers.source].astype(np.int64, copy=False)[..., None]
        near = first > np.iinfo(np.int64).max - numbers.steps  # the sum would wrap in its type
        first = np.where(near, first % max(numbers.size, 1), first) if numbers.size else first
        return first + np.arange(numbers.steps)
    mask = np.broadcast_to(inputs[numbers.mask], numbers.shape)
    return np.nonzero(mask)[numbers.axis]


def positions(first: int, last: int, shape: Shape) -> tuple[Indices, ...]:
    """Coordinates of the row-major numbers `first` … `last`-1 in a grid; () for rank 0.

    >>> positions(1, 3, (2, 2))
    (array([0, 1]), array([1, 0]))
    """
    if not shape:
        return ()
    return tuple(np.unravel_index(np.arange(first, last, dtype=np.int64), shape))
