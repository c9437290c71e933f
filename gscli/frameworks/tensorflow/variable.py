"""TensorFlow: the scatter_nd methods of variables, which write where tensor_scatter_nd copies."""

from __future__ import annotations

from gscli.base.words import DTYPES, NUMBERS
from gscli.frameworks.operator import FamilyMember
from gscli.frameworks.tensorflow import FRAMEWORK, REAL
from gscli.frameworks.tensorflow.scatter import build_scatter_nd_layout
from gscli.layout import Layout
from gscli.layout.axes import Reduction, Tensor
from gscli.layout.refusals import check_dtypes, check_min_rank

HINT = "add one axis: [[2],[0]] for [2,0], of which TensorFlow would write the first alone"

SUM_DTYPES = ("bool", *NUMBERS)


def _variable_scatter(reduction: Reduction, allowed: tuple[str, ...]) -> FamilyMember:
    """An operator `scatter_nd_NAME`; they differ in their reduction and element types."""

    def scatter(ref: Tensor, indices: Tensor, updates: Tensor) -> Layout:
        check_dtypes(ref, allowed, indices, updates=updates)
        check_min_rank(ref)
        return build_scatter_nd_layout(
            ref, ref, indices, updates, reduction, hint=HINT, vectors_always=True
        )

    return FRAMEWORK.family_member(scatter, "'[1,2,3,4]' '[[3],[1],[3]]' '[10,20,30]'")


@_variable_scatter("none", DTYPES)
def scatter_nd_update() -> None:
    """Write updates into the variable ref, at the cell or slice that each index vector names.

    updates.shape = indices.shape[:-1] ++ ref.shape[m:] for vectors of m numbers, 1 ≤ m ≤ 7. No
    index counts from the end. What is printed is ref after the call; the last of several updates
    of a cell stays. Indices of rank 1 are refused. In TensorFlow no gradient flows through the five
    scatter-nd methods of a variable; gscli gives that of tensor-scatter-nd-update and its like.
    """


@_variable_scatter("add", SUM_DTYPES)
def scatter_nd_add() -> None:
    """Add updates to the variable ref, at the cell or slice that each index vector names.

    Shapes as in scatter-nd-update; every duplicate counts. Integers wrap; bool is OR.
    """


@_variable_scatter("sub", SUM_DTYPES)
def scatter_nd_sub() -> None:
    """Subtract updates from the variable ref, at the cell or slice that each index vector names.

    Shapes as in scatter-nd-update; every duplicate counts. Integers wrap; bool is XOR.
    """


@_variable_scatter("max", REAL)
def scatter_nd_max() -> None:
    """Keep the larger of ref and updates, at the cell or slice that each index vector names.

    Shapes as in scatter-nd-update; real numbers only. An update must compare greater to win, so NaN
    in updates changes nothing and NaN in ref stays.
    """


@_variable_scatter("min", REAL)
def scatter_nd_min() -> None:
    """Keep the smaller of ref and updates, at the cell or slice that each index vector names.

    Shapes as in scatter-nd-update; real numbers only. An update must compare less to win, so NaN in
    updates changes nothing and NaN in ref stays.
    """
