"""Index numbers that are not read as written: counted from the end, wrapped, clipped, left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

import numpy as np

from gscli.base.arrays import Array, Flags, Indices
from gscli.base.records import Record
from gscli.layout.axes import Axis, Beyond, Negative, Policy, Shape
from gscli.plan.indices import legal_range
from gscli.plan.plan import BLOCK, JudgedPlan

How: TypeAlias = Literal["cut", "from_end", "wrapped", "clipped", "skipped", "partly"]
"""What becomes of a number: its fraction is cut, it counts from the end, it is taken modulo the
size, moved to the border, left out, or its window lies partly outside."""

HOWS: tuple[How, ...] = get_args(How)


class Adjusted(Record):
    """One number: where it stands, what is written, the coordinate it means (None: left out)."""

    how: How
    entry: int
    source: str
    position: tuple[int, ...]
    written: int | float
    coordinate: int | None

    @property
    def place(self) -> str:
        """Where the number stands, and which it is.

        >>> Adjusted("clipped", 0, "i", (0, 1), 7, 2).place
        'i[0,1] = 7'
        """
        return f"{self.source}[{','.join(map(str, self.position))}] = {self.written}"


class Census(Record):
    """How many numbers there are of each kind, and the first of each."""

    counts: dict[How, int]
    first: dict[How, list[Adjusted]]


def census(plan: JudgedPlan, listed: int) -> Census:
    """Count all numbers that are not read as written; the first `listed` of each kind are told.

    >>> import gscli
    >>> plan = gscli.trace("mxnet.take", {"a": [1, 2, 3], "indices": [7, 0, -1]}).plan
    >>> census(plan, 1).counts, census(plan, 1).first["clipped"][0].place
    ({'clipped': 2}, 'indices[0] = 7')
    """
    counts: dict[How, int] = {}
    first: dict[How, list[Adjusted]] = {}
    for column, tame in enumerate(plan.tame):
        own = plan.own_column(plan.layout.addressing.columns[column])
        stretched = own.size < plan.layout.entry_count  # a number stands for several entries
        count = min(own.size, plan.layout.entry_count)
        for start in () if tame else range(0, count, BLOCK):
            if stretched:
                numbers = own.reshape(-1)[start : start + BLOCK]
            else:
                numbers = plan.raw(column, start, start + BLOCK)
            coordinates, live = plan.coordinates(column, numbers)
            axis = plan.layout.axes[plan.layout.column_axes[column]]
            for how, flags in _kinds(numbers, coordinates, live, axis, plan.layout.policy):
                places = np.flatnonzero(flags)
                counts[how] = counts.get(how, 0) + places.size
                told = first.setdefault(how, [])
                for place in places[: listed - len(told)].tolist():
                    left_out = how == "skipped"
                    coordinate = None if left_out else int(coordinates[place])
                    entry = _first(own.shape, start + place, plan) if stretched else start + place
                    told.append(_adjusted(plan, how, column, entry, coordinate))
    known = [how for how in HOWS if counts.get(how)]
    return Census({how: counts[how] for how in known}, {how: first[how] for how in known})


def _first(own: Shape, number: int, plan: JudgedPlan) -> int:
    """The first entry for which a number of a column that stretches stands."""
    entries = plan.layout.addressing.entries
    place = np.unravel_index(number, own) if own else ()
    aligned = (0,) * (len(entries) - len(place)) + tuple(map(int, place))
    return int(np.ravel_multi_index(aligned, entries)) if entries else 0


def _kinds(
    numbers: Array, coordinates: Indices, live: Flags | None, axis: Axis, policy: Policy
) -> Iterator[tuple[How, Flags]]:
    """Which numbers of one column are of which kind; each is of one kind at most, but for cuts."""
    span = 1 if axis.window is None else axis.span
    low, high = legal_range(axis, policy)
    skipped = np.zeros(numbers.shape, np.bool_) if live is None else ~live
    if not policy.whole:
        skipped = skipped | (coordinates <= -span) | (coordinates >= axis.size)
    yield "skipped", skipped
    rest = ~skipped
    if policy.beyond is Beyond.CLIP:
        clipped = rest & ~((numbers >= low) & (numbers <= high))
        yield "clipped", clipped
        rest &= ~clipped
    whole = np.trunc(numbers) if numbers.dtype.kind == "f" else numbers
    moved = rest & (whole != coordinates)
    if policy.negative is Negative.FROM_END and numbers.dtype.kind != "u":
        below = moved & (numbers < 0) & (coordinates - axis.size == whole)
        yield "from_end", below
        moved &= ~below
    yield "wrapped", moved
    if whole is not numbers:
        yield "cut", rest & (whole != numbers)
    if span > 1 and not policy.whole:
        yield "partly", rest & ((coordinates < 0) | (coordinates > axis.size - span))


def _adjusted(
    plan: JudgedPlan, how: How, column: int, entry: int, coordinate: int | None
) -> Adjusted:
    source = plan.layout.addressing.columns[column].source
    written = plan.raw(column, entry, entry + 1)[0].item()
    return Adjusted(how, entry, source, plan.index_position(column, entry), written, coordinate)
