"""ONNX: Gather*, Scatter* by version, and TensorScatter."""

from __future__ import annotations

import numpy as np

from . import families
from .rules import (
    COMPLEX,
    INTEGERS,
    Array,
    Combine,
    add,
    axis_within,
    from_end,
    largest,
    multiply,
    operator,
    replace,
    require,
    require_type,
    smallest,
)

DATA = ("bool", *INTEGERS, "float16", "float32", "float64", *COMPLEX, "str")
INDICES = ("int32", "int64")
REDUCTIONS: dict[str, tuple[int, Combine]] = {
    "none": (11, replace),
    "add": (16, add),
    "mul": (16, multiply),
    "max": (18, largest),
    "min": (18, smallest),
}


def _types(data: Array, indices: Array, allowed: tuple[str, ...], opset: int) -> None:
    require_type(data, (*DATA, "bfloat16") if opset >= 13 else DATA, "data")
    require_type(indices, allowed, "indices")


def _updates(data: Array, updates: Array) -> None:
    require(updates.dtype == data.dtype, "dtype", "updates have another dtype than data")


def _reduction(name: str | None, opset: int) -> Combine:
    if name is None:
        return replace
    require(opset >= 16, "usage", "reduction came with opset 16")
    require(name in REDUCTIONS, "usage", f"unknown reduction {name!r}")
    since, combine = REDUCTIONS[name]
    require(opset >= since, "usage", f"{name} came with opset {since}")
    return combine


@operator("onnx.gather")
def gather(data: Array, indices: Array, axis: int = 0, opset: int = 13) -> Array:
    """Whole slices along one axis."""
    _types(data, indices, INDICES, opset)
    require(data.ndim >= 1, "shape", "data has rank 0")
    return families.gather_along(data, indices, axis_within(axis, data.ndim), from_end)


def _elements(data: Array, indices: Array, axis: int) -> int:
    require(data.ndim >= 1, "shape", "data has rank 0")
    require(indices.ndim == data.ndim, "shape", "data and indices differ in rank")
    axis = axis_within(axis, data.ndim)
    for d in range(data.ndim):
        fits = d == axis or indices.shape[d] <= data.shape[d]
        require(fits, "shape", f"indices are larger than data on axis {d}")
    return axis


@operator("onnx.gather_elements")
def gather_elements(data: Array, indices: Array, axis: int = 0, opset: int = 13) -> Array:
    """One element per index, the other coordinates from the position."""
    _types(data, indices, INDICES, opset)
    return families.gather_elements(data, indices, _elements(data, indices, axis), from_end)


@operator("onnx.gather_nd")
def gather_nd(data: Array, indices: Array, batch_dims: int | None = None, opset: int = 13) -> Array:
    """A vector of coordinates per entry, in the last axis of indices."""
    _types(data, indices, ("int64",), opset)
    require(batch_dims is None or opset >= 12, "usage", "batch_dims came with opset 12")
    batch = batch_dims or 0
    require(data.ndim >= 1 and indices.ndim >= 1, "shape", "rank 0")
    require(0 <= batch < min(data.ndim, indices.ndim), "shape", f"batch_dims {batch}")
    require(data.shape[:batch] == indices.shape[:batch], "shape", "batch dimensions differ")
    length = indices.shape[-1]
    require(1 <= length <= data.ndim - batch, "shape", f"vectors of length {length}")
    return families.gather_vectors(data, indices, from_end, batch=batch)


@operator("onnx.scatter")
def scatter(data: Array, indices: Array, updates: Array, axis: int = 0, opset: int = 9) -> Array:
    """Opset 9's name for ScatterElements; it ended with opset 10."""
    require(opset in (9, 10), "usage", "Scatter ended with opset 10")
    return _scatter_elements(data, indices, updates, axis, replace, opset)


@operator("onnx.scatter_elements")
def scatter_elements(
    data: Array,
    indices: Array,
    updates: Array,
    axis: int = 0,
    reduction: str | None = None,
    opset: int = 18,
) -> Array:
    """Write one element per index."""
    combine = _reduction(reduction, opset)
    return _scatter_elements(data, indices, updates, axis, combine, opset)


def _scatter_elements(
    data: Array, indices: Array, updates: Array, axis: int, combine: Combine, opset: int
) -> Array:
    _types(data, indices, INDICES, opset)
    _updates(data, updates)
    axis = _elements(data, indices, axis)
    require(updates.shape == indices.shape, "shape", "updates and indices differ in shape")
    return families.apply(
        data, families.writes_elements(data, indices, updates, axis, from_end), combine
    )


@operator("onnx.tensor_scatter")
def tensor_scatter(
    past_cache: Array,
    update: Array,
    write_indices: Array | None = None,
    axis: int = -2,
    mode: str = "linear",
    opset: int = 24,
) -> Array:
    """Each sample's update follows its own place in the cache; circular is modulo the axis."""
    require(opset >= 24, "usage", "TensorScatter came with opset 24")
    require(mode in ("linear", "circular"), "usage", f"mode {mode!r}")
    require(update.dtype == past_cache.dtype, "dtype", "update has another dtype")
    require(past_cache.ndim >= 2, "shape", "there is no axis beside the batch")
    axis = axis_within(axis, past_cache.ndim)
    require(axis != 0, "shape", "the sequence axis is not the batch axis")
    require(update.ndim == past_cache.ndim, "shape", "the ranks differ")
    for d in range(past_cache.ndim):
        own, other = update.shape[d], past_cache.shape[d]
        require(own <= other if d == axis else own == other, "shape", f"axis {d}")
    if write_indices is None:
        write_indices = np.zeros(past_cache.shape[0], np.int64)
    require_type(write_indices, ("int64",), "write_indices")
    require(write_indices.shape == past_cache.shape[:1], "shape", "one place for each sample")
    output, size = past_cache.copy(), past_cache.shape[axis]
    rows = {}
    for sample, step in np.ndindex(update.shape[0], update.shape[axis]):
        row = int(write_indices[sample]) + step
        rows[sample, step] = row % size if mode == "circular" else row
        require(0 <= rows[sample, step] < size, "index", f"row {row} of {size}")
    for place in np.ndindex(update.shape):
        row = rows[place[0], place[axis]]
        output[(*place[:axis], row, *place[axis + 1 :])] = update[place]
    return output


@operator("onnx.scatter_nd")
def scatter_nd(
    data: Array, indices: Array, updates: Array, reduction: str | None = None, opset: int = 18
) -> Array:
    """Write one slice per vector."""
    combine = _reduction(reduction, opset)
    _types(data, indices, ("int64",), opset)
    _updates(data, updates)
    require(data.ndim >= 1 and indices.ndim >= 1, "shape", "rank 0")
    require(indices.shape[-1] <= data.ndim, "shape", "vectors are longer than data's rank")
    return families.apply(data, families.writes_vectors(data, indices, updates, from_end), combine)
