"""Two tensors held against each other: types, shapes, and which cells differ by how much.

Integers, bool and text must be equal. Other numbers may differ by
`absolute + relative * |expected|`; NaN equals NaN, and infinities equal themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import TypeAlias

import numpy as np

from gscli.base.arrays import Array, Indices, dtype_name, plain
from gscli.base.records import Record
from gscli.base.words import counted, show_shape
from gscli.disk import mapped
from gscli.layout.axes import Shape

RELATIVE = {
    "float16": 4e-3,
    "bfloat16": 2e-2,
    "float32": 1e-6,
    "float64": 1e-14,
    "complex64": 1e-6,
    "complex128": 1e-14,
}
"""Sums and products may be rounded in another order than the expectation's: a few last bits."""

LISTED = 20
"""Differing cells that are described one by one."""

SAMPLED = 1024
"""Differing cells, evenly spread, whose numbers are kept."""

BLOCK = 1 << 20
"""Cells compared at a time, so that mapped files need no memory of their own."""

Blocks: TypeAlias = Iterable[tuple[int, Array, Array]]
"""Two tensors of one shape in row-major order: the number of the first cell, and flat parts."""


class Tolerance(Record):
    """How far numbers may be apart; None: RELATIVE of the expected type, 0 for all others."""

    relative: float | None = None
    absolute: float = 0.0

    def relative_of(self, dtype: str) -> float:
        """The relative tolerance for an element type.

        >>> Tolerance().relative_of("float32"), Tolerance(0.1).relative_of("float32")
        (1e-06, 0.1)
        """
        return RELATIVE.get(dtype, 0.0) if self.relative is None else self.relative


class Cell(Record):
    """One differing cell: its flat number, place and both values."""

    number: int
    at: tuple[int, ...]
    actual: object
    expected: object


class Difference(Record):
    """What a comparison found. Cells are compared only where the shapes are equal.

    `different` of `total` cells differ, the first LISTED of them are `cells`; `largest` is the
    greatest distance between two numbers, and where it is (None: no finite one, or text). `sample`:
    numbers of at most SAMPLED differing cells, spread over all of them.
    """

    dtypes: tuple[str, str]
    shapes: tuple[Shape, Shape]
    total: int
    different: int
    cells: tuple[Cell, ...]
    largest: tuple[float, tuple[int, ...]] | None
    sample: Indices

    @property
    def equal(self) -> bool:
        """Same type, same shape, no cell apart."""
        return self.same_type and self.same_shape and not self.different

    @property
    def same_type(self) -> bool:
        """Whether both have one element type."""
        return self.dtypes[0] == self.dtypes[1]

    @property
    def same_shape(self) -> bool:
        """Whether both have one shape."""
        return self.shapes[0] == self.shapes[1]

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        found: dict[str, object] = {
            "equal": self.equal,
            "dtype": list(self.dtypes),
            "shape": [list(shape) for shape in self.shapes],
            "cells": self.total,
            "different": self.different,
            "first": [
                {"at": list(cell.at), "is": plain(cell.actual), "expected": plain(cell.expected)}
                for cell in self.cells
            ],
        }
        if self.largest is not None:
            found["largest"] = {"difference": self.largest[0], "at": list(self.largest[1])}
        return found


def difference(
    actual: Array,
    expected: Array,
    tolerance: Tolerance = Tolerance(),  # noqa: B008  immutable
    met: Callable[[Indices], None] | None = None,
) -> Difference:
    """Hold `actual` against `expected`; `met` is told the numbers of differing cells in order.

    >>> found = difference(np.array([1, 2, 3]), np.array([1, 5, 3]))
    >>> found.different, found.cells[0].at, found.largest
    (1, (1,), (3.0, (1,)))
    """
    dtypes = dtype_name(actual.dtype), dtype_name(expected.dtype)
    shapes = actual.shape, expected.shape
    same = actual.shape == expected.shape
    return compared(_blocks(actual, expected) if same else (), dtypes, shapes, tolerance, met)


def compared(
    blocks: Blocks,
    dtypes: tuple[str, str],
    shapes: tuple[Shape, Shape],
    tolerance: Tolerance,
    met: Callable[[Indices], None] | None = None,
) -> Difference:
    """The same for tensors that come block by block; none come where the shapes differ."""
    count, cells = 0, list[Cell]()
    largest: tuple[float, tuple[int, ...]] | None = None
    kept = list[Indices]()
    for first, one, other in blocks:
        numbers = np.flatnonzero(different(one, other, tolerance))
        if not numbers.size:
            continue
        count += numbers.size
        if met is not None:
            met(first + numbers)
        kept = _thinned([*kept, first + numbers[_spread(numbers.size)]])
        for number in numbers[: LISTED - len(cells)].tolist():
            at = _place(first + number, shapes[1])
            cells.append(Cell(first + number, at, one[number], other[number]))
        most = _farthest(one[numbers], other[numbers])
        if most is not None and (largest is None or most[0] > largest[0]):
            largest = most[0], _place(first + int(numbers[most[1]]), shapes[1])
    sample = np.concatenate([np.empty(0, np.int64), *kept])
    sample = sample[_spread(sample.size)]
    return Difference(dtypes, shapes, prod(shapes[1]), count, tuple(cells), largest, sample)


def _spread(count: int) -> Indices:
    """At most SAMPLED of `count` places, evenly spread, the first and last among them."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, SAMPLED)).astype(np.int64))


def _thinned(kept: list[Indices]) -> list[Indices]:
    """Half of what was kept, where it is too much to be kept of any number of blocks."""
    if sum(part.size for part in kept) <= 16 * SAMPLED:
        return kept
    return [np.concatenate(kept)[::2]]


def different(actual: Array, expected: Array, tolerance: Tolerance = Tolerance()) -> Array:  # noqa: B008  immutable
    """For arrays of one shape, which cells differ, as bool."""
    if actual.dtype.kind in "UTSO" or expected.dtype.kind in "UTSO":
        return np.asarray(actual.astype(np.str_) != expected.astype(np.str_))
    equal = np.asarray(actual == expected)
    name = dtype_name(expected.dtype)
    relative = tolerance.relative_of(name)
    if equal.all() or not (
        _rounded(actual) or _rounded(expected) or relative or tolerance.absolute
    ):
        return np.asarray(~equal)
    one, other = _wide(actual), _wide(expected)
    with np.errstate(all="ignore"):
        near = np.abs(one - other) <= tolerance.absolute + relative * np.abs(other)
        near &= np.isfinite(one) & np.isfinite(other)
        return np.asarray(~(equal | near | (np.isnan(one) & np.isnan(other))))


def _rounded(array: Array) -> bool:
    return array.dtype.kind not in "biu"


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _farthest(actual: Array, expected: Array) -> tuple[float, int] | None:
    """The greatest finite distance between numbers, and its place."""
    if actual.dtype.kind in "UTSO" or expected.dtype.kind in "UTSO":
        return None
    with np.errstate(all="ignore"):
        apart = np.abs(_wide(actual) - _wide(expected))
    apart = np.where(np.isfinite(apart), apart, -1.0)
    place = int(apart.argmax())
    return (float(apart[place]), place) if apart[place] >= 0 else None


def _blocks(actual: Array, expected: Array) -> Iterator[tuple[int, Array, Array]]:
    """Both in row-major order, a block at a time; pages of files are let go after each."""
    one, other = np.asarray(actual).reshape(-1), np.asarray(expected).reshape(-1)
    for first in range(0, one.size, BLOCK):
        yield first, one[first : first + BLOCK], other[first : first + BLOCK]
        release_read(actual, expected)


def release_read(*arrays: Array) -> None:
    """Let go of the pages of files; not of what was written over one, which would be lost."""
    mapped.release(*(array for array in arrays if not array.flags.writeable))


def in_blocks(pieces: Iterable[Array], expected: Array) -> Iterator[tuple[int, Array, Array]]:
    """Pieces of a result beside the expected cells; pages of a file are let go after each."""
    first, flat = 0, np.asarray(expected).reshape(-1)
    for piece in pieces:
        values = piece.reshape(-1)
        for start in range(0, values.size, BLOCK):
            part = values[start : start + BLOCK]
            yield first, part, flat[first : first + part.size]
            first += part.size
            release_read(expected)


def _place(number: int, shape: Shape) -> tuple[int, ...]:
    return tuple(int(at) for at in np.unravel_index(number, shape))


def heading(found: Difference, name: str) -> list[str]:
    """Type, shape and cells that differ, each in a sentence."""
    lines = []
    if not found.same_type:
        lines.append(f"the type is {found.dtypes[0]}, {name} has {found.dtypes[1]}")
    if not found.same_shape:
        mine, theirs = map(show_shape, found.shapes)
        return [*lines, f"the shape is {mine}, {name} has {theirs}"]
    if not found.different:
        return [*lines, f"all {counted(found.total, 'cell')} have equal values"]
    told = f"{found.different:,} of {counted(found.total, 'cell')} differ from {name}"
    if found.largest is not None:
        told += f", by {found.largest[0]:g} at most, at {show_shape(found.largest[1])}"
    return [*lines, told]
