"""PyTorch: segment_reduce, whose segments are known by their lengths or by where they begin."""

from __future__ import annotations

from math import nan
from typing import Annotated, Literal

from gscli.base import UsageError, check_rule
from gscli.base.words import FLOATS, empty_reduction
from gscli.declare.attributes import AxisOption, Option, parse_reduction
from gscli.frameworks.torch import FRAMEWORK, cast_scalar
from gscli.layout import NewOutput, scatter_layout
from gscli.layout.axes import (
    SKIP_OUTSIDE,
    GeneratedIndices,
    Number,
    SegmentNumbers,
    Tensor,
    Updates,
)
from gscli.layout.families import address_axis, normalize_axis
from gscli.layout.refusals import check_dtypes, check_min_rank


@FRAMEWORK.operator("'[[1.0,2.0],[3.0,4.0],[5.0,6.0]]' '[1,0,2]' --reduce sum")
def segment_reduce(
    data: Tensor,
    lengths: Tensor | None = None,
    offsets: Tensor | None = None,
    *,
    reduce: Annotated[
        Literal["sum", "mean", "max", "min", "prod", "amax", "amin"],
        Option("how the cells of a segment meet", role="reduction"),
    ],
    axis: Annotated[int, AxisOption("axis of data that has segments, the last one of lengths")] = 0,
    unsafe: Annotated[bool, Option("lengths may leave the end of the axis over")] = False,
    initial: Annotated[Number | None, Option("what every segment begins with")] = None,
) -> NewOutput:
    """Reduce each segment of an axis to one cell.

    output is data with the axis replaced by the segments. lengths say how many cells each segment
    has, or offsets where it begins and, one more, where the last one ends; lengths are not read
    beside them. Both have data's axes before axis, which PyTorch does not compare. Lengths add up
    to the axis, unless they are unsafe; what lies before or behind all offsets is left out in
    silence. PyTorch reads on behind data where offsets, or lengths that are unsafe, do; here that
    is refused. A segment without cells holds initial, or 0 (sum), 1 (prod), -inf (max), inf (min)
    and NaN (mean, whose initial is added and not counted). Halves are rounded after each step.
    """
    parts = lengths if offsets is None else offsets
    if parts is None:
        raise UsageError("segments are not known", valid="lengths or offsets")
    check_dtypes(data, FLOATS, parts)
    check_min_rank(data)
    place = normalize_axis(axis, data.rank, of=data.name)
    counted = parts.shape if parts is lengths else parts.shape[-1:]
    is_aligned = parts.shape[:-1] == data.shape[:place] and parts.rank == place + 1
    problem = f"{parts.name} do not fit axis {axis} of data"
    legal = "the sizes of data before the axis, and 1 or more behind"
    check_rule(is_aligned and 0 not in counted, problem, parts, data, valid=legal)
    count = parts.shape[place] - (parts is offsets)
    reduction = parse_reduction(reduce)
    fill = nan if reduction == "mean" else empty_reduction(data.dtype, reduction, infinite=True)
    rows = Tensor("output", (*data.shape[:place], count, *data.shape[place + 1 :]), data.dtype)
    positions = Tensor("segments", data.shape[: place + 1], "int64")
    recipe = SegmentNumbers(parts.name, parts is offsets, parts is lengths and not unsafe)
    made = GeneratedIndices(positions.name, recipe, positions.shape)
    return scatter_layout(
        None,
        Updates(data.name),
        address_axis(rows, positions, place, place)._replace(generated=(made,)),
        SKIP_OUTSIDE,
        dtype=data.dtype,
        reduction=reduction,
        include_self=initial is not None or reduction != "mean",
        fill=fill if initial is None else cast_scalar("initial", initial, data.dtype),
    )
