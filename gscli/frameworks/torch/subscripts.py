"""PyTorch: x[…] and index_put_, which follow NumPy's subscripts but for numbers and masks."""

from __future__ import annotations

from math import prod

from gscli.base import DtypeRefused, check_rule
from gscli.declare import Subscript, VariadicMaskInput
from gscli.frameworks.operator import Comparison
from gscli.frameworks.torch import DATA, FLOAT8, FRAMEWORK, WIDE_UNSIGNED
from gscli.frameworks.torch.flat import Accumulate, put_values
from gscli.layout import Layout, NewOutput, gather_layout
from gscli.layout.axes import FROM_END, Fit, Tensor, Updates
from gscli.layout.refusals import broadcast_updates, check_dtype, check_same_dtype
from gscli.layout.subscripts import SubscriptRules, parse_subscript, run_subscript

# A tensor of rank 0 is read as a number, whatever its whole type.
NOTATION = SubscriptRules(
    has_scalar_selection=True,
    allows_negative_steps=False,
    index_types=("int64", "int32"),
    scalar_types=("int64", "int32", "int16", "int8"),
)


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' : '[2,0]' None",
    Comparison("gather-nd", "PyTorch x[i, j]", vector_layout="tuple"),
)
def index(input: Tensor, indices: VariadicMaskInput, *, subscript: Subscript = None) -> NewOutput:
    """Read the cells that a subscript names: input[i, 1:3, None, ...].

    Each word after input is an item of the subscript: an index tensor (int32, int64, of rank 0 also
    int8 and int16), a mask of bool or uint8, a number, a slice with a step of 1 or more, None, ....
    As in NumPy the tensors' axes stand where the tensors stand, or first where something stands
    between two of them; but a number, or a tensor of rank 0, takes its axis away before:
    input[0, :, i] has the axes of : and i, NumPy's those of i and :. -s … -1 count from the end.
    """
    check_dtype(input, (*DATA, *WIDE_UNSIGNED, *FLOAT8))
    return gather_layout(input, run_subscript(input, subscript, indices, NOTATION), FROM_END)


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[0,-1]' '[2,0]' '[30,40]'",
    Comparison(
        "scatter-nd",
        "PyTorch index_put_",
        reduction="accumulate",
        reductions={"none": False, "add": True},
        vector_layout="tuple",
    ),
)
def index_put_(
    self: Tensor, indices: VariadicMaskInput, values: Tensor, *,
    accumulate: Accumulate = False, subscript: Subscript = None,
) -> Layout:  # fmt: skip
    """Write the cells that an index tuple names, as self[i, 1:3, None, ...] = values.

    The subscript is that of index; values broadcast to the shape of self[…] and have self's type;
    more axes, of size 1, are refused as index_put_ does, though self[…] = values drops them.
    Negative indices count from the end. A mask without axes acts as it does in self[mask] = values;
    index_put_ itself counts it as an index, and refuses more of them than self has axes. Without
    accumulate, a mask that is the only tensor takes one value of any rank, except one of uint8,
    which PyTorch then refuses. Halves are rounded after each step.
    """
    check_dtype(self, (*DATA, *FLOAT8))
    check_same_dtype(self, values)
    some, legal = bool(indices) or subscript is not None, "1 or more index arrays"
    check_rule(some, "index_put_ needs an index array", "", valid=legal)
    addressing = run_subscript(self, subscript, indices, NOTATION)
    if not accumulate and _is_mask_fill(values, subscript):
        updates = Updates(values.name, Fit.BROADCAST)
    else:
        updates = broadcast_updates(values, addressing.result_shape, "the shape of self[…]")
    return put_values(self, updates, addressing, accumulate=accumulate)


def _is_mask_fill(values: Tensor, subscript: str | None) -> bool:
    """Whether one value goes to every True cell of a mask, which may be of bool only.

    PyTorch fills where a mask is the only tensor of the subscript, rather than that it indexes.
    """
    letters = [item.kind for item in parse_subscript(subscript or "") if item.is_array]
    single = letters[:1] in (["m"], ["u"], ["b"]) and set(letters[1:]) <= {"+"}
    fills = single and prod(values.shape) == 1
    check_rule(
        not (fills and "u" in str(subscript)),
        "a mask of uint8 takes no single value", values, "PyTorch fills masks of bool only",
        kind=DtypeRefused, valid="a mask of bool, or a value for each True cell",
        hint="write true and false in place of 1 and 0, or one value for each True cell",
    )  # fmt: skip
    return fills
