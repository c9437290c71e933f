"""OpenVINO: Gather 1/7/8, GatherElements 6, GatherND 5/8, ScatterUpdate 3, ScatterElementsUpdate
3/12 and ScatterNDUpdate 3/15. The text decides; where the CPU plugin departs from it, the help of
the operator says so. `axis` is an input tensor of one element, except in GatherElements, where it
is an attribute.

What the text leaves open is chosen as for ONNX: duplicates without a reduction are written in
row-major order of indices, the last one wins; sums and products are rounded after every update in
the data's own type (the plugin adds halves in float32); NaN propagates under max and min (the
plugin ignores it). int64 stays int64 and float64 stays float64; the plugin narrows both.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Annotated, Literal, TypeAlias

from gscli import dtypes
from gscli.checks import allow, exact_shape, index_types, reduction_has_meaning, same_type
from gscli.concepts import Attrs, Call, Comparison
from gscli.declare import Framework, Option, Values
from gscli.errors import ShapeRefused
from gscli.families import (
    along_axis,
    described,
    elements,
    normal_axis,
    off_axis,
    show_shape,
    vectors,
)
from gscli.layout import (
    Addressing,
    Beyond,
    Fit,
    Layout,
    Negative,
    Policy,
    Reduction,
    Tensor,
    Updates,
    gather_layout,
    scatter_layout,
)

FRAMEWORK = Framework("openvino", "OpenVINO")

FROM_START = Policy(Negative.OUTSIDE)
"""[0, s-1]; negative or larger is an error."""

READS_OUTSIDE = "the CPU plugin does not check this and reads memory outside data"
WRITES_BEFORE = "the CPU plugin counts negatives from the end and below -s writes outside data"

OPEN_ORDER = "OpenVINO leaves the order of updates to one place undefined"

NUMERIC = ("bool", *dtypes.INTEGERS, *dtypes.FLOATS)
SUPPORTED = (*NUMERIC, "str")

REDUCTIONS: dict[str, Reduction] = {
    "none": "none", "sum": "add", "sub": "sub", "prod": "mul", "min": "min", "max": "max",
    "mean": "mean",
}  # fmt: skip

Opset: TypeAlias = Annotated[int | None, Option("version of the operator; an opset finds its own")]


@FRAMEWORK.operator(
    versions=(1, 7, 8),
    example="'[[1,2,3],[4,5,6]]' '[2,0,-1]' 1",
    refused="'[[1,2,3],[4,5,6]]' '[2,0,-1]' 1 --opset 7",
)
def gather(
    data: Tensor,
    indices: Tensor,
    axis: Values,
    *,
    batch_dims: Annotated[int, Option("leading axes that data and indices share", since=7)] = 0,
    opset: Opset = None,
) -> Layout:
    """Take slices of data along one axis, one per index.

    output = data[:axis] ++ indices[batch_dims:] ++ data[axis+1:] (shapes), each batch with its own
    indices. A negative batch_dims counts from the rank of indices; batch_dims ≤ axis.

    Gather-8: a negative index counts from the end, and an index outside -s … s-1 reads zero.
    Gather-1 and -7 expect 0 … s-1; their texts name no reaction, so everything else is refused here
    (the CPU plugin reads zero, negative indices too; folded constants count from the end).
    """
    allow(data, SUPPORTED)
    index_types(indices, dtypes.INTEGERS)
    number = _axis(data, axis)
    most = min(data.rank, indices.rank)
    batch = batch_dims + indices.rank if batch_dims < 0 else batch_dims
    if abs(batch_dims) > most or batch > number:
        raise ShapeRefused(
            "batch_dims is out of range",
            where=f"batch_dims = {batch_dims}, axis = {number}",
            details=(described(data), described(indices)),
            valid=f"-{most} … {min(most, number)}, and not beyond axis",
        )
    policy = Policy(beyond=Beyond.SKIP) if opset == 8 else FROM_START  # noqa: PLR2004  the version
    return gather_layout(data, along_axis(data, indices, number, batch), policy)


@FRAMEWORK.operator(
    versions=(6,),
    example="'[[1,2,3],[4,5,6]]' '[[1,0,0]]' --axis 0",
    refused="'[[1,2,3],[4,5,6]]' '[[-1,0,0]]' --axis 0",
)
def gather_elements(
    data: Tensor,
    indices: Tensor,
    *,
    axis: Annotated[int, Option("axis of data that the indices address, -r … r-1")],
    opset: Opset = None,
) -> Layout:
    """Take single cells: the index replaces one coordinate of its own position.

    output has the shape of indices; for axis 0: output[i,j] = data[indices[i,j], j]. Off the axis
    indices and data have equal sizes. Legal: 0 … s-1; the CPU plugin counts negatives from the end.
    """
    del opset  # one version so far
    allow(data, SUPPORTED)
    index_types(indices)
    number = normal_axis(axis, data.rank)
    addressing = elements(data, indices, number)
    for dim, size in enumerate(data.shape):
        if dim != number and indices.shape[dim] != size:
            raise off_axis(data, indices, dim, f"{size}")
    return gather_layout(data, addressing, FROM_START)


@FRAMEWORK.operator(
    versions=(5, 8),
    example="'[[1,2,3],[4,5,6]]' '[[1,2],[0,-1]]'",
    refused="'[[1,2,3],[4,5,6]]' '[[1,3]]'",
)
def gather_nd(
    data: Tensor,
    indices: Tensor,
    *,
    batch_dims: Annotated[int, Option("leading axes that data and indices share")] = 0,
    opset: Opset = None,
) -> Layout:
    """Take the cell or slice that each index vector names.

    The last axis of indices holds vectors of k numbers for the first k axes of data (after
    batch_dims). output = indices.shape[:-1] ++ data.shape[batch_dims+k:]; GatherND-5 flattens the
    leading batch_dims axes of it into one.

    Legal: 0 … s-1 in GatherND-5, -s … s-1 in GatherND-8. Batch axes must be equal; the text would
    let an axis of size 1 stretch, but gives no shape for it and the CPU plugin refuses it.
    """
    allow(data, SUPPORTED)
    index_types(indices, dtypes.INTEGERS)
    smallest = min(data.rank, indices.rank)
    if not 0 <= batch_dims < smallest:
        raise ShapeRefused(
            "batch_dims is out of range" if smallest else "rank 0 is not allowed",
            where=f"batch_dims = {batch_dims}",
            details=(described(data), described(indices)),
            valid=f"0 … {smallest - 1}" if smallest else "rank 1 or more",
        )
    addressing = vectors(data, indices, batch_dims)
    shape = addressing.result_shape
    if opset == 5 and batch_dims > 1:  # noqa: PLR2004  the version
        shape = (prod(shape[:batch_dims]), *shape[batch_dims:])
    negative = Negative.OUTSIDE if opset == 5 else Negative.FROM_END  # noqa: PLR2004  the version
    return gather_layout(data, addressing, Policy(negative, note=READS_OUTSIDE), output_shape=shape)


@FRAMEWORK.operator(
    versions=(3,),
    example="'[[1,2,3],[4,5,6],[7,8,9]]' '[2,0]' '[[70,80,90],[10,20,30]]' 0",
    refused="'[[1,2,3],[4,5,6],[7,8,9]]' '[2,-1]' '[[70,80,90],[10,20,30]]' 0",
    bare=True,
)
def scatter_update(
    data: Tensor, indices: Tensor, updates: Tensor, axis: Values, *, opset: Opset = None
) -> Layout:
    """Write slices of data along one axis, one per index: the write twin of Gather.

    data[…, indices[m,n,…], …] = updates[…, m,n,…, …]; updates has the shape
    data[:axis] ++ indices ++ data[axis+1:]. Indices may have any rank; legal: 0 … s-1 on an axis of
    size s. The CPU plugin refuses indices of rank 0, which the text allows.
    """
    del opset  # one version so far
    allow(data, NUMERIC)
    index_types(indices, dtypes.INTEGERS)
    number = _axis(data, axis)
    addressing = along_axis(data, indices, number)
    parts = (
        f"data[:{number}] {show_shape(data.shape[:number])} + "
        f"indices {show_shape(indices.shape)} + "
        f"data[{number + 1}:] {show_shape(data.shape[number + 1 :])}"
    )
    exact_shape(updates, addressing.result_shape, parts)
    return _scatter(data, Updates(updates.name), updates, addressing, FROM_START)


@FRAMEWORK.operator(
    versions=(3, 12),
    example="'[10,20,30]' '[0,-1,0]' '[1,2,3]' 0 --reduction sum",
    refused="'[10,20,30]' '[0,3]' '[1,2]' 0",
)
def scatter_elements_update(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: Values,
    *,
    reduction: Annotated[
        Literal["none", "sum", "prod", "min", "max", "mean"],
        Option("how an update meets the value already there", since=12),
    ] = "none",
    use_init_val: Annotated[
        bool, Option("data's value takes part in the reduction; without effect for none", since=12)
    ] = True,
    opset: Opset = None,
) -> Layout:
    """Write single cells: the index replaces one coordinate of its own position.

    For axis 0: output[indices[i,j], j] = updates[i,j]. updates has the shape of indices; off the
    axis indices may be smaller than data; along it they may be longer from version 12 on.

    Legal: 0 … s-1 in version 3, -s … s-1 in version 12. mean of integers rounds toward minus
    infinity (the CPU plugin cuts toward zero) and is refused for bool; sum of bool is OR, prod and
    min are AND, max is OR.
    """
    old = opset == 3  # noqa: PLR2004  the version
    allow(data, NUMERIC if old else SUPPORTED)
    index_types(indices, dtypes.INTEGERS)
    number = _axis(data, axis)
    addressing = elements(data, indices, number)
    if old and indices.shape[number] > data.shape[number]:
        raise off_axis(data, indices, number, f"0 … {data.shape[number]}; version 12 lifts this")
    exact_shape(updates, indices.shape, f"{indices.name}.shape")
    negative = Negative.OUTSIDE if old else Negative.FROM_END
    return _scatter(
        data,
        Updates(updates.name),
        updates,
        addressing,
        Policy(negative, note=WRITES_BEFORE),
        REDUCTIONS[reduction],
        include_self=use_init_val or reduction == "none",
    )


@FRAMEWORK.operator(
    versions=(3, 15),
    example="'[1,2,3,4]' '[[0],[2],[-3],[0]]' '[10,20,30,50]' --reduction sub",
    refused="'[1,2,3,4]' '[[0],[4]]' '[10,20]'",
)
def scatter_nd_update(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    reduction: Annotated[
        Literal["none", "sum", "sub", "prod", "min", "max"],
        Option("how an update meets the value already there", since=15),
    ] = "none",
    opset: Opset = None,
) -> Layout:
    """Write the cell or slice that each index vector names.

    The last axis of indices holds vectors of k numbers for the first k axes of data.
    updates.shape = indices.shape[:-1] ++ data.shape[k:]; where that is rank 0, any one element will
    do (the CPU plugin refuses it).

    Legal: 0 … s-1 in version 3, -s … s-1 in version 15. sum, sub and prod of bool are OR, XOR, AND.
    """
    allow(data, NUMERIC)
    index_types(indices)
    for tensor in (data, indices):
        if tensor.rank == 0:
            raise ShapeRefused(
                "rank 0 is not allowed", where=described(tensor), valid="rank 1 or more"
            )
    addressing = vectors(data, indices)
    wanted, length = addressing.result_shape, indices.shape[-1]
    single = wanted == () and set(updates.shape) <= {1}
    if not single:
        parts = (
            f"{indices.name}.shape[:-1] {show_shape(indices.shape[:-1])} + "
            f"{data.name}.shape[{length}:] {show_shape(data.shape[length:])}"
        )
        exact_shape(updates, wanted, parts)
    values = Updates(updates.name, Fit.RESHAPE if single else Fit.EXACT)
    policy = FROM_START if opset == 3 else Policy()  # noqa: PLR2004  the version
    return _scatter(data, values, updates, addressing, policy, REDUCTIONS[reduction])


def _axis(data: Tensor, axis: Tensor) -> int:
    """The one number of the axis tensor, normal."""
    index_types(axis, dtypes.INTEGERS)
    if axis.shape not in ((), (1,)) or axis.values is None:
        raise ShapeRefused(
            "axis must be one number", where=described(axis), valid="shape [] or [1]"
        )
    return normal_axis(axis.values[0], data.rank)


def _scatter(
    data: Tensor,
    values: Updates,
    updates: Tensor,
    addressing: Addressing,
    policy: Policy,
    reduction: Reduction = "none",
    *,
    include_self: bool = True,
) -> Layout:
    same_type(data, updates)
    why = "the text defines sum, sub and prod of bool; max and min follow from false < true"
    reduction_has_meaning(data, reduction, why, ("max", "min") if data.dtype == "bool" else ())
    return scatter_layout(
        data,
        values,
        addressing,
        policy,
        reduction=reduction,
        include_self=include_self,
        open_order=OPEN_ORDER,
    )


_REDUCTIONS = {
    "none": "none", "add": "sum", "sub": "sub", "mul": "prod", "max": "max", "min": "min",
    "mean": "mean",
}  # fmt: skip


def _batched(opset: int) -> Callable[[Call], Attrs]:
    return lambda call: {"batch_dims": call.batch_dims, "opset": opset}


def _reduced(call: Call, without: str) -> Attrs:
    name = _REDUCTIONS.get(call.reduction, without)
    return None if name == without else {"reduction": name}


FRAMEWORK.compare(
    gather,
    *(
        Comparison(
            "gather",
            f"OpenVINO Gather-{opset}",
            ("data", "indices"),
            _batched(opset),
            axis_input="axis",
        )
        for opset in (8, 7)
    ),
)
FRAMEWORK.compare(
    gather_elements,
    Comparison(
        "gather-elements",
        "OpenVINO GatherElements-6",
        ("data", "indices"),
        lambda call: {"axis": call.axis or 0},
    ),
)
FRAMEWORK.compare(
    gather_nd,
    *(
        Comparison("gather-nd", f"OpenVINO GatherND-{opset}", ("data", "indices"), _batched(opset))
        for opset in (8, 5)
    ),
)
FRAMEWORK.compare(
    scatter_update,
    Comparison(
        "scatter-update",
        "OpenVINO ScatterUpdate-3",
        ("data", "indices", "updates"),
        lambda _: {},
        axis_input="axis",
    ),
)
FRAMEWORK.compare(
    scatter_elements_update,
    Comparison(
        "scatter-elements",
        "OpenVINO ScatterElementsUpdate-12",
        ("data", "indices", "updates"),
        lambda call: _reduced(call, "sub"),
        axis_input="axis",
    ),
)
FRAMEWORK.compare(
    scatter_nd_update,
    Comparison(
        "scatter-nd",
        "OpenVINO ScatterNDUpdate-15",
        ("data", "indices", "updates"),
        lambda call: _reduced(call, "mean"),
    ),
)
