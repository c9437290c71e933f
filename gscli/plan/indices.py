"""Index numbers: where they stand, one view for each column, and what a policy makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from math import prod
from operator import and_
from typing import Literal, TypeAlias

import numpy as np

from gscli.base import CannotRead, IndexRefused
from gscli.base.arrays import (
    Array,
    Arrays,
    BoolArray,
    Indices,
    LiveIndices,
    dtype_name,
    unravel_place,
)
from gscli.base.records import Record, cached_property
from gscli.base.words import format_count
from gscli.layout import Layout
from gscli.layout.axes import (
    INT32_MAX,
    Axis,
    Column,
    Consecutive,
    MaskPositions,
    Negative,
    OutOfBounds,
    Policy,
    SegmentNumbers,
    Shape,
    Truncation,
)

# Entries judged or resolved at a time: their addresses stay in the second-level cache.
BLOCK = 1 << 16

# Entries up to which a call takes longer than its work.
SMALL_CALL_ENTRIES = 1024

# NumPy's flat iterators stop there; arrays may have 64 axes.
MOST_FLATITER_AXES = 32


# What becomes of an index number; `gscli.plan.outcomes` says how it is told.
IndexOutcome: TypeAlias = Literal[
    "cut", "from_end", "narrowed", "wrapped", "clipped", "unsigned",
    "below", "ignored", "outside", "partly", "refused",
]  # fmt: skip

# Which sign stands beside a number in a picture.
OutcomeSign: TypeAlias = Literal["wrapped", "clipped", "skipped"]


class BoundLayout:
    """A layout with the arrays that it was made for, and where their index numbers stand.

    `inputs`: arrays by argument name, of the shapes and dtypes that the layout was made from; the
    index numbers that the layout makes itself are put beside them.
    """

    def __init__(self, layout: Layout, inputs: Arrays) -> None:
        self.layout, self.inputs = layout, inputs
        if layout.addressing.generated:
            self.inputs = {**inputs, **_made_numbers(layout, inputs)}

    def __reduce__(self) -> tuple[type[BoundLayout], tuple[Layout, Arrays]]:
        """Pickled without what was computed from these two."""
        return type(self), (self.layout, self.inputs)

    @cached_property
    def columns(self) -> tuple[Array, ...]:
        """One view per index column, broadcast to the entry grid, in the indices' own type."""
        entries = self.layout.addressing.entry_shape
        views = []
        for column in self.layout.addressing.columns:
            view = self.input_column(column)
            views.append(view if view.shape == entries else np.broadcast_to(view, entries))
        return tuple(views)

    def input_column(self, column: Column) -> Array:
        """The numbers of one column in the shape of their input."""
        array = self.inputs[column.source]
        if column.component is None or column.vector_dim is None:
            return array
        return array[(slice(None),) * column.vector_dim + (column.component,)]

    @cached_property
    def _flat_columns(self) -> tuple[Array | np.flatiter[Array], ...]:
        return tuple([self._flat_view(*pair) for pair in enumerate(self.columns)])

    def _flat_view(self, number: int, view: Array) -> Array | np.flatiter[Array]:
        """One column as something that slices flat without a copy of all of it."""
        if view.ndim <= 1 or view.flags.c_contiguous:
            return view.reshape(-1)
        column = self.layout.addressing.columns[number]
        source = self.inputs[column.source]
        last = column.vector_dim == source.ndim - 1 and source.shape[:-1] == view.shape
        if last and source.flags.c_contiguous:
            return source.reshape(-1, source.shape[-1])[:, column.component]
        return view.flat if view.ndim <= MOST_FLATITER_AXES else view.reshape(-1)

    def raw_indices(self, column: int, first: int, last: int) -> Array:
        """Index numbers as written, entries `first` … `last`-1, in their own dtype."""
        return np.asarray(self._flat_columns[column][first:last])

    def iter_numbers(
        self, column: int, entries: range | None = None
    ) -> Iterator[tuple[int, Array]]:
        """Blocks of the index numbers of some entries as written, and where each begins.

        Without `entries` of all numbers: one that stretches to several entries stands there once.
        """
        own, count = self._own_numbers(column), self.layout.entry_count
        places = range(min(own.size, count)) if entries is None else entries
        stretches = entries is None and own.size < count
        flat = own.reshape(-1) if stretches else self._flat_columns[column]
        for begin in places[::BLOCK]:
            yield begin, np.asarray(flat[begin : min(begin + BLOCK, places.stop)])

    def first_entry(self, column: int, number: int) -> int:
        """The first entry for which one of all numbers of a column stands."""
        own, entries = self._own_numbers(column), self.layout.addressing.entry_shape
        aligned = (0,) * (len(entries) - own.ndim) + unravel_place(number, own.shape)
        return int(np.ravel_multi_index(aligned, entries)) if entries else 0

    def _own_numbers(self, column: int) -> Array:
        return self.input_column(self.layout.addressing.columns[column])

    def entry_coordinates(self, first: int, last: int) -> tuple[Indices, ...]:
        """Position of each entry in the entry grid, one array per grid axis."""
        return unravel_range(first, last, self.layout.addressing.entry_shape)

    def index_vector(self, entry: int) -> tuple[int | float, ...]:
        """The numbers of one entry as written."""
        return tuple(np.asarray(numbers[entry]).item() for numbers in self._flat_columns)

    def index_place(self, column: int, entry: int) -> tuple[str, tuple[int, ...], int | None]:
        """The input and position of a number, or of the True cell of a mask that it stands for, and
        its axis of data, None where that is flat.
        """
        layout = self.layout
        axis = layout.data_axis(layout.column_axes[column])
        source = layout.addressing.columns[column].source
        recipe = layout.addressing.recipe(source)
        if isinstance(recipe, MaskPositions):
            return recipe.mask, tuple(map(int, self.index_vector(entry))), axis
        return source, self.index_position(column, entry), axis

    def index_position(self, column: int, entry: int) -> tuple[int, ...]:
        """Where in its input the number of this column and entry stands."""
        declared = self.layout.addressing.columns[column]
        grid = [int(at[0]) for at in self.entry_coordinates(entry, entry + 1)]
        shape = list(self.inputs[declared.source].shape)
        if declared.vector_dim is not None:
            del shape[declared.vector_dim]
        kept = grid[len(grid) - len(shape) :]
        position = [0 if size == 1 else int(at) for at, size in zip(kept, shape, strict=True)]
        if declared.vector_dim is not None and declared.component is not None:
            position.insert(declared.vector_dim, declared.component)
        return tuple(position)


def _made_numbers(layout: Layout, inputs: Arrays) -> dict[str, Indices]:
    """The index numbers of slices, of masks' True cells in row-major order, and that follow."""
    trues: dict[str, tuple[Indices, ...]] = {}
    made: dict[str, Indices] = {}
    for name, numbers, shape in layout.addressing.generated:
        if isinstance(numbers, range):
            made[name] = np.arange(numbers.start, numbers.stop, numbers.step).reshape(shape)
        elif isinstance(numbers, Consecutive):
            made[name] = _make_consecutive(numbers, inputs[numbers.source]).reshape(shape)
        elif isinstance(numbers, SegmentNumbers):
            made[name] = number_segments(numbers, inputs[numbers.source], shape)
        else:
            if numbers.mask not in trues:
                trues[numbers.mask] = true_cells(inputs[numbers.mask], numbers.shape)
            cells = trues[numbers.mask][numbers.axis]
            if cells.size != prod(shape):  # the layout counted others
                raise make_change_error(numbers.mask)
            made[name] = cells.reshape(shape)
    return made


def _make_consecutive(numbers: Consecutive, source: Array) -> Indices:
    first = source.astype(np.int64, copy=False)[..., None]
    near = first > np.iinfo(np.int64).max - numbers.steps  # the sum would wrap in its type
    first = np.where(near, first % max(numbers.size, 1), first) if numbers.size else first
    return first + np.arange(numbers.steps)


def number_segments(numbers: SegmentNumbers, source: Array, grid: Shape) -> Indices:
    """The segment of each position of a grid; IndexRefused where lengths or offsets do not fit it.

    >>> number_segments(SegmentNumbers("lengths", False, True), np.array([2, 0, 1]), (3,))
    array([0, 0, 2])
    """
    size = grid[-1]
    # Beyond the axis as far as one cell is enough to be refused, and sums stay small.
    written = np.clip(source.astype(np.int64), -1, size + 1)
    before = np.zeros((*source.shape[:-1], source.shape[-1] + 1), np.int64)
    if numbers.are_offsets:
        offsets, before[..., 1:] = written, written
        low, high = before[..., :-1], np.full(source.shape, size)
        if numbers.is_strict:
            high[..., :1] = 0
    else:
        np.cumsum(written, -1, out=before[..., 1:])
        offsets, high = before, size - before[..., :-1]
        low = np.zeros_like(high)
    if numbers.is_strict and numbers.has_end:
        low[..., -1:] = high[..., -1:]
    bad = np.argwhere((written < low) | (written > high))
    if bad.size:
        place = tuple(bad[0].tolist())
        at, least, most = ",".join(map(str, place)), int(low[place]), int(high[place])
        limit = "" if numbers.is_strict else "at most "
        meaning = f"the sizes of the segments, which add up to {limit}{size}"
        if numbers.are_offsets:
            end = " and, one more, where the last one ends" * numbers.has_end
            meaning = f"where segments begin{end}, ascending: 0 … {size}"
        raise IndexRefused(
            f"{numbers.source} do not fit the axis",
            where=f"{numbers.source}[{at}] = {source[place]}",
            details=(f"the axis has {format_count(size, 'cell')}",),
            valid=str(most) if least == most else f"{least} … {most}",
            hint=f"{numbers.source} are {meaning}",
        )
    lines = offsets.reshape(prod(grid[:-1]), offsets.shape[-1])
    segments, positions = np.empty(grid, np.int64), np.arange(size)
    for own, row in zip(lines, np.ndindex(grid[:-1]), strict=True):
        segments[row] = np.searchsorted(own, positions, "right") - 1
    return segments


def true_cells(mask: Array, shape: Shape) -> tuple[Indices, ...]:
    """Positions of the True cells of a mask stretched to a shape, one array for each axis.

    They are those of a copy, which nobody writes to between NumPy's count and its walk.

    >>> true_cells(np.array([False, True]), (2, 2))
    (array([0, 1]), array([1, 1]))
    """
    return np.nonzero(np.broadcast_to(mask.copy(), shape))


def make_change_error(name: str) -> CannotRead:
    """The error of an input that somebody writes to during the run."""
    return CannotRead(f"{name} changed while it was read", where=name)


def unravel_range(first: int, last: int, shape: Shape) -> tuple[Indices, ...]:
    """Coordinates of the row-major numbers `first` … `last`-1 in a grid; () for rank 0.

    >>> unravel_range(1, 3, (2, 2))
    (array([0, 1]), array([1, 0]))
    """
    if not shape:
        return ()
    return tuple(np.unravel_index(np.arange(first, last, dtype=np.int64), shape))


# --- policies at work: numbers as written become coordinates, one column at a time ---------------

# Numbers that Python looks through in less time than one of NumPy's calls takes.
_SMALL_COUNT = 16

_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def legal_range(axis: Axis, policy: Policy) -> tuple[int, int]:
    """Smallest and largest index that the axis takes without `OutOfBounds`.

    >>> legal_range(Axis(4, column=0), Policy())
    (-4, 3)
    """
    return -axis.size * (policy.negative is Negative.FROM_END), axis.size - axis.reach


def format_legal_range(axis: Axis, policy: Policy) -> str:
    """The numbers that `fits_axis` takes of an axis with cells, in words.

    >>> format_legal_range(Axis(4, 0, window=0, span=2), Policy())
    '-4 … -2 or 0 … 2'
    """
    low, high = legal_range(axis, policy)
    spans = [(low, -axis.reach), (0, high)] if low < 0 and axis.reach > 1 else [(low, high)]
    return " or ".join(str(a) if a == b else f"{a} … {b}" for a, b in spans)


def fits_axis(numbers: Array, axis: Axis, policy: Policy) -> BoolArray:
    """Which numbers the axis takes without `OutOfBounds`, so that NaN is none of them.

    Where numbers count from the end, a window that begins in the last cells is too long for them.

    >>> fits_axis(np.array([-4, -2, -1, 2, 3]), Axis(4, 0, window=0, span=2), Policy())
    array([ True,  True, False,  True, False])
    """
    low, high = legal_range(axis, policy)
    fits = (numbers >= low) & (numbers <= high)
    if low < 0 and axis.reach > 1:
        fits &= (numbers >= 0) | (numbers <= -axis.reach)
    return fits


def max_as_unsigned(numbers: Array) -> int:
    """The largest of some whole numbers read as unsigned, so that a negative one is very large.

    >>> max_as_unsigned(np.array([3, 1])), max_as_unsigned(np.array([3, -1], np.int8))
    (3, 255)
    """
    if numbers.size <= _SMALL_COUNT:
        span = 1 << 8 * numbers.itemsize
        few: list[int] = numbers.reshape(-1).tolist()
        return max(few) if min(few) >= 0 else max([number % span for number in few])
    unsigned = numbers if numbers.dtype.kind == "u" else numbers.view(_UNSIGNED[numbers.itemsize])
    return int(np.maximum.reduce(unsigned, axis=None))


def wrap_negative(numbers: Indices, size: int) -> Indices:
    """Numbers of which the negative ones count from the end of an axis; nothing is judged.

    >>> wrap_negative(np.array([-1, 2, -5]), 4)
    array([ 3,  2, -1])
    """
    resolved = numbers >> 63
    resolved &= size
    resolved += numbers
    return resolved


def describe_out_of_range(numbers: Array, axis: Axis, policy: Policy) -> BoolArray | None:
    """Which numbers must be refused, or None when none can be."""
    if numbers.size == 0:
        return None
    if policy.out_of_bounds is not OutOfBounds.RAISE:
        moves = policy.out_of_bounds is not OutOfBounds.SKIP
        # A window on an empty axis is empty itself: it fits, and nothing is read or written.
        if moves and axis.size == 0 and axis.window is None:
            return np.ones(numbers.shape, np.bool_)
        # A number that is not finite has no nearest row and no remainder.
        return ~np.isfinite(numbers) if numbers.dtype.kind == "f" else None
    low, high = legal_range(axis, policy)
    if policy.truncates_fractions and numbers.dtype.kind == "f":
        numbers = np.trunc(numbers)
    largest = np.maximum.reduce(numbers, axis=None)
    smallest = np.minimum.reduce(numbers, axis=None)
    if policy.negative is Negative.SKIP:
        return None if largest <= high else numbers > high
    if smallest >= (low if axis.reach == 1 else 0) and largest <= high:
        return None
    refused = ~fits_axis(numbers, axis, policy)
    return refused if policy.ignored is None else refused & (numbers != policy.ignored)


def apply_policy(numbers: Array, axis: Axis, policy: Policy) -> LiveIndices:
    """Index numbers as coordinates, and which of them are live (None: all).

    Compared in their own type first: uint64 2^64-1 is out of range, never -1.

    >>> apply_policy(
    ...     np.array([-1, 5, 1]), Axis(3, column=0), Policy(out_of_bounds=OutOfBounds.CLIP)
    ... )
    (array([2, 2, 1]), None)
    """
    if numbers.dtype.kind == "f":
        numbers = _truncate_fractions(numbers, axis, policy)
    _, high = legal_range(axis, policy)
    if policy.truncation is Truncation.BEFORE_NEGATIVE:
        numbers = numbers.astype(np.int32)
    above = numbers >= 0 if policy.negative is Negative.SKIP else None
    live = merge_live((above, None if policy.ignored is None else numbers != policy.ignored))
    cut = policy.truncation in (Truncation.AFTER_NEGATIVE, Truncation.UNSIGNED)
    if numbers.dtype == np.uint64 and not cut:
        numbers = _reduce_uint64(numbers, axis, policy)
    resolved = numbers.astype(np.int64)
    if policy.negative is Negative.FROM_END and numbers.dtype.kind != "u":
        resolved = wrap_negative(resolved, axis.size)
    if cut:
        kind = np.int32 if policy.truncation is Truncation.AFTER_NEGATIVE else np.uint32
        resolved = resolved.astype(kind).astype(np.int64)
    if policy.out_of_bounds is OutOfBounds.WRAP:
        np.remainder(resolved, max(axis.size, 1), out=resolved)
    elif policy.out_of_bounds is OutOfBounds.CLIP:
        np.clip(resolved, 0, max(high, 0), out=resolved)
    elif policy.out_of_bounds is OutOfBounds.SKIP and (policy.is_atomic or axis.reach == 1):
        live = merge_live((live, (resolved >= 0) & (resolved <= high)))
    return resolved, live


def merge_live(masks: Iterable[BoolArray | None]) -> BoolArray | None:
    """What is live under each of some masks; None, as in these, for all.

    >>> merge_live([None, np.array([True, False])])
    array([ True, False])
    """
    known = [mask for mask in masks if mask is not None]
    return reduce(and_, known) if known else None


def _reduce_uint64(numbers: Array, axis: Axis, policy: Policy) -> Array:
    """Numbers of type uint64 brought into the range of int64 without becoming negative."""
    if policy.out_of_bounds is OutOfBounds.WRAP:
        return numbers % np.uint64(max(axis.size, 1))
    return np.minimum(numbers, np.uint64(axis.size + 1))


def _truncate_fractions(numbers: Array, axis: Axis, policy: Policy) -> Array:
    """Fractional indices (MXNet) are cut; where negatives count from the end, the size is added
    before, in their own type, and the remainder taken after (apache/mxnet#17208).
    """
    from_end = policy.negative is Negative.FROM_END
    bound = float(1 << 62)
    with np.errstate(over="ignore"):
        moved = numbers + axis.size if from_end else numbers
    finite = np.nan_to_num(moved.astype(np.float64), nan=-bound, posinf=bound, neginf=-bound)
    whole: Array = np.clip(finite, -bound, bound).astype(np.int64)
    return whole % max(axis.size, 1) if from_end else whole


class IndexProfile(Record):
    """Which index numbers occur: below zero, and out of range after counting from the end."""

    negative: bool = False
    out_of_range: bool = False
    fractional: bool = False
    endless: bool = False
    exceeds_int32: bool = False
    exceeds_int63: bool = False


def profile_indices(numbers: Array, axis: Axis, policy: Policy) -> IndexProfile:
    """What occurs among some index numbers; truths count as 0 and 1.

    >>> profile_indices(np.array([0, -1, 7]), Axis(3, column=0), Policy())[:2]
    (True, True)
    >>> profile_indices(np.array([True]), Axis(1, column=0), Policy()).out_of_range
    True
    >>> any(profile_indices(np.zeros(0, np.int64), Axis(1, column=0), Policy()))
    False
    """
    if not numbers.size:
        return IndexProfile()
    if dtype_name(numbers.dtype) == "bool":
        numbers = numbers.astype(np.uint8)
    fractional = endless = False
    if numbers.dtype.kind == "f":
        endless = not np.isfinite(numbers).all()
        fractional = not endless and bool((np.floor(numbers) != numbers).any())
    smallest, largest = numbers.min().item(), numbers.max().item()
    is_outside = not fits_axis(numbers, axis, policy).all()
    exceeds_int32 = bool(largest > INT32_MAX or smallest < -INT32_MAX - 1)
    sizes = exceeds_int32, numbers.dtype == np.uint64 and largest >= 2**63
    return IndexProfile(bool(smallest < 0), is_outside, fractional, endless, *sizes)


def merge_profiles(entries: tuple[IndexProfile, ...]) -> IndexProfile:
    """What occurs in any of the columns."""
    return IndexProfile(*map(any, zip(*entries, strict=True)))
