"""Hostile JSON: deep, ragged, mixed, amplifying; numbers that no type holds; two meanings."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hostile.corpus import Case, Content, Refusal, of_bytes, of_text

from gscli.base import ContentRefused, DtypeRefused, LimitRefused, UsageError


def cases() -> Iterator[Case]:
    yield from _texts()
    yield from _values()
    yield from _documents()
    yield from _sizes()
    yield from _generators()


def _both(
    name: str, text: str, error: Refusal = ContentRefused, says: str = "", **o: object
) -> Iterator[Case]:
    """The text in a file, and written inline."""
    yield Case(f"json/{name}", of_bytes("case.json", text.encode()), error, says, dict(o))
    yield Case(f"inline/{name}", of_text(text), error, says, dict(o))


def _file(
    name: str, content: Content, error: Refusal = ContentRefused, says: str = "", **o: object
) -> Case:
    return Case(f"json/{name}", of_bytes("case.json", content), error, says, dict(o))


def _texts() -> Iterator[Case]:
    yield _file("empty", b"", says="empty")
    yield _file("spaces", b" \n\t ", says="empty")
    yield _file("bom_only", b"\xef\xbb\xbf", says="empty")
    yield _file("utf16", "[1]".encode("utf-16"), says="UTF-8")
    yield _file("utf32", "[1]".encode("utf-32"), says="UTF-8")
    yield _file("latin1", b'["\xe9"]', says="UTF-8")
    yield _file("overlong", b'["\xc0\xaf"]', says="UTF-8")
    yield _file("surrogate_bytes", b'["\xed\xa0\x80"]', says="UTF-8")
    yield _file("bom_twice", b"\xef\xbb\xbf\xef\xbb\xbf[1]")
    yield _file("nul", b"[1]\0")
    yield _file("nul_first", b"\0[1]")
    yield _file("point_first", b"[.5]")
    yield _file("point_last", b"[5.]")
    yield _file("npy_bytes", b"\x93NUMPY\1\0")
    yield _file("binary", bytes(range(256)))
    texts = {
        "unclosed": "[1, 2",
        "closed_twice": "[1]]",
        "two_values": "[1] [2]",
        "json_lines": "[1]\n[2]\n",
        "trailing_comma": "[1, 2,]",
        "comma_first": "[,1]",
        "two_commas": "[1,,2]",
        "comment": "[1 // one\n]",
        "hex": "[0x10]",
        "octal": "[010]",
        "plus": "[+1]",
        "points_first": "[..5]",
        "points_last": "[5..]",
        "point_last_twice": "[1.5.]",
        "exponent_bare": "[1e]",
        "underscore": "[1_000]",
        "python_true": "[True]",
        "python_none": "[None]",
        "python_tuple": "[(1, 2)]",
        "single_quotes": "['a']",
        "raw_newline": '["a\nb"]',
        "bad_escape": '["\\x41"]',
        "half_escape": '["\\u12"]',
        "unclosed_string": '["abc',
        "unclosed_object": '{"dtype": "int8"',
        "no_colon": '{"dtype" "int8"}',
        "call": "[__import__('os')]",
    }
    for name, text in texts.items():
        yield from _both(f"text_{name}", text)
    for depth in (65, 100, 1_000, 100_000):
        yield from _both(f"deep_{depth}", "[" * depth + "]" * depth, says="deep")
        yield _file(f"deep_unclosed_{depth}", b"[" * depth, says="deep")
        yield _file(f"deep_objects_{depth}", b'{"a":' * depth, says="deep")
    yield _file("deep_behind_string", b'["]]]]", ' + b"[" * 70, says="deep")
    yield _file("deep_behind_quote", b'["\\"", ' + b"[" * 70, says="deep")


def _values() -> Iterator[Case]:
    values = {
        "ragged": "[[0, 1],\n [2, 3, 4]]",
        "ragged_shorter": "[[0, 1], [2]]",
        "ragged_empty": "[[0], []]",
        "ragged_inside": "[[[1, 2]], [[1], [2]]]",
        "level_up": "[[0], 1]",
        "level_down": "[0, [1]]",
        "level_deep": "[[[0]], [1]]",
        "null": "null",
        "null_inside": "[1, null]",
        "nulls": "[null, null]",
        "object_inside": '[{"a": 1}]',
        "object_after": '[1, {"a": 1}]',
        "mixed_text": '[1, "2"]',
        "mixed_text_first": '["a", 1]',
        "mixed_truth": "[true, 1]",
        "mixed_truth_after": "[1, true]",
        "mixed_truth_text": '[true, "true"]',
        "mixed_truth_float": "[1.5, false]",
        "int_2_64": "[18446744073709551616]",
        "int_minus_2_63": "[-9223372036854775809]",
        "int_mixed_sign": "[9223372036854775808, -1]",
        "int_100_digits": "[" + "9" * 100 + "]",
        "int_4301_digits": "[" + "9" * 4_301 + "]",
        "int_million_digits": "[" + "9" * 1_000_000 + "]",
        "int_among_floats": "[9007199254740993, 0.5]",
        "int_huge_among_floats": "[" + "9" * 400 + ", 0.5]",
        "over_1e999": "[1e999]",
        "over_minus": "[-1e999]",
        "over_309_digits": "[" + "9" * 309 + ".0]",
        "over_exponent": "[1e99999999999999999999]",
        "over_among": "[1.0, 2e308]",
        "text_nul": '["a\\u0000"]',
        "scalar_over": "1e400",
        "escape_text_mixed": '["\\u001b[31m", 1]',
    }
    for name, text in values.items():
        yield from _both(f"value_{name}", text)
    like = {
        "half_as_int": ("[2.5]", "int64"),
        "text_as_int": ('["a"]', "int64"),
        "truth_as_int": ("[true]", "int64"),
        "large_as_int8": ("[128]", "int8"),
        "minus_as_uint8": ("[-1]", "uint8"),
        "large_as_half": ("[70000]", "float16"),
        "huge_as_single": ("[1e39]", "float32"),
        "number_as_truth": ("[1]", "bool"),
        "number_as_text": ("[1]", "str"),
        "text_as_float": ('["abc"]', "float32"),
        "nan_as_int": ("[NaN]", "int64"),
        "inexact_as_half": ("[2049]", "float16"),
        "inexact_as_single": ("[16777217]", "float32"),
        "inf_as_e4m3fn": ("[Infinity]", "float8_e4m3fn"),
        "nan_as_e2m1": ("[NaN]", "float4_e2m1fn"),
        "large_as_int4": ("[8]", "int4"),
        "long_as_bytes": ('["abc"]', "S2"),
        "wide_as_bytes": ('["€"]', "S4"),
        "nul_as_bytes": ('["a\\u0000"]', "S4"),
    }
    for name, (text, dtype) in like.items():
        yield from _both(f"as_{name}", text, dtype=dtype)
    yield from _both("dtype_unknown", "[1]", UsageError, "unknown element type", dtype="float7")
    yield from _both("dtype_object", "[1]", UsageError, "unknown element type", dtype="object")
    yield from _both("dtype_escape", "[1]", UsageError, "unknown", dtype="\x1b[31m")


def _documents() -> Iterator[Case]:
    documents = {
        "empty": "{}",
        "other": '{"a": 1}',
        "no_data": '{"dtype": "int8", "shape": [1]}',
        "extra": '{"data": [1], "more": 1}',
        "key_twice": '{"data": [1], "data": [2]}',
        "dtype_twice": '{"dtype": "int8", "dtype": "int16", "data": [1]}',
        "key_twice_inside": '{"data": [1], "shape": {"a": 1, "a": 2}}',
        "escaped_twin": '{"data": [1], "d\\u0061ta": [2]}',
        "dtype_number": '{"dtype": 8, "data": [1]}',
        "dtype_null": '{"dtype": null, "data": [1]}',
        "dtype_unknown": '{"dtype": "float7", "data": [1]}',
        "dtype_object": '{"dtype": "object", "data": [1]}',
        "dtype_record": '{"dtype": "f4,f4", "data": [1]}',
        "dtype_dates": '{"dtype": "<M8[ns]", "data": [1]}',
        "dtype_void": '{"dtype": "V8", "data": [1]}',
        "dtype_code": '{"dtype": "__import__", "data": [1]}',
        "shape_number": '{"shape": 1, "data": [1]}',
        "shape_text": '{"shape": "1", "data": [1]}',
        "shape_float": '{"shape": [1.0], "data": [1]}',
        "shape_truth": '{"shape": [true], "data": [1]}',
        "shape_minus": '{"shape": [-1], "data": [1]}',
        "shape_null": '{"shape": [null], "data": [1]}',
        "shape_nested": '{"shape": [[1]], "data": [1]}',
        "shape_huge": '{"shape": [9223372036854775807], "data": [1]}',
        "shape_wraps": '{"shape": [4294967296, 4294967296], "data": []}',
        "shape_zero_huge": '{"shape": [0, 9223372036854775807], "data": []}',
        "shape_rank_65": '{"shape": [' + ", ".join(["1"] * 65) + '], "data": [1]}',
        "shape_more": '{"shape": [3], "data": [1, 2]}',
        "shape_less": '{"shape": [1], "data": [1, 2]}',
        "shape_other": '{"shape": [2, 3], "data": [[1, 2], [3, 4], [5, 6]]}',
        "data_null": '{"data": null}',
        "data_object": '{"data": {"data": [1]}}',
        "data_ragged": '{"data": [[1], [2, 3]]}',
        "half": '{"dtype": "int64", "data": [0.5]}',
        "text_number": '{"dtype": "int64", "data": ["12a"]}',
        "text_long": '{"dtype": "int64", "data": ["' + "1" * 30 + '"]}',
        "text_plus": '{"dtype": "int64", "data": ["+1"]}',
        "text_space": '{"dtype": "int64", "data": [" 1"]}',
        "text_digits": '{"dtype": "int64", "data": ["\\u0661"]}',
        "text_2_64": '{"dtype": "uint64", "data": ["18446744073709551616"]}',
        "text_float": '{"dtype": "float64", "data": ["1.5"]}',
        "text_nan_case": '{"dtype": "float64", "data": ["NAN"]}',
        "truth_float": '{"dtype": "float64", "data": [true]}',
        "number_truth": '{"dtype": "bool", "data": [1]}',
        "complex_triple": '{"dtype": "complex64", "data": [[1, 2, 3]]}',
        "complex_single": '{"dtype": "complex64", "data": [[1]]}',
        "complex_text": '{"dtype": "complex64", "data": [["a", 1]]}',
        "complex_object": '{"dtype": "complex64", "data": [{"re": 1}]}',
        "complex_over": '{"dtype": "complex64", "data": [[1e39, 0]]}',
        "output_missing": '{"schema": "gscli/1"}',
        "output_null": '{"schema": "gscli/1", "output": null}',
        "output_list": '{"schema": "gscli/1", "output": [1]}',
        "output_empty": '{"schema": "gscli/1", "output": {}}',
    }
    for name, text in documents.items():
        yield from _both(f"document_{name}", text, (ContentRefused, DtypeRefused))
    numbers = json.dumps({"data": [[1, 2], [3]]}, indent=1)
    yield from _both("document_ragged_lines", numbers, says="rectangular")


def _sizes() -> Iterator[Case]:
    wide = b'["' + b"a" * 100_000 + b'"' + b',"b"' * 20_000 + b"]"
    yield _file("amplify_text", wide, LimitRefused, "limit")
    large = {
        "lists": lambda: b"[" + b"[]," * 4_000_000 + b"[]]",
        "numbers": lambda: b"[" + b"1," * 9_000_000 + b"1]",
        "objects": lambda: b"[" + b"{}," * 2_000_000 + b"{}]",
        "strings": lambda: b'["' + b'","' * 5_000_000 + b'"]',
    }
    for name, content in large.items():
        yield _file(f"amplify_{name}", content, LimitRefused, "too many")
    yield _file("long", lambda: b" " * (64 << 20) + b"[1]", LimitRefused, "limit")
    yield _file("limit", b"[" + b"1," * 1_000 + b"1]", LimitRefused, "limit", max_bytes=1_000)


def _generators() -> Iterator[Case]:
    texts = {
        "arange:": "shape",
        "arange:x": "shape",
        "arange:3x": "shape",
        "arange:-3": "shape",
        "arange:3.5": "shape",
        "arange:3:int8:more": "understood",
        "zeros:3:float7": "element type",
        "zeros:3:object": "element type",
        "zeros:3:str": "no numbers",
        "zeros:3:S5": "no numbers",
        "full:3": "value",
        "full:3:": "value",
        "rand:3:int8": "fractions",
        "rand:3:seed=-1": "not understood",
        "rand:3:seed=x": "not understood",
        "rand:3:below=0": "no number",
        "full:3:[1]": "single",
        "zeros:" + "x".join(["1"] * 65): "shape",
    }
    for text, says in texts.items():
        yield Case(f"generator/{text[:30]}", of_text(text), UsageError, says)
    refused = {
        "full:3:1e999": "too large",
        "full:3:abc": "not JSON",
        "full:3:null": "null",
        "full:3:300:int8": "fit",
        "full:3:\x1b[31m": "",
        "arange:300:int8": "would change",
        "rand:9:below=300:int8": "would change",
        "arange:3:bool": "would change",
    }
    for text, says in refused.items():
        yield Case(f"generator/{text[:30]}", of_text(text), (ContentRefused, DtypeRefused), says)
    for text in ("zeros:99999999999", "arange:9999999999999999999", "ones:4294967296x4294967296"):
        yield Case(f"generator/{text}", of_text(text), LimitRefused, "limit")
