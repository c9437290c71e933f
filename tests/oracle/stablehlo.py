"""StableHLO gather and scatter in full."""

from __future__ import annotations

from . import families, windows
from .rules import (
    Array,
    Combine,
    add,
    largest,
    multiply,
    operator,
    replace,
    require,
    smallest,
    subtract,
)

COMPUTATIONS: dict[str, Combine] = {
    "set": replace,
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "max": largest,
    "min": smallest,
}


def fitted(index: int, last: int) -> int:
    """The start moved so that the whole window fits."""
    return min(max(index, 0), last)


def as_written(index: int, _last: int) -> int:
    """The start as it is; cells outside are judged one by one."""
    return index


def fitting_or_skipped(index: int, last: int) -> int | None:
    """The start, if the whole window fits."""
    return index if 0 <= index <= last else None


@operator("stablehlo.gather")
def gather(
    operand: Array,
    start_indices: Array,
    offset_dims: list[int],
    collapsed_slice_dims: list[int],
    start_index_map: list[int],
    index_vector_dim: int,
    slice_sizes: list[int],
    operand_batching_dims: list[int] | None = None,
    start_indices_batching_dims: list[int] | None = None,
) -> Array:
    """A window per index vector; its start is clamped so that the window fits."""
    dims = windows.Dimensions(
        offset_dims,
        collapsed_slice_dims,
        operand_batching_dims or [],
        start_indices_batching_dims or [],
        start_index_map,
        index_vector_dim,
    )
    return windows.gather(operand, start_indices, dims, slice_sizes, fitted, None)


@operator("stablehlo.scatter")
def scatter(
    inputs: Array,
    scatter_indices: Array,
    updates: Array,
    update_window_dims: list[int],
    inserted_window_dims: list[int],
    scatter_dims_to_operand_dims: list[int],
    index_vector_dim: int,
    update_computation: str = "set",
    input_batching_dims: list[int] | None = None,
    scatter_indices_batching_dims: list[int] | None = None,
    xla: bool = False,
) -> Array:
    """XLA drops a window that is partly outside; the specification only its outside cells."""
    require(update_computation in COMPUTATIONS, "usage", f"{update_computation!r}")
    require(inputs.dtype == updates.dtype, "dtype", "updates have another dtype")
    dims = windows.Dimensions(
        update_window_dims,
        inserted_window_dims,
        input_batching_dims or [],
        scatter_indices_batching_dims or [],
        scatter_dims_to_operand_dims,
        index_vector_dim,
    )
    judge: windows.Judge = fitting_or_skipped if xla else as_written
    writes = windows.scatter_writes(inputs, scatter_indices, updates, dims, judge, whole=xla)
    return families.apply(inputs, list(writes), COMPUTATIONS[update_computation])
