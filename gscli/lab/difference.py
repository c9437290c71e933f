"""Two tensors held against each other: types, shapes, and which cells differ by how much.

Integers, bool and text must be equal. Other numbers may differ by
`absolute + relative * |expected|`; NaN equals NaN, and infinities equal themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isnan, prod
from typing import TypeAlias

import numpy as np

from gscli.base.arrays import (
    Array,
    BoolArray,
    Indices,
    decode_bytes,
    dtype_name,
    to_json,
    unequal_cells,
    unravel_place,
)
from gscli.base.records import Record
from gscli.base.words import format_count, format_shape, sanitize
from gscli.disk import mapped
from gscli.layout import Layout
from gscli.layout.axes import Shape

# Sums and products may be rounded in another order than the expectation's: a few last bits.
DEFAULT_RTOL = {
    "float16": 4e-3,
    "bfloat16": 2e-2,
    "float32": 1e-6,
    "float64": 1e-14,
    "complex64": 1e-6,
    "complex128": 1e-14,
}

# Differing cells that are described one by one, unless another number is asked for.
MAX_LISTED = 20

# Differing cells, evenly spread, whose numbers are kept.
MAX_SAMPLED = 1024

# Cells compared at a time, so that mapped files need no memory of their own.
BLOCK = 1 << 20


class Tolerance(Record):
    """How far numbers may be apart, and how many cells that are farther are listed.

    `rtol` None: DEFAULT_RTOL, of two types the larger one, 0 where a type has none.
    """

    rtol: float | None = None
    atol: float = 0.0
    listed: int = MAX_LISTED


DEFAULT_TOLERANCE = Tolerance()


# How far two numbers are apart, and at which place.
Distance: TypeAlias = tuple[float, tuple[int, ...]]


class DifferingCell(Record):
    """One differing cell: its flat number, place and both values."""

    number: int
    at: tuple[int, ...]
    actual: object
    expected: object


class TensorDifference(Record):
    """What a comparison found. Cells are compared only where the shapes are equal.

    `differing_count` of `cell_count` cells differ, the first of them are `cells`, of which
    `listed` are told one by one;
    `largest` is the greatest distance between two numbers, NaN above all, and where it is first
    (None: text), `largest_finite` the greatest that is finite. `sample`: numbers of at most
    MAX_SAMPLED differing cells, spread over all of them.
    """

    dtypes: tuple[str, str]
    shapes: tuple[Shape, Shape]
    cell_count: int
    differing_count: int
    cells: tuple[DifferingCell, ...]
    largest: Distance | None
    largest_finite: Distance | None
    sample: Indices
    listed: int

    @property
    def is_equal(self) -> bool:
        """Same type, same shape, no cell apart."""
        return self.has_same_dtype and self.has_same_shape and not self.differing_count

    @property
    def has_same_dtype(self) -> bool:
        """Whether both have one element type."""
        return self.dtypes[0] == self.dtypes[1]

    @property
    def has_same_shape(self) -> bool:
        """Whether both have one shape."""
        return self.shapes[0] == self.shapes[1]

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        document: dict[str, object] = {
            "equal": self.is_equal,
            "dtype": list(self.dtypes),
            "shape": [list(shape) for shape in self.shapes],
            "cells": self.cell_count,
            "different": self.differing_count,
            "first": [
                {"at": list(at), "is": to_json(actual), "expected": to_json(expected)}
                for _, at, actual, expected in self.cells[: self.listed]
            ],
        }
        for name in ("largest", "largest_finite"):
            distance: Distance | None = getattr(self, name)
            if distance is not None:
                document[name] = {"difference": to_json(distance[0]), "at": list(distance[1])}
        return document


def compare_tensors(
    actual: Array,
    expected: Array,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    visit: Callable[[Indices], None] | None = None,
    pieces: Iterable[Array] = (),
) -> TensorDifference:
    """Hold `actual` against `expected`; `visit` gets the numbers of differing cells in order.

    `pieces`: the cells of `actual` in row-major order, where they are not read of the array itself.

    >>> difference = compare_tensors(np.array([1, 2, 3]), np.array([1, 5, 3]))
    >>> difference.differing_count, difference.cells[0].at, difference.largest
    (1, (1,), (3.0, (1,)))
    """
    dtypes = dtype_name(actual.dtype), dtype_name(expected.dtype)
    shapes = actual.shape, expected.shape
    blocks = pair_blocks(pieces or [actual], expected) if actual.shape == expected.shape else ()
    count, cells = 0, list[DifferingCell]()
    largest: Distance | None = None
    largest_finite: Distance | None = None
    kept = list[Indices]()
    for first, *pair in blocks:
        own, other = map(decode_bytes, pair)
        numbers = np.flatnonzero(differing_cells(own, other, tolerance))
        if not numbers.size:
            continue
        count += numbers.size
        if visit is not None:
            visit(first + numbers)
        kept.append(first + numbers[_sample_positions(numbers.size)])
        if sum(part.size for part in kept) > 16 * MAX_SAMPLED:  # of any number of blocks
            kept = [np.concatenate(kept)[::2]]
        for number in numbers[: max(tolerance.listed, MAX_LISTED) - len(cells)].tolist():
            at = unravel_place(first + number, shapes[1])
            cells.append(DifferingCell(first + number, at, own[number], other[number]))
        if _is_text(own, other):
            continue
        with np.errstate(all="ignore"):
            apart, places = _measure_distances(own[numbers], other[numbers]), first + numbers
        is_finite = np.isfinite(apart)
        largest = _choose_larger(largest, apart, places, shapes[1])
        apart, places = apart[is_finite], places[is_finite]
        largest_finite = _choose_larger(largest_finite, apart, places, shapes[1])
    sample = np.concatenate([np.empty(0, np.int64), *kept])
    sample = sample[_sample_positions(sample.size)]
    facts = (count, tuple(cells), largest, largest_finite, sample, tolerance.listed)
    return TensorDifference(dtypes, shapes, prod(shapes[1]), *facts)


def _sample_positions(count: int) -> Indices:
    """At most MAX_SAMPLED of `count` places, evenly spread, the first and last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, MAX_SAMPLED)).astype(np.int64))


def differing_cells(
    actual: Array, expected: Array, tolerance: Tolerance = DEFAULT_TOLERANCE
) -> BoolArray:
    """For arrays of one shape, which cells differ by more than `tolerance`, as bool."""
    unequal = unequal_cells(actual, expected)
    usual = [DEFAULT_RTOL.get(dtype_name(array.dtype), 0.0) for array in (actual, expected)]
    relative = max(usual) * all(usual) if tolerance.rtol is None else tolerance.rtol
    if _is_text(actual, expected) or not unequal.any():
        return unequal
    with np.errstate(all="ignore"):
        theirs = _widen(expected)
        allowed = tolerance.atol + relative * np.abs(theirs)
        near = (_measure_distances(actual, expected) <= allowed) & np.isfinite(theirs)
    return np.asarray(unequal & ~near)


def describe_difference(
    actual: Array,
    expected: Array,
    name: str = "output",
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    noun: str = "recorded",
) -> str:
    """The first difference of a tensor in words; "" when equal within the tolerance.

    >>> describe_difference(np.array([1, 2]), np.array([1, 3]))
    'output[1] is 2, recorded 3'
    """
    alike = actual.dtype == expected.dtype and actual.shape == expected.shape
    if alike and actual.tobytes() == expected.tobytes():
        return ""
    difference = compare_tensors(actual, expected, tolerance)
    facts = {"dtype": difference.dtypes, "shape": map(format_shape, difference.shapes)}
    for fact, (mine, theirs) in facts.items():
        if mine != theirs:
            return f"{fact} is {mine}, {noun} {theirs}"
    if difference.is_equal:
        return ""
    cell = difference.cells[0]
    mine, theirs = (sanitize(str(value), 60) for value in (cell.actual, cell.expected))
    return f"{name}{format_shape(cell.at)} is {mine}, {noun} {theirs}"


def _is_text(*arrays: Array) -> bool:
    return any(array.dtype.kind in "UTSO" for array in arrays)


def _widen(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _measure_distances(actual: Array, expected: Array) -> Array:
    """How far numbers lie apart: integers of one type by uint64, which no distance exceeds."""
    if actual.dtype == expected.dtype and actual.dtype.kind in "iu":
        ends = np.maximum(actual, expected), np.minimum(actual, expected)
        return np.asarray(np.subtract(*(end.astype(np.uint64) for end in ends)))
    return np.asarray(np.abs(_widen(actual) - _widen(expected)))


def _choose_larger(
    best: Distance | None, apart: Array, places: Indices, shape: Shape
) -> Distance | None:
    """The first of the greatest of a distance and those (n,) at further places, NaN above all."""
    if not apart.size:
        return best
    number = int(apart.argmax())
    most = float(apart[number])
    if best is not None and not np.argmax([best[0], most]):
        return best
    return most, unravel_place(int(places[number]), shape)


def pair_blocks(pieces: Iterable[Array], expected: Array) -> Iterator[tuple[int, Array, Array]]:
    """Pieces of a result beside the expected cells, in row-major order, a block at a time.

    Pages of files are let go after each.
    """
    first, flat = 0, np.asarray(expected).reshape(-1)
    for piece in pieces:
        values = np.asarray(piece).reshape(-1)
        for start in range(0, values.size, BLOCK):
            part = values[start : start + BLOCK]
            yield first, part, flat[first : first + part.size]
            first += part.size
            # What was written over a file is not let go: it would be lost.
            mapped.release_pages(*(a for a in (piece, expected) if not a.flags.writeable))


def difference_sentences(difference: TensorDifference, name: str) -> list[str]:
    """Type, shape and cells that differ, each in a sentence."""
    lines = []
    if not difference.has_same_dtype:
        lines.append(f"the type is {difference.dtypes[0]}, {name} has {difference.dtypes[1]}")
    if not difference.has_same_shape:
        mine, theirs = map(format_shape, difference.shapes)
        lines.append(f"the shape is {mine}, {name} has {theirs}")
        if len(difference.shapes[0]) == 1 and name.endswith((".csv", ".tsv", ".txt")):
            lines[-1] += f"; a table has two axes always, a .npy file keeps {mine}"
        return lines
    if not difference.differing_count:
        return [*lines, f"0 of {format_count(difference.cell_count, 'cell')} differ"]
    count = difference.differing_count
    verb = "differs" if count == 1 else "differ"
    line = f"{count:,} of {difference.cell_count:,} cells {verb} from {name}"
    most = dict.fromkeys((difference.largest, difference.largest_finite))  # one where it is finite
    parts = (
        f"by {'nan' if isnan(apart) else f'{apart:g} at most'}, at {format_shape(at)}"
        for apart, at in filter(None, most)
    )
    distances = ", where finite ".join(parts)
    return [*lines, f"{line}, {distances}" if distances else line]


class SliceCounter:
    """Counts slices by the flat cells in them, which come in blocks.

    `shape` is that of the result, `window` says of each axis whether it lies inside a slice.

    >>> slices = SliceCounter((2, 2, 3), (False, False, True))
    >>> slices.add(np.array([0, 2, 3]))
    >>> slices.add(np.array([4, 11]))
    >>> slices.count
    3
    """

    def __init__(self, shape: Shape, window: tuple[bool, ...]) -> None:
        self._shape = shape
        self._own = [axis for axis, inside in enumerate(window) if not inside]
        # Pages of zeros that nothing is written to take no memory.
        self._flags = np.zeros([shape[axis] for axis in self._own], np.bool_)

    @property
    def count(self) -> int:
        """How many slices were met."""
        return int(np.count_nonzero(self._flags))

    def add(self, cells: Indices) -> None:
        """Count the slices that hold these cells."""
        places = np.unravel_index(cells, self._shape)
        self._flags[tuple(places[axis] for axis in self._own)] = True


def count_slices(layout: Layout) -> SliceCounter | None:
    """What counts the slices of a result; None where entries move single cells."""
    if layout.fold is not None:
        return count_slices(layout.fold.scatter)
    if layout.window_size == 1 or not layout.output_size:
        return None
    if layout.kind == "gather":
        depth = len(layout.addressing.entry_shape)
        window = tuple(axis >= depth for axis in layout.addressing.result_axes)
        return SliceCounter(layout.result_shape, window)
    free = tuple(axis.column is None and axis.entry is None for axis in layout.axes)
    return SliceCounter(layout.view_shape, free)
