"""The element types gscli reads and writes, by name, and value-preserving conversion.

NumPy's numbers, bool, text (U) and bytes (S), plus bfloat16 and the small floats and integers of
ml_dtypes. Everything else (objects, dates, records, long double) is refused by name.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any

import numpy as np

from gscli.base import arrays
from gscli.base.arrays import Array
from gscli.base.dtypes import ALL, EVERY, SMALL_FLOATS, SMALL_INTEGERS
from gscli.base.errors import ContentRefused, DtypeRefused, UsageError
from gscli.base.text import safe

SMALL_NAMES = ("bfloat16", *SMALL_FLOATS, *SMALL_INTEGERS)
"""Types of ml_dtypes; a file may hold them as opaque bytes (|V2, |V1)."""

NUMPY_NAMES = tuple(name for name in ALL if name != "bfloat16")

_CODES = {np.dtype(name).str[1:]: name for name in NUMPY_NAMES if name != "str"} | {"?": "bool"}
_LAST_CODE_POINT = 0x10FFFF

CAST_BLOCK = 1 << 18
"""Elements converted at a time, so that the copies of a check stay small."""


def dtype_named(name: str) -> np.dtype[Any]:
    """The element type a person or a document names: "float32", "f4", "<i8", "bfloat16", "str".

    Always in the machine's byte order. Raises UsageError for everything else.

    >>> dtype_named("f4"), dtype_named("bfloat16").itemsize
    (dtype('float32'), 2)
    """
    if name in EVERY:
        return arrays.dtype_named(name)
    code = name[1:] if name[:1] in {"<", ">", "=", "|"} else name
    if code in _CODES:
        return np.dtype(_CODES[code])
    text = re.fullmatch(r"[<>=|]?([US])([1-9]\d{0,8})", name)
    if text:
        return np.dtype(f"{text[1]}{text[2]}")
    raise UsageError(
        f"unknown element type {safe(name, 60)}",
        valid=", ".join((*NUMPY_NAMES, *SMALL_NAMES)),
    )


def dtype_label(dtype: np.dtype[Any]) -> str:
    """The name a document uses: NumPy's or ml_dtypes' name, "str", or "S5" for bytes.

    >>> dtype_label(np.dtype("U7")), dtype_label(np.dtype("S7")), dtype_label(np.dtype(">f4"))
    ('str', 'S7', 'float32')
    """
    return f"S{dtype.itemsize}" if dtype.kind == "S" else arrays.dtype_name(dtype)


def is_small(dtype: np.dtype[Any]) -> bool:
    """Whether this is one of ml_dtypes' types."""
    return arrays.dtype_name(dtype) in SMALL_NAMES


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether the values are real floating-point numbers, small ones included."""
    return dtype.kind == "f" or (is_small(dtype) and "float" in dtype.name)


def is_whole(dtype: np.dtype[Any]) -> bool:
    """Whether the values are integers, small ones included (bool is not)."""
    return dtype.kind in "iu" or (is_small(dtype) and "int" in dtype.name)


@lru_cache(maxsize=64)
def whole_range(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The smallest and the largest integer of a type for which `is_whole` holds."""
    if is_small(dtype):
        import ml_dtypes

        small = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        return int(small.min), int(small.max)
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def checked_dtype(dtype: np.dtype[Any], where: str) -> np.dtype[Any]:
    """`dtype` itself if gscli takes it, else DtypeRefused; `where` names the file or member."""
    if dtype.kind in "US" and dtype.itemsize:
        return dtype
    if is_small(dtype) or (dtype.kind != "U" and dtype.newbyteorder("=").name in NUMPY_NAMES):
        return dtype
    raise DtypeRefused(
        f"element type {safe(dtype.name, 60)} is not supported",
        where=where,
        valid="bool, integers, floats to 64 bits, complex to 128 bits, text",
    )


def native(array: Array) -> Array:
    """The same values in the machine's byte order and C order; no copy where both hold."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(array.shape)


def is_native(dtype: np.dtype[Any]) -> bool:
    """Whether no byte swap is needed."""
    return dtype.byteorder in "=|" or (dtype.byteorder == "<") == (sys.byteorder == "little")


def check_values(array: Array, where: str) -> None:
    """Refuse bytes that are no value of their type: a bool of 2, a character past U+10FFFF.

    The array is in native byte order.
    """
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ContentRefused("a bool is neither 0 nor 1", where=where)
    if array.dtype.kind == "U" and array.size:
        points = array.reshape(-1).view(np.uint32)
        if points.max() > _LAST_CODE_POINT:
            raise ContentRefused("a character is beyond U+10FFFF", where=where)


def cast_exactly(array: Array, dtype: np.dtype[Any], where: str) -> Array:
    """Convert where every value stays the same (NaN stays NaN), else DtypeRefused.

    >>> cast_exactly(np.array([1.0, 2.0]), np.dtype("int64"), "x.npy")
    array([1, 2])
    """
    if array.dtype == dtype or array.dtype.kind == dtype.kind == "U":
        return array
    if {"U", "S"} & {array.dtype.kind, dtype.kind}:
        raise _not_exact(array.dtype, dtype, where)
    flat = native(array).reshape(-1)
    result = np.empty(flat.shape, dtype)
    for start in range(0, flat.size, CAST_BLOCK):
        block = flat[start : start + CAST_BLOCK]
        cast = _quiet_cast(block, dtype)
        same = _same_values(block, cast)
        if not same.all():
            value = block[int(np.argmin(same))]
            raise _not_exact(array.dtype, dtype, where, f"{value!s} would change")
        result[start : start + CAST_BLOCK] = cast
    return result.reshape(array.shape)


def _not_exact(old: np.dtype[Any], new: np.dtype[Any], where: str, *details: str) -> DtypeRefused:
    return DtypeRefused(
        f"{dtype_label(old)} cannot become {dtype_label(new)} without changing values",
        where=where,
        details=details,
    )


def _same_values(array: Array, cast: Array) -> Array:
    """Where a conversion kept the value. The way back is taken only where it is defined."""
    with np.errstate(all="ignore"):
        same = (_quiet_cast(cast, array.dtype) == array) | ((array != array) & (cast != cast))  # noqa: PLR0124 -- NaN
        if is_whole(array.dtype) and is_whole(cast.dtype):
            return np.asarray(same & ((cast < 0) == (array < 0)))
        for whole, other in ((array, cast), (cast, array)):
            if is_whole(whole.dtype) and not is_whole(other.dtype):
                low, high = whole_range(whole.dtype)
                wide = _quiet_cast(other, np.dtype("float64"))
                same = same & (wide >= float(low)) & (wide < float(high + 1))
        return np.asarray(same)


def _quiet_cast(array: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        real = array.real if array.dtype.kind == "c" and dtype.kind != "c" else array
        if is_small(array.dtype) and is_small(dtype):
            # ml_dtypes does not know every pair; float64 holds all of their values.
            real = real.astype(np.float64)
        return np.asarray(real.astype(dtype))
