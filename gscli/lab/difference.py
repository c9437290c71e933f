"""Two tensors held against each other: types, shapes, and which cells differ by how much.

Integers, bool and text must be equal. Other numbers may differ by
`absolute + relative * |expected|`; NaN equals NaN, and infinities equal themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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

    `rtol` None: as the types of both have it.
    """

    rtol: float | None = None
    atol: float = 0.0
    listed: int = MAX_LISTED

    def find_rtol(self, *arrays: Array) -> float:
        """`rtol`, or the largest DEFAULT_RTOL of the arrays' types, 0 where a type has none.

        >>> Tolerance().find_rtol(np.zeros(1, np.float32), np.zeros(1)) == DEFAULT_RTOL["float32"]
        True
        """
        usual = [DEFAULT_RTOL.get(dtype_name(array.dtype), 0.0) for array in arrays]
        return max(usual) * all(usual) if self.rtol is None else self.rtol


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
    `distances`: the greatest distance between two numbers and where it is first, NaN above all
    ("largest"), the greatest that is finite ("largest_finite"), and that of cells within the
    tolerance ("largest_allowed"), as far as there are such numbers. `sample`: numbers of at most
    MAX_SAMPLED differing cells, spread over all of them.
    """

    dtypes: tuple[str, str]
    shapes: tuple[Shape, Shape]
    cell_count: int
    differing_count: int
    cells: tuple[DifferingCell, ...]
    distances: Mapping[str, Distance]
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

    @property
    def allowed_text(self) -> str:
        """How far apart the cells are that are equal by the tolerance alone; "" where none is."""
        allowed = self.distances.get("largest_allowed")
        return f", apart {_format_distance(allowed)}" if allowed else ""

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        document: dict[str, object] = {
            "equal": self.is_equal,
            "dtype": list(self.dtypes),
            "shape": [list(shape) for shape in self.shapes],
            "cells": self.cell_count,
            "different": self.differing_count if self.has_same_shape else None,
            "first": [
                {"at": list(at), "is": to_json(actual), "expected": to_json(expected)}
                for _, at, actual, expected in self.cells[: self.listed]
            ],
        }
        for name, (apart, at) in self.distances.items():
            document[name] = {"difference": to_json(apart), "at": list(at)}
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
    >>> difference.differing_count, difference.cells[0].at, difference.distances["largest"]
    (1, (1,), (3.0, (1,)))
    """
    dtypes = dtype_name(actual.dtype), dtype_name(expected.dtype)
    shapes = actual.shape, expected.shape
    blocks = pair_blocks(pieces or [actual], expected) if actual.shape == expected.shape else ()
    count, cells = 0, list[DifferingCell]()
    distances: dict[str, Distance] = {}
    kept = list[Indices]()
    for first, *pair in blocks:
        own, other = map(decode_bytes, pair)
        places = np.flatnonzero(unequal_cells(own, other))
        if not places.size:
            continue
        own, other, places = own[places], other[places], first + places
        apart, is_near = _measure_distances(own, other, tolerance)
        is_far = ~is_near
        groups = {"largest": is_far, "largest_finite": is_far & np.isfinite(apart)}
        groups = {} if _is_text(own, other) else groups | {"largest_allowed": is_near}
        for name, group in groups.items():
            if group.any():
                number = np.flatnonzero(group)[apart[group].argmax()]
                farthest = float(apart[number]), unravel_place(int(places[number]), shapes[1])
                distances[name] = max(distances.get(name, farthest), farthest, key=_rank_distance)
        own, other, places = own[is_far], other[is_far], places[is_far]
        count += places.size
        if visit is not None:
            visit(places)
        kept.append(places[_sample_positions(places.size)])
        if sum(part.size for part in kept) > 16 * MAX_SAMPLED:  # of any number of blocks
            kept = [np.concatenate(kept)[::2]]
        most = max(tolerance.listed, MAX_LISTED) - len(cells)
        for number, *values in zip(places[:most].tolist(), own, other):  # noqa: B905  the first
            cells.append(DifferingCell(number, unravel_place(number, shapes[1]), *values))
    sample = np.concatenate([np.empty(0, np.int64), *kept])
    sample = sample[_sample_positions(sample.size)]
    facts = (count, tuple(cells), distances, sample, tolerance.listed)
    return TensorDifference(dtypes, shapes, prod(shapes[1]), *facts)


def _sample_positions(count: int) -> Indices:
    """At most MAX_SAMPLED of `count` places, evenly spread, the first and last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, MAX_SAMPLED)).astype(np.int64))


def differing_cells(
    actual: Array, expected: Array, tolerance: Tolerance = DEFAULT_TOLERANCE
) -> BoolArray:
    """For arrays of one shape, which cells differ by more than `tolerance`, as bool."""
    differs = unequal_cells(actual, expected)
    differs[differs] = ~_measure_distances(actual[differs], expected[differs], tolerance)[1]
    return differs


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
    >>> describe_difference(np.array(["a", ""]), np.array(["a", "b"]))
    'output[1] is "", recorded "b"'
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
    quote = '"' * isinstance(cell.actual, str)  # an empty text is seen by them
    return f"{name}{format_shape(cell.at)} is {quote}{mine}{quote}, {noun} {quote}{theirs}{quote}"


def _is_text(*arrays: Array) -> bool:
    return any(array.dtype.kind in "UTSO" for array in arrays)


def _widen(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _measure_distances(
    actual: Array, expected: Array, tolerance: Tolerance
) -> tuple[Array, BoolArray]:
    """How far values lie apart, and which of them no farther than `tolerance`; NaN for text.

    Integers of one type by uint64, which no distance exceeds.
    """
    if _is_text(actual, expected):
        return np.full(actual.shape, np.nan), np.zeros(actual.shape, np.bool_)
    relative = tolerance.find_rtol(actual, expected)
    with np.errstate(all="ignore"):
        theirs = _widen(expected)
        if actual.dtype == expected.dtype and actual.dtype.kind in "iu":
            ends = np.maximum(actual, expected), np.minimum(actual, expected)
            apart = np.asarray(np.subtract(*(end.astype(np.uint64) for end in ends)))
        else:
            apart = np.asarray(np.abs(_widen(actual) - theirs))
        return apart, (apart <= tolerance.atol + relative * np.abs(theirs)) & np.isfinite(theirs)


def _rank_distance(distance: Distance) -> tuple[bool, float]:
    """NaN above all; of equal ones `max` takes the first."""
    return isnan(distance[0]), distance[0]


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
    """Type, shape and cells that differ, each in a sentence; that all are equal in a single one."""
    lines, count = list[str](), format_count(difference.cell_count, "cell")
    if difference.is_equal:
        return [f"equal: all {count}{difference.allowed_text}"]
    if not difference.has_same_dtype:
        lines.append(f"the type is {difference.dtypes[0]}, {name} has {difference.dtypes[1]}")
    if not difference.has_same_shape:
        mine, theirs = map(format_shape, difference.shapes)
        lines.append(f"the shape is {mine}, {name} has {theirs}")
        if len(difference.shapes[0]) == 1 and name.endswith((".csv", ".tsv", ".txt")):
            lines[-1] += f"; a table has two axes always, a .npy file keeps {mine}"
        return lines
    verb = "differs" if difference.differing_count == 1 else "differ"
    line = f"{difference.differing_count:,} of {difference.cell_count:,} cells {verb} from {name}"
    known = map(difference.distances.get, ("largest", "largest_finite"))
    # They are one where it is finite.
    distances = ", where finite ".join(map(_format_distance, dict.fromkeys(filter(None, known))))
    line += f", {distances}" if distances else ""
    allowed = difference.allowed_text.removeprefix(", ")
    return [*lines, f"{line}; those that count as equal are {allowed}" if allowed else line]


def _format_distance(distance: Distance) -> str:
    apart, at = distance
    return f"by {'nan' if isnan(apart) else f'{apart:g} at most'}, at {format_shape(at)}"


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
