"""Answers ONNX operators with the reference evaluator of the onnx package."""

from __future__ import annotations

from answerer import Runtime, serve
from onnx_models import NEWEST, OPS, Runner


def start(variant: str) -> Runtime:
    """The evaluator has no variants."""
    import onnx

    if variant:
        raise SystemExit(f"onnx has no variant {variant!r}")
    return Runtime(onnx.__version__, [*OPS, *NEWEST], Runner("onnx").call)


if __name__ == "__main__":
    serve("onnx.reference", start)
