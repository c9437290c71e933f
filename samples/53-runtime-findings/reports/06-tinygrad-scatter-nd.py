"""The answering side of gscli's runtime protocol: JSON Lines on standard input and output.

The first line out is {"name", "version", "ops"}. Then, a line for every line in:

    {"id": 1, "framework": "onnx", "op": "ScatterND", "opset": 18, "device": "cpu",
     "inputs": {name: T}, "attrs": {…}}      T = {"dtype", "shape", "data": [flat, row-major]}
    {"id": 1, "output": T}  or  {"id": 1, "error": {"type", "message"}}
                            or  {"id": 1, "unsupported": "why"}

Where the first line says "gradients": true, a request may have a "cotangent": T in the shape of the
output; its answer has "gradients": {input: T or null} beside the output.

nan, inf and -inf are strings, complex numbers pairs, integers beyond 2^53 decimal strings. What a
runtime prints goes to standard error, so that it cannot spoil the answers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

EXACT_IN_FLOAT64 = 2**53
MESSAGE_LIMIT = 500
ECHO = "echo"
"""An operator that answers its input, so that the way in and out can be tried on odd tensors."""


REPORTERS = ("openvino_telemetry",)
"""Packages by which a runtime tells its maker over the network that it was imported."""


class Unsupported(Exception):
    """The runtime has no such operator, type or variant: no answer, and no fault either."""


class Runtime(NamedTuple):
    """A started runtime. `call(framework, op, opset, inputs, attrs)` returns an array.

    `rules` are attributes under which gscli judges it, such as {"device": "xla_cpu"}.
    `differentiate` takes a cotangent too and returns the output and the gradients by input name,
    None for an input that has none. `tensor_of` and `array_of` turn arrays into what `call` takes,
    and what it answers into arrays: what they cannot turn is unsupported, and no refusal.
    `compiles`: a call costs much less where one of the same shapes was answered before.
    """

    version: str
    ops: list[str]
    call: Callable[[str, str, int, dict[str, Any], dict[str, Any]], Any]
    rules: dict[str, Any] | None = None
    differentiate: Callable[..., tuple[Any, dict[str, Any]]] | None = None
    tensor_of: Callable[[Any], Any] = lambda array: array
    array_of: Callable[[Any], Any] = np.asarray
    compiles: bool = False


def serve(name: str, start: Callable[[str], Runtime]) -> None:
    """Answer until standard input ends. The first argument of the process is the variant."""
    channel = _channel()
    sys.modules.update(dict.fromkeys(REPORTERS))  # to import one of these is an ImportError now
    runtime = start(sys.argv[1] if len(sys.argv) > 1 else "")
    hello = {
        "name": name, "version": runtime.version, "ops": [*runtime.ops, ECHO],
        "rules": runtime.rules or {}, "gradients": runtime.differentiate is not None,
        "compiles": runtime.compiles,
    }  # fmt: skip
    _say(channel, hello)
    for line in sys.stdin:
        request = json.loads(line)
        _say(channel, {"id": request["id"], **_answer(runtime, request)})


def _channel() -> Any:
    """Standard output for answers alone; everything else that is printed goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def _say(channel: Any, message: dict[str, Any]) -> None:
    channel.write(json.dumps(message) + "\n")
    channel.flush()


def _answer(runtime: Runtime, request: dict[str, Any]) -> dict[str, Any]:
    try:
        inputs = {name: load(tensor) for name, tensor in request["inputs"].items()}
        if request["op"] == ECHO:
            return {"output": dump(inputs["data"])}
        inputs = {name: convert(runtime.tensor_of, array) for name, array in inputs.items()}
        attrs = {key: value for key, value in request["attrs"].items() if key != "indices_per_axis"}
        call = (request["framework"], request["op"], request.get("opset") or 0, inputs, attrs)
        if "cotangent" not in request:
            return {"output": dump(np.asarray(convert(runtime.array_of, runtime.call(*call))))}
        if runtime.differentiate is None:
            return {"unsupported": "no gradients here"}
        flow = convert(runtime.tensor_of, load(request["cotangent"]))
        output, flows = runtime.differentiate(*call, flow)
        gradients = {
            name: None if flow is None else dump(np.asarray(convert(runtime.array_of, flow)))
            for name, flow in flows.items()
        }
        return {
            "output": dump(np.asarray(convert(runtime.array_of, output))),
            "gradients": gradients,
        }
    except (Unsupported, NotImplementedError) as reason:
        return {"unsupported": f"{type(reason).__name__}: {reason}"[:MESSAGE_LIMIT]}
    except Exception as error:
        kind = type(error).__name__
        return {"error": {"type": kind, "message": str(error)[:MESSAGE_LIMIT]}}


def convert(function: Callable[[Any], Any], value: Any) -> Any:
    """A value as the other side has it; Unsupported where this adapter's words do not do it."""
    try:
        return function(value)
    except Exception as error:
        raise Unsupported(f"{type(error).__name__}: {error}") from None


def named_dtype(name: str) -> np.dtype[Any]:
    """A NumPy type by name; bfloat16 and the small types come from ml_dtypes."""
    if name == "str":
        return np.dtype("U1")
    try:
        return np.dtype(name)
    except TypeError:
        try:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, name))
        except (ImportError, AttributeError):
            raise Unsupported(f"no type {name} here") from None


def load(tensor: dict[str, Any]) -> Any:
    """The array of a tensor on the wire."""
    values, shape = tensor["data"], tensor["shape"]
    if tensor["dtype"] == "str":
        return np.array(values, dtype=object if values else "U1").astype(str).reshape(shape)
    dtype = named_dtype(tensor["dtype"])
    if dtype.kind == "c":
        values = [complex(float(real), float(imaginary)) for real, imaginary in values]
    elif dtype.kind in "iu":
        values = [int(value) for value in values]
    elif dtype.kind != "b":
        values = [float(value) for value in values]
    return np.array(values, dtype=dtype).reshape(shape)


def dump(array: Any) -> dict[str, Any]:
    """The tensor on the wire of an array; rank 0 stays rank 0."""
    dtype = "str" if array.dtype.kind in "OUS" else array.dtype.name
    values = [_value(value) for value in array.reshape(-1).tolist()]
    return {"dtype": dtype, "shape": list(array.shape), "data": values}


def _value(value: Any) -> Any:
    if isinstance(value, complex):
        return [_value(value.real), _value(value.imag)]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return str(value)
    if isinstance(value, int) and abs(value) > EXACT_IN_FLOAT64:
        return str(value)
    return value if isinstance(value, (bool, int, float, str)) else float(value)


def index_tuple(inputs: dict[str, Any], subscript: str = "", name: str = "indices") -> Any:
    """The arrays NAME_0, NAME_1, … as one tuple, in the places i of a subscript such as ":, i"."""
    count = sum(key.startswith(name + "_") for key in inputs)
    arrays = [inputs[f"{name}_{number}"] for number in range(count)]
    if not subscript:
        return tuple(arrays)
    given = iter(arrays)
    return tuple(
        next(given) if part == "i" else _item(part) for part in map(str.strip, subscript.split(","))
    )


def _item(part: str) -> Any:
    """What is no array in a subscript: ..., None, or a slice such as 1: or ::2."""
    if part in ("...", "None"):
        return Ellipsis if part == "..." else None
    return slice(*[int(bound) if bound.strip() else None for bound in part.split(":")])


# ONNX models of one node, for every runtime that reads ONNX.


import re
from collections.abc import Callable
from typing import Any


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
        model = one_node(op, opset, inputs, attrs)
        try:
            return run(model, inputs)
        except Exception as error:
            if lacks_a_kernel(error):
                raise Unsupported(str(error)) from None
            raise

    return call


def lacks_a_kernel(error: Exception) -> bool:
    """Whether an error is about what the runtime does not have, and no refusal of the call."""
    missing = isinstance(error, NotImplementedError) or type(error).__name__ == "NotImplemented"
    return missing or bool(LACKING.search(str(error)))


def one_node(op: str, opset: int, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """A model whose only node is the call, with the shapes of its inputs.

    For a GatherND of one cell onnx 1.23 infers no shape, and its checker, which backends run,
    refuses models whose output has none; so it is said here.
    """
    import onnx
    from onnx import helper

    def info(name: str, array: Any, shape: Any) -> Any:
        kind = onnx.TensorProto.STRING
        if array.dtype.kind not in "OUS":
            try:
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            except (KeyError, ValueError):
                raise NotImplementedError(f"onnx has no type {array.dtype} here") from None
        return helper.make_tensor_value_info(name, kind, shape)

    shape = () if op == "GatherND" and _is_one_cell(**inputs, **attrs) else None
    node = helper.make_node(op, list(inputs), ["output"], **attrs)
    graph = helper.make_graph(
        [node],
        "one_node",
        [info(name, array, list(array.shape)) for name, array in inputs.items()],
        [info("output", next(iter(inputs.values())), shape)],
    )
    version = helper.make_opsetid("", max(opset, OLDEST_OPSET))
    model = helper.make_model(graph, opset_imports=[version], ir_version=9)
    return onnx.shape_inference.infer_shapes(model)


def _is_one_cell(data: Any, indices: Any, batch_dims: int = 0) -> bool:
    """Whether the output of this GatherND has rank 0."""
    depth = indices.shape[-1] if indices.ndim else 0
    return bool(indices.ndim == 1 and batch_dims == 0 and depth == data.ndim)


# Answers ONNX operators with the ONNX runner of tinygrad, on the device that DEV names.


import os
import tempfile
from importlib.metadata import version
from typing import Any


def start(variant: str) -> Runtime:
    """The variant is a device of tinygrad: PYTHON (the default), CPU, CUDA."""
    os.environ["DEV"] = variant or os.environ.get("DEV", "PYTHON")
    from tinygrad import Tensor
    from tinygrad.nn.onnx import OnnxRunner

    def tensor_of(array: Any) -> Any:
        return Tensor(array).realize()  # what it cannot hold is told here, not by the operator

    def run(model: Any, inputs: dict[str, Any]) -> Any:
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(model.SerializeToString())
            file.flush()
            tensors = {name: convert(tensor_of, array) for name, array in inputs.items()}
            return next(iter(OnnxRunner(file.name)(tensors).values())).realize()

    return Runtime(version("tinygrad"), OPS, caller_of(run), array_of=lambda tensor: tensor.numpy())


if __name__ == "__main__":
    print("expected:", "[[-4, -8, -12]] int64", flush=True)
    sys.modules.update(dict.fromkeys(REPORTERS))
    print(
        "seen:    ",
        _answer(
            start(""),
            json.loads(
                '{"id": 1, "framework": "onnx", "op": "ScatterND", "opset": 18, "device": "cpu", "inputs": {"data": {"dtype": "int64", "shape": [1, 3], "data": [-1, -2, -3]}, "indices": {"dtype": "int64", "shape": [1, 2, 1], "data": [0, 0]}, "updates": {"dtype": "int64", "shape": [1, 2, 3], "data": [2, 2, 2, 2, 2, 2]}}, "attrs": {"reduction": "mul"}}'
            ),
        ),
    )
