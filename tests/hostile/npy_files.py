"""Hostile .npy files: headers that lie, data that is too short or too long, types that run code."""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Iterator

import numpy as np
from hostile.corpus import Case, Refusal, of_bytes

from gscli.base import ContentRefused, DtypeRefused, LimitRefused

PLAIN = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"
TWO = np.arange(2.0).tobytes()


def npy(
    header: str | bytes,
    data: bytes = TWO,
    *,
    version: tuple[int, int] = (1, 0),
    length: int | None = None,
    pad: bool = True,
) -> bytes:
    """A .npy file with any header; `length` may lie about it."""
    text = header.encode("latin-1") if isinstance(header, str) else header
    field = "<H" if version == (1, 0) else "<I"
    if pad:
        used = 8 + struct.calcsize(field) + len(text) + 1
        text += b" " * (-used % 64) + b"\n"
    stated = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack(field, stated) + text + data


def header(descr: str = "'<f8'", order: str = "False", shape: str = "(2,)", extra: str = "") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {extra}}}"


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


class _Runs:
    """Unpickling this would create a file; the suite looks for it."""

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return (open, ("unpickled.txt", "w"))


def cases() -> Iterator[Case]:
    yield from _cut()
    yield from _headers()
    yield from _shapes()
    yield from _types()
    yield from _lengths()


def _case(name: str, content: bytes, error: Refusal, says: str = "", **options: object) -> Case:
    return Case(f"npy/{name}", of_bytes("case.npy", content), error, says, dict(options))


def _cut() -> Iterator[Case]:
    whole = npy(PLAIN)
    for length in (0, 1, 5, 6, 7, 8, 9, 10, 11, 40, 63, 120, 127, 128, 129, 136, 143):
        yield _case(f"cut_{length}", whole[:length], ContentRefused)
    yield _case("magic_only", b"\x93NUMPY", ContentRefused)
    yield _case("magic_wrong", b"\x93NUMPX" + whole[6:], ContentRefused, "not a .npy")
    yield _case("magic_text", b"hello, world, this is text", ContentRefused, "not a .npy")
    yield _case("zip_inside", b"PK\x03\x04" + whole, ContentRefused, ".npz")
    yield _case("pickle", pickle.dumps(_Runs()), ContentRefused, "unpickles")
    yield _case("trailing_byte", whole + b"x", ContentRefused, "goes on")
    yield _case("trailing_array", whole + whole, ContentRefused, "goes on")
    yield _case("trailing_zip", whole + b"PK\x05\x06" + bytes(18), ContentRefused, "goes on")
    yield _case("zeros", bytes(1000), ContentRefused)


def _headers() -> Iterator[Case]:
    for major, minor in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 0), (255, 255), (0, 1)]:
        field = bytes((major, minor)) + struct.pack("<H", 118)
        content = b"\x93NUMPY" + field + PLAIN.encode().ljust(117) + b"\n" + TWO
        yield _case(f"version_{major}_{minor}", content, ContentRefused, "version")
    for length in (10_001, 20_000, 2**31, 2**32 - 1):
        yield _case(
            f"header_length_{length}",
            npy(PLAIN, version=(2, 0), length=length),
            ContentRefused,
            "too long",
        )
    yield _case("header_length_65535", npy(PLAIN, length=65_535), ContentRefused, "too long")
    yield _case("header_length_0", npy(PLAIN, length=0), ContentRefused)
    yield _case("header_length_short", npy(PLAIN, length=20), ContentRefused)
    yield _case("header_long_true", npy(PLAIN + " " * 20_000, version=(2, 0)), ContentRefused)
    yield _case("header_empty", npy(""), ContentRefused)
    yield _case("header_utf8_v3", npy("{'descr': '<f8é'}".encode(), version=(3, 0)), ContentRefused)
    yield _case("header_not_ascii", npy(b"\xff" * 50), ContentRefused)
    yield _case("header_nul", npy(PLAIN.replace("'<f8'", "'<f8\0'")), ContentRefused)
    sources = {
        "none": "None",
        "number": "12",
        "list": "[1, 2]",
        "tuple": "('descr', 'fortran_order', 'shape')",
        "empty_dict": "{}",
        "set": "{'descr', 'fortran_order', 'shape'}",
        "unclosed": PLAIN[:-1],
        "closed_twice": PLAIN + "}",
        "two_dicts": PLAIN + PLAIN,
        "comment": PLAIN + "# comment",
        "call": "__import__('os').system('touch called.txt')",
        "call_in_shape": header(shape="(open('called.txt', 'w'), 2)"),
        "lambda": header(shape="(lambda: 2)()"),
        "comprehension": header(shape="tuple(2 for _ in [1])"),
        "sum": header(shape="(1+1,)"),
        "minus": header(shape="(-2,)"),
        "minus_9000": header(shape="(" + "-" * 9_000 + "2,)"),
        "plus_3000": header(shape="(" + "+".join(["1"] * 3_000) + ",)"),
        "nest_49": header(shape="(" * 47 + "2," + ")," * 46 + ")"),
        "nest_60": header(shape="(" * 60 + "2," + ")" * 60),
        "nest_4000": header(shape="(" * 4_000 + ")" * 4_000),
        "nest_brackets": "[" * 4_900 + "]" * 4_900,
        "bigint": header(shape="(" + "9" * 5_000 + ",)"),
        "digits_21": header(shape="(" + "9" * 21 + ",)"),
        "hex": header(shape="(0x2,)"),
        "underscore": header(shape="(1_0,)"),
        "octal": header(shape="(0o2,)"),
        "leading_zero": header(shape="(02,)"),
        "float_dimension": header(shape="(2.0,)"),
        "exponent": header(shape="(2e0,)"),
        "bool_dimension": header(shape="(True, 2)"),
        "string_dimension": header(shape="('2',)"),
        "none_dimension": header(shape="(None,)"),
        "nested_dimension": header(shape="((2,),)"),
        "shape_list": header(shape="[2]"),
        "shape_number": header(shape="2"),
        "shape_string": header(shape="'2'"),
        "shape_dict": header(shape="{}"),
        "order_number": header(order="0"),
        "order_string": header(order="'False'"),
        "order_list": header(order="[]"),
        "key_twice": header(extra="'shape': (2,)"),
        "key_twice_other": header(extra="'shape': (4,)"),
        "key_descr_twice": header(extra="'descr': '|O'"),
        "key_extra": header(extra="'more': 1"),
        "key_missing": "{'descr': '<f8', 'shape': (2,)}",
        "key_number": "{'descr': '<f8', 'fortran_order': False, 3: (2,)}",
        "key_joined": "{'descr': '<f8', 'fortran_order': False, 'sha' 'pe': (2,)}",
        "key_escaped": "{'descr': '<f8', 'fortran_order': False, '\\x73hape': (2,)}",
        "key_bytes": "{b'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
        "string_escape": header(descr="'\\x3cf8'"),
        "format_string": header(descr="f'<f8'"),
        "walrus": header(shape="((x:=2),)"),
        "star": header(shape="(*[2],)"),
        "ellipsis": header(shape="(...,)"),
        "backslash": PLAIN.replace(",", ",\\\n"),
        "tabs_and_form_feed": PLAIN + "\f\x0b\x1f",
        "escape": header(descr="'\x1b[31m'"),
        "python_2_odd": "\n " + header(),
    }
    for name, source in sources.items():
        yield _case(f"header_{name}", npy(source, version=(2, 0)), ContentRefused)


def _shapes() -> Iterator[Case]:
    shapes = {
        "wraps_to_0": "(4294967296, 4294967296)",
        "wraps_to_12": "(4611686018427387907, 4)",
        "beyond": "(9223372036854775808,)",
        "largest": "(9223372036854775807,)",
        "uint64": "(18446744073709551615,)",
        "zero_and_huge": "(0, 9223372036854775807)",
        "huge_and_zero": "(4611686018427387904, 0, 4)",
        "many_twos": "(" + "2," * 64 + ")",
        "rank_65": "(" + "1," * 65 + ")",
        "rank_200": "(" + "1," * 200 + ")",
    }
    for name, shape in shapes.items():
        yield _case(f"shape_{name}", npy(header(shape=shape)), ContentRefused)
    for name, shape in {
        "more": "(3,)",
        "less": "(1,)",
        "empty": "(0,)",
        "huge": "(10000000,)",
    }.items():
        yield _case(f"count_{name}", npy(header(shape=shape)), ContentRefused)
    yield _case("count_scalar", npy(header(shape="()")), ContentRefused, "goes on")
    yield _case("terabytes", npy(header(shape="(1000000000000,)")), ContentRefused, "cut off")


def _types() -> Iterator[Case]:
    refused = {
        "object": "'|O'",
        "object_8": "'|O8'",
        "datetime": "'<M8[ns]'",
        "timedelta": "'<m8[s]'",
        "longdouble": "'<f16'",
        "clongdouble": "'<c32'",
        "void": "'|V8'",
        "void_0": "'|V0'",
        "text_0": "'<U0'",
        "bytes_0": "'|S0'",
        "record": "[('a', '<f4'), ('b', '<f4')]",
        "record_object": "[('a', '|O')]",
        "record_nested": "[('a', [('b', '<f8')])]",
        "record_empty": "[]",
        "record_offset": "{'names': ['a'], 'formats': ['<f8']}",
        "subarray": "('<f8', (1,))",
        "subarray_huge": "('<f8', (1000000000,))",
        "comma": "'f4,f4'",
        "unknown": "'<q9'",
        "empty": "''",
        "python": "'O'",
        "sized": "'<f7'",
        "bool_2": "'|b2'",
        "negative_size": "'<f-8'",
        "huge_size": "'<U99999999999'",
        "width_2_31": "'|S2147483648'",
        "number": "8",
        "none": "None",
        "tuple": "()",
        "bool": "True",
        "complex_half": "'<c4'",
        "swapped_void": "'>V8'",
    }
    for name, descr in refused.items():
        error = (ContentRefused, DtypeRefused)
        yield _case(f"type_{name}", npy(header(descr=descr), bytes(16)), error)
    yield _case("opaque_2", npy(header(descr="'|V2'"), bytes(4)), DtypeRefused, "--dtype bfloat16")
    yield _case("opaque_1", npy(header(descr="'|V1'"), bytes(2)), DtypeRefused, "opaque")
    yield _case("opaque_f1", npy(header(descr="'<f1'"), bytes(2)), DtypeRefused, "opaque")
    yield _case("opaque_wrong", npy(header(descr="'|V2'"), bytes(4)), DtypeRefused, dtype="float32")
    yield _case(
        "opaque_small", npy(header(descr="'|V1'"), bytes(2)), DtypeRefused, dtype="bfloat16"
    )
    yield _case("object_saved", saved(np.array([1, "a"], object)), DtypeRefused)
    yield _case("object_runs", saved(np.array([_Runs()], object)), DtypeRefused)
    yield _case("text_beyond", npy(header(descr="'<U1'"), b"\xff\xff\xff\xff" * 2), ContentRefused)
    yield _case("text_0x110000", npy(header(descr="'<U1'"), b"\0\0\x11\0" * 2), ContentRefused)
    yield _case("text_big_endian", npy(header(descr="'>U1'"), b"\xff\0\0\0" * 2), ContentRefused)
    yield _case("bool_of_2", npy(header(descr="'|b1'"), b"\1\2"), ContentRefused, "bool")
    yield _case("bool_of_255", npy(header(descr="'?'"), b"\xff\0"), ContentRefused, "bool")


def _lengths() -> Iterator[Case]:
    swapped = saved(np.arange(100_000, dtype=">i8"))
    transposed = saved(np.asfortranarray(np.ones((300, 400))))
    odd = npy(header("'<i8'", shape="(200000,)") + " ", bytes(1_600_000), pad=False)
    for name, content in {"swapped": swapped, "fortran": transposed, "odd": odd}.items():
        yield _case(f"copy_{name}", content, LimitRefused, "limit", max_bytes=1000)
    text = saved(np.arange(3))
    yield _case("number_as_text", text, DtypeRefused, "without changing", dtype="S1")
