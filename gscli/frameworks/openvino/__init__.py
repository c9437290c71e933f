"""OpenVINO: Gather 1/7/8, GatherElements 6, GatherND 5/8, ScatterUpdate 3, ScatterElementsUpdate
3/12 and ScatterNDUpdate 3/15. The text decides; where the CPU plugin departs from it, the help of
the operator says so. `axis` is an input tensor of one element, except in GatherElements, where it
is an attribute.

What the text leaves open is chosen as for ONNX: duplicates without a reduction are written in
row-major order of indices, the last one wins; sums and products are rounded after every update in
the data's own type (the plugin adds halves in float32); NaN propagates under max and min (the
plugin ignores it). int64 stays int64 and float64 stays float64; the plugin narrows both.
"""

from __future__ import annotations

from gscli.declare.comparisons import Comparison
from gscli.frameworks.openvino.gather import gather, gather_elements, gather_nd
from gscli.frameworks.openvino.rules import FRAMEWORK
from gscli.frameworks.openvino.scatter import (
    scatter_elements_update,
    scatter_nd_update,
    scatter_update,
)

__all__ = [
    "FRAMEWORK",
    "gather",
    "gather_elements",
    "gather_nd",
    "scatter_elements_update",
    "scatter_nd_update",
    "scatter_update",
]


_READ = ("data", "indices")
_WRITTEN = ("data", "indices", "updates")
_REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "max": "max", "min": "min"}

for _opset in (8, 7):
    FRAMEWORK.compare(
        gather,
        Comparison(
            "gather",
            f"OpenVINO Gather-{_opset}",
            _READ,
            {"opset": _opset},
            batch_dims="batch_dims",
            axis_input="axis",
        ),
    )
for _opset in (8, 5):
    FRAMEWORK.compare(
        gather_nd,
        Comparison(
            "gather-nd",
            f"OpenVINO GatherND-{_opset}",
            _READ,
            {"opset": _opset},
            batch_dims="batch_dims",
        ),
    )
FRAMEWORK.compare(
    gather_elements, Comparison("gather-elements", "OpenVINO GatherElements-6", _READ, axis="axis")
)
FRAMEWORK.compare(
    scatter_update,
    Comparison("scatter-update", "OpenVINO ScatterUpdate-3", _WRITTEN, axis_input="axis"),
)
FRAMEWORK.compare(
    scatter_elements_update,
    Comparison(
        "scatter-elements",
        "OpenVINO ScatterElementsUpdate-12",
        _WRITTEN,
        reduction="reduction",
        reductions={**_REDUCTIONS, "mean": "mean"},
        axis_input="axis",
    ),
)
FRAMEWORK.compare(
    scatter_nd_update,
    Comparison(
        "scatter-nd",
        "OpenVINO ScatterNDUpdate-15",
        _WRITTEN,
        reduction="reduction",
        reductions={**_REDUCTIONS, "sub": "sub"},
    ),
)
