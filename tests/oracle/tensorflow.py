"""TensorFlow 2.21: what CPU, GPU and XLA each do with a bad index."""

from __future__ import annotations

import numpy as np

from . import families
from .rules import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    Array,
    Combine,
    Operator,
    Place,
    add,
    axis_within,
    clamped,
    from_start,
    greater_wins,
    highest_of,
    inside_or_skipped,
    largest,
    less_wins,
    lowest_of,
    multiply,
    operator,
    replace,
    require,
    require_type,
    smallest,
    subtract,
    zero_of,
)

INDICES = ("int32", "int64")
SUMMED = ("int16", *INDICES)
NUMBERS = (*INTEGERS, *FLOATS)
EVERYTHING = ("bool", *NUMBERS, *COMPLEX, "str")
DEPTH_LIMIT = 7
XLA = ("xla", "xla_cpu")
DEVICES = ("cpu", "gpu", *XLA)


def _place(policy: str, device: str, *, writes: bool) -> Place:
    """Error on the CPU, zero or drop on the GPU; XLA clamps reads unless told to ignore."""
    require(policy in ("", "DEFAULT", "ERROR", "IGNORE"), "usage", f"bad_indices_policy {policy!r}")
    require(device in DEVICES, "usage", f"device {device!r}")
    require(policy != "ERROR" or device != "gpu", "usage", "ERROR is not supported on the GPU")
    if device in XLA:
        return inside_or_skipped if writes or policy == "IGNORE" else clamped
    ignored = policy == "IGNORE" or (policy in ("", "DEFAULT") and device == "gpu")
    return inside_or_skipped if ignored else from_start


def _require_type(array: Array, allowed: tuple[str, ...], name: str, device: str) -> None:
    """Neither a GPU nor XLA has kernels for strings."""
    require_type(array, allowed if device == "cpu" else tuple({*allowed} - {"str"}), name)


def _clamped_as_uint32(index: int, size: int) -> int:
    """XLA converts the int64 indices of a batched gather to uint32 before it clamps."""
    return clamped(index % 2**32, size)


@operator("tensorflow.gather")
def gather(
    params: Array,
    indices: Array,
    validate_indices: bool | None = None,
    axis: int | None = None,
    batch_dims: int = 0,
    device: str = "cpu",
) -> Array:
    """A negative `batch_dims` counts on the rank of indices; an explicit axis 0 makes it vanish.

    `axis=None` means `batch_dims` as it was written, so -1 is also the last axis of params.
    """
    del validate_indices
    _require_type(params, EVERYTHING, "params", device)
    require_type(indices, ("int16", *INDICES), "indices")
    require(params.ndim >= 1, "shape", "params has rank 0")
    place = _place("", device, writes=False)
    if axis == 0:
        batch_dims = 0
    require(-indices.ndim <= batch_dims <= indices.ndim, "shape", f"batch_dims {batch_dims}")
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    a = axis_within(batch_dims if axis is None else axis, params.ndim)
    require(batch <= a, "shape", "batch_dims is beyond axis")
    require(params.shape[:batch] == indices.shape[:batch], "shape", "batch dimensions differ")
    output_shape = params.shape[:a] + indices.shape[batch:] + params.shape[a + 1 :]
    if 0 in output_shape:  # nothing is copied, so no index is looked at
        return np.empty(output_shape, params.dtype)
    if batch and device in XLA and indices.dtype == np.int64:
        place = _clamped_as_uint32
    return families.gather_along(params, indices, a, place, batch=batch, fill=zero_of(params))


@operator("tensorflow.gather_nd")
def gather_nd(
    params: Array,
    indices: Array,
    batch_dims: int = 0,
    bad_indices_policy: str = "",
    device: str = "cpu",
) -> Array:
    """Vectors in the last axis; an empty vector copies all of params."""
    _require_type(params, EVERYTHING, "params", device)
    require_type(indices, ("int16", *INDICES), "indices")
    place = _place(bad_indices_policy, device, writes=False)
    require(params.ndim >= 1 and indices.ndim >= 1, "shape", "rank 0")
    require(0 <= batch_dims < indices.ndim, "shape", f"batch_dims {batch_dims}")
    require(params.shape[:batch_dims] == indices.shape[:batch_dims], "shape", "batch differs")
    length = indices.shape[-1] + batch_dims
    require(length <= min(params.ndim, DEPTH_LIMIT), "shape", f"vectors of length {length}")
    entries = int(np.prod(indices.shape[:-1], dtype=int))
    require(params.size > 0 or entries == 0, "index", "params is empty")
    fill = zero_of(params)
    return families.gather_vectors(params, indices, place, batch=batch_dims, fill=fill)


def _scatter(
    tensor: Array, indices: Array, updates: Array, place: Place, combine: Combine
) -> Array:
    require_type(indices, INDICES, "indices")
    require(tensor.dtype == updates.dtype, "dtype", "updates have another dtype")
    empty = tensor.size == 0
    asked = indices.size > 0 or updates.size > 0
    require(not (empty and asked), "shape", "indices and updates specified for empty output shape")
    require(indices.ndim >= (1 if empty else 2), "shape", "indices need one more axis")
    require(updates.ndim >= 1, "shape", "updates have rank 0")
    length = indices.shape[-1]
    require(empty or length >= 1, "shape", "vectors of length 0")
    require(length <= min(tensor.ndim, DEPTH_LIMIT), "shape", f"vectors of length {length}")
    writes = families.writes_vectors(tensor, indices, updates, place)
    return families.apply(tensor, writes, combine)


@operator("tensorflow.scatter_nd")
def scatter_nd(
    indices: Array,
    updates: Array,
    shape: Array,
    bad_indices_policy: str = "",
    device: str = "cpu",
) -> Array:
    """Sums into zeros: booleans OR, strings concatenate."""
    place = _place(bad_indices_policy, device, writes=True)
    _require_type(updates, EVERYTHING, "updates", device)
    require_type(indices, INDICES, "indices")
    require(shape.dtype == indices.dtype, "dtype", "shape and indices differ in dtype")
    require(shape.ndim == 1, "shape", "shape must be a vector")
    require(all(size >= 0 for size in shape), "shape", "a negative size")
    zeros = np.full([int(size) for size in shape], zero_of(updates), updates.dtype)
    return _scatter(zeros, indices, updates, place, add)


def _tensor_scatter(combine: Combine, allowed: tuple[str, ...]) -> Operator:
    def scatter(
        tensor: Array,
        indices: Array,
        updates: Array,
        bad_indices_policy: str = "",
        device: str = "cpu",
    ) -> Array:
        place = _place(bad_indices_policy, device, writes=True)
        _require_type(tensor, allowed, "tensor", device)
        return _scatter(tensor, indices, updates, place, combine)

    return scatter


operator("tensorflow.tensor_scatter_nd_update")(_tensor_scatter(replace, EVERYTHING))
operator("tensorflow.tensor_scatter_nd_add")(_tensor_scatter(add, (*NUMBERS, *COMPLEX)))
operator("tensorflow.tensor_scatter_nd_sub")(_tensor_scatter(subtract, (*NUMBERS, *COMPLEX)))
operator("tensorflow.tensor_scatter_nd_max")(_tensor_scatter(greater_wins, NUMBERS))
operator("tensorflow.tensor_scatter_nd_min")(_tensor_scatter(less_wins, NUMBERS))


def _negative_dropped(index: int, size: int) -> int | None:
    return None if index < 0 else from_start(index, size)


def _segment_writes(
    data: Array, segment_ids: Array, num_segments: int, device: str
) -> tuple[Array, list[families.Write]]:
    require(device in DEVICES, "usage", f"device {device!r}")
    require(num_segments >= 0, "shape", "a negative number of segments")
    rank = segment_ids.ndim
    require(data.shape[:rank] == segment_ids.shape, "shape", "data does not start with the ids")
    none = num_segments == 0 and segment_ids.size > 0 and device in XLA
    require(not none, "shape", "Scatter dimension 0 is of size zero")
    output = np.full((num_segments, *data.shape[rank:]), zero_of(data), data.dtype)
    checked = device == "cpu" and data.size > 0  # the kernel returns before it looks at an id
    place: Place = _negative_dropped if checked else inside_or_skipped
    return output, families.writes_vectors(output, segment_ids[..., None], data, place)


def _segments(
    combine: Combine, identity: Operator, allowed: tuple[str, ...], ids: tuple[str, ...] = INDICES
) -> Operator:
    def segment(data: Array, segment_ids: Array, num_segments: int, device: str = "cpu") -> Array:
        require_type(data, allowed, "data")
        require_type(segment_ids, ids, "segment_ids")
        output, writes = _segment_writes(data, segment_ids, num_segments, device)
        output[...] = identity(data)
        return families.apply(output, writes, combine)

    return segment


def _one(data: Array) -> Array:
    return data.dtype.type(1)  # type: ignore[no-any-return]


operator("tensorflow.unsorted_segment_sum")(_segments(add, zero_of, (*NUMBERS, *COMPLEX), SUMMED))
operator("tensorflow.unsorted_segment_prod")(_segments(multiply, _one, (*NUMBERS, *COMPLEX)))
operator("tensorflow.unsorted_segment_max")(
    _segments(largest, lambda data: lowest_of(data, infinite=False), NUMBERS)
)
operator("tensorflow.unsorted_segment_min")(
    _segments(smallest, lambda data: highest_of(data, infinite=False), NUMBERS)
)


@operator("tensorflow.unsorted_segment_mean")
def unsorted_segment_mean(
    data: Array, segment_ids: Array, num_segments: int, device: str = "cpu"
) -> Array:
    """The sum divided by how many ids met; an empty segment is 0.

    Integers are summed as such and divided as floats (true division); tf.maximum, which keeps the
    divisor above zero, has no complex kernel.
    """
    require_type(data, NUMBERS, "data")
    require_type(segment_ids, SUMMED, "segment_ids")
    # The ids are counted by summing a one for each, and a sum of ones is never empty of data.
    _segment_writes(np.ones(segment_ids.shape, np.float32), segment_ids, num_segments, device)
    output, writes = _segment_writes(data, segment_ids, num_segments, device)
    total = families.apply(output, writes, add)
    if data.dtype.kind in "iu":
        total = total.astype(np.float32 if data.dtype.itemsize <= 2 else np.float64)
    return families.divided(total, families.counts(output, writes, keep_initial=False))


@operator("tensorflow.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(
    data: Array, segment_ids: Array, num_segments: int, device: str = "cpu"
) -> Array:
    """The sum over the root of how many ids met, in data's type; tf.sqrt has no whole numbers."""
    require_type(data, FLOATS, "data")
    require_type(segment_ids, SUMMED, "segment_ids")
    _segment_writes(np.ones(segment_ids.shape, np.float32), segment_ids, num_segments, device)
    output, writes = _segment_writes(data, segment_ids, num_segments, device)
    total = families.apply(output, writes, add)
    counts = families.counts(output, writes, keep_initial=False)
    for place in np.ndindex(total.shape):
        total[place] = total[place] / np.sqrt(total.dtype.type(counts[place]))
    return total


@operator("tensorflow.batch_gather")
def batch_gather(params: Array, indices: Array) -> Array:
    """All axes of indices but the last are batches; an index stays within its axis."""
    require_type(params, EVERYTHING, "params")
    require_type(indices, INDICES, "indices")
    require(params.ndim >= 1 and indices.ndim >= 1, "shape", "rank 0")
    axis = indices.ndim - 1
    require(axis < params.ndim, "shape", "more batch axes than params has axes")
    require(params.shape[:axis] == indices.shape[:axis], "shape", "batch dimensions differ")
    return families.gather_along(params, indices, axis, from_start, batch=axis)


def _variable_scatter(combine: Combine, allowed: tuple[str, ...]) -> Operator:
    def scatter(ref: Array, indices: Array, updates: Array) -> Array:
        require_type(ref, allowed, "ref")
        require_type(indices, INDICES, "indices")
        require(ref.dtype == updates.dtype, "dtype", "updates have another dtype")
        require(ref.ndim >= 1 and indices.ndim >= 2, "shape", "rank")
        asked = indices.size > 0 or updates.size > 0
        require(not (ref.size == 0 and asked), "shape", "something for an empty variable")
        length = indices.shape[-1]
        require(1 <= length <= min(ref.ndim, DEPTH_LIMIT), "shape", f"vectors of length {length}")
        return families.apply(
            ref, families.writes_vectors(ref, indices, updates, from_start), combine
        )

    return scatter


operator("tensorflow.scatter_nd_update")(_variable_scatter(replace, EVERYTHING))
operator("tensorflow.scatter_nd_add")(_variable_scatter(add, ("bool", *NUMBERS, *COMPLEX)))
operator("tensorflow.scatter_nd_sub")(_variable_scatter(subtract, ("bool", *NUMBERS, *COMPLEX)))
operator("tensorflow.scatter_nd_max")(_variable_scatter(greater_wins, NUMBERS))
operator("tensorflow.scatter_nd_min")(_variable_scatter(less_wins, NUMBERS))


def _sorted_segments(combine: Combine, empty: int, allowed: tuple[str, ...]) -> Operator:
    def segment(data: Array, segment_ids: Array) -> Array:
        require_type(data, allowed, "data")
        require_type(segment_ids, INDICES, "segment_ids")
        require(data.ndim >= 1, "shape", "data has rank 0")
        require(segment_ids.shape == data.shape[:1], "shape", "one id for each row")
        ids = [int(number) for number in segment_ids]
        require(ids == sorted(ids), "index", "ids are not in ascending order")
        require(not ids or ids[0] >= 0, "index", "a negative id")
        rows = ids[-1] + 1 if ids else 0
        output = np.full((rows, *data.shape[1:]), empty).astype(data.dtype)
        writes = families.writes_vectors(output, segment_ids[:, None], data, from_start)
        lone = families.apply(output, writes, combine, keep_initial=False)
        total = families.apply(output, writes, combine) if combine in (add, multiply) else lone
        count = families.counts(output, writes, keep_initial=False)
        if combine is _averaged:
            total = families.divided(families.apply(output, writes, add), count)
        return np.where(count == 1, lone, total)  # one row is copied, -0.0 and infinities as well

    return segment


def _averaged(old: object, new: object) -> object:
    return add(old, new)


operator("tensorflow.segment_sum")(_sorted_segments(add, 0, (*NUMBERS, *COMPLEX)))
operator("tensorflow.segment_prod")(_sorted_segments(multiply, 1, (*NUMBERS, *COMPLEX)))
operator("tensorflow.segment_max")(_sorted_segments(largest, 0, NUMBERS))
operator("tensorflow.segment_min")(_sorted_segments(smallest, 0, NUMBERS))
operator("tensorflow.segment_mean")(_sorted_segments(_averaged, 0, (*FLOATS, *COMPLEX)))
