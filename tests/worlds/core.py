"""What a world is, and the small tensors that worlds are made of."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from math import prod
from typing import Any, TypeAlias, TypeVar, overload

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Shape: TypeAlias = tuple[int, ...]
T = TypeVar("T")

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
NUMBERS = (*INTEGERS, *FLOATS)
COMPLEX = ("complex64", "complex128")


@dataclass(frozen=True)
class World:
    """One call: an operator, its inputs and its attributes."""

    name: str
    inputs: Mapping[str, Array]
    attrs: Mapping[str, Any]

    def __str__(self) -> str:
        tensors = " ".join(
            f"{key}={array.dtype}{list(array.shape)}{array.ravel().tolist()}"
            for key, array in self.inputs.items()
        )
        return f"{self.name} {tensors} {dict(self.attrs)}"


class Worlds(Sequence[World]):
    """Worlds that are made when they are asked for: a few out of thousands cost a few."""

    def __init__(self, recipes: Sequence[Callable[[], World]]) -> None:
        self._recipes = recipes

    def __len__(self) -> int:
        return len(self._recipes)

    @overload
    def __getitem__(self, place: int) -> World: ...
    @overload
    def __getitem__(self, place: slice) -> Worlds: ...
    def __getitem__(self, place: int | slice) -> World | Worlds:
        chosen = self._recipes[place]
        return Worlds(chosen) if isinstance(chosen, Sequence) else chosen()


# Every operator's worlds.
GOOD: dict[str, Callable[[], Worlds]] = {}

_RECIPES: dict[str, list[Callable[[], Sequence[Callable[[], World]]]]] = {}


def sample(items: Sequence[T], count: int, seed: str) -> list[T]:
    """All items, or `count` of them chosen by the seed alone, in their order."""
    if len(items) <= count:
        return list(items)
    chosen = sorted(random.Random(seed).sample(range(len(items)), count))
    return [items[place] for place in chosen]


def shapes(ranks: Sequence[int], largest: int) -> list[Shape]:
    """Every shape of these ranks with sizes 0 … largest."""
    sizes = range(largest + 1)
    return [shape for rank in ranks for shape in product(sizes, repeat=rank)]


def numbered(shape: Shape, dtype: str, first: int = 1) -> Array:
    """Distinct values, so that a value names its cell; small enough to be exact in a half."""
    count = prod(shape)
    if dtype == "str":
        return np.array([f"s{first + cell}" for cell in range(count)], np.str_).reshape(shape)
    if dtype == "bool":
        return np.asarray(np.arange(first, first + count) % 3 == 0).reshape(shape)
    numbers: Array = np.arange(first, first + count, dtype=np.int64).reshape(shape)
    if dtype in COMPLEX:
        return np.asarray(numbers + 1j * (numbers % 4), dtype)
    return _as_type(numbers, dtype)


def mixed(shape: Shape, dtype: str) -> Array:
    """Updates of both signs that repeat; their sums and products stay exact in a half."""
    if dtype in ("bool", "str"):
        return numbered(shape, dtype, first=50)
    pattern = np.array([2, -3, 1, 4, -1, 3, -2], np.int64)
    numbers = np.resize(pattern, shape) if prod(shape) else np.zeros(shape, np.int64)
    if dtype in COMPLEX:
        return np.asarray(numbers - 1j * (numbers % 3), dtype)
    return _as_type(numbers, dtype)


def _as_type(numbers: Array, dtype: str) -> Array:
    return numbers.astype(np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype))


def index_tensors(shape: Shape, size: int, exhaustive: int = 2) -> Iterator[Array]:
    """Index tensors for an axis of `size`.

    Every combination of values in [-size-1, size] up to `exhaustive` entries; with more entries
    all legal values in turn, one cell hit by all, and one bad index of each kind in the middle.
    """
    count = prod(shape)
    values = range(-size - 1, size + 1)
    if count <= exhaustive:
        for chosen in product(values, repeat=count):
            yield np.array(chosen, np.int64).reshape(shape)
        return
    legal = [value for value in values if -size <= value < size]
    for cycle in ([*legal], [value for value in legal if value >= 0], [size - 1], [0, -1]):
        if cycle:
            yield np.resize(np.array(cycle, np.int64), shape)
    for bad in (-size - 1, size):
        mostly = np.zeros(count, np.int64)
        mostly[count // 2] = bad
        yield mostly.reshape(shape)


def axes(rank: int) -> range:
    """Every axis that is legal and one beyond on both sides."""
    return range(-rank - 1, rank + 1)


def in_turn(choices: Sequence[T], place: int) -> T:
    """One of the choices, walking through them as places go by."""
    return choices[place % len(choices)]


Make: TypeAlias = Callable[[Any, str, str, dict[str, Any]], World]


def register(
    name: str,
    cores: Callable[[], Sequence[Any]],
    make: Make,
    *,
    variants: Sequence[Mapping[str, Any]] = ({},),
    types: Sequence[str] = ("float32", "int64", "int8", "float16", "bfloat16", "uint8"),
    index_types: Sequence[str] = ("int64", "int32"),
    cap: int = 1000,
) -> None:
    """Worlds from every core under every variant, `cap` of them, dtypes taken in turn.

    `make` gets a core, data's dtype, the index dtype and the variant's attributes.
    """

    def recipes() -> list[Callable[[], World]]:
        everything = cores()
        numbers = sample(range(len(everything) * len(variants)), cap, name)
        return [
            partial(
                _made,
                make,
                everything[number // len(variants)],
                in_turn(types, place),
                in_turn(index_types, place // len(types)),
                variants[number % len(variants)],
            )
            for place, number in enumerate(numbers)
        ]

    _RECIPES.setdefault(name, []).append(recipes)
    GOOD[name] = partial(_worlds, name)


def _made(make: Make, core: Any, dtype: str, index_dtype: str, variant: Mapping[str, Any]) -> World:
    return make(core, dtype, index_dtype, dict(variant))


@cache
def _worlds(name: str) -> Worlds:
    return Worlds([recipe for recipes in _RECIPES[name] for recipe in recipes()])


def cast_indices(indices: Array, dtype: str) -> Array:
    """The index tensor in another dtype, or as it is where that dtype cannot hold it."""
    unsigned = dtype == "bool" or dtype.startswith("u")
    negative = indices.size > 0 and indices.min() < 0
    large = dtype == "bool" and indices.size > 0 and indices.max() > 1
    return indices if (unsigned and negative) or large else indices.astype(dtype)
