"""Answers ONNX operators with what onnx2torch converts them to: a converter is a runtime too."""

from __future__ import annotations

from importlib.metadata import version

from answerer import Runtime, serve
from onnx_models import OPS, Runner


def start(variant: str) -> Runtime:
    """A module of PyTorch is made and run for every call."""
    if variant:
        raise SystemExit(f"onnx2torch has no variant {variant!r}")
    runner = Runner("onnx2torch")
    return Runtime(version("onnx2torch"), OPS, runner.call, array_of=runner.array_of)


if __name__ == "__main__":
    serve("onnx2torch", start)
