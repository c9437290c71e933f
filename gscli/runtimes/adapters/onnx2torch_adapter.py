"""Answers ONNX operators with what onnx2torch converts them to: a converter is a runtime too."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any
from unittest.mock import MagicMock

from answerer import Runtime, convert, serve
from onnx_models import OPS, caller_of


def start(variant: str) -> Runtime:
    """A module of PyTorch is made and run for every call."""
    if variant:
        raise SystemExit(f"onnx2torch has no variant {variant!r}")
    # Only its NonMaxSuppression wants torchvision, whose binary rarely fits another build.
    sys.modules.update({"torchvision": MagicMock(), "torchvision.ops": MagicMock()})
    import onnx2torch
    import torch

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        tensors = [convert(torch.from_numpy, array.copy()) for array in inputs.values()]
        return onnx2torch.convert(model)(*tensors)

    return Runtime(
        version("onnx2torch"), OPS, caller_of(run), array_of=lambda tensor: tensor.numpy()
    )


if __name__ == "__main__":
    serve("onnx2torch", start)
