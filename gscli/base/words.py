"""Words of messages: outside text made safe, numbers of things, shapes, and element types by name.

Strings from data and file names can hold control characters, escape sequences and
direction marks. What prints such text calls `sanitize`, nothing else does the job; errors call it
for all that they are told.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from textwrap import TextWrapper

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

# Default-ignorable letters and marks, and the empty Braille cell: they print as nothing.
_INVISIBLE = frozenset(
    (*"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", *map(chr, range(0x180B, 0x1810)),
     *map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0)))
)  # fmt: skip


def sanitize(text: str, limit: int = 200) -> str:
    r"""Escape everything not printable and cut at `limit` characters.

    >>> sanitize("a\x1b[31mred")
    'a\\x1b[31mred'
    >>> sanitize("abcdef", limit=4)
    'abc…'
    """
    shown = printable(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def printable(text: str) -> str:
    r"""Text of any length with everything escaped that does not print or turns its direction.

    >>> printable("a\u2028b")
    'a\\u2028b'
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_escape, text))


def format_command(words: Iterable[str]) -> str:
    r"""Words as a line for a shell, which runs as it is printed: nothing in it is unprintable.

    >>> print(format_command(["gscli", "show", "my table.npy", "it's\n\x1b\udcff.npy"]))
    gscli show 'my table.npy' $'it\'s\n\033\377.npy'
    """
    return " ".join(map(quote_word, words))


def format_flag(name: str) -> str:
    """The option that sets what code calls `name`.

    >>> format_flag("batch_dims")
    '--batch-dims'
    """
    return f"--{name.replace('_', '-')}"


def quote_word(word: str) -> str:
    """One word as a shell reads it back; what does not print is escaped in `$'…'`."""
    from shlex import quote

    if printable(word) == word:
        return quote(word)
    return f"$'{''.join(map(_escape_in_shell, word))}'"


def suggest_file(word: str) -> str:
    """How a file is named whose name alone reads as something else; "" where there is none.

    >>> suggest_file("arange:3x4")
    ''
    """
    is_there = os.path.exists(word.partition("::")[0])
    return f"{quote_word(f'./{word}')} is the file of that name" * is_there


def _escape_in_shell(character: str) -> str:
    """A character within `$'…'`: in octal, since shells disagree where hexadecimal bytes end."""
    if character in "\\'":
        return f"\\{character}"
    escaped = _escape(character)
    if len(escaped) <= len(r"\n"):
        return escaped
    is_byte = "\udc80" <= character <= "\udcff"
    encoded = character.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"\\{byte:03o}" for byte in encoded)


def error_reason(error: Exception) -> str:
    """What went wrong, without the number and the name that Python adds.

    >>> error_reason(OSError(28, "No space left on device", "x.npy"))
    'no space left on device'
    """
    reason = " ".join((getattr(error, "strerror", None) or str(error)).split())
    if isinstance(error, OSError) and error.errno and not error.strerror:
        reason = os.strerror(error.errno)
    return sanitize(reason[:1].lower() + reason[1:], 200)


def suggest_names(
    name: str,
    known: Iterable[str],
    otherwise: str = "",
    *,
    count: int = 3,
    similarity: float = 0.6,
    write: Callable[[str], str] = str,
) -> str:
    """A hint at the known names that are spelt most like a wrong one, or another way on.

    >>> suggest_names("gathr", ["gather", "gather", "scatter"], "gscli --help")
    'did you mean gather?'
    """
    from difflib import get_close_matches

    near = get_close_matches(name, [*dict.fromkeys(known)], count, similarity)
    return format_suggestion([*map(write, near)], otherwise)


def format_suggestion(names: Sequence[str], otherwise: str = "") -> str:
    """The hint that one of these names may be meant; another way on where there is none."""
    return f"did you mean {' or '.join(names)}?" if names else otherwise


def match_pattern(text: str, pattern: str) -> bool:
    """Whether a pattern is the whole of a text: * stands for any text, all else for itself.

    >>> match_pattern("t[1]", "t[1]"), match_pattern("t[1]", "t*"), match_pattern("t1", "t[1]")
    (True, True, False)
    """
    return fnmatchcase(text, pattern.replace("[", "[[]").replace("?", "[?]"))


def format_count(count: int, thing: str, things: str = "") -> str:
    """A number of things: one is singular, and thousands are set apart.

    >>> format_count(1, "entry", "entries"), format_count(2000, "row"), format_count(0, "row")
    ('1 entry', '2,000 rows', '0 rows')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def join_lines(lines: Iterable[str]) -> str:
    r"""Lines as one text.

    >>> join_lines(["a", "b"])
    'a\nb\n'
    """
    return "".join(f"{line}\n" for line in lines)


def format_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of texts as lines, their columns two blanks apart.

    >>> format_columns([("a", "one", ""), ("bc", "", "two")])
    ['a   one', 'bc       two']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def format_shape(shape: Sequence[int]) -> str:
    """A shape as messages write it.

    >>> format_shape((4, 3)), format_shape(())
    ('[4,3]', '[]')
    """
    return "[" + ",".join(map(str, shape)) + "]"


def format_place(name: str, position: Sequence[int]) -> str:
    """An element of a tensor as messages write it; of one without axes there is no place to say.

    >>> format_place("i", (0, 2)), format_place("i", ())
    ('i[0,2]', 'i')
    """
    return name + format_shape(position) if position else name


def _escape(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    if character in _INVISIBLE or unicodedata.category(character) in _UNSAFE_CATEGORIES:
        return character.encode("unicode_escape", "backslashreplace").decode("ascii")
    return character


# The letters of entries, in their order.
ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

# Entries that pictures give letters to; of others words say the number.
MAX_LETTERED_ENTRIES = 200


def entry_name(number: int) -> str:
    """The letter of an entry, and its number where no picture bears its letter.

    >>> entry_name(2), entry_name(714_618)
    ('c', 'entry 714,618')
    """
    return entry_label(number) if number < MAX_LETTERED_ENTRIES else f"entry {number:,}"


def entry_label(number: int) -> str:
    """Letters for entries: a…z, A…Z, then two letters, three, …

    >>> (
    ...     entry_label(0),
    ...     entry_label(25),
    ...     entry_label(26),
    ...     entry_label(51),
    ...     entry_label(52),
    ...     entry_label(53),
    ... )
    ('a', 'z', 'A', 'Z', 'aa', 'ab')
    """
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(ALPHABET))
        letters = ALPHABET[rest] + letters
    return letters


# --- element types by name, without numpy: the groups that rules speak of, and their limits ------

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOAT16S = ("float16", "bfloat16")
FLOATS = (*FLOAT16S, "float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMBERS = INTEGERS + FLOATS + COMPLEX
NARROW_FLOATS = (
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e8m0fnu",
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
)  # fmt: skip
NARROW_INTEGERS = ("int2", "int4", "uint2", "uint4")
DTYPES = ("bool", *NUMBERS, "str")
ALL_INTEGERS = INTEGERS + NARROW_INTEGERS
ALL_DTYPES = (*DTYPES, *NARROW_FLOATS, *NARROW_INTEGERS)
NON_TEXT_DTYPES = tuple(name for name in ALL_DTYPES if name != "str")

_LARGEST_FLOAT = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}


def real_part(dtype: str) -> str:
    """The type of the real part of a number.

    >>> real_part("complex64"), real_part("float16")
    ('float32', 'float16')
    """
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def bit_width(dtype: str) -> int:
    """Width of a numeric type.

    >>> bit_width("uint16"), bit_width("bfloat16")
    (16, 16)
    """
    return int("".join(filter(str.isdigit, dtype)))


def dtype_min(dtype: str) -> float | int | bool:
    """The smallest finite value of a real type (TensorFlow and JAX fill with it).

    >>> dtype_min("int8"), dtype_min("bool"), dtype_min("float16"), dtype_min("int4")
    (-128, False, -65504.0, -8)
    """
    if dtype == "bool":
        return False
    return 0 if dtype.startswith("uint") else -dtype_max(dtype) - dtype.startswith("int")


def empty_reduction(dtype: str, reduction: str, *, infinite: bool = False) -> float | int | bool:
    """What the sum, the product, the largest or the smallest of no numbers at all is.

    `infinite`: of floats there is nothing smaller than infinity; otherwise it is a finite number.

    >>> empty_reduction("int8", "mul"), empty_reduction("int8", "max")
    (1, -128)
    >>> empty_reduction("float32", "min", infinite=True)
    inf
    """
    if reduction not in ("max", "min"):
        return int(reduction in ("mul", "div", "pow"))
    if infinite and dtype not in ("bool", *ALL_INTEGERS):
        return float("inf" if reduction == "min" else "-inf")
    return dtype_max(dtype) if reduction == "min" else dtype_min(dtype)


@cache
def dtype_max(dtype: str) -> float | int | bool:
    """The largest finite value of a real type.

    >>> dtype_max("uint8"), dtype_max("int8"), dtype_max("bool")
    (255, 127, True)
    """
    if dtype == "bool":
        return True
    if dtype in _LARGEST_FLOAT:
        return _LARGEST_FLOAT[dtype]
    return int(2 ** (bit_width(dtype) - dtype.startswith("int")) - 1)


class LineWrapper(TextWrapper):
    """Breaks words longer than a line after their commas: lists of numbers stay what they are.

    >>> LineWrapper(12).wrap("gather '[10,20,30,40]' 0")
    ["gather '[10,", "20,30,40]' 0"]
    """

    def _split(self, text: str) -> list[str]:
        words = super()._split(text)
        parts = [re.split("(?<=,)", word) if len(word) > self.width else [word] for word in words]
        return [part for word in parts for part in word if part]
