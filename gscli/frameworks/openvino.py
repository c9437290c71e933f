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

from typing import Annotated, TypeAlias

from gscli import dtypes
from gscli.checks import allow, exact_shape, index_types, same_type
from gscli.declare import Framework, Option, Values
from gscli.errors import ShapeRefused
from gscli.families import along_axis, described, normal_axis, show_shape
from gscli.layout import Layout, Negative, Policy, Tensor, Updates, scatter_layout

FRAMEWORK = Framework("openvino", "OpenVINO")

FROM_START = Policy(Negative.OUTSIDE)
"""[0, s-1]; negative or larger is an error."""

OPEN_ORDER = "OpenVINO leaves the order of updates to one place undefined"

NUMERIC = ("bool", *dtypes.INTEGERS, *dtypes.FLOATS)

Opset: TypeAlias = Annotated[int | None, Option("operator set; the version in force then is used")]


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
    same_type(data, updates)
    number = _axis(data, axis)
    addressing = along_axis(data, indices, number)
    exact_shape(
        updates,
        addressing.result_shape,
        f"data[:{number}] {show_shape(data.shape[:number])} + "
        f"indices {show_shape(indices.shape)} + "
        f"data[{number + 1}:] {show_shape(data.shape[number + 1 :])}",
    )
    return scatter_layout(
        data, Updates(updates.name), addressing, FROM_START, open_order=OPEN_ORDER
    )


def _axis(data: Tensor, axis: Tensor) -> int:
    """The one number of the axis tensor, normal."""
    index_types(axis, dtypes.INTEGERS)
    if axis.shape not in ((), (1,)) or axis.values is None:
        raise ShapeRefused(
            "axis must be one number", where=described(axis), valid="shape [] or [1]"
        )
    return normal_axis(axis.values[0], data.rank)
