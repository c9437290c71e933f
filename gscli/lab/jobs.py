"""Jobs in JSON Lines: one call per line in, one result per line out, in one process.

    {"id": 1, "op": "scatter_nd", "inputs": {"data": [1, 2], "indices": [[0]], "updates": [9]},
     "attrs": {"reduction": "add"}}

Inputs are nested lists, `{"dtype", "shape", "data"}`, or a string as a shell takes it: a file, a
member of one, arange:3x4. Untyped updates take data's type. Operators and attributes go by the
names of Python or of the shell. A result is `{"id", "output": {…}}`, with `"warnings": […]` where
there are any, a refusal `{"id", "error": {…}}`; a bad line does not stop the rest. `"expect"` is an
answer to hold the output against, given as an input is, with `"rtol"` and `"atol"`; what was found
stands in the result as `"expectation"`. `"output"` is a file that the output is written to as `-o`
does; the result names it in place of the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from gscli.base import ContentRefused, GscliError, LimitRefused, UsageError
from gscli.base.words import safe
from gscli.files import Loaded, load, save
from gscli.files.formats.jsonarray import array_of_json, dump_json
from gscli.files.formats.jsontext import Parsed, parse_json
from gscli.files.request import Wish
from gscli.frameworks import find
from gscli.frameworks.execute import execute, resolve_dtypes
from gscli.lab.cases import OUTPUT_LIMIT
from gscli.lab.difference import Tolerance
from gscli.lab.expectation import held_against
from gscli.plan import Inputs
from gscli.traces import Trace

INPUT_LIMIT = 1 << 30

_KEYS = ("id", "op", "inputs", "attrs", "output", "expect", "rtol", "atol")
_FORM = '{"id": …, "op": …, "inputs": {…}, "attrs": {…}}'
_WISH = Wish(empty=np.dtype(np.int64))
"""`[]` are indices far more often than data."""


def answer(line: bytes, number: int) -> dict[str, Any]:
    """The result of one line, as a JSON-able dict; never raises GscliError.

    >>> answer(b'{"op": "gather", "inputs": {"data": [10, 20], "indices": [1]}}', 1)["output"]
    {'dtype': 'int64', 'shape': [1], 'data': [20]}
    """
    name: object = None
    try:
        read = parse_json(line, f"line {number}").value
        name = read.get("id", number) if isinstance(read, dict) else None
        job = _job(read, number)
        trace = _trace(job)
        found: dict[str, Any] = {"id": name, "output": _put(job, trace)}
        if trace.warnings:
            found["warnings"] = [notice.to_dict() for notice in trace.warnings]
        if "expect" in job:
            found["expectation"] = _expectation(job, trace)
    except MemoryError:
        refused = LimitRefused("not enough memory for this line", where=f"line {number}")
        return {**_called(name, number), "error": refused.to_dict()}
    except GscliError as error:
        if "--max-bytes" in error.hint:  # which belongs to the commands of operators
            error.hint = "a batch has fixed limits; the operator's own command takes --max-bytes"
        error.hint = error.hint or "what a line holds: gscli batch --help"
        return {**_called(name, number), "error": error.to_dict()}
    return found


def _put(job: Mapping[str, Any], trace: Trace) -> object:
    """The output as a document, or the name of the file that it was written to."""
    if "output" not in job:
        return dump_json(trace.output)
    save(job["output"], trace.output)
    return job["output"]


def _called(name: object, number: int) -> dict[str, object]:
    """How a refused line is named: a line that cannot be read has no id, which may be another's."""
    return {"id": None, "line": number} if name is None else {"id": name}


def _job(job: object, number: int) -> Mapping[str, Any]:
    if not isinstance(job, dict) or not isinstance(job.get("inputs"), dict) or "op" not in job:
        raise ContentRefused("not a job", where=f"line {number}", valid=_FORM)
    if not isinstance(job.get("attrs", {}), dict):
        raise ContentRefused("attrs is not an object", where=f"line {number}", valid=_FORM)
    if "expect" not in job and job.keys() & {"rtol", "atol"}:
        raise UsageError("rtol and atol go with expect", where=f"line {number}")
    path = job.get("output", "output.npy")
    if not isinstance(path, str) or path in ("", "-"):
        raise UsageError("output is the name of a file", where=f"line {number}")
    for key in job.keys() - _KEYS:
        raise ContentRefused(
            f"a job has no {safe(key, 60)!r}", where=f"line {number}", valid=" ".join(_KEYS)
        )
    return job


def _trace(job: Mapping[str, Any]) -> Trace:
    operator = find(str(job["op"]))
    attrs = {str(key).replace("-", "_"): value for key, value in job.get("attrs", {}).items()}
    loaded = {
        name: _loaded(value, safe(name, 60))
        for name, value in ((str(key).replace("-", "_"), one) for key, one in job["inputs"].items())
    }
    inputs = Inputs(
        {name: one.array for name, one in loaded.items()},
        dict.fromkeys(loaded, "inline"),
        {name: one.typed for name, one in loaded.items()},
    )
    resolve_dtypes(operator, inputs, attrs, strict=False)
    done = execute(operator, inputs.arrays, attrs, max_bytes=OUTPUT_LIMIT)
    return Trace(operator, *done, inputs.origins, tuple(inputs.notices))


def _loaded(value: object, shown: str) -> Loaded:
    """An input or expected answer; `shown` names it in messages."""
    if isinstance(value, str):
        return load(value, name=shown, empty_dtype="int64", max_bytes=INPUT_LIMIT)
    read = array_of_json(Parsed(value, "", shown, shown), _WISH, INPUT_LIMIT)
    return Loaded(read.array, "inline", read.typed)


def _expectation(job: Mapping[str, Any], trace: Trace) -> dict[str, object]:
    """What `--expect` tells of the run, as in the document of `--json`."""
    loaded = _loaded(job["expect"], "expect")
    tolerance = Tolerance(_number(job, "rtol"), _number(job, "atol") or 0.0)
    return held_against(trace, loaded, tolerance).to_dict()


def _number(job: Mapping[str, Any], name: str) -> float | None:
    """`rtol` or `atol`, a finite number from 0 up; None where it is not given."""
    value = job.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < inf:
        raise UsageError(
            f"{name} takes a number", where=f"{name}: {safe(str(value), 60)}", valid="0, 1e-6, …"
        )
    return float(value)
