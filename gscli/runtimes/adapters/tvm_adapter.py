"""Answers ONNX operators with TVM: read by the Relax frontend, built for the CPU by LLVM."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, convert, serve
from onnx_models import OPS, caller_of


def start(variant: str) -> Runtime:
    """The variant is a target of TVM; llvm by default."""
    import numpy as np
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx

    tensor = getattr(tvm.runtime, "tensor", None) or tvm.nd.array

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        tensors = [convert(tensor, np.array(array, order="C")) for array in inputs.values()]
        module = from_onnx(model, keep_params_in_input=False)
        program = relax.build(relax.transform.LegalizeOps()(module), variant or "llvm")
        machine = relax.VirtualMachine(program, tvm.cpu())
        found = machine["main"](*tensors)
        return found if hasattr(found, "numpy") else found[0]

    return Runtime(tvm.__version__, OPS, caller_of(run), array_of=lambda tensor: tensor.numpy())


if __name__ == "__main__":
    serve("tvm", start)
