"""Dimension numbers of windowed gather and scatter, as StableHLO's constraints judge them.

JAX and StableHLO share the rules and differ in names, so `DimensionNumbers` carries both: the
numbers, and what the framework at hand calls them. `gather_windows` and `scatter_windows` judge and
return the addressing; what an index outside means is left to the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from gscli.base import ShapeRefused
from gscli.base.records import Record
from gscli.base.words import counted, show_shape
from gscli.layout.axes import Addressing, Shape, Tensor
from gscli.layout.families import described, windows
from gscli.layout.refusals import exact_shape

Named: TypeAlias = tuple[str, tuple[int, ...]]
"""The name that the framework gives to a list of dimensions, and the list."""


class DimensionNumbers(Record):
    """How the dimensions of operand, indices and result (or updates) relate.

    `window`: where the slice's dimensions stand in the result. `removed`: dimensions of operand
    that the result does not show. `batching`: dimensions of operand that walk together with
    `indices_batching`. `index_map`: which dimension of operand each number of a vector is for.
    """

    window: Named
    removed: Named
    batching: Named
    indices_batching: Named
    index_map: Named
    index_vector_dim: int


def gather_windows(
    operand: Tensor,
    indices: Tensor,
    numbers: DimensionNumbers,
    slice_sizes: tuple[int, ...],
    *,
    removed_sizes: tuple[int, ...] = (0, 1),
    any_without_entries: bool = False,
) -> Addressing:
    """The addressing of a gather; a removed dimension may have one of `removed_sizes`.

    `any_without_entries`: where there is no index vector, slices may be larger than operand (JAX).

    >>> operand, indices = Tensor("x", (3, 4), "int8"), Tensor("i", (2, 1), "int64")
    >>> numbers = DimensionNumbers(("offset_dims", (1,)), ("collapsed_slice_dims", (0,)),
    ...                            ("b", ()), ("c", ()), ("start_index_map", (0,)), 1)
    >>> gather_windows(operand, indices, numbers, (1, 4)).result_shape
    (2, 4)
    """
    _judge(operand, indices, numbers)
    if len(slice_sizes) != operand.rank:
        raise _refused("slice_sizes", slice_sizes, f"{operand.rank} sizes, one per axis", operand)
    unbounded = any_without_entries and 0 in _entries(indices, numbers.index_vector_dim)
    removed, batching = numbers.removed[1], numbers.batching[1]
    for dim, size in enumerate(slice_sizes):
        low = removed_sizes[0] if dim in removed else 0
        room = size if unbounded else operand.shape[dim]
        high = min(room, 1) if dim in (*removed, *batching) else room
        if not low <= size <= high:
            allowed = f"{low} … {high}" if low <= high else "none"
            raise _refused(f"slice_sizes[{dim}]", size, allowed, operand)
    addressing = _addressing(operand, indices, numbers, slice_sizes)
    if prod(addressing.result_shape) and any(operand.shape[dim] == 0 for dim in removed):
        raise _refused(*numbers.removed, "axes that are not empty", operand)
    return addressing


def scatter_windows(
    operand: Tensor, indices: Tensor, updates: Tensor, numbers: DimensionNumbers
) -> Addressing:
    """The addressing of a scatter; the windows have the sizes that updates give them.

    >>> operand, indices = Tensor("x", (3, 4), "int8"), Tensor("i", (2, 1), "int64")
    >>> numbers = DimensionNumbers(("update_window_dims", (1,)), ("inserted_window_dims", (0,)),
    ...                            ("b", ()), ("c", ()), ("scatter_dims_to_operand_dims", (0,)), 1)
    >>> scatter_windows(operand, indices, Tensor("u", (2, 3), "int8"), numbers).window
    (3,)
    """
    _judge(operand, indices, numbers)
    (name, window), dim = numbers.window, numbers.index_vector_dim
    entries = _entries(indices, dim)
    if updates.rank != len(entries) + len(window):
        raise ShapeRefused(
            f"{updates.name} has the wrong number of axes",
            where=described(updates),
            details=(described(indices), f"{name} {show_shape(window)}"),
            valid=counted(len(entries) + len(window), "axis", "axes"),
        )
    spans = [1] * operand.rank
    for position, axis in zip(window, _kept(operand, numbers), strict=True):
        spans[axis] = updates.shape[position]
        if spans[axis] > operand.shape[axis]:
            raise ShapeRefused(
                f"the window is larger than {operand.name}",
                where=f"{updates.name} axis {position} has {spans[axis]}, "
                f"{operand.name} axis {axis} has {operand.shape[axis]}",
                details=(described(operand), described(updates)),
                valid=f"0 … {operand.shape[axis]}",
            )
    addressing = _addressing(operand, indices, numbers, spans)
    parts = f"{indices.name} without axis {dim} {show_shape(entries)}, windows at {name}"
    exact_shape(updates, addressing.result_shape, parts)
    return addressing


def _addressing(
    operand: Tensor, indices: Tensor, numbers: DimensionNumbers, spans: Sequence[int]
) -> Addressing:
    return windows(
        operand,
        indices,
        index_vector_dim=numbers.index_vector_dim,
        index_map=numbers.index_map[1],
        spans=spans,
        collapsed=numbers.removed[1],
        batching=numbers.batching[1],
        indices_batching=numbers.indices_batching[1],
        offset_dims=numbers.window[1],
    )


def _entries(indices: Tensor, vector_dim: int) -> Shape:
    """The shape of the indices without the axis that vectors run along."""
    return indices.shape[:vector_dim] + indices.shape[vector_dim + 1 :]


def _kept(operand: Tensor, numbers: DimensionNumbers) -> list[int]:
    gone = {*numbers.removed[1], *numbers.batching[1]}
    return [dim for dim in range(operand.rank) if dim not in gone]


def _judge(operand: Tensor, indices: Tensor, numbers: DimensionNumbers) -> None:
    """What gather and scatter have in common: C1 to C21 of the specification's gather."""
    vector_dim, (name, index_map) = numbers.index_vector_dim, numbers.index_map
    if not 0 <= vector_dim <= indices.rank:
        raise _refused("index_vector_dim", vector_dim, f"0 … {indices.rank}", indices)
    length = indices.shape[vector_dim] if vector_dim < indices.rank else 1
    if len(index_map) != length:
        raise _refused(
            name, index_map, f"{counted(length, 'number')}, one per number of a vector", indices
        )
    entries_rank = indices.rank - (vector_dim < indices.rank)
    _within(numbers.window, entries_rank + len(numbers.window[1]), "the result")
    _within(numbers.removed, operand.rank, operand.name)
    _within(numbers.batching, operand.rank, operand.name)
    _within(numbers.indices_batching, indices.rank, indices.name)
    _within(numbers.index_map, operand.rank, operand.name)
    for dims in (numbers.window, numbers.removed, numbers.batching):
        if list(dims[1]) != sorted(dims[1]):
            raise _refused(*dims, "ascending numbers")
    for dims in (numbers.removed, numbers.index_map):
        if set(dims[1]) & set(numbers.batching[1]):
            raise _refused(*dims, f"axes outside {numbers.batching[0]} {_shown(numbers.batching)}")
    _judge_batching(operand, indices, numbers)
    if len(_kept(operand, numbers)) != len(numbers.window[1]):
        where = f"{numbers.removed[0]} {_shown(numbers.removed)}"
        axes = counted(operand.rank, "axis", "axes")
        kept = f"{counted(len(_kept(operand, numbers)), 'number')}: {axes} without {where}"
        raise _refused(*numbers.window, kept, operand)


def _judge_batching(operand: Tensor, indices: Tensor, numbers: DimensionNumbers) -> None:
    (name, dims), (other, batching) = numbers.indices_batching, numbers.batching
    if numbers.index_vector_dim in dims:
        raise _refused(name, dims, f"axes other than index_vector_dim {numbers.index_vector_dim}")
    if len(dims) != len(batching):
        raise _refused(
            name, dims, f"{counted(len(batching), 'number')}, as {other} {show_shape(batching)}"
        )
    sizes = tuple(indices.shape[dim] for dim in dims)
    wanted = tuple(operand.shape[dim] for dim in batching)
    if sizes != wanted:
        raise ShapeRefused(
            "batch axes differ",
            where=f"{operand.name} has {show_shape(wanted)}, {indices.name} {show_shape(sizes)}",
            details=(described(operand), described(indices)),
            valid=f"equal sizes along {other} and {name}",
        )


def _within(named: Named, rank: int, of: str) -> None:
    name, dims = named
    if len(set(dims)) != len(dims):
        raise _refused(name, dims, "numbers that do not repeat")
    if any(not 0 <= dim < rank for dim in dims):
        legal = f"0 … {rank - 1}" if rank else "none"
        raise _refused(name, dims, f"{legal}, the axes of {of}")


def _shown(named: Named) -> str:
    return show_shape(named[1])


def _refused(
    name: str, value: int | Shape, legal: str, about: Tensor | None = None
) -> ShapeRefused:
    shown = value if isinstance(value, int) else show_shape(value)
    return ShapeRefused(
        f"{name.partition('[')[0]} does not fit",
        where=f"{name} = {shown}"[:200],
        details=(described(about),) if about else (),
        valid=legal,
    )
