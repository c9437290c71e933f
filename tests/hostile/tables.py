"""Hostile tables: rows of unequal length, cells that are no numbers, quotes that never close."""

from __future__ import annotations

from collections.abc import Iterator

from hostile.corpus import Case, Content, Refusal, of_bytes

from gscli.base import CannotRead, ContentRefused, LimitRefused


def _case(
    name: str, content: Content, error: Refusal = ContentRefused, says: str = "", **o: object
) -> Case:
    file = name if name.endswith((".csv", ".tsv", ".txt")) else f"{name}.csv"
    return Case(f"table/{name}", of_bytes(f"case_{file}", content), error, says, dict(o))


def cases() -> Iterator[Case]:
    yield _case("empty", b"", says="empty")
    yield _case("blank_lines", b"\n\n\r\n", says="empty")
    yield _case("bom_only", b"\xef\xbb\xbf", says="empty")
    yield _case("ragged", b"1,2\n3\n", says="line 2")
    yield _case("ragged_more", b"1\n2,3\n", says="line 2")
    yield _case("ragged.tsv", b"1\t2\n3\n", says="line 2")
    yield _case("ragged.txt", b"1 2\n3\n", says="line 2")
    yield _case("header", b"a,b\n1,2\n", says="header")
    yield _case("header_savetxt.txt", b"# a b\n1 2\n", says="rectangular")
    yield _case("mixed", b"1,a\n", says="cannot stand")
    yield _case("mixed_rows", b"1,2\na,3\n", says="cannot stand")
    yield _case("mixed_truth", b"true,1\n", says="cannot stand")
    yield _case("cell_empty", b"1,,2\n", says="empty")
    yield _case("cell_blank", b"1, ,2\n", says="empty")
    yield _case("comma_last", b"1,2,\n", says="empty")
    yield _case("semicolons", b"1;2\n3;4.5,6\n")
    yield _case("quote_unclosed", b'"1,2\n3,4\n', says="not a table")
    yield _case("quote_inside", b'"1"2,3\n', says="not a table")
    yield _case("cell_huge", b"1," + b"x" * 200_000 + b"\n", says="not a table")
    yield _case("number_over", b"1e999\n", says="too large")
    yield _case("number_long", b"9" * 5_000 + b"\n", says="too large")
    yield _case("number_2_64", b"18446744073709551616\n", says="fit")
    yield _case("number_inexact", b"9007199254740993,0.5\n", says="exact")
    yield _case("underscore", b"1_000,2\n", says="cannot stand")
    yield _case("hex", b"0x10,2\n", says="cannot stand")
    yield _case("other_digits", "٣,1\n".encode(), says="cannot stand")
    yield _case("full_width", "１,1\n".encode(), says="cannot stand")
    yield _case("minus_sign", "−1,1\n".encode(), says="cannot stand")
    yield _case("formula", b"=1+1,2\n", says="cannot stand")
    yield _case("latin1", b"\xe9,1\n", says="UTF-8")
    yield _case("utf16", "1,2\n".encode("utf-16"), says="UTF-8")
    yield _case("nul", b"1,\0\n")
    yield _case("escape", b"1,\x1b[31m\n", says="cannot stand")
    yield _case("half_as_int", b"2.5\n", says="whole", dtype="int64")
    yield _case("text_as_float", b"abc\n", says="not a number", dtype="float32")
    yield _case(
        "many_cells", lambda: b"1," * 6_000_000 + b"1\n", LimitRefused, "the table is larger"
    )
    yield _case("many_lines.txt", lambda: b"1\n" * 6_000_000, LimitRefused, "the table is larger")
    yield _case("long", lambda: b"1\n".rjust((64 << 20) + 1), LimitRefused, "limit")
    text = b"a" * 100_000 + b"\n" + b"b\n" * 20_000
    yield _case("amplify_text", text, LimitRefused, "limit")
    yield Case("table/member", of_bytes("case.csv", b"1\n", member="a"), CannotRead, "no column")
