"""The addressing cores: every small (data shape, axis, index tensor) of each family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from .core import Array, Shape, axes, index_tensors, shapes


@dataclass(frozen=True)
class Cells:
    """Data's shape, the axis where there is one, indices, batch dimensions, and updates' shape."""

    data: Shape
    indices: Array
    updates: Shape
    axis: int = 0
    batch: int = 0


def _along_updates(data: Shape, indices: Shape, axis: int) -> Shape:
    a = axis % max(len(data), 1)
    return data[:a] + indices + data[a + 1 :]


Cores: TypeAlias = Callable[[], Sequence[Cells]]


def only(cores: Cores, keep: Callable[[Cells], bool]) -> Cores:
    """The cores that a rule keeps."""
    return lambda: [core for core in cores() if keep(core)]


@cache
def along(batch: int = 0) -> tuple[Cells, ...]:
    """Whole slices along one axis; indices of rank 0 to 2."""
    found = []
    for data in [*shapes((0, 1, 2), 3), *shapes((3,), 2), (2, 3, 2), (3, 1, 2)]:
        for axis in axes(len(data)):
            size = data[axis] if -len(data) <= axis < len(data) else 1
            lead = data[:batch] if len(data) >= batch else ()
            for rest in ((), (0,), (1,), (2,), (4,), (2, 2), (1, 0)):
                tensors = list(index_tensors(lead + rest, size, exhaustive=1))
                if not -len(data) <= axis < len(data):
                    tensors = tensors[:1]
                updates = _along_updates(data, lead[batch:] + rest, axis)
                found += [Cells(data, tensor, updates, axis, batch) for tensor in tensors]
    return tuple(found)


def _index_shapes(data: Shape, axis: int) -> list[Shape]:
    """Sizes off the axis equal, smaller or one too large; along the axis anything."""
    choices = []
    for d, size in enumerate(data):
        near = {size, max(size - 1, 0), size + 1}
        choices.append(sorted({0, 1, size, size + 2} if d == axis else near))
    return list(product(*choices))


@cache
def elements() -> tuple[Cells, ...]:
    """One element per index, at the index's own position but for the axis."""
    found = [Cells((), np.array(0), ()), Cells((3,), np.array(0), ()), Cells((), np.zeros(1), (1,))]
    found += [Cells((2, 2), np.zeros(2, int), (2,)), Cells((2,), np.zeros((2, 1), int), (2, 1))]
    found = [Cells(c.data, c.indices.astype(np.int64), c.updates) for c in found]
    for data in [*shapes((1, 2), 3), *shapes((3,), 2), (2, 3, 2)]:
        for axis in axes(len(data)):
            legal = -len(data) <= axis < len(data)
            normal = axis % len(data) if legal else 0
            allowed = _index_shapes(data, normal) if legal else [data]
            for shape in allowed:
                fits = all(
                    i <= s or d == normal for d, (i, s) in enumerate(zip(shape, data, strict=True))
                )
                exhaustive = 2 if prod(data) <= 4 else 1
                tensors = list(index_tensors(shape, data[normal], exhaustive))
                kept = tensors if legal and fits else tensors[:1]
                found += [Cells(data, tensor, shape, axis) for tensor in kept]
    return tuple(found)


@cache
def vectors(batch: int = 0) -> tuple[Cells, ...]:
    """A vector of 0 to r+1 coordinates per entry, in the last axis."""
    found = []
    for data in [*shapes((0, 1, 2), 3), *shapes((3,), 2), (2, 3, 2)]:
        lead = data[:batch]
        for length in range(len(data) - batch + 2):
            for rest in ((), (0,), (1,), (3,), (2, 2)):
                shape = (*lead, *rest, length)
                for tensor in _vector_tensors(shape, data[batch : batch + length]):
                    updates = (*lead, *rest, *data[batch + length :])
                    found.append(Cells(data, tensor, updates, batch=batch))
    return tuple(found)


def _vector_tensors(shape: Shape, sizes: Shape) -> list[Array]:
    """Legal coordinates in turn, all entries on one cell, and one bad coordinate per slot."""
    length, count = shape[-1], prod(shape[:-1])
    if prod(shape) == 0 or length != len(sizes):
        return [np.zeros(shape, np.int64)]
    columns = [[(e + d) % max(size, 1) for e in range(count)] for d, size in enumerate(sizes)]
    legal = np.array(columns, np.int64).T.reshape(shape)
    from_end = legal - np.array(sizes, np.int64)
    tensors = [legal, np.zeros(shape, np.int64), from_end, np.full(shape, -1, np.int64)]
    for slot, size in enumerate(sizes):
        for bad in (-size - 1, size):
            wrong = legal.reshape(count, length).copy()
            wrong[count // 2, slot] = bad
            tensors.append(wrong.reshape(shape))
    return tensors
