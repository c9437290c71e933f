"""The most general member of the family: windows with dimension numbers, as loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .families import Write
from .rules import Array, Shape, require

Judge: TypeAlias = Callable[[int, int], int | None]


@dataclass(frozen=True)
class Dimensions:
    """StableHLO's dimension numbers under gather's names.

    `inside` are offset_dims or update_window_dims, `collapsed` also inserted_window_dims.
    """

    inside: list[int]
    collapsed: list[int]
    data_batching: list[int]
    index_batching: list[int]
    index_map: list[int]
    vector_dim: int


def check(data: Array, indices: Array, dims: Dimensions, result_rank: int) -> None:
    """The static constraints that gather and scatter share."""
    require(indices.dtype.kind in "iu", "dtype", "indices are not integers")
    require(0 <= dims.vector_dim <= indices.ndim, "shape", "index_vector_dim")
    for name, numbers, rank in (
        ("window dims", dims.inside, result_rank),
        ("collapsed dims", dims.collapsed, data.ndim),
        ("batching dims", dims.data_batching, data.ndim),
    ):
        require(
            sorted(set(numbers)) == numbers, "shape", f"{name} {numbers} not sorted or repeated"
        )
        require(all(0 <= d < rank for d in numbers), "shape", f"{name} {numbers} out of range")
    _check_batching(data, indices, dims)
    covered = len(dims.inside) + len(dims.collapsed) + len(dims.data_batching)
    require(covered == data.ndim, "shape", "the dimensions of data are not covered")
    index_map = dims.index_map
    require(len(index_map) == vector_length(indices, dims), "shape", "size of the index map")
    require(len(set(index_map)) == len(index_map), "shape", "the index map repeats")
    require(all(0 <= d < data.ndim for d in index_map), "shape", "the index map is out of range")
    require(not set(index_map) & set(dims.data_batching), "shape", "map and batching overlap")


def _check_batching(data: Array, indices: Array, dims: Dimensions) -> None:
    ours, theirs = dims.data_batching, dims.index_batching
    require(len(ours) == len(theirs), "shape", "batching dims differ in number")
    require(len(set(theirs)) == len(theirs), "shape", "indices batching dims repeat")
    require(all(0 <= d < indices.ndim for d in theirs), "shape", "indices batching dims")
    require(dims.vector_dim not in theirs, "shape", "the vector dimension is no batch")
    require(not set(ours) & set(dims.collapsed), "shape", "batching and collapsed overlap")
    sizes = zip(ours, theirs, strict=True)
    same = all(data.shape[d] == indices.shape[i] for d, i in sizes)
    require(same, "shape", "batching sizes differ")


def vector_length(indices: Array, dims: Dimensions) -> int:
    """1 when the vector dimension is only implied."""
    return indices.shape[dims.vector_dim] if dims.vector_dim < indices.ndim else 1


def entry_shape(indices: Array, dims: Dimensions) -> Shape:
    """The index dimensions without the vector's."""
    shape: Shape = indices.shape
    return shape[: dims.vector_dim] + shape[dims.vector_dim + 1 :]


def carried(data: Array, dims: Dimensions) -> list[int]:
    """The data dimensions that a window keeps."""
    return [d for d in range(data.ndim) if d not in {*dims.collapsed, *dims.data_batching}]


def outside(dims: Dimensions, rank: int) -> list[int]:
    """The positions of the result (or of updates) that walk the entries."""
    return [d for d in range(rank) if d not in dims.inside]


def start_of(
    entry: Shape, data: Array, indices: Array, dims: Dimensions, sizes: list[int], judge: Judge
) -> list[Any]:
    """Where the entry's window starts; None on a dimension that `judge` skips."""
    start: list[Any] = [0] * data.ndim
    for j, d in enumerate(dims.index_map):
        if dims.vector_dim < indices.ndim:
            at = (*entry[: dims.vector_dim], j, *entry[dims.vector_dim :])
        else:
            at = entry
        start[d] = judge(int(indices[at]), data.shape[d] - sizes[d])
    for d, i in zip(dims.data_batching, dims.index_batching, strict=True):
        start[d] = entry[i - (i > dims.vector_dim)]
    return start


def gather(
    data: Array,
    indices: Array,
    dims: Dimensions,
    sizes: list[int],
    judge: Judge,
    fill: object,
    *,
    jax: bool = False,
) -> Array:
    """Read a window per entry.

    JAX wants size 1 on collapsed axes, and compares no other size where there is no entry.
    """
    entries = entry_shape(indices, dims)
    rank = len(entries) + len(dims.inside)
    check(data, indices, dims, rank)
    require(len(sizes) == data.ndim, "shape", "slice_sizes has another length")
    for d, size in enumerate(sizes):
        fits = size <= data.shape[d] or (jax and 0 in entries)
        require(size >= 0 and fits, "shape", f"slice size {size} on axis {d}")
        require(not (jax and d in dims.collapsed and size == 0), "shape", "collapsed size 0")
        single = d in dims.collapsed or d in dims.data_batching
        require(size <= 1 or not single, "shape", f"slice size {size} where 1 is wanted")
    window = [sizes[d] for d in carried(data, dims)]
    walk = outside(dims, rank)
    shape = _merged(walk, list(entries), dims.inside, window)
    output = np.empty(shape, data.dtype)
    for position in np.ndindex(shape):
        entry = tuple(position[d] for d in walk)
        cell = start_of(entry, data, indices, dims, sizes, judge)
        if None in cell:
            output[position] = fill
            continue
        for d, p in zip(carried(data, dims), dims.inside, strict=True):
            cell[d] += position[p]
        output[position] = data[tuple(cell)]
    return output


def _merged(left: list[int], ours: list[int], right: list[int], theirs: list[int]) -> Shape:
    merged = dict(zip(left, ours, strict=True)) | dict(zip(right, theirs, strict=True))
    return tuple(merged[d] for d in range(len(merged)))


def scatter_writes(
    data: Array, indices: Array, updates: Array, dims: Dimensions, judge: Judge, *, whole: bool
) -> Iterator[Write]:
    """Every cell of every window, entry by entry.

    A `whole` window is dropped when `judge` skips its start; otherwise a window may be partly
    outside and only its outside cells are dropped.
    """
    check(data, indices, dims, updates.ndim)
    walk, entries = outside(dims, updates.ndim), entry_shape(indices, dims)
    seen = tuple(updates.shape[d] for d in walk)
    require(seen == entries, "shape", f"updates walk {seen}, the indices {entries}")
    window = [updates.shape[d] for d in dims.inside]
    sizes = [1] * data.ndim
    for d, size in zip(carried(data, dims), window, strict=True):
        require(size <= data.shape[d], "shape", f"window of {size} on axis {d}")
        sizes[d] = size
    for entry in np.ndindex(entries):
        start = start_of(entry, data, indices, dims, sizes, judge)
        if None in start:
            continue
        for offset in np.ndindex(*window):
            cell = list(start)
            for d, o in zip(carried(data, dims), offset, strict=True):
                cell[d] += o
            inside = all(0 <= c < s for c, s in zip(cell, data.shape, strict=True))
            if inside or whole:
                position = _merged(walk, list(entry), dims.inside, list(offset))
                yield tuple(cell), updates[position]
