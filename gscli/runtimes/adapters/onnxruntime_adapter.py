"""Answers ONNX operators with onnxruntime; the variant is an execution provider."""

from __future__ import annotations

from answerer import Runtime, serve
from onnx_models import NEWEST, OPS, Runner


def start(variant: str) -> Runtime:
    """A session per call, on one thread; the CPU unless a provider is named."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    runner = Runner("onnxruntime", variant)
    if runner.variant not in onnxruntime.get_available_providers():
        raise SystemExit(f"onnxruntime has no {runner.variant} here")
    return Runtime(onnxruntime.__version__, [*OPS, *NEWEST], runner.call)


if __name__ == "__main__":
    serve("onnxruntime", start)
