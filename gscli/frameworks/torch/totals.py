"""PyTorch: embedding_bag and nll_loss of torch.nn.functional, gathers whose cells are reduced."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

from gscli.base import UsageError, check_rule
from gscli.base.words import FLOAT16S, FLOATS
from gscli.declare.attributes import Option, parse_reduction
from gscli.frameworks.torch import FRAMEWORK
from gscli.frameworks.torch.tables import check_table
from gscli.layout import BAGS, CELLS, Fold, Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    RAISE_OUTSIDE,
    SKIP_OUTSIDE,
    Addressing,
    GeneratedIndices,
    Reduction,
    SegmentNumbers,
    Shape,
    Tensor,
    Unspecified,
    Updates,
)
from gscli.layout.families import address_axis, address_pick, without_axis
from gscli.layout.refusals import (
    check_dtype,
    check_exact_shape,
    check_index_dtype,
    check_min_rank,
    check_same_dtype,
)

NAN_IN_BAG = "PyTorch's largest of a bag is NaN only where that stands first; here it always is"


@FRAMEWORK.operator("'[0,2,1,1]' '[[0.5,1.5],[2.5,3.5],[4.5,5.5]]' '[0,2]'")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    per_sample_weights: Tensor | None = None,
    *,
    mode: Annotated[
        Literal["mean", "sum", "max"], Option("how the rows of a bag meet", role="reduction")
    ] = "mean",
    include_last_offset: Annotated[bool, Option("the last offset ends the last bag")] = False,
    padding_idx: Annotated[int | None, Option("a row of weight that is in no bag")] = None,
) -> NewOutput:
    """Take a row of the table weight for each number of input, and reduce the rows of each bag.

    output = bags ++ weight[1:] (shapes). Each row of an input of rank 2 is a bag; a list of numbers
    has offsets that say where bags begin, 0 and ascending; with include_last_offset the last one is
    the size of input. Where it is less PyTorch answers by weight's type; here that is refused. A
    bag without rows is 0. per_sample_weights has the shape of input and multiplies its rows, for a
    sum. Numbers are int32 or int64, 0 … rows-1. Halves are reduced in float32 and rounded once.
    """
    check_index_dtype(input)
    check_table(weight, padding_idx)
    check_dtype(weight, FLOATS)
    fits, legal = input.rank == 1 + (offsets is None), "rank 1 with offsets, or rank 2 without"
    check_rule(fits, "input is no list of bags", input, valid=legal)
    if per_sample_weights is not None:
        problem, where = "per_sample_weights are for sums", f"mode = {mode}"
        check_rule(mode == "sum", problem, where, kind=UsageError, valid="mode sum")
        check_same_dtype(weight, per_sample_weights)
        check_exact_shape(per_sample_weights, input.shape, f"that of {input.name}")
    if offsets is None:
        count = input.shape[0]
        bags = GeneratedIndices(BAGS, range(count), (count, 1))
        check_rule(input.shape[1] > 0, "bags are empty", input, valid="1 column or more")
    else:
        check_index_dtype(offsets)
        count = offsets.shape[0] - include_last_offset if offsets.rank == 1 else -1
        legal = "rank 1" + ", 1 offset or more" * include_last_offset
        check_rule(count >= 0, "offsets are a list", offsets, valid=legal)
        recipe = SegmentNumbers(offsets.name, True, True, include_last_offset)
        bags = GeneratedIndices(BAGS, recipe, input.shape)
    reduction = parse_reduction(mode)
    rows = Tensor("output", (count, weight.shape[1]), weight.dtype)
    target = address_axis(rows, Tensor(BAGS, input.shape, "int64"), 0)
    factors = None if per_sample_weights is None else per_sample_weights.name
    addressing = address_axis(weight, input, 0)._replace(generated=(bags,))
    ignored = None if padding_idx is None else padding_idx % weight.shape[0]
    policy = RAISE_OUTSIDE._replace(ignored=ignored)
    texts = (Unspecified("nan", NAN_IN_BAG),) if mode == "max" else ()
    fold = Fold(_fold_cells(target, weight.dtype, reduction, rows.shape), factors)
    return gather_layout(
        weight, addressing, policy, output_shape=rows.shape, unspecified=texts, fold=fold
    )


@FRAMEWORK.operator("'[[-0.5,-1.5,-2.5],[-3.5,-0.25,-1.0]]' '[2,0]'")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: Annotated[int, Option("a target that counts nothing")] = -100,
    reduction: Annotated[
        Literal["none", "mean", "sum"], Option("how losses meet", role="reduction")
    ] = "mean",
) -> NewOutput:
    """Take the cell of each target's class, with its sign changed: the loss of log probabilities.

    Classes are the axis 1 of input, or its only one; target has the other axes, or one number where
    there are none. weight, which has no gradient, multiplies the losses of each class, and the mean
    divides by the sum of the weights taken, so that it is NaN where all targets are ignored.
    Targets are int64, or uint8 for an input of rank 1 or 2: 0 … classes-1, or ignore_index. Sums
    have no promised order; halves are reduced in float32 and rounded once.
    """
    check_dtype(input, FLOATS)
    check_min_rank(input)
    check_index_dtype(target, ("int64", "uint8") if input.rank <= 2 else ("int64",))  # noqa: PLR2004  planes
    axis = int(input.rank > 1)
    if not (input.rank == 1 and target.shape == (1,)):
        check_exact_shape(target, without_axis(input.shape, axis), "input without its classes")
    if weight is not None:
        check_same_dtype(input, weight)
        check_exact_shape(weight, (input.shape[axis],), "a weight for each class")
    pick = address_pick(input, target, axis) if axis else address_axis(input, target, 0)
    grid = target.shape
    losses = range(prod(grid) if reduction == "none" else 1)
    bags = GeneratedIndices(BAGS, losses, grid if reduction == "none" else (1,) * len(grid))
    output = grid if reduction == "none" and axis else ()
    cells = Tensor("output", (len(losses),), input.dtype)
    flat = address_axis(cells, Tensor(BAGS, grid, "int64"), 0)
    sums, factors = _fold_cells(flat, input.dtype, "add", cells.shape, -1), weight and weight.name
    fold = Fold(sums, factors, are_by_row=True, is_weighted=reduction == "mean")
    addressing = pick._replace(generated=(bags,))
    policy = RAISE_OUTSIDE._replace(ignored=ignore_index)
    return gather_layout(input, addressing, policy, output_shape=output, fold=fold)


def _fold_cells(
    addressing: Addressing, dtype: str, reduction: Reduction, shape: Shape, scale: int | None = None
) -> Layout:
    """The scatter of a gather's cells to their bags."""
    return scatter_layout(
        None, Updates(CELLS, scale=scale), addressing, SKIP_OUTSIDE,
        dtype="float32" if dtype in FLOAT16S else dtype, reduction=reduction,
        include_self=reduction == "add", output_shape=shape,
    )  # fmt: skip
