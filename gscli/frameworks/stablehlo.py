"""StableHLO gather and scatter in their full general form; the other operators are cases of it.

Index vectors name where windows start. Nothing is ever refused for an index's value: gather moves a
window inside, scatter leaves out what lies outside. There are no negative indices and no strings.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from gscli.base.words import EVERY, INTEGERS
from gscli.declare.attributes import Option
from gscli.declare.dimensions import (
    Batching,
    Collapsed,
    IndexMap,
    IndicesBatching,
    Inserted,
    Offset,
    Promise,
    SliceSizes,
    UpdateWindow,
)
from gscli.frameworks.operator import Attrs, Comparison, ConceptCall, Framework
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import Beyond, Negative, Policy, Reduction, Tensor, Updates
from gscli.layout.refusals import allow, index_types, same_type
from gscli.layout.windows import DimensionNumbers, gather_windows, scatter_windows

FRAMEWORK = Framework("stablehlo", "StableHLO")

ELEMENTS = tuple(name for name in EVERY if name != "str")
INDICES = INTEGERS
FITTED = Policy(Negative.OUTSIDE, Beyond.CLIP)
REDUCTIONS: dict[str, Reduction] = {
    "set": "none", "add": "add", "sub": "sub", "mul": "mul", "max": "max", "min": "min",
}  # fmt: skip
OPEN_ORDER = "StableHLO leaves the order of updates to the implementation"

VectorDim: TypeAlias = Annotated[
    int, Option("axis of the indices along which a vector runs; their rank: single numbers")
]
Computation: TypeAlias = Annotated[
    Literal["set", "add", "sub", "mul", "max", "min"],
    Option("how an update meets the value already there", role="reduction"),
]
WholeWindows: TypeAlias = Annotated[
    bool, Option("XLA's rule: a window partly outside is dropped whole, not cell by cell")
]

_READ = ("operand", "start_indices")
_WRITTEN = ("inputs", "scatter_indices", "updates")


def _gather_along(call: ConceptCall) -> Attrs:
    """ONNX Gather as a general gather: the index replaces one axis, all others are windows."""
    if not call.plain or not _has_axes(call):
        return None
    axis, rank, grid = (call.axis or 0) % max(call.data.rank, 1), call.data.rank, call.indices.rank
    return {
        "offset_dims": (*range(axis), *range(axis + grid, grid + rank - 1)),
        "collapsed_slice_dims": (axis,),
        "start_index_map": (axis,),
        "index_vector_dim": grid,
        "slice_sizes": tuple(1 if d == axis else size for d, size in enumerate(call.data.shape)),
    }


def _has_axes(call: ConceptCall) -> bool:
    """Whether data has the axis and the batch axes of a call; an attribute would hide that."""
    rank = max(call.data.rank, 1)
    return -rank <= (call.axis or 0) < rank and 0 <= call.batch_dims <= call.data.rank


def _gather_elements(call: ConceptCall) -> Attrs:
    """GatherElements: every axis but one is a batching axis, so their sizes must be equal."""
    axis, shape = (call.axis or 0) % max(call.data.rank, 1), call.data.shape
    others = tuple(d for d in range(call.data.rank) if d != axis)
    if (
        not _has_axes(call)
        or call.indices.rank != call.data.rank
        or any(shape[d] != call.indices.shape[d] for d in others)
    ):
        return None
    return {
        "collapsed_slice_dims": (axis,),
        "operand_batching_dims": others,
        "start_indices_batching_dims": others,
        "start_index_map": (axis,),
        "index_vector_dim": call.indices.rank,
        "slice_sizes": (1,) * call.data.rank,
    }


def _gather_vectors(call: ConceptCall) -> Attrs:
    """GatherND with batch axes: the vector names the axes after them, the rest is a window."""
    vectors = call.indices.rank > 0 and _has_axes(call)
    if not vectors or call.indices.shape[-1] + call.batch_dims > call.data.rank:
        return None
    first, last = call.batch_dims, call.batch_dims + call.indices.shape[-1]
    grid = call.indices.rank - 1
    batch = tuple(range(first))
    return {
        "offset_dims": tuple(range(grid, grid + call.data.rank - last)),
        "collapsed_slice_dims": tuple(range(first, last)),
        "operand_batching_dims": batch,
        "start_indices_batching_dims": batch,
        "start_index_map": tuple(range(first, last)),
        "index_vector_dim": grid,
        "slice_sizes": tuple(1 if d < last else size for d, size in enumerate(call.data.shape)),
    }


def _computation(call: ConceptCall) -> str | None:
    return {"none": "set", "mean": None}.get(call.reduction, call.reduction)


def _scatter_vectors(call: ConceptCall) -> Attrs:
    computation = _computation(call)
    if computation is None or call.updates is None or call.indices.rank == 0:
        return None
    length, grid = call.indices.shape[-1], call.indices.rank - 1
    return {
        "update_window_dims": tuple(range(grid, call.updates.rank)),
        "inserted_window_dims": tuple(range(length)),
        "scatter_dims_to_operand_dims": tuple(range(length)),
        "index_vector_dim": grid,
        "update_computation": computation,
    }


def _scatter_along(call: ConceptCall) -> Attrs:
    if call.updates is None or not call.plain or not _has_axes(call):
        return None
    axis, grid = (call.axis or 0) % max(call.data.rank, 1), call.indices.rank
    return {
        "update_window_dims": (*range(axis), *range(axis + grid, call.updates.rank)),
        "inserted_window_dims": (axis,),
        "scatter_dims_to_operand_dims": (axis,),
        "index_vector_dim": grid,
    }


def _scatter_elements(call: ConceptCall) -> Attrs:
    numbers, computation = _gather_elements(call), _computation(call)
    if numbers is None or computation is None:
        return None
    return {
        "inserted_window_dims": numbers["collapsed_slice_dims"],
        "input_batching_dims": numbers["operand_batching_dims"],
        "scatter_indices_batching_dims": numbers["start_indices_batching_dims"],
        "scatter_dims_to_operand_dims": numbers["start_index_map"],
        "index_vector_dim": numbers["index_vector_dim"],
        "update_computation": computation,
    }


@FRAMEWORK.operator(
    example="'[[1,2,3],[4,5,6]]' '[1,0,-5]' --offset-dims 1 --collapsed-slice-dims 0 "
    "--start-index-map 0 --index-vector-dim 1 --slice-sizes 1,2",
    refused="'[[1,2,3],[4,5,6]]' '[1,0]' --offset-dims 1 --collapsed-slice-dims 0 "
    "--start-index-map 0 --index-vector-dim 1 --slice-sizes 1,4",
    compares=[
        Comparison("gather", "StableHLO gather", _READ, special=_gather_along),
        Comparison("gather-elements", "StableHLO gather", _READ, special=_gather_elements),
        Comparison("gather-nd", "StableHLO gather", _READ, special=_gather_vectors),
    ],
)
def gather(
    operand: Tensor,
    start_indices: Tensor,
    *,
    offset_dims: Offset = (),
    collapsed_slice_dims: Collapsed = (),
    operand_batching_dims: Batching = (),
    start_indices_batching_dims: IndicesBatching = (),
    start_index_map: IndexMap = (),
    index_vector_dim: VectorDim = 0,
    slice_sizes: SliceSizes,
    indices_are_sorted: Promise = False,
) -> NewOutput:
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
    compares=[
        Comparison("scatter-elements", "StableHLO scatter", _WRITTEN, special=_scatter_elements),
        Comparison("scatter-nd", "StableHLO scatter", _WRITTEN, special=_scatter_vectors),
        Comparison("scatter-update", "StableHLO scatter", _WRITTEN, special=_scatter_along),
    ],
)
def scatter(
    inputs: Tensor,
    scatter_indices: Tensor,
    updates: Tensor,
    *,
    update_window_dims: UpdateWindow = (),
    inserted_window_dims: Inserted = (),
    input_batching_dims: Batching = (),
    scatter_indices_batching_dims: IndicesBatching = (),
    scatter_dims_to_operand_dims: IndexMap = (),
    index_vector_dim: VectorDim = 0,
    update_computation: Computation = "set",
    xla: WholeWindows = False,
    indices_are_sorted: Promise = False,
    unique_indices: Promise = False,
) -> Layout:
    """Write the window of updates that starts at each index vector.

    The mirror image of gather, but nothing is moved. The specification skips the cells of a window
    that lie outside; XLA, which runs StableHLO for JAX and TensorFlow, drops such a window whole.
    Integers wrap; NaN stays under max and min; bool: add and max are OR, mul and min are AND.
    """
    allow(inputs, ELEMENTS)
    same_type(inputs, updates)
    index_types(scatter_indices, INDICES)
    if update_computation == "sub" and inputs.dtype == "bool":
        allow(inputs, [name for name in ELEMENTS if name != "bool"], "bool has no subtraction")
    numbers = DimensionNumbers(
        ("update_window_dims", update_window_dims),
        ("inserted_window_dims", inserted_window_dims),
        ("input_batching_dims", input_batching_dims),
        ("scatter_indices_batching_dims", scatter_indices_batching_dims),
        ("scatter_dims_to_operand_dims", scatter_dims_to_operand_dims),
        index_vector_dim,
    )
    policy = Policy(Negative.OUTSIDE, Beyond.SKIP, whole=xla)
    return scatter_layout(
        inputs, Updates(updates.name), scatter_windows(inputs, scatter_indices, updates, numbers),
        policy, reduction=REDUCTIONS[update_computation], open_order=OPEN_ORDER,
    )  # fmt: skip
