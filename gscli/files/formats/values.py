"""From Python values, as JSON and CSV hold them, to an array of one type, exactly.

The type is chosen from the values: whole numbers, numbers, true/false or text, never a mixture.
A whole number is never rounded; a decimal fraction becomes the nearest float, as everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from gscli.base import ContentRefused
from gscli.base.arrays import (
    EXACT_IN_FLOAT64,
    Array,
    DType,
    dtype_name,
    integer_limits,
    is_integer_dtype,
)
from gscli.base.words import dtype_max, sanitize
from gscli.files.content import check_limit
from gscli.files.request import JSON_WORDS

# Says where value number i stands, for a message: "idx.json: [3][0]".
Locate = Callable[[int], str]

# What is no digit and yet a float, as words stand alone and as JSON spells them.
SPECIAL_FLOATS = {word: float(word) for words in JSON_WORDS.items() for word in words}

# As many digits as 64 bits can need.
_WHOLE_TEXT = re.compile(r"-?\d{1,20}", re.ASCII)

CHECKED_AT_ONCE = 1 << 16

_INT64_MAX = (1 << 63) - 1
_UINT64_MAX = (1 << 64) - 1
_KIND_WORDS = {
    int: "a whole number",
    float: "a floating-point number",
    bool: "true or false",
    str: "text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


_KINDS_TAKEN: dict[str, set[type]] = {"b": {bool}, "U": {str}, "S": {str}}

# Letter of a type → what its values may be; numbers may be text as well.
_NUMBER_KINDS: set[type] = {int, float, str}


def describe_kind(value: object) -> str:
    """What a JSON value is, in words; another Python object by its type."""
    return _KIND_WORDS.get(type(value), type(value).__name__)


def array_of_dtype(values: list[Any], dtype: DType | None, place: Locate, limit: int) -> Array:
    """The array of values under a given type; ContentRefused for a value that is none of its.

    Values that name no type choose it: int64 (uint64), float64, bool or text.

    >>> array_of_dtype([1, 2.5], None, str, 100)
    array([1. , 2.5])
    """
    kinds = set(map(type, values))
    dtype = dtype or _infer_dtype(values, kinds, place)
    size = len(values) * max(dtype.itemsize, 1)
    if size > limit:
        check_limit(size, limit, place(0), "the array")
    if dtype.kind == "c" and values:
        return _complex_array(values, dtype, place, limit)
    if not kinds <= _KINDS_TAKEN.get(dtype.kind, _NUMBER_KINDS):
        raise _foreign_kind_error(values, dtype, place)
    if dtype.kind == "b" or not values:
        return np.array(values, "U1" if dtype.kind == "U" else dtype)
    if dtype.kind == "U":
        return _text_array(values, place, limit)
    if dtype.kind == "S":
        return _byte_text(values, dtype, place)
    if is_integer_dtype(dtype):
        return _integer_array(values, kinds, dtype, place)
    return _float_array(values, kinds, dtype, place)


def _infer_dtype(values: list[Any], kinds: set[type], place: Locate) -> DType:
    if kinds == {int}:
        return np.dtype("uint64" if min(values) >= 0 and max(values) > _INT64_MAX else "int64")
    if kinds in ({bool}, {str}):
        return np.dtype("bool" if bool in kinds else "str")
    if kinds <= {int, float}:
        return np.dtype("float64")
    raise _mixed_kinds_error(values, place)


def _foreign_kind_error(values: list[Any], dtype: DType, place: Locate) -> ContentRefused:
    """Name the first value of a kind that the type does not take."""
    legal = _KINDS_TAKEN.get(dtype.kind, _NUMBER_KINDS)
    number = next(n for n, value in enumerate(values) if type(value) not in legal)
    kind, name = describe_kind(values[number]), dtype_name(dtype)
    return ContentRefused(f"{kind} among {name} values", where=place(number))


def _mixed_kinds_error(values: list[Any], place: Locate) -> ContentRefused:
    """Name the first value that is not of the first one's kind (or of no kind gscli takes)."""
    first = type(values[0])
    allowed = {int, float} if first in {int, float} else {first} & {bool, str}
    number = next(n for n, value in enumerate(values) if type(value) not in allowed)
    before = f", but the values before are {describe_kind(values[0])}" if number else ""
    problem, where = f"{describe_kind(values[number])} cannot stand here", place(number) + before
    legal = "numbers, or true and false, or text; not a mixture"
    return ContentRefused(problem, where=where, valid=legal)


def _integer_array(values: list[Any], kinds: set[type], dtype: DType, place: Locate) -> Array:
    if kinds - {int}:
        values = [_parse_integer(value, number, place) for number, value in enumerate(values)]
    low, high = integer_limits(dtype)
    if values and not (low <= min(values) and max(values) <= high):
        number = next(n for n, value in enumerate(values) if not low <= value <= high)
        problem = f"{_format_integer(values[number])} does not fit {dtype_name(dtype)}"
        raise ContentRefused(problem, where=place(number), valid=f"{low} … {high}")
    return np.array(values, dtype)


def _parse_integer(value: object, number: int, place: Locate) -> int:
    """A whole number written as 3, 3.0 or "3" (the way to write one beyond 2^53 in JSON)."""
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE_TEXT.fullmatch(value):
        return int(value)
    shown = sanitize(value, 40) if isinstance(value, str) else str(value)
    raise ContentRefused(f"{shown} is not a whole number", where=place(number))


def _float_array(values: list[Any], kinds: set[type], dtype: DType, place: Locate) -> Array:
    if str in kinds:
        values = [_as_float(value, number, place) for number, value in enumerate(values)]
    try:
        wide = np.array(values, np.float64)
    except OverflowError:
        large = (isinstance(value, int) and abs(value) > _UINT64_MAX for value in values)
        number = list(large).index(True)
        shown = _format_integer(values[number])
        raise ContentRefused(f"{shown} does not fit float64", where=place(number)) from None
    narrow = back = wide
    if dtype.kind == "f" and np.maximum.reduce(np.abs(wide), initial=0) <= dtype_max("float16"):
        narrow = back = wide.astype(dtype, copy=False)  # all of them are finite in both types
    elif dtype != wide.dtype:
        with np.errstate(all="ignore"):
            narrow = wide.astype(dtype)
            back = narrow.astype(np.float64)
            # As only sums of finite terms are.
            is_finite = math.isfinite(np.add.reduce(wide) + np.add.reduce(back))
        if not is_finite:
            _check_values_kept(wide, back, dtype, place)
    if int in kinds and (dtype != wide.dtype or (np.abs(wide) >= EXACT_IN_FLOAT64).any()):
        _check_integers_exact(values, back, dtype, place)
    return np.asarray(narrow)


def _check_values_kept(wide: Array, back: Array, dtype: DType, place: Locate) -> None:
    """A number stays one, and so do NaN and infinities, which some small types do not have."""
    lost = (np.isfinite(wide) != np.isfinite(back)) | (np.isnan(wide) != np.isnan(back))
    if lost.any():
        number = int(np.argmax(lost))
        problem = f"{wide[number]!s} does not fit {dtype_name(dtype)}"
        raise ContentRefused(problem, where=place(number))


def _check_integers_exact(values: list[Any], kept: Array, dtype: DType, place: Locate) -> None:
    """A number written without a fraction means exactly itself."""
    for start in range(0, len(values), CHECKED_AT_ONCE):
        for number, result in enumerate(kept[start : start + CHECKED_AT_ONCE].tolist(), start):
            value = values[number]
            if isinstance(value, int) and value != result:
                shown, name = _format_integer(value), dtype_name(dtype)
                problem = f"{shown} is not exact in {name}"
                hint = f"{shown}.0 stands for the nearest"
                raise ContentRefused(problem, where=place(number), hint=f"{hint} {name}")


def _as_float(value: object, number: int, place: Locate) -> object:
    if not isinstance(value, str):
        return value
    if value not in SPECIAL_FLOATS:
        problem, words = f"{sanitize(value, 40)} is not a number", '"nan", "inf", "-inf"'
        raise ContentRefused(problem, where=place(number), valid=words)
    return SPECIAL_FLOATS[value]


def _complex_array(values: list[Any], dtype: DType, place: Locate, limit: int) -> Array:
    """Complex values are pairs [real, imaginary]; a single number is real."""
    pairs = [value if isinstance(value, list) else [value, 0] for value in values]
    for number, pair in enumerate(pairs):
        if len(pair) != 2:  # noqa: PLR2004
            raise ContentRefused("a complex value is a pair [real, imaginary]", where=place(number))
    part = np.dtype("float32" if dtype.itemsize == np.dtype("complex64").itemsize else "float64")
    flat = [part_ for pair in pairs for part_ in pair]
    return array_of_dtype(flat, part, lambda number: place(number // 2), limit).view(dtype)


def _text_array(values: list[str], place: Locate, limit: int) -> Array:
    """Text takes the width of its longest value; what NumPy would cut off is refused."""
    width = max(map(len, values), default=0) or 1
    check_limit(len(values) * width * 4, limit, place(0), "the text array")
    for number, value in enumerate(values):
        if value.endswith("\0"):
            raise ContentRefused("text ends with a NUL character", where=place(number))
    return np.array(values, f"U{width}")


def _byte_text(values: list[str], dtype: DType, place: Locate) -> Array:
    """Bytes are written as text, one character up to U+00FF for each."""
    encoded = []
    for number, value in enumerate(values):
        try:
            encoded.append(value.encode("latin-1"))
        except UnicodeEncodeError:
            raise ContentRefused("a character is no byte", where=place(number)) from None
        if len(value) > dtype.itemsize or value.endswith("\0"):
            problem = f"text of {len(value)} bytes among {dtype_name(dtype)} values"
            raise ContentRefused(problem, where=place(number))
    return np.array(encoded, dtype)


def _format_integer(value: int) -> str:
    """An integer for a message; a very long one only by its size."""
    return str(value) if abs(value) < 10**40 else f"an integer of {value.bit_length()} bits"
