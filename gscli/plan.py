"""Plans: a layout plus index values. The only reader of index values.

`resolve` judges every index before anything is read or written, so an error leaves no output. A
plan then answers, block by block of entries, which coordinates each entry addresses after the
policy was applied (per coordinate, never on a folded address) and which entries are live.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli.errors import IndexRefused
from gscli.families import show_shape
from gscli.layout import Axis, Beyond, Fit, Layout, Narrow, Negative, Policy, Shape

Array = NDArray[Any]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

BLOCK = 1 << 16
"""Entries judged or resolved at a time: their addresses stay in the second-level cache."""

SHOWN_FINDINGS = 3


@dataclass(frozen=True)
class Finding:
    """One index number outside its legal range."""

    source: str
    position: tuple[int, ...]
    value: int | float
    vector: tuple[int | float, ...]
    slot: int
    axis: int
    low: int
    high: int
    entry: int = 0

    @property
    def legal(self) -> str:
        """The legal range in words.

        >>> Finding("i", (0,), 5, (5,), 0, 0, -4, 3).legal
        '-4 … 3'
        """
        if self.high < 0:
            return f"none: axis {self.axis} is empty"
        return f"{self.low} … {self.high}"


@dataclass(frozen=True)
class Block:
    """Resolved coordinates of entries `first` … `last`-1: one int64 array per index column."""

    first: int
    last: int
    coordinates: tuple[Indices, ...]
    live: Flags | None

    def __len__(self) -> int:
        return self.last - self.first


@dataclass(frozen=True)
class Plan:
    """Which cells of data does entry number i address? Made by `resolve`."""

    layout: Layout
    inputs: Mapping[str, Array] = field(repr=False)

    @cached_property
    def columns(self) -> tuple[Array, ...]:
        """One view per index column, broadcast to the entry grid, in the indices' own type."""
        entries = self.layout.addressing.entries
        views = []
        for column in self.layout.addressing.columns:
            array = self.inputs[column.source]
            if column.slot is not None and column.vector_dim is not None:
                array = array[(slice(None),) * column.vector_dim + (column.slot,)]
            views.append(np.broadcast_to(array, entries))
        return tuple(views)

    @cached_property
    def _flat_columns(self) -> tuple[Array | np.flatiter[Array], ...]:
        return tuple(_flat(column) for column in self.columns)

    def raw(self, column: int, first: int, last: int) -> Array:
        """Index numbers as written, entries `first` … `last`-1, in their own dtype."""
        return np.asarray(self._flat_columns[column][first:last])

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """All entries in order, `size` at a time."""
        for first in range(0, self.layout.entry_count, size):
            yield self.block(first, min(first + size, self.layout.entry_count))

    def block(self, first: int, last: int) -> Block:
        """Coordinates of a range of entries after the policy was applied."""
        layout, live = self.layout, None
        coordinates: list[Indices] = []
        for column, axis_number in enumerate(layout.column_axes):
            numbers = self.raw(column, first, last)
            resolved, alive = apply_policy(numbers, layout.axes[axis_number], layout.policy)
            coordinates.append(resolved)
            if alive is not None:
                live = alive if live is None else live & alive
        return Block(first, last, tuple(coordinates), live)

    def grid(self, first: int, last: int) -> tuple[Indices, ...]:
        """Position of each entry in the entry grid, one array per grid axis."""
        return positions(first, last, self.layout.addressing.entries)

    def findings(self, limit: int | None = None) -> tuple[list[Finding], int]:
        """Every index outside its legal range in entry order, and how many there are in all.

        At most `limit` of them are described.
        """
        found: list[Finding] = []
        total = 0
        for column, axis_number in enumerate(self.layout.column_axes):
            axis, described = self.layout.axes[axis_number], 0
            for first in range(0, self.layout.entry_count, BLOCK):
                numbers = self.raw(column, first, first + BLOCK)
                outside = _outside(numbers, axis, self.layout.policy)
                if outside is None:
                    continue
                places = np.flatnonzero(outside)
                total += places.size
                wanted = places if limit is None else places[: max(limit - described, 0)]
                described += wanted.size
                found.extend(self._finding(column, axis_number, first + int(p)) for p in wanted)
        found.sort(key=lambda finding: (finding.entry, finding.slot))
        return found[:limit], total

    def _finding(self, column: int, axis_number: int, entry: int) -> Finding:
        axis, declared = self.layout.axes[axis_number], self.layout.addressing.columns[column]
        low, high = legal_range(axis, self.layout.policy)
        return Finding(
            declared.source,
            self.index_position(column, entry),
            self.raw(column, entry, entry + 1)[0].item(),
            self.vector(entry),
            column,
            axis_number,
            low,
            high,
            entry,
        )

    def vector(self, entry: int) -> tuple[int | float, ...]:
        """The numbers of one entry as written."""
        return tuple(
            self.raw(column, entry, entry + 1)[0].item() for column in range(len(self.columns))
        )

    def index_position(self, column: int, entry: int) -> tuple[int, ...]:
        """Where in its input the number of this column and entry stands."""
        declared = self.layout.addressing.columns[column]
        grid = [int(at[0]) for at in self.grid(entry, entry + 1)]
        shape = list(self.inputs[declared.source].shape)
        if declared.vector_dim is not None:
            del shape[declared.vector_dim]
        kept = grid[len(grid) - len(shape) :]
        position = [0 if size == 1 else int(at) for at, size in zip(kept, shape, strict=True)]
        if declared.vector_dim is not None and declared.slot is not None:
            position.insert(declared.vector_dim, declared.slot)
        return tuple(position)

    def updates(self) -> Array:
        """The values to write as a view of shape `entries ++ window`, in their own dtype."""
        return fit_updates(self.layout, self.inputs)


def resolve(layout: Layout, inputs: Mapping[str, Array]) -> Plan:
    """Bind index values to a layout; IndexRefused names the first bad ones and counts the rest.

    `inputs`: arrays by argument name, of the shapes and dtypes that the layout was made from.
    """
    plan = Plan(layout, inputs)
    found, total = plan.findings(SHOWN_FINDINGS)
    if total:
        raise index_refused(plan, found, total)
    return plan


def index_refused(plan: Plan, found: list[Finding], total: int) -> IndexRefused:
    """The refusal for bad indices, the first of them pointed at."""
    first = found[0]
    empty = first.high < 0
    negative = first.value < 0 and first.low >= 0
    policy = plan.layout.policy
    data = plan.layout.data or "output"
    size = plan.layout.axes[first.axis].size
    details = [line for finding in found for line in _pointed(finding)]
    if total > len(found):
        details.append(f"… and {total - len(found)} more: gscli check lists them all")
    hint = policy.note
    if negative and not empty and not hint:
        hint = "negative indices do not count from the end here; ONNX and NumPy would"
        if first.value >= -size:
            hint += f" read {first.value} as {int(first.value) + size}"
    refusal = IndexRefused(
        "negative index" if negative and not empty else "index out of range",
        where=f"{first.source}{show_shape(first.position)} = {first.value}",
        details=(*details, f"axis {first.axis} of {data} has size {size}"),
        valid=first.legal,
        hint=hint,
    )
    refusal.entry = first.entry
    return refusal


def _pointed(finding: Finding) -> tuple[str, str]:
    """The vector as written and a caret under the number that is wrong."""
    numbers = [str(number) for number in finding.vector]
    if len(numbers) == 1:
        line = f"{finding.source}{show_shape(finding.position)} = "
        return line + numbers[0], " " * len(line) + "^" * len(numbers[0])
    line = f"{finding.source}{show_shape(finding.position)} in ("
    before = len(line) + sum(len(number) + 2 for number in numbers[: finding.slot])
    caret = " " * before + "^" * len(numbers[finding.slot])
    return line + ", ".join(numbers) + ")", caret


def positions(first: int, last: int, shape: Shape) -> tuple[Indices, ...]:
    """Coordinates of the row-major numbers `first` … `last`-1 in a grid; () for rank 0.

    >>> positions(1, 3, (2, 2))
    (array([0, 1]), array([1, 0]))
    """
    if not shape:
        return ()
    return tuple(np.unravel_index(np.arange(first, last, dtype=np.int64), shape))


def legal_range(axis: Axis, policy: Policy) -> tuple[int, int]:
    """Smallest and largest index that the axis takes without `Beyond`.

    >>> legal_range(Axis(4, column=0), Policy())
    (-4, 3)
    """
    high = axis.size - axis.span if axis.window is not None else axis.size - 1
    low = -axis.size if policy.negative is Negative.FROM_END else 0
    return low, high


def _outside(numbers: Array, axis: Axis, policy: Policy) -> Flags | None:
    """Which numbers must be refused, or None when none can be."""
    if numbers.size == 0:
        return None
    if policy.beyond is not Beyond.RAISE:
        # A window on an empty axis is empty itself: it fits, and nothing is read or written.
        empty = axis.size == 0 and axis.window is None and policy.beyond is not Beyond.SKIP
        if empty or numbers.dtype.kind != "f":
            return np.ones(numbers.shape, np.bool_) if empty else None
        return ~np.isfinite(numbers)  # no nearest row and no remainder
    low, high = legal_range(axis, policy)
    if policy.cut and numbers.dtype.kind == "f":
        numbers = np.trunc(numbers)
    largest, smallest = numbers.max(), numbers.min()
    if policy.negative is Negative.SKIP:
        return None if largest <= high else numbers > high
    if smallest >= low and largest <= high:
        return None
    return ~((numbers >= low) & (numbers <= high))  # so that NaN is outside


def apply_policy(numbers: Array, axis: Axis, policy: Policy) -> tuple[Indices, Flags | None]:
    """Index numbers as coordinates, and which of them are live (None: all).

    Compared in their own type first: uint64 2^64-1 is out of range, never -1.

    >>> apply_policy(np.array([-1, 5, 1]), Axis(3, column=0), Policy(beyond=Beyond.CLIP))
    (array([2, 2, 1]), None)
    """
    if numbers.dtype.kind == "f":
        numbers = _truncated(numbers, axis, policy)
    _, high = legal_range(axis, policy)
    live: Flags | None = None
    if policy.narrow is Narrow.FIRST:
        numbers = numbers.astype(np.int32)
    if numbers.dtype == np.uint64 and policy.narrow is not Narrow.LAST:
        numbers = _shortened(numbers, axis, policy)
    resolved = numbers.astype(np.int64)
    if policy.negative is Negative.FROM_END and numbers.dtype.kind != "u":
        resolved += (resolved >> 63) & axis.size
    elif policy.negative is Negative.SKIP:
        live = resolved >= 0
    if policy.narrow is Narrow.LAST:
        resolved = resolved.astype(np.int32).astype(np.int64)
    if policy.beyond is Beyond.WRAP:
        np.remainder(resolved, max(axis.size, 1), out=resolved)
    elif policy.beyond is Beyond.CLIP:
        np.clip(resolved, 0, max(high, 0), out=resolved)
    elif policy.beyond is Beyond.SKIP and policy.whole:
        inside = (resolved >= 0) & (resolved <= high)
        live = inside if live is None else live & inside
    return resolved, live


def _shortened(numbers: Array, axis: Axis, policy: Policy) -> Array:
    """Numbers of type uint64 brought into the range of int64 without becoming negative."""
    if policy.beyond is Beyond.WRAP:
        return numbers % np.uint64(max(axis.size, 1))
    return np.minimum(numbers, np.uint64(axis.size + 1))


def _truncated(numbers: Array, axis: Axis, policy: Policy) -> Array:
    """Fractional indices (MXNet) are cut; where negatives count from the end, the size is added
    before, in their own type, and the remainder taken after (apache/mxnet#17208).
    """
    from_end = policy.negative is Negative.FROM_END
    bound = float(1 << 62)
    with np.errstate(over="ignore"):
        moved = numbers + axis.size if from_end else numbers
    finite = np.nan_to_num(moved.astype(np.float64), nan=-bound, posinf=bound, neginf=-bound)
    whole: Array = np.clip(finite, -bound, bound).astype(np.int64)
    return whole % max(axis.size, 1) if from_end else whole


def fit_updates(layout: Layout, inputs: Mapping[str, Array]) -> Array:
    """Updates as a view of shape `entries ++ window`, or one value broadcast to it."""
    addressing, updates = layout.addressing, layout.updates
    wanted = addressing.result_shape
    if updates is None:
        raise TypeError("a gather has no updates")
    if updates.name is None:
        value = np.asarray(updates.value)
        return np.broadcast_to(value, addressing.entries + addressing.window)
    array = inputs[updates.name]
    if updates.fit is Fit.BROADCAST:
        surplus = max(array.ndim - len(wanted), 0)  # axes of size 1, as NumPy assignment drops
        array = np.broadcast_to(array.reshape(array.shape[surplus:]), wanted)
    elif updates.fit is Fit.CROP:
        array = array.reshape(array.shape or (1,))[tuple(slice(size) for size in wanted)]
    elif updates.fit is Fit.CYCLE:
        flat = array.reshape(-1)
        array = np.resize(flat, wanted) if flat.size else np.zeros((0,) * len(wanted), array.dtype)
    elif updates.fit is Fit.RESHAPE:
        array = array.reshape(wanted)
    back = np.argsort(addressing.order)
    return array.transpose(back)


def _flat(view: Array) -> Array | np.flatiter[Array]:
    """A view that slices flat without copying all of a broadcast array."""
    if prod(view.shape) == 0 or view.flags.c_contiguous or view.ndim <= 1:
        return view.reshape(-1)
    try:
        flat = view.view()
        flat.shape = (-1,)
    except AttributeError:
        return view.flat
    return flat
