"""Answers ONNX operators with IREE: imported to torch-mlir's ONNX form, compiled for the CPU."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from answerer import Runtime, serve
from onnx_models import OPS, caller_of


def start(variant: str) -> Runtime:
    """The variant is a backend to compile for; llvm-cpu by default."""
    from iree import compiler, runtime
    from iree.compiler.tools.import_onnx import __main__ as importer

    backend = variant or "llvm-cpu"
    driver = {"llvm-cpu": "local-task", "vmvx": "local-task"}.get(backend, backend)

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path, text = Path(folder, "model.onnx"), Path(folder, "model.mlir")
            path.write_bytes(model.SerializeToString())
            importer.main(importer.parse_arguments([str(path), "-o", str(text)]))
            arguments = ["--iree-input-demote-f64-to-f32=false"]
            if backend == "llvm-cpu":
                arguments.append("--iree-llvmcpu-target-cpu=generic")
            binary = compiler.compile_file(
                str(text), target_backends=[backend], input_type="onnx", extra_args=arguments
            )
        module = runtime.load_vm_flatbuffer(binary, driver=driver)
        found = getattr(module, "one_node")(*inputs.values()).to_host()  # noqa: B009  its name
        return with_sign_of(next(iter(inputs.values())), found)

    return Runtime(version("iree-base-compiler"), OPS, caller_of(run))


def with_sign_of(data: Any, found: Any) -> Any:
    """The bits of a result in the type of data: IREE's own integers have no sign at its borders."""
    is_signless = (found.dtype.kind, data.dtype.kind) == ("i", "u")
    return found.view(data.dtype) if is_signless and found.itemsize == data.itemsize else found


if __name__ == "__main__":
    serve("iree", start)
