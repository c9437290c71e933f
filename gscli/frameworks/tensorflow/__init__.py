"""TensorFlow 2.21: gather, scatter_nd, variables, and sorted and unsorted segments.

No index counts from the end: a negative one is as bad as one that is too large, but to unsorted
segments, which drop it. What a bad index does depends on who runs the operator, as `device` says:

* cpu: refused;
* gpu: a gather reads 0 or False, a scatter drops the update (documented, never run for gscli;
  int32 data, which TensorFlow keeps in host memory, is reported to raise there too);
* xla: a gather clamps each coordinate to the axis, a scatter drops the update (seen on XLA's CPU;
  shapes and types that XLA alone takes are refused here).

bad_indices_policy (TensorFlow 2.18) chooses between the first two by name; XLA keeps IGNORE alone.
Strings have kernels on the CPU alone; which other types have none on a GPU is not modelled.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from gscli.base import UsageError, check_rule
from gscli.base.words import FLOATS, INTEGERS
from gscli.declare.attributes import Option
from gscli.frameworks.operator import Framework
from gscli.layout.axes import RAISE_OUTSIDE, SKIP_OUTSIDE, Policy, Tensor

FRAMEWORK = Framework("tensorflow", "TensorFlow")

# Rule sets that are compared, and their titles.
DEVICES = {"cpu": "CPU", "gpu": "GPU", "xla": "XLA"}

# Kernels exist for up to seven numbers, batch coordinates included.
MAX_VECTOR_LENGTH = 7

REAL = (*INTEGERS, *FLOATS)

# Of max and min, as seen in 2.21.0 with every float type.
NAN_WINS = "NaN wins (TensorFlow's CPU kernels keep at most one that comes last, XLA none)"

Device: TypeAlias = Annotated[
    Literal["cpu", "gpu", "xla", "xla_cpu"],
    Option("who runs it, which decides what a bad index does; strings need cpu; xla_cpu is xla"),
]
BadIndices: TypeAlias = Annotated[
    Literal["", "DEFAULT", "ERROR", "IGNORE"],
    Option(
        "ERROR refuses a bad index, which gpu and xla cannot; IGNORE reads zero or drops; "
        "DEFAULT leaves it to device"
    ),
]


def list_types(allowed: tuple[str, ...], device: str) -> list[str]:
    """The element types of those `allowed` that the device has kernels for."""
    return [name for name in allowed if device == "cpu" or name != "str"]


def is_compiled(device: str) -> bool:
    """Does XLA run it?"""
    return device in ("xla", "xla_cpu")


def choose_policy(device: str, word: str = "", compiled: Policy = SKIP_OUTSIDE) -> Policy:
    """What a bad index does: refused on a CPU, ignored on a GPU; `compiled` is XLA's way."""
    problem, where = "a GPU cannot refuse a bad index", "bad_indices_policy = ERROR, device = gpu"
    fits, legal = device != "gpu" or word != "ERROR", "IGNORE DEFAULT ''"
    check_rule(fits, problem, where, kind=UsageError, valid=legal, hint="--device cpu")
    if is_compiled(device) and word != "IGNORE":
        return compiled
    return RAISE_OUTSIDE if device == "cpu" and word != "IGNORE" else SKIP_OUTSIDE


def check_max_vector_length(indices: Tensor, batch_dims: int = 0) -> None:
    """Refuse vectors that no kernel takes."""
    length = batch_dims + indices.shape[-1]
    problem = f"index vectors have more than {MAX_VECTOR_LENGTH} numbers"
    where = f"{indices}: {length} numbers"
    legal = f"at most {MAX_VECTOR_LENGTH}, batch_dims included"
    check_rule(length <= MAX_VECTOR_LENGTH, problem, where, valid=legal)
