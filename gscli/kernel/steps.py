"""Steps: what the kernel does at a time, addresses of rows and what is done to the rows there.

`take` reads rows, `write` replaces or updates them in entry order: by compiled loops where there
are any and the job is large, else by the NumPy calls that anyone would write. Both give the bits of
the plain loop: an update meets its cell after all earlier updates of that cell and before all later
ones, and is rounded to the cell's type.

No address gets here that was not judged: by the plan, or by compiled loops, which judge each index
number before they follow it, or it is left to NumPy (`ValidatedPlan.numpy_rows`). `take`
in mode "wrap" goes wherever an address points.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from gscli.base.arrays import Array, BoolArray, Indices, LiveIndices
from gscli.base.records import Record
from gscli.kernel import tuning
from gscli.kernel.tuning import WHOLE, ThreadShare
from gscli.layout.axes import Number

if TYPE_CHECKING:
    from gscli.kernel.loops import Deferred

Addresses: TypeAlias = "Indices | Deferred"
"""Row numbers, or the index numbers that compiled loops make them of."""

Region: TypeAlias = tuple[Any, ...]
Ufunc = Any


class Tile(Record):
    """Addresses of rows within `row_range`, a range of data's rows, for one region of the result.

    `deferred`: the addresses, maybe still as index numbers. `live` has their shape, or is None
    where all entries are. `region` indexes the result's grid. `repeats`: `row_range` is that many
    equal ranges, each of which takes the same addresses, counted from its own beginning; the first
    axis of the region counts them. `initial_rows`: what `row_range` holds before, where it is not
    there yet.
    """

    row_range: slice
    deferred: Addresses
    live: BoolArray | None
    region: Region
    repeats: int = 1
    initial_rows: Array | None = None

    @property
    def addresses(self) -> Indices:
        """Row numbers within `row_range`; IndexRefused where an index number is out of range."""
        return resolve_addresses(self.deferred)

    def flat_addresses(self) -> LiveIndices:
        """Row numbers within all of data, one entry after the other, and which are live."""
        rows, live, begin = self.addresses.reshape(-1), self.live, self.row_range.start or 0
        live = None if live is None else live.reshape(-1)
        if self.repeats > 1:
            size = (self.row_range.stop - begin) // self.repeats
            rows = (rows + np.arange(self.repeats)[:, None] * size).reshape(-1)
            live = None if live is None else np.tile(live, self.repeats)
        return rows + begin if begin else rows, live


def resolve_addresses(addresses: Addresses) -> Indices:
    """The row numbers themselves; raises IndexRefused where an index number is out of range."""
    return addresses if isinstance(addresses, np.ndarray) else addresses.resolve()


def has_native_loops() -> bool:
    """Whether there are compiled loops, however large the job."""
    from gscli.kernel import loops

    return loops.library() is not None


def native_loops_for(step: Tile, items: Array) -> ModuleType | None:
    """The compiled loops, where they may do a step: all its entries are live, and it is large."""
    if step.live is not None or items.size < tuning.MIN_NATIVE_ITEMS:
        return None
    from gscli.kernel import loops

    return loops


def take(rows: Array, step: Tile, target: Array, fill: Number) -> None:
    """Read the rows of one step into `target` (*region, run); entries that are not live read fill.

    rows is (n, run), all of the plan's.
    """
    source = rows[step.row_range]
    loops = native_loops_for(step, target)
    if loops and loops.take(source, step.deferred, target, step.repeats):
        return
    parts = source.reshape(step.repeats, -1, rows.shape[1])
    items = target if step.repeats > 1 else target[None]
    take_with_numpy(parts, step.addresses, step.live, items, fill)


def take_with_numpy(
    parts: Array, addresses: Indices, live: BoolArray | None, items: Array, fill: Number
) -> None:
    """Read rows of each of `parts` (parts, n, run) into items (parts, *entries, run)."""
    mode: Literal["wrap", "clip"] = "wrap" if live is None else "clip"  # wrap is the faster
    if items.flags.c_contiguous:
        parts.take(addresses, axis=1, out=items, mode=mode)
    else:
        items[...] = parts.take(addresses, axis=1, mode=mode)
    if live is not None:
        items[..., ~live, :] = fill


def write(
    rows: Array, step: Tile, items: Array, ufunc: Ufunc = None, share: ThreadShare = WHOLE
) -> None:
    """Write items (*region, run) to the rows of one step, or combine them by `ufunc`, in turn.

    Only a `share` of the rows, so that threads never meet in one.
    """
    target = rows[step.row_range]
    loops, where = native_loops_for(step, items), (step.repeats, step.initial_rows)
    if loops and loops.write(target, step.deferred, items, ufunc, *where, share=share):
        return
    if step.initial_rows is not None:
        target[...] = step.initial_rows
    addresses, live = step.addresses, step.live
    if share != WHOLE:
        top, bottom = share.row_range(len(target) // step.repeats)
        mine = (top <= addresses) & (addresses < bottom)
        live = mine if live is None else mine & live
    write_with_numpy(target, addresses, live, items, ufunc, step.repeats)


def write_with_numpy(
    rows: Array, addresses: Indices, live: BoolArray | None, items: Array, ufunc: Ufunc,
    parts: int = 1,
) -> None:  # fmt: skip
    """Write or combine items (*region, run) with rows, or those of each part with its own.

    NumPy is quickest with one axis; its `ufunc.at` is several times slower with rows than with the
    flat addresses of their cells.
    """
    run = rows.shape[1]
    if live is not None:
        addresses, items = addresses[live], items[..., live, :]
    if parts > 1 and ufunc is None:
        rows.reshape(parts, -1, run)[:, addresses] = items
        return
    if parts > 1:
        addresses = addresses.reshape(-1) + np.arange(parts)[:, None] * (len(rows) // parts)
    if ufunc is not None:
        if run > 1:
            addresses = addresses[..., None] * run + np.arange(run)
        ufunc.at(rows.reshape(-1), addresses.reshape(-1), items.reshape(-1))
    elif run == 1:
        rows[:, 0][addresses] = items[..., 0]
    else:
        rows[addresses] = items
