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
        return {"error": {"type": type(error).__name__, "message": str(error)[:MESSAGE_LIMIT]}}


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
