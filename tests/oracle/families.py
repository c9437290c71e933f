"""The four shapes of the family as plain loops: along an axis, elements, vectors, tuples.

Every loop walks the index entries in row-major order, one at a time. Indices are judged for all
entries before anything is read or written, also those whose slice is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .rules import Array, Combine, Place, Shape, require

Write: TypeAlias = tuple[Shape, Any]


def gather_along(
    data: Array, indices: Array, axis: int, place: Place, *, batch: int = 0, fill: object = None
) -> Array:
    """`out[before, at, after] = data[before, indices[before[:batch], at], after]`."""
    middle = indices.shape[batch:]
    for index in indices.flat:
        place(int(index), data.shape[axis])
    output = np.empty(data.shape[:axis] + middle + data.shape[axis + 1 :], data.dtype)
    for position in np.ndindex(output.shape):
        before = position[:axis]
        at = position[axis : axis + len(middle)]
        after = position[axis + len(middle) :]
        row = place(int(indices[before[:batch] + at]), data.shape[axis])
        output[position] = fill if row is None else data[(*before, row, *after)]
    return output


def writes_along(
    data: Array, indices: Array, updates: Array, axis: int, place: Place
) -> list[Write]:
    """`data[before, indices[at], after] op= updates[before, at, after]`, entry by entry."""
    expected = data.shape[:axis] + indices.shape + data.shape[axis + 1 :]
    require(updates.shape == expected, "shape", f"updates {updates.shape}, not {expected}")
    rows = {at: place(int(indices[at]), data.shape[axis]) for at in np.ndindex(indices.shape)}
    return [
        ((*before, row, *after), updates[before + at + after])
        for at, row in rows.items()
        for before in np.ndindex(data.shape[:axis])
        for after in np.ndindex(data.shape[axis + 1 :])
        if row is not None
    ]


def gather_elements(
    data: Array, indices: Array, axis: int, place: Place, *, fill: object = None
) -> Array:
    """`out[p] = data[p with p[axis] := indices[p]]`."""
    rows = {p: place(int(indices[p]), data.shape[axis]) for p in np.ndindex(indices.shape)}
    output = np.empty(indices.shape, data.dtype)
    for p, row in rows.items():
        output[p] = fill if row is None else data[(*p[:axis], row, *p[axis + 1 :])]
    return output


def writes_elements(
    data: Array, indices: Array, updates: Array, axis: int, place: Place
) -> list[Write]:
    """`data[p with p[axis] := indices[p]] op= updates[p]`, for p in the shape of indices."""
    rows = {p: place(int(indices[p]), data.shape[axis]) for p in np.ndindex(indices.shape)}
    return [
        ((*p[:axis], row, *p[axis + 1 :]), updates[p]) for p, row in rows.items() if row is not None
    ]


def vectors(
    indices: Array, shape: Shape, place: Place, *, skip: int = 0
) -> dict[Shape, tuple[Any, ...]]:
    """Each entry's coordinates, or None in a slot that is skipped; the vector is the last axis.

    The first `skip` coordinates of a position are batch coordinates and lead the result.
    """
    placed: dict[Shape, tuple[Any, ...]] = {}
    for p in np.ndindex(indices.shape[:-1]):
        vector = [int(value) for value in indices[p]]
        sizes = shape[skip : skip + len(vector)]
        rows = [place(index, size) for index, size in zip(vector, sizes, strict=True)]
        placed[p] = p[:skip] + tuple(rows)
    return placed


def gather_vectors(
    data: Array, indices: Array, place: Place, *, batch: int = 0, fill: object = None
) -> Array:
    """`out[p, rest] = data[p[:batch], indices[p], rest]`."""
    placed = vectors(indices, data.shape, place, skip=batch)
    rest = data.shape[batch + indices.shape[-1] :]
    output = np.empty(indices.shape[:-1] + rest, data.dtype)
    for p, row in placed.items():
        for inner in np.ndindex(rest):
            output[p + inner] = fill if None in row else data[row + inner]
    return output


def writes_vectors(data: Array, indices: Array, updates: Array, place: Place) -> list[Write]:
    """`data[indices[p], rest] op= updates[p, rest]`."""
    rest = data.shape[indices.shape[-1] :]
    expected = indices.shape[:-1] + rest
    require(updates.shape == expected, "shape", f"updates {updates.shape}, not {expected}")
    return [
        (row + inner, updates[p + inner])
        for p, row in vectors(indices, data.shape, place).items()
        for inner in np.ndindex(rest)
        if None not in row
    ]


def apply(
    data: Array, writes: Sequence[Write], combine: Combine, *, keep_initial: bool = True
) -> Array:
    """A copy of data with the writes done one after the other.

    Without `keep_initial` the first write to a cell replaces what was there, as if the cell had
    started from the reduction's identity.
    """
    output = data.copy()
    touched: set[Shape] = set()
    for target, value in writes:
        fresh = not keep_initial and target not in touched
        output[target] = value if fresh else combine(output[target], value)
        touched.add(target)
    return output


def counts(data: Array, writes: list[Write], *, keep_initial: bool) -> Array:
    """How many values met in each cell; untouched cells count 1."""
    hits = np.zeros(data.shape, int)
    for target, _ in writes:
        hits[target] += 1
    return np.where(hits == 0, 1, hits + keep_initial)


def divided(total: Array, count: Array) -> Array:
    """The mean; integers round toward minus infinity."""
    output = total.copy()
    for p in np.ndindex(total.shape):
        number = total.dtype.type(count[p])
        whole = total.dtype.kind in "iu"
        output[p] = total[p] // number if whole else total[p] / number
    return output


def broadcast(shapes: list[Shape]) -> Shape:
    """NumPy's broadcasting of shapes, or a refusal."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        require(len(sizes) <= 1, "shape", f"{shapes} do not broadcast")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def stretch(array: Array, shape: Shape) -> Array:
    """`array` seen in a larger shape; only size-1 and missing leading axes stretch."""
    require(broadcast([array.shape, shape]) == shape, "shape", f"{array.shape} into {shape}")
    return np.broadcast_to(array, shape)


def columns_of(indices: dict[str, Array], count: int) -> list[Array]:
    """The inputs indices_0 … indices_{count-1}, and nothing else."""
    names = [f"indices_{k}" for k in range(count)]
    require(set(names) == set(indices), "usage", f"{sorted(indices)} instead of {names}")
    return [indices[name] for name in names]


def stretch_off_axis(data: Array, indices: Array, axis: int) -> tuple[Array, Array]:
    """Two arrays of one rank, broadcast against each other on every axis but one."""
    one = [(*array.shape[:axis], 1, *array.shape[axis + 1 :]) for array in (data, indices)]
    shape = broadcast(one)

    def stretched(array: Array) -> Array:
        return stretch(array, (*shape[:axis], array.shape[axis], *shape[axis + 1 :]))

    return stretched(data), stretched(indices)
