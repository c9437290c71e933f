"""Recorded cases (JSON Lines), read and told as commands; tests/vectors/README.md describes them.

A case holds an operator, its inputs and attributes, and what the framework answered: `expect` is
"output", "error" or "open" (nothing is promised; it must only end in a value or a clear refusal).
With a `cotangent` it holds the `gradients` that the framework gave, too.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from gscli.base import ContentRefused, GscliError
from gscli.base.arrays import Array, Arrays, dtype_name
from gscli.base.records import Arguments, Record
from gscli.base.words import format_command, format_flag, sanitize
from gscli.files.content import STANDARD_INPUT, open_content
from gscli.files.formats.jsonarray import MOST_VALUES, dump_json, load_json
from gscli.files.formats.jsonlines import iter_lines
from gscli.files.formats.jsontext import check_memory, decode_text
from gscli.frameworks import find_operator
from gscli.frameworks.operator import Operator
from gscli.lab.calls import find_flaw, read_call, read_name
from gscli.lab.difference import Tolerance

ExpectedOutput: TypeAlias = Literal["output", "error", "open"]

MAX_FILE_BYTES = 1 << 30

# Bytes of an answer: as many of the widest values as a line can hold.
MAX_OUTPUT_BYTES = 16 * MOST_VALUES


# Sums and products of gradients may be made in any order.
GRADIENT_TOLERANCE = Tolerance(1e-9, 1e-12)

_NEEDED = {"id": object, "op": object, "inputs": dict, "expect": object}
_CASE_EXAMPLE = '{"id": …, "framework": …, "op": …, "inputs": {…}, "attrs": {…}, "expect": …}'

# Characters of a command with everything in it that a person still reads and copies.
MAX_COMMAND_CHARACTERS = 2000


class Case(Record):
    """One recorded call, decoded; `line`: where its file has it, from 1.

    `gradients`: of the inputs that the framework gave one for, by name. `document`: the line
    decoded.
    """

    id: str
    operator: str
    inputs: Arrays
    attrs: Arguments
    expect: ExpectedOutput
    output: Array | None
    line: int = 1
    cotangent: Array | None = None
    gradients: Arrays = MappingProxyType({})
    document: Mapping[str, object] = MappingProxyType({})


def read_cases(
    path: str, refuse: Callable[[GscliError, int], None] | None = None
) -> Iterator[Case]:
    """The cases of a JSON Lines file, or a single case that is written out.

    A line that is no case raises ContentRefused or LimitRefused, which names it; `refuse` is told
    in place of that, with the number of the line, and the next line is read.
    """
    if path.lstrip().startswith("{"):
        yield parse_case(path.encode("utf-8", "replace"), "the case")
        return
    shown = STANDARD_INPUT if path == "-" else sanitize(path)
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            try:
                yield parse_case(line, f"{shown} line {number}", number)
            except GscliError as refusal:
                if refuse is None:
                    raise
                refuse(refusal, number)


def read_lines(path: str) -> Iterator[bytes]:
    """The lines of a text file, or of standard input for `-`; LimitRefused for an endless one."""
    if path == "-":
        yield from iter_lines(sys.stdin.buffer, STANDARD_INPUT)
        return
    with open_content(path, MAX_FILE_BYTES) as content, content.open_file() as file:
        yield from iter_lines(file, content.name)


def parse_case(line: bytes, where: str, number: int = 1) -> Case:
    """One line of a cases file, and which it is."""

    def load(value: Any, name: str, part: str = " in inputs") -> Array:
        if not isinstance(value, dict):
            raise TypeError(f'{name}{part} is not a tensor {{"dtype", "shape", "data"}}')
        return load_json(value, where)

    try:
        check_memory(line, where)
        record = json.loads(decode_text(line, where))
        _check_parts(record)
        inputs, attrs = read_call(record, load)
        output, flow = (
            load(record[key], key, "") if key in record else None for key in ("output", "cotangent")
        )
        gradients = {
            sanitize(name, 60): load(tensor, name, " in gradients")
            for name, tensor in record.get("gradients", {}).items()
            if tensor is not None
        }
        return Case(
            sanitize(str(record["id"])), read_name(record), inputs, attrs,
            record["expect"], output, number, flow, gradients, record,
        )  # fmt: skip
    except (TypeError, ValueError, RecursionError) as error:
        flaw = f"not JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        details, hint = (sanitize(flaw, 200),), "the form of a case: gscli verify --help"
        raise ContentRefused(
            "not a recorded case", where=where, details=details, valid=_CASE_EXAMPLE, hint=hint
        ) from None


def _check_parts(record: Any) -> None:
    """ValueError for a value that has not the parts of a case."""
    if flaw := find_flaw(record, _NEEDED, {"attrs": dict, "gradients": dict}):
        raise ValueError(flaw)
    expect = record["expect"]
    if expect not in get_args(ExpectedOutput) or (expect == "output" and "output" not in record):
        raise ValueError(f"expect is {expect!r}, with the output where it is 'output'")


def build_repro_command(
    case: Case, file: str = "", options: Sequence[str] = (), *, has_gradients: bool = False
) -> str:
    """The command that runs the case in a shell, or its gradients; "" for an unknown operator and
    for names of inputs that it does not have, or lacks: no command gives it those.

    Everything stands in it, unless that would be longer than a person reads: then the tensors are
    named in the `.jsonl` file that the case is from, and the answer is held against the recorded
    one. Of another file the command tries the case alone; and so it does, of every file, with
    `options` of `verify`, as those that name a runtime.
    """
    file = re.sub("^-(?=.)", "./-", file)  # which would be read as an option
    document, is_inline = json.dumps(case.document), file.lstrip().startswith("{")
    is_named = not is_inline and (os.path.isfile(file) or len(document) > MAX_COMMAND_CHARACTERS)
    words = [file, "--only", case.id] if is_named else [document]
    alone = format_command(["gscli", "verify", *words, *options])
    if options:
        return alone
    try:
        operator = find_operator(case.operator)
        operator.check_names(case.inputs)
    except GscliError:
        return ""
    flow = case.cotangent if has_gradients else None
    more = [] if flow is None else ["--cotangent", *format_inputs({"cotangent": flow}).values()]
    inputs, program = format_inputs(case.inputs), "gscli grad" if more else "gscli"
    command = build_command(operator, case.attrs, inputs, more, program)
    if len(command) <= MAX_COMMAND_CHARACTERS or not file or is_inline:
        return command
    if more or not file.lower().endswith(".jsonl"):
        return alone
    texts = {name: f"{file}::{case.id}/{name}" for name in case.inputs}
    expected = ["--expect", f"{file}::{case.id}/output"] if case.expect == "output" else []
    return build_command(operator, case.attrs, texts, expected)


def build_command(
    operator: Operator, attrs: Arguments, inputs: Mapping[str, str],
    more: Sequence[str] = (), program: str = "gscli",
) -> str:  # fmt: skip
    """The command line of a call whose inputs are words already, with `more` words behind them;
    `program`: what is to do something with it, `gscli` or a tool of it.

    An input behind an optional one that is not given goes by its name.

    >>> from gscli.frameworks import find_operator
    >>> words = {"data": "[1.0]", "offsets": "[0,1]"}
    >>> build_command(find_operator("torch.segment_reduce"), {"reduce": "sum"}, words)
    "gscli torch segment-reduce '[1.0]' --offsets '[0,1]' --reduce sum"
    """
    words, flags = operator.command_line.replace("gscli", program, 1).split(), dict[str, str]()
    for item in operator.inputs:
        if flags or (item.optional and item.kind != "many" and item.name not in inputs):
            flags[item.name] = item.flag
    for name, word in inputs.items():
        words += [flags[name], word] if name in flags else [word]
    words += more
    for name, value in attrs.items():
        if name != "indices_per_axis":
            words += format_option(operator, name, value)
    return format_command(words)


def format_inputs(inputs: Arrays) -> dict[str, str]:
    """Arrays inline: as plain lists where a list is read back as the same, else as documents."""
    arrays, words = list(inputs.values()), dict[str, str]()
    for number, (name, array) in enumerate(inputs.items()):
        listed = dtype_name(array.dtype) in ("int64", "float64") and np.isfinite(array).all()
        # Updates without a type take that of data.
        plain = listed and array.size and (number in (0, 1) or array.dtype == arrays[0].dtype)
        text = array.tolist() if plain else dump_json(array)
        word = json.dumps(text, separators=(",", ":") if plain else None)
        # -1 alone would be read as an option.
        words[name] = f" {word}" if word.startswith("-") else word
    return words


def format_option(operator: Operator, name: str, value: object) -> list[str]:
    """An attribute as words of a command line."""
    flag = sanitize(format_flag(name))
    if name == "subscript" and isinstance(value, str):
        return [flag, f"[{sanitize(value)}]"]  # None alone would be no subscript
    declared = operator.attributes_by_name.get(name)
    if isinstance(value, bool) and declared is not None and declared.kind == "bool":
        return [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, (list, tuple)):
        return [flag, sanitize(",".join(map(str, value)))]
    return [flag, sanitize(str(value).lower() if isinstance(value, bool | None) else str(value))]
