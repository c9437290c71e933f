"""NumPy: x[…], its assignment and ufunc.at."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from cases import Call, Operator
from drawing import TYPES, arrays_of, brackets, key_of, result_shape, shape, stretching, values

INTEGERS = ("int64", "int32", "int8", "uint8", "uint64")


def _drawn(second: str) -> Callable[[random.Random], Call | None]:
    def draw(rng: random.Random) -> Call | None:
        sizes, dtype = shape(rng, 1), rng.choice(TYPES)
        subscript, arrays = brackets(rng, sizes, INTEGERS)
        inputs = {"a": values(rng, sizes, dtype)}
        inputs |= {f"indices_{number}": array for number, array in enumerate(arrays)}
        result = result_shape(sizes, subscript, arrays)
        if second:
            if result is not None and 0 in result:
                return None  # NumPy then compares no shapes
            if second == "b" and not any(array.ndim for array in arrays):
                return None
            kept = dtype if rng.random() < 0.7 else rng.choice(TYPES)
            inputs[second] = values(rng, stretching(rng, result), kept)
        return inputs, {"subscript": subscript}

    return draw


def _condition(rng: random.Random) -> Call:
    sizes = shape(rng)
    axis = rng.choice((None, *range(-len(sizes) - (rng.random() < 0.1), len(sizes))))
    legal = axis is not None and axis >= -len(sizes)
    length = max(sizes[axis] if legal else int(np.prod(sizes, dtype=int)), 1)
    count = length + rng.choice((0, 0, -1, 1, 2))
    condition = np.array([rng.random() < 0.5 for _ in range(count)]).astype("bool")
    if rng.random() < 0.7:
        condition[length:] = False
    if rng.random() < 0.3:
        condition = np.where(condition, values(rng, condition.shape, rng.choice(TYPES)), 0)
    if rng.random() < 0.05:
        condition = condition.reshape(rng.choice(((1, -1), (-1, 1))))
    return {"condition": condition, "a": values(rng, sizes, rng.choice(TYPES))}, {"axis": axis}


def _compress(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return np.compress(inputs["condition"], inputs["a"], attrs["axis"])


def _key(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    return key_of(attrs["subscript"], arrays_of(inputs))


def _get(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return inputs["a"][_key(inputs, attrs)]


def _set(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    array = inputs["a"].copy()
    array[_key(inputs, attrs)] = inputs["values"]
    return array


def _at(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Any]:
    def run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        array = inputs["a"].copy()
        getattr(np, name).at(array, _key(inputs, attrs), inputs["b"])
        return array

    return run


OPERATORS = [
    Operator("compress", _condition, _compress, np.__version__),
    Operator("getitem", _drawn(""), _get, np.__version__),
    Operator("setitem", _drawn("values"), _set, np.__version__),
    Operator("subtract.at", _drawn("b"), _at("subtract"), np.__version__),
    Operator("add.at", _drawn("b"), _at("add"), np.__version__),
]
