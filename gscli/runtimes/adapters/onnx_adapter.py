"""Answers ONNX operators with the reference evaluator of the onnx package."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, serve
from onnx_models import NEWEST, OPS, caller_of


def start(variant: str) -> Runtime:
    """The evaluator has no variants."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    if variant:
        raise SystemExit(f"onnx has no variant {variant!r}")

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        arrays = {  # text as objects, which have no width to be cut to
            name: array.astype(object) if array.dtype.kind == "U" else array
            for name, array in inputs.items()
        }
        return ReferenceEvaluator(model).run(None, arrays)[0]

    return Runtime(onnx.__version__, [*OPS, *NEWEST], caller_of(run))


if __name__ == "__main__":
    serve("onnx.reference", start)
