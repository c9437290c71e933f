"""gscli as a runtime: the reference peer of the protocol, answering by the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gscli
from gscli.base import ContentRefused, GscliError, LimitRefused
from gscli.base.arrays import Array
from gscli.base.words import sanitize
from gscli.files.formats.jsonarray import dump_arrays, dump_json, load_json
from gscli.files.formats.jsontext import parse_json
from gscli.frameworks import find_operator, operators
from gscli.gradients.call import trace_gradients
from gscli.lab.calls import find_flaw, read_call, read_name, to_wire_name
from gscli.runtimes.protocol import ECHO
from gscli.traces import trace_call


def serve(lines: Iterator[bytes], send: Callable[[dict[str, Any]], None]) -> None:
    """Introduce gscli and answer every request; a bad line is answered with an error."""
    ops = [".".join(to_wire_name(operator)) for operator in operators()]
    send({"name": "gscli", "version": gscli.__version__, "ops": [*ops, ECHO], "gradients": True})
    for line in lines:
        if line.strip():
            send(answer_request(line))


def answer_request(line: bytes) -> dict[str, Any]:
    """The answer to one request; never raises GscliError.

    >>> answer_request(b'{"id": 1, "framework": "onnx", "op": "Gather", "opset": 13, "attrs": {}, '
    ...          b'"inputs": {"data": {"dtype": "int64", "shape": [1], "data": [7]}, '
    ...          b'"indices": {"dtype": "int64", "shape": [], "data": [0]}}}')["output"]
    {'dtype': 'int64', 'shape': [], 'data': [7]}
    """
    number: object = None
    try:
        document = parse_json(line, "the request").value
        number = document.get("id") if isinstance(document, dict) else None
        return {"id": number, **_run_request(document)}
    except (LimitRefused, MemoryError) as limit:  # of this machine, not a rule
        return {"id": number, "unsupported": str(limit) or "not enough memory"}
    except GscliError as error:
        return {"id": number, "error": {"type": type(error).__name__, "message": str(error)}}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return {"id": number, "error": {"type": "NotARequest", "message": str(error)[:200]}}


def _load_array(value: Any, name: str) -> Array:
    """An input of a request. ContentRefused where it is none."""
    if flaw := find_flaw(value, {"dtype": str, "shape": list, "data": list}):
        raise ContentRefused(f"the input {sanitize(name, 60)} is no array: {flaw}")
    return load_json(value, "the request")


def _run_request(document: Any) -> dict[str, object]:
    """The output, and the gradients where a cotangent came along; ValueError for no request."""
    if flaw := find_flaw(document, {"op": str, "inputs": dict}, {"attrs": dict}):
        raise ValueError(f"not a request: {flaw}")
    inputs, attrs = read_call(document, _load_array)
    if document["op"] == ECHO:
        return {"output": dump_json(inputs["data"])}
    trace = trace_call(find_operator(read_name(document)), inputs, attrs)
    answer: dict[str, object] = {"output": dump_json(trace.output)}
    if "cotangent" in document:
        own = trace_gradients(trace, _load_array(document["cotangent"], "cotangent"))
        answer["gradients"] = dump_arrays(own.compute_expected())
    return answer
