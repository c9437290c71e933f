"""Runs lines of Python that `gscli explain --code` printed; the variant names the framework.

A request's attribute `code` is the text, its inputs are what the text loads: `given["data"]`. What
the text calls `output` is the answer.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from answerer import Runtime, Unsupported, serve

MODULES = {"stablehlo": "jaxlib", "onnx": "onnxruntime"}
"""What is imported to tell the version, where it is not called as the target."""

MISSING = ("not implemented", "not supported", "NOT_IMPLEMENTED", "can't be converted to MLData",
           "not currently registered", "No registered", "Could not find device for node",
           "not currently implemented", "unsupported",
           "Unknown type")  # fmt: skip
"""What frameworks say where they have no kernel for an element type."""


def start(variant: str) -> Runtime:
    """Import the framework, so that its version is known and no call pays for it."""
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    module = import_module(MODULES.get(variant, variant))
    version = getattr(module, "__version__", "")

    def call(
        _framework: str, _op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        names: dict[str, Any] = {"given": inputs}
        try:
            exec(compile(attrs["code"], "lines", "exec"), names)  # noqa: S102  what the user sees
            found = array_of(names["output"]) if "output" in names else None
        except Exception as error:
            missing = type(error).__name__ in ("NotImplemented", "UnimplementedError")
            if missing or any(words in str(error) for words in MISSING):
                raise Unsupported(str(error)) from None
            raise
        if found is None:
            raise Unsupported("these lines are not run here")
        return found

    return Runtime(str(version).split("-")[0], ["lines.run"], call)


def array_of(output: Any) -> Any:
    """A NumPy array of what the framework calls a tensor; bfloat16 may leave as its bits."""
    import numpy as np

    if str(getattr(output, "dtype", "")) == "torch.bfloat16":
        return output.view(import_module("torch").int16).numpy()
    for method in ("resolve_conj", "numpy", "asnumpy"):
        if hasattr(output, method):
            output = getattr(output, method)()
    return np.asarray(output)


if __name__ == "__main__":
    serve("lines", start)
