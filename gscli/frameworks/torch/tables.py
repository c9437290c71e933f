"""PyTorch: embedding and one_hot of torch.nn.functional."""

from __future__ import annotations

from typing import Annotated

from gscli.base import UsageError, check_rule
from gscli.declare import MaxValueInput
from gscli.declare.attributes import Option
from gscli.frameworks.operator import Attrs, Comparison, ConceptCall
from gscli.frameworks.torch import DATA, FLOAT8, FRAMEWORK, WIDE_UNSIGNED
from gscli.layout import NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import RAISE_OUTSIDE, Tensor, Updates
from gscli.layout.families import address_axis, address_own_place
from gscli.layout.refusals import check_dtype, check_index_dtype


def check_table(weight: Tensor, padding_idx: int | None) -> None:
    """A table of vectors has two axes, and the row that stands for nothing is one of its rows."""
    check_dtype(weight, (*DATA, *WIDE_UNSIGNED, *FLOAT8))
    check_rule(weight.rank == 2, "weight is a table", weight, valid="rank 2")  # noqa: PLR2004
    rows = weight.shape[0]
    is_row = padding_idx is None or -rows <= padding_idx < rows
    where = f"padding_idx = {padding_idx}, {weight}"
    legal = f"-{rows} … {rows - 1}" if rows else "none: weight has no rows"
    check_rule(is_row, "padding_idx is no row of weight", where, kind=UsageError, valid=legal)


def _table_attributes(call: ConceptCall) -> Attrs:
    """The rows of a table, without batch axes."""
    return {} if call.is_plain and call.axis in (None, 0) and call.data.rank == 2 else None  # noqa: PLR2004


@FRAMEWORK.operator(
    "'[[2,0],[2,1]]' '[[0.5,1.5],[2.5,3.5],[4.5,5.5]]'",
    Comparison(
        "gather",
        "PyTorch embedding",
        inputs=("weight", "input"),
        build_attributes=_table_attributes,
    ),
)
def embedding(
    input: Tensor,
    weight: Tensor,
    *,
    padding_idx: Annotated[int | None, Option("a row of weight that is given no gradient")] = None,
) -> NewOutput:
    """Take a row of the table weight for each number of input.

    output = input ++ weight[1:] (shapes). Numbers are int32 or int64, 0 … rows-1; padding_idx may
    count from the end, and what is read is the same with it. max_norm, which first shortens the
    rows of weight in place, is not a gather, and is not here; neither is scale_grad_by_freq, which
    divides the gradient of a row by how often it was read.
    """
    check_index_dtype(input)
    check_table(weight, padding_idx)
    return gather_layout(weight, address_axis(weight, input, 0), RAISE_OUTSIDE)


@FRAMEWORK.operator("'[[0,2],[1,0]]' --num-classes 3")
def one_hot(
    input: MaxValueInput,
    *,
    num_classes: Annotated[int, Option("number of classes; -1: the largest plus one")] = -1,
) -> NewOutput:
    """Write 1 at the class of each number into a row of zeros.

    output = input ++ (num_classes) (shapes), of int64, which has no gradient. Classes are int64,
    0 … num_classes-1; an input without numbers needs num_classes.
    """
    check_index_dtype(input, ("int64",))
    largest = (input.values or (-1,))[0]
    inferred = num_classes == -1 or 0 in input.shape
    problem = "the number of classes is unknown" if inferred else "num_classes is negative"
    where = f"num_classes = {num_classes}, {input}"
    fits = num_classes >= -1 and (0 not in input.shape or num_classes > 0)
    check_rule(fits, problem, where, kind=UsageError, valid="1 and more")
    count = max(largest + 1, 1) if num_classes == -1 else num_classes
    addressing = address_own_place(input, input.rank, count)
    return scatter_layout(None, Updates(None, value=1), addressing, RAISE_OUTSIDE, dtype="int64")
