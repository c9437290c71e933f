"""Plans: a layout plus index values. The only reader of index values.

`resolve` judges every index before anything is read or written, so an error leaves no output. A
plan then answers, block by block of entries, which coordinates each entry addresses after the
policy was applied (per coordinate, never on a folded address) and which entries are live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gscli.base.cached import cached_property
from gscli.base.errors import Finding
from gscli.files import mapped
from gscli.layout.axes import Column, Negative, Shape
from gscli.layout.layout import Fit, Layout
from gscli.plan.findings import SHOWN_FINDINGS, refusal
from gscli.plan.policy import (
    Array,
    Flags,
    Indices,
    apply_policy,
    from_end,
    highest_tame,
    largest_unsigned,
    legal_range,
    outside,
)

__all__ = [
    "BLOCK", "Array", "Block", "Flags", "Indices", "Plan", "fit_updates", "positions", "resolve",
]  # fmt: skip

BLOCK = 1 << 16
"""Entries judged or resolved at a time: their addresses stay in the second-level cache."""

RELEASED = 64 * BLOCK
"""Entries after which the pages of mapped indices are let go."""

MOST_FLATITER_AXES = 32
"""NumPy's flat iterators stop there; arrays may have 64 axes."""


class Block(NamedTuple):
    """Resolved coordinates of entries `first` … `last`-1: one int64 array per index column."""

    first: int
    last: int
    coordinates: tuple[Indices, ...]
    live: Flags | None


@dataclass(frozen=True)
class Plan:
    """Which cells of data does entry number i address? Made by `resolve`."""

    layout: Layout
    inputs: Mapping[str, Array] = field(repr=False)

    def __reduce__(self) -> tuple[type[Plan], tuple[Layout, Mapping[str, Array]]]:
        """Pickled without what was computed from these two."""
        return type(self), (self.layout, self.inputs)

    @cached_property
    def columns(self) -> tuple[Array, ...]:
        """One view per index column, broadcast to the entry grid, in the indices' own type."""
        entries = self.layout.addressing.entries
        views = []
        for column in self.layout.addressing.columns:
            view = self._own_column(column)
            views.append(view if view.shape == entries else np.broadcast_to(view, entries))
        return tuple(views)

    def _own_column(self, column: Column) -> Array:
        array = self.inputs[column.source]
        if column.slot is None or column.vector_dim is None:
            return array
        return array[(slice(None),) * column.vector_dim + (column.slot,)]

    @cached_property
    def _flat_columns(self) -> tuple[Array | np.flatiter[Array], ...]:
        return tuple([self._flat_column(*pair) for pair in enumerate(self.columns)])

    def _flat_column(self, number: int, view: Array) -> Array | np.flatiter[Array]:
        """One column as something that slices flat without a copy of all of it."""
        column = self.layout.addressing.columns[number]
        source = self.inputs[column.source]
        if view.ndim <= 1 or view.flags.c_contiguous:
            return view.reshape(-1)
        last = column.vector_dim == source.ndim - 1 and source.shape[:-1] == view.shape
        if last and source.flags.c_contiguous:
            return source.reshape(-1, source.shape[-1])[:, column.slot]
        return view.flat if view.ndim <= MOST_FLATITER_AXES else view.reshape(-1)

    @cached_property
    def tame(self) -> tuple[bool, ...]:
        """For each column whether its numbers are coordinates as they stand.

        Then the policy has nothing to do: no number is negative, fractional or out of range.
        """
        layout = self.layout
        if not layout.entry_count:
            return (True,) * len(layout.column_axes)
        largest: dict[str, int] = {}
        return tuple([self._is_tame(column, largest) for column in range(len(self._highest))])

    def _is_tame(self, column: int, largest: dict[str, int]) -> bool:
        """`largest` keeps what is known of whole inputs: it usually settles all their columns."""
        declared, highest = self.layout.addressing.columns[column], self._highest[column]
        if declared.source not in largest and highest >= 0:
            largest[declared.source] = _largest(self.inputs[declared.source])
        if highest < 0 or largest[declared.source] <= highest:
            return highest >= 0
        alone = len(self._highest) == 1
        return not alone and _largest(self._own_column(declared)) <= highest

    @cached_property
    def _highest(self) -> tuple[int, ...]:
        """For each column the largest number that, read as unsigned, is a coordinate as it stands.

        -1 where none is.
        """
        axes, policy, inputs = self.layout.axes, self.layout.policy, self.inputs
        pairs = zip(self.layout.addressing.columns, self.layout.column_axes, strict=True)
        return tuple([highest_tame(axes[axis], policy, inputs[own.source]) for own, axis in pairs])

    def raw(self, column: int, first: int, last: int) -> Array:
        """Index numbers as written, entries `first` … `last`-1, in their own dtype."""
        return np.asarray(self._flat_columns[column][first:last])

    def coordinates(self, column: int, numbers: Array) -> tuple[Indices, Flags | None]:
        """Index numbers of one column after the policy was applied, and which are live.

        Raises IndexRefused where one is bad and nobody called `judge` before.
        """
        layout = self.layout
        axis = layout.axes[layout.column_axes[column]]
        if numbers.size and self.judges_blocks and not self.is_judged:
            if largest_unsigned(numbers) <= self._highest[column]:
                return numbers.astype(np.int64, copy=False), None
            if layout.policy.negative is Negative.FROM_END and numbers.dtype.kind == "i":
                resolved = from_end(numbers.astype(np.int64, copy=False), axis.size)
                if largest_unsigned(resolved) < axis.size:
                    return resolved, None
            self.judge()
        if self.tame[column]:
            return numbers.astype(np.int64, copy=False), None
        return apply_policy(numbers, axis, layout.policy)

    def rows(self, first: int, last: int, steps: Sequence[int]) -> tuple[Indices, Flags | None]:
        """The columns of some entries folded to one row number each, and which are live.

        Each column counts `steps` times; the row of an entry that is not live has no meaning.
        """
        live, total, owned = None, None, False
        tame = self._has_tame_vectors(first, last)
        for column, step in enumerate(steps):
            numbers, alive = self.raw(column, first, last), None
            if not (tame and numbers.dtype == np.int64):
                numbers, alive = self.coordinates(column, numbers)
            if alive is not None:
                live = alive if live is None else live & alive
            term = numbers if step == 1 else numbers * step
            if total is None:
                total, owned = term, step != 1
            elif owned:
                total += term
            else:
                total, owned = total + term, True
        return np.zeros(last - first, np.int64) if total is None else total, live

    def _has_tame_vectors(self, first: int, last: int) -> bool:
        """Whether all numbers of some entries are coordinates as they stand.

        It takes one look where they stand side by side; a look at each column takes longer.
        """
        if self._vectors is None or self.is_judged or not self.judges_blocks or first >= last:
            return False
        return largest_unsigned(self._vectors[first:last]) <= min(self._highest)

    @cached_property
    def _vectors(self) -> Array | None:
        """All numbers as (entries, columns), where they stand like that and are several."""
        columns = self.layout.addressing.columns
        if len(columns) < 2:  # noqa: PLR2004  several
            return None
        source = self.inputs[columns[0].source]
        alike = all(
            column.source == columns[0].source and column.vector_dim == source.ndim - 1
            for column in columns
        )
        shaped = source.shape == (*self.layout.addressing.entries, len(columns))
        if not (alike and shaped and source.flags.c_contiguous):
            return None
        return source.reshape(-1, len(columns))

    def block(self, first: int, last: int) -> Block:
        """Coordinates of a range of entries after the policy was applied."""
        layout, live = self.layout, None
        coordinates: list[Indices] = []
        for column in range(len(layout.column_axes)):
            resolved, alive = self.coordinates(column, self.raw(column, first, last))
            coordinates.append(resolved)
            if alive is not None:
                live = alive if live is None else live & alive
        return Block(first, last, tuple(coordinates), live)

    def grid(self, first: int, last: int) -> tuple[Indices, ...]:
        """Position of each entry in the entry grid, one array per grid axis."""
        return positions(first, last, self.layout.addressing.entries)

    @cached_property
    def judges_blocks(self) -> bool:
        """Whether `coordinates` can refuse bad indices itself, while it has them at hand.

        So it is with whole numbers, each of one row, that are refused when they are out of range.
        Who needs all indices judged before the first is used has to call `judge`.
        """
        return self.layout.refuses_rows and min(self._highest, default=0) >= 0

    @property
    def is_judged(self) -> bool:
        """Whether all indices have been looked at."""
        return "tame" in self.__dict__

    def judge(self) -> None:
        """Raise IndexRefused if any index is outside its legal range."""
        if not (all(self.tame) or self._legal):
            raise refusal(self.layout, *self.findings(SHOWN_FINDINGS))

    @cached_property
    def _legal(self) -> bool:
        return not self.findings(0)[1]

    def findings(self, limit: int | None = None) -> tuple[list[Finding], int]:
        """Every index outside its legal range in entry order, and how many there are in all.

        At most `limit` of them are described.
        """
        found: list[Finding] = []
        total = 0
        for column, axis_number in enumerate(self.layout.column_axes):
            axis, described = self.layout.axes[axis_number], 0
            if self.tame[column]:
                continue
            for first in range(0, self.layout.entry_count, BLOCK):
                if not first % RELEASED:
                    mapped.release(*self.inputs.values())
                numbers = self.raw(column, first, first + BLOCK)
                refused = outside(numbers, axis, self.layout.policy)
                if refused is None:
                    continue
                places = np.flatnonzero(refused)
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
            None if self.layout.is_flattened else axis_number,
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
    plan.judge()
    return plan


def positions(first: int, last: int, shape: Shape) -> tuple[Indices, ...]:
    """Coordinates of the row-major numbers `first` … `last`-1 in a grid; () for rank 0.

    >>> positions(1, 3, (2, 2))
    (array([0, 1]), array([1, 0]))
    """
    if not shape:
        return ()
    return tuple(np.unravel_index(np.arange(first, last, dtype=np.int64), shape))


def fit_updates(layout: Layout, inputs: Mapping[str, Array]) -> Array:
    """Updates as a view of shape `entries ++ window`, or one value broadcast to it."""
    addressing, updates = layout.addressing, layout.updates
    wanted = layout.result_shape
    assert updates is not None
    if updates.name is None:
        value = np.asarray(updates.value)
        return np.broadcast_to(value, addressing.entries + addressing.window)
    array = inputs[updates.name]
    if array.shape == wanted:
        pass  # whichever way they would be fitted
    elif updates.fit is Fit.BROADCAST:
        surplus = max(array.ndim - len(wanted), 0)  # axes of size 1, as NumPy assignment drops
        array = np.broadcast_to(array.reshape(array.shape[surplus:]), wanted)
    elif updates.fit is Fit.CROP:
        array = array.reshape(array.shape or (1,))[tuple(slice(size) for size in wanted)]
    elif updates.fit is Fit.CYCLE:
        flat = array.reshape(-1)
        array = np.resize(flat, wanted) if flat.size else np.zeros((0,) * len(wanted), array.dtype)
    else:
        array = array.reshape(wanted)
    return array if layout.keeps_order else array.transpose(np.argsort(addressing.order))


def _largest(numbers: Array) -> int:
    """The largest of some index numbers read as unsigned."""
    if numbers.nbytes < BLOCK:
        return largest_unsigned(numbers)
    return max(largest_unsigned(part) for part in mapped.blocks(numbers))
