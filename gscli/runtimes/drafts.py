"""What a random call is made of before there are values: roles of its inputs, dice, a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from random import Random
from typing import Any

import numpy as np

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.frameworks.operator import Operator
from gscli.layout import Layout
from gscli.layout.axes import Shape

# Indices at the borders of widths; cut to 32 bits, or without their sign, some are small.
FAR_INDICES = (
    (1 << 31) + 5, (1 << 32) + 1, -(1 << 32), (1 << 53) + 1,
    (1 << 63) - 1, -(1 << 63), -(1 << 63) + 1,
)  # fmt: skip


class Roles(Record):
    """Which input is what, and how data is addressed, as the layout of a plain call says it."""

    operator: Operator
    layout: Layout

    @property
    def index_name(self) -> str:
        """The first input with indices."""
        return self.layout.index_inputs[0]

    @property
    def updates(self) -> str | None:
        """The input with updates, if there is one."""
        return self.layout.value_names[1]

    @property
    def has_axis(self) -> bool:
        """Whether a call names the axis, by an attribute or an input."""
        return self.operator.attribute("axis") is not None or "axis" in self.operator.input_names

    @property
    def is_by_cell(self) -> bool:
        """Whether entries keep coordinates of their own place, on batch axes or on all but one."""
        return any(axis.is_positional for axis in self.layout.axes)

    def has_parameter(self, name: str) -> bool:
        """Whether the operator has an attribute or input of this name."""
        return name in (*self.operator.input_names, *self.operator.attributes_by_name)


@dataclass
class CallSpec:
    """Shapes, indices and attributes of one call, before there are values."""

    data: Shape
    updates: Shape = ()
    indices: dict[str, Array] = field(default_factory=dict)
    attrs: dict[str, object] = field(default_factory=dict)
    other_inputs: dict[str, Array] = field(default_factory=dict)


class Rng:
    """A source of chance with the project's habits; the same seed gives the same calls.

    Shapes, types and attributes are drawn from `random`, indices and values from `contents`: so
    a call can be drawn again that differs in its contents alone.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.contents = Random(random.random())  # noqa: S311  not for secrets
        self.index_mode = "legal"

    def draw_bool(self, part: float) -> bool:
        """True in this part of all cases."""
        return self.random.random() < part

    def choose(self, choices: Any) -> Any:
        """One of them."""
        return self.random.choice(choices)

    def choose_weighted(self, weights: Mapping[str, int], random: Random | None = None) -> str:
        """One of the words, as often as its weight says."""
        return (random or self.random).choices(list(weights), list(weights.values()))[0]

    def draw_size(self) -> int:
        """Length of an axis: small, seldom 0."""
        return int(self.random.choices((0, 1, 2, 3, 4, 5), (2, 20, 30, 26, 16, 6))[0])

    def draw_shape(self, least: int = 1, most: int = 5) -> Shape:
        """A shape of some rank; large ranks are rarer and have short axes."""
        ranks = range(least, most + 1)
        rank = self.random.choices(ranks, [12 - 2 * n for n in range(len(ranks))])[0]
        sizes = [self.draw_size() for _ in range(rank)]
        while prod(size or 1 for size in sizes) > 96:  # noqa: PLR2004  cells are enough
            sizes[self.random.randrange(rank)] = 1
        return tuple(sizes)

    def draw_axis(self, shape: Shape) -> int:
        """An axis of this shape, from its beginning or from its end."""
        return self.random.randrange(-len(shape), len(shape))

    def draw_index(self, size: int) -> int:
        """An index for an axis of this size, as the temper of the call says."""
        random = self.contents
        if self.index_mode == "outside" and random.random() < 0.35:  # noqa: PLR2004  a share
            near = (size, size + 1, -size - 1, 3 * size + 1, -3 * size - 1)
            return random.choice((*near, random.choice(FAR_INDICES)))
        if not size:
            return 0
        if self.index_mode == "borders":
            return random.choice((0, size - 1, -1, -size))
        if self.index_mode in ("negative", "outside") and random.random() < 0.4:  # noqa: PLR2004
            return random.randrange(-size, 0)
        return random.randrange(size)

    def draw_indices(self, shape: Shape, size: int) -> Array:
        """Indices into an axis; out of range only where the axis or the temper leaves no choice."""
        count = prod(shape)
        return np.array([self.draw_index(size) for _ in range(count)], np.int64).reshape(shape)
