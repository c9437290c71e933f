"""What stands between the brackets of `x[…]`, position by position, as NumPy's manual tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from . import families
from .rules import Array, Place, Shape, require

# A slice, None, Ellipsis, or an index array with the number of axes of data that it takes.
Token: TypeAlias = Any


def tokens(subscript: str | None, arrays: Sequence[Array]) -> list[Token]:
    """The subscript as Python has it, arrays in the place of letters."""
    words = ["i"] * len(arrays) if subscript is None else subscript.split(",")
    waiting, found = list(arrays), []
    for word in (word.strip() for word in words if subscript is None or subscript.strip()):
        if word == "i":
            require(bool(waiting), "usage", "a letter without an array")
            found.append(waiting.pop(0))
        elif word == "None":
            found.append(None)
        elif word == "...":
            require(Ellipsis not in [t for t in found if t is Ellipsis], "usage", "... twice")
            found.append(Ellipsis)
        else:
            require(":" in word, "usage", f"{word!r}")
            found.append(slice(*(int(part) if part else None for part in word.split(":"))))
    require(not waiting, "usage", "an array without a letter")
    return found


class Subscript:
    """Where each cell of `x[…]` lies in x."""

    def __init__(
        self,
        shape: Shape,
        found: list[Token],
        place: Place,
        *,
        masks: str = "b",
        numbers_first: bool = False,
        dots_part: bool = False,
        backward: bool = True,
    ) -> None:
        self.place, self.backward = place, backward
        self.parts: list[tuple[str, int, Any]] = []  # what, the axis of x, and its numbers
        widths = [self._width(token, masks) for token in found]
        require(sum(widths) <= len(shape), "shape", "more indices than axes")
        if not any(token is Ellipsis for token in found):
            found, widths = [*found, Ellipsis], [*widths, 0]
        axis = 0
        for token in found:
            axis += self._take(token, axis, shape, len(shape) - sum(widths), masks)
        grid = [numbers for what, _, numbers in self.parts if what == "array"]
        self.grid = families.broadcast([numbers.shape for numbers in grid])
        self.shape, self.meeting = self._result(numbers_first, dots_part)
        self._judge(shape)
        self.sizes = shape

    def _width(self, token: Token, masks: str) -> int:
        if token is None or token is Ellipsis:
            return 0
        if isinstance(token, slice):
            return 1
        return token.ndim if self._is_mask(token, masks) else 1

    def _is_mask(self, token: Array, masks: str) -> bool:
        return token.dtype.kind == "b" or (masks == "bytes" and token.dtype == np.uint8)

    def _take(self, token: Token, axis: int, shape: Shape, left: int, masks: str) -> int:
        """Note one token's parts; how many axes of x it used up."""
        if token is None:
            self.parts.append(("new", -1, None))
            return 0
        if token is Ellipsis:
            self.parts += [("slice", axis + k, range(shape[axis + k])) for k in range(left)]
            if left == 0:
                self.parts.append(("dots", -1, None))
            return left
        if isinstance(token, slice):
            step = 1 if token.step is None else token.step
            require(step > 0 or (step < 0 and self.backward), "shape", "the step of a slice")
            self.parts.append(("slice", axis, range(*token.indices(shape[axis]))))
            return 1
        if not self._is_mask(token, masks):
            self.parts.append(("array", axis, token))
            return 1
        covered = shape[axis : axis + token.ndim]
        require(token.shape == covered, "shape", f"mask {token.shape} over {covered}")
        cells = [p for p in np.ndindex(token.shape) if token[p]]
        for d in range(token.ndim):
            self.parts.append(("array", axis + d, np.array([p[d] for p in cells], np.int64)))
        if token.ndim == 0:
            self.parts.append(("array", -1, np.zeros(len(cells), np.int64)))
        return int(token.ndim)

    def _result(self, numbers_first: bool, dots_part: bool) -> tuple[Shape, int]:
        """The shape of x[…], and the part before which the arrays' own axes stand."""
        parts = [part for part in self.parts if dots_part or part[0] != "dots"]
        parts = [
            part
            for part in parts
            if not (numbers_first and part[0] == "array" and part[2].ndim == 0)
        ]
        arrays = [k for k, part in enumerate(parts) if part[0] == "array"]
        apart = bool(arrays) and any(
            part[0] != "array" for part in parts[arrays[0] : arrays[-1] + 1]
        )
        sizes = [
            (k, 1 if what == "new" else len(numbers))
            for k, (what, _, numbers) in enumerate(parts)
            if what in ("new", "slice")
        ]
        meeting = 0 if apart or not arrays else sum(k < arrays[0] for k, _ in sizes)
        own = [size for _, size in sizes]
        return (*own[:meeting], *self.grid, *own[meeting:]), meeting

    def _judge(self, shape: Shape) -> None:
        """Every number that is asked for; those without axes even where nothing is."""
        for what, axis, numbers in self.parts:
            if what == "array" and axis >= 0 and (0 not in self.grid or numbers.ndim == 0):
                for number in numbers.flat:
                    self.place(int(number), shape[axis])

    def cell(self, position: Shape) -> tuple[Any, ...]:
        """The cell of x that stands at a position of x[…]; None where a coordinate is skipped."""
        first = position[self.meeting : self.meeting + len(self.grid)]
        walk = iter(position[: self.meeting] + position[self.meeting + len(self.grid) :])
        cell: list[Any] = [0] * len(self.sizes)
        for what, axis, numbers in self.parts:
            if what == "new":
                next(walk)
            elif what == "slice":
                cell[axis] = numbers[next(walk)]
            elif what == "array" and axis >= 0:
                number = families.stretch(numbers, self.grid)[first]
                cell[axis] = self.place(int(number), self.sizes[axis])
        return tuple(cell)

    def read(self, x: Array, fill: object = None) -> Array:
        """x[…]."""
        output = np.empty(self.shape, x.dtype)
        for p in np.ndindex(self.shape):
            cell = self.cell(p)
            output[p] = fill if None in cell else x[cell]
        return output

    def writes(self, values: Array) -> list[families.Write]:
        """The cells of x that x[…] = values writes, in order."""
        updates = families.stretch(values, self.shape)
        pairs = [(self.cell(p), updates[p]) for p in np.ndindex(self.shape)]
        return [(cell, value) for cell, value in pairs if None not in cell]


def arrays_of(indices: dict[str, Array], count: int | None) -> list[Array]:
    """The inputs indices_0 … in order; `count`, where it is recorded, is how many."""
    return families.columns_of(indices, len(indices) if count is None else count)


def without_ones(values: Array, rank: int) -> Array:
    """An assignment drops leading axes of size 1."""
    while values.ndim > rank and values.shape[0] == 1:
        values = values.reshape(values.shape[1:])
    return values
