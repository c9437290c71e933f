"""TensorFlow 2.21: gather, scatter_nd, variables, and sorted and unsorted segments.

No index counts from the end: a negative one is as bad as one that is too large. What a bad index
does depends on who runs the operator, which `device` says:

* cpu: refused;
* gpu: a gather reads 0, "" or False, a scatter drops the update (documented, never run for gscli;
  int32 data, which TensorFlow keeps in host memory, is reported to raise there too);
* xla: a gather clamps each coordinate to the axis, a scatter drops the update (seen on XLA's CPU).

bad_indices_policy (TensorFlow 2.18) chooses between the first two by name; XLA does not read it.
Which types have a GPU kernel is not modelled.
"""

from gscli.frameworks.tensorflow.rules import FRAMEWORK

__all__ = ["FRAMEWORK"]
