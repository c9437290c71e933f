"""Answers ONNX operators with tract."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from typing import Any

from answerer import Runtime, convert, serve
from onnx_models import OPS, caller_of


def start(variant: str) -> Runtime:
    """Tract has no variants."""
    import tract

    if variant:
        raise SystemExit(f"tract has no variant {variant!r}")

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        kind = getattr(tract, "Tensor", None) or tract.Value
        reader = tract.onnx() if hasattr(tract, "onnx") else tract
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(model.SerializeToString())
            file.flush()
            program = reader.load(file.name).into_model().into_runnable()
            return program.run([convert(kind.from_numpy, array) for array in inputs.values()])[0]

    return Runtime(version("tract"), OPS, caller_of(run), array_of=lambda value: value.to_numpy())


if __name__ == "__main__":
    serve("tract", start)
