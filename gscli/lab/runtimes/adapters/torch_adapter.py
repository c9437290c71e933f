"""Answers PyTorch's operators; the variant is compile, or a device such as cuda or mps."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, Unsupported, index_tuple, serve

OPS = [
    "torch.gather", "torch.scatter", "torch.scatter_add", "torch.scatter_reduce", "torch.take",
    "torch.take_along_dim", "torch.put_", "torch.index_put_", "torch.index_select",
    "torch.index_add", "torch.index_copy", "torch.index_fill", "torch.index_reduce",
    "torch.index", "torch.masked_select", "torch.masked_scatter",
]  # fmt: skip


def start(variant: str) -> Runtime:
    """Eager on the CPU, compiled by torch.compile, or eager on another device."""
    import torch

    torch.set_num_threads(1)
    device = torch.device("cpu" if variant in ("", "compile") else variant)

    def function(op: str) -> Any:
        if op == "index":
            return subscripted
        if op == "index_put_":
            return index_put
        if op == "put_":
            return lambda self, index, source, accumulate=False: self.clone().put_(
                index, source, accumulate
            )
        return getattr(torch, op)

    def subscripted(subscript: str = "", **inputs: Any) -> Any:
        return inputs["input"][index_tuple(inputs, subscript)]

    def index_put(
        self: Any, values: Any, accumulate: bool = False, subscript: str = "", **indices: Any
    ) -> Any:
        key, copy = index_tuple(indices, subscript), self.clone()
        masks = (torch.bool, torch.uint8)
        # index_put_ has no slices, and takes a mask without axes for an index.
        plain = [torch.is_tensor(item) and (item.dim() or item.dtype not in masks) for item in key]
        if key and all(plain):
            return copy.index_put_(key, values, accumulate)
        if accumulate or self.dtype != values.dtype:
            raise Unsupported("x[…] = values does not add, and converts values")
        copy[key] = values
        return copy

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        tensors = {name: tensor_of(array).to(device) for name, array in inputs.items()}
        given = {name: value for name, value in attrs.items() if value is not None}
        asked = function(op)
        if variant == "compile":
            torch._dynamo.reset()
            asked = torch.compile(asked, dynamic=False)
        try:
            found = asked(**tensors, **given).cpu()
        except (RuntimeError, TypeError) as error:
            if "not implemented for" in str(error) or "not supported for" in str(error):
                raise Unsupported(str(error)) from None
            raise
        return array_of(found)

    def tensor_of(array: Any) -> Any:
        if array.dtype.name == "bfloat16":
            return torch.from_numpy(array.view("int16").copy()).view(torch.bfloat16)
        try:
            return torch.from_numpy(array.copy())
        except TypeError as error:
            raise Unsupported(str(error)) from None

    def array_of(tensor: Any) -> Any:
        if tensor.dtype == torch.bfloat16:
            import ml_dtypes

            return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
        return tensor.numpy()

    return Runtime(torch.__version__, OPS, call)


if __name__ == "__main__":
    serve("torch", start)
