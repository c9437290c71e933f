"""jax.lax.gather and scatter, scatter_add, _sub, _mul, _min, _max with dimension numbers, and
dynamic_slice and dynamic_update_slice, their case of one window.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from gscli.base.words import INTEGERS, NON_TEXT_DTYPES
from gscli.declare.attributes import (
    Batching,
    Collapsed,
    IndexMap,
    IndicesBatching,
    Inserted,
    Offset,
    Option,
    Promise,
    SliceSizes,
    UpdateWindow,
)
from gscli.frameworks.jax import (
    FRAMEWORK,
    READ_MODES,
    UNSPECIFIED_ORDER,
    WRITE_MODES,
    FillValue,
    Mode,
    check_bool_arithmetic,
    index_policy,
    resolve_fill_value,
)
from gscli.frameworks.operator import FamilyMember
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import Negative, OutOfBounds, Policy, Reduction, Tensor, Updates
from gscli.layout.families import SCATTER_NAMES as STABLEHLO_NAMES
from gscli.layout.families import DimensionNumbers
from gscli.layout.refusals import check_dtypes, check_exact_shape, check_min_rank
from gscli.layout.windows import gather_windows, scatter_windows

SCATTER_NAMES = tuple(name.replace("input_b", "operand_b") for name in STABLEHLO_NAMES)


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[[1],[0],[-5]]' --offset-dims 1 --collapsed-slice-dims 0 "
    "--start-index-map 0 --slice-sizes 1,2",
    dotted=True,
)
def lax_gather(
    operand: Tensor, start_indices: Tensor, *,
    offset_dims: Offset, collapsed_slice_dims: Collapsed, start_index_map: IndexMap,
    operand_batching_dims: Batching = (), start_indices_batching_dims: IndicesBatching = (),
    slice_sizes: SliceSizes, unique_indices: Promise = False,
    indices_are_sorted: Promise = False, mode: Mode = None, fill_value: FillValue = None,
) -> NewOutput:  # fmt: skip
    """Take the slice that starts at each index vector (StableHLO gather, vectors on the last axis).

    No index counts from the end. By default, and under clip, a start is moved so that its whole
    slice fits; fill and drop give a slice of fill_value when any part is outside, judging indices
    cut to 32 bits. Slice sizes of collapsed axes are 1. Without any index vector the other slice
    sizes may exceed operand's, as JAX has it.
    """
    check_dtypes(operand, NON_TEXT_DTYPES, start_indices, INTEGERS)
    batching = operand_batching_dims, start_indices_batching_dims
    lists = offset_dims, collapsed_slice_dims, *batching, start_index_map
    numbers = DimensionNumbers(*lists, _check_vector_dim(start_indices))
    addressing = gather_windows(
        operand, start_indices, numbers, slice_sizes, removed_sizes=(1,), any_without_entries=True
    )
    policy = index_policy(operand.shape, READ_MODES[mode])
    return gather_layout(operand, addressing, policy, fill=resolve_fill_value(operand, fill_value))


def _scatter(reduction: Reduction) -> FamilyMember:
    """An operator `lax.NAME`; they differ in their reduction."""

    def scatter(
        operand: Tensor, scatter_indices: Tensor, updates: Tensor, *,
        update_window_dims: UpdateWindow, inserted_window_dims: Inserted,
        scatter_dims_to_operand_dims: IndexMap, operand_batching_dims: Batching = (),
        scatter_indices_batching_dims: IndicesBatching = (),
        indices_are_sorted: Promise = False, unique_indices: Promise = False, mode: Mode = None,
    ) -> Layout:  # fmt: skip
        batching = operand_batching_dims, scatter_indices_batching_dims
        lists = update_window_dims, inserted_window_dims, *batching, scatter_dims_to_operand_dims
        numbers = DimensionNumbers(*lists, _check_vector_dim(scatter_indices), SCATTER_NAMES)
        check_dtypes(operand, NON_TEXT_DTYPES, scatter_indices, INTEGERS, updates)
        check_bool_arithmetic(operand.dtype, reduction, str(operand))
        addressing = scatter_windows(operand, scatter_indices, updates, numbers)
        policy, values = Policy(Negative.OUTSIDE, WRITE_MODES[mode]), Updates(updates.name)
        return scatter_layout(
            operand, values, addressing, policy, reduction=reduction, open_order=UNSPECIFIED_ORDER
        )

    rows = "--update-window-dims 1 --inserted-window-dims 0 --scatter-dims-to-operand-dims 0"
    return FRAMEWORK.family_member(
        scatter,
        f"'[[1,2],[3,4],[5,6]]' '[[2],[0],[-1]]' '[[10,20],[30,40],[50,60]]' {rows}",
        dotted=True,
    )


@_scatter("none")
def lax_scatter() -> None:
    """Write the window of updates that starts at each index vector (vectors on the last axis).

    No index counts from the end. A window partly outside is dropped whole; under clip it is moved
    inside. Updates have operand's element type.
    """


@_scatter("add")
def lax_scatter_add() -> None:
    """Add the window of updates to the cells that start at each index vector.

    Windows and modes as in lax.scatter. Every occurrence of a cell counts; integers wrap; bool is
    refused.
    """


@_scatter("sub")
def lax_scatter_sub() -> None:
    """Subtract the window of updates from the cells that start at each index vector.

    Windows and modes as in lax.scatter. Every occurrence of a cell counts; integers wrap; bool is
    refused.
    """


@_scatter("mul")
def lax_scatter_mul() -> None:
    """Multiply the cells that start at each index vector by the window of updates.

    Windows and modes as in lax.scatter. Every occurrence of a cell counts; integers wrap; bool is
    refused.
    """


@_scatter("min")
def lax_scatter_min() -> None:
    """Keep the smaller of each cell and its update, a window per index vector.

    Windows and modes as in lax.scatter. NaN on either side stays (of complex
    numbers JAX 0.10 keeps the update then); those compare by real part, then by imaginary part;
    bool is AND.
    """


@_scatter("max")
def lax_scatter_max() -> None:
    """Keep the larger of each cell and its update, a window per index vector.

    Windows and modes as in lax.scatter. NaN on either side stays (of complex
    numbers JAX 0.10 keeps the update then); those compare by real part, then by imaginary part;
    bool is OR.
    """


AllowNegative: TypeAlias = Annotated[
    bool, Option("a start below zero counts from the end once; otherwise it is moved to 0")
]


@FRAMEWORK.operator("'[[1,2,3],[4,5,6]]' '[0,-1]' --slice-sizes 2,2", dotted=True)
def lax_dynamic_slice(
    operand: Tensor, start_indices: Tensor, *,
    slice_sizes: SliceSizes, allow_negative_indices: AllowNegative = True,
) -> NewOutput:  # fmt: skip
    """Take the one slice that starts at start_indices, a number for each axis of operand.

    A start is moved so that its whole slice fits, after it was counted from the end: -1 with a
    slice of 2 on 3 cells is 1, and so is 9. JAX counts in the type of the indices (int8 -1 on 200
    cells becomes 0); here it is 199.
    """
    check_dtypes(operand, NON_TEXT_DTYPES, start_indices, INTEGERS)
    numbers = _single_window(operand, start_indices)
    addressing = gather_windows(operand, start_indices, numbers, slice_sizes)
    policy = index_policy(operand.shape, OutOfBounds.CLIP, wraps=allow_negative_indices)
    return gather_layout(operand, addressing, policy)


@FRAMEWORK.operator("'[1,2,3,4,5]' '[70,80]' '[-1]'", dotted=True)
def lax_dynamic_update_slice(
    operand: Tensor, update: Tensor, start_indices: Tensor, *,
    allow_negative_indices: AllowNegative = True,
) -> Layout:  # fmt: skip
    """Write update into operand, from start_indices on, a number for each axis.

    A start is counted from the end and moved inside as in lax.dynamic_slice. update has operand's
    element type and as many axes, none of them longer.
    """
    check_dtypes(operand, NON_TEXT_DTYPES, start_indices, INTEGERS, updates=update)
    numbers = _single_window(operand, start_indices)
    addressing = scatter_windows(operand, start_indices, update, numbers)
    policy = index_policy(operand.shape, OutOfBounds.CLIP, wraps=allow_negative_indices)
    return scatter_layout(operand, Updates(update.name), addressing, policy)


def _single_window(operand: Tensor, start_indices: Tensor) -> DimensionNumbers:
    """The dimension numbers of a window over all axes, one number of the indices for each."""
    check_exact_shape(start_indices, (operand.rank,), f"one number per axis of {operand.name}")
    every = tuple(range(operand.rank))
    return DimensionNumbers(every, (), (), (), every, 0)


def _check_vector_dim(indices: Tensor) -> int:
    """The last axis always holds the vectors; single numbers need a last axis of size 1."""
    check_min_rank(indices)
    return indices.rank - 1
