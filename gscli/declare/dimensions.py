"""Attributes of windowed gather and scatter, with their help: JAX and StableHLO share them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from gscli.declare.attributes import Option

Dims: TypeAlias = tuple[int, ...]
Offset: TypeAlias = Annotated[Dims, Option("axes of the result that walk through a slice")]
Collapsed: TypeAlias = Annotated[Dims, Option("axes of operand, slice size 1, without an axis")]
UpdateWindow: TypeAlias = Annotated[Dims, Option("axes of updates that walk through a window")]
Inserted: TypeAlias = Annotated[Dims, Option("axes of window size 1, which updates lack")]
Batching: TypeAlias = Annotated[Dims, Option("axes of operand that walk with the indices' own")]
IndicesBatching: TypeAlias = Annotated[Dims, Option("axes of the indices paired with those")]
IndexMap: TypeAlias = Annotated[Dims, Option("the axis of operand of each number of a vector")]
SliceSizes: TypeAlias = Annotated[Dims, Option("size of the slice along each axis of operand")]
Promise: TypeAlias = Annotated[bool, Option("a promise to the compiler; the answer is the same")]
