"""Answers Gather, GatherElements and ScatterElements with the functions of mlx that do the same.

take_along_axis and put_along_axis stretch indices over data where ONNX leaves the rest of data
alone, so that indices smaller than data on another axis are not put to them.

Documented: an index out of range is not checked, and what happens then is not defined.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from answerer import Runtime, Unsupported, serve
from onnx_models import Runner, format_call

OPS = ["onnx.Gather", "onnx.GatherElements", "onnx.ScatterElements"]


WIDE = ("float64", "complex128")


def start(variant: str) -> Runtime:
    """The variant is a device: cpu (the default) or gpu."""
    runner = Runner("mlx", "gpu" if variant == "gpu" else "cpu")

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        data, indices, *_ = inputs.values()
        if op != "Gather" and not _alike_but_for(attrs.get("axis", 0), data.shape, indices.shape):
            raise Unsupported("*_along_axis stretches indices that are smaller than data")
        if attrs.get("reduction", "none") != "none":
            raise Unsupported("put_along_axis has no reduction")
        return runner.answer(inputs, call=format_call("mlx", op, attrs))

    def tensor_of(array: Any) -> Any:
        if array.dtype.kind in "OUSV" or array.dtype.name in WIDE:
            raise Unsupported("mlx has no such type on every device")
        return runner.tensor_of(array)

    return Runtime(version("mlx"), OPS, call, tensor_of=tensor_of, array_of=runner.array_of)


def _alike_but_for(axis: int, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes of the same rank differ at most in the length of that axis."""
    kept = range(len(one))
    return len(one) == len(other) and all(
        one[number] == other[number] for number in kept if number != axis % len(one)
    )


if __name__ == "__main__":
    serve("mlx", start)
