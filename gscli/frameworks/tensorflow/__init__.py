"""TensorFlow 2.21: gather, gather_nd, scatter_nd, tensor_scatter_nd_* and unsorted_segment_*.

No index counts from the end: a negative one is as bad as one that is too large. What a bad index
does depends on who runs the operator, which `device` says:

* cpu: refused;
* gpu: a gather reads 0, "" or False, a scatter drops the update (documented, never run for gscli;
  int32 data, which TensorFlow keeps in host memory, is reported to raise there too);
* xla: a gather clamps each coordinate to the axis, a scatter drops the update (seen on XLA's CPU).

bad_indices_policy (TensorFlow 2.18) chooses between the first two by name; XLA does not read it.
Which types have a GPU kernel is not modelled.
"""

from __future__ import annotations

from gscli.declare.comparisons import Comparison
from gscli.frameworks.tensorflow.gather import gather, gather_nd
from gscli.frameworks.tensorflow.rules import FRAMEWORK
from gscli.frameworks.tensorflow.scatter import (
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from gscli.frameworks.tensorflow.segment import (
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sum,
)

__all__ = [
    "FRAMEWORK",
    "gather",
    "gather_nd",
    "scatter_nd",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sum",
]


DEVICES = (("cpu", "CPU"), ("gpu", "GPU"), ("xla", "XLA"))

_SCATTERS = (
    ("none", tensor_scatter_nd_update),
    ("add", tensor_scatter_nd_add),
    ("sub", tensor_scatter_nd_sub),
    ("max", tensor_scatter_nd_max),
    ("min", tensor_scatter_nd_min),
)


for _device, _title in DEVICES:
    FRAMEWORK.compare(
        gather,
        *(
            Comparison(
                concept,
                f"TF gather {_title}",
                ("params", "indices"),
                {"device": _device},
                axis="axis",
                batch_dims="batch_dims",
            )
            for concept in ("gather", "take")
        ),
    )
    FRAMEWORK.compare(
        gather_nd,
        Comparison(
            "gather-nd",
            f"TF gather_nd {_title}",
            ("params", "indices"),
            {"device": _device},
            batch_dims="batch_dims",
        ),
    )
    for _reduction, _operator in _SCATTERS:
        FRAMEWORK.compare(
            _operator,
            Comparison(
                "scatter-nd",
                f"TF {_operator.name} {_title}",
                ("tensor", "indices", "updates"),
                {"device": _device},
                reductions={_reduction: _operator.name},
            ),
        )
    FRAMEWORK.compare(
        scatter_nd,
        Comparison(
            "scatter-nd",
            f"TF scatter_nd {_title} (on zeros)",
            ("", "indices", "updates"),
            {"device": _device},
            reductions={"none": scatter_nd.name, "add": scatter_nd.name},
            from_zeros=True,
            shape_input="shape",
        ),
    )
