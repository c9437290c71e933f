"""JAX with 64 bits on: x.at[…] with subscripts, segments, and single windows."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import numpy as np
from cases import Call, Operator
from drawing import (
    TYPES,
    arrays_of,
    brackets,
    indices,
    key_of,
    result_shape,
    shape,
    stretching,
    values,
)

jax.config.update("jax_enable_x64", True)
jnp = jax.numpy
VERSION = jax.__version__
INTEGERS = ("int64", "int32", "int8", "uint8")
MODES = (None, "fill", "drop", "clip")


def _brackets(rng: random.Random, *, writes: bool) -> Call | None:
    sizes, dtype = shape(rng, 1), rng.choice(TYPES)
    subscript, arrays = brackets(rng, sizes, INTEGERS)
    inputs = {"x": values(rng, sizes, dtype)}
    inputs |= {f"indices_{number}": array for number, array in enumerate(arrays)}
    attrs = {"subscript": subscript, "mode": rng.choice(MODES)}
    if "None" in subscript and any(array.ndim == 0 and array.dtype == np.bool_ for array in arrays):
        return None  # JAX 0.10.2 then addresses other axes than it reads
    legal = [array if array.dtype == np.bool_ else np.clip(array, -1, 0) for array in arrays]
    result = result_shape(sizes, subscript, legal)
    if result is not None and 0 in result:
        return None  # JAX then compares no shapes
    if writes:
        kept = dtype if rng.random() < 0.7 else rng.choice(TYPES)
        inputs["values"] = values(rng, stretching(rng, result), kept)
    return inputs, attrs


def _at(method: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Any]:
    def run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        key = key_of(attrs["subscript"], arrays_of(inputs))
        more = [jnp.asarray(inputs["values"])] if "values" in inputs else []
        update = getattr(jnp.asarray(inputs["x"]).at[key], method)
        return np.asarray(update(*more, mode=attrs["mode"]))

    return run


def _powers(rng: random.Random) -> Call | None:
    """An array without axes, too: of its exponent all bits count, and none is below zero."""
    if rng.random() < 0.7:
        return _brackets(rng, writes=True)
    base = np.array(rng.choice((-3, 5)), rng.choice(INTEGERS[:3]))
    exponent = np.array(rng.choice((-1, 69, 70, 2**40 + 3)), np.int64)
    return {"x": base, "values": exponent}, {"subscript": "", "mode": rng.choice(MODES)}


def _segments(rng: random.Random) -> Call:
    rows, count = rng.randint(1, 6), rng.randint(1, 5)
    data = values(rng, (rows, *shape(rng, 0, 1)), rng.choice(TYPES))
    ids = indices(rng, (rows,), count, rng.choice(INTEGERS[:2]), from_end=False)
    told = ids.max() < 0 or rng.random() < 0.8
    attrs = {"num_segments": count if told else None, "mode": rng.choice((None, "clip"))}
    return {"data": data, "segment_ids": ids}, attrs


def _segment(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Any]:
    def run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        data, ids = (jnp.asarray(array) for array in inputs.values())
        return np.asarray(getattr(jax.ops, name)(data, ids, **attrs))

    return run


def _window(rng: random.Random, *, writes: bool) -> Call:
    sizes, dtype = shape(rng), rng.choice(TYPES)
    window = tuple(rng.randint(0, size + (rng.random() < 0.1)) for size in sizes)
    starts = np.array([rng.randint(-size - 2, size + 1) for size in sizes], np.int64)
    starts = starts if rng.random() < 0.9 else starts[:-1]
    kind = rng.choice(INTEGERS)
    inputs = {"operand": values(rng, sizes, dtype)}
    if writes:
        kept = dtype if rng.random() < 0.9 else rng.choice(TYPES)
        inputs["update"] = values(rng, window, kept)
    inputs["start_indices"] = (abs(starts) if kind == "uint8" else starts).astype(kind)
    attrs: dict[str, Any] = {} if writes else {"slice_sizes": list(window)}
    return inputs, attrs | {"allow_negative_indices": rng.random() < 0.7}


def _lax(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Any]:
    def run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        return np.asarray(getattr(jax.lax, name)(*map(jnp.asarray, inputs.values()), **attrs))

    return run


# Each call is compiled, which takes a while.
DRAWN = 30

OPERATORS = [
    Operator("at.get", lambda rng: _brackets(rng, writes=False), _at("get"), VERSION),
    *(
        Operator(f"at.{name}", lambda rng: _brackets(rng, writes=True), _at(name), VERSION)
        for name in ("set", "add", "subtract", "max", "divide")
    ),
    Operator("at.power", _powers, _at("power"), VERSION),
    *(
        Operator(name, _segments, _segment(name), VERSION)
        for name in ("segment_prod", "segment_min", "segment_max")
    ),
    *(
        Operator(f"lax.{name}", partial(_window, writes="update" in name), _lax(name), VERSION)
        for name in ("dynamic_slice", "dynamic_update_slice")
    ),
]
