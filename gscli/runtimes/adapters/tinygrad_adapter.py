"""Answers ONNX operators with the ONNX runner of tinygrad, on the device that DEV names."""

from __future__ import annotations

import os
import tempfile
from importlib.metadata import version
from typing import Any

from answerer import Runtime, convert, serve
from onnx_models import OPS, caller_of


def start(variant: str) -> Runtime:
    """The variant is a device of tinygrad: PYTHON (the default), CPU, CUDA."""
    os.environ["DEV"] = variant or os.environ.get("DEV", "PYTHON")
    from tinygrad import Tensor
    from tinygrad.nn.onnx import OnnxRunner

    def tensor_of(array: Any) -> Any:
        return Tensor(array).realize()  # what it cannot hold is told here, not by the operator

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(model.SerializeToString())
            file.flush()
            tensors = {name: convert(tensor_of, array) for name, array in inputs.items()}
            return next(iter(OnnxRunner(file.name)(tensors).values())).realize()

    return Runtime(version("tinygrad"), OPS, caller_of(run), array_of=lambda tensor: tensor.numpy())


if __name__ == "__main__":
    serve("tinygrad", start)
