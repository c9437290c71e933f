"""What a random call is made of before there are values: roles of its inputs, dice, a draft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from random import Random
from typing import Any, TypeAlias

import numpy as np

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.frameworks.operator import Operator

Shape: TypeAlias = tuple[int, ...]

FAR = (1 << 31) + 5
"""An index whose low 32 bits are a small number."""


class Roles(Record):
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

    def one(self, choices: Any) -> Any:
        """One of them."""
        return self.random.choice(choices)

    def size(self) -> int:
        """Length of an axis: small, seldom 0."""
        return int(self.random.choices((0, 1, 2, 3, 4, 5), (2, 20, 30, 26, 16, 6))[0])

    def shape(self, least: int = 1, most: int = 5) -> Shape:
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
