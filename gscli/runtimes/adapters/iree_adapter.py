"""Answers ONNX operators with IREE: imported to torch-mlir's ONNX form, compiled for the CPU."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from answerer import Runtime, serve
from onnx_models import OPS, one_node


def start(variant: str) -> Runtime:
    """The variant is a backend to compile for; llvm-cpu by default."""
    from iree import compiler, runtime

    backend = variant or "llvm-cpu"
    driver = {"llvm-cpu": "local-task", "vmvx": "local-task"}.get(backend, backend)

    def call(
        _framework: str, op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            model, text = Path(folder, "model.onnx"), Path(folder, "model.mlir")
            model.write_bytes(one_node(op, opset, inputs, attrs).SerializeToString())
            command = [sys.executable, "-m", "iree.compiler.tools.import_onnx", str(model), "-o"]
            done = subprocess.run(
                [*command, str(text)], check=False, capture_output=True, text=True
            )
            if done.returncode:
                raise RuntimeError(done.stderr.strip().splitlines()[-1])
            arguments = ["--iree-input-demote-f64-to-f32=false"]
            if backend == "llvm-cpu":
                arguments.append("--iree-llvmcpu-target-cpu=generic")
            binary = compiler.compile_file(
                str(text), target_backends=[backend], input_type="onnx", extra_args=arguments
            )
        module = runtime.load_vm_flatbuffer(binary, driver=driver)
        return getattr(module, "one_node")(*inputs.values()).to_host()  # noqa: B009  its name

    return Runtime(version("iree-base-compiler"), OPS, call)


if __name__ == "__main__":
    serve("iree", start)
