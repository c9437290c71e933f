"""OpenVINO: the rules that its operators share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from gscli import dtypes
from gscli.checks import index_types
from gscli.declare import Framework, Option
from gscli.errors import ShapeRefused
from gscli.families import described, normal_axis
from gscli.layout import Negative, Policy, Tensor

FRAMEWORK = Framework("openvino", "OpenVINO")

FROM_START = Policy(Negative.OUTSIDE)
"""[0, s-1]; negative or larger is an error."""

NUMERIC = ("bool", *dtypes.INTEGERS, *dtypes.FLOATS)

Opset: TypeAlias = Annotated[int | None, Option("version of the operator; an opset finds its own")]


def axis_number(data: Tensor, axis: Tensor) -> int:
    """The one number of the axis tensor, normal."""
    index_types(axis, dtypes.INTEGERS)
    if axis.shape not in ((), (1,)) or axis.values is None:
        raise ShapeRefused(
            "axis must be one number", where=described(axis), valid="shape [] or [1]"
        )
    return normal_axis(axis.values[0], data.rank)
