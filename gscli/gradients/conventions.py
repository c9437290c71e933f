"""What frameworks do where the loop has no one derivative, or against it: a record for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from gscli.base import check_name
from gscli.base.records import Record

Writers: TypeAlias = Literal["last", "all"]
NanTies: TypeAlias = Literal["hold", "spread", "vanish"]


class Convention(Record):
    """How a framework's own gradient is made where a choice is left.

    `ties`: who is given the gradient of max and min among those that equal the result, data being
    the first of them; "even" shares it, "none" is of a framework without max and min.
    `writers`: who is given it of several that set one cell. `nan_ties`: where the result is NaN,
    NaN equals it ("hold"), or nothing does: then everything that met there is given NaN ("spread")
    or 0 ("vanish"); `nan_segments` says it of operators that have no data to begin with.
    `counts_absent_data`: data that takes no part in a maximum (`include_self` off) and equals it is
    counted among those that share. `counts_start`: what a cell without data starts with takes part
    in its maximum. `divides_products`: a factor's gradient is the product over the factor, NaN for
    one that is not finite. `drops_clipped_reads`: an index that is clipped where no mode asks for
    it was promised to be in range; what it read is given nothing. `devices_clipping_reads`: the
    devices that drop an update of such an index, and give it what they read for it: the gradient of
    the nearest cell. `ignores_padding`: nor is the row of a table that `padding_idx` names given
    anything.
    `missing`: reductions and calls that the framework itself has no gradient of, and why.
    """

    name: str
    ties: Literal["first", "last", "even", "all", "none"] = "first"
    writers: Writers = "last"
    nan_ties: NanTies = "hold"
    nan_segments: NanTies = "hold"
    counts_absent_data: bool = False
    counts_start: bool = False
    divides_products: bool = False
    drops_clipped_reads: bool = False
    devices_clipping_reads: tuple[str, ...] = ()
    ignores_padding: bool = False
    missing: Mapping[str, str] = {}


# The specification's loop itself: an update that equals its cell leaves the cell as it is.
LOOP = Convention("loop", counts_start=True)

_UNIQUE = "JAX itself has the gradient of updates only with unique_indices=True and no duplicates"
_REDUCED = "PyTorch itself has no gradient of scatter with reduce"
_NAMES = "PyTorch itself has no gradient of scatter_reduce with max and min, but with amax and amin"
_VARIABLE = "TensorFlow itself has no gradient through a variable"
_BATCH_TAKE = "MXNet itself has no gradient of batch_take"
_CAFFE2 = "Caffe2 itself has no gradient of Scatter and ScatterAssign"

# Those that have gradients of their own, and choices at ties.
CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        LOOP,
        Convention("torch", "even", "all", "spread", "hold", counts_absent_data=True,
                   divides_products=True, ignores_padding=True,
                   missing={"torch.scatter --reduce *": _REDUCED,
                            "torch.scatter_reduce --reduce max": _NAMES,
                            "torch.scatter_reduce --reduce min": _NAMES}),
        Convention("jax", "even", "last", "vanish", "vanish", counts_start=True,
                   drops_clipped_reads=True,
                   missing={"mul": _UNIQUE, "div": _UNIQUE, "pow": _UNIQUE}),
        Convention("tensorflow", "even", "all", "spread", "vanish", divides_products=True,
                   drops_clipped_reads=True, devices_clipping_reads=("xla", "xla_cpu"),
                   missing={"tensorflow.scatter_nd_*": _VARIABLE}),
    )
}  # fmt: skip

# All that frameworks have of their own. Two have no max and min, and are told by their sources:
# MXNet's scatter_nd passes back what its gather_nd reads (indexing_op.cc, FGradient), Caffe2 marks
# its scatters SHOULD_NOT_DO_GRADIENT.
OWN_CONVENTIONS = CONVENTIONS | {
    "mxnet": Convention("mxnet", "none", "all", missing={"mxnet.batch_take": _BATCH_TAKE}),
    "caffe2": Convention("caffe2", "none", missing={"caffe2.scatter*": _CAFFE2}),
}


def choose_convention(framework: str, rules: str | None = None) -> Convention:
    """The convention named by `rules`, or a framework's own; UsageError for unknown rules.

    ONNX, OpenVINO, NumPy and StableHLO have no gradients of their own, and the loop's here.

    >>> choose_convention("torch").ties, choose_convention("onnx").ties
    ('even', 'first')
    """
    if rules is None:
        return OWN_CONVENTIONS.get(framework, LOOP)
    check_name(rules, CONVENTIONS, f"unknown rules {rules!r}")
    return CONVENTIONS[rules]
