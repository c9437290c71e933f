"""Shapes and indices for a call of any declared operator, drawn at random but fitting.

How an operator addresses data is read off the layout of its own example: along an axis, cell by
cell, by vectors, by a tuple of arrays, flat, by segments or by windows. Each of these families is
one function. What does not fit after all is refused by the operator's layout, and drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from random import Random
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gscli.frameworks.operator import Operator
from gscli.layout.layout import Layout

Array = NDArray[Any]
Shape: TypeAlias = tuple[int, ...]

FAR = (1 << 31) + 5
"""An index whose low 32 bits are a small number."""


@dataclass(frozen=True)
class Roles:
    """Which input is what, from the layout of the operator's example."""

    operator: Operator
    data: str | None
    indices: tuple[str, ...]
    updates: str | None
    vector_first: bool
    family: Family

    def takes(self, name: str) -> bool:
        """Whether the operator has an attribute or input of this name."""
        return name in self.operator.input_names or any(
            attribute.name == name for attribute in self.operator.attributes
        )


@dataclass
class Draft:
    """Shapes, indices and attributes of one call, before there are values."""

    data: Shape
    updates: Shape = ()
    indices: dict[str, Array] = field(default_factory=dict)
    attrs: dict[str, object] = field(default_factory=dict)
    others: dict[str, Array] = field(default_factory=dict)


class Dice:
    """A source of chance with the project's habits; the same seed gives the same calls."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.temper = "legal"

    def chance(self, part: float) -> bool:
        """True in this part of all cases."""
        return self.random.random() < part

    def one(self, choices: Any) -> Any:  # noqa: ANN401  whatever is in the sequence
        """One of them."""
        return self.random.choice(choices)

    def size(self) -> int:
        """Length of an axis: small, seldom 0."""
        return int(self.random.choices((0, 1, 2, 3, 4, 5), (2, 20, 30, 26, 16, 6))[0])

    def shape(self, least: int = 1, most: int = 4) -> Shape:
        """A shape of some rank; large ranks are rarer and have short axes."""
        ranks = range(least, most + 1)
        rank = self.random.choices(ranks, [12 - 2 * n for n in range(len(ranks))])[0]
        sizes = [self.size() for _ in range(rank)]
        while prod(size or 1 for size in sizes) > 96:  # noqa: PLR2004  cells are enough
            sizes[self.random.randrange(rank)] = 1
        return tuple(sizes)

    def number(self, size: int) -> int:
        """An index for an axis of this size, as the temper of the call says."""
        if self.temper == "outside" and self.chance(0.35):
            return int(self.one((size, size + 1, -size - 1, 3 * size + 1, -3 * size - 1, FAR)))
        if not size:
            return 0
        if self.temper == "borders":
            return int(self.one((0, size - 1, -1, -size)))
        if self.temper in ("negative", "outside") and self.chance(0.4):
            return self.random.randrange(-size, 0)
        return self.random.randrange(size)

    def numbers(self, shape: Shape, size: int) -> Array:
        """Indices into an axis; out of range only where the axis or the temper leaves no choice."""
        count = prod(shape)
        return np.array([self.number(size) for _ in range(count)], np.int64).reshape(shape)


Family: TypeAlias = Callable[[Roles, Dice], Draft]


def along(roles: Roles, dice: Dice) -> Draft:
    """One number per slice of an axis: Gather, take, index_select, ScatterUpdate."""
    draft = Draft(dice.shape())
    rank = len(draft.data)
    axis: int | None = dice.random.randrange(-rank, rank)
    if not roles.takes("axis") and not roles.takes("dim"):
        axis = 0
    elif _default_is_none(roles) and dice.chance(0.15):
        axis = None
    if axis is None:
        indices = dice.shape(0, 2)
        draft.indices[roles.indices[0]] = dice.numbers(indices, prod(draft.data))
        return draft
    place = axis % rank
    batch = 0
    if roles.takes("batch_dims") and place and dice.chance(0.4):
        batch = dice.random.randint(1, place)
        draft.attrs["batch_dims"] = batch
    indices = (*draft.data[:batch], *dice.shape(0, 2))
    draft.indices[roles.indices[0]] = dice.numbers(indices, draft.data[place])
    draft.updates = (*draft.data[:place], *indices[batch:], *draft.data[place + 1 :])
    _set_axis(roles, draft, axis)
    return draft


def elements(roles: Roles, dice: Dice) -> Draft:
    """One number per cell, which replaces one coordinate: GatherElements, torch.scatter."""
    draft = Draft(dice.shape())
    rank = len(draft.data)
    axis = dice.random.randrange(-rank, rank)
    place = axis % rank
    smaller = dice.chance(0.4)
    own = [
        max(dice.size(), 1)
        if at == place
        else dice.random.randint(min(size, 1), size)
        if smaller
        else size
        for at, size in enumerate(draft.data)
    ]
    draft.updates = tuple(own)
    draft.indices[roles.indices[0]] = dice.numbers(draft.updates, draft.data[place])
    _set_axis(roles, draft, axis)
    return draft


def vectors(roles: Roles, dice: Dice) -> Draft:
    """A vector of numbers per cell or slice: GatherND, ScatterND, tf.scatter_nd."""
    draft = Draft(dice.shape())
    rank, batch = len(draft.data), 0
    if roles.takes("batch_dims") and rank > 1 and dice.chance(0.4):
        batch = dice.random.randint(1, rank - 1)
        draft.attrs["batch_dims"] = batch
    length = dice.random.randint(1, rank - batch)
    grid = (*draft.data[:batch], *dice.shape(0, 2))
    columns = [dice.numbers(grid, draft.data[batch + at]) for at in range(length)]
    indices = np.stack(columns, 0 if roles.vector_first else -1)
    draft.indices[roles.indices[0]] = indices
    draft.updates = (*grid, *draft.data[batch + length :])
    if "shape" in roles.operator.input_names:
        draft.others["shape"] = np.array(draft.data, indices.dtype)
    elif roles.takes("shape"):
        draft.attrs["shape"] = list(draft.data)
    return draft


def arrays(roles: Roles, dice: Dice) -> Draft:
    """A tuple of index arrays for the leading axes: NumPy's ufunc.at, jax .at, index_put_."""
    draft = Draft(dice.shape())
    grid = dice.shape(0, 2)
    count = dice.random.randint(1, len(draft.data))
    for at in range(count):
        own = tuple(1 if count > 1 and dice.chance(0.15) else size for size in grid)
        draft.indices[f"{roles.operator.many}_{at}"] = dice.numbers(own, draft.data[at])
    shapes = [array.shape for array in draft.indices.values()]
    result = (*np.broadcast_shapes(*shapes), *draft.data[count:])
    if dice.chance(0.25):
        result = result[dice.random.randint(0, len(result)) :]
        result = tuple(1 if dice.chance(0.2) else size for size in result)
    draft.updates = result
    return draft


def flat(roles: Roles, dice: Dice) -> Draft:
    """Numbers of cells in row-major order: put, torch.take."""
    draft = Draft(dice.shape(0))
    indices = dice.shape(0, 2)
    draft.indices[roles.indices[0]] = dice.numbers(indices, prod(draft.data))
    draft.updates = indices
    return draft


def segments(roles: Roles, dice: Dice) -> Draft:
    """Rows of data go to the segment that each names; data is what others call updates."""
    ids = dice.shape(1, 2)
    count = dice.size()
    draft = Draft((), (*ids, *dice.shape(0, 2)), attrs={"num_segments": count})
    draft.indices[roles.indices[0]] = dice.numbers(ids, count)
    return draft


def windows(roles: Roles, dice: Dice) -> Draft:
    """Boxes that start at index vectors: StableHLO and jax.lax gather and scatter."""
    gathers = roles.updates is None
    draft = Draft(dice.shape(1, 3))
    rank = len(draft.data)
    box = [dice.random.randint(min(size, 1), size) for size in draft.data]
    gone = [at for at in range(rank) if dice.chance(0.4)]
    for at in gone:
        box[at] = min(draft.data[at], 1)
    mapped = dice.random.sample(range(rank), dice.random.randint(1, rank))
    grid = dice.shape(0, 2)
    columns = [dice.numbers(grid, draft.data[at] - box[at] + 1) for at in mapped]
    vector = len(grid)
    if roles.takes("index_vector_dim"):
        vector = dice.random.randint(0, len(grid))
        draft.attrs["index_vector_dim"] = vector
    draft.indices[roles.indices[0]] = np.stack(columns, vector)
    inside = [box[at] for at in range(rank) if at not in gone]
    places = sorted(dice.random.sample(range(len(grid) + len(inside)), len(inside)))
    sizes = {True: iter(inside), False: iter(grid)}
    draft.updates = tuple(next(sizes[at in places]) for at in range(len(grid) + len(inside)))
    names = (
        ("offset_dims", "collapsed_slice_dims", "start_index_map")
        if gathers
        else ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
    )
    draft.attrs |= dict(zip(names, (places, gone, mapped), strict=True))
    if gathers:
        draft.attrs["slice_sizes"] = box
    return draft


def family_of(operator: Operator, layout: Layout) -> Family:
    """How an operator addresses data, from a layout whose indices have two axes if they may."""
    names = {attribute.name for attribute in operator.attributes}
    addressing = layout.addressing
    if operator.many is not None:
        return arrays
    if "num_segments" in names:
        return segments
    if names & {"slice_sizes", "update_window_dims"}:
        return windows
    if any(column.slot is not None for column in addressing.columns):
        return vectors
    if "axis" not in names | set(operator.input_names) and "dim" not in names:
        is_flat = len(layout.axes) == 1 and len(layout.data_shape) != 1
        return flat if is_flat else along
    return elements if any(axis.entry is not None for axis in layout.axes) else along


def _default_is_none(roles: Roles) -> bool:
    return any(a.name in ("axis", "dim") and a.default is None for a in roles.operator.attributes)


def _set_axis(roles: Roles, draft: Draft, axis: int) -> None:
    if "axis" in roles.operator.input_names:
        draft.others["axis"] = np.array(axis, np.int64)
    elif roles.takes("dim"):
        draft.attrs["dim"] = axis
    elif roles.takes("axis"):
        draft.attrs["axis"] = axis


FixedAttributes: TypeAlias = Mapping[str, object]
