"""TensorFlow: gather and gather_nd."""

from __future__ import annotations

from typing import Annotated

from gscli.base import IndexRefused, check_rule
from gscli.base.words import DTYPES
from gscli.declare.attributes import AxisOption, Option
from gscli.frameworks.operator import Comparison
from gscli.frameworks.tensorflow import (
    DEVICES,
    FRAMEWORK,
    BadIndices,
    Device,
    check_max_vector_length,
    choose_policy,
    list_types,
)
from gscli.layout import NewOutput, gather_layout
from gscli.layout.axes import CLIP_OUTSIDE, SKIP_OUTSIDE, Negative, Policy, Tensor, Truncation
from gscli.layout.families import address_axis, address_vectors, normalize_axis
from gscli.layout.refusals import check_batch_dims, check_dtypes, check_min_rank

# XLA's TorchIndexSelect, which runs a gather with a batch, converts int64 indices to uint32.
UNSIGNED = CLIP_OUTSIDE._replace(truncation=Truncation.UNSIGNED)

UNCHECKED = Policy(
    Negative.OUTSIDE,
    note="TensorFlow judges an index on all rows together, and may read another's",
    unchecked_outcomes=("may read another row",) * 3,
)

_GATHER = Comparison("gather", "TF gather {}")

INDEX_TYPES = ("int32", "int64", "int16")


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[2,0]' --axis 1",
    *_GATHER.expand_over("device", DEVICES),
    *_GATHER._replace(concept="take").expand_over("device", DEVICES),
)
def gather(
    params: Tensor, indices: Tensor, *,
    validate_indices: Annotated[bool | None, Option("has no effect, as in TensorFlow")] = None,
    axis: Annotated[int | None, AxisOption("axis that is indexed; default: batch_dims")] = None,
    batch_dims: Annotated[int, Option("leading axes that params and indices share, -q … q")] = 0,
    device: Device = "cpu",
) -> NewOutput:  # fmt: skip
    """Take slices of params along one axis, one per index.

    output = params[:axis] ++ indices[batch_dims:] ++ params[axis+1:] (shapes). A negative
    batch_dims counts on the rank q of indices, and batch_dims ≤ axis. Three oddities are kept: an
    axis written as 0 makes batch_dims vanish without a word, while the same axis written as -r
    is refused beside a batch; without an axis, a batch_dims of -1 also means the last axis of
    params; where the result is empty no index is looked at. XLA moves a bad index to the border,
    but beside a batch it reads int64 as 32 bits without a sign, so that -1 is the last row. What
    was moved is given no gradient; beside a batch TensorFlow may give it to another row of the
    batch, and gscli does not.
    """
    check_dtypes(params, list_types(DTYPES, device), indices, INDEX_TYPES)
    check_min_rank(params)
    batch = 0 if axis == 0 else batch_dims
    check_batch_dims(batch, -indices.rank, indices.rank, indices)
    batch += indices.rank * (batch < 0)
    name = "axis" if axis is not None else "axis = batch_dims"
    number = batch_dims if axis is None else axis
    where = normalize_axis(number, params.rank, name=name, of="params")
    problem, about = "batch_dims is beyond the axis", f"batch_dims = {batch_dims}, axis {where}"
    legal = f"batch_dims 0 … {where}"
    hint = "axis=0 written out would ignore batch_dims" if where == 0 else ""
    check_rule(batch <= where, problem, about, params, indices, valid=legal, hint=hint)
    addressing = address_axis(params, indices, where, batch)
    compiled = UNSIGNED if batch and indices.dtype == "int64" else CLIP_OUTSIDE
    policy = SKIP_OUTSIDE if 0 in addressing.result_shape else choose_policy(device, "", compiled)
    return gather_layout(params, addressing, policy)


@FRAMEWORK.operator(
    "'[[1,2],[3,4]]' '[[0,0],[1,1]]'",
    *Comparison("gather-nd", "TF gather_nd {}").expand_over("device", DEVICES),
)
def gather_nd(
    params: Tensor, indices: Tensor, *,
    batch_dims: Annotated[int, Option("leading axes that params and indices share, 0 … q-1")] = 0,
    bad_indices_policy: BadIndices = "",
    device: Device = "cpu",
) -> NewOutput:  # fmt: skip
    """Take the cell or slice that each index vector names.

    The last axis of indices holds vectors of m numbers for the first m axes of params after the
    batch: output = indices.shape[:-1] ++ params.shape[batch_dims+m:]. m may be 0, which copies all
    of params, and batch_dims + m at most 7. Empty params are refused as soon as something is asked
    of them, by IGNORE and for an empty result, too (gather would not look then).
    """
    check_dtypes(params, list_types(DTYPES, device), indices, INDEX_TYPES)
    check_min_rank(params, indices)
    check_batch_dims(batch_dims, 0, min(indices.rank - 1, params.rank), params, indices)
    addressing = address_vectors(params, indices, batch_dims)
    check_max_vector_length(indices, batch_dims)
    problem, legal = "params is empty, yet something is asked of it", "no index vector at all"
    fits = 0 not in params.shape or 0 in addressing.entry_shape
    check_rule(fits, problem, params, indices, kind=IndexRefused, valid=legal)
    policy = choose_policy(device, bad_indices_policy, CLIP_OUTSIDE)
    return gather_layout(params, addressing, policy)


@FRAMEWORK.operator("'[[1,2,3],[4,5,6]]' '[[2,0],[1,1]]'")
def batch_gather(params: Tensor, indices: Tensor) -> NewOutput:
    """Take slices of params within each batch (tf.compat.v1): all axes of indices but the last.

    output = indices.shape ++ params.shape[q:] for indices of rank q, whose first q-1 sizes are
    those of params. TensorFlow judges an index on all rows together: one outside its axis may read
    another row's cell, and gscli refuses it. gather with batch_dims = axis = q-1 came after it.
    """
    check_dtypes(params, DTYPES, indices)
    check_min_rank(params, indices)
    fits, legal = indices.rank <= params.rank, f"indices of rank 1 … {params.rank}"
    check_rule(fits, "indices has more axes than params", params, indices, valid=legal)
    last = indices.rank - 1
    return gather_layout(params, address_axis(params, indices, last, last), UNCHECKED)
