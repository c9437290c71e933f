"""Lines of JSON (.jsonl), recorded cases and jobs: their tensors, each under the name `ID/INPUT`.

The answer that a line holds is `ID/output`; a line without an id goes by its number. What a job
names as a file or a generator is no tensor of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from gscli.base.words import sanitize
from gscli.disk.mapped import read_errors
from gscli.files.content import TEXT_LIMIT, Content, check_content, check_limit
from gscli.files.formats.jsonarray import array_of_json
from gscli.files.formats.jsontext import ParsedJson, parse_json
from gscli.files.request import LoadedInput, Member, ReadRequest, choose_member, member_place


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """One tensor of a line, named or the only one; of several with one name the first."""
    names, only = list[str](), None
    for name, tensor in _iter_tensors(content):
        if name == request.member:
            return array_of_json(tensor, request)
        names.append(name)
        only = tensor
    choose_member(names, request.member, content.name)
    assert only is not None
    return array_of_json(only, request)


def listing(content: Content, request: ReadRequest) -> list[Member]:
    """The tensors of all lines."""
    return [
        Member.of(array_of_json(tensor, request).array, name)
        for name, tensor in _iter_tensors(content)
    ]


def iter_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The lines of a text; LimitRefused for one without an end."""
    with read_errors(name):
        while line := stream.readline(TEXT_LIMIT + 1):
            check_limit(len(line), TEXT_LIMIT, name, "a line")
            yield line


def _iter_tensors(content: Content) -> Iterator[tuple[str, ParsedJson]]:
    with content.open_file() as file:
        file.seek(0)  # copies of a descriptor share their place
        for number, line in enumerate(iter_lines(file, content.name), 1):
            if line.strip():
                yield from _iter_line_tensors(line, number, content.name)


def _iter_line_tensors(line: bytes, number: int, file: str) -> Iterator[tuple[str, ParsedJson]]:
    where = f"{file} line {number}"
    value = parse_json(line, where).value
    inputs: Any = value.get("inputs") if isinstance(value, dict) else None
    problem, form = "neither a recorded case nor a job", '{"op", "inputs": {…}, …}'
    check_content(isinstance(inputs, dict), problem, where, valid=form)
    for name, tensor in {**inputs, "output": value.get("output")}.items():
        if isinstance(tensor, (dict, list)):
            full = f"{value.get('id', number)}/{name}"
            yield full, ParsedJson(tensor, "", member_place(file, full), sanitize(name, 60))
