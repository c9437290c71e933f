"""Answers ONNX operators with the ONNX runner of tinygrad, on the device that DEV names."""

from __future__ import annotations

import os
from importlib.metadata import version

from answerer import Runtime, serve
from onnx_models import OPS, Runner


def start(variant: str) -> Runtime:
    """The variant is a device of tinygrad: PYTHON (the default), CPU, CUDA."""
    runner = Runner("tinygrad", variant or os.environ.get("DEV", ""))
    return Runtime(version("tinygrad"), OPS, runner.call, array_of=runner.array_of)


if __name__ == "__main__":
    serve("tinygrad", start)
