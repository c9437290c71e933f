"""JAX 0.10: jax.numpy.take and take_along_axis, x.at[…], jax.ops.segment_* and jax.lax.

Nothing is refused for the value of an index: compiled code cannot raise. Reading out of range fills
or is moved to the border, writing is dropped; `mode` chooses. Where XLA is free, the answer is that
of XLA on a CPU. 64-bit types are on.
"""

from __future__ import annotations

from gscli.declare.comparisons import Comparison
from gscli.frameworks.jax.at import at_add, at_get, at_max, at_min, at_multiply, at_set, at_subtract
from gscli.frameworks.jax.common import FRAMEWORK
from gscli.frameworks.jax.lax import (
    lax_gather,
    lax_scatter,
    lax_scatter_add,
    lax_scatter_max,
    lax_scatter_min,
    lax_scatter_mul,
    lax_scatter_sub,
)
from gscli.frameworks.jax.segment import segment_max, segment_min, segment_prod, segment_sum
from gscli.frameworks.jax.take import take, take_along_axis

__all__ = [
    "FRAMEWORK",
    "at_add",
    "at_get",
    "at_max",
    "at_min",
    "at_multiply",
    "at_set",
    "at_subtract",
    "lax_gather",
    "lax_scatter",
    "lax_scatter_add",
    "lax_scatter_max",
    "lax_scatter_min",
    "lax_scatter_mul",
    "lax_scatter_sub",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "take",
    "take_along_axis",
]


for _mode in ("fill", "clip", "wrap"):
    FRAMEWORK.compare(
        take,
        *(
            Comparison(
                concept, f"JAX take ({_mode})", ("a", "indices"), {"mode": _mode}, axis="axis"
            )
            for concept in ("gather", "take")
        ),
    )
for _mode in ("fill", "clip"):
    FRAMEWORK.compare(
        take_along_axis,
        Comparison(
            "gather-elements",
            f"JAX take_along_axis ({_mode})",
            ("arr", "indices"),
            {"mode": _mode},
            axis="axis",
        ),
    )
FRAMEWORK.compare(
    at_get,
    Comparison("gather", "JAX x[i]", ("x", "indices"), vectors="one"),
    Comparison("gather-nd", "JAX x[i, j]", ("x", "indices"), vectors="tuple"),
)
for _reduction, _operator in (
    ("none", at_set),
    ("add", at_add),
    ("sub", at_subtract),
    ("mul", at_multiply),
    ("max", at_max),
    ("min", at_min),
):
    FRAMEWORK.compare(
        _operator,
        Comparison(
            "scatter-nd",
            f"JAX {_operator.name}",
            ("x", "indices", "values"),
            reductions={_reduction: _operator.name},
            vectors="tuple",
        ),
    )
FRAMEWORK.compare(
    at_set, Comparison("scatter-update", "JAX at.set", ("x", "indices", "values"), vectors="one")
)
