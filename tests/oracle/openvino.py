"""OpenVINO: the text decides where the CPU plugin departs from it."""

from __future__ import annotations

import numpy as np

from . import families
from .rules import (
    FLOATS,
    INTEGERS,
    Array,
    Combine,
    Place,
    add,
    axis_within,
    from_end,
    from_start,
    inside_or_skipped,
    largest,
    multiply,
    operator,
    replace,
    require,
    require_type,
    smallest,
    subtract,
    type_of,
    wrapped_once,
    zero_of,
)

NUMERIC = ("bool", *INTEGERS, *FLOATS)
REDUCTIONS: dict[str, Combine] = {
    "none": replace,
    "sum": add,
    "prod": multiply,
    "min": smallest,
    "max": largest,
}


def _axis(axis: Array, rank: int) -> int:
    """Axis is a tensor here: a scalar or one element, of any integer type."""
    require_type(axis, INTEGERS, "axis")
    require(axis.shape in ((), (1,)), "shape", f"axis has shape {axis.shape}")
    return axis_within(int(axis.reshape(())), rank)


def _same_type(data: Array, updates: Array) -> None:
    require(data.dtype == updates.dtype, "dtype", "updates have another dtype than data")


def _known(reduction: str, names: tuple[str, ...]) -> None:
    require(reduction in names, "usage", f"unknown reduction {reduction!r}")


@operator("openvino.gather")
def gather(data: Array, indices: Array, axis: Array, batch_dims: int = 0, opset: int = 8) -> Array:
    """Versions 1 and 7 expect [0, s-1]; 8 counts from the end and reads 0 outside."""
    require(batch_dims == 0 or opset >= 7, "usage", "batch_dims came with Gather-7")
    require_type(data, (*NUMERIC, "str"), "data")
    require_type(indices, INTEGERS, "indices")
    a = _axis(axis, data.ndim)
    most = min(data.ndim, indices.ndim)
    require(-most <= batch_dims <= most, "shape", f"batch_dims {batch_dims}")
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    require(batch <= a, "shape", "batch_dims is beyond axis")
    require(data.shape[:batch] == indices.shape[:batch], "shape", "batch dimensions differ")
    place: Place = wrapped_once(inside_or_skipped) if opset >= 8 else from_start
    return families.gather_along(data, indices, a, place, batch=batch, fill=zero_of(data))


@operator("openvino.gather_elements")
def gather_elements(data: Array, indices: Array, axis: int, opset: int = 6) -> Array:
    """GatherElements-6: [0, s-1], and equal sizes off the axis."""
    del opset
    require_type(data, (*NUMERIC, "str"), "data")
    require_type(indices, ("int32", "int64"), "indices")
    require(data.ndim == indices.ndim, "shape", "data and indices differ in rank")
    a = axis_within(axis, data.ndim)
    for d in range(data.ndim):
        same = d == a or data.shape[d] == indices.shape[d]
        require(same, "shape", f"sizes differ on axis {d}")
    return families.gather_elements(data, indices, a, from_start)


@operator("openvino.gather_nd")
def gather_nd(data: Array, indices: Array, batch_dims: int = 0, opset: int = 8) -> Array:
    """Version 5 refuses negatives and flattens the batch dimensions into one."""
    require_type(data, (*NUMERIC, "str"), "data")
    require_type(indices, INTEGERS, "indices")
    require(data.ndim >= 1 and indices.ndim >= 1, "shape", "rank 0")
    require(0 <= batch_dims < min(data.ndim, indices.ndim), "shape", f"batch_dims {batch_dims}")
    same = data.shape[:batch_dims] == indices.shape[:batch_dims]
    require(same, "shape", "batch dimensions differ")
    require(indices.shape[-1] + batch_dims <= data.ndim, "shape", "vectors are too long")
    place: Place = from_end if opset >= 8 else from_start
    output = families.gather_vectors(data, indices, place, batch=batch_dims)
    if opset < 8 and batch_dims > 1:
        flat = int(np.prod(output.shape[:batch_dims], dtype=int))
        return output.reshape(flat, *output.shape[batch_dims:])
    return output


@operator("openvino.scatter_update")
def scatter_update(
    data: Array, indices: Array, updates: Array, axis: Array, opset: int = 3
) -> Array:
    """ScatterUpdate-3: the write twin of Gather, [0, s-1]."""
    del opset
    require_type(data, NUMERIC, "data")
    require_type(indices, INTEGERS, "indices")
    _same_type(data, updates)
    a = _axis(axis, data.ndim)
    writes = families.writes_along(data, indices, updates, a, from_start)
    return families.apply(data, writes, replace)


@operator("openvino.scatter_elements_update")
def scatter_elements_update(
    data: Array,
    indices: Array,
    updates: Array,
    axis: Array,
    reduction: str | None = None,
    use_init_val: bool | None = None,
    opset: int = 12,
) -> Array:
    """Version 3 writes, [0, s-1]; 12 counts from the end and reduces."""
    old = opset < 12
    new_attributes = reduction is not None or use_init_val is not None
    require(not (old and new_attributes), "usage", "reductions came with version 12")
    name = reduction or "none"
    _known(name, (*REDUCTIONS, "mean"))
    require_type(data, NUMERIC, "data")
    require_type(indices, INTEGERS, "indices")
    _same_type(data, updates)
    require(indices.ndim == data.ndim, "shape", "data and indices differ in rank")
    require(updates.shape == indices.shape, "shape", "updates and indices differ in shape")
    a = _axis(axis, data.ndim)
    for d in range(data.ndim):
        fits = indices.shape[d] <= data.shape[d] or (d == a and not old)
        require(fits, "shape", f"indices are larger than data on axis {d}")
    require(name != "mean" or type_of(data) != "bool", "dtype", "no mean of bool")
    place: Place = from_start if old else from_end
    writes = families.writes_elements(data, indices, updates, a, place)
    keep = use_init_val is not False
    if name == "mean":
        total = families.apply(data, writes, add, keep_initial=keep)
        return families.divided(total, families.counts(data, writes, keep_initial=keep))
    return families.apply(data, writes, REDUCTIONS[name], keep_initial=keep or name == "none")


@operator("openvino.scatter_nd_update")
def scatter_nd_update(
    data: Array, indices: Array, updates: Array, reduction: str | None = None, opset: int = 15
) -> Array:
    """Version 3 writes and refuses negatives; 15 counts from the end and reduces."""
    require(reduction is None or opset >= 15, "usage", "reductions came with version 15")
    name = reduction or "none"
    _known(name, (*REDUCTIONS, "sub"))
    require_type(data, NUMERIC, "data")
    require_type(indices, ("int32", "int64"), "indices")
    _same_type(data, updates)
    require(data.ndim >= 1 and indices.ndim >= 1, "shape", "rank 0")
    require(indices.shape[-1] <= data.ndim, "shape", "vectors are longer than data's rank")
    wanted = indices.shape[:-1] + data.shape[indices.shape[-1] :]
    if wanted == () and updates.size == 1:  # the text allows one element in any shape here
        updates = updates.reshape(())
    place: Place = from_end if opset >= 15 else from_start
    writes = families.writes_vectors(data, indices, updates, place)
    return families.apply(data, writes, subtract if name == "sub" else REDUCTIONS[name])
