"""Answers ONNX operators with onnxruntime; the variant is an execution provider."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, Unsupported, serve
from onnx_models import NEWEST, OPS, lacks_a_kernel, one_node


def start(variant: str) -> Runtime:
    """A session per call, on one thread; the CPU unless a provider is named."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    provider = variant or "CPUExecutionProvider"
    if provider not in onnxruntime.get_available_providers():
        raise SystemExit(f"onnxruntime has no {provider} here")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1

    def call(
        _framework: str, op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        model = one_node(op, opset, inputs, attrs).SerializeToString()
        try:
            session = onnxruntime.InferenceSession(model, options, providers=[provider])
            return session.run(None, inputs)[0]
        except Exception as error:
            if lacks_a_kernel(error):
                raise Unsupported(str(error)) from None
            raise

    return Runtime(onnxruntime.__version__, [*OPS, *NEWEST], call)


if __name__ == "__main__":
    serve("onnxruntime", start)
