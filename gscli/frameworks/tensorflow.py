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

from gscli.frameworks.tensorflow_gather import gather, gather_nd
from gscli.frameworks.tensorflow_rules import FRAMEWORK
from gscli.frameworks.tensorflow_scatter import (
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from gscli.frameworks.tensorflow_segment import (
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
