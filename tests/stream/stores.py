"""Stores of zarr's own making, and random calls with data in them, for every way that streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import gscli
from gscli.base.arrays import LazyArray
from gscli.files.stores import icechunk_store
from gscli.files.stores.zarr_place import ZarrPath
from gscli.files.stores.zarr_store import open_zarr_array
from gscli.frameworks import find_operator
from gscli.plan import build_plan, infer_layout
from gscli.plan.plan import ValidatedPlan
from gscli.stream.chunked import to_store

Array = Any
DATA = np.arange(60, dtype=np.float32).reshape(10, 6)
DTYPES = ("float32", "float16", "int64", "int8", "uint16", "float64", "bool")
LIMIT = 1 << 30


@dataclass(frozen=True)
class RandomCall:
    """One call: operator, arrays by name (data first), attributes, and how data lie in a store."""

    operator: str
    arrays: Mapping[str, Array]
    attrs: Mapping[str, object]
    chunks: tuple[int, ...]
    options: Mapping[str, Any]

    def __str__(self) -> str:
        shapes = {name: (a.dtype.name, a.shape) for name, a in self.arrays.items()}
        return f"{self.operator} {shapes} {dict(self.attrs)} chunks {self.chunks} {self.options}"

    def expected(self) -> Array:
        """The answer in memory."""
        with np.errstate(all="ignore"):
            return gscli.run(self.operator, self.arrays, self.attrs)

    def plan(self, path: Path) -> ValidatedPlan:
        """The plan with data left in a store that is made at `path`."""
        name = next(iter(self.arrays))
        data = self.arrays[name]
        made(path, data, chunks=self.chunks, **self.options)
        arrays = {**self.arrays, name: LazyArray.of(open_zarr_array(ZarrPath(str(path)), LIMIT))}
        layout = infer_layout(find_operator(self.operator), arrays, self.attrs)
        return build_plan(layout, arrays, 1 << 60).validate()


def made(path: Path, data: Array = DATA, **options: Any) -> str:
    """A store of zarr's own making, in chunks of (4, 3) unless told otherwise; its path."""
    options = {"chunks": (4, 3)[: data.ndim], **options}
    array = zarr.create_array(str(path), shape=data.shape, dtype=data.dtype, **options)
    array[...] = data
    return str(path)


def committed_meanwhile(path: str, patch: pytest.MonkeyPatch) -> None:
    """Let somebody else commit to row 0 of a repository's `emb` before each of our commits."""
    real = to_store.scatter_by_chunk

    def slow(*arguments: Any) -> Any:
        yield from real(*arguments)
        session = icechunk_store.open_repository(path).writable_session("main")
        zarr.open_array(session.store, path="emb", mode="r+")[0] = 0
        session.commit("somebody else")

    patch.setattr(to_store, "scatter_by_chunk", slow)


def random_call(seed: int) -> RandomCall:
    """A call of any family: slices, elements, vectors, batches, windows, lost entries."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[seed % len(FAMILIES)]
    rank = int(rng.integers(1, 5))
    shape = tuple(int(n) for n in rng.integers(1, 9, rank))
    operator, arrays, attrs = family(rng, shape)
    data = next(iter(arrays.values()))
    chunks = tuple(int(rng.integers(1, size + 2)) for size in data.shape)
    return RandomCall(operator, arrays, attrs, chunks, _options(rng, chunks))


def _options(rng: np.random.Generator, chunks: tuple[int, ...]) -> dict[str, Any]:
    kind = int(rng.integers(0, 5))
    if kind == 0:
        return {"zarr_format": 2}
    if kind == 1:
        return {"compressors": None}
    if kind == 2:
        return {"shards": tuple(step * int(rng.integers(1, 3)) for step in chunks)}
    return {}


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str | None = None) -> Array:
    """Numbers whose sums round, and whose order therefore shows; some are -0.0."""
    dtype = dtype or str(rng.choice(DTYPES))
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype[0] in "iu":
        return rng.integers(0, 100, shape).astype(dtype)
    found = (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(dtype)
    found[rng.random(shape) < 0.1] = -0.0
    return found


def indices(rng: np.random.Generator, size: int, shape: tuple[int, ...]) -> Array:
    """Legal numbers with repeats, some counted from the end."""
    return rng.integers(-size, size, shape)


def _count(rng: np.random.Generator) -> int:
    return int(rng.choice([0, 1, 3, 20, 60], p=[0.05, 0.15, 0.3, 0.3, 0.2]))


def _reduction(rng: np.random.Generator, data: Array) -> str:
    words = ["none", "add", "mul", "max", "min"] if data.dtype != np.bool_ else ["none"]
    return str(rng.choice(words))


def _gather(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    axis = int(rng.integers(0, len(shape)))
    wanted = (_count(rng),) if rng.random() < 0.7 else (2, 3)
    data = {"data": values(rng, shape), "indices": indices(rng, shape[axis], wanted)}
    return "onnx.gather", data, {"axis": axis}


def _gather_elements(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    axis = int(rng.integers(0, len(shape)))
    wanted = (*shape[:axis], _count(rng), *shape[axis + 1 :])
    data = {"data": values(rng, shape), "indices": indices(rng, shape[axis], wanted)}
    return "onnx.gather_elements", data, {"axis": axis}


def _vectors(
    rng: np.random.Generator, shape: tuple[int, ...], batch: int, lead: tuple[int, ...]
) -> Array:
    depth = int(rng.integers(1, len(shape) - batch + 1))
    columns = [indices(rng, size, lead) for size in shape[batch : batch + depth]]
    return np.stack(columns, -1)


def _gather_nd(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    batch = int(rng.integers(0, len(shape)))
    found = _vectors(rng, shape, batch, (*shape[:batch], _count(rng)))
    return "onnx.gather_nd", {"data": values(rng, shape), "indices": found}, {"batch_dims": batch}


def _scatter_nd(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    found = _vectors(rng, shape, 0, (_count(rng),))
    data = values(rng, shape)
    updates = values(rng, (found.shape[0], *shape[found.shape[-1] :]), data.dtype.name)
    arrays = {"data": data, "indices": found, "updates": updates}
    return "onnx.scatter_nd", arrays, {"reduction": _reduction(rng, data)}


def _scatter_elements(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    axis = int(rng.integers(0, len(shape)))
    wanted = tuple(
        _count(rng) if at == axis else int(rng.integers(1, size + 1))
        for at, size in enumerate(shape)
    )
    data = values(rng, shape)
    arrays = {
        "data": data,
        "indices": indices(rng, shape[axis], wanted),
        "updates": values(rng, wanted, data.dtype.name),
    }
    return "onnx.scatter_elements", arrays, {"axis": axis, "reduction": _reduction(rng, data)}


def _scatter_reduce(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    operator, arrays, attrs = _scatter_elements(rng, shape)
    data, index, src = arrays.values()
    known = {"bool": "float32", "uint16": "int16"}.get(data.dtype.name, data.dtype.name)
    data, src = data.astype(known), src.astype(known)
    words = ["sum", "prod", "mean", "amax", "amin"]
    del operator
    return (
        "torch.scatter_reduce",
        {"input": data, "index": np.abs(index) % shape[attrs["axis"]], "src": src},
        {
            "dim": attrs["axis"],
            "reduce": str(rng.choice(words)),
            "include_self": bool(rng.random() < 0.5),
        },
    )


def _index_add(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    axis, count = int(rng.integers(0, len(shape))), _count(rng)
    data = values(rng, shape, "float32")
    source = values(rng, (*shape[:axis], count, *shape[axis + 1 :]), "float32")
    index = rng.integers(0, shape[axis], (count,))
    return "torch.index_add", {"input": data, "index": index, "source": source}, {"dim": axis}


def _take_clip(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    axis = int(rng.integers(0, len(shape)))
    index = rng.integers(-20, 20, (_count(rng),))
    mode = str(rng.choice(["clip", "wrap"]))
    return "numpy.take", {"a": values(rng, shape), "indices": index}, {"axis": axis, "mode": mode}


def _take_fill(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    index = rng.integers(-20, 20, (_count(rng),))
    data = values(rng, shape, "float32")
    return "jax.take", {"a": data, "indices": index}, {"axis": 0, "mode": "fill"}


def _flat(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    data = values(rng, shape)
    index = indices(rng, data.size, (_count(rng),))
    return "numpy.take", {"a": data, "indices": index}, {}


def _tensor_scatter(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    _, arrays, _ = _scatter_nd(rng, shape)
    data, found, updates = arrays.values()
    sizes = np.array(shape[: found.shape[-1]])
    arrays = {"tensor": data, "indices": np.abs(found) % sizes, "updates": updates}
    return "tensorflow.tensor_scatter_nd_update", arrays, {}


FAMILIES: tuple[Callable[..., Any], ...] = (
    _gather, _scatter_nd, _gather_elements, _scatter_elements, _gather_nd, _scatter_reduce,
    _take_clip, _index_add, _take_fill, _flat, _tensor_scatter, _scatter_nd,
)  # fmt: skip


def same_bits(found: Array, expected: Array) -> bool:
    """Whether two arrays are equal in type, shape and every bit."""
    alike = found.dtype == expected.dtype and found.shape == expected.shape
    return alike and found.tobytes() == np.ascontiguousarray(expected).tobytes()
