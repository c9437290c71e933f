"""Worlds of StableHLO and lax: seeded dimension numbers over small shapes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .core import Array, Shape, World, cast_indices, mixed, numbered, register
from .one_cell import EXACT, ORDERED


@dataclass(frozen=True)
class Windows:
    """Data's shape, indices, and the dimension numbers of a gather and of its write twin."""

    data: Shape
    indices: Array
    vector_dim: int
    inside: tuple[int, ...]
    collapsed: tuple[int, ...]
    data_batching: tuple[int, ...]
    index_batching: tuple[int, ...]
    index_map: tuple[int, ...]
    sizes: Shape
    updates: Shape


def _one(rng: random.Random) -> Windows:
    """Dimension numbers that fit together, indices from two before to two behind the axis."""
    data = tuple(rng.choice((1, 2, 3, 4)) for _ in range(rng.randint(1, 3)))
    dims = list(range(len(data)))
    rng.shuffle(dims)
    batching = sorted(dims[: rng.choice((0, 0, 1)) if len(dims) > 1 else 0])
    others = sorted(set(dims) - set(batching))
    collapsed = sorted(rng.sample(others, rng.randint(0, len(others))))
    carried = [d for d in others if d not in collapsed]
    index_map = rng.sample(others, rng.randint(1, len(others)))
    sizes = [1 if d not in carried else rng.randint(1, data[d]) for d in range(len(data))]
    entry = [rng.choice((1, 2, 3)) for _ in range(rng.randint(0, 2))]
    index_batching = []
    for d in batching:
        place = rng.randint(0, len(entry))
        entry.insert(place, data[d])
        index_batching.append(place)
    implied = len(index_map) == 1 and rng.random() < 0.5
    vector_dim = len(entry) if implied else rng.randint(0, len(entry))
    shape = entry if implied else [*entry[:vector_dim], len(index_map), *entry[vector_dim:]]
    indices = _indices(rng, data, index_map, tuple(shape), vector_dim)
    rank = len(entry) + len(carried)
    inside = sorted(rng.sample(range(rank), len(carried)))
    window, walk = iter([sizes[d] for d in carried]), iter(entry)
    updates = [next(window) if d in inside else next(walk) for d in range(rank)]
    shift = [place + (place >= vector_dim and not implied) for place in index_batching]
    return Windows(
        data, indices, vector_dim, tuple(inside), tuple(collapsed), tuple(batching),
        tuple(shift), tuple(index_map), tuple(sizes), tuple(updates),
    )  # fmt: skip


def _indices(
    rng: random.Random, data: Shape, index_map: list[int], shape: Shape, vector_dim: int
) -> Array:
    indices = np.zeros(shape, np.int64)
    for p in np.ndindex(shape):
        slot = p[vector_dim] if vector_dim < len(shape) else 0
        size = data[index_map[slot]]
        indices[p] = rng.choice((rng.randrange(size), rng.randint(-2, size + 1)))
    return indices


@cache
def cores() -> tuple[Windows, ...]:
    """3000 worlds of windows."""
    rng = random.Random("windows")
    return tuple(_one(rng) for _ in range(3000))


def _last(core: Windows) -> tuple[Array, list[int]]:
    """Indices with the vector in the last dimension, as lax wants them, and batching dims."""
    if core.vector_dim == core.indices.ndim:
        return core.indices[..., None], list(core.index_batching)
    moved = np.ascontiguousarray(np.moveaxis(core.indices, core.vector_dim, -1))
    return moved, [d - (d > core.vector_dim) for d in core.index_batching]


def _stablehlo_gather(core: Windows, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    inputs = {
        "operand": numbered(core.data, dtype),
        "start_indices": cast_indices(core.indices, index_dtype),
    }
    numbers = {
        "offset_dims": list(core.inside),
        "collapsed_slice_dims": list(core.collapsed),
        "operand_batching_dims": list(core.data_batching),
        "start_indices_batching_dims": list(core.index_batching),
        "start_index_map": list(core.index_map),
        "index_vector_dim": core.vector_dim,
        "slice_sizes": list(core.sizes),
    }
    return World("stablehlo.gather", inputs, attrs | numbers)


def _stablehlo_scatter(core: Windows, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    inputs = {
        "inputs": numbered(core.data, dtype),
        "scatter_indices": cast_indices(core.indices, index_dtype),
        "updates": mixed(core.updates, dtype),
    }
    numbers = {
        "update_window_dims": list(core.inside),
        "inserted_window_dims": list(core.collapsed),
        "input_batching_dims": list(core.data_batching),
        "scatter_indices_batching_dims": list(core.index_batching),
        "scatter_dims_to_operand_dims": list(core.index_map),
        "index_vector_dim": core.vector_dim,
    }
    return World("stablehlo.scatter", inputs, attrs | numbers)


def _lax_gather(core: Windows, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    indices, batching = _last(core)
    inputs = {
        "operand": numbered(core.data, dtype),
        "start_indices": cast_indices(indices, index_dtype),
    }
    numbers = {
        "offset_dims": list(core.inside),
        "collapsed_slice_dims": list(core.collapsed),
        "operand_batching_dims": list(core.data_batching),
        "start_indices_batching_dims": batching,
        "start_index_map": list(core.index_map),
        "slice_sizes": list(core.sizes),
    }
    return World("jax.lax.gather", inputs, attrs | numbers)


def _lax_scatter(name: str) -> Any:
    def make(core: Windows, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        indices, batching = _last(core)
        inputs = {
            "operand": numbered(core.data, dtype),
            "scatter_indices": cast_indices(indices, index_dtype),
            "updates": mixed(core.updates, dtype),
        }
        numbers = {
            "update_window_dims": list(core.inside),
            "inserted_window_dims": list(core.collapsed),
            "operand_batching_dims": list(core.data_batching),
            "scatter_indices_batching_dims": batching,
            "scatter_dims_to_operand_dims": list(core.index_map),
        }
        return World(name, inputs, attrs | numbers)

    return make


INDICES = ("int64", "int32", "uint8", "int8")
register("stablehlo.gather", cores, _stablehlo_gather, types=EXACT, index_types=INDICES)
for kinds, names in ((EXACT, ("set", "add", "mul")), (ORDERED, ("max", "min"))):
    register(
        "stablehlo.scatter", cores, _stablehlo_scatter, types=kinds, index_types=INDICES, cap=800,
        variants=[{"update_computation": n, "xla": x} for n in names for x in (True, False)],
    )  # fmt: skip
MODES = [{}, {"mode": "fill"}, {"mode": "clip"}]
register("jax.lax.gather", cores, _lax_gather, variants=MODES, types=EXACT, index_types=INDICES)
for tail, kinds in (
    ("", EXACT), ("_add", EXACT), ("_sub", EXACT), ("_mul", EXACT), ("_min", ORDERED),
    ("_max", ORDERED),
):  # fmt: skip
    name = f"jax.lax.scatter{tail}"
    register(name, cores, _lax_scatter(name), variants=MODES, types=kinds, index_types=INDICES,
             cap=500)  # fmt: skip


def _single(core: Windows, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    """One window over all axes; the numbers of the core are walked through as its starts."""
    starts = np.resize(core.indices, len(core.data))
    inputs = {
        "operand": numbered(core.data, dtype),
        "update": mixed(core.sizes, dtype),
        "start_indices": cast_indices(starts, index_dtype),
    }
    return World("jax.lax.dynamic_update_slice", inputs, attrs)


def _single_read(core: Windows, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    written = _single(core, dtype, index_dtype, attrs)
    inputs = {name: array for name, array in written.inputs.items() if name != "update"}
    return World("jax.lax.dynamic_slice", inputs, attrs | {"slice_sizes": list(core.sizes)})


COUNTED = [{}, {"allow_negative_indices": False}]
register("jax.lax.dynamic_slice", cores, _single_read, variants=COUNTED, types=EXACT,
         index_types=INDICES)  # fmt: skip
register("jax.lax.dynamic_update_slice", cores, _single, variants=COUNTED, types=EXACT,
         index_types=INDICES)  # fmt: skip
