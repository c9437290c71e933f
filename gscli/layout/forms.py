"""The canonical forms of a layout: how its addresses can be computed with the least work.

Every layout is one of three forms, found from its axes alone (ints only, no numpy):

    slices     data is (batch, outer, rows, inner): the index columns fold to one row number, each
               batch has its own entries, `outer` shares them, `inner` travels along
    elements   data is (batch, 1, rows, inner): one column, other coordinates are the entry's own
    cells      anything else: row number = columns + entry terms + window terms, and the contiguous
               end of the window travels along

Forms decide speed and never meaning: every layout could be executed as `build_cells_form`.
"""

from __future__ import annotations

from math import prod
from typing import Literal, TypeAlias

from gscli.base.records import Record
from gscli.layout.axes import Addressing, Axis, row_major_strides

AxisStrides: TypeAlias = tuple[tuple[int, int], ...]


class CanonicalForm(Record):
    """One layout's canonical form.

    `data_dims` and `result_dims` are canonical shapes: data (or scatter's output) as
    (batch, outer, rows, inner), gather's output and scatter's updates as
    (batch, outer, entries, inner). `column_strides`: what one more in each index column adds to the
    row number; `entry_strides` and `window_strides`: the same for grid axes, as (axis, step).
    `result_axes`: the axes of `entries ++ window` in the order of `result_dims`.
    """

    kind: Literal["slices", "elements", "cells"]
    data_dims: tuple[int, int, int, int]
    result_dims: tuple[int, int, int, int]
    column_strides: tuple[int, ...]
    result_axes: tuple[int, ...]
    entry_strides: AxisStrides = ()
    window_strides: AxisStrides = ()

    @property
    def row_size(self) -> int:
        """Cells that one address moves together: they are neighbours in data and in the result."""
        return 1 if self.kind == "elements" else self.result_dims[3]

    @property
    def is_flat(self) -> bool:
        """Whether data is nothing but rows: no batches and nothing outside of the rows."""
        return self.kind == "slices" and self.data_dims[0] == self.data_dims[1] == 1


def choose_form(addressing: Addressing) -> CanonicalForm:
    """The form that addresses these axes with the least work."""
    special = _try_slices_form(addressing) or _try_elements_form(addressing)
    return special or build_cells_form(addressing)


def _try_slices_form(addressing: Addressing) -> CanonicalForm | None:
    """Axes in the order batch*, outer*, columns*, inner*, each with one term over its full size."""
    axes, window = addressing.axes, addressing.window
    batch = count_batch_axes(addressing, may_cut=True)
    columns = [at for at in range(batch, len(axes)) if _is_column(axes[at])]
    first, last = (columns[0], columns[-1] + 1) if columns else (batch, batch)
    around = (*axes[batch:first], *axes[last:])
    if len(columns) != last - first or not all(axis.is_whole_window for axis in around):
        return None
    sizes = [axis.size for axis in axes]
    shared = prod(addressing.entry_shape[batch:])
    grid = len(addressing.entry_shape)
    before = [grid + axis.window for axis in axes[batch:first] if axis.window is not None]
    trailing = [grid + axis.window for axis in axes[last:] if axis.window is not None]
    spare = [at for at in range(grid, grid + len(window)) if at not in before + trailing]
    order = (*range(batch), *before, *range(batch, grid), *spare, *trailing)
    outer, rows, inner = prod(sizes[batch:first]), prod(sizes[first:last]), prod(sizes[last:])
    data = (prod(sizes[:batch]), outer, rows, inner)
    result = (prod(addressing.entry_shape[:batch]), outer, shared, inner)
    return CanonicalForm("slices", data, result, _column_strides(addressing, inner), order)


def _try_elements_form(addressing: Addressing) -> CanonicalForm | None:
    """One column; each other axis takes the entry's own coordinate, off-axis extents a prefix."""
    axes, entries = addressing.axes, addressing.entry_shape
    if addressing.window or len(axes) != len(entries) or len(addressing.columns) != 1:
        return None
    own = [axis.entry == dim and axis.column is None for dim, axis in enumerate(axes)]
    if own.count(False) != 1 or axes[own.index(False)].entry is not None:
        return None
    at = own.index(False)
    sizes = [axis.size for axis in axes]
    ends = (slice(0, at), slice(at + 1, None))
    if any(sizes[end][1:] != list(entries[end][1:]) for end in ends):
        return None
    outer, inner = (prod(sizes[end]) for end in ends)
    data = (outer, 1, sizes[at], inner)
    result = (prod(entries[ends[0]]), 1, entries[at], prod(entries[ends[1]]))
    return CanonicalForm("elements", data, result, (inner,), tuple(range(len(entries))))


def build_cells_form(addressing: Addressing) -> CanonicalForm:
    """The general form: rows of the contiguous end of the window, one address for each."""
    axes, window = addressing.axes, addressing.window
    traveling = addressing.traveling
    run = prod(axis.size for axis in axes[len(axes) - traveling :])
    entries, grid = prod(addressing.entry_shape), len(addressing.entry_shape)
    units = [step // max(run, 1) for step in row_major_strides(axis.size for axis in axes)]
    terms = [*zip(axes, units, strict=True)]
    window_strides = {axis.window: unit for axis, unit in terms}
    return CanonicalForm(
        "cells",
        (1, 1, prod(axis.size for axis in axes[: len(axes) - traveling]), run),
        (1, entries, prod(window[: len(window) - traveling]), run),
        _column_strides(addressing, run),
        tuple(range(grid + len(window))),
        tuple((axis.entry, unit) for axis, unit in terms if axis.entry is not None),
        # An axis of the result alone has one cell.
        tuple((number, window_strides.get(number, 0)) for number in range(len(window) - traveling)),
    )


def count_batch_axes(addressing: Addressing, *, may_cut: bool = False) -> int:
    """How many leading axes take the entry's own coordinate over their whole size.

    `may_cut`: or over the beginning of the first of them.
    """
    count = 0
    for axis, extent in zip(addressing.axes, addressing.entry_shape, strict=False):
        fits = extent == axis.size or (may_cut and count == 0 and extent < axis.size)
        if not axis.is_positional or axis.entry != count or not fits:
            break
        count += 1
    return count


def _is_column(axis: Axis) -> bool:
    return axis.column is not None and axis.entry is None and axis.reach == 1


def _column_strides(addressing: Addressing, unit: int) -> tuple[int, ...]:
    """For each column the stride of its axis, in units of `unit` cells."""
    strides = row_major_strides(axis.size for axis in addressing.axes)
    steps = {axis.column: step for axis, step in zip(addressing.axes, strides, strict=True)}
    return tuple(steps[column] // max(unit, 1) for column in range(len(addressing.columns)))
