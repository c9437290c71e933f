"""Dimension numbers of windowed gather and scatter, as StableHLO's constraints judge them.

JAX and StableHLO share the rules and differ in names, so `families.DimensionNumbers` carries both:
the numbers, and what the framework at hand calls them. `gather_windows` and `scatter_windows` judge
them and return the addressing; what an index outside means is left to the policy.
"""

from __future__ import annotations

from gscli.base import check_rule
from gscli.base.words import format_count, format_shape
from gscli.layout.axes import Addressing, Shape, Tensor
from gscli.layout.families import DimensionNumbers, without_axis
from gscli.layout.refusals import check_exact_shape


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
    >>> numbers = DimensionNumbers((1,), (0,), (), (), (0,), 1)
    >>> gather_windows(operand, indices, numbers, (1, 4)).result_shape
    (2, 4)
    """
    _check_dimension_numbers(operand, indices, numbers)
    legal = f"{format_count(operand.rank, 'size')}, one per axis"
    _check_numbers(len(slice_sizes) == operand.rank, "slice_sizes", slice_sizes, legal, operand)
    unbounded = any_without_entries and 0 in without_axis(indices.shape, numbers.index_vector_dim)
    for dim, size in enumerate(slice_sizes):
        low = removed_sizes[0] if dim in numbers.collapsed else 0
        room = size if unbounded else operand.shape[dim]
        high = min(room, 1) if dim in (*numbers.collapsed, *numbers.batching) else room
        legal = f"{low} … {high}" if low <= high else "none"
        _check_numbers(low <= size <= high, f"slice_sizes[{dim}]", size, legal, operand)
    addressing = numbers.address(operand, indices, slice_sizes)
    fits = 0 in addressing.result_shape or all(operand.shape[dim] for dim in numbers.collapsed)
    legal = "axes that are not empty"
    _check_numbers(fits, numbers.names[1], numbers.collapsed, legal, operand)
    return addressing


def scatter_windows(
    operand: Tensor, indices: Tensor, updates: Tensor, numbers: DimensionNumbers
) -> Addressing:
    """The addressing of a scatter; the windows have the sizes that updates give them.

    >>> operand, indices = Tensor("x", (3, 4), "int8"), Tensor("i", (2, 1), "int64")
    >>> numbers = DimensionNumbers((1,), (0,), (), (), (0,), 1)
    >>> scatter_windows(operand, indices, Tensor("u", (2, 3), "int8"), numbers).window
    (3,)
    """
    _check_dimension_numbers(operand, indices, numbers)
    name, window, dim = numbers.names[0], numbers.offset, numbers.index_vector_dim
    entries = without_axis(indices.shape, dim)
    cells = [min(size, 1) for size in operand.shape]
    smallest = numbers.address(operand, indices, cells).result_shape
    rank, problem = len(entries) + len(window), f"{updates.name} has the wrong number of axes"
    check_rule(
        updates.rank == rank, problem, updates, indices, f"{name} {format_shape(window)}",
        name=updates.name, wanted=smallest, valid=format_count(rank, "axis", "axes"),
    )  # fmt: skip
    spans = [1] * operand.rank
    for position, axis in zip(window, numbers.window_dims(operand.rank), strict=True):
        span, size = updates.shape[position], operand.shape[axis]
        where = f"{updates.name} axis {position} has {span}, {operand.name} axis {axis} has {size}"
        check_rule(
            span <= size, f"the window is larger than {operand.name}", where, operand, updates,
            name=updates.name, wanted=smallest, valid=f"0 … {size}",
        )  # fmt: skip
        spans[axis] = span
    addressing = numbers.address(operand, indices, spans)
    parts = f"{indices.name} without axis {dim} {format_shape(entries)}, windows at {name}"
    check_exact_shape(updates, addressing.result_shape, parts)
    return addressing


def _check_dimension_numbers(operand: Tensor, indices: Tensor, numbers: DimensionNumbers) -> None:
    """What gather and scatter have in common: C1 to C21 of the specification's gather."""
    vector_dim = numbers.index_vector_dim
    offset, collapsed, batching, indices_batching, index_map = numbers.lists.items()
    fits, legal = 0 <= vector_dim <= indices.rank, f"0 … {indices.rank}"
    _check_numbers(fits, "index_vector_dim", vector_dim, legal, indices)
    length = indices.shape[vector_dim] if vector_dim < indices.rank else 1
    legal = f"{format_count(length, 'number')}, one per number of a vector"
    _check_numbers(len(numbers.index_map) == length, *index_map, legal, indices)
    entries_rank = indices.rank - (vector_dim < indices.rank)
    _check_dims(offset, entries_rank + len(numbers.offset), "the result")
    _check_dims(collapsed, operand.rank, operand.name)
    _check_dims(batching, operand.rank, operand.name)
    _check_dims(indices_batching, indices.rank, indices.name)
    _check_dims(index_map, operand.rank, operand.name)
    for dims in (offset, collapsed, batching):
        _check_numbers(list(dims[1]) == sorted(dims[1]), *dims, "ascending numbers")
    for dims in (collapsed, index_map):
        legal = f"axes outside {batching[0]} {format_shape(batching[1])}"
        _check_numbers(not set(dims[1]) & set(numbers.batching), *dims, legal)
    _check_batching(operand, indices, numbers)
    kept, axes = len(numbers.window_dims(operand.rank)), format_count(operand.rank, "axis", "axes")
    rest = f"{axes} without {collapsed[0]} {format_shape(collapsed[1])}"
    legal = f"{format_count(kept, 'number')}: {rest}"
    _check_numbers(kept == len(numbers.offset), *offset, legal, operand)


def _check_batching(operand: Tensor, indices: Tensor, numbers: DimensionNumbers) -> None:
    dims, batching = numbers.indices_batching, numbers.batching
    other, name = numbers.names[2:4]
    legal = f"axes other than index_vector_dim {numbers.index_vector_dim}"
    _check_numbers(numbers.index_vector_dim not in dims, name, dims, legal)
    legal = f"{format_count(len(batching), 'number')}, as {other} {format_shape(batching)}"
    _check_numbers(len(dims) == len(batching), name, dims, legal)
    sizes = format_shape([indices.shape[dim] for dim in dims])
    expected = format_shape([operand.shape[dim] for dim in batching])
    where = f"{operand.name} has {expected}, {indices.name} {sizes}"
    legal = f"equal sizes along {other} and {name}"
    check_rule(sizes == expected, "batch axes differ", where, operand, indices, valid=legal)


def _check_dims(named: tuple[str, Shape], rank: int, of: str) -> None:
    """`named`: the framework's name of a list of dimensions, and the list."""
    name, dims = named
    _check_numbers(len(set(dims)) == len(dims), name, dims, "numbers that do not repeat")
    legal = f"0 … {rank - 1}" if rank else "none"
    _check_numbers(all(0 <= dim < rank for dim in dims), name, dims, f"{legal}, the axes of {of}")


def _check_numbers(fits: bool, name: str, value: int | Shape, legal: str, *about: Tensor) -> None:
    where = f"{name} = {value if isinstance(value, int) else format_shape(value)}"[:200]
    check_rule(fits, f"{name.partition('[')[0]} does not fit", where, *about, valid=legal)
