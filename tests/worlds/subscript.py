"""Worlds of `x[…]`: seeded subscripts of slices, None, `...`, index arrays and masks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from .along import NO_STRINGS, WIDE
from .core import (
    INTEGERS,
    Array,
    Make,
    Shape,
    World,
    cast_indices,
    mixed,
    numbered,
    register,
    shapes,
)
from .one_cell import EXACT, ORDERED
from .vector import MODES

GRIDS: Sequence[Shape] = ((), (1,), (2,), (3,), (2, 2), (1, 2), (0,))


@dataclass(frozen=True)
class Brackets:
    """Data's shape, the subscript, its arrays, and the shape of values that mostly fit.

    `cells`: NumPy finds a cell to look at, or refuses.
    """

    data: Shape
    subscript: str
    arrays: tuple[Array, ...]
    values: Shape
    cells: bool

    @property
    def key(self) -> tuple[Any, ...]:
        """What Python would hand to `__getitem__`."""
        return key_of(self.subscript, self.arrays)


def key_of(subscript: str | None, arrays: Sequence[Array]) -> tuple[Any, ...]:
    """The items between the brackets as Python objects."""
    waiting = iter(arrays)
    words = ["i"] * len(arrays) if subscript is None else subscript.split(",")
    found: list[Any] = []
    for word in (word.strip() for word in words if word.strip()):
        if ":" in word:
            found.append(slice(*(int(part) if part else None for part in word.split(":"))))
        else:
            found.append({"None": None, "...": Ellipsis}[word] if word != "i" else next(waiting))
    return tuple(found)


def _array(rng: random.Random, grid: Shape, size: int) -> Array:
    """Numbers for one axis, in a shape that broadcasts to the grid; one in ten is out of range."""
    shape = rng.choice((grid, grid, grid[1:], tuple(1 for _ in grid), ()))
    low, high = (-size, size - 1) if rng.random() < 0.9 else (-size - 1, size)
    numbers = np.zeros(shape, np.int64)
    for p in np.ndindex(shape):
        numbers[p] = rng.randint(min(low, high), max(low, high))
    return numbers


def _slice(rng: random.Random, size: int) -> str:
    bounds = [rng.choice(("", str(rng.randint(-size - 1, size + 1)))) for _ in range(2)]
    step = rng.choice(("", "", ":1", ":2", ":-1", ":-2"))
    return rng.choice((":", ":", ":".join(bounds) + step))


def _one(rng: random.Random) -> Brackets:
    data = tuple(rng.choice((0, 1, 2, 3, 3)) for _ in range(rng.randint(0, 3)))
    grid, words, arrays, axis = rng.choice(GRIDS), list[str](), list[Array](), 0
    while axis < len(data) + (rng.random() < 0.03):
        size, kind = data[axis] if axis < len(data) else 1, rng.random()
        if kind < 0.1:
            words.append("None")
            continue
        if kind < 0.14:
            words.append("i")
            arrays.append(np.array(rng.random() < 0.8))
            continue
        if kind < 0.2 and "..." not in words:
            words.append("...")
            axis += rng.randint(0, len(data) - axis) if axis < len(data) else 0
            continue
        if kind < 0.55:
            words.append(_slice(rng, size))
        elif kind < 0.65:
            words.append("i")
            covered = data[axis : axis + rng.choice((1, 1, 2))]
            mask = np.array([rng.random() < 0.6 for _ in range(int(np.prod(covered)))], np.bool_)
            arrays.append(mask.reshape(covered))
            axis += max(len(covered) - 1, 0)
        else:
            words.append("i")
            arrays.append(_array(rng, grid, size))
        axis += 1
        if rng.random() < 0.1:
            break
    subscript = ", ".join(words)
    try:
        shape: Shape = np.zeros(data)[key_of(subscript, arrays)].shape
    except (IndexError, ValueError):
        shape = (2,)
    return Brackets(
        data, subscript, tuple(arrays), _values(rng, shape), _cells(data, subscript, arrays)
    )


def _cells(data: Shape, subscript: str, arrays: list[Array]) -> bool:
    """Whether anything is indexed. Indices are 0 here: of one that is out of range where nothing
    is indexed, not every version of NumPy says the same.
    """
    zeros = [array if array.dtype.kind == "b" else array * 0 for array in arrays]
    try:
        return np.zeros(data)[key_of(subscript, zeros)].size > 0
    except (IndexError, ValueError):
        return True


def _values(rng: random.Random, shape: Shape) -> Shape:
    """NumPy's shape of x[…], or one that stretches to it, or one that does not."""
    thin = tuple(size if rng.random() < 0.5 else 1 for size in shape)
    return rng.choice((shape, shape, thin, shape[1:], (), (1, *shape), (2, *shape)))


@cache
def brackets() -> tuple[Brackets, ...]:
    """2500 subscripts."""
    rng = random.Random("brackets")
    return tuple(_one(rng) for _ in range(2500))


@cache
def without_empty_axes() -> tuple[Brackets, ...]:
    """Those with a cell to look at; of others no text says what JAX does."""
    return tuple(one for one in brackets() if 0 not in one.data and one.cells)


@cache
def with_arrays() -> tuple[Brackets, ...]:
    """Those with a cell to look at and an array that is no number: there ufunc.at has rules.

    (Where an index has more axes than b, NumPy 2.4 reads past the end of b.)
    """
    return tuple(
        one
        for one in brackets()
        if one.cells
        and any(array.ndim > 0 for array in one.arrays)
        and all(array.ndim <= len(one.values) for array in one.arrays)
    )


def _indexer(name: str, data: str, values: str) -> Make:
    def make(core: Brackets, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        inputs = {data: numbered(core.data, dtype)}
        for number, array in enumerate(core.arrays):
            masks = array.dtype.kind == "b"
            inputs[f"indices_{number}"] = array if masks else cast_indices(array, index_dtype)
        if values:
            inputs[values] = mixed(core.values, dtype)
        return World(name, inputs, attrs | {"subscript": core.subscript})

    return make


register("numpy.getitem", brackets, _indexer("numpy.getitem", "a", ""),
         types=(*INTEGERS, *WIDE), index_types=INTEGERS, cap=1500)  # fmt: skip
register("numpy.setitem", brackets, _indexer("numpy.setitem", "a", "values"),
         types=WIDE, index_types=INTEGERS, cap=1500)  # fmt: skip
for ufunc in ("add", "subtract", "multiply", "maximum", "minimum"):
    name = f"numpy.{ufunc}.at"
    register(name, with_arrays, _indexer(name, "a", "b"), types=EXACT[:5], cap=300)
register("jax.at.get", without_empty_axes, _indexer("jax.at.get", "x", ""), variants=MODES,
         types=NO_STRINGS, cap=600)  # fmt: skip
for method, kinds in (
    ("set", NO_STRINGS), ("add", EXACT), ("max", ORDERED), ("divide", EXACT), ("power", INTEGERS),
):  # fmt: skip
    name = f"jax.at.{method}"
    register(name, without_empty_axes, _indexer(name, "x", "values"), variants=MODES, types=kinds,
             cap=400)  # fmt: skip
register("torch.index", brackets, _indexer("torch.index", "input", ""),
         types=(*NO_STRINGS, "uint16"), cap=1200)  # fmt: skip
register("torch.index_put_", brackets, _indexer("torch.index_put_", "self", "values"),
         variants=[{}, {"accumulate": True}], types=EXACT, cap=800)  # fmt: skip


def _masks() -> list[tuple[Shape, Array]]:
    """Data's shape and a mask that mostly stretches to it."""
    rng = random.Random("masks")
    found = []
    for _ in range(600):
        data = tuple(rng.choice((0, 1, 2, 3)) for _ in range(rng.randint(0, 3)))
        thin = tuple(size if rng.random() < 0.6 else 1 for size in data)
        shape = rng.choice((data, data, thin, data[1:], (2, *data), (*data, 2)))
        cells = [rng.random() < 0.5 for _ in range(int(np.prod(shape, dtype=int)))]
        found.append((data, np.array(cells, np.bool_).reshape(shape)))
    return found


def _masked(core: tuple[Shape, Array], dtype: str, _: str, attrs: dict[str, Any]) -> World:
    data, mask = core
    inputs = {"input": numbered(data, dtype), "mask": mask}
    if "source" in attrs:
        size = int(mask.sum()) * 2 if mask.size % 5 else 1
        return World("torch.masked_scatter", inputs | {"source": mixed((size,), dtype)}, {})
    return World("torch.masked_select", inputs, {})


def _conditions() -> list[tuple[Shape, int | None, Array]]:
    """Every mask of an axis, of none and of a missing one, up to two numbers longer than it."""
    found = []
    for data, axis in product(shapes((0, 1, 2), 2), (None, *range(-3, 3))):
        legal = axis is not None and -len(data) <= axis < len(data)
        size = data[axis] if axis is not None and legal else prod(data)
        for length in range(size + 3):
            found += [(data, axis, np.array(mask)) for mask in product((0, 2), repeat=length)]
    return [*found, ((2,), 0, np.array([[1]])), ((2,), None, np.array(1))]


def _compress(
    core: tuple[Shape, int | None, Array], dtype: str, kind: str, attrs: dict[str, Any]
) -> World:
    data, axis, condition = core
    inputs = {"condition": condition.astype(kind), "a": numbered(data, dtype)}
    return World("numpy.compress", inputs, attrs | {"axis": axis})


register("numpy.compress", _conditions, _compress, types=(*INTEGERS, *WIDE),
         index_types=("bool", "int64", "uint8", "float32", "complex64"), cap=1500)  # fmt: skip
register("torch.masked_select", _masks, _masked, types=NO_STRINGS)
register("torch.masked_scatter", _masks, _masked, variants=[{"source": True}], types=NO_STRINGS)
