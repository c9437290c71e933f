"""Which cell an index addresses, from shapes and attributes alone.

A layout says that of every entry of a call. Ints only, frozen, hashable, no numpy. It is the only
judge of shapes and is always built before any value is looked at. What its axes mean is told in
`gscli.layout.axes`.

The words that are the house's own, here and in every other room:

    entry    one index of a call, numbered in row-major order of the grid of indices
    vector   the index numbers of an entry, one for each column
    column   one component of all vectors: the numbers that address one axis of data
    row      the address that a vector resolves to
    cell     an element of data or of the output
    slice    the cells that an entry moves together (as a grid of positions: its window)
    live     of an entry: it is not skipped
    layout   which cells entries address, as far as shapes and attributes tell
    plan     a layout with index values: which cells they do address
"""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal, TypeAlias

from gscli.base.records import Record, cached_property
from gscli.base.words import INTEGERS, dtype_max
from gscli.layout.axes import (
    INT32_MAX,
    Addressing,
    Axis,
    Column,
    Consecutive,
    MaskPositions,
    Negative,
    Number,
    OutOfBounds,
    Policy,
    Reduction,
    SegmentNumbers,
    Shape,
    Tensor,
    Truncation,
    Unspecified,
    Updates,
)
from gscli.layout.forms import CanonicalForm, choose_form

# What a fold calls the number of the bag of each entry, the cells that a gather reads, and on the
# way back the share of each of them in the cotangent of its bag.
BAGS, CELLS, SHARES = "bags", "cells", "shares"


class Fold(Record):
    """How the cells that a gather reads are its output only when they were combined.

    `scatter`: the layout that brings CELLS to where BAGS say; entries that are skipped are in no
    bag. `factors`: an input of numbers that multiply cells, one for each entry, or as `are_by_row`
    one for each row that is read. `is_weighted`: what they come to is divided by the sum of these.
    """

    scatter: Layout
    factors: str | None = None
    are_by_row: bool = False
    is_weighted: bool = False


class LayoutFields(Record):
    """What a layout is made of. `is_counted`: its rows are as many as the index numbers say."""

    kind: Literal["gather", "scatter"]
    addressing: Addressing
    policy: Policy
    data_name: str | None
    data_shape: Shape
    dtype: str
    output_shape: Shape
    updates: Updates | None = None
    reduction: Reduction = "none"
    include_self: bool = True
    accumulate_dtype: str | None = None
    fill_value: Number = 0
    unspecified_order: str = ""
    unspecified: tuple[Unspecified, ...] = ()
    attributes: tuple[tuple[str, object], ...] = ()
    fold: Fold | None = None
    is_counted: bool = False


class Layout(LayoutFields):
    """Everything about one call but its values. See `gather_layout` and `scatter_layout`."""

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the view of data that is addressed (flattened data has one)."""
        return self.addressing.axes

    @cached_property
    def view_shape(self) -> Shape:
        """Sizes of `axes`; as many cells as `data_shape`."""
        return tuple(axis.size for axis in self.axes)

    @property
    def value_names(self) -> tuple[str | None, str | None]:
        """Names of data and updates, None where no input holds them."""
        return self.data_name, None if self.updates is None else self.updates.name

    @cached_property
    def written_updates(self) -> Updates:
        """The values to write, of a scatter."""
        assert self.updates is not None
        return self.updates

    @property
    def is_flattened(self) -> bool:
        """Whether axes of data, or of each of its parts, are addressed as one row of cells."""
        return self.view_shape != self.data_shape

    def data_axis(self, number: int) -> int | None:
        """The axis of data that an axis of the view is; None where cells are laid flat.

        A mask without axes adds an axis of its own to the view.
        """
        view, shape = self.view_shape, self.data_shape
        moved = number - max(len(view) - len(shape), 0)
        if view == shape or (moved < number and view[: number + 1] == shape[: number + 1]):
            return number
        return moved if 0 <= moved < number and view[number:] == shape[moved:] else None

    @cached_property
    def entry_count(self) -> int:
        """Number of index entries."""
        return prod(self.addressing.entry_shape)

    @cached_property
    def window_size(self) -> int:
        """Number of cells that one entry moves."""
        return prod(self.addressing.window)

    @cached_property
    def result_shape(self) -> Shape:
        """Shape of gather's output and of scatter's updates."""
        return self.addressing.result_shape

    @cached_property
    def has_canonical_order(self) -> bool:
        """Whether the axes of the result are those of `entries ++ window` in that order."""
        return self.addressing.result_axes == tuple(range(len(self.addressing.result_axes)))

    @cached_property
    def output_size(self) -> int:
        """Number of cells of the output."""
        return prod(self.output_shape)

    @property
    def read_layout(self) -> Layout:
        """The gather of this layout alone, without what becomes of its cells."""
        return self._replace(fold=None, reduction="none", output_shape=self.result_shape)

    def name_flat(self, data: str) -> str:
        """What an index counts through where cells are laid flat: all of data, or a part."""
        return data if len(self.axes) == 1 else f"a part of {data}"

    @property
    def own_terms(self) -> int:
        """How many values that the cell itself brings are counted in a mean of its updates."""
        return int(self.include_self and self.data_name is not None)

    @cached_property
    def is_noop(self) -> bool:
        """Whether no cell is read or written, whatever the indices are."""
        return 0 in self.data_shape or not (self.entry_count and self.window_size)

    @property
    def allocated_shapes(self) -> tuple[Shape, Shape]:
        """The shapes of arrays that a run makes."""
        return self.output_shape, self.addressing.entry_shape + self.addressing.window

    @cached_property
    def max_allocated(self) -> tuple[int, int]:
        """The most axes, and the most cells if sizes of zero did not count, of these arrays."""
        shapes = self.allocated_shapes
        return max(map(len, shapes)), max([prod(filter(None, shape)) for shape in shapes])

    @cached_property
    def has_strict_row_indices(self) -> bool:
        """Whether each index is a whole number of one row, maybe from the end, or is refused."""
        return (
            min(self.direct_index_limits, default=0) >= 0
            and self.policy.out_of_bounds is OutOfBounds.RAISE
            and self.policy.negative is not Negative.SKIP
            and self.policy.ignored is None
            and self.policy.truncation is Truncation.NEVER
            and all(self.axes[axis].window is None for axis in self.column_axes)
        )

    @cached_property
    def has_overlapping_windows(self) -> bool:
        """Whether two entries may share some of their cells but not all: windows begin anywhere."""
        return any(axis.reach > 1 and {axis.column, axis.entry} != {None} for axis in self.axes)

    @cached_property
    def can_share_cells(self) -> bool:
        """Whether two entries may address one cell: not where each has a place of its own, its
        position or a number that is made for no other one.
        """
        grid, generated = self.addressing.entry_shape, self.addressing.generated
        own = {axis.entry for axis in self.axes if axis.is_positional}
        for item in generated:
            recipe = item.recipe
            sizes = item.shape[-1:] if isinstance(recipe, Consecutive) else item.shape
            # A mask that is stretched over an axis of one cell has no column for it.
            is_stretched = isinstance(recipe, MaskPositions) and len(recipe.shape) > len(generated)
            if not is_stretched and not isinstance(recipe, SegmentNumbers):
                first = len(grid) - len(sizes)
                own |= {n for n, size in enumerate(sizes, first) if size == grid[n]}
        return not own.issuperset(range(len(grid)))

    @cached_property
    def column_axes(self) -> tuple[int, ...]:
        """For each index column, the axis of the view that it addresses."""
        numbers = {axis.column: number for number, axis in enumerate(self.axes)}
        return tuple(numbers[column] for column in range(len(self.addressing.columns)))

    @cached_property
    def direct_index_limits(self) -> tuple[int, ...]:
        """For each index column the highest number that, read as unsigned, is a coordinate as it
        stands, whatever the policy says of others: a negative int8 may be less than the size of an
        axis. Less than 0 where no number is, as for types with fractions.
        """
        return tuple(map(self._direct_index_limit, self.column_axes, self.addressing.columns))

    def _direct_index_limit(self, number: int, column: Column) -> int:
        if column.dtype not in INTEGERS or self.policy.ignored is not None:
            return -1
        axis = self.axes[number]
        top = axis.size - axis.reach
        bound = INT32_MAX if self.policy.truncation is not Truncation.NEVER else top
        return min(top, bound, int(dtype_max(column.dtype)))

    @cached_property
    def form(self) -> CanonicalForm:
        """The canonical form, in which addresses take the least work."""
        return choose_form(self.addressing)

    @cached_property
    def index_inputs(self) -> tuple[str, ...]:
        """Names of the inputs that hold indices, in order, each once."""
        return tuple(dict.fromkeys(column.source for column in self.addressing.columns))


# What an operator returns whose output is a new tensor: none of its inputs can be changed for it.
#
# Gathers, and scatters that begin with zeros or with nothing (segments, `scatter_nd` on a shape).
NewOutput: TypeAlias = Annotated[Layout, "new"]


def gather_layout(
    data: Tensor, addressing: Addressing, policy: Policy, *,
    fill: Number = 0, output_shape: Shape | None = None,
    unspecified: tuple[Unspecified, ...] = (), fold: Fold | None = None,
) -> Layout:  # fmt: skip
    """Output cell = data cell; skipped entries read `fill`. dtype is data's."""
    shape = addressing.result_shape if output_shape is None else output_shape
    return Layout(
        "gather", addressing, policy, data.name, data.shape, data.dtype, shape,
        reduction=fold.scatter.reduction if fold else "none",
        fill_value="" if data.dtype == "str" and fill == 0 else fill, unspecified=unspecified,
        fold=fold,
    )  # fmt: skip


def scatter_layout(
    data: Tensor | None,
    updates: Updates,
    addressing: Addressing,
    policy: Policy,
    *,
    dtype: str = "",
    reduction: Reduction = "none",
    include_self: bool = True,
    accumulate: str | None = None,
    fill: Number = 0,
    output_shape: Shape | None = None,
    open_order: str = "",
    unspecified: tuple[Unspecified, ...] = (),
) -> Layout:
    """Output = copy of data (or `fill` everywhere when data is None), then written entry by entry.

    `dtype`: of the output, where it is not data's. `output_shape`: of the output without data,
    where the addressed view lays some of its axes flat.
    `accumulate`: a wider dtype in which reductions run before one final rounding. `include_self`
    False: a touched cell starts from the identity of the reduction. `open_order` says why the
    order of duplicate writers is not promised; then a warning names them, unless they write one
    value for all.
    """
    shape = data.shape if data else output_shape or tuple(axis.size for axis in addressing.axes)
    element = dtype or (data.dtype if data else "")
    return Layout(
        "scatter", addressing, policy, data.name if data else None, shape, element, shape,
        updates, reduction, include_self, accumulate,
        "" if element == "str" and fill == 0 else fill,
        open_order if reduction == "none" and updates.name else "", unspecified,
    )  # fmt: skip
