"""What calls are made of: shapes, values, indices and subscripts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

Shape = tuple[int, ...]
TYPES = ("float32", "int64", "float64", "int32", "uint8", "bool")


def shape(rng: random.Random, low: int = 0, high: int = 3) -> Shape:
    """Up to `high` axes of 1 to 4 cells."""
    return tuple(rng.randint(1, 4) for _ in range(rng.randint(low, high)))


def values(rng: random.Random, sizes: Shape, dtype: str) -> Any:
    """Small numbers, exact in every type; NaN now and then."""
    count = int(np.prod(sizes, dtype=int))
    numbers = [rng.randint(0 if dtype.startswith("u") else -9, 9) for _ in range(count)]
    array = np.array(numbers, np.float64).reshape(sizes)
    if dtype.startswith("float") and count and rng.random() < 0.1:
        array.flat[rng.randrange(count)] = rng.choice((np.nan, np.inf))
    return array.astype(dtype) if dtype != "bool" else array > 0


def indices(rng: random.Random, sizes: Shape, rows: int, dtype: str, *, from_end: bool) -> Any:
    """Indices of an axis of `rows` cells; in one call of eight some may be out of range."""
    beyond = int(rng.random() < 0.12)
    low = 0 if dtype.startswith("u") else -rows - beyond if from_end else -beyond
    count = int(np.prod(sizes, dtype=int))
    drawn = [rng.randint(low, max(rows - 1 + beyond, low)) for _ in range(count)]
    return np.array(drawn, np.int64).reshape(sizes).astype(dtype)


def key_of(subscript: str, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The items between the brackets as Python objects."""
    waiting, found = iter(arrays), []
    for word in (word.strip() for word in subscript.split(",") if word.strip()):
        if ":" in word:
            found.append(slice(*(int(part) if part else None for part in word.split(":"))))
        else:
            found.append({"None": None, "...": Ellipsis}[word] if word != "i" else next(waiting))
    return tuple(found)


def arrays_of(inputs: Mapping[str, Any]) -> list[Any]:
    """The index arrays of a drawn call."""
    return [array for name, array in inputs.items() if name.startswith("indices_")]


def brackets(
    rng: random.Random, sizes: Shape, types: Sequence[str], *, backward: bool = True
) -> tuple[str, list[Any]]:
    """A subscript of an array of these sizes, with its index arrays and masks."""
    grid = rng.choice(((), (1,), (2,), (3,), (2, 2)))
    words: list[str] = []
    arrays: list[Any] = []
    axis = 0
    while axis < len(sizes) + (rng.random() < 0.02):
        size, kind = (sizes[axis] if axis < len(sizes) else 1), rng.random()
        if kind < 0.1:
            words.append("None")
        elif kind < 0.13:
            words.append("i")
            arrays.append(np.array(rng.random() < 0.8))
        elif kind < 0.2 and "..." not in words:
            words.append("...")
            axis += rng.randint(0, max(len(sizes) - axis, 0))
        elif kind < 0.5:
            words.append(_slice(rng, size, backward=backward))
            axis += 1
        elif kind < 0.62:
            covered = sizes[axis : axis + rng.choice((1, 1, 2))]
            mask = np.array([rng.random() < 0.7 for _ in range(int(np.prod(covered, dtype=int)))])
            words.append("i")
            arrays.append(mask.astype("bool").reshape(covered))
            axis += max(len(covered), 1)
        else:
            own: Shape = rng.choice((grid, grid, grid[1:], (1,) * len(grid), ()))
            words.append("i")
            arrays.append(indices(rng, own, size, rng.choice(types), from_end=True))
            axis += 1
        if rng.random() < 0.1:
            break
    return ", ".join(words), arrays


def _slice(rng: random.Random, size: int, *, backward: bool) -> str:
    bounds = [rng.choice(("", str(rng.randint(-size - 1, size + 1)))) for _ in range(2)]
    steps = ("", "", ":1", ":2", ":-1", ":-2") if backward else ("", "", ":1", ":2")
    return rng.choice((":", ":", ":".join(bounds) + rng.choice(steps)))


def stretching(rng: random.Random, sizes: Optional[Shape]) -> Shape:  # noqa: UP045  an old Python
    """A shape that stretches to `sizes`; now and then one that does not."""
    if sizes is None:
        return (2,)
    thin = tuple(size if rng.random() < 0.5 else 1 for size in sizes)
    return rng.choice((sizes, sizes, thin, sizes[1:], (), (*sizes, 3)))


def result_shape(sizes: Shape, subscript: str, arrays: Sequence[Any]) -> Optional[Shape]:  # noqa: UP045
    """NumPy's shape of x[…], None where it refuses."""
    try:
        return np.zeros(sizes)[key_of(subscript, arrays)].shape
    except (IndexError, ValueError):
        return None
