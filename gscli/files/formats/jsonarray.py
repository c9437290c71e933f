"""Arrays in JSON: nested lists, and documents {"dtype", "shape", "data"} that lose nothing.

A document writes NaN and infinities as "nan", "inf", "-inf", complex values as [real, imaginary],
integers beyond 2^53 as decimal text, and its data flat in row-major order (nested is read too).
"""

from __future__ import annotations

import json
import math
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from gscli.base import ContentRefused, GscliError
from gscli.base.arrays import (
    EXACT_IN_FLOAT64,
    Array,
    Arrays,
    DType,
    decode_bytes,
    dtype_name,
    is_float_dtype,
    is_integer_dtype,
    parse_dtype,
    to_native,
    unravel_place,
)
from gscli.base.words import format_count, format_place, format_shape, sanitize
from gscli.files.content import TEXT_LIMIT, Content, check_content, check_limit
from gscli.files.formats.jsontext import JsonPath, ParsedJson, caret_line, find_value, parse_json
from gscli.files.formats.npy import BYTES_LIMIT, RANK_LIMIT, is_shape
from gscli.files.formats.values import array_of_dtype, describe_kind
from gscli.files.request import LoadedInput, Output, ReadRequest

WRITE_CHUNK = 1 << 16

# Values of one document: more of them are not read back (jsontext.MEMORY_LIMIT).
MOST_VALUES = 5_000_000

# The shape of nested lists and their values in order.
Levels: TypeAlias = tuple[tuple[int, ...], list[Any]]

_DOCUMENT_KEYS = {"dtype", "shape", "data"}
_ANY_TENSOR = ReadRequest(limit=BYTES_LIMIT)


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """The array of a .json file."""
    parsed = parse_json(content.read_all(TEXT_LIMIT, "the text"), content.name, request.argument)
    return array_of_json(parsed, request)


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write the document of one array, a piece of the data at a time."""
    (array,) = arrays.values()
    head = {"dtype": dtype_name(array.dtype), "shape": list(array.shape)}
    out(json.dumps(head)[:-1].encode() + b', "data": [')
    flat = array.reshape(-1)
    for start in range(0, flat.size, WRITE_CHUNK):
        piece = json.dumps(json_values(flat[start : start + WRITE_CHUNK]))[1:-1]
        out((", " if start else "").encode() + piece.encode())
    out(b"]}\n")


def array_of_json(parsed: ParsedJson, request: ReadRequest, origin: str = "") -> LoadedInput:
    """The array a JSON value stands for: a scalar, nested lists, a document, gscli's own output."""
    value = parsed.value
    if not isinstance(value, dict):
        levels = _flatten_lists(parsed, value, ())
        array = _build_array(parsed, levels, request.untyped_dtype, request)
        return LoadedInput(array, origin, False)
    path: JsonPath = ()
    if "schema" in value:
        value, path = value.get("output"), ("output",)
        check_content(isinstance(value, dict), f"{parsed.name} has no output", parsed.name)
    array, is_typed = _read_document(parsed, value, path, request)
    return LoadedInput(array, origin, is_typed)


def dump_json(array: Array, most: int | None = None) -> dict[str, Any]:
    """The document of an array; `load_json` gives the same array back.

    Of more than `most` values there are none in it; LimitRefused where they are too many otherwise.

    >>> dump_json(np.array([[1.5, np.nan]], np.float32))
    {'dtype': 'float32', 'shape': [1, 2], 'data': [1.5, 'nan']}
    >>> dump_json(np.zeros(3), most=2)
    {'dtype': 'float64', 'shape': [3]}
    """
    document = {"dtype": dtype_name(array.dtype), "shape": list(array.shape)}
    if most is not None and array.size > most:
        return document
    check_limit(
        array.size, MOST_VALUES, f"shape {format_shape(array.shape)}", "the JSON document",
        unit="values",
        hint="write a .npy file: gscli convert, -o FILE.npy of an operator, or output of a job",
    )  # fmt: skip
    return {**document, "data": json_values(to_native(array).reshape(-1))}


def dump_arrays(arrays: Arrays, most: int | None = None) -> dict[str, dict[str, Any]]:
    """The documents of arrays by their names, as `dump_json` makes them."""
    return {name: dump_json(array, most) for name, array in arrays.items()}


def load_json(document: object, name: str = "document") -> Array:
    """The array of a document as `dump_json` makes it. Raises ContentRefused.

    >>> load_json({"dtype": "bfloat16", "shape": [2], "data": [1.5, "inf"]}).dtype.name
    'bfloat16'
    """
    if not isinstance(document, dict):
        raise ContentRefused(f"{name} is no tensor, for it is no object", where=name)
    return _read_document(ParsedJson(document, "", name, name), document, (), _ANY_TENSOR)[0]


def json_values(flat: Array) -> list[Any]:
    """The elements of a one-dimensional array in native byte order, as values of a document."""
    dtype = flat.dtype
    if dtype.kind == "c":
        parts = json_values(np.ascontiguousarray(flat).view(f"f{dtype.itemsize // 2}"))
        return [list(pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    if is_float_dtype(dtype):
        wide = flat.astype(np.float64)
        values: list[Any] = wide.tolist()
        for number in np.flatnonzero(~np.isfinite(wide)).tolist():
            values[number] = str(values[number])
        return values
    if is_integer_dtype(dtype):
        whole: list[int] = flat.astype(dtype if dtype.kind in "iu" else np.int64).tolist()
        if max(map(abs, whole), default=0) > EXACT_IN_FLOAT64:
            return [v if abs(v) <= EXACT_IN_FLOAT64 else str(v) for v in whole]
        return list(whole)
    return list(decode_bytes(flat).tolist())


def _read_document(
    parsed: ParsedJson, document: dict[str, Any], path: JsonPath, request: ReadRequest
) -> tuple[Array, bool]:
    """The array, and whether the document names its type."""
    name = parsed.name
    if "data" not in document or not document.keys() <= _DOCUMENT_KEYS:
        unknown = document.keys() - _DOCUMENT_KEYS
        problem = f"unknown key {sanitize(min(map(str, unknown)), 60)}" if unknown else 'no "data"'
        problem, keys = f"{name} is no tensor: {problem}", '{"dtype", "shape", "data"}'
        raise ContentRefused(problem, where=name, valid=keys)
    dtype = _document_dtype(document, name)
    shape = _document_shape(document, name)
    pairs = dtype is not None and dtype.kind == "c"
    levels = _flatten_lists(parsed, document["data"], (*path, "data"), pairs=pairs)
    array = _build_array(parsed, levels, dtype or request.untyped_dtype, request)
    if shape is None or array.shape == shape:
        return array, dtype is not None
    if array.ndim != 1 or array.size != math.prod(shape):
        where = f"{name}: data {format_shape(array.shape)}, shape {format_shape(shape)}"
        raise ContentRefused("data does not fill the shape", where=where)
    return array.reshape(shape), dtype is not None


def _document_dtype(document: dict[str, Any], name: str) -> DType | None:
    if "dtype" not in document:
        return None
    label = document["dtype"]
    check_content(isinstance(label, str), '"dtype" is not text', name)
    try:
        return parse_dtype(label)
    except GscliError as error:
        raise ContentRefused(error.problem, where=name, valid=error.valid) from None


def _document_shape(document: dict[str, Any], name: str) -> tuple[int, ...] | None:
    if "shape" not in document:
        return None
    shape = document["shape"]
    is_list, sizes = isinstance(shape, list), f"sizes from 0 up, at most {RANK_LIMIT}"
    check_content(is_list and is_shape(shape), '"shape" is not a list of sizes', name, valid=sizes)
    return tuple(shape)


def _flatten_lists(
    parsed: ParsedJson, value: object, path: JsonPath, *, pairs: bool = False
) -> Levels:
    """The shape of nested lists and their values in order; a level's lists have one length.

    With `pairs` the innermost lists are complex values.
    """
    level: list[Any] = [value]
    shape: tuple[int, ...] = ()
    while (kinds := set(map(type, level))) == {list}:
        lists = level
        if pairs and shape and any(lists) and list not in map(type, chain.from_iterable(lists)):
            break  # complex values, no axis
        if len(lists) > 1 and len(set(map(len, lists))) > 1:
            raise _ragged_error(parsed, lists, shape, path)
        shape = (*shape, len(lists[0]))
        level = lists[0] if len(lists) == 1 else [*chain.from_iterable(lists)]
        check_content(len(shape) <= RANK_LIMIT, f"{parsed.name} has more than {RANK_LIMIT} axes")
    if not pairs and list in kinds:
        raise _ragged_error(parsed, level, shape, path)
    return shape, level


def _build_array(
    parsed: ParsedJson, levels: Levels, dtype: DType | None, request: ReadRequest
) -> Array:
    """The array of values in a shape, of the given type or the one they choose."""
    shape, values = levels
    # "idx.json: indices", or "indices" for a text without a file.
    source = parsed.name if parsed.name == parsed.argument else f"{parsed.name}: {parsed.argument}"

    def place(number: int) -> str:
        return format_place(source, unravel_place(number, shape))

    dtype = dtype or (None if values else request.dtype_if_empty)
    return array_of_dtype(values, dtype, place, request.limit).reshape(shape)


def _ragged_error(
    parsed: ParsedJson, level: list[Any], shape: tuple[int, ...], path: JsonPath
) -> ContentRefused:
    """Lists of other lengths, or lists and values, stand side by side in one level."""
    is_lists = all(isinstance(item, list) for item in level)
    forms = [len(item) if is_lists else isinstance(item, list) for item in level]
    number = next(number for number, form in enumerate(forms) if form != forms[0])
    here, before = map(describe_kind, (level[number], level[number - 1]))
    note = f"{here}, the one before is {before}"
    if is_lists:
        note = f"{format_count(forms[number], 'value')}, the row before has {forms[0]}"
    path = (*path, *unravel_place(number, shape))
    start, end = find_value(parsed.text, path) if parsed.text else (0, 0)
    detail = caret_line(parsed.text, start, end, note) if parsed.text else note
    position = tuple(step for step in path if isinstance(step, int))
    breaks = parsed.text.count("\n", 0, start)
    line = f" line {breaks + 1}" if "\n" in parsed.text else ""
    problem = f"{parsed.name} is not a rectangular array"
    hint = "all lists of one level need the same length"
    where = format_place(f"{parsed.name}{line}: {parsed.argument}", position)
    return ContentRefused(problem, where=where, details=(detail,), hint=hint)
