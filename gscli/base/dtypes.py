"""Element types by name, without numpy: the groups that rules speak of, and their limits."""

from __future__ import annotations

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
HALVES = ("float16", "bfloat16")
FLOATS = (*HALVES, "float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMBERS = INTEGERS + FLOATS + COMPLEX
SMALL_FLOATS = (
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e8m0fnu",
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
)  # fmt: skip
SMALL_INTEGERS = ("int2", "int4", "uint2", "uint4")
ALL = ("bool", *NUMBERS, "str")
EVERY = (*ALL, *SMALL_FLOATS, *SMALL_INTEGERS)

_LARGEST_FLOAT = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}


def bits(dtype: str) -> int:
    """Width of a numeric type.

    >>> bits("uint16"), bits("bfloat16")
    (16, 16)
    """
    return int("".join(filter(str.isdigit, dtype)))


def lowest(dtype: str) -> float | int | bool:
    """The smallest finite value of a real type (TensorFlow and JAX fill with it).

    >>> lowest("int8"), lowest("bool"), lowest("float16"), lowest("int4")
    (-128, False, -65504.0, -8)
    """
    if dtype == "bool":
        return False
    if dtype.startswith("uint"):
        return 0
    if dtype.startswith("int"):
        return int(-(2 ** (bits(dtype) - 1)))
    return -_LARGEST_FLOAT[dtype]


def highest(dtype: str) -> float | int | bool:
    """The largest finite value of a real type.

    >>> highest("uint8"), highest("int8"), highest("bool")
    (255, 127, True)
    """
    if dtype == "bool":
        return True
    if dtype.startswith("uint"):
        return int(2 ** bits(dtype) - 1)
    if dtype.startswith("int"):
        return int(2 ** (bits(dtype) - 1) - 1)
    return _LARGEST_FLOAT[dtype]
