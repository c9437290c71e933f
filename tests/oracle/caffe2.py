"""Caffe2: Gather, Scatter and ScatterAssign."""

from __future__ import annotations

import numpy as np

from . import families
from .rules import (
    Array,
    Place,
    axis_within,
    from_end,
    from_start,
    operator,
    replace,
    require,
    require_type,
    type_of,
)


@operator("caffe2.gather")
def gather(
    DATA: Array,  # noqa: N803  (Caffe2's own names)
    INDICES: Array,  # noqa: N803
    axis: int = 0,
    wrap_indices: bool | None = None,
    match_outer: bool = False,
) -> Array:
    """A negative index counts from the end when `axis` is written 0, or when told to."""
    data, indices = DATA, INDICES
    require_type(indices, ("int32", "int64"), "INDICES")
    a = axis_within(axis, data.ndim)
    wraps = axis == 0 if wrap_indices is None else wrap_indices
    place: Place = from_end if wraps else from_start
    if data.shape[a] == 0:
        return np.empty(data.shape, data.dtype)
    batch = 0
    if match_outer:
        require(a >= 1, "shape", "match_outer needs axis >= 1")
        require(indices.ndim >= a and data.shape[:a] == indices.shape[:a], "shape", "outer dims")
        batch = a
    output_shape = data.shape[:a] + indices.shape[batch:] + data.shape[a + 1 :]
    if 0 in output_shape:  # returns before it looks at an index
        return np.empty(output_shape, data.dtype)
    return families.gather_along(data, indices, a, place, batch=batch)


@operator("caffe2.scatter")
def scatter(
    DATA: Array,  # noqa: N803
    INDICES: Array,  # noqa: N803
    UPDATES: Array,  # noqa: N803
    axis: int = 1,
) -> Array:
    """ScatterElements whose default axis is 1; a negative index is refused."""
    data, indices, updates = DATA, INDICES, UPDATES
    require_type(indices, ("int32", "int64"), "INDICES")
    require(data.dtype == updates.dtype, "dtype", "UPDATES have another dtype")
    require(data.ndim == indices.ndim, "shape", "DATA and INDICES differ in rank")
    require(updates.shape == indices.shape, "shape", "UPDATES and INDICES differ in shape")
    a = axis_within(axis, data.ndim)
    for d in range(data.ndim):
        fits = d == a or indices.shape[d] <= data.shape[d]
        require(fits, "shape", f"INDICES are larger than DATA on axis {d}")
    for d in (*range(1, a), *range(a + 2, data.ndim)):
        # Positions before and behind the axis are numbered by INDICES alone.
        require(indices.shape[d] == data.shape[d], "shape", f"wrong cells on axis {d}")
    writes = families.writes_elements(data, indices, updates, a, from_start)
    return families.apply(data, writes, replace)


@operator("caffe2.scatter_assign")
def scatter_assign(
    DATA: Array,  # noqa: N803
    INDICES: Array,  # noqa: N803
    SLICES: Array,  # noqa: N803
) -> Array:
    """Whole rows; only the number of values in SLICES matters. Caffe2 checks no index."""
    data, indices, slices = DATA, INDICES.reshape(-1), SLICES
    require_type(indices, ("int32", "int64"), "INDICES")
    require(data.dtype == slices.dtype, "dtype", "SLICES have another dtype")
    require(type_of(data) != "int8", "dtype", "no kernel for int8")
    require(data.ndim >= 1, "shape", "DATA has rank 0")
    shape = (indices.size, *data.shape[1:])
    require(slices.size == int(np.prod(shape, dtype=int)), "shape", "SLICES have another size")
    writes = families.writes_along(data, indices, slices.reshape(shape), 0, from_start)
    return families.apply(data, writes, replace)
