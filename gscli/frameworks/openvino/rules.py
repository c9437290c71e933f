"""OpenVINO: the rules that its operators share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from gscli.base import ShapeRefused
from gscli.base.words import FLOATS, INTEGERS
from gscli.declare.attributes import Option
from gscli.frameworks.operator import Framework
from gscli.layout.axes import RAISE_OUTSIDE, Tensor
from gscli.layout.families import describe, normalize_axis
from gscli.layout.refusals import check_index_dtype

FRAMEWORK = Framework("openvino", "OpenVINO", newest=17)

PLUGIN_WRAPS = RAISE_OUTSIDE._replace(
    note="the CPU plugin counts -s … -1 from the end, and refuses what lies beyond",
    unchecked_outcomes=("from the end", ""),
)
"""[0, s-1] in the text; what OpenVINO 2026.4 does was seen by running it."""

NUMERIC = ("bool", *INTEGERS, *FLOATS)

Opset: TypeAlias = Annotated[int | None, Option("version of the operator; an opset finds its own")]


def read_axis(data: Tensor, axis: Tensor) -> int:
    """The one number of the axis tensor, normal."""
    check_index_dtype(axis, INTEGERS)
    if axis.shape not in ((), (1,)) or axis.values is None:
        raise ShapeRefused("axis must be one number", where=describe(axis), valid="shape [] or [1]")
    return normalize_axis(axis.values[0], data.rank)
