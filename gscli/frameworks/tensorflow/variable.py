"""TensorFlow: the scatter_nd methods of variables, which write where tensor_scatter_nd copies."""

from __future__ import annotations

from gscli.base import dtypes
from gscli.base.errors import ShapeRefused
from gscli.frameworks.operator import Operator
from gscli.frameworks.tensorflow.rules import (
    FRAMEWORK,
    LONGEST_VECTOR,
    REAL,
    REFUSE,
    nan_in,
    short_enough,
)
from gscli.layout.axes import Reduction, Tensor
from gscli.layout.families import described, vectors
from gscli.layout.layout import Layout, Updates, scatter_layout
from gscli.layout.refusals import (
    allow,
    at_least_rank,
    index_types,
    no_empty_vectors,
    same_type,
    vector_updates,
)

SUMMED = ("bool", *dtypes.NUMBERS)


def _declared(name: str, reduction: Reduction, allowed: tuple[str, ...], doc: str) -> Operator:
    """An operator `scatter_nd_NAME`; they differ in their reduction and element types."""

    def scatter(ref: Tensor, indices: Tensor, updates: Tensor) -> Layout:
        allow(ref, allowed)
        index_types(indices)
        same_type(ref, updates)
        return _scatter(ref, indices, updates, reduction)

    scatter.__doc__ = doc
    return FRAMEWORK.operator(
        name=f"scatter_nd_{name}",
        example="'[1,2,3,4]' '[[3],[1],[3]]' '[10,20,30]'",
        refused="'[1,2,3,4]' '[[3],[-1]]' '[10,20]'",
    )(scatter)


scatter_nd_update = _declared(
    "update",
    "none",
    dtypes.ALL,
    """Write updates into the variable ref, at the cell or slice that each index vector names.

    updates.shape = indices.shape[:-1] ++ ref.shape[m:] for vectors of m numbers, 1 ≤ m ≤ 7. No
    index counts from the end. What is printed is ref after the call; the last of several updates
    of a cell stays. Indices of rank 1 are refused.
    """,
)
scatter_nd_add = _declared(
    "add",
    "add",
    SUMMED,
    """Add updates to the variable ref, at the cell or slice that each index vector names.

    Shapes as in scatter-nd-update; every duplicate counts. Integers wrap; bool is OR.
    """,
)
scatter_nd_sub = _declared(
    "sub",
    "sub",
    SUMMED,
    """Subtract updates from the variable ref, at the cell or slice that each index vector names.

    Shapes as in scatter-nd-update; every duplicate counts. Integers wrap; bool is XOR.
    """,
)
scatter_nd_max = _declared(
    "max",
    "max",
    REAL,
    """Keep the larger of ref and updates, at the cell or slice that each index vector names.

    Shapes as in scatter-nd-update; real numbers only. An update must compare greater to win, so NaN
    in updates changes nothing and NaN in ref stays.
    """,
)
scatter_nd_min = _declared(
    "min",
    "min",
    REAL,
    """Keep the smaller of ref and updates, at the cell or slice that each index vector names.

    Shapes as in scatter-nd-update; real numbers only. An update must compare less to win, so NaN in
    updates changes nothing and NaN in ref stays.
    """,
)


def _scatter(ref: Tensor, indices: Tensor, updates: Tensor, reduction: Reduction) -> Layout:
    at_least_rank(ref)
    if 0 in ref.shape and not (0 in indices.shape and 0 in updates.shape):
        raise ShapeRefused(
            "ref is empty, yet something is written into it",
            where=described(ref),
            details=(described(indices), described(updates)),
            valid="no number in indices and none in updates",
        )
    hint = "add one axis: [[2],[0]] for [2,0], of which TensorFlow would write the first alone"
    at_least_rank(indices, 2, hint)
    no_empty_vectors(indices, min(ref.rank, LONGEST_VECTOR))
    addressing = vectors(ref, indices)
    short_enough(indices)
    vector_updates(updates, ref, indices, addressing.result_shape)
    nan_wins = ref.dtype not in dtypes.FLOATS
    layout = scatter_layout(
        ref, Updates(updates.name, nan_wins=nan_wins), addressing, REFUSE, reduction=reduction
    )
    return layout._replace(open_texts=nan_in(reduction, "an update that is NaN changes nothing"))
