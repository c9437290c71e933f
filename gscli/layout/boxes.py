"""Boxes: half-open ranges per axis, the one shape that an entry has in every tensor. Ints only."""

from __future__ import annotations

from math import prod
from typing import TypeAlias

from gscli.layout.axes import Shape

Box: TypeAlias = tuple[tuple[int, int], ...]


def axis_boxes(box: Box, shape: Shape) -> Box:
    """Where a broadcast box lies in the tensor it comes from: aligned right, size-1 axes at 0.

    >>> axis_boxes(((2, 3), (0, 4)), (1, 4)), axis_boxes(((2, 3), (0, 4)), (4,))
    (((0, 1), (0, 4)), ((0, 4),))
    """
    surplus = max(len(shape) - len(box), 0)  # axes of size 1 in front, which NumPy drops
    aligned = ((0, 1),) * surplus + box[max(len(box) - len(shape), 0) :]
    return tuple((0, 1) if size == 1 else ends for ends, size in zip(aligned, shape, strict=True))


def box_size(box: Box) -> int:
    """Number of cells.

    >>> box_size(((0, 2), (1, 4)))
    6
    """
    return prod(stop - start for start, stop in box)


def without(box: Box, inner: Box) -> tuple[Box, ...]:
    """The cells of a box outside of one within it, as boxes that have no cell in common.

    >>> without(((0, 2), (0, 3)), ((0, 2), (1, 3)))
    (((0, 2), (0, 1)),)
    >>> sum(map(box_size, without(((0, 3), (0, 3)), ((1, 2), (1, 2)))))
    8
    """
    found: list[Box] = []
    for axis, ((first, last), (start, stop)) in enumerate(zip(box, inner, strict=True)):
        sides = [ends for ends in ((first, start), (stop, last)) if ends[0] < ends[1]]
        found += [(*inner[:axis], ends, *box[axis + 1 :]) for ends in sides]
    return tuple(found)


def reshaped(box: Box, before: Shape, after: Shape) -> Box:
    """The same cells after a reshape; exact where the box is one cell, full, or keeps its axes.

    >>> reshaped(((1, 2), (2, 3)), (2, 3), (6,))
    ((5, 6),)
    >>> reshaped(((1, 2), (0, 1), (0, 4)), (2, 3, 4), (6, 4))
    ((3, 4), (0, 4))
    """
    if before == after:
        return box
    result: list[tuple[int, int]] = []
    for old, new in _groups(before, after):
        sizes, targets = [before[i] for i in old], [after[i] for i in new]
        if sizes == targets:
            result.extend(box[i] for i in old)
            continue
        first = _number([box[i][0] for i in old], sizes)
        last = _number([box[i][1] - 1 for i in old], sizes)
        starts, ends = _coordinates(first, targets), _coordinates(last, targets)
        result.extend((min(a, b), max(a, b) + 1) for a, b in zip(starts, ends, strict=True))
    return tuple(result)


def _groups(before: Shape, after: Shape) -> list[tuple[list[int], list[int]]]:
    """Pair runs of axes with equal products."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        old, new = ([i] if i < len(before) else []), ([j] if j < len(after) else [])
        i, j = i + len(old), j + len(new)
        while prod(before[k] for k in old) != prod(after[k] for k in new):
            left, right = prod(before[k] for k in old), prod(after[k] for k in new)
            if left < right and i < len(before):
                old.append(i)
                i += 1
            elif j < len(after):
                new.append(j)
                j += 1
            elif i < len(before):
                old.append(i)
                i += 1
            else:
                break
        groups.append((old, new))
    return groups


def _number(coordinates: list[int], sizes: list[int]) -> int:
    number = 0
    for coordinate, size in zip(coordinates, sizes, strict=True):
        number = number * size + coordinate
    return number


def _coordinates(number: int, sizes: list[int]) -> list[int]:
    found: list[int] = []
    for size in reversed(sizes):
        number, rest = divmod(number, max(size, 1))
        found.append(rest)
    return found[::-1]
