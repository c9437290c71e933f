"""Worlds of ONNX TensorScatter: caches of sequences, and where each sample's newest steps go."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .core import Array, Shape, World, mixed, numbered, register, shapes


class Steps(NamedTuple):
    """The cache's shape, the sequence axis, how many steps are written, and where they begin."""

    cache: Shape
    axis: int
    count: int
    starts: Array | None


def _starts(batch: int, size: int, count: int) -> list[Array | None]:
    """Every place for one or two samples, those that do not fit and negative ones among them."""
    places = range(-1, size + 2) if batch <= 2 else (0, size - count)
    drawn = product(places, repeat=batch) if batch else [()]
    return [None, *(np.array(chosen, np.int64) for chosen in drawn)]


def steps() -> list[Steps]:
    """Small caches, each axis as the sequence's, and an update one too long."""
    found = []
    for cache in [*shapes((2, 3), 2), (2, 3), (2, 4, 1), (1, 3, 2), (3, 2, 2), (2, 2, 3, 1)]:
        for axis in (-len(cache), *range(-1, len(cache))):
            size = cache[axis]
            for count in sorted({0, 1, size, size + 1}):
                starts = _starts(cache[0], size, count)
                found += [Steps(cache, axis, count, chosen) for chosen in starts]
    return found


def _written(core: Steps, dtype: str, _index: str, attrs: dict[str, Any]) -> World:
    axis = core.axis % len(core.cache)
    shape = (*core.cache[:axis], core.count, *core.cache[axis + 1 :])
    inputs = {"past_cache": numbered(core.cache, dtype), "update": mixed(shape, dtype)}
    if core.starts is not None:
        inputs["write_indices"] = core.starts
    return World("onnx.tensor_scatter", inputs, attrs | {"axis": core.axis})


register("onnx.tensor_scatter", steps, _written, variants=[{}, {"mode": "circular"},
         {"mode": "linear", "opset": 24}], types=("float32", "int64", "str", "bool", "bfloat16"),
         cap=3000)  # fmt: skip
