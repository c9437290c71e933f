"""Addresses: a plan's index numbers judged, wrapped and folded on the way, or by the plan itself.

On the way is compiled and knows one policy, the common one: each number is one row, as it stands or
from the end, or is refused. All else is the plan's. No address leaves here that was not judged:
compiled loops judge each chunk of numbers before they follow it, and `take` in mode "wrap" goes
wherever an address points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeAlias

import numpy as np

from gscli.base.arrays import Array, Flags, Indices
from gscli.base.errors import CannotRead
from gscli.kernel import tuning
from gscli.kernel.numbers import Column, Numbers
from gscli.layout.axes import Negative
from gscli.plan.plan import JudgedPlan

Addresses: TypeAlias = Indices | Numbers
"""Row numbers, or the index numbers that compiled loops make them of."""


def resolved(addresses: Addresses) -> Indices:
    """The row numbers themselves; raises IndexRefused where an index number is out of range."""
    if not isinstance(addresses, Numbers):
        return addresses
    from gscli.kernel import loops

    return loops.resolved(addresses)


def rows_of(
    plan: JudgedPlan,
    first: int,
    last: int,
    steps: tuple[int, ...],
    parts: int = 1,
    part_step: int = 0,
) -> tuple[Addresses, Flags | None]:
    """Row numbers of some entries, and which of them are live; each column counts `steps` times.

    The entries are `parts` equal ones, and each part begins `part_step` rows after the one before.
    Their shape is (entries,) or, where there are several parts, (parts, entries).
    """
    shape = (last - first,) if parts == 1 else (parts, (last - first) // parts)
    if waits(plan):
        columns = [
            _column(plan, k, plan.raw(k, first, last).reshape(parts, 1, -1), step)
            for k, step in enumerate(steps)
        ]
        columns[0] = columns[0]._replace(plane_step=part_step)
        return Numbers(tuple(columns), shape, _refusal(plan)), None
    addresses, live = plan.rows(first, last, steps)
    if parts > 1:
        addresses = addresses.reshape(shape) + np.arange(parts)[:, None] * part_step
    return addresses, None if live is None else live.reshape(shape)


def cells_of(
    plan: JudgedPlan, numbers: Array, inner: int, size: int, left: int
) -> tuple[Addresses, Flags | None]:
    """Addresses of cells for numbers (outer, rows, columns) of the only index column.

    Each is number * inner + its column, the first of which is `left`, and each outer position
    begins `size` cells after the one before.
    """
    if waits(plan):
        # One column of cells: its rows are one line, which is the quickest to go along.
        single = numbers.shape[2] == 1
        column = _column(plan, 0, numbers.swapaxes(1, 2) if single else numbers, inner)
        column = column._replace(plane_step=size, place_step=int(not single), first=left)
        return Numbers((column,), numbers.shape, _refusal(plan)), None
    coordinates, live = plan.coordinates(0, numbers)
    starts = np.arange(numbers.shape[0])[:, None, None] * size
    addresses = coordinates * inner
    addresses += starts + np.arange(left, left + numbers.shape[2])
    return addresses, live


def waits(plan: JudgedPlan) -> bool:
    """Whether addresses can wait until compiled loops need them, which do all the plan would."""
    columns = range(len(plan.layout.column_axes))
    if not columns or not plan.layout.refuses_rows or plan.layout.entry_count < tuning.WORTH:
        return False
    from gscli.kernel import loops

    return all(loops.resolves(plan.raw(column, 0, 0)) for column in columns)


def _column(plan: JudgedPlan, column: int, numbers: Array, step: int) -> Column:
    layout = plan.layout
    size = layout.axes[layout.column_axes[column]].size
    from_end = layout.policy.negative is Negative.FROM_END and numbers.dtype.kind == "i"
    return Column(numbers, size, size if from_end else 0, step)


def _refusal(plan: JudgedPlan) -> Callable[[], NoReturn]:
    """What to do about a number that is out of range: IndexRefused, or it changed meanwhile."""

    def refuse() -> NoReturn:
        plan.judge()
        source = plan.layout.addressing.columns[0].source
        raise CannotRead(f"{source} changed while it was read", where=source)

    return refuse
