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
    """A model of one node is compiled for all calls of the same shapes, in float32 where the
    device would round. Threads are as OpenVINO has them: with one, some refusals are lost.
    """
    import numpy as np
    import openvino as ov

    core = ov.Core()
    device = variant or "CPU"
    settings = {"INFERENCE_PRECISION_HINT": "f32"} if device == "CPU" else {}
    compiled: dict[str, Any] = {}

    def call(
        _framework: str, op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        fixed = {name: tensor.data for name, tensor in inputs.items() if name == "axis"}
        free = {name: tensor for name, tensor in inputs.items() if name not in fixed}
        forms = {name: (tensor.element_type, tensor.shape) for name, tensor in free.items()}
        key = repr((op, opset, forms, fixed, attrs))
        if key not in compiled:
            compiled.clear()
            model = one_node(op, opset, inputs, attrs)
            compiled[key] = core.compile_model(model, device, settings).create_infer_request()
        compiled[key].infer([*free.values()])
        return compiled[key].get_output_tensor(0)

    def one_node(op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
        # ScatterNDUpdate-3 is in the Python module of opset 4.
        modules = [import_module(f"openvino.opset{number}") for number in (opset, opset + 1)]
        numbered = next(one for one in modules if hasattr(one, snake(op)))
        nodes = {
            name: ov.opset1.constant(tensor.data)
            if name == "axis"
            else ov.opset1.parameter(tensor.shape, tensor.element_type, name=name)
            for name, tensor in inputs.items()
        }
        result = getattr(numbered, snake(op))(*nodes.values(), **attrs)
        free = [node for name, node in nodes.items() if name != "axis"]
        return ov.Model([result], free, "one_node")

    def tensor_of(array: Any) -> Any:
        if array.dtype.kind in "OUS":
            raise Unsupported("strings")
        own = np.ascontiguousarray(array).reshape(array.shape)
        if array.dtype.name == "bfloat16":
            return ov.Tensor(own.view(np.uint16), array.shape, ov.Type.bf16)
        return ov.Tensor(own)

    def array_of(tensor: Any) -> Any:
        if tensor.element_type != ov.Type.bf16:
            return tensor.data.copy()
        import ml_dtypes

        return tensor.data.view(ml_dtypes.bfloat16).copy()

    version = ov.__version__.split("-")[0]
    return Runtime(version, OPS, call, tensor_of=tensor_of, array_of=array_of, compiles=True)


def snake(op: str) -> str:
    """GatherND is gather_nd in Python."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=ND)(?=[A-Z])", "_", op).lower()


if __name__ == "__main__":
    serve("openvino", start)
