"""Subscripts: which cells `x[…]` names. How one is written is told in `gscli.layout.items`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from gscli.base import ShapeRefused, UsageError
from gscli.base.records import Record
from gscli.base.words import format_count
from gscli.layout.axes import Addressing, Axis, Column, GeneratedIndices, Shape, Tensor
from gscli.layout.families import broadcast_shapes
from gscli.layout.items import Item, format_subscript, item_axes, parse_subscript


class SubscriptRules(Record):
    """How frameworks differ.

    `has_scalar_selection`: an index of rank 0 takes its axis away before the arrays meet (PyTorch);
    otherwise it is an array among arrays. `has_separating_ellipsis`: `...` stands between arrays
    even where it has no axis (NumPy). `allows_negative_steps`: a slice may have a negative step.
    """

    has_scalar_selection: bool = False
    has_separating_ellipsis: bool = False
    allows_negative_steps: bool = True


class _SubscriptPart(Record):
    """An item where it meets data: what it takes of an axis of `size` cells.

    An "array" takes what its numbers name, a "slice" its `positions`; "new" is an axis of size 1 of
    the result alone, and "apart" is nothing but a separation of arrays.
    """

    kind: Literal["array", "slice", "new", "apart"]
    size: int = 1
    array: Tensor | None = None
    positions: range = range(0)
    text: str = ""

    @property
    def has_entries(self) -> bool:
        """Whether it is a slice whose positions are entries: not the whole axis, and not empty."""
        return len(self.positions) > 0 and self.positions != range(self.size)


def run_subscript(
    data: Tensor, subscript: str | None, indices: Sequence[Tensor], notation: SubscriptRules
) -> Addressing:
    """The addressing of `data[…]`: entries are the positions of slices, then the arrays' own grid.

    A slice of a whole axis moves along with each entry. Where arrays stand apart, the axes of
    their grid come first in the result; otherwise they stand where the arrays do. An index of rank
    0 is judged even where the grid is empty.

    >>> data, i = Tensor("x", (4, 5, 6), "int8"), Tensor("i", (2,), "int64")
    >>> run_subscript(data, "1:3, i, None", [i], SubscriptRules()).result_shape
    (2, 2, 1, 6)
    """
    items = (Item("i"),) * len(indices) if subscript is None else parse_subscript(subscript)
    _check_items(data, items, indices)
    parts = list(_iter_parts(data, items, indices, notation))
    arrays = [part.array for part in parts if part.array is not None]
    grid = broadcast_shapes([a.shape for a in arrays], [a.name for a in arrays])
    alone = 0 in grid and any(array.rank == 0 for array in arrays)
    return _AddressingBuilder(parts, grid, alone=alone).build(_grid_position(parts, notation))


def _check_items(data: Tensor, items: Sequence[Item], indices: Sequence[Tensor]) -> None:
    """As many letters as arrays, no more axes than data has, and `...` once at most."""
    letters = sum(item.is_array for item in items)
    if letters != len(indices):
        raise UsageError(
            "the subscript and the index arrays differ in number",
            where=f"{format_count(letters, 'array')} in {format_subscript(items)!r}, got "
            f"{len(indices)}"[:200],
            hint="i stands for one index array",
        )
    count = sum(item.is_axis for item in items)
    if count > data.rank:
        raise ShapeRefused(
            "more index arrays than data has axes"
            if count == letters
            else "more indices than data has axes",
            where=f"{format_count(count, 'index', 'indices')}, "
            f"{data.name} has {format_count(data.rank, 'axis', 'axes')}",
            valid=f"0 … {data.rank}",
        )
    if sum(item.kind == "..." for item in items) > 1:
        raise UsageError("... stands once at most", where=format_subscript(items)[:200])


def _iter_parts(
    data: Tensor, items: Sequence[Item], indices: Sequence[Tensor], notation: SubscriptRules
) -> Iterator[_SubscriptPart]:
    """One part for each axis of data and each new one, in order; left axes are taken whole."""
    count, arrays = sum(item.is_axis for item in items), iter(indices)
    if not any(item.kind == "..." for item in items):
        items = (*items, Item("..."))
    for item, axis in zip(items, item_axes(items, data.rank), strict=True):
        if item.kind == "...":
            rest = data.shape[axis : axis + data.rank - count]
            yield from (_SubscriptPart("slice", size, positions=range(size)) for size in rest)
            if not rest and notation.has_separating_ellipsis:
                yield _SubscriptPart("apart")
        elif item.kind == "None":
            yield _SubscriptPart("new")
        elif item.kind == ":":
            positions = _mask_positions(item, data.shape[axis], notation)
            yield _SubscriptPart("slice", data.shape[axis], positions=positions, text=str(item))
        else:
            yield _SubscriptPart("array", 1 if item.kind == "b" else data.shape[axis], next(arrays))


def _mask_positions(item: Item, size: int, notation: SubscriptRules) -> range:
    step = item.bounds[2]
    if step == 0 or (step is not None and step < 0 and not notation.allows_negative_steps):
        raise ShapeRefused(
            "a slice cannot have this step",
            where=f"{item}",
            valid="1 or more" if not notation.allows_negative_steps else "any whole number but 0",
        )
    return range(*slice(*item.bounds).indices(size))


def _grid_position(parts: Sequence[_SubscriptPart], notation: SubscriptRules) -> int:
    """Before which part the axes of the arrays' grid stand in the result."""
    arrays = [
        number
        for number, part in enumerate(parts)
        if part.array is not None and not (notation.has_scalar_selection and part.array.rank == 0)
    ]
    if not arrays:
        return 0
    between = parts[arrays[0] : arrays[-1]]
    return arrays[0] if all(part.kind == "array" for part in between) else 0


class _AddressingBuilder:
    """Puts the parts together. `alone`: the grid is empty and only indices of rank 0 are judged."""

    def __init__(self, parts: Sequence[_SubscriptPart], grid: Shape, *, alone: bool) -> None:
        self.parts, self.grid, self.has_scalars_only = parts, grid, alone
        self.slice_lengths = [len(part.positions) for part in parts if part.has_entries]
        self.entries = (*self.slice_lengths, *(() if alone else grid))
        self.axes: list[Axis] = []
        self.columns: list[Column] = []
        self.ranges: list[GeneratedIndices] = []
        self.window: list[int] = []
        self.order: list[int] = []

    def build(self, meeting: int) -> Addressing:
        for number, part in enumerate(self.parts):
            if number == meeting:
                self._add_grid_axes()
            self._add_part(part)
        return Addressing(
            tuple(self.axes),
            self.entries,
            tuple(self.window),
            tuple(self.order),
            tuple(self.columns),
            tuple(self.ranges),
        )

    def _add_grid_axes(self) -> None:
        """The axes of the arrays' grid."""
        if self.has_scalars_only:
            for size in self.grid:
                self._add_window_axis(size)
        else:
            self.order += range(len(self.slice_lengths), len(self.entries))

    def _add_part(self, part: _SubscriptPart) -> None:
        if part.array is not None:
            if self.has_scalars_only and part.array.rank:
                self.axes.append(Axis(part.size))
            else:
                self._add_column(part.size, Column(part.array.name, part.array.dtype))
        elif part.has_entries:
            self._add_column(part.size, Column(self._add_slice_indices(part)))
        elif part.kind == "slice":
            self.axes.append(Axis(part.size, window=len(self.window), span=len(part.positions)))
            self._add_window_axis(len(part.positions))
        elif part.kind == "new":
            self._add_window_axis(1)

    def _add_window_axis(self, size: int) -> None:
        """One more axis of the slice that moves along with each entry."""
        self.order.append(len(self.entries) + len(self.window))
        self.window.append(size)

    def _add_column(self, size: int, column: Column) -> None:
        self.axes.append(Axis(size, column=len(self.columns)))
        self.columns.append(column)

    def _add_slice_indices(self, part: _SubscriptPart) -> str:
        """The positions of a slice as index numbers of their own, under a name of their own."""
        entry = len(self.ranges)
        known = {positions.name for positions in self.ranges}
        name = part.text if part.text not in known else f"{part.text} on axis {len(self.axes)}"
        shape = (len(part.positions), *(1,) * (len(self.entries) - entry - 1))
        self.ranges.append(GeneratedIndices(name, part.positions, shape))
        self.order.append(entry)
        return name
