"""Answers ONNX operators with onnxruntime; the variant is an execution provider."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, serve
from onnx_models import NEWEST, OPS, caller_of


def start(variant: str) -> Runtime:
    """A session per call, on one thread; the CPU unless a provider is named."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    provider = variant or "CPUExecutionProvider"
    if provider not in onnxruntime.get_available_providers():
        raise SystemExit(f"onnxruntime has no {provider} here")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=[provider]
        )
        return session.run(None, inputs)[0]

    return Runtime(onnxruntime.__version__, [*OPS, *NEWEST], caller_of(run))


if __name__ == "__main__":
    serve("onnxruntime", start)
