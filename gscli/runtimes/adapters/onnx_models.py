"""ONNX models of one node, and how runtimes run them, in their own words.

The lines of a runtime are run by its adapter, and written out in a script that shows a finding.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

OPS = [
    "onnx.Gather", "onnx.GatherElements", "onnx.GatherND", "onnx.Scatter", "onnx.ScatterElements",
    "onnx.ScatterND",
]  # fmt: skip
NEWEST = ["onnx.TensorScatter"]
"""Operators that only the standard's own evaluator and onnxruntime have yet."""

OLDEST_OPSET = 7
"""Runtimes read no older models; Gather-1 is in force until opset 10."""


LACKING = re.compile(
    r"could not find an implementation|failed to legalize|translating to fact"
    r"|can't be converted to MLDataType|not currently registered"
    r"|type\b[^.]{0,60}\bnot (yet )?(supported|implemented)"
    r"|not (yet )?(supported|implemented)\b[^.]{0,60}\b(d?type|bfloat16|float16|complex)",
    re.IGNORECASE,
)
"""What runtimes say of element types and operators that they have no kernel for."""


def caller_of(run: Callable[[Any, dict[str, Any]], Any]) -> Callable[..., Any]:
    """What a `Runtime` calls, of `run(model, inputs)`: what has no kernel there is unsupported."""

    def call(
        _framework: str, op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        inputs = with_text_as_objects(inputs)
        model = one_node(op, opset, inputs, attrs)
        try:
            return run(model, inputs)
        except Exception as error:
            if lacks_a_kernel(error):
                raise NotImplementedError(str(error)) from None
            raise

    return call


def lacks_a_kernel(error: Exception) -> bool:
    """Whether an error is about what the runtime does not have, and no refusal of the call."""
    missing = isinstance(error, NotImplementedError) or type(error).__name__ == "NotImplemented"
    return missing or bool(LACKING.search(str(error)))


MODEL = """\
import onnx
from onnx import helper
def describe(name, array):
    kind = onnx.TensorProto.STRING
    if array.dtype != object:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)
node = helper.make_node(op, [*arrays], ["output"], **attrs)
infos = [describe(name, array) for name, array in arrays.items()]
kind = infos[0].type.tensor_type.elem_type
result = helper.make_tensor_value_info("output", kind, shape)
graph = helper.make_graph([node], "one_node", infos, [result])
opsets = [helper.make_opsetid("", opset)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
model = onnx.shape_inference.infer_shapes(model)"""
"""A model whose only node is the call of `op` on `arrays`; text is in arrays of objects."""
COMPILED = compile(MODEL, "model", "exec")


def one_node(op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """A model whose only node is the call, with the shapes of its inputs.

    For a GatherND of one cell onnx 1.23 infers no shape, and its checker, which backends run,
    refuses models whose output has none; so it is said here.
    """
    from onnx import helper

    arrays = with_text_as_objects(inputs)
    for array in arrays.values():
        try:
            array.dtype == object or helper.np_dtype_to_tensor_dtype(array.dtype)
        except (KeyError, ValueError):
            raise NotImplementedError(f"onnx has no type {array.dtype} here") from None
    own = {"op": op, "opset": max(opset, OLDEST_OPSET), "arrays": arrays, "attrs": attrs}
    own["shape"] = _known_shape(op, inputs, attrs)
    exec(COMPILED, own)  # noqa: S102  our own lines
    return own["model"]


def with_text_as_objects(inputs: dict[str, Any]) -> dict[str, Any]:
    """Text as objects, which have no width to be cut to."""
    return {
        name: array.astype(object) if array.dtype.kind in "US" else array
        for name, array in inputs.items()
    }


def _known_shape(op: str, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """The shape of an output of rank 0, which a GatherND may have; None where it is inferred."""
    data, indices, *_ = inputs.values()
    is_cell = op == "GatherND" and indices.shape == (data.ndim,) and not attrs.get("batch_dims")
    return () if is_cell else None


class Run(NamedTuple):
    """The lines of one runtime.

    `start`: imports but those of NumPy and onnx, and settings for a {variant}, which is `variant`
    where none is named. `tensor`: what `array` is there. `lines`: from `tensors` by name to
    `output`, by way of `model`, or of a {call} for those who have `calls`: the functions that do
    what operators of ONNX do. `array`: `output` for NumPy. The current folder may be written to.
    """

    start: str
    lines: str
    tensor: str = "array"
    array: str = "output"
    variant: str = ""
    calls: Mapping[str, str] = MappingProxyType({})


MODEL_FILE = "model.onnx"

RUNS = {
    "onnxruntime": Run(
        """\
import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1""",
        """\
content, providers = model.SerializeToString(), ["{variant}"]
session = onnxruntime.InferenceSession(content, options, providers=providers)
output = session.run(None, tensors)[0]""",
        variant="CPUExecutionProvider",
    ),
    "onnx": Run(
        "from onnx.reference import ReferenceEvaluator",
        "output = ReferenceEvaluator(model).run(None, tensors)[0]",
    ),
    "tinygrad": Run(
        """\
import os
os.environ["DEV"] = "{variant}"
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner""",
        """\
onnx.save(model, "model.onnx")
output = OnnxRunner("model.onnx")(tensors)["output"].realize()""",
        "Tensor(array).realize()", "output.numpy()", "PYTHON",
    ),
    "tvm": Run(
        """\
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
tensor = getattr(tvm.runtime, "tensor", None) or tvm.nd.array""",
        """\
module = relax.transform.LegalizeOps()(from_onnx(model, keep_params_in_input=False))
machine = relax.VirtualMachine(relax.build(module, "{variant}"), tvm.cpu())
output = machine["main"](*tensors.values())
output = output if hasattr(output, "numpy") else output[0]""",
        'tensor(np.array(array, order="C"))', "output.numpy()", "llvm",
    ),
    "tract": Run(
        """\
import tract
kind = getattr(tract, "Tensor", None) or tract.Value
reader = tract.onnx() if hasattr(tract, "onnx") else tract""",
        """\
onnx.save(model, "model.onnx")
program = reader.load("model.onnx").into_model().into_runnable()
output = program.run([*tensors.values()])[0]""",
        "kind.from_numpy(array)", "output.to_numpy()",
    ),
    "iree": Run(
        """\
from iree import compiler, runtime
from iree.compiler.tools.import_onnx import __main__ as importer
options = ["--iree-input-demote-f64-to-f32=false", "--iree-llvmcpu-target-cpu=generic"]
driver = {{"llvm-cpu": "local-task", "vmvx": "local-task"}}.get("{variant}", "{variant}")""",
        """\
onnx.save(model, "model.onnx")
importer.main(importer.parse_arguments(["model.onnx", "-o", "model.mlir"]))
binary = compiler.compile_file("model.mlir", target_backends=["{variant}"], input_type="onnx",
                               extra_args=options)
module = runtime.load_vm_flatbuffer(binary, driver=driver)
output = module.one_node(*tensors.values()).to_host()""",
        variant="llvm-cpu",
    ),
    "onnx2torch": Run(
        """\
import sys
from unittest.mock import MagicMock
sys.modules.update({{"torchvision": MagicMock(), "torchvision.ops": MagicMock()}})
import onnx2torch
import torch""",
        "output = onnx2torch.convert(model)(*tensors.values())",
        "torch.from_numpy(array.copy())", "output.numpy()",
    ),
    "mlx": Run(
        """\
import mlx.core as mx
mx.set_default_device(mx.{variant})""",
        """\
data, indices, *updates = tensors.values()
output = {call}
mx.eval(output)""",
        "mx.array(array)", "np.array(output)", "cpu",
        {
            "Gather": "mx.take(data, indices, axis={axis})",
            "GatherElements": "mx.take_along_axis(data, indices, axis={axis})",
            "ScatterElements": "mx.put_along_axis(data, indices, *updates, axis={axis})",
        },
    ),
    "paddle": Run(
        """\
import paddle
paddle.set_device("{variant}")""",
        """\
data, indices, *updates = tensors.values()
output = {call}""",
        "paddle.to_tensor(array)", "output.numpy()", "cpu",
        {
            "Gather": "paddle.gather(data, indices, axis={axis})",
            "GatherElements": "paddle.take_along_axis(data, indices, {axis}, broadcast=False)",
            "GatherND": "paddle.gather_nd(data, indices)",
            "ScatterElements": "paddle.put_along_axis(data, indices, *updates, {axis}, "
                               "{reduction!r}, broadcast=False)",
            "ScatterND": "paddle.scatter_nd_add(data, indices, *updates)",
        },
    ),
}  # fmt: skip

PADDLE_REDUCTIONS = {"none": "assign", "max": "amax", "min": "amin"}
"""Paddle's own names for assignment, maximum and minimum."""


def format_call(name: str, op: str, attrs: dict[str, Any]) -> str:
    """The function of a runtime that does what an operator of ONNX does; "" of models."""
    axis, reduction = attrs.get("axis", 0), attrs.get("reduction", "none")
    reduction = PADDLE_REDUCTIONS.get(reduction, reduction)
    return RUNS[name].calls.get(op, "").format(axis=axis, reduction=reduction)


def format_run(
    name: str, variant: str, op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
) -> str:
    """The lines from `arrays` by name to `output`, as a user of a runtime writes them."""
    run, shape = RUNS[name], _known_shape(op, inputs, attrs)
    call = f"op, opset, attrs, shape = {op!r}, {opset}, {attrs}, {shape}"
    return "\n".join([
        *([] if run.calls else [call, MODEL]),
        run.start.format(variant=variant or run.variant),
        f"tensors = {{name: {run.tensor} for name, array in arrays.items()}}",
        run.lines.format(variant=variant or run.variant, call=format_call(name, op, attrs)),
        *([] if run.array == "output" else [f"output = {run.array}"]),
    ])  # fmt: skip


class Runner:
    """The lines of a runtime, run: what a `Runtime` needs of them."""

    def __init__(self, name: str, variant: str = "") -> None:
        self.run, self.variant = RUNS[name], variant or RUNS[name].variant
        self.own: dict[str, Any] = {}
        imports = "import numpy as np" + "\nimport onnx" * (not self.run.calls)
        exec(f"{imports}\n{self.run.start.format(variant=self.variant)}", self.own)  # noqa: S102

    def tensor_of(self, array: Any) -> Any:
        """What an array is there."""
        return self._evaluate(self.run.tensor, array=array)

    def array_of(self, output: Any) -> Any:
        """What an output is for NumPy."""
        return self._evaluate(self.run.array, output=output)

    def _evaluate(self, text: str, **values: Any) -> Any:
        return eval(_compiled(text, "eval"), {**self.own, **values})  # noqa: S307  our own lines

    def answer(self, tensors: dict[str, Any], model: Any = None, call: str = "") -> Any:
        """The output of a model or of a function."""
        lines = self.run.lines.format(variant=self.variant, call=call)
        own = {**self.own, "tensors": tensors, "model": model}
        with _own_folder() if MODEL_FILE in lines else nullcontext():
            exec(_compiled(lines, "exec"), own)  # noqa: S102  our own lines
        return own["output"]

    @property
    def call(self) -> Callable[..., Any]:
        """What a `Runtime` of models calls."""

        def run(model: Any, inputs: dict[str, Any]) -> Any:
            try:
                tensors = {name: self.tensor_of(array) for name, array in inputs.items()}
            except Exception as error:  # what cannot be converted is no refusal of the runtime
                raise NotImplementedError(f"{type(error).__name__}: {error}") from None
            return self.answer(tensors, model)

        return caller_of(run)


@contextmanager
def _own_folder() -> Iterator[None]:
    """A folder that is the current one, for files of one call."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


@lru_cache(maxsize=256)
def _compiled(text: str, mode: str) -> Any:
    return compile(text, "lines", mode)
