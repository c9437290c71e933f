from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from shell import call_gscli

import gscli
from gscli.base import CannotRead, ContentRefused, DtypeRefused, ShapeRefused
from gscli.files import load, members, save
from gscli.files.formats import delimited
from gscli.files.request import Member


def table(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("x.csv", "1,2\n3,4\n", np.array([[1, 2], [3, 4]])),
        ("x.csv", "1,2\r\n3,4", np.array([[1, 2], [3, 4]])),
        ("x.csv", "\ufeff1, 2\n\n3 ,+4\n", np.array([[1, 2], [3, 4]])),
        ("x.CSV", "1,.5\n-2.,1e3\n", np.array([[1, 0.5], [-2, 1000]])),
        ("x.csv", "nan,inf\n-inf,0\n", np.array([[np.nan, np.inf], [-np.inf, 0]])),
        ("x.csv", "true,False\n", np.array([[True, False]])),
        ("x.csv", 'a,"b,c"\n"d\ne",f\n', np.array([["a", "b,c"], ["d\ne", "f"]])),
        ("x.csv", "1\n2\n", np.array([[1], [2]])),
        ("x.tsv", "1\t2\n3\t4\n", np.array([[1, 2], [3, 4]])),
        ("x.txt", "1 2\n  3   4\n", np.array([[1, 2], [3, 4]])),
        ("x.txt", "1.000000000000000000e+00\t2\n", np.array([[1.0, 2.0]])),
        ("x.csv", "9223372036854775808\n", np.array([[9223372036854775808]], np.uint64)),
    ],
)
def test_cells_choose_the_type(file: str, text: str, expected: np.ndarray, tmp_path: Path) -> None:
    path = table(tmp_path / file, text)
    loaded = load(path)
    assert loaded.array.dtype == expected.dtype
    assert loaded.array.tobytes() == expected.tobytes()
    assert loaded.array.shape == expected.shape
    assert not loaded.is_typed
    assert members(path) == [Member.of(expected)]


def test_cells_take_the_type_that_is_asked_for(tmp_path: Path) -> None:
    path = table(tmp_path / "x.csv", "1,2.0\n")
    assert load(path, dtype="int8").array.tolist() == [[1, 2]]
    assert load(path, like=np.dtype("float16")).array.dtype == np.float16
    assert load(path, dtype="str").array.tolist() == [["1", "2.0"]]
    with pytest.raises(ContentRefused, match="not a whole number"):
        load(table(tmp_path / "y.csv", "1\n2.5\n"), dtype="int64")


def test_a_wrong_cell_is_named_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(ContentRefused) as caught:
        load(table(tmp_path / "x.csv", "1,2\n\n3,a\n"))
    assert caught.value.where.startswith(f"{tmp_path}/x.csv line 3, cell 2")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
def test_what_is_written_is_read(suffix: str, tmp_path: Path) -> None:
    path = f"{tmp_path}/x{suffix}"
    for array in (
        np.array([[1, -2], [3, 4]]),
        np.array([[0.1, -0.0, 5e-324], [np.nan, np.inf, -np.inf]]),
        np.array([[True], [False]]),
        np.array([[np.iinfo(np.int64).min, np.iinfo(np.int64).max]]),
        np.array([[np.iinfo(np.uint64).max]], np.uint64),
        np.array([["a", "b,\t'"], ['q"', "d\ne"]]),
    ):
        if array.dtype.kind == "U" and suffix == ".txt":
            continue
        save(path, array)
        loaded = load(path).array
        assert loaded.dtype == array.dtype
        assert loaded.tobytes() == array.tobytes()
    save(path, np.array([0.1, 0.2], np.float32))
    assert load(path, dtype="float32").array.tolist() == [[np.float32(0.1)], [np.float32(0.2)]]
    save(path, np.array([1.5], ml_dtypes.bfloat16))
    assert load(path).array.tolist() == [[1.5]]
    save(path, np.array(7))
    assert load(path).array.tolist() == [[7]]


@pytest.mark.parametrize(
    "text", ["5", "1e3", "nan", "true", "", " a", "a ", "\ud800", "-inf", "1" * 5000]
)
def test_text_that_would_not_come_back_is_not_written(text: str, tmp_path: Path) -> None:
    with pytest.raises((DtypeRefused, ContentRefused)):
        save(str(tmp_path / "x.csv"), np.array([[text, "b"]]))
    assert not list(tmp_path.iterdir())


def test_what_a_table_cannot_hold(tmp_path: Path) -> None:
    path = str(tmp_path / "x.csv")
    for shape in [(2, 2, 2), (0,), (0, 3), (3, 0)]:
        with pytest.raises(ShapeRefused, match="cannot hold shape") as caught:
            save(path, np.zeros(shape))
        assert caught.value.where == path
    for array, name in ((np.array([1j]), "complex128"), (np.array([b"a"]), "S1")):
        with pytest.raises(DtypeRefused, match=rf"hold {name}\b") as refused:
            save(path, array)
        assert refused.value.where == path
    for text in ("=1+1", " a", "1;2;3"):
        with pytest.raises(DtypeRefused) as refused:
            save(path, np.array([text]))
        assert refused.value.where == path
    with pytest.raises(DtypeRefused, match=r"hold str\b"):
        save(str(tmp_path / "x.txt"), np.array(["a"]))
    assert not list(tmp_path.iterdir())


def test_a_name_too_long_to_print_still_has_its_suffix(tmp_path: Path) -> None:
    path = table(tmp_path / ("a" * 240 + ".tsv"), "1\t2\n")
    assert load(path).array.tolist() == [[1, 2]]
    assert members(path) == [Member("", "int64", (1, 2), 16)]


def test_a_text_that_would_be_read_as_a_row_of_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DtypeRefused, match="read back as a row of numbers"):
        save(str(tmp_path / "t.csv"), np.array(["1;2;3"]))
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.parametrize(
    ("file", "text", "marks", "command"),
    [
        ("x.csv", "1;2;3\n4;5;6\n", "';', not by ','", "tr ',;' '.,'"),
        ("x.csv", "1,5;2\n3;4\n", "';', not by ','", "tr ',;' '.,'"),
        ("x.csv", "a;b\n1;2\n", "';', not by ','", "tr ',;' '.,'"),
        ("x.csv", "sep=;\n1; -2\n", "';', not by ','", "tr ',;' '.,'"),
        ("x.csv", "a\tb\n1\t2\n", r"'\\t', not by ','", r"tr '\t' ','"),
        ("x.csv", "1.0e+00 2\n3 4\n", "' ', not by ','", "tr ' ' ','"),
        ("x.tsv", "1,2\n3,4\n", r"',', not by '\\t'", r"tr ',' '\t'"),
        ("x.txt", "1, 2, 3\n", "',', not by ' '", "tr ',' ' '"),
    ],
)
def test_what_stands_between_numbers_in_place_of_the_suffix_own_is_named(
    file: str, text: str, marks: str, command: str, tmp_path: Path
) -> None:
    path = table(tmp_path / file, text)
    for read in (load, members, lambda path: load(f"{path}::a")):
        with pytest.raises(ContentRefused, match=f"cells are separated by {marks}") as caught:
            read(path)
        assert caught.value.where == f"{path} line 1"
        assert caught.value.hint == f"{command} < {path} rewrites it"
    old, new = (word.replace(r"\t", "\t") for word in command[4:-1].split("' '"))
    shell = caught.value.hint.removesuffix(" rewrites it")
    rewritten = subprocess.run(shell, shell=True, capture_output=True, check=True).stdout.decode()
    assert rewritten == text.translate(str.maketrans(old, new))
    (tmp_path / file).write_text(rewritten.replace("sep=,\n", ""))
    assert members(path)
    assert load(path, dtype="str").array.size


def test_a_long_cell_is_looked_at_once() -> None:
    """Digits that end in a letter: a pattern that can part them in many ways tries them all."""
    for cell in ("1", "1.", "1.5", ".5", "+1e5", "-1.E-3"):
        assert delimited._FRACTION.fullmatch(cell)
    for cell in (".", "e5", "1e", "1..2", "1" * 100_000 + "x"):
        assert not delimited._FRACTION.fullmatch(cell)


@pytest.mark.parametrize("member", ["", "::c", "::b,c", "::c,b"])
def test_a_cell_that_is_empty_is_named_by_its_place_in_the_line(
    member: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b,c\n" * bool(member) + b"1,2.5,3\n4,5.5,\n")
    with pytest.raises(ContentRefused, match="a cell is empty") as caught:
        load(f"{path}{member}")
    assert caught.value.where == f"{path} line {2 + bool(member)}, cell 3"


def test_a_table_that_is_not_utf_8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"1,2\n\xff,3\n")
    with pytest.raises(ContentRefused, match="is not UTF-8 text") as caught:
        load(str(path))
    assert caught.value.where == f"{path} line 2"


HEADED = "name,a,b\nx,1,2.5\ny,3,4\n"


@pytest.mark.parametrize(
    ("member", "expected"),
    [("a", [1, 3]), ("b", [2.5, 4.0]), ("a,b", [[1, 2.5], [3, 4]]), ("b,a", [[2.5, 1], [4, 3]]),
     ("name", ["x", "y"])],
)  # fmt: skip
def test_columns_below_a_header_go_by_their_names(
    tmp_path: Path, member: str, expected: list[object]
) -> None:
    path = table(tmp_path / "x.csv", HEADED)
    assert load(f"{path}::{member}").array.tolist() == expected


def test_columns_have_no_rows_below_a_header_alone(tmp_path: Path) -> None:
    path = table(tmp_path / "x.csv", "a,b\n")
    for member, shape in (("a", (0,)), ("a,b", (0, 2))):
        loaded = load(f"{path}::{member}")
        assert (loaded.array.shape, loaded.is_typed) == (shape, False)
    assert load(f"{path}::b", dtype="float32").array.dtype == np.float32
    assert load(f"{path}::b", dtype="str").array.shape == (0,)
    assert call_gscli("check", "gather", "arange:3", f"{path}::a").stdout == b"0 findings\n"
    shown = call_gscli("torch", "index-add", "[1]", f"{path}::a", f"{path}::b", "--dim=0", "--json")
    assert json.loads(shown.stdout)["inputs"]["index"]["dtype"] == "int64"
    with pytest.raises(ContentRefused, match="is empty"):
        load(f"{table(tmp_path / 'y.csv', '')}::a")


def test_columns_below_a_header_are_what_a_table_holds(tmp_path: Path) -> None:
    columns = [Member("name", "str", (2,), 8), Member("a", "int64", (2,), 16),
               Member("b", "float64", (2,), 16)]  # fmt: skip
    assert members(table(tmp_path / "x.csv", HEADED)) == columns
    assert members(table(tmp_path / "y.csv", "a\n1\n")) == [Member("a", "int64", (1,), 8)]
    with pytest.raises(ContentRefused, match="text cannot stand here") as caught:
        members(table(tmp_path / "z.csv", "a,b\n1,2\n3,x\n"))
    assert caught.value.where.startswith(f"{tmp_path / 'z.csv'} line 3, cell 2,")


def test_a_header_is_refused_with_the_words_for_its_numbers(tmp_path: Path) -> None:
    path = table(tmp_path / "x.csv", HEADED)
    with pytest.raises(ContentRefused, match="is a header") as caught:
        load(path)
    words = caught.value.hint.rpartition(": ")[2]
    assert load(words).array.tolist() == [[1, 2.5], [3, 4]]
    for text, column in (
        ("a,b,c\ntrue,2,3\n", "b,c"), (",b\n0,2\n", ",b"), ('a,"b,c"\n1,2\n', "a,\"b,c\"'"),
        ("a,b\ntrue,x\n", "a"),
    ):  # fmt: skip
        with pytest.raises(ContentRefused, match="is a header") as caught:
            load(table(tmp_path / "v.csv", text))
        assert caught.value.hint.endswith(f"v.csv::{column}")
    with pytest.raises(CannotRead, match="has no column c") as missing:
        load(f"{path}::c")
    assert missing.value.valid == "name, a, b"
    with pytest.raises(CannotRead, match="has no column 0") as missing:
        load(f"{table(tmp_path / 'numbers.csv', '0.5,2' + chr(10) + '3,4')}::0")
    assert missing.value.hint.endswith("without one: gscli gather FILE 0 --axis 1")
    assert gscli.gather(load(str(tmp_path / "numbers.csv")).array, 0, axis=1).tolist() == [0.5, 3]
    path = table(tmp_path / "u.csv", 'id,"qty, n",,"a ""b""",c\n1,2,3,4,5\n')
    for words, values in (('id,"qty, n"', [1, 2]), ('"qty, n" , c', [2, 5]), ('"",c', [3, 5])):
        assert load(f"{path}::{words}").array.tolist() == [values]
    for words, column in (("id,qty, n", "qty"), ("id,qty\nn", '"qty'), ('id,"a, b"', '"a, b"')):
        with pytest.raises(CannotRead, match=f"has no column {column}") as missing:
            load(f"{path}::{words}")
        assert missing.value.valid == 'id, "qty, n", "", "a ""b""", c'
    with pytest.raises(ContentRefused, match="two columns are called a"):
        load(f"{table(tmp_path / 'y.csv', 'a,a')}::a")
    with pytest.raises(ContentRefused, match=r"line 3: 1 cell, the first row has 2"):
        load(f"{table(tmp_path / 'z.csv', 'a,b' + chr(10) + '1,2' + chr(10) + '3')}::a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [('"a,1"', "a,1"), ('"\\" ,1"\n', '" ,1'), ("1,2\n3,4\n", [[1, 2], [3, 4]]),
     ("1\t2\n", [[1, 2]]), ("1\n2\n", [[1], [2]]),
     ("\ufeff-1, .5\n", [[-1, 0.5]]), ("5", 5), (" [1,\n2]", [1, 2]), ("true", True),
     ("true\nFalse\n", [[True], [False]]), ("true,false", [[True, False]])],
)  # fmt: skip
def test_a_table_on_a_stream_is_told_by_its_lines(text: str, expected: object) -> None:
    assert load("-", stdin=io.BytesIO(text.encode())).array.tolist() == expected


@pytest.mark.parametrize("text", ["user,count\n", "user\n", "user\tcount\r\n", '"user","count"\n'])
def test_a_column_that_is_named_is_one_of_a_stream_without_numbers_too(text: str) -> None:
    assert load("-::user", stdin=io.BytesIO(text.encode())).array.shape == (0,)
    below = text.replace("user", "ana").replace("count", "new")
    texts = load("-::user", stdin=io.BytesIO(f"{text}{below}".encode()))
    assert texts.array.tolist() == ["ana"]
    with pytest.raises(CannotRead, match="has no column users"):
        load("-::users", stdin=io.BytesIO(text.encode()))
    with pytest.raises(ContentRefused, match="standard input is empty"):
        load("-::user", stdin=io.BytesIO(b""))


def test_columns_of_a_table_on_a_stream_go_by_their_names() -> None:
    text = b"name,x,y\nana,1,2\nbob,3,4\n"
    assert load("-::y,x", stdin=io.BytesIO(text)).array.tolist() == [[2, 1], [4, 3]]
    with pytest.raises(ContentRefused) as refused:
        load("-", stdin=io.BytesIO(text))
    assert refused.value.hint == "columns go by their names: -- -::x,y"
    with pytest.raises(ContentRefused) as refused:
        load("-", stdin=io.BytesIO(b"price\n1\n2\n"))
    assert refused.value.hint == "columns go by their names: -- -::price"
    assert load("-::ok", stdin=io.BytesIO(b"ok,x\ntrue,1\n")).array.tolist() == [True]
    assert load("-::price", stdin=io.BytesIO(b"price\r\n1.5\r\n")).array.tolist() == [1.5]
    with pytest.raises(ContentRefused) as refused:
        load("-", stdin=io.BytesIO(b'"id","n"\n1,2\n'))
    assert refused.value.hint == "columns go by their names: -- -::id,n"
    text = b'id,"qty, n",name\n1,2,ana\n'
    assert load('-::"qty, n",id', stdin=io.BytesIO(text)).array.tolist() == [[2, 1]]
    stored = io.BytesIO()
    np.savez(stored, a=[1], b=[2])
    stored.seek(0)
    assert load("-::b", stdin=stored).array.tolist() == [2]


@pytest.mark.parametrize(
    "text",
    ["hello, world", "{1,2", "nan", "1 2", "b []\n5", "b\n1 finding", "a,b\nc,d", "so\ntrue: yes"],
)
def test_other_texts_on_a_stream_are_no_tables(text: str) -> None:
    with pytest.raises(ContentRefused, match="is not JSON") as refused:
        load("-", stdin=io.BytesIO(text.encode()))
    assert ("table of text" in refused.value.hint) == (text[0].isalpha() and "\n" in text)
