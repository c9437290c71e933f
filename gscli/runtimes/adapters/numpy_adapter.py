"""Answers NumPy's own operators with the NumPy of this interpreter."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, Unsupported, index_tuple, serve

OPS = [
    "numpy.take", "numpy.take_along_axis", "numpy.put", "numpy.put_along_axis", "numpy.add.at",
    "numpy.subtract.at", "numpy.multiply.at", "numpy.maximum.at", "numpy.minimum.at",
    "numpy.getitem", "numpy.setitem", "numpy.compress",
]  # fmt: skip


def start(variant: str) -> Runtime:
    """NumPy has no variants."""
    import numpy as np

    if variant:
        raise SystemExit(f"numpy has no variant {variant!r}")

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        if any(array.dtype.kind == "U" for array in inputs.values()) and not reads(op):
            raise Unsupported("NumPy cuts text to the width that a happens to have")
        if op.endswith((".at", "item")):
            return subscripted(op, inputs, index_tuple(inputs, attrs.get("subscript", "")))
        function = getattr(np, op, None)
        if function is None:
            raise Unsupported(f"no numpy.{op}")
        if not op.startswith("put"):
            return function(*inputs.values(), **attrs)
        array, *rest = inputs.values()
        array = array.copy()
        function(array, *rest, **attrs)
        return array

    def reads(op: str) -> bool:
        return op.startswith("take") or op in ("compress", "getitem")

    def subscripted(op: str, inputs: dict[str, Any], key: Any) -> Any:
        if op == "getitem":
            return inputs["a"][key]
        array = inputs["a"].copy()
        if op == "setitem":
            array[key] = inputs["values"]
        else:
            getattr(np, op[: -len(".at")]).at(array, key, inputs["b"])
        return array

    return Runtime(np.__version__, OPS, call)


if __name__ == "__main__":
    serve("numpy", start)
