"""Answers ONNX operators with IREE: imported to torch-mlir's ONNX form, compiled for the CPU."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from answerer import Runtime, serve
from onnx_models import OPS, Runner, caller_of


def start(variant: str) -> Runtime:
    """The variant is a backend to compile for; llvm-cpu by default."""
    runner = Runner("iree", variant)

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        return with_sign_of(next(iter(inputs.values())), runner.answer(inputs, model))

    return Runtime(version("iree-base-compiler"), OPS, caller_of(run))


def with_sign_of(data: Any, found: Any) -> Any:
    """The bits of a result in the type of data: IREE's own integers have no sign at its borders."""
    is_signless = (found.dtype.kind, data.dtype.kind) == ("i", "u")
    return found.view(data.dtype) if is_signless and found.itemsize == data.itemsize else found


if __name__ == "__main__":
    serve("iree", start)
