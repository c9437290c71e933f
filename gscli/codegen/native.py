"""What each framework's own operations do with index numbers, reductions and element types.

`TARGETS` is the table that lines are chosen from: the first operation of a target that suits a call
writes it. How an operation is spelt stands in the templates of the target's language.
"""

from __future__ import annotations

from functools import cache

from gscli.base.records import Record
from gscli.base.words import ALL, COMPLEX, EVERY, FLOATS, INTEGERS, SIGNED, SMALL_FLOATS
from gscli.frameworks import find
from gscli.lab.examples import example
from gscli.layout import Layout
from gscli.layout.axes import Beyond, Negative
from gscli.plan.outcomes import outcome_of

ALL_REDUCTIONS = frozenset({"none", "add", "sub", "mul", "max", "min"})


class NativeOp(Record):
    """An operation of a framework: its form, and what it does with an index that is not in range.

    `form`: take (slices along an axis), along (one index for each cell), vectors (index vectors on
    the last axis), cells (a coordinate for each axis), rows (a reduction over rows of a matrix),
    direct (StableHLO's dimension numbers). `operator`: its declaration, whose policy says what it
    does with an index below zero and with one out of range. `batch`: takes batch axes. `smaller`:
    indices may be smaller off the axis. `flat`: takes indices of rank 1 alone.
    """

    name: str
    form: str
    operator: str
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

    @property
    def from_end(self) -> bool:
        """Whether -1 is the last row."""
        return _declared_layout(self.operator).policy.negative is Negative.FROM_END

    @property
    def negative(self) -> str:
        """What becomes of an index below zero, as `index_outcomes` says it."""
        return self._outcomes[0]

    @property
    def outside(self) -> str:
        """What becomes of an index out of range, as `index_outcomes` says it."""
        return self._outcomes[1]

    @property
    def _outcomes(self) -> tuple[str, str]:
        layout = _declared_layout(self.operator)
        below, above = layout.policy.there if layout.policy.note else ("", "")
        negative, outside = index_outcomes(layout)
        if self.from_end:
            return negative, above or below or outside
        return below or negative, above or outside


def index_outcomes(layout: Layout) -> tuple[str, str]:
    """What becomes of an index below zero, and of one out of range, by the policy of a layout."""
    skipped = "dropped" if layout.kind == "scatter" else "zero" if layout.fill == 0 else "fill"
    words = {"clipped": "border", "wrapped": "modulo", "outside": skipped, "below": "dropped",
             "from_end": "from the end"}  # fmt: skip
    # The remainder of -1 is the last row, too.
    wraps = layout.policy.beyond is Beyond.WRAP
    negative = "from_end" if wraps else outcome_of(layout.policy, negative=True)
    outside = outcome_of(layout.policy)
    return words.get(negative, negative), words.get(outside, outside)


@cache
def _declared_layout(operator: str) -> Layout:
    """The layout of an operator's own example."""
    probe = example(find(operator), {})
    assert probe is not None
    return probe.trace.layout


class TargetFramework(Record):
    """A framework that lines are written for."""

    name: str
    title: str
    dtypes: tuple[str, ...]
    reads: tuple[NativeOp, ...]
    writes: tuple[NativeOp, ...]
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
                NativeOp("np.take", "take", "numpy.take"),
                NativeOp("np.take_along_axis", "along", "numpy.take_along_axis"),
                NativeOp("a[i, j]", "vectors", "numpy.getitem"),
                NativeOp("a[i, j]", "cells", "numpy.getitem"),
            ),
            (
                NativeOp("a[i] = and ufunc.at", "take", "numpy.setitem", ALL_REDUCTIONS),
                NativeOp("np.put_along_axis", "along", "numpy.put_along_axis", _ops("none")),
                NativeOp("a[i, j] = and ufunc.at", "vectors", "numpy.setitem", ALL_REDUCTIONS),
                NativeOp("a[i, j] = and ufunc.at", "cells", "numpy.setitem", ALL_REDUCTIONS),
            ),
            INTEGERS, complex_order=True,
        ),
        TargetFramework(
            "torch", "PyTorch", _SIGNED_AND_BYTE,
            (
                NativeOp("x[:, i]", "take", "torch.index"),
                NativeOp("torch.gather", "along", "torch.gather", smaller=True),
                NativeOp("x[i, j]", "vectors", "torch.index"),
                NativeOp("x[i, j]", "cells", "torch.index"),
            ),
            (
                NativeOp("torch.scatter_reduce", "along", "torch.scatter_reduce",
                       _ops("none add mul max min"), smaller=True, mean=True, start=True),
                NativeOp("x[:, i] =", "take", "torch.index_put_", _ops("none")),
                NativeOp("torch.index_add", "take", "torch.index_add", _ops("add"), flat=True),
                NativeOp("index_put_", "vectors", "torch.index_put_", _ops("none add")),
                NativeOp("index_put_", "cells", "torch.index_put_", _ops("none add")),
                NativeOp("scatter_reduce over rows", "rows", "torch.scatter_reduce",
                       _ops("add mul max min"), mean=True, start=True),
            ),
            ("int64",), wide_halves=True,
        ),
        TargetFramework(
            "jax", "JAX", (*_NO_TEXT, *SMALL_FLOATS),
            (
                NativeOp("jnp.take", "take", "jax.take"),
                NativeOp("jnp.take_along_axis", "along", "jax.take_along_axis"),
                NativeOp("x[i, j]", "vectors", "jax.at.get"),
                NativeOp("x[i, j]", "cells", "jax.at.get"),
            ),
            (
                NativeOp("x.at[i]", "take", "jax.at.set", ALL_REDUCTIONS),
                NativeOp("x.at[i, j]", "vectors", "jax.at.set", ALL_REDUCTIONS),
                NativeOp("x.at[i, j]", "cells", "jax.at.set", ALL_REDUCTIONS),
            ),
            INTEGERS, complex_order=True,
            note="64-bit types need jax_enable_x64",
        ),
        TargetFramework(
            "tensorflow", "TensorFlow", ALL,
            (
                NativeOp("tf.gather", "take", "tensorflow.gather", batch=True),
                NativeOp("tf.gather_nd", "vectors", "tensorflow.gather_nd", batch=True),
                NativeOp("tf.gather_nd", "cells", "tensorflow.gather_nd"),
            ),
            (
                NativeOp("tf.tensor_scatter_nd", "vectors", "tensorflow.tensor_scatter_nd_update",
                       _ops("none add sub max min"), ranked=True),
                NativeOp("tf.tensor_scatter_nd", "cells", "tensorflow.tensor_scatter_nd_update",
                       _ops("none add sub max min"), ranked=True),
                NativeOp("tf.math.unsorted_segment_prod", "rows",
                       "tensorflow.unsorted_segment_prod", _ops("mul")),
            ),
            ordered=True, nan_wins=False, bool_reductions=False,
        ),
        TargetFramework(
            "onnx", "ONNX", ALL,
            (
                NativeOp("Gather", "take", "onnx.gather"),
                NativeOp("GatherElements", "along", "onnx.gather_elements", smaller=True),
                NativeOp("GatherND", "vectors", "onnx.gather_nd", batch=True, long=True),
                NativeOp("GatherND", "cells", "onnx.gather_nd"),
            ),
            (
                NativeOp("ScatterElements", "along", "onnx.scatter_elements",
                       _ops("none add mul max min"), smaller=True),
                NativeOp("ScatterND", "vectors", "onnx.scatter_nd", _ops("none add mul max min"),
                       long=True),
                NativeOp("ScatterND", "cells", "onnx.scatter_nd", _ops("none add mul max min")),
            ),
            bool_reductions=False, nan_wins=None,
        ),
        TargetFramework(
            "openvino", "OpenVINO",
            ("bool", *INTEGERS, "float16", "float32", "float64"),
            (
                NativeOp("Gather-8", "take", "openvino.gather", batch=True, lone_batch=False),
                NativeOp("GatherElements-6", "along", "openvino.gather_elements", crops=False),
                NativeOp("GatherND-8", "vectors", "openvino.gather_nd", batch=True),
                NativeOp("GatherND-8", "cells", "openvino.gather_nd"),
            ),
            (
                NativeOp("ScatterElementsUpdate-12", "along", "openvino.scatter_elements_update",
                       _ops("none add mul max min"), smaller=True, mean=True, cut_mean=True,
                       start=True),
                NativeOp("ScatterUpdate-3", "take", "openvino.scatter_update",
                       _ops("none"), ranked=True),
                NativeOp("ScatterNDUpdate-15", "vectors", "openvino.scatter_nd_update",
                       ALL_REDUCTIONS),
                NativeOp("ScatterNDUpdate-15", "cells", "openvino.scatter_nd_update",
                       ALL_REDUCTIONS),
            ),
            bool_reductions=False, wide_halves=True, nan_wins=False, bits_32=True,
        ),
        TargetFramework(
            "stablehlo", "StableHLO", _NO_TEXT,
            (
                NativeOp("stablehlo.gather", "direct", "stablehlo.gather"),
                NativeOp("stablehlo.gather", "cells", "stablehlo.gather"),
            ),
            (
                NativeOp("stablehlo.scatter", "direct", "stablehlo.scatter", ALL_REDUCTIONS),
                NativeOp("stablehlo.scatter", "cells", "stablehlo.scatter", ALL_REDUCTIONS),
            ),
            INTEGERS, complex_order=True,
        ),
    )
}  # fmt: skip
"""Every target of `--code`, in the order of `all`."""

ALIASES = {"tf": "tensorflow", "np": "numpy", "pytorch": "torch"}
