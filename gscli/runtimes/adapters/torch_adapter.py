"""Answers PyTorch's operators; the variant is compile, or a device such as cuda or mps."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, Unsupported, index_tuple, serve

OPS = [
    "torch.gather", "torch.scatter", "torch.scatter_add", "torch.scatter_reduce", "torch.take",
    "torch.take_along_dim", "torch.put_", "torch.index_put_", "torch.index_select",
    "torch.index_add", "torch.index_copy", "torch.index_fill", "torch.index_reduce",
    "torch.index", "torch.masked_select", "torch.masked_scatter", "torch.embedding",
    "torch.one_hot", "torch.max_unpool1d", "torch.max_unpool2d", "torch.max_unpool3d",
    "torch.segment_reduce", "torch.embedding_bag", "torch.nll_loss",
]  # fmt: skip


def start(variant: str) -> Runtime:
    """Eager on the CPU, compiled by torch.compile, or eager on another device."""
    import torch

    torch.set_num_threads(1)
    device = torch.device("cpu" if variant in ("", "compile") else variant)
    own = {"index": index, "index_put_": index_put, "put_": put}

    def apply(op: str, tensors: dict[str, Any], attrs: dict[str, Any]) -> Any:
        known = {name: value for name, value in attrs.items() if value is not None}
        functional = own.get(op) or getattr(torch.nn.functional, op, None)
        function = functional or getattr(torch, op)
        if variant == "compile":
            torch._dynamo.reset()
            function = torch.compile(function, dynamic=False)
        try:
            return function(**tensors, **known)
        except (RuntimeError, TypeError) as error:
            if "not implemented for" in str(error) or "not supported for" in str(error):
                raise Unsupported(str(error)) from None
            raise

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        return apply(op, inputs, attrs).cpu()

    def differentiate(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any],
        cotangent: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        leaves = {
            name: tensor.requires_grad_()
            for name, tensor in inputs.items() if tensor.is_floating_point()
        }  # fmt: skip
        output = apply(op, inputs, attrs)
        try:
            flows = torch.autograd.grad(output, [*leaves.values()], cotangent, allow_unused=True)
        except RuntimeError as error:
            if "is not implemented" in str(error):
                raise Unsupported(str(error)) from None
            raise
        return output.detach().cpu(), {
            name: None if flow is None else flow.cpu()
            for name, flow in zip(leaves, flows, strict=True)
        }

    def tensor_of(array: Any) -> Any:
        """A tensor of its own memory."""
        if array.dtype.name == "bfloat16":
            return torch.from_numpy(array.view("int16").copy()).view(torch.bfloat16).to(device)
        return torch.from_numpy(array.copy()).to(device)

    return Runtime(
        torch.__version__, OPS, call, differentiate=differentiate, tensor_of=tensor_of,
        array_of=array_of, compiles=variant == "compile",
    )  # fmt: skip


def index(subscript: str = "", **inputs: Any) -> Any:
    """input[…]"""
    return inputs["input"][index_tuple(inputs, subscript)]


def index_put(
    self: Any, values: Any, accumulate: bool = False, subscript: str = "", **indices: Any
) -> Any:
    """index_put_, or self[…] = values where it has no slices or takes a mask for an index."""
    import torch

    key, copy = index_tuple(indices, subscript), self.clone()
    numbers = (torch.int32, torch.int64)  # index_put_ takes no others without axes
    plain = [torch.is_tensor(item) and (item.dim() or item.dtype in numbers) for item in key]
    if key and all(plain):
        return copy.index_put_(key, values, accumulate)
    if accumulate or self.dtype != values.dtype:
        raise Unsupported("x[…] = values does not add, and converts values")
    copy[key] = values
    return copy


def put(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """put_ on a copy."""
    return self.clone().put_(index, source, accumulate)


def array_of(tensor: Any) -> Any:
    """An array of what PyTorch answered."""
    import torch

    if tensor.dtype == torch.bfloat16:
        import ml_dtypes

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


if __name__ == "__main__":
    serve("torch", start)
