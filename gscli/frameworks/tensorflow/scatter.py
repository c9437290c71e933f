"""TensorFlow: scatter_nd and the tensor_scatter_nd family."""

from __future__ import annotations

from gscli.base import ShapeRefused, check_rule
from gscli.base.words import DTYPES, FLOATS, INTEGERS, NUMBERS
from gscli.declare import ShapeInput
from gscli.frameworks.operator import Comparison, FamilyMember
from gscli.frameworks.tensorflow import (
    DEVICES,
    FRAMEWORK,
    MAX_VECTOR_LENGTH,
    REAL,
    BadIndices,
    Device,
    check_max_vector_length,
    choose_policy,
    list_types,
)
from gscli.layout import Layout, NewOutput, scatter_layout
from gscli.layout.axes import Reduction, Shape, Tensor, Updates, unspecified_nan
from gscli.layout.families import address_vectors
from gscli.layout.refusals import (
    check_dtypes,
    check_min_rank,
    check_same_dtype,
    check_vector_length,
    check_vector_updates,
)

OPEN_ORDER = "TensorFlow promises an order of duplicates on the CPU only"

# XLA's CPU compares as the kernels do: TensorFlow builds it with fast_min_max.
NAN_LOSES = "an update that is NaN changes nothing"


@FRAMEWORK.operator(
    "'[[4],[1],[4]]' '[10,20,30]' '[6]'",
    *Comparison(
        "scatter-nd",
        "TF scatter_nd {} (on zeros)",
        ("", "indices", "updates"),
        reductions={"none": "scatter_nd", "add": "scatter_nd"},
        has_zero_data=True,
    ).expand_over("device", DEVICES),
)
def scatter_nd(
    indices: Tensor, updates: Tensor, shape: ShapeInput, *,
    bad_indices_policy: BadIndices = "", device: Device = "cpu",
) -> NewOutput:  # fmt: skip
    """Write updates into a new tensor of zeros, adding where indices repeat.

    shape has one axis and the type of indices; updates.shape = indices.shape[:-1] ++ shape[m:] for
    vectors of m numbers. Untouched cells are 0, False or ""; duplicates are summed in the type of
    updates: integers wrap, bool is OR, strings are joined.
    """
    check_dtypes(updates, list_types(DTYPES, device), indices)
    output = Tensor("output", _read_shape(shape, indices), updates.dtype)
    return build_scatter_nd_layout(
        None, output, indices, updates, "add", device, bad_indices_policy
    )


def _tensor_scatter(reduction: Reduction, allowed: tuple[str, ...], example: str) -> FamilyMember:
    """An operator `tensor_scatter_nd_NAME`; they differ in their reduction and element types."""

    def tensor_scatter(
        tensor: Tensor, indices: Tensor, updates: Tensor, *,
        bad_indices_policy: BadIndices = "", device: Device = "cpu",
    ) -> Layout:  # fmt: skip
        check_dtypes(tensor, list_types(allowed, device), indices, updates=updates)
        return build_scatter_nd_layout(
            tensor, tensor, indices, updates, reduction, device, bad_indices_policy
        )

    compares = Comparison("scatter-nd", "TF {name} {}").expand_over("device", DEVICES)
    return FRAMEWORK.family_member(tensor_scatter, example, *compares, reduction=reduction)


@_tensor_scatter("none", DTYPES, "'[1,2,3,4]' '[[3],[1]]' '[10,20]'")
def tensor_scatter_nd_update() -> None:
    """Write updates into a copy of tensor, at the cell or slice that each index vector names.

    updates.shape = indices.shape[:-1] ++ tensor.shape[m:] for vectors of m numbers, 1 ≤ m ≤ 7. The
    last of several updates of a cell stays on the CPU (documented). bad_indices_policy exists in
    tf.raw_ops.TensorScatterUpdate only, not in the public wrapper.
    """


@_tensor_scatter("add", NUMBERS, "'[1,2,3,4]' '[[3],[1],[3]]' '[10,20,30]'")
def tensor_scatter_nd_add() -> None:
    """Add updates to a copy of tensor, at the cell or slice that each index vector names.

    Shapes as in tensor-scatter-nd-update; every duplicate counts. Numbers only, complex included.
    """


@_tensor_scatter("sub", NUMBERS, "'[1,2,3,4]' '[[3],[1],[3]]' '[10,20,30]'")
def tensor_scatter_nd_sub() -> None:
    """Subtract updates from a copy of tensor, at the cell or slice that each index vector names.

    Shapes as in tensor-scatter-nd-update; every duplicate counts. Numbers only, complex included.
    """


@_tensor_scatter("max", REAL, "'[1,25,3,4]' '[[3],[1],[3]]' '[10,20,30]'")
def tensor_scatter_nd_max() -> None:
    """Keep the larger of tensor and updates, at the cell or slice that each index vector names.

    Shapes as in tensor-scatter-nd-update; real numbers only. An update must compare greater to
    win, so NaN in updates changes nothing and NaN in tensor stays.
    """


@_tensor_scatter("min", REAL, "'[1,25,3,40]' '[[3],[1],[3]]' '[10,20,30]'")
def tensor_scatter_nd_min() -> None:
    """Keep the smaller of tensor and updates, at the cell or slice that each index vector names.

    Shapes as in tensor-scatter-nd-update; real numbers only. An update must compare less to win,
    so NaN in updates changes nothing and NaN in tensor stays.
    """


def _read_shape(shape: ShapeInput, indices: Tensor) -> Shape:
    if indices.dtype in INTEGERS:  # what else it is has been refused
        check_same_dtype(indices, shape, "shape must have the type of indices")
    check_rule(shape.rank == 1, "shape must be a vector", shape, valid="rank 1")
    if shape.values is None or any(size < 0 for size in shape.values):
        where = "too many numbers" if shape.values is None else f"shape = {shape.values}"
        raise ShapeRefused("shape must be sizes", where=where, valid="0 or more each")
    return shape.values


def build_scatter_nd_layout(
    tensor: Tensor | None, output: Tensor, indices: Tensor, updates: Tensor,
    reduction: Reduction, device: str = "cpu", bad_indices_policy: str = "", *,
    hint: str = "TensorFlow takes no single vector; add one axis: [[2]] for [2]",
    vectors_always: bool = False,
) -> Layout:  # fmt: skip
    """The shape rules of the whole scatter family; `output` is what is written into.

    `vectors_always`: vectors are judged though nothing can be written, as for variables.
    """
    policy, empty = choose_policy(device, bad_indices_policy), 0 in output.shape
    problem = f"{output.name} is empty, yet something is written into it"
    legal = "no number in indices and none in updates"
    fits = not empty or (0 in indices.shape and 0 in updates.shape)
    check_rule(fits, problem, output, indices, updates, valid=legal)
    judged = vectors_always or not empty
    check_min_rank(indices, rank=2 if judged else 1, hint=hint)
    if judged:
        check_vector_length(indices, min(output.rank, MAX_VECTOR_LENGTH))
    addressing = address_vectors(output, indices)
    check_max_vector_length(indices)
    check_vector_updates(updates, output, indices, addressing.result_shape)
    return scatter_layout(
        tensor, Updates(updates.name, nan_wins=output.dtype not in FLOATS), addressing, policy,
        dtype=output.dtype, reduction=reduction, open_order="" if device == "cpu" else OPEN_ORDER,
        unspecified=unspecified_nan("TensorFlow", reduction, NAN_LOSES),
    )  # fmt: skip
