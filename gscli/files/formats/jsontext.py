"""From the bytes of a JSON text to Python values, strictly.

Size, nesting and the memory the values will take are judged before the parser runs; a key may
stand only once; a number too large for a float is refused instead of becoming infinite.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import partial
from itertools import accumulate
from typing import Any, TypeAlias

from gscli.base import CaretLine, ContentRefused, LimitRefused, check_rule
from gscli.base.records import Record
from gscli.base.words import sanitize
from gscli.files.content import STANDARD_INPUT, TEXT_LIMIT, check_content, check_limit

DEPTH_LIMIT = 64

# Bytes Python objects of one text may take, estimated from its punctuation.
MEMORY_LIMIT = 160 << 20

_BYTES_PER = {b",": 32, b"[": 88, b"{": 240, b'"': 32}
_MOST_BYTES_PER_MARK = max(_BYTES_PER.values())

# A text, or one without an end, so that no search begins anew at each mark inside it.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_MAY_OVERFLOW = re.compile(r"[eE]\+?\d|(?<!\d)\d{309}")
_SPACE = re.compile(r"[ \t\r\n]*")
_ONE_LINE = re.compile(r"\bline \d+$")

# Where a text stops to be JSON, as NumPy and Python write values → what JSON has for it.
_PYTHON_WORDS = {
    ".": "JSON wants a digit before and after the point: 1.0, 0.5",
    **dict.fromkeys(("True", "False"), "JSON writes true and false"),
    **dict.fromkeys(("nan", "inf"), "not a number and infinity are written NaN and Infinity"),
    **dict.fromkeys("0123456789", "JSON writes a comma between values, and 7 for 07"),
    "(": "JSON writes lists and tuples alike: [1, 2]",
    "'": 'JSON writes text in double quotes: "a"',
}


# Keys and positions that lead to a value.
JsonPath: TypeAlias = tuple[int | str, ...]


class ParsedJson(Record):
    """A JSON value with its text, from which messages quote a line.

    `name` is the file or the argument, `argument` what the value stands for ("indices").
    """

    value: Any
    text: str
    name: str
    argument: str


def parse_json(data: bytes | memoryview, name: str, argument: str = "") -> ParsedJson:
    """Parse one JSON document. ContentRefused or LimitRefused, always with the place.

    >>> parse_json(b"[1, 2.5]", "inline").value
    [1, 2.5]
    """
    check_limit(len(data), TEXT_LIMIT, name, "the text")
    raw = bytes(data)
    check_memory(raw, name)
    text = decode_text(raw, name).rstrip(" \t\r\n")  # an end too early has its line
    _check_depth(raw, name)
    del raw
    floats = finite_float if _MAY_OVERFLOW.search(text) else None
    make_object = partial(_object_without_duplicates, name)
    try:
        value = json.loads(text, object_pairs_hook=make_object, parse_float=floats)
    except json.JSONDecodeError as error:
        if not text.strip():
            raise ContentRefused(f"{name} is empty", where=name) from None
        where = f"{_line_name(name, error.lineno)}: {error.msg[:1].lower() + error.msg[1:]}"
        details = (caret_line(text, error.pos, error.pos + 1, "here"),)
        fits = (hint for word, hint in _PYTHON_WORDS.items() if text.startswith(word, error.pos))
        hint = next(fits, "")
        if name == STANDARD_INPUT and text[:1].isalpha() and "\n" in text.strip():
            hint = "no picture or table of text is read; -f npy in the command before hands it on"
        problem = f"{name} is not JSON"
        raise ContentRefused(problem, where=where, details=details, hint=hint) from None
    except ValueError as error:  # more digits than Python converts, or a float beyond all floats
        raise ContentRefused(f"a number in {name} is too large", where=f"{name}: {error}") from None
    return ParsedJson(value, text, name, argument or name)


def decode_text(raw: bytes, name: str) -> str:
    r"""The text of a file. Raises ContentRefused.

    >>> decode_text(b"\xef\xbb\xbf1,2", "x.csv")
    '1,2'
    """
    try:  # NUL stands in no text, and in most other formats
        return raw.replace(b"\0", b"\xff").decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        others = "unpacked .npy, .npz, JSON and CSV are read from a pipe, other formats from files"
        hint = others * (name == STANDARD_INPUT)
        problem = f"{name} is not UTF-8 text"
        raise ContentRefused(problem, where=_line_name(name, line), hint=hint) from None


def _line_name(name: str, line: int) -> str:
    """A line of a text, which may be a line of a file itself."""
    return name if _ONE_LINE.search(name) else f"{name} line {line}"


def caret_line(text: str, start: int, end: int, note: str) -> CaretLine:
    r"""The line of `text` that holds `start`, and which part of it is meant.

    >>> print("\n".join(caret_line("[[0],\n [1, 2]]", 7, 13, "here").render()))
     [1, 2]]
     ^^^^^^ here
    """
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line_end = len(text) if last < 0 else last
    left = max(first, start - 40)
    before = ("…" if left > first else "") + sanitize(text[left:start], 60)
    inside = sanitize(text[start : min(end, line_end)], 30)
    after = sanitize(text[min(end, line_end) : line_end], 30)
    return CaretLine(before + inside + after, len(before), max(len(inside), 1), note)


def find_value(text: str, path: JsonPath) -> tuple[int, int]:
    r"""Where the value at `path` (keys and positions) starts and ends in a text that parses.

    >>> find_value("[[0],\n [1, 2]]", (1, 0))
    (8, 9)
    """
    decode = json.JSONDecoder().raw_decode
    start = _skip_whitespace(text, 0)
    for step in path:
        start, position = _skip_whitespace(text, start + 1), 0
        while True:
            key: int | str = position
            if isinstance(step, str):
                key, end = decode(text, start)
                start = _skip_whitespace(text, _skip_whitespace(text, end) + 1)
            if key == step:
                break
            start = _skip_whitespace(text, decode(text, start)[1])
            start, position = _skip_whitespace(text, start + 1), position + 1
    return start, decode(text, start)[1]


def _skip_whitespace(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]  # it always matches


def _object_without_duplicates(text: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the text that is called so; ContentRefused where a key stands twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ContentRefused(f"the key {sanitize(key, 60)} stands twice", where=text)
    return members


def finite_float(digits: str) -> float:
    """The float nearest to a decimal number; ValueError where that would be infinite."""
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{sanitize(digits, 40)} is beyond the largest float")
    return value


def check_memory(raw: bytes, name: str) -> None:
    """Many tiny values take far more memory than text: 22 million empty lists fit 64 MiB."""
    if len(raw) * _MOST_BYTES_PER_MARK <= MEMORY_LIMIT:
        return
    counts = {mark: raw.count(mark) for mark in _BYTES_PER}
    fits = sum(counts[mark] * size for mark, size in _BYTES_PER.items()) <= MEMORY_LIMIT
    where = f"{name}: {counts[b',']:,} commas, {counts[b'[']:,} lists"
    problem, hint = f"{name} holds too many values for JSON", "save the array as .npy"
    valid = "about 5,000,000 numbers, or fewer lists and texts"
    check_rule(fits, problem, where, kind=LimitRefused, valid=valid, hint=hint)


def _check_depth(raw: bytes, name: str) -> None:
    if raw.count(b"[") + raw.count(b"{") <= DEPTH_LIMIT:
        return
    brackets = (_STRING.sub(b"", raw) if b'"' in raw else raw).translate(None, _NOT_BRACKETS)
    depths = accumulate(1 if bracket in b"[{" else -1 for bracket in brackets)
    fits, levels = max(depths, default=0) <= DEPTH_LIMIT, f"at most {DEPTH_LIMIT} levels"
    check_content(fits, f"{name} is nested too deep", name, valid=levels)
