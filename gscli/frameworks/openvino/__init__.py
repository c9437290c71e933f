"""OpenVINO: Gather 1/7/8, GatherElements 6, GatherND 5/8, ScatterUpdate 3, ScatterElementsUpdate
3/12 and ScatterNDUpdate 3/15. The text decides; where the CPU plugin departs from it, the help of
the operator says so. `axis` is an input tensor of one element, except in GatherElements, where it
is an attribute.

What the text leaves open is chosen as for ONNX: duplicates without a reduction are written in
row-major order of indices, the last one wins; sums and products are rounded after every update in
the data's own type (the plugin adds halves in float32); NaN propagates under max and min (the
plugin ignores it). int64 stays int64 and float64 stays float64; the plugin narrows both.
"""

from gscli.frameworks.openvino.rules import FRAMEWORK

__all__ = ["FRAMEWORK"]
