"""What each framework's own operations do with index numbers, reductions and element types.

`TARGETS` is the table that lines are chosen from: the first operation of a target that suits a call
writes it. How an operation is spelt stands in the templates of the target's language.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from gscli.base.records import Record
from gscli.base.words import ALL, COMPLEX, EVERY, FLOATS, INTEGERS, SIGNED, SMALL_FLOATS

Outside: TypeAlias = Literal["refused", "border", "dropped", "fill", "modulo", "unchecked"]
"""What becomes of an index out of range."""

ALL_REDUCTIONS = frozenset({"none", "add", "sub", "mul", "max", "min"})


class Native(Record):
    """An operation of a framework: its form, and what it does with an index that is not in range.

    `form`: take (slices along an axis), along (one index for each cell), vectors (index vectors on
    the last axis), cells (a coordinate for each axis), rows (a reduction over rows of a matrix),
    direct (StableHLO's dimension numbers).
    `from_end`: -1 is the last row. `batch`: takes batch axes. `smaller`: indices may be smaller off
    the axis. `flat`: takes indices of rank 1 alone. `vectors_of`: longest index vector.
    """

    name: str
    form: str
    from_end: bool
    outside: Outside
    reductions: frozenset[str] = frozenset()
    batch: bool = False
    smaller: bool = False
    flat: bool = False
    mean: bool = False
    cut_mean: bool = False
    """Whether its mean of whole numbers is cut toward zero."""
    crops: bool = True
    """Whether data may be cropped to smaller indices first; OpenVINO's plugin undoes that."""
    lone_batch: bool = True
    """Whether it takes a batch of size 1; OpenVINO's plugin crashes or hangs."""
    ranked: bool = False
    """Whether it refuses indices of rank 0."""
    long: bool = False
    """Whether it takes indices of int64 alone."""
    start: bool = False
    """Whether it can leave out data from the reduction (include_self)."""


class TargetFramework(Record):
    """A framework that lines are written for."""

    name: str
    title: str
    dtypes: tuple[str, ...]
    reads: tuple[Native, ...]
    writes: tuple[Native, ...]
    indices: tuple[str, ...] = ("int32", "int64")
    ordered: bool = False
    """Whether it promises that the last of several values for one cell stays."""
    nan_wins: bool | None = True
    """Whether NaN stays under max and min; None: left open."""
    wide_halves: bool = False
    """Whether sums of halves are made in float32 and rounded once."""
    bool_reductions: bool = True
    complex_order: bool = False
    bits_32: bool = False
    """Whether it computes 64-bit types in 32 bits."""
    note: str = ""


def _ops(names: str) -> frozenset[str]:
    return frozenset(names.split())


_SIGNED_AND_BYTE = ("bool", "uint8", *SIGNED, *FLOATS, *COMPLEX)
_NO_TEXT = tuple(name for name in ALL if name != "str")

TARGETS: dict[str, TargetFramework] = {
    target.name: target
    for target in (
        TargetFramework(
            "numpy", "NumPy", EVERY,
            (
                Native("np.take", "take", True, "refused"),
                Native("np.take_along_axis", "along", True, "refused"),
                Native("a[i, j]", "vectors", True, "refused"),
                Native("a[i, j]", "cells", True, "refused"),
            ),
            (
                Native("a[i] = and ufunc.at", "take", True, "refused", ALL_REDUCTIONS),
                Native("np.put_along_axis", "along", True, "refused", _ops("none")),
                Native("a[i, j] = and ufunc.at", "vectors", True, "refused", ALL_REDUCTIONS),
                Native("a[i, j] = and ufunc.at", "cells", True, "refused", ALL_REDUCTIONS),
            ),
            INTEGERS, complex_order=True,
        ),
        TargetFramework(
            "torch", "PyTorch", _SIGNED_AND_BYTE,
            (
                Native("x[:, i]", "take", True, "refused"),
                Native("torch.gather", "along", False, "refused", smaller=True),
                Native("x[i, j]", "vectors", True, "refused"),
                Native("x[i, j]", "cells", True, "refused"),
            ),
            (
                Native("torch.scatter_reduce", "along", False, "refused",
                       _ops("none add mul max min"), smaller=True, mean=True, start=True),
                Native("x[:, i] =", "take", True, "refused", _ops("none")),
                Native("torch.index_add", "take", False, "refused", _ops("add"), flat=True),
                Native("index_put_", "vectors", True, "refused", _ops("none add")),
                Native("index_put_", "cells", True, "refused", _ops("none add")),
                Native("scatter_reduce over rows", "rows", False, "refused",
                       _ops("add mul max min"), mean=True, start=True),
            ),
            ("int64",), wide_halves=True,
        ),
        TargetFramework(
            "jax", "JAX", (*_NO_TEXT, *SMALL_FLOATS),
            (
                Native("jnp.take", "take", True, "fill"),
                Native("jnp.take_along_axis", "along", True, "fill"),
                Native("x[i, j]", "vectors", True, "border"),
                Native("x[i, j]", "cells", True, "border"),
            ),
            (
                Native("x.at[i]", "take", True, "dropped", ALL_REDUCTIONS),
                Native("x.at[i, j]", "vectors", True, "dropped", ALL_REDUCTIONS),
                Native("x.at[i, j]", "cells", True, "dropped", ALL_REDUCTIONS),
            ),
            INTEGERS, complex_order=True,
            note="64-bit types need jax_enable_x64",
        ),
        TargetFramework(
            "tensorflow", "TensorFlow", ALL,
            (
                Native("tf.gather", "take", False, "refused", batch=True),
                Native("tf.gather_nd", "vectors", False, "refused", batch=True),
                Native("tf.gather_nd", "cells", False, "refused"),
            ),
            (
                Native("tf.tensor_scatter_nd", "vectors", False, "refused",
                       _ops("none add sub max min"), ranked=True),
                Native("tf.tensor_scatter_nd", "cells", False, "refused",
                       _ops("none add sub max min"), ranked=True),
                Native("tf.math.unsorted_segment_prod", "rows", False, "refused", _ops("mul")),
            ),
            ordered=True, nan_wins=False, bool_reductions=False,
        ),
        TargetFramework(
            "onnx", "ONNX", ALL,
            (
                Native("Gather", "take", True, "refused"),
                Native("GatherElements", "along", True, "refused", smaller=True),
                Native("GatherND", "vectors", True, "refused", batch=True, long=True),
                Native("GatherND", "cells", True, "refused"),
            ),
            (
                Native("ScatterElements", "along", True, "refused",
                       _ops("none add mul max min"), smaller=True),
                Native("ScatterND", "vectors", True, "refused", _ops("none add mul max min"),
                       long=True),
                Native("ScatterND", "cells", True, "refused", _ops("none add mul max min")),
            ),
            bool_reductions=False, nan_wins=None,
        ),
        TargetFramework(
            "openvino", "OpenVINO",
            ("bool", *INTEGERS, "float16", "float32", "float64"),
            (
                Native("Gather-8", "take", True, "fill", batch=True, lone_batch=False),
                Native("GatherElements-6", "along", False, "unchecked", crops=False),
                Native("GatherND-8", "vectors", True, "unchecked", batch=True),
                Native("GatherND-8", "cells", True, "unchecked"),
            ),
            (
                Native("ScatterElementsUpdate-12", "along", True, "unchecked",
                       _ops("none add mul max min"), smaller=True, mean=True, cut_mean=True,
                       start=True),
                Native("ScatterUpdate-3", "take", False, "unchecked", _ops("none"), ranked=True),
                Native("ScatterNDUpdate-15", "vectors", True, "unchecked", ALL_REDUCTIONS),
                Native("ScatterNDUpdate-15", "cells", True, "unchecked", ALL_REDUCTIONS),
            ),
            bool_reductions=False, wide_halves=True, nan_wins=False, bits_32=True,
        ),
        TargetFramework(
            "stablehlo", "StableHLO", _NO_TEXT,
            (
                Native("stablehlo.gather", "direct", False, "border"),
                Native("stablehlo.gather", "cells", False, "border"),
            ),
            (
                Native("stablehlo.scatter", "direct", False, "dropped", ALL_REDUCTIONS),
                Native("stablehlo.scatter", "cells", False, "dropped", ALL_REDUCTIONS),
            ),
            INTEGERS, complex_order=True,
        ),
    )
}  # fmt: skip
"""Every target of `--code`, in the order of `all`."""

ALIASES = {"tf": "tensorflow", "np": "numpy", "pytorch": "torch"}
