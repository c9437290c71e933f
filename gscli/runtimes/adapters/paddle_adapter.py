"""Answers ONNX operators with the functions of Paddle that do the same."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, Unsupported, serve

OPS = ["onnx.Gather", "onnx.GatherElements", "onnx.GatherND", "onnx.ScatterElements",
       "onnx.ScatterND"]  # fmt: skip
REDUCTIONS = {"none": "assign", "add": "add", "mul": "mul", "max": "amax", "min": "amin"}


def start(variant: str) -> Runtime:
    """The variant is a device, cpu by default."""
    import paddle

    paddle.set_device(variant or "cpu")

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        try:
            return answered(op, [*inputs.values()], attrs)
        except (RuntimeError, ValueError) as error:
            if "is not registered" in str(error):
                raise Unsupported(str(error)) from None
            raise

    def answered(op: str, tensors: list[Any], attrs: dict[str, Any]) -> Any:
        data, indices, *updates = tensors
        axis, reduction = attrs.get("axis", 0), attrs.get("reduction", "none")
        if op == "Gather":
            if indices.ndim > 1:
                raise Unsupported("gather takes one list of indices")
            return paddle.gather(data, indices, axis=axis)
        if op == "GatherElements":
            return paddle.take_along_axis(data, indices, axis, broadcast=False)
        if op == "GatherND":
            if attrs.get("batch_dims"):
                raise Unsupported("gather_nd has no batch_dims")
            return paddle.gather_nd(data, indices)
        if op == "ScatterElements":
            return paddle.put_along_axis(
                data, indices, updates[0], axis, REDUCTIONS[reduction], broadcast=False
            )
        if reduction != "add":
            raise Unsupported("scatter_nd_add only adds")
        return paddle.scatter_nd_add(data, indices, updates[0])

    return Runtime(
        paddle.__version__, OPS, call, tensor_of=paddle.to_tensor,
        array_of=lambda tensor: tensor.numpy(),
    )  # fmt: skip


if __name__ == "__main__":
    serve("paddle", start)
