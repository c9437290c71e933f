"""OpenVINO: Gather 1/7/8, GatherElements 6, GatherND 5/8, ScatterUpdate 3, ScatterElementsUpdate
3/12 and ScatterNDUpdate 3/15. The text decides; where the CPU plugin departs from it, the help of
the operator says so. `axis` is an input tensor of one element, except in GatherElements, where it
is an attribute.

What the text leaves open is chosen as for ONNX: duplicates without a reduction are written in
row-major order of indices, the last one wins; sums and products are rounded after every update in
the data's own type (the plugin adds halves in float32); NaN propagates under max and min (the
plugin passes over updates that are NaN). int64 stays int64 and float64 stays float64; the plugin
narrows both. On one thread its refusals of an index are lost, and the output is left unfilled.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from gscli.base import ShapeRefused
from gscli.base.words import FLOATS, INTEGERS
from gscli.declare.attributes import Option
from gscli.frameworks.operator import Framework
from gscli.layout.axes import Negative, Policy, Tensor
from gscli.layout.families import normalize_axis
from gscli.layout.refusals import check_index_dtype

FRAMEWORK = Framework("openvino", "OpenVINO", newest=17)


def unchecked_policy(
    note: str, far_below: str = "", above: str = "", *, refuses_negative: bool
) -> Policy:
    """The policy of an operator whose plugin counts -s … -1 from the end, be they legal or not."""
    negative = Negative.OUTSIDE if refuses_negative else Negative.FROM_END
    return Policy(negative, note=note, unchecked_outcomes=("from the end", far_below, above))


# [0, s-1] in the text; what OpenVINO 2026.4 does was seen by running it.
PLUGIN_WRAPS = unchecked_policy("the CPU plugin counts -s … -1 from the end", refuses_negative=True)

NUMERIC = ("bool", *INTEGERS, *FLOATS)

Opset: TypeAlias = Annotated[int | None, Option("version of the operator; an opset finds its own")]


def read_axis(data: Tensor, axis: Tensor) -> int:
    """The one number of the axis tensor, normal."""
    check_index_dtype(axis, INTEGERS)
    if axis.shape not in ((), (1,)) or axis.values is None:
        raise ShapeRefused("axis must be one number", where=str(axis), valid="shape [] or [1]")
    return normalize_axis(axis.values[0], data.rank)
