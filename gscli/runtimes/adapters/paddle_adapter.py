"""Answers ONNX operators with the functions of Paddle that do the same."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, Unsupported, serve
from onnx_models import Runner, format_call

OPS = ["onnx.Gather", "onnx.GatherElements", "onnx.GatherND", "onnx.ScatterElements",
       "onnx.ScatterND"]  # fmt: skip


def start(variant: str) -> Runtime:
    """The variant is a device, cpu by default."""
    runner = Runner("paddle", variant)

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        _, indices, *_ = inputs.values()
        if op == "Gather" and indices.ndim > 1:
            raise Unsupported("gather takes one list of indices")
        if op == "GatherND" and attrs.get("batch_dims"):
            raise Unsupported("gather_nd has no batch_dims")
        if op == "ScatterND" and attrs.get("reduction", "none") != "add":
            raise Unsupported("scatter_nd_add only adds")
        try:
            return runner.answer(inputs, call=format_call("paddle", op, attrs))
        except (RuntimeError, ValueError) as error:
            if "is not registered" in str(error):
                raise Unsupported(str(error)) from None
            raise

    version = runner.own["paddle"].__version__
    return Runtime(version, OPS, call, tensor_of=runner.tensor_of, array_of=runner.array_of)


if __name__ == "__main__":
    serve("paddle", start)
