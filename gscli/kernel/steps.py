"""Steps: what the kernel does at a time, addresses of rows and what is done to the rows there.

`take` reads rows, `put` writes them, `combine` updates them in entry order: by compiled loops where
there are any and the job is large, else by the NumPy calls that anyone would write. Both give the
bits of the plain loop: an update meets its cell after all earlier updates of that cell and before
all later ones, and is rounded to the cell's type.

Addresses are a plan's index numbers judged, wrapped and folded on the way, or by the plan itself.
On the way is compiled and knows one policy, the common one: each number is one row, as it stands or
from the end, or is refused. All else is the plan's. No address leaves here that was not judged:
compiled loops judge each chunk of numbers before they follow it, and `take` in mode "wrap" goes
wherever an address points.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

import numpy as np

from gscli.base import CannotRead
from gscli.base.records import Record
from gscli.files.arrays import Array, Flags, Indices
from gscli.kernel import tuning
from gscli.kernel.tuning import WHOLE, Share
from gscli.layout.axes import Negative, Number
from gscli.plan.plan import JudgedPlan

if TYPE_CHECKING:
    from gscli.kernel.loops import Column, Numbers

Addresses: TypeAlias = "Indices | Numbers"
"""Row numbers, or the index numbers that compiled loops make them of."""

Region: TypeAlias = tuple[Any, ...]
Lane: TypeAlias = tuple[int, ...]
Ufunc = Any


class Step(Record):
    """Addresses of rows within `base`, a range of data's rows, for one region of the result.

    `live` has the shape of the addresses, or is None where all entries are. `region` indexes the
    result's grid. Where there are several `parts`, `base` is that many equal ranges, each of which
    takes the same addresses, counted from its own beginning; the first axis of the region counts
    them.
    """

    base: slice
    where: Addresses
    live: Flags | None
    region: Region
    parts: int = 1

    @property
    def addresses(self) -> Indices:
        """Row numbers within `base`; raises IndexRefused where an index number is out of range."""
        return resolved(self.where)

    def joined(self) -> Step:
        """The same step as one part: with the addresses of all parts, counted from `base`."""
        addresses = self.addresses
        if self.parts == 1:
            return self._replace(where=addresses)
        shape = (self.parts, *addresses.shape)
        size = (self.base.stop - self.base.start) // self.parts
        starts = np.arange(self.parts).reshape(-1, *[1] * addresses.ndim) * size
        live = None if self.live is None else np.broadcast_to(self.live, shape)
        return self._replace(where=addresses + starts, live=live, parts=1)

    @property
    def live_addresses(self) -> Indices:
        """The addresses within `base` of the entries that are live, one after the other."""
        step = self.joined()
        return step.addresses.reshape(-1) if step.live is None else step.addresses[step.live]


def take(rows: Array, step: Step, target: Array, fill: Number) -> None:
    """Read the rows of one step into `target` (*region, run); entries that are not live read fill.

    rows is (n, run), all of the plan's.
    """
    source = rows[step.base]
    if (loops := compiled(step, target)) and loops.take(source, step.where, target, step.parts):
        return
    mode: Literal["wrap", "clip"] = "wrap" if step.live is None else "clip"  # wrap is the faster
    parts = source.reshape(step.parts, -1, rows.shape[1])
    items = target if step.parts > 1 else target[None]
    if items.flags.c_contiguous:
        parts.take(step.addresses, axis=1, out=items, mode=mode)
    else:
        items[...] = parts.take(step.addresses, axis=1, mode=mode)
    if step.live is not None:
        target[..., ~step.live, :] = fill


def put(rows: Array, step: Step, items: Array) -> None:
    """Write items (*region, run) to the rows of one step; the last one of a row stays."""
    target = rows[step.base]
    if (loops := compiled(step, items)) and loops.put(target, step.where, items, step.parts):
        return
    addresses = step.addresses
    if step.live is not None:
        addresses, items = addresses[step.live], items[..., step.live, :]
    if step.parts > 1:
        target.reshape(step.parts, -1, rows.shape[1])[:, addresses] = items
    elif rows.shape[1] == 1:
        target[:, 0][addresses] = items[..., 0]  # NumPy is quickest with one axis
    else:
        target[addresses] = items


def combine(rows: Array, step: Step, updates: Array, ufunc: Ufunc, share: Share = WHOLE) -> None:
    """Combine updates (*region, run) with the rows of one step, one after the other.

    Only a `share` of the cells, so that threads never meet in one.
    """
    target = rows[step.base]
    loops = compiled(step, updates)
    if loops and loops.combine(target, step.where, updates, ufunc, parts=step.parts, share=share):
        return
    step = step.joined()
    live = ... if step.live is None else step.live
    combine_cells(target, step.addresses[live], updates[live], ufunc, share)


def compiled(step: Step, items: Array) -> ModuleType | None:
    """The compiled loops, where they may do a step: all its entries are live, and it is large."""
    if step.live is not None or items.size < tuning.WORTH:
        return None
    from gscli.kernel import loops

    return loops


def combine_cells(
    rows: Array, addresses: Indices, updates: Array, ufunc: Ufunc, share: Share = WHOLE
) -> None:
    """Combine updates (*n, run) with rows at `addresses` (*n), cell by cell.

    NumPy's `ufunc.at` is quick with flat addresses, and several times slower with rows.
    """
    run = rows.shape[1]
    cells, values = addresses.reshape(-1), updates.reshape(-1)
    if run > 1:
        cells = (cells[:, None] * run + np.arange(run)).reshape(-1)
    if share != WHOLE:
        (top, bottom), (low, high) = share.cut(len(rows), run, rows.itemsize)
        row, column = np.divmod(cells, run)
        mine = (top <= row) & (row < bottom) & (low <= column) & (column < high)
        cells, values = cells[mine], values[mine]
    ufunc.at(rows.reshape(-1), cells, values)


def resolved(addresses: Addresses) -> Indices:
    """The row numbers themselves; raises IndexRefused where an index number is out of range."""
    if isinstance(addresses, np.ndarray):
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
        from gscli.kernel.loops import Numbers

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
        from gscli.kernel.loops import Numbers

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
    from gscli.kernel.loops import Column

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
