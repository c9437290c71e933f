"""Random calls for the views: every declared operator, odd shapes, odd values."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from conftest import arguments, recorded

from gscli.base import GscliError
from gscli.frameworks import operators
from gscli.lab.examples import build_probe
from gscli.traces import Trace, trace, trace_call

TEXTS = (
    "",
    "a",
    "a\x1b[31mred",
    "[bold]x[/]",
    "日本語テキスト",
    "é",
    "x\r\ny",
    "\u202eabc",
    "\t",
    '"',
)
DTYPES = (
    "int8", "uint64", "int64", "float16", "float32", "float64", "bfloat16", "bool", "complex64",
    "str",
)  # fmt: skip


def array(rng: random.Random, shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    """Values of every size, with NaN, infinities and hostile strings among them."""
    noise = np.random.default_rng(rng.getrandbits(32))
    if dtype == "str":
        return np.array(TEXTS)[noise.integers(0, len(TEXTS), shape)].reshape(shape)
    if dtype == "bool":
        return noise.integers(0, 2, shape).astype(bool).reshape(shape)
    if dtype in ("int8", "uint64", "int64"):
        limits = np.iinfo(dtype)
        largest = rng.choice([9, 100, limits.max])
        low = 0 if dtype == "uint64" else -largest
        return noise.integers(low, largest, shape, dtype=dtype).reshape(shape)
    values = noise.normal(size=shape) * 10.0 ** rng.choice([-9, -2, 0, 0, 0, 3, 7])
    values = np.round(values, rng.choice([0, 1, 3, 17]))
    odd = noise.random(shape) < rng.choice([0, 0, 0.2])
    values = np.where(odd, rng.choice([np.nan, np.inf, -np.inf, 0.0]), values)
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return np.asarray(values, np.float32).astype(ml_dtypes.bfloat16)
        if dtype == "complex64":
            return (values + 1j * values[::-1] if values.ndim else values + 1j).astype(dtype)
        return np.asarray(values).astype(dtype)


def shape(rng: random.Random, rank: int, *, empty: bool = True) -> tuple[int, ...]:
    """Mostly small, now and then an empty axis or a long one."""
    sizes = [rng.choice([1, 2, 3, 4, 5]) for _ in range(rank)]
    if rank and rng.random() < 0.15:
        sizes[rng.randrange(rank)] = rng.choice([0, 30, 200, 3000] if empty else [30, 200, 3000])
    while np.prod(sizes, dtype=np.int64) > 40_000:
        sizes[sizes.index(max(sizes))] //= 4
    return tuple(sizes)


def _indices(rng: random.Random, like: tuple[int, ...], size: int) -> np.ndarray[Any, Any]:
    noise = np.random.default_rng(rng.getrandbits(32))
    return noise.integers(-size, max(size, 1 - size), like).reshape(like)


def _along(rng: random.Random) -> tuple[str, dict[str, Any], dict[str, Any]]:
    sizes = shape(rng, rng.randint(1, 5), empty=False)
    axis = rng.randrange(len(sizes))
    name, first = rng.choice([("onnx.gather", "data"), ("numpy.take", "a"), ("jax.take", "a")])
    like = shape(rng, rng.randint(0, 3), empty=False)
    inputs = {
        first: array(rng, sizes, rng.choice(DTYPES)),
        "indices": _indices(rng, like, sizes[axis]),
    }
    if name != "onnx.gather" and rng.random() < 0.5:
        inputs["indices"] = inputs["indices"] * 3
        return name, inputs, {"axis": axis, "mode": "clip"}
    return name, inputs, {"axis": axis}


def _vectors(rng: random.Random) -> tuple[str, dict[str, Any], dict[str, Any]]:
    rank = rng.randint(1, 5)
    sizes = shape(rng, rank, empty=False)
    length = rng.randint(1, rank)
    grid = shape(rng, rng.randint(0, 2), empty=False)
    grid = tuple(min(size, 300) for size in grid)
    columns = [_indices(rng, grid, size) for size in sizes[:length]]
    indices = np.stack(columns, -1)
    data = array(rng, sizes, rng.choice(DTYPES))
    if rng.random() < 0.4:
        return "onnx.gather_nd", {"data": data, "indices": indices}, {}
    kinds = ["none", "add", "mul", "max", "min"]
    updates = array(
        rng, (*grid, *sizes[length:]), "str" if data.dtype.kind == "U" else data.dtype.name
    )
    inputs = {"data": data, "indices": indices, "updates": updates}
    return "onnx.scatter_nd", inputs, {"reduction": rng.choice(kinds)}


def _elements(rng: random.Random) -> tuple[str, dict[str, Any], dict[str, Any]]:
    sizes = shape(rng, rng.randint(1, 5), empty=False)
    axis = rng.randrange(len(sizes))
    like = tuple(
        rng.randint(0, 6) if dim == axis else rng.randint(1, min(size, 12))
        for dim, size in enumerate(sizes)
    )
    data = array(rng, sizes, rng.choice(DTYPES))
    indices = _indices(rng, like, sizes[axis])
    if rng.random() < 0.5:
        return "onnx.gather_elements", {"data": data, "indices": indices}, {"axis": axis}
    updates = array(rng, like, "str" if data.dtype.kind == "U" else data.dtype.name)
    inputs = {"data": data, "indices": indices, "updates": updates}
    return "onnx.scatter_elements", inputs, {"axis": axis, "reduction": rng.choice(["none", "add"])}


FAMILIES: tuple[Callable[[random.Random], tuple[str, dict[str, Any], dict[str, Any]]], ...] = (
    _along, _vectors, _elements,
)  # fmt: skip


def random_trace(rng: random.Random) -> Trace | None:
    """A random call of one of the families; None where the operator refuses it."""
    name, inputs, attrs = rng.choice(FAMILIES)(rng)
    try:
        return trace(name, inputs, attrs)
    except GscliError:
        return None


def every_operator(rng: random.Random, per_operator: int) -> list[Trace]:
    """The declared example of every operator, and some of its recorded cases."""
    found: list[Trace] = []
    for operator in operators():
        probe = build_probe(operator, {})
        assert probe is not None, operator.full_name
        found.append(trace_call(operator, probe.inputs, probe.attrs))
        cases = [case for case in recorded()[operator.full_name] if "output" in case]
        for case in rng.sample(cases, min(per_operator, len(cases))):
            try:
                found.append(trace(operator.full_name, *arguments(case)))
            except GscliError:
                continue
    return found
