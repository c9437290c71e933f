"""ONNX models of one node, for every runtime that reads ONNX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

OPS = [
    "onnx.Gather", "onnx.GatherElements", "onnx.GatherND", "onnx.Scatter", "onnx.ScatterElements",
    "onnx.ScatterND",
]  # fmt: skip
NEWEST = ["onnx.TensorScatter"]
"""Operators that only the standard's own evaluator and onnxruntime have yet."""

OLDEST_OPSET = 7
"""Runtimes read no older models; Gather-1 is in force until opset 10."""


LACKING = re.compile(
    r"could not find an implementation|failed to legalize|translating to fact"
    r"|can't be converted to MLDataType|not currently registered"
    r"|type\b[^.]{0,60}\bnot (yet )?(supported|implemented)"
    r"|not (yet )?(supported|implemented)\b[^.]{0,60}\b(d?type|bfloat16|float16|complex)",
    re.IGNORECASE,
)
"""What runtimes say of element types and operators that they have no kernel for."""


def caller_of(run: Callable[[Any, dict[str, Any]], Any]) -> Callable[..., Any]:
    """What a `Runtime` calls, of `run(model, inputs)`: what has no kernel there is unsupported."""

    def call(
        _framework: str, op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        model = one_node(op, opset, inputs, attrs)
        try:
            return run(model, inputs)
        except Exception as error:
            if lacks_a_kernel(error):
                raise NotImplementedError(str(error)) from None
            raise

    return call


def lacks_a_kernel(error: Exception) -> bool:
    """Whether an error is about what the runtime does not have, and no refusal of the call."""
    missing = isinstance(error, NotImplementedError) or type(error).__name__ == "NotImplemented"
    return missing or bool(LACKING.search(str(error)))


def one_node(op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """A model whose only node is the call, with the shapes of its inputs.

    For a GatherND of one cell onnx 1.23 infers no shape, and its checker, which backends run,
    refuses models whose output has none; so it is said here.
    """
    import onnx
    from onnx import helper

    def info(name: str, array: Any, shape: Any) -> Any:
        kind = onnx.TensorProto.STRING
        if array.dtype.kind not in "OUS":
            try:
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            except (KeyError, ValueError):
                raise NotImplementedError(f"onnx has no type {array.dtype} here") from None
        return helper.make_tensor_value_info(name, kind, shape)

    shape = () if op == "GatherND" and _is_one_cell(**inputs, **attrs) else None
    node = helper.make_node(op, list(inputs), ["output"], **attrs)
    graph = helper.make_graph(
        [node],
        "one_node",
        [info(name, array, list(array.shape)) for name, array in inputs.items()],
        [info("output", next(iter(inputs.values())), shape)],
    )
    version = helper.make_opsetid("", max(opset, OLDEST_OPSET))
    model = helper.make_model(graph, opset_imports=[version], ir_version=9)
    return onnx.shape_inference.infer_shapes(model)


def _is_one_cell(data: Any, indices: Any, batch_dims: int = 0) -> bool:
    """Whether the output of this GatherND has rank 0."""
    depth = indices.shape[-1] if indices.ndim else 0
    return bool(indices.ndim == 1 and batch_dims == 0 and depth == data.ndim)
