"""MXNet: the vector lies along the FIRST axis; `release` 1.6 does not check, 1.9 wraps.

Where MXNet would touch foreign memory the oracle refuses.
"""

from __future__ import annotations

import numpy as np

from . import families
from .rules import (
    INTEGERS,
    Array,
    Place,
    axis_within,
    clamped,
    from_end,
    from_start,
    modulo,
    operator,
    replace,
    require,
    require_type,
    zero_of,
)

DATA = ("bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64")
INDICES = (*INTEGERS, "float16", "float32", "float64")
MODES: dict[str, Place] = {"clip": clamped, "wrap": modulo, "raise": from_start}


def _not_empty(*arrays: Array) -> None:
    """The legacy operators know neither scalars nor zero sizes."""
    for array in arrays:
        require(array.ndim > 0 and array.size > 0, "shape", "a scalar or an empty array")


def _whole(index: float, lowest: int, highest: int) -> int:
    """Fractions are cut, but the bounds test and the wrap see the fraction."""
    require(lowest <= index <= highest, "index", f"{index} is outside {lowest}..{highest}")
    return int(index + (highest + 1) if index < 0 else index)


def _last_axis(indices: Array) -> Array:
    """TensorFlow's convention: the vector moved from the first axis to the last."""
    return np.moveaxis(indices, 0, -1)


@operator("mxnet.gather_nd")
def gather_nd(data: Array, indices: Array, release: str = "1.9") -> Array:
    """`out[y] = data[indices[:, y]]`."""
    require(release in ("1.6", "1.9"), "usage", f"release {release!r}")
    require_type(data, DATA, "data")
    require_type(indices, INDICES, "indices")
    _not_empty(data, indices)
    require(indices.ndim >= 2, "shape", "indices need at least 2 dimensions")
    require(indices.shape[0] <= data.ndim, "shape", "vectors are longer than data's rank")
    whole = np.empty(indices.shape, object)
    for p in np.ndindex(indices.shape):
        size, index = data.shape[p[0]], float(indices[p])
        if release == "1.6":  # cuts and does not check
            index = np.trunc(index)
        whole[p] = _whole(index, -size if release == "1.9" else 0, size - 1)
    return families.gather_vectors(data, _last_axis(whole), from_end)


@operator("mxnet.scatter_nd")
def scatter_nd(data: Array, indices: Array, shape: list[int], release: str = "1.9") -> Array:
    """Writes into zeros. MXNet checks no index."""
    require(release in ("1.6", "1.9"), "usage", f"release {release!r}")
    require_type(data, DATA, "data")
    require_type(indices, INDICES, "indices")
    require(all(size > 0 for size in shape), "shape", f"shape {shape}")
    _not_empty(data, indices)
    require(indices.ndim >= 2, "shape", "indices need at least 2 dimensions")
    require(indices.shape[0] <= len(shape), "shape", "vectors are longer than the output's rank")
    zeros = np.full(shape, zero_of(data), data.dtype)
    writes = families.writes_vectors(zeros, _last_axis(indices), data, from_start)
    return families.apply(zeros, writes, replace)


def _take(a: Array, indices: Array, axis: int, mode: str) -> Array:
    require(mode in MODES, "usage", f"unknown mode {mode!r}")
    require_type(indices, ("bool", *INDICES), "indices")
    a_axis = axis_within(axis, a.ndim)
    if mode == "raise":
        for index in indices.flat:
            _whole(float(index), 0, a.shape[a_axis] - 1)
    return families.gather_along(a, indices, a_axis, MODES[mode])


@operator("mxnet.take")
def take(a: Array, indices: Array, axis: int = 0, mode: str = "clip") -> Array:
    """Clips silently by default; raise accepts only [0, s-1]."""
    _not_empty(a, indices)
    return _take(a, indices, axis, mode)


@operator("mxnet.np.take")
def np_take(a: Array, indices: Array, axis: int | None = None, mode: str = "raise") -> Array:
    """`axis=None` reads the flattened array."""
    if axis is None:
        return _take(a.reshape(-1), indices, 0, mode)
    return _take(a, indices, axis, mode)


@operator("mxnet.pick")
def pick(
    data: Array, index: Array, axis: int = -1, keepdims: bool = False, mode: str = "clip"
) -> Array:
    """One element per position along axis."""
    require(mode in ("clip", "wrap"), "usage", f"mode {mode!r}")
    require_type(index, INDICES, "index")
    _not_empty(data, index)
    a = axis_within(axis, data.ndim)
    kept = (*data.shape[:a], 1, *data.shape[a + 1 :])
    reduced = data.shape[:a] + data.shape[a + 1 :] or (1,)
    expected = kept if index.ndim == data.ndim else reduced
    require(index.shape == expected, "shape", f"index {index.shape}, not {expected}")
    picked = families.gather_elements(data, index.reshape(kept), a, MODES[mode])
    return picked.reshape(kept if keepdims else reduced)


@operator("mxnet.batch_take")
def batch_take(a: Array, indices: Array) -> Array:
    """One cell of each row of a matrix, clipped."""
    require(a.dtype.kind != "b", "dtype", "no kernel for bool")
    require_type(indices, ("int32",), "indices")
    require(a.ndim == 2 and a.size > 0, "shape", "a is no matrix")
    require(indices.shape == a.shape[:1], "shape", "one index for each row")
    rows = [a[row, clamped(int(index), a.shape[1])] for row, index in enumerate(indices)]
    return np.array(rows, a.dtype)
