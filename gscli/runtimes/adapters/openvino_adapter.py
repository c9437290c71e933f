"""Answers OpenVINO's own operators; the variant is a device: CPU (the default), GPU, NPU."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from answerer import Runtime, Unsupported, serve

OPS = [
    f"openvino.{name}"
    for name in ("Gather", "GatherElements", "GatherND", "ScatterUpdate", "ScatterElementsUpdate",
                 "ScatterNDUpdate")
]  # fmt: skip


def start(variant: str) -> Runtime:
    """A model of one node is compiled for every call, in float32 where the device would round."""
    import numpy as np
    import openvino as ov

    core = ov.Core()
    device = variant or "CPU"
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}

    def call(
        _framework: str, op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        if any(array.dtype.kind in "OUS" for array in inputs.values()):
            raise Unsupported("strings")
        # ScatterNDUpdate-3 is in the Python module of opset 4.
        modules = [import_module(f"openvino.opset{number}") for number in (opset, opset + 1)]
        numbered = next(one for one in modules if hasattr(one, snake(op)))
        tensors = {key: np.ascontiguousarray(value).reshape(value.shape)
                   for key, value in inputs.items()}  # fmt: skip
        nodes = {
            name: ov.opset1.constant(array)
            if name == "axis"
            else ov.opset1.parameter(list(array.shape), array.dtype, name=name)
            for name, array in tensors.items()
        }
        result = getattr(numbered, snake(op))(*nodes.values(), **attrs)
        free = [name for name in nodes if name != "axis"]
        model = ov.Model([result], [nodes[name] for name in free], "one_node")
        compiled = core.compile_model(model, device, settings if device == "CPU" else {})
        return np.array(compiled([tensors[name] for name in free])[0])

    return Runtime(ov.__version__.split("-")[0], OPS, call)


def snake(op: str) -> str:
    """GatherND is gather_nd in Python."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=ND)(?=[A-Z])", "_", op).lower()


if __name__ == "__main__":
    serve("openvino", start)
