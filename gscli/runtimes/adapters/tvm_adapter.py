"""Answers ONNX operators with TVM: read by the Relax frontend, built for the CPU by LLVM."""

from __future__ import annotations

from answerer import Runtime, serve
from onnx_models import OPS, Runner


def start(variant: str) -> Runtime:
    """The variant is a target of TVM; llvm by default."""
    import tvm

    runner = Runner("tvm", variant)
    return Runtime(tvm.__version__, OPS, runner.call, array_of=runner.array_of)


if __name__ == "__main__":
    serve("tvm", start)
