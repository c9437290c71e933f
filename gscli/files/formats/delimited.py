"""Tables of numbers: .csv with commas, .tsv with tabs, .txt with white space; always two axes.

The type follows the cells as in JSON: whole numbers, numbers, true/false or text, no mixture.
FILE::NAME or FILE::NAME,NAME are columns below a header; a single one has one axis.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from gscli.base import CannotRead, ContentRefused, DtypeRefused, check_rule
from gscli.base.arrays import EXACT_IN_FLOAT64, Arrays, dtype_name
from gscli.base.records import Record
from gscli.base.words import format_count, format_shape, quote_word, sanitize
from gscli.files.content import STANDARD_INPUT, TEXT_LIMIT, Content, check_content, check_limit
from gscli.files.formats.jsonarray import json_values
from gscli.files.formats.jsontext import MEMORY_LIMIT, decode_text, finite_float
from gscli.files.formats.values import SPECIAL_FLOATS, array_of_dtype
from gscli.files.request import (
    LoadedInput,
    Member,
    Output,
    ReadRequest,
    check_single_name,
    list_keys,
    member_word,
)

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": " "}

# Cells of a table that is read, each of which takes about so many bytes meanwhile.
MOST_VALUES = MEMORY_LIMIT // 64

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_FRACTION = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)

_TRUTH = {"true": True, "false": False, "True": True, "False": False}

# A cell that begins as a number does, or says true or false.
_NUMBER_CELL = re.compile(r"(?a)(^|(?<=[,\t]))\s*([-+.]?(\d[^,\t]*|inf|nan)|[tT]rue|[fF]alse)\s*")


class _Row(Record):
    """A row of cells, and the number of its last line."""

    line: int
    cells: list[str]


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """The table of a file, or the columns that are named; each row needs as many cells."""
    rows, name = _read_rows(content, request), content.name
    if request.member is not None:
        columns = _find_columns(rows[0].cells, request.member, name)
        return _make_input(rows[1:], columns, request, name)
    if not _is_text(request) and (headed := _find_headed_columns(rows, name)):
        problem = "the first line is a header, not numbers"
        hint = f"columns go by their names: {member_word(name, _join_names(headed))}"
        raise ContentRefused(problem, where=f"{name} line 1", hint=hint)
    return _make_input(rows, [], request, name)


def listing(content: Content, request: ReadRequest) -> list[Member]:
    """The columns below a header by their names; without one the table itself."""
    rows, name = _read_rows(content, request), content.name
    if not _find_headed_columns(rows, name):
        return [Member.of(_make_input(rows, [], request, name).array)]
    return [
        Member.of(_make_input(rows[1:], [column], request, name).array, title)
        for column, title in enumerate(rows[0].cells)
    ]


def _is_text(request: ReadRequest) -> bool:
    dtype = request.untyped_dtype
    return dtype is not None and dtype.kind in "US"


def _read_rows(content: Content, request: ReadRequest) -> list[_Row]:
    """The cells of a file, as many in each row."""
    name, suffix = content.name, request.suffix
    rows = list(_iter_rows(_decode(content, suffix), suffix, name))
    if not _is_text(request):
        _check_delimiter([row.cells for row in rows], DELIMITERS[suffix], name)
    for line, cells in rows:
        if len(cells) != len(rows[0].cells):
            count = format_count(len(cells), "cell")
            where = f"{name} line {line}: {count}, the first row has {len(rows[0].cells)}"
            raise ContentRefused(f"{name} is not a rectangular table", where=where)
    check_content(bool(rows), f"{name} is empty", name)
    return rows


def _find_headed_columns(rows: list[_Row], name: str) -> list[str]:
    """What the first line calls the columns of numbers; nothing where it is no header.

    Where no column has numbers, those of true and false. A title may be empty, as pandas leaves it
    above its index.
    """
    titles = rows[0].cells
    header = rows[0]._replace(cells=[title or "-" for title in titles])
    first, *below = (
        _parse_row(row.cells, f"{name} line {row.line}") for row in (header, *rows[1:2])
    )
    if not below or not all(isinstance(value, str) for value in first):
        return []
    values = list(zip(titles, *below, strict=True))
    numbers = [title for title, value in values if not isinstance(value, (str, bool))]
    return numbers or [title for title, value in values if not isinstance(value, str)]


def _make_input(
    rows: list[_Row], columns: list[int], request: ReadRequest, name: str
) -> LoadedInput:
    """The values of some columns, which may have no rows, or of all."""
    chosen, as_text = columns or range(len(rows[0].cells)), _is_text(request)
    values: list[Any] = []
    for line, cells in rows:
        some = [cells[column] for column in columns] or cells
        values += some if as_text else _parse_row(some, f"{name} line {line}", columns)

    def place(number: int) -> str:
        row, column = divmod(number, len(chosen))
        return f"{name} line {rows[row].line}, cell {chosen[column] + 1}"

    dtype = request.untyped_dtype or (None if rows else request.dtype_if_empty)
    flat = array_of_dtype(values, dtype, place, request.limit)
    shape = (len(rows),) if len(columns) == 1 else (len(rows), len(chosen))
    return LoadedInput(flat.reshape(shape), is_typed=False)


def sniff_table(first: bytes, member: str | None = None) -> str:
    r"""The suffix that a text would have which is no JSON array: rows of numbers are a table,
    and those of true and false, and any of which a column is named.

    >>> [sniff_table(text) for text in (b"a,b\n1,2\n", b"1\ttrue\n", b"a\n2\n", b"5", b"true")]
    ['.csv', '.tsv', '.csv', '.json', '.json']
    """
    text = re.sub('"[^"]*"', '""', first.decode("utf-8", "replace"))  # what is quoted may hold any
    lines = text.strip("\ufeff\n ").splitlines()[:2] or [""]
    if member is None and not _NUMBER_CELL.search(lines[-1]):
        return ".json"
    for suffix in (".tsv", ".csv"):
        counts = {line.count(DELIMITERS[suffix]) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return suffix
    is_single = len(lines) > 1 and _NUMBER_CELL.fullmatch(lines[1])
    is_header = "[" not in lines[0] and " " not in lines[-1].strip()  # as it is in a picture
    is_column = is_single and (is_header or _NUMBER_CELL.fullmatch(lines[0]))
    return ".csv" if is_column or member is not None else ".json"


def _find_columns(header: list[str], member: str, name: str) -> list[int]:
    """Where the columns stand that are named, with commas between them."""
    names = [member] if member in header else _split_names(member)
    for column in names:
        check_single_name(header.count(column) <= 1, "columns", column, name)
        if column not in header:
            problem = f"{name} has no column {sanitize(_join_names([column]), 60)}"
            hint = f"each goes by its name: {member_word(name, header[-1])}"
            if all(map(_NUMBER_CELL.fullmatch, header)):
                hint = "the first line counts as names; without one: gscli gather FILE 0 --axis 1"
            titles = (_join_names([title]) for title in header)
            raise CannotRead(problem, valid=list_keys(titles), hint=hint)
    return [header.index(column) for column in names]


def _join_names(names: list[str]) -> str:
    """The same names as `_split_names` takes apart.

    >>> _join_names(["id", "qty, n"])
    'id,"qty, n"'
    """
    return _format_line(names, ".csv").decode().removesuffix("\n")


def _split_names(text: str) -> list[str]:
    """Names with commas between them, quoted as a table has them where they hold some.

    >>> _split_names('id,"qty, n"')
    ['id', 'qty, n']
    """
    with suppress(csv.Error):
        return [*map(str.strip, next(csv.reader([text], skipinitialspace=True)))] or [text]
    return text.split(",")


def write(out: Output, arrays: Arrays, suffix: str) -> None:
    """Write rows of cells; one axis becomes one column.

    What would not be read as it was written is refused: complex numbers, more than two axes, no
    elements, text that looks like a number.
    """
    (array,) = arrays.values()
    problem = f"a table cannot hold shape {format_shape(array.shape)}"
    check_rule(array.ndim < 3 and array.size > 0, problem, hint="use .npy or .json")  # noqa: PLR2004
    if array.dtype.kind in "cS" or (array.dtype.kind == "U" and suffix == ".txt"):
        problem = f"a {suffix} table cannot hold {dtype_name(array.dtype)}"
        raise DtypeRefused(problem, hint="use .npy or .json")
    for row in array.reshape(array.shape[0] if array.ndim else 1, -1):
        cells = [str(v).lower() if isinstance(v, bool) else str(v) for v in json_values(row)]
        if array.dtype.kind == "U":
            _check_text_cells(cells)
            if _find_delimiter([cells], DELIMITERS[suffix]):
                raise _text_error("a text would be read back as a row of numbers")
        out(_format_line(cells, suffix))


def _decode(content: Content, suffix: str) -> str:
    raw = bytes(content.read_all(TEXT_LIMIT, "the text"))
    cells = raw.count(DELIMITERS[suffix].encode()) + raw.count(b"\n")
    hint = "in Python, numpy.loadtxt and numpy.save make a .npy file of it"
    check_limit(cells, MOST_VALUES, content.name, "the table", unit="cells", hint=hint)
    return decode_text(raw, content.name)


def _iter_rows(text: str, suffix: str, name: str) -> Iterator[_Row]:
    """The rows of a text; empty lines are none."""
    stream = io.StringIO(text, newline="")
    if suffix == ".txt":
        for number, line in enumerate(stream, start=1):
            if cells := line.split():
                yield _Row(number, cells)
        return
    reader = csv.reader(stream, delimiter=DELIMITERS[suffix], strict=True)
    try:
        for row in reader:
            if row:
                yield _Row(reader.line_num, [cell.strip() for cell in row])
    except csv.Error as error:
        where = f"{name} line {reader.line_num}: {error}"
        raise ContentRefused(f"{name} is not a table", where=where) from error


def _parse_row(cells: Sequence[str], where: str, columns: Sequence[int] = ()) -> list[Any]:
    """The values of a row, or of some columns; at once where Python reads numbers as a table does.

    Where there is nothing that only Python takes for a digit. A float from 2^53 on may have been
    an integer that is not exact, or too large.
    """
    text = "".join(cells)
    if text.isascii() and "_" not in text:
        with suppress(ValueError):
            return list(map(int, cells))
        with suppress(ValueError):
            numbers = list(map(float, cells))
            if all(abs(number) < EXACT_IN_FLOAT64 for number in numbers):
                return numbers
    places = zip(columns or range(len(cells)), cells, strict=True)
    return [_parse_cell(cell, f"{where}, cell {column + 1}") for column, cell in places]


def _parse_cell(cell: str, where: str) -> int | float | bool | str:
    """The value a cell stands for: a number, true or false, or text."""
    try:
        if _WHOLE.fullmatch(cell):
            return int(cell)
        if _FRACTION.fullmatch(cell):
            return finite_float(cell)
    except ValueError as error:  # more digits than Python converts, or beyond all floats
        raise ContentRefused("a number is too large", where=where) from error
    hint = "a missing number is written nan; a table has no empty text, .json has"
    check_content(bool(cell), "a cell is empty", where, hint=hint)
    return _TRUTH.get(cell, SPECIAL_FLOATS.get(cell, cell))


# Numbers with one character between them, which is none of theirs: a comma is, beside semicolons.
_NUMBERS = {
    mark: re.compile(rf"[-+.\deE{others}]+(?:{re.escape(mark)}[-+.\deE{others}]+)+")
    for mark, others in {";": r",\s", "|": " ", "\t": " ", ",": " ", " ": ""}.items()
}


def _find_delimiter(rows: Sequence[Sequence[str]], own: str) -> str:
    """What stands between the numbers of all rows but a header, in place of the format's own.

    >>> _find_delimiter([["a;b"], ["1", "5;2"]], ","), _find_delimiter([["1", "2"]], ",")
    (';', '')
    """
    for mark, numbers in _NUMBERS.items():
        is_there = mark != own and bool(rows) and mark in own.join(rows[0])
        if is_there and all(numbers.fullmatch(own.join(cells)) for cells in rows[1:] or rows):
            return mark
    return ""


def _check_delimiter(rows: Sequence[Sequence[str]], own: str, name: str) -> None:
    """ContentRefused for another delimiter, with the command that changes it."""
    mark = _find_delimiter(rows, own)
    old, new = (",;", f".{own}") if mark == ";" else (mark, own)
    problem = f"cells are separated by {mark!r}, not by {own!r}"
    stream = "" if name == STANDARD_INPUT else f" < {quote_word(name)}"
    hint = f"tr {old!r} {new!r}{stream} rewrites it"
    check_content(not mark, problem, f"{name} line 1", hint=hint)


def _check_text_cells(cells: list[str]) -> None:
    for cell in cells:
        if cell.startswith(("=", "+", "-", "@")):  # it would run it (OWASP, CSV injection)
            problem = "a spreadsheet would take a text for a formula"
            raise _text_error(problem, details=(sanitize(cell, 60),))
        # A table gives it back: no blanks around it, no number, no half character.
        whole = cell.encode("utf-8", "ignore").decode("utf-8")
        if not cell or not cell.strip() == cell == whole or _parse_cell(cell, "") != cell:
            raise _text_error("a text would be read back as something else")


_text_error = partial(DtypeRefused, hint="use .json")


def _format_line(cells: list[str], suffix: str) -> bytes:
    if suffix == ".txt":
        return (" ".join(cells) + "\n").encode()
    line = io.StringIO()
    csv.writer(line, delimiter=DELIMITERS[suffix], lineterminator="\n").writerow(cells)
    return line.getvalue().encode()
