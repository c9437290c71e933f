"""What TensorFlow's operators share: the words of their interface and what a bad index does."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from gscli.base import ShapeRefused, UsageError
from gscli.base.words import FLOATS, INTEGERS
from gscli.declare.attributes import Option
from gscli.frameworks.operator import Framework
from gscli.layout.axes import Beyond, Negative, OpenText, Policy, Reduction, Tensor
from gscli.layout.families import described

FRAMEWORK = Framework("tensorflow", "TensorFlow")

DEVICES = {"cpu": "CPU", "gpu": "GPU", "xla": "XLA"}
"""Rule sets that are compared, and their titles."""

REFUSE = Policy(Negative.OUTSIDE)
SKIP = Policy(Negative.OUTSIDE, Beyond.SKIP)
CLAMP = Policy(Negative.OUTSIDE, Beyond.CLIP)

LONGEST_VECTOR = 7
"""Kernels exist for up to seven numbers, batch coordinates included."""

REAL = (*INTEGERS, *FLOATS)

Device: TypeAlias = Annotated[
    Literal["cpu", "gpu", "xla", "xla_cpu"],
    Option("who runs it, which decides what a bad index does; xla_cpu is xla"),
]
BadIndices: TypeAlias = Annotated[
    Literal["", "DEFAULT", "ERROR", "IGNORE"],
    Option(
        "ERROR refuses a bad index, IGNORE reads zero or drops, but xla never refuses; "
        "DEFAULT leaves it to device"
    ),
]


def _skips(device: str, word: str) -> bool:
    """Does a bad index of an uncompiled operator read zero or drop, rather than being refused?"""
    if device == "gpu" and word == "ERROR":
        raise UsageError(
            "a GPU cannot refuse a bad index",
            where="bad_indices_policy = ERROR, device = gpu",
            valid="IGNORE DEFAULT ''",
            hint="--device cpu",
        )
    return word == "IGNORE" or device == "gpu"


def compiled(device: str) -> bool:
    """Does XLA run it?"""
    return device in ("xla", "xla_cpu")


def reading(device: str, word: str = "") -> Policy:
    """What a bad index does to a gather."""
    if compiled(device):
        return SKIP if word == "IGNORE" else CLAMP
    return SKIP if _skips(device, word) else REFUSE


def writing(device: str, word: str = "") -> Policy:
    """What a bad index does to a scatter."""
    return SKIP if compiled(device) or _skips(device, word) else REFUSE


def nan_in(reduction: Reduction, here: str = "NaN wins") -> tuple[OpenText, ...]:
    """What TensorFlow's texts leave open of max and min.

    Its CPU kernels keep NaN where it comes after a number and lose it where it comes before one.
    """
    if reduction not in ("max", "min"):
        return ()
    return (OpenText("nan", f"TensorFlow does not say what {reduction} makes of NaN; here {here}"),)


def short_enough(indices: Tensor, batch_dims: int = 0) -> None:
    """Refuse vectors that no kernel takes."""
    length = batch_dims + indices.shape[-1]
    if length > LONGEST_VECTOR:
        raise ShapeRefused(
            f"index vectors have more than {LONGEST_VECTOR} numbers",
            where=f"{described(indices)}: {length} numbers",
            valid=f"at most {LONGEST_VECTOR}, batch_dims included",
        )
