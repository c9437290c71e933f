"""Words of messages: outside text made safe, numbers of things, shapes, and element types by name.

Strings from data and file names can hold control characters, escape sequences and
direction marks. What prints such text calls `safe`, nothing else does the job; errors call it for
all that they are told.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_INVISIBLE = frozenset(
    (*"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", *map(chr, range(0x180B, 0x1810)),
     *map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0)))
)  # fmt: skip
"""Default-ignorable letters and marks, and the empty Braille cell: they print as nothing."""


def safe(text: str, limit: int = 200) -> str:
    r"""Escape everything not printable and cut at `limit` characters.

    >>> safe("a\x1b[31mred")
    'a\\x1b[31mred'
    >>> safe("abcdef", limit=4)
    'abc…'
    """
    shown = printable(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def printable(text: str) -> str:
    r"""Text of any length with everything escaped that does not print or turns its direction.

    >>> printable("a\u2028b")
    'a\\u2028b'
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_escaped, text))


def reason(error: Exception) -> str:
    """What went wrong, without the number and the name that Python adds.

    >>> reason(OSError(28, "No space left on device", "x.npy"))
    'no space left on device'
    """
    told = " ".join((getattr(error, "strerror", None) or str(error)).split())
    if isinstance(error, OSError) and error.errno and not error.strerror:
        told = os.strerror(error.errno)
    return safe(told[:1].lower() + told[1:], 200)


def counted(count: int, thing: str, things: str = "") -> str:
    """A number of things: one is singular, and thousands are set apart.

    >>> counted(1, "entry", "entries"), counted(2000, "row"), counted(0, "row")
    ('1 entry', '2,000 rows', '0 rows')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def show_shape(shape: Sequence[int]) -> str:
    """A shape as messages write it.

    >>> show_shape((4, 3)), show_shape(())
    ('[4,3]', '[]')
    """
    return "[" + ",".join(map(str, shape)) + "]"


def _escaped(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    if character in _INVISIBLE or unicodedata.category(character) in _UNSAFE_CATEGORIES:
        return character.encode("unicode_escape", "backslashreplace").decode("ascii")
    return character


LETTERED = 200
"""Entries that pictures give letters to; of others words say the number."""


def name_of(number: int) -> str:
    """The letter of an entry, and its number where no picture bears its letter.

    >>> name_of(2), name_of(714_618)
    ('c', 'entry 714,618')
    """
    return label_of(number) if number < LETTERED else f"entry {number:,}"


def label_of(number: int) -> str:
    """Letters for entries: a…z, A…Z, then two letters, three, …

    >>> label_of(0), label_of(25), label_of(26), label_of(51), label_of(52), label_of(53)
    ('a', 'z', 'A', 'Z', 'aa', 'ab')
    """
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(alphabet))
        letters = alphabet[rest] + letters
    return letters


# --- element types by name, without numpy: the groups that rules speak of, and their limits ------

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
