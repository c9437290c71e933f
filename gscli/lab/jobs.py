"""Jobs in JSON Lines: one call per line in, one result per line out, in one process.

    {"id": 1, "op": "scatter_nd", "inputs": {"data": [1, 2], "indices": [[0]], "updates": [9]},
     "attrs": {"reduction": "add"}}

Inputs are nested lists, `{"dtype", "shape", "data"}`, or a string as a shell takes it: a file, a
member of one, arange:3x4. Untyped updates take data's type. Operators and attributes go by the
names of Python or of the shell, or as recorded cases do. A result is `{"id", "output": {…}}`,
with `"warnings": […]` where there are any, a refusal `{"id", "error": {…}}`; a bad line does not
stop the rest. `"expect"` is an answer to hold the output against, given as an input is, with
`"rtol"` and `"atol"`; what was found stands in the result as `"expectation"`, of a refused index
too. `"output"` is a file that the output is written to as `-o` does; the result names it in place
of the values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from sys import float_info
from typing import Any

import numpy as np

from gscli.base import (
    READ_NOTICES,
    ContentRefused,
    GscliError,
    IndexRefused,
    LimitRefused,
    UsageError,
    check_rule,
)
from gscli.base.words import sanitize
from gscli.declare import STRICT_HINT
from gscli.files import LoadedInput, check_replaced, load, save
from gscli.files.formats.jsonarray import MOST_VALUES, array_of_json, dump_json
from gscli.files.formats.jsontext import ParsedJson, parse_json
from gscli.files.request import ReadRequest
from gscli.frameworks import check_single_stdin, find_operator
from gscli.frameworks.execute import prepare, run_plan
from gscli.lab.calls import find_flaw, read_call, read_input_values, read_name
from gscli.lab.difference import Tolerance
from gscli.lab.expectation import diagnose_output
from gscli.lab.hints import make_hint, prefix_origin
from gscli.plan import CallInputs
from gscli.traces import Trace

MAX_INPUT_BYTES = 1 << 30

# Bytes of all inputs of a job, which may be as many as data has axes.
MAX_JOB_BYTES = 3 * MAX_INPUT_BYTES

_KEYS_TEXT = "id framework op opset device inputs attrs output expect rtol atol"
_KEYS = tuple(_KEYS_TEXT.split())

# `[]` are indices far more often than data.
_REQUEST = ReadRequest(dtype_if_empty=np.dtype(np.int64), limit=MAX_INPUT_BYTES)

_JOB_EXAMPLE = '{"id": …, "op": …, "inputs": {…}, "attrs": {…}}'


def run_job(line: bytes, number: int, stdin_readers: list[object]) -> dict[str, Any]:
    """The result of one line, as a JSON-able dict; never raises GscliError.

    `stdin_readers`: what has read standard input, the jobs' own file or an input of a job before
    this one. It can be read once; an input of this job that reads it is added.

    >>> run_job(b'{"op": "gather", "inputs": {"data": [10, 20], "indices": [1]}}', 1, [])["output"]
    {'dtype': 'int64', 'shape': [1], 'data': [20]}
    """
    name: object = None
    where = f"line {number}"
    READ_NOTICES.clear()
    try:
        read = parse_json(line, where).value
        name = read.get("id", number) if isinstance(read, dict) else None
        job = _validate_job(read, number)
        trace = _run_call(job, stdin_readers)
        if "output" in job:
            save(job["output"], trace.output)
        most = MOST_VALUES if "expect" in job else None
        result = {"id": name, "output": job.get("output") or dump_json(trace.output, most)}
        if noticed := (*trace.warnings, *READ_NOTICES):
            warnings = [(item.to_dict(), item.hint) for item in noticed]
            result["warnings"] = [{**item, "hint": write_hint(hint)} for item, hint in warnings]
        if "expect" in job:
            result["expectation"] = _diagnose(job, trace)
    except (GscliError, MemoryError) as problem:
        lacking = LimitRefused("not enough memory for this line", where=where)
        error = problem if isinstance(problem, GscliError) else lacking
        usual = error.usual_hint or "what a line holds: gscli batch --help"
        error.hint = write_hint(error.hint) or usual
        # A line that cannot be read has no id, which may be another's.
        named = {"id": None, "line": number} if name is None else {"id": name}
        return {**named, "error": error.to_dict(), **error.document}
    return result


def write_hint(hint: str) -> str:
    """A hint as a line can follow it: options of operators are attributes.

    >>> write_hint("--reduction add|mul defines it"), write_hint("--opset 18")
    ('"attrs": {"reduction": "add"} defines it', '"attrs": {"opset": 18}')
    >>> write_hint("it is called with --no-include-self")
    'it is called with "attrs": {"include-self": false}'
    >>> write_hint("--dtype bfloat16, or what was written")
    'first gscli convert IN OUT.safetensors --dtype bfloat16, or what was written'
    """
    if "--max-bytes" in hint:
        return "a batch has fixed limits; the operator's own command takes --max-bytes"
    if hint == STRICT_HINT:
        return "warnings stand in the result, and refuse nothing"
    if hint.startswith("--dtype") and "what was written" in hint:  # opaque elements of a file
        return f"first gscli convert IN OUT.safetensors {hint}"
    if "gscli " in hint:  # a command of its own
        return hint
    hint = re.sub(r"--dtype (\w+)", r'{"dtype": "\1", …} as an input', hint)
    hint = re.sub(r"--([a-z-]+) ([a-zA-Z]\w*)[|\w]*", r'"attrs": {"\1": "\2"}', hint)
    hint = re.sub(r"--([a-z-]+) (-?\d[.\d]*)", r'"attrs": {"\1": \2}', hint)
    hint = re.sub(r"--no-([a-z-]+)$", r'"attrs": {"\1": false}', hint)
    return re.sub(r"--([a-z-]+)$", r'"attrs": {"\1": true}', hint)


def _diagnose(job: Mapping[str, Any], trace: Trace) -> dict[str, object]:
    tolerance = Tolerance(_parse_tolerance(job, "rtol"), _parse_tolerance(job, "atol") or 0)
    return diagnose_output(trace, _load(job["expect"], "expect"), tolerance).to_dict(write_hint)


def _validate_job(job: Any, number: int) -> dict[str, Any]:
    if flaw := find_flaw(job, {"op": object, "inputs": dict}, {"attrs": dict}):
        raise ContentRefused(f"not a job: {flaw}", where=f"line {number}", valid=_JOB_EXAMPLE)
    if "expect" not in job and job.keys() & {"rtol", "atol"}:
        raise UsageError("rtol and atol go with expect", where=f"line {number}")
    path = job.get("output", "output.npy")
    is_case = isinstance(path, dict) or job.get("expect") in ("error", "open")
    hint = "gscli verify runs recorded cases" * is_case
    if not isinstance(path, str) or path in ("", "-"):
        raise UsageError("output is the name of a file", where=f"line {number}", hint=hint)
    for key in [key for key in job if key not in _KEYS]:
        problem = f"a job has no {sanitize(key, 60)!r}"
        raise ContentRefused(problem, where=f"line {number}", valid=_KEYS_TEXT, hint=hint)
    return dict(job)


def _run_call(job: Mapping[str, Any], stdin_readers: list[object]) -> Trace:
    operator = find_operator(read_name(job))
    values = read_input_values(job)
    operator.check_names(values)  # before files are read for nothing
    words = [word for word in (*values.values(), job.get("expect")) if isinstance(word, str)]
    if "output" in job:
        check_replaced(job["output"], words)
    if words:
        stdin_readers[:] = check_single_stdin([*stdin_readers, *words])
    left = MAX_JOB_BYTES

    def load_part(value: object, name: str) -> LoadedInput:
        nonlocal left
        read = _load(value, name, min(MAX_INPUT_BYTES, left))
        left -= read.array.nbytes
        return read

    loaded, attrs = read_call(job, load_part)
    inputs = CallInputs.from_loaded(loaded, operator, attrs)
    try:
        plan = prepare(operator, inputs, strict=False, max_bytes=MAX_INPUT_BYTES)
        facts = dict.fromkeys(loaded, "inline"), tuple(inputs.notices)
        return Trace(operator, *run_plan(operator, plan, max_bytes=MAX_INPUT_BYTES), *facts)
    except GscliError as error:
        with suppress(GscliError):  # of an expected answer that cannot be read
            if "expect" in job and isinstance(error, IndexRefused):
                plan = prepare(operator, inputs, strict=False).skip_refused()
                trace = Trace(operator, *run_plan(operator, plan), *facts)
                error.document = {"expectation": _diagnose(job, trace)}
        inline = {key: json.dumps(part) for key, part in values.items() if type(part) is not str}
        inputs.words = {**values, **inline}
        error.where = prefix_origin(error.where, inputs.origins)
        error.hint = make_hint(error, operator, inputs)
        raise


def _load(value: object, name: str, limit: int = MAX_INPUT_BYTES) -> LoadedInput:
    """An input or expected answer; `name` is for messages."""
    shown = sanitize(name, 60)
    if isinstance(value, str):
        return load(value, name=shown, empty_dtype="int64", max_bytes=limit)
    request = _REQUEST if limit == _REQUEST.limit else _REQUEST._replace(limit=limit)
    return array_of_json(ParsedJson(value, "", shown, shown), request, "inline")


def _parse_tolerance(job: Mapping[str, Any], name: str) -> float | None:
    """`rtol` or `atol`, a number from 0 to what a float holds; None where it is not given."""
    value = job.get(name)
    is_legal = value is None or (type(value) in (int, float) and 0 <= value <= float_info.max)
    where = f"{name} = {sanitize(repr(value), 60)}"
    check_rule(is_legal, f"{name} takes a number", where, kind=UsageError, valid="0, 1e-6, …")
    return None if value is None else float(value)
