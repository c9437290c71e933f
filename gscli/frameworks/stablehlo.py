"""StableHLO gather and scatter in their full general form; the other operators are cases of it.

Index vectors name where windows start. Nothing is ever refused for an index's value: gather moves a
window inside, scatter leaves out what lies outside. None counts from the end; no strings.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Literal, TypeAlias, get_args

from gscli.base import GscliError
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
    parse_reduction,
)
from gscli.frameworks.operator import Attrs, Comparison, ConceptCall, ConceptName, Framework
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    CLIP_OUTSIDE,
    Addressing,
    Negative,
    OutOfBounds,
    Policy,
    Tensor,
    Updates,
)
from gscli.layout.families import (
    SCATTER_NAMES,
    DimensionNumbers,
    address_axis,
    address_elements,
    address_vectors,
    normalize_axis,
)
from gscli.layout.matching import find_dimension_numbers
from gscli.layout.refusals import check_batch_dims, check_dtype, check_dtypes, check_min_rank
from gscli.layout.windows import gather_windows, scatter_windows

FRAMEWORK = Framework("stablehlo", "StableHLO")

OPEN_ORDER = "StableHLO leaves the order of updates to the implementation"

VectorDim: TypeAlias = Annotated[
    int, Option("axis of the indices along which a vector runs; their rank: single numbers")
]
UpdateComputation: TypeAlias = Literal["set", "add", "sub", "mul", "max", "min"]
Computation: TypeAlias = Annotated[
    UpdateComputation, Option("how an update meets the value already there", role="reduction")
]
WholeWindows: TypeAlias = Annotated[
    bool, Option("XLA's rule: a window partly outside is dropped whole, not cell by cell")
]


def _address_axis(call: ConceptCall) -> Addressing:
    rank, batch_dims = call.data.rank, call.batch_dims
    axis = normalize_axis(call.axis or 0, rank)
    batch_dims += call.indices.rank * (batch_dims < 0)
    check_batch_dims(batch_dims, 0, min(axis, call.indices.rank))
    return address_axis(call.data, call.indices, axis, batch_dims)


def _address_elements(call: ConceptCall) -> Addressing:
    return address_elements(call.data, call.indices, normalize_axis(call.axis or 0, call.data.rank))


def _address_vectors(call: ConceptCall) -> Addressing:
    check_min_rank(call.indices)
    check_batch_dims(call.batch_dims, 0, min(call.data.rank, call.indices.rank - 1))
    return address_vectors(call.data, call.indices, call.batch_dims)


def _compare(concept: ConceptName, address: Callable[[ConceptCall], Addressing]) -> Comparison:
    """A concept as the case of gather or scatter that its own addressing is."""

    def express(call: ConceptCall) -> Attrs:
        addressing, computation = None, "set" if call.reduction == "none" else call.reduction
        with suppress(GscliError):  # a call of nobody has none
            addressing = address(call)
        numbers = addressing and find_dimension_numbers(addressing, call.indices.shape)
        if not (addressing and numbers and computation in get_args(UpdateComputation)):
            return None
        if call.updates is None:
            return {**numbers.attributes, "slice_sizes": tuple(a.span for a in addressing.axes)}
        attributes = numbers._replace(names=SCATTER_NAMES).attributes
        return {**attributes, "update_computation": computation}

    return Comparison(concept, f"StableHLO {concept.partition('-')[0]}", build_attributes=express)


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[1,0,-5]' --offset-dims 1 --collapsed-slice-dims 0 "
    "--start-index-map 0 --index-vector-dim 1 --slice-sizes 1,2",
    _compare("gather", _address_axis),
    _compare("gather-elements", _address_elements),
    _compare("gather-nd", _address_vectors),
)
def gather(
    operand: Tensor, start_indices: Tensor, *,
    offset_dims: Offset = (), collapsed_slice_dims: Collapsed = (),
    operand_batching_dims: Batching = (), start_indices_batching_dims: IndicesBatching = (),
    start_index_map: IndexMap = (), index_vector_dim: VectorDim = 0, slice_sizes: SliceSizes,
    indices_are_sorted: Promise = False,
) -> NewOutput:  # fmt: skip
    """Take the slice that starts at each index vector.

    A start is moved so that its whole slice fits: on axis d, clamp(v, 0, size - slice_sizes[d]). In
    the result the axes offset_dims walk through the slice (its axes neither collapsed nor batching,
    in order), the others walk through the indices in order. A batching axis of operand has the
    coordinate of its partner axis in the indices.
    """
    check_dtypes(operand, NON_TEXT_DTYPES, start_indices, INTEGERS)
    batching = operand_batching_dims, start_indices_batching_dims
    lists = offset_dims, collapsed_slice_dims, *batching, start_index_map
    numbers = DimensionNumbers(*lists, index_vector_dim)
    addressing = gather_windows(operand, start_indices, numbers, slice_sizes)
    return gather_layout(operand, addressing, CLIP_OUTSIDE)


@FRAMEWORK.operator(
    "'[0,0,0,0,0]' '[[-2],[1],[4]]' '[[1,2,3],[4,5,6],[7,8,9]]' --update-window-dims 1 "
    "--scatter-dims-to-operand-dims 0 --index-vector-dim 1 --update-computation add",
    _compare("scatter-elements", _address_elements),
    _compare("scatter-nd", _address_vectors),
    _compare("scatter-update", _address_axis),
)
def scatter(
    inputs: Tensor, scatter_indices: Tensor, updates: Tensor, *,
    update_window_dims: UpdateWindow = (), inserted_window_dims: Inserted = (),
    input_batching_dims: Batching = (), scatter_indices_batching_dims: IndicesBatching = (),
    scatter_dims_to_operand_dims: IndexMap = (), index_vector_dim: VectorDim = 0,
    update_computation: Computation = "set", xla: WholeWindows = False,
    indices_are_sorted: Promise = False, unique_indices: Promise = False,
) -> Layout:  # fmt: skip
    """Write the window of updates that starts at each index vector.

    The mirror image of gather, but nothing is moved. The specification skips the cells of a window
    that lie outside; XLA, which runs StableHLO for JAX and TensorFlow, drops such a window whole.
    Integers wrap; NaN stays under max and min; bool: add and max are OR, mul and min are AND.
    """
    check_dtypes(inputs, NON_TEXT_DTYPES, scatter_indices, INTEGERS, updates)
    if update_computation == "sub":
        numeric = [name for name in NON_TEXT_DTYPES if name != "bool"]
        check_dtype(inputs, numeric, "bool has no subtraction")
    batching = input_batching_dims, scatter_indices_batching_dims
    lists = update_window_dims, inserted_window_dims, *batching, scatter_dims_to_operand_dims
    numbers = DimensionNumbers(*lists, index_vector_dim, SCATTER_NAMES)
    policy = Policy(Negative.OUTSIDE, OutOfBounds.SKIP, is_atomic=xla)
    return scatter_layout(
        inputs, Updates(updates.name), scatter_windows(inputs, scatter_indices, updates, numbers),
        policy, reduction=parse_reduction(update_computation), open_order=OPEN_ORDER,
    )  # fmt: skip
