"""Addresses: a plan's index numbers judged, wrapped and folded in one pass, or by the plan itself.

The one pass is compiled and knows one policy, the common one: each number is one row, as it stands
or from the end, or is refused. All else is the plan's. No address leaves here that was not judged:
compiled loops and `take` in mode "wrap" go wherever it points.
"""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array, Flags, Indices
from gscli.base.errors import CannotRead
from gscli.kernel import loops
from gscli.layout.axes import Negative
from gscli.plan.plan import JudgedPlan


def rows_of(
    plan: JudgedPlan,
    first: int,
    last: int,
    steps: tuple[int, ...],
    parts: int = 1,
    part_step: int = 0,
) -> tuple[Indices, Flags | None]:
    """Row numbers of some entries, and which of them are live; each column counts `steps` times.

    The entries are `parts` equal ones, and each part begins `part_step` rows after the one before.
    Raises IndexRefused.
    """
    addresses = np.empty(last - first, np.int64)
    for column, step in enumerate(steps):
        numbers = plan.raw(column, first, last).reshape(parts, 1, -1)
        if not _resolved(plan, column, numbers, addresses, step, part_step if column == 0 else 0):
            break
    else:
        if steps:
            return addresses, None
    addresses, live = plan.rows(first, last, steps)
    if parts > 1:
        starts = np.arange(parts)[:, None] * part_step
        addresses = (addresses.reshape(parts, -1) + starts).reshape(-1)
    return addresses, live


def cells_of(
    plan: JudgedPlan, numbers: Array, inner: int, size: int, left: int
) -> tuple[Indices, Flags | None]:
    """Addresses of cells for numbers (outer, rows, columns) of the only index column.

    Each is number * inner + its column, the first of which is `left`, and each outer position
    begins `size` cells after the one before. Raises IndexRefused.
    """
    addresses = np.empty(numbers.shape, np.int64)
    # One column of cells: its rows are one line, which is the quickest to go along.
    lines = numbers.swapaxes(1, 2) if numbers.shape[2] == 1 else numbers
    if _resolved(plan, 0, lines, addresses, inner, size, lines is numbers):
        addresses += left
        return addresses, None
    coordinates, live = plan.coordinates(0, numbers)
    starts = np.arange(numbers.shape[0])[:, None, None] * size
    np.multiply(coordinates, inner, out=addresses)
    addresses += starts + np.arange(left, left + numbers.shape[2])
    return addresses, live


def _resolved(
    plan: JudgedPlan, column: int, numbers: Array, addresses: Indices, step: int, plane_step: int,
    place_step: int = 0,
) -> bool:  # fmt: skip
    """Whether one pass of compiled code could add a column's share to `addresses`.

    Raises IndexRefused where a number of the column is out of range.
    """
    if not plan.layout.refuses_rows:
        return False
    size = plan.layout.axes[plan.layout.column_axes[column]].size
    from_end = plan.layout.policy.negative is Negative.FROM_END and numbers.dtype.kind == "i"
    inside = loops.resolve(
        numbers, size, addresses, turn=size if from_end else 0, step=step,
        plane_step=plane_step, place_step=place_step, more=column > 0,
    )  # fmt: skip
    if inside is False:
        plan.judge()
        source = plan.layout.addressing.columns[column].source
        raise CannotRead(f"{source} changed while it was read", where=source)
    return bool(inside)
