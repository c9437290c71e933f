"""StableHLO gather and scatter in their full general form; the other operators are cases of it.

Index vectors name where windows start. Nothing is ever refused for an index's value: gather moves a
window inside, scatter leaves out what lies outside. There are no negative indices and no strings.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from gscli import dtypes
from gscli.checks import allow, index_types, same_type
from gscli.declare import Framework, Option
from gscli.dimension_numbers import DimensionNumbers, gather_windows, scatter_windows
from gscli.layout import (
    Beyond,
    Layout,
    Negative,
    Policy,
    Reduction,
    Tensor,
    Updates,
    gather_layout,
    scatter_layout,
)

FRAMEWORK = Framework("stablehlo", "StableHLO")

ELEMENTS = tuple(name for name in dtypes.EVERY if name != "str")
INDICES = dtypes.INTEGERS
FITTED = Policy(Negative.OUTSIDE, Beyond.CLIP)
REDUCTIONS: dict[str, Reduction] = {
    "set": "none", "add": "add", "sub": "sub", "mul": "mul", "max": "max", "min": "min",
}  # fmt: skip
OPEN_ORDER = "StableHLO leaves the order of updates to the implementation"

Dims: TypeAlias = tuple[int, ...]
Offset: TypeAlias = Annotated[Dims, Option("axes of the result that walk through a slice")]
Collapsed: TypeAlias = Annotated[Dims, Option("axes of operand, slice size 1, without an axis")]
Batching: TypeAlias = Annotated[Dims, Option("axes of operand that walk with the indices' own")]
IndicesBatching: TypeAlias = Annotated[Dims, Option("axes of the indices paired with those")]
Map: TypeAlias = Annotated[Dims, Option("which axis of operand each number of a vector is for")]
VectorDim: TypeAlias = Annotated[
    int, Option("axis of the indices along which a vector runs; their rank: single numbers")
]
Window: TypeAlias = Annotated[Dims, Option("axes of updates that walk through a window")]
Inserted: TypeAlias = Annotated[Dims, Option("axes of inputs, window size 1, that updates lack")]
Sorted: TypeAlias = Annotated[bool, Option("a promise to the compiler; the answer is the same")]
Unique: TypeAlias = Annotated[bool, Option("a promise to the compiler; the answer is the same")]


@FRAMEWORK.operator(
    example="'[[1,2,3],[4,5,6]]' '[1,0,-5]' --offset-dims 1 --collapsed-slice-dims 0 "
    "--start-index-map 0 --index-vector-dim 1 --slice-sizes 1,2",
    refused="'[[1,2,3],[4,5,6]]' '[1,0]' --offset-dims 1 --collapsed-slice-dims 0 "
    "--start-index-map 0 --index-vector-dim 1 --slice-sizes 1,4",
)
def gather(
    operand: Tensor,
    start_indices: Tensor,
    *,
    offset_dims: Offset = (),
    collapsed_slice_dims: Collapsed = (),
    operand_batching_dims: Batching = (),
    start_indices_batching_dims: IndicesBatching = (),
    start_index_map: Map = (),
    index_vector_dim: VectorDim = 0,
    slice_sizes: Annotated[Dims, Option("size of the slice along each axis of operand")],
    indices_are_sorted: Sorted = False,  # noqa: ARG001  a promise that changes no answer
) -> Layout:
    """Take the slice that starts at each index vector.

    A start is moved so that its whole slice fits: on axis d, clamp(v, 0, size - slice_sizes[d]). In
    the result the axes offset_dims walk through the slice (its axes neither collapsed nor batching,
    in order), the others walk through the indices in order. A batching axis of operand has the
    coordinate of its partner axis in the indices.
    """
    allow(operand, ELEMENTS)
    index_types(start_indices, INDICES)
    numbers = DimensionNumbers(
        ("offset_dims", offset_dims),
        ("collapsed_slice_dims", collapsed_slice_dims),
        ("operand_batching_dims", operand_batching_dims),
        ("start_indices_batching_dims", start_indices_batching_dims),
        ("start_index_map", start_index_map),
        index_vector_dim,
    )
    return gather_layout(
        operand, gather_windows(operand, start_indices, numbers, slice_sizes), FITTED
    )


@FRAMEWORK.operator(
    example="'[0,0,0,0,0]' '[[-2],[1],[4]]' '[[1,2,3],[4,5,6],[7,8,9]]' --update-window-dims 1 "
    "--scatter-dims-to-operand-dims 0 --index-vector-dim 1 --update-computation add",
    refused="'[0,0]' '[[0],[1]]' '[[1,2,3],[4,5,6]]' --update-window-dims 1 "
    "--scatter-dims-to-operand-dims 0 --index-vector-dim 1 --update-computation add",
)
def scatter(
    inputs: Tensor,
    scatter_indices: Tensor,
    updates: Tensor,
    *,
    update_window_dims: Window = (),
    inserted_window_dims: Inserted = (),
    input_batching_dims: Batching = (),
    scatter_indices_batching_dims: IndicesBatching = (),
    scatter_dims_to_operand_dims: Map = (),
    index_vector_dim: VectorDim = 0,
    update_computation: Annotated[
        Literal["set", "add", "sub", "mul", "max", "min"],
        Option("how an update meets the value already there"),
    ] = "set",
    xla: Annotated[
        bool, Option("XLA's rule: a window partly outside is dropped whole, not cell by cell")
    ] = True,
    indices_are_sorted: Sorted = False,  # noqa: ARG001  a promise that changes no answer
    unique_indices: Unique = False,  # noqa: ARG001  a promise that changes no answer
) -> Layout:
    """Write the window of updates that starts at each index vector.

    The mirror image of gather, but nothing is moved. The specification skips the cells of a window
    that lie outside; XLA, which runs StableHLO for JAX and TensorFlow, drops such a window whole.
    Integers wrap; NaN stays under max and min; bool: add and max are OR, mul and min are AND.
    """
    allow(inputs, ELEMENTS)
    same_type(inputs, updates)
    index_types(scatter_indices, INDICES)
    if update_computation == "sub":
        allow(inputs, tuple(name for name in ELEMENTS if name != "bool"), "bool has no subtraction")
    numbers = DimensionNumbers(
        ("update_window_dims", update_window_dims),
        ("inserted_window_dims", inserted_window_dims),
        ("input_batching_dims", input_batching_dims),
        ("scatter_indices_batching_dims", scatter_indices_batching_dims),
        ("scatter_dims_to_operand_dims", scatter_dims_to_operand_dims),
        index_vector_dim,
    )
    return scatter_layout(
        inputs,
        Updates(updates.name),
        scatter_windows(inputs, scatter_indices, updates, numbers),
        Policy(Negative.OUTSIDE, Beyond.SKIP, whole=xla),
        reduction=REDUCTIONS[update_computation],
        open_order=OPEN_ORDER,
    )
