"""Inline JSON and generators through `load`: the types that values choose, and messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gscli.base import ContentRefused, GscliError, UsageError
from gscli.files import load
from gscli.files.formats import jsontext


@pytest.mark.parametrize(
    ("text", "dtype", "shape"),
    [
        ("5", "int64", ()),
        ("2.5", "float64", ()),
        ("true", "bool", ()),
        ('"abc"', "<U3", ()),
        ("[]", "float64", (0,)),
        ("[[],[]]", "float64", (2, 0)),
        ("[[[]]]", "float64", (1, 1, 0)),
        ("[1, 2.5]", "float64", (2,)),
        ("[1, NaN]", "float64", (2,)),
        ("[[1], [2]]", "int64", (2, 1)),
        ("[-9223372036854775808]", "int64", (1,)),
        ("[9223372036854775807]", "int64", (1,)),
        ("[9223372036854775808]", "uint64", (1,)),
        ("[18446744073709551615, 0]", "uint64", (2,)),
        ('["", "ab"]', "<U2", (2,)),
        ('[""]', "<U1", (1,)),
        ("nan", "float64", ()),
        ("-inf", "float64", ()),
        ("[1.7976931348623157e308]", "float64", (1,)),
        ("[1e-999]", "float64", (1,)),
        ("[" * 64 + "1" + "]" * 64, "int64", (1,) * 64),
    ],
)
def test_values_choose_the_type(text: str, dtype: str, shape: tuple[int, ...]) -> None:
    loaded = load(text)
    assert (loaded.array.dtype, loaded.array.shape) == (np.dtype(dtype), shape)
    assert not loaded.is_typed
    assert loaded.origin == "inline"
    assert not loaded.array.flags.writeable


def test_values_are_exact() -> None:
    text = "[0.1, -0.0, 5e-324, 9007199254740992]"
    assert load(text).array.tobytes() == np.array([0.1, -0.0, 5e-324, 2.0**53]).tobytes()
    assert load("[9007199254740993]").array[0] == 9007199254740993
    assert np.array_equal(load("[NaN, Infinity, -Infinity]").array, [np.nan, np.inf, -np.inf], True)


@pytest.mark.parametrize(
    ("text", "like", "expected"),
    [
        ("[1, 2]", "float32", np.array([1, 2], np.float32)),
        ("[0.1]", "float32", np.array([0.1], np.float32)),
        ("[1.0]", "int8", np.array([1], np.int8)),
        ("[255]", "uint8", np.array([255], np.uint8)),
        ("[true]", "bool", np.array([True])),
        ('["nan", 1]', "float16", np.array([np.nan, 1], np.float16)),
        ("[1, 2]", "complex64", np.array([1, 2], np.complex64)),
        ("[[1, 2]]", "complex128", np.array([[1, 2]], np.complex128)),
        ("[]", "int16", np.array([], np.int16)),
        ('["ab"]', "S4", np.array([b"ab"], "S4")),
        ("[]", "str", np.array([], "U1")),
        ("[2049.0]", "float16", np.array([2048], np.float16)),
    ],
)
def test_untyped_values_take_the_type_of_another_input(
    text: str, like: str, expected: np.ndarray
) -> None:
    array = load(text, like=np.dtype(like)).array
    assert array.dtype == expected.dtype
    assert array.tobytes() == expected.tobytes()
    asked = load(text, dtype=like, like=np.dtype("int32")).array
    assert asked.dtype == expected.dtype
    assert asked.tobytes() == expected.tobytes()


def test_an_empty_list_takes_the_type_of_its_argument() -> None:
    assert load("[]", empty_dtype="int64").array.dtype == np.int64
    assert load("[1.5]", empty_dtype="int64").array.dtype == np.float64


def test_a_typed_document_is_converted_only_without_loss() -> None:
    text = '{"dtype": "float64", "data": [1, 2]}'
    assert load(text, dtype="int8").array.dtype == np.int8
    assert load(text, like=np.dtype("int8")).array.dtype == np.float64
    with pytest.raises(GscliError, match="without changing values"):
        load('{"dtype": "float64", "data": [0.1]}', dtype="float32")


def test_a_document_without_a_type_is_untyped() -> None:
    loaded = load('{"shape": [2, 2], "data": [1, 2, 3, 4]}', like=np.dtype("float32"))
    assert loaded.array.tolist() == [[1, 2], [3, 4]]
    assert (loaded.array.dtype, loaded.is_typed) == (np.dtype("float32"), False)


def test_complex_documents_take_pairs_nested_or_flat() -> None:
    flat = '{"dtype": "complex64", "shape": [2, 1], "data": [[1, 2], ["nan", "-inf"]]}'
    nested = '{"dtype": "complex64", "data": [[[1, 2]], [["nan", "-inf"]]]}'
    scalar = '{"dtype": "complex64", "shape": [], "data": [[1, 2]]}'
    single = '{"dtype": "complex64", "shape": [2], "data": [1, 2.5]}'
    mixed = '{"dtype": "complex64", "data": [[1, 2], 3]}'
    none = '{"dtype": "complex64", "data": [[], []]}'
    assert load(flat).array.tobytes() == load(nested).array.tobytes()
    assert load(nested).array.shape == (2, 1)
    assert load(scalar).array.shape == ()
    assert load(scalar).array == 1 + 2j
    assert load(single).array.tolist() == [1, 2.5]
    assert load(mixed).array.tolist() == [1 + 2j, 3]
    assert load(none).array.shape == (2, 0)


def test_gscli_reads_its_own_output() -> None:
    output = '{"dtype": "int8", "shape": [], "data": [7]}'
    loaded = load(f'{{"schema": "gscli/1", "op": "gather", "output": {output}}}')
    assert (loaded.array.dtype, loaded.array.shape, int(loaded.array)) == (np.int8, (), 7)
    assert loaded.is_typed


def test_a_ragged_list_is_shown_with_its_line() -> None:
    with pytest.raises(ContentRefused) as caught:
        load("[[0, 1],\n [2, 3, 4]]", name="indices")
    error = caught.value
    assert error.problem == "indices is not a rectangular array"
    assert error.where == "indices line 2: indices[1]"
    assert error.details == (" [2, 3, 4]]", " ^^^^^^^^^ 3 values, the row before has 2")
    assert error.hint == "all lists of one level need the same length"


def test_a_ragged_list_in_a_document_is_found_behind_other_keys() -> None:
    text = '{"dtype": "int8",\n "shape": [3], "data":\n [[1], [2], [3, 4]]}'
    with pytest.raises(ContentRefused) as caught:
        load(text)
    assert caught.value.where == "input line 3: input[2]"
    assert caught.value.details[1] == " " * 12 + "^^^^^^ 2 values, the row before has 1"


def test_a_list_among_values_names_both() -> None:
    with pytest.raises(ContentRefused) as caught:
        load("[[0, 1], [2, [3]]]")
    assert caught.value.details[1].endswith("^^^ a list, the one before is a whole number")


def test_a_long_line_is_shown_around_the_place() -> None:
    text = "[" + "[1]," * 200 + "[1, 2]," + "[1]," * 200 + "[1]]"
    with pytest.raises(ContentRefused) as caught:
        load(text)
    line, caret = caught.value.details
    assert len(line) < 130
    start = caret.index("^")
    assert line[start : start + 6] == "[1, 2]"


def test_text_that_is_no_json_is_pointed_at() -> None:
    with pytest.raises(ContentRefused) as caught:
        load("[1,\n 2 3]")
    assert caught.value.where == "input line 2: expecting ',' delimiter"
    assert caught.value.details == (" 2 3]", "   ^ here")


@pytest.mark.parametrize("ending", ["", "\n", " \r\n\n"])
def test_a_text_that_is_cut_off_is_pointed_at_where_it_ends(ending: str) -> None:
    with pytest.raises(ContentRefused) as caught:
        load(f"[[1,\n 2]{ending}")
    assert caught.value.where == "input line 2: expecting ',' delimiter"
    assert caught.value.details == (" 2]", "   ^ here")


def test_a_value_is_named_by_its_position() -> None:
    with pytest.raises(ContentRefused) as caught:
        load("[[1, 2], [3, 2.5]]", name="indices", dtype="int64")
    assert caught.value.where == "indices[1,1]"
    assert caught.value.problem == "2.5 is not a whole number"


def test_the_limit_of_the_text_is_counted_in_text() -> None:
    with pytest.raises(GscliError, match="limit"):
        load('["' + "a" * 1000 + '"]', max_bytes=3_999)
    assert load('["' + "a" * 1000 + '"]', max_bytes=4_000).array.nbytes == 4_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arange:2x3", np.arange(6).reshape(2, 3)),
        ("arange:0x3", np.zeros((0, 3), np.int64)),
        ("arange:3:float32", np.arange(3, dtype=np.float32)),
        ("zeros:2", np.zeros(2)),
        ("zeros:2:bool", np.zeros(2, bool)),
        ("ones:2:int8", np.ones(2, np.int8)),
        ("full:2:7", np.array([7, 7])),
        ("full:2:0.5", np.array([0.5, 0.5])),
        ("full:2:true", np.array([True, True])),
        ("full:1:-inf:float16", np.array([-np.inf], np.float16)),
        ("full:2:7:float32", np.array([7, 7], np.float32)),
        ("rand:3:seed=1", np.random.default_rng(1).random(3)),
        ("rand:3", np.random.default_rng(0).random(3)),
        ("rand:3:float32", np.random.default_rng(0).random(3).astype(np.float32)),
        ("rand:3:complex64", np.random.default_rng(0).random(3).astype(np.complex64)),
        ("rand:3:below=5:seed=2", np.random.default_rng(2).integers(5, size=3)),
        ("rand:3:below=5:int8", np.random.default_rng(0).integers(5, size=3).astype(np.int8)),
    ],
)
def test_generators(text: str, expected: np.ndarray) -> None:
    loaded = load(text)
    assert loaded.array.dtype == expected.dtype
    assert loaded.array.shape == expected.shape
    assert loaded.array.tobytes() == expected.tobytes()
    assert loaded.origin == text
    named = text.rsplit(":", 1)[1] in {"float32", "bool", "int8", "float16", "complex64"}
    assert loaded.is_typed == named


def test_a_file_of_the_name_of_a_generator_is_named_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("arange:4.npy", "zeros: a.npz"):
        with pytest.raises(UsageError) as caught:
            load(name)
        assert not caught.value.hint
        Path(name).touch()
    for text, hint in (
        ("arange:4.npy", "./arange:4.npy"),
        ("zeros: a.npz::b", "'./zeros: a.npz::b'"),
    ):
        with pytest.raises(UsageError) as caught:
            load(text)
        assert caught.value.hint == f"{hint} is the file of that name"


def test_a_generator_without_a_type_takes_the_type_of_another_input() -> None:
    assert load("zeros:2", like=np.dtype("float16")).array.dtype == np.float16
    assert load("arange:2", like=np.dtype("float16")).array.dtype == np.float16
    assert load("full:2:7", like=np.dtype("float16")).array.dtype == np.float16
    assert load("zeros:2:int8", like=np.dtype("float16")).array.dtype == np.int8
    assert load("zeros:2:int8", dtype="float16").array.dtype == np.float16


@pytest.mark.parametrize(
    "shape", ["0x1099511627776x4194304", "9223372036854775807x0", "0x0x0x9999999999999999999"]
)
def test_a_shape_that_no_array_can_have_is_refused_though_it_holds_nothing(shape: str) -> None:
    with pytest.raises(UsageError, match="no array can have this shape"):
        load(f"zeros:{shape}:int8")
    assert load("zeros:0x1099511627776:int8").array.shape == (0, 1 << 40)


def test_a_long_text_of_few_values_is_read() -> None:
    blank = " " * (jsontext.MEMORY_LIMIT // 240)
    assert load(f"[1,{blank}2]").array.tolist() == [1, 2]


def test_the_depth_of_a_text_is_judged_in_one_pass() -> None:
    """A text without an end is one match, wherever other texts seem to begin in it."""
    assert [m.group() for m in jsontext._STRING.finditer(b'["a\\"b", "' + b'\\"' * 9)] == [
        b'"a\\"b"', b'"' + b'\\"' * 9,
    ]  # fmt: skip
    assert jsontext._STRING.search(b'"\\').end() == 2
    with pytest.raises(ContentRefused, match="nested too deep"):
        jsontext.parse_json(b"[" * 65 + b'"' + b'\\"' * 12_000, "x")
    with pytest.raises(ContentRefused, match="not UTF-8 text"):  # whatever brackets it has
        jsontext.parse_json(b"\xff" + b"[" * 65, "x")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[True]", "true and false"),
        ("[1 2]", "a comma"),
        ("[(1, 2)]", "[1, 2]"),
        ("['a']", "double quotes"),
        ("[1,]", ""),
        ("[not, nine]", ""),
        ("[Tea]", ""),
    ],
)
def test_values_as_python_writes_them_are_refused_with_what_json_has(text: str, hint: str) -> None:
    with pytest.raises(ContentRefused) as caught:
        load(text)
    _check_hint(caught.value, hint)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[1., 2]", "1.0, 0.5"),
        ("[.5]", "1.0, 0.5"),
        ("[nan]", "NaN and Infinity"),
        ("[1.2.]", "1.0, 0.5"),
    ],
)
def test_a_file_of_json_is_strict(text: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ContentRefused) as caught:
        load(str(tmp_path / "x.json"))
    _check_hint(caught.value, hint)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[1., 2.]", [1.0, 2.0]),
        ("[ 1.,\n  .5]", [1.0, 0.5]),
        ("[[-.5], [1.e3]]", [[-0.5], [1000.0]]),
        ("[.5e1, -1.E-1]", [5.0, -0.1]),
        ("[0., -inf, inf]", [0.0, -np.inf, np.inf]),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5e-1", -0.05),
        ("full:2:1.", [1.0, 1.0]),
        ("full:1:.5", [0.5]),
    ],
)
def test_numbers_typed_as_numpy_prints_them_are_read(text: str, values: object) -> None:
    array = load(text).array
    assert array.dtype == np.float64
    assert array.tolist() == values
    assert str(load("[1., nan]").array) == "[ 1. nan]"


@pytest.mark.parametrize("text", ["[1..]", "[1.2.3]", "[.]", "[1. 2.]", "[1.j]", '["a", 1.]'])
def test_no_other_point_is_taken_for_a_number(text: str) -> None:
    with pytest.raises(ContentRefused):
        load(text)
    assert load('["1.", ".5", "nan"]').array.tolist() == ["1.", ".5", "nan"]


def _check_hint(error: ContentRefused, hint: str) -> None:
    assert hint in (error.hint or "")
    assert bool(hint) == bool(error.hint)
