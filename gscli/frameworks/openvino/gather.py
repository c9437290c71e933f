"""OpenVINO: Gather, GatherElements and GatherND."""

from __future__ import annotations

from math import prod
from typing import Annotated

from gscli.base import check_rule
from gscli.base.words import INTEGERS
from gscli.declare import ShapeInput
from gscli.declare.attributes import AxisOption, Option
from gscli.frameworks.openvino import (
    FRAMEWORK,
    NUMERIC,
    PLUGIN_WRAPS,
    Opset,
    read_axis,
    unchecked_policy,
)
from gscli.frameworks.operator import Comparison
from gscli.layout import NewOutput, gather_layout
from gscli.layout.axes import Negative, OutOfBounds, Policy, Tensor
from gscli.layout.families import (
    address_axis,
    address_elements,
    address_vectors,
    check_off_axis_size,
    normalize_axis,
)
from gscli.layout.refusals import check_batch_dims, check_dtypes, check_min_rank

# [0, s-1] in the text; what OpenVINO 2026.4 does was seen by running it.
SEEN, NOTE = "reads 0 or outside data", "out of range the CPU plugin reads 0, or outside data"
READS_ZERO = Policy(Negative.OUTSIDE, note=NOTE, unchecked_outcomes=(SEEN, SEEN, SEEN))
FILLS_ZERO = Policy(out_of_bounds=OutOfBounds.SKIP, note=NOTE, unchecked_outcomes=("", SEEN, SEEN))

READS_OUTSIDE = (
    "the CPU plugin does not check this: -1 counts from the end there, and what lies beyond is "
    "read from another cell or memory outside data"
)

DATA_DTYPES = (*NUMERIC, "str")


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[2,0,-1]' 1",
    *Comparison("gather", "OpenVINO Gather-{}").expand_over("opset", {8: "8", 7: "7"}),
    versions=(1, 7, 8),
)
def gather(
    data: Tensor, indices: Tensor, axis: ShapeInput, *,
    batch_dims: Annotated[int, Option("leading axes that data and indices share", since=7)] = 0,
    opset: Opset = None,
) -> NewOutput:  # fmt: skip
    """Take slices of data along one axis, one per index.

    output = data[:axis] ++ indices[batch_dims:] ++ data[axis+1:] (shapes), each batch with its own
    indices. A negative batch_dims counts from the rank of indices; batch_dims ≤ axis.

    Gather-8: a negative index counts from the end, and an index outside -s … s-1 reads zero.
    Gather-1 and -7 expect 0 … s-1; their texts name no reaction, so everything else is refused here
    (the CPU plugin reads zero, negative indices too, but memory outside data, as in Gather-8, where
    the axis is empty, or where all of this is of rank 1 or 0 with at most 64 integers of 16 bits or
    more; folded constants count from the end).
    """
    check_dtypes(data, DATA_DTYPES, indices, INTEGERS)
    number = read_axis(data, axis)
    most = min(data.rank, indices.rank)
    batch = batch_dims + indices.rank if batch_dims < 0 else batch_dims
    where = f"batch_dims = {batch_dims}, axis = {number}"
    legal = f"-{most} … {min(most, number)}, and not beyond axis"
    fits = abs(batch_dims) <= most and batch <= number
    check_rule(fits, "batch_dims is out of range", where, data, indices, valid=legal)
    policy = FILLS_ZERO if opset == 8 else READS_ZERO  # noqa: PLR2004  the version
    return gather_layout(data, address_axis(data, indices, number, batch), policy)


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[[1,0,0]]' --axis 0",
    Comparison("gather-elements", "OpenVINO GatherElements-6"),
    versions=(6,),
)
def gather_elements(
    data: Tensor, indices: Tensor, *,
    axis: Annotated[int, AxisOption("axis of data that the indices address, -r … r-1")],
    opset: Opset = None,
) -> NewOutput:  # fmt: skip
    """Take single cells: the index replaces one coordinate of its own position.

    output has the shape of indices; for axis 0: output[i,j] = data[indices[i,j], j]. Off the axis
    indices and data have equal sizes. Legal: 0 … s-1; the CPU plugin counts negatives from the end.
    """
    check_dtypes(data, DATA_DTYPES, indices)
    number = normalize_axis(axis, data.rank)
    addressing = address_elements(data, indices, number)
    for dim, size in enumerate(data.shape):
        fits = dim == number or indices.shape[dim] == size
        check_off_axis_size(fits, data, indices, dim, f"{size}")
    return gather_layout(data, addressing, PLUGIN_WRAPS)


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[[1,2],[0,-1]]'",
    *Comparison("gather-nd", "OpenVINO GatherND-{}").expand_over("opset", {8: "8", 5: "5"}),
    versions=(5, 8),
)
def gather_nd(
    data: Tensor, indices: Tensor, *,
    batch_dims: Annotated[int, Option("leading axes that data and indices share")] = 0,
    opset: Opset = None,
) -> NewOutput:  # fmt: skip
    """Take the cell or slice that each index vector names.

    The last axis of indices holds vectors of k numbers for the first k axes of data (after
    batch_dims). output = indices.shape[:-1] ++ data.shape[batch_dims+k:]; GatherND-5 flattens the
    leading batch_dims axes of it into one.

    Legal: 0 … s-1 in GatherND-5, -s … s-1 in GatherND-8. Batch axes must be equal; the text would
    let an axis of size 1 stretch, but gives no shape for it and the CPU plugin refuses it. Vectors
    of no numbers copy data whole, by the formula; the CPU plugin leaves such an output unwritten.
    """
    check_dtypes(data, DATA_DTYPES, indices, INTEGERS)
    check_min_rank(data, indices)
    check_batch_dims(batch_dims, 0, min(data.rank, indices.rank) - 1, data, indices)
    addressing = address_vectors(data, indices, batch_dims)
    shape, old = addressing.result_shape, opset == 5  # noqa: PLR2004  the version
    if old and batch_dims > 1:
        shape = (prod(shape[:batch_dims]), *shape[batch_dims:])
    policy = unchecked_policy(READS_OUTSIDE, "unchecked", "unchecked", refuses_negative=old)
    return gather_layout(data, addressing, policy, output_shape=shape)
