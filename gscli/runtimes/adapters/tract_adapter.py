"""Answers ONNX operators with tract."""

from __future__ import annotations

from importlib.metadata import version

from answerer import Runtime, serve
from onnx_models import OPS, Runner


def start(variant: str) -> Runtime:
    """Tract has no variants."""
    if variant:
        raise SystemExit(f"tract has no variant {variant!r}")
    runner = Runner("tract")
    return Runtime(version("tract"), OPS, runner.call, array_of=runner.array_of)


if __name__ == "__main__":
    serve("tract", start)
