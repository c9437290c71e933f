"""Programs: a call as a short list of array operations that every framework has in some spelling.

A step is a form with a name ("take", "where", "put_cells"), the values it reads, and facts (an
axis, a shape, a number). A form means what NumPy means by it; `languages` hold how it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gscli.base.records import Record
from gscli.layout.axes import Number, Shape, row_major_strides
from gscli.layout.families import broadcast_shapes


class CannotTranslate(Exception):
    """A target cannot do the call, with the reason."""


class Value(Record):
    """The result of a step, or an input: which one, what it may be called, shape and dtype."""

    number: int
    name: str
    shape: Shape
    dtype: str


class Constant(Record):
    """A number of an element type, written as the framework writes it."""

    value: Number
    dtype: str


class VectorConstant(Record):
    """Numbers for index vectors of rank `rank` along `dim`, one for each slot."""

    numbers: tuple[int, ...]
    dim: int
    rank: int
    dtype: str


class Instruction(Record):
    """One operation."""

    opcode: str
    result: Value
    operands: tuple[Value, ...]
    attributes: dict[str, Any]


class SnippetProgram:
    """Writes down steps; each method is one form and returns its result."""

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.steps: list[Instruction] = []

    def input(self, name: str, shape: Shape, dtype: str) -> Value:
        """An array that is given."""
        value = Value(-1 - len(self.inputs), name, shape, dtype)
        self.inputs.append(value)
        return value

    def add(
        self, form: str, name: str, shape: Shape, dtype: str, /, *operands: Value, **facts: object
    ) -> Value:
        """Any form at all."""
        value = Value(len(self.steps), name, shape, dtype)
        self.steps.append(Instruction(form, value, operands, facts))
        return value

    def apply(self, form: str, x: Value, /, *others: Value, **facts: object) -> Value:
        """A form that keeps the name, the shape and the element type of what it reads first."""
        return self.add(form, x.name, x.shape, x.dtype, x, *others, **facts)

    def convert(self, form: str, x: Value, shape: Shape, dtype: str, /, **facts: object) -> Value:
        """A form whose result is what it reads, in another shape or type; nothing for its own."""
        if (x.shape, x.dtype) == (shape, dtype):
            return x
        return self.add(form, x.name, shape, dtype, x, **facts)

    def is_inside(self, x: Value, high: int) -> Value:
        """Which numbers are 0 … high."""
        return self.add("inside", "live", x.shape, "bool", x, high=Constant(high, x.dtype))

    def cast(self, x: Value, dtype: str) -> Value:
        """The same numbers in another element type."""
        return self.convert("cast", x, x.shape, dtype, dtype=dtype)

    def reshape(self, x: Value, shape: Shape) -> Value:
        """The same cells in another shape."""
        return self.convert("reshape", x, shape, x.dtype, shape=shape)

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        """Axes in another order."""
        perm = tuple(perm)
        if perm == tuple(range(len(perm))):
            return x
        shape = tuple(x.shape[axis] for axis in perm)
        return self.add("transpose", x.name, shape, x.dtype, x, perm=perm)

    def expand(self, x: Value, shape: Shape) -> Value:
        """Axes of size 1, and missing ones in front, repeated."""
        x = self.reshape(x, (1,) * (len(shape) - len(x.shape)) + x.shape)
        return self.convert("expand", x, shape, x.dtype, shape=shape)

    def iota(self, positions: range, dim: int, rank: int) -> Value:
        """Positions along one axis of a grid; the other axes have size 1."""
        shape = tuple(len(positions) if at == dim else 1 for at in range(rank))
        return self.add("iota", "grid", shape, "int64", range=positions, shape=shape, dim=dim)

    def full(self, shape: Shape, fill: Number, dtype: str, name: str = "data") -> Value:
        """One number everywhere."""
        return self.add("full", name, shape, dtype, shape=shape, fill=Constant(fill, dtype))

    def plus(self, x: Value, y: Value) -> Value:
        """The sum, stretched together."""
        return self.add("plus", "cells", broadcast_shapes([x.shape, y.shape]), x.dtype, x, y)

    def where(self, mask: Value, x: Value, other: Number, name: str = "") -> Value:
        """Cells of x where the mask is true, else a number."""
        shape, fill = broadcast_shapes([mask.shape, x.shape]), Constant(other, x.dtype)
        return self.add("where", name or x.name, shape, x.dtype, mask, x, fill=fill)

    def crop(self, x: Value, shape: Shape) -> Value:
        """The first cells of each axis."""
        return self.convert("crop", x, shape, x.dtype, shape=shape)

    def pad(self, x: Value, axis: int) -> Value:
        """One more row at the end of an axis, for what is dropped."""
        row = tuple(1 if at == axis else size for at, size in enumerate(x.shape))
        shape = tuple(size + (at == axis) for at, size in enumerate(x.shape))
        fill = Constant("" if x.dtype == "str" else 0, x.dtype)
        return self.add("pad", x.name, shape, x.dtype, x, axis=axis, row=row, fill=fill)

    def slot(self, x: Value, dim: int, at: int) -> Value:
        """One number of every index vector."""
        shape = x.shape[:dim] + x.shape[dim + 1 :]
        return self.add("slot", f"{x.name}_{at}", shape, x.dtype, x, dim=dim, at=at)

    def stack(self, parts: Sequence[Value], dim: int) -> Value:
        """Values of one shape side by side along a new axis."""
        grid = broadcast_shapes([part.shape for part in parts])
        parts = [self.expand(part, grid) for part in parts]
        shape = (*grid[:dim], len(parts), *grid[dim:])
        return self.add("stack", "vectors", shape, parts[0].dtype, *parts, dim=dim)

    def emit_fold(self, parts: Sequence[Value], sizes: Shape) -> Value:
        """Coordinates as one row number."""
        total: Value | None = None
        for part, stride in zip(parts, row_major_strides(sizes), strict=True):
            term, factor = part, Constant(stride, part.dtype)
            if stride != 1:
                term = self.apply("times", part._replace(name="rows"), factor=factor)
            total = term if total is None else self.plus(total, term)
        assert total is not None
        return total
