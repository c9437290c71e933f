"""Answers ONNX operators with any onnx.backend.base.Backend; the variant is MODULE:CLASS."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from answerer import Runtime, Unsupported, serve
from onnx_models import OPS, caller_of


def start(variant: str) -> Runtime:
    """Import the class, from the working directory where the environment has none of its name."""
    sys.path.append(os.getcwd())
    module, _, name = variant.partition(":")
    found = import_module(module)
    backend = getattr(found, name) if name else found
    package = import_module(module.partition(".")[0])
    versions = [getattr(one, "__version__", "") for one in (found, backend, package)]

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        if not backend.is_compatible(model):
            raise Unsupported(f"{variant} does not take this model")
        return backend.run_model(model, list(inputs.values()))[0]

    return Runtime(next((str(one) for one in versions if one), "unknown"), OPS, caller_of(run))


if __name__ == "__main__":
    serve(sys.argv[1] if len(sys.argv) > 1 else "backend", start)
