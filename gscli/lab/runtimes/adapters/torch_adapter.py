"""Answers PyTorch's operators; the variant is compile, or a device such as cuda or mps."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, Unsupported, index_tuple, serve

OPS = [
    "torch.gather", "torch.scatter", "torch.scatter_add", "torch.scatter_reduce", "torch.take",
    "torch.take_along_dim", "torch.put_", "torch.index_put_", "torch.index_select",
    "torch.index_add", "torch.index_copy", "torch.index_fill", "torch.index_reduce",
]  # fmt: skip


def start(variant: str) -> Runtime:
    """Eager on the CPU, compiled by torch.compile, or eager on another device."""
    import torch

    torch.set_num_threads(1)
    device = torch.device("cpu" if variant in ("", "compile") else variant)

    def function(op: str) -> Any:
        if op == "index_put_":
            return index_put
        if op == "put_":
            return lambda self, index, source, accumulate=False: self.clone().put_(
                index, source, accumulate
            )
        return getattr(torch, op)

    def index_put(
        self: Any, values: Any, accumulate: bool = False, subscript: str = "", **indices: Any
    ) -> Any:
        if set(subscript) - set("i, "):
            raise Unsupported("index_put_ takes index arrays alone")
        return self.clone().index_put_(index_tuple(indices), values, accumulate)

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
