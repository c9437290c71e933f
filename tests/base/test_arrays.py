"""Arrays at the border: what callers may pass, names of element types, JSON scalars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import ml_dtypes
import numpy as np
import pytest
from conftest import Array

import gscli
from gscli.base import ContentRefused, DtypeRefused, LimitRefused, UsageError
from gscli.base.arrays import as_array, dtype_name, parse_dtype, to_json
from gscli.base.words import ALL_DTYPES
from gscli.files.formats.jsonarray import load_json


@pytest.mark.parametrize("name", ALL_DTYPES)
def test_names_of_element_types_go_both_ways(name: str) -> None:
    dtype = parse_dtype(name)
    assert dtype_name(dtype) == name


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown element type f5") as caught:
        parse_dtype("f5")
    assert "float32" in caught.value.valid


@pytest.mark.parametrize(
    "value",
    [
        ["a", "bb"],
        np.array(["a", "bb"], object),
        np.array(["a", "bb"], np.dtypes.StringDType()),
    ],
    ids=["list", "objects", "variable width"],
)
def test_text_of_every_kind_is_one_type(value: object) -> None:
    found = as_array(value, "data")
    assert found.dtype.kind == "U"
    assert found.tolist() == ["a", "bb"]


def test_bytes_are_saved_as_they_were_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([b"a", b"bc"]))
    gscli.save(tmp_path / "b.npy", gscli.load(tmp_path / "a.npy"))
    assert np.load(tmp_path / "b.npy").tolist() == [b"a", b"bc"]


def test_big_endian_arrays_become_native_with_their_values() -> None:
    found = as_array(np.array([1, 300], ">i4"), "data")
    assert found.dtype.isnative
    assert found.tolist() == [1, 300]


def test_an_array_is_passed_on_without_a_copy() -> None:
    given = np.arange(3)
    assert as_array(given, "data") is given


@pytest.mark.parametrize(
    ("value", "kind", "problem"),
    [
        ([[1, 2], [3]], ContentRefused, "data is not a rectangular array"),
        ([1, "a"], ContentRefused, "data mixes strings with numbers"),
        ([object()], DtypeRefused, "element type that no operator takes"),
        (np.array(["2020-01-01"], "M8[D]"), DtypeRefused, "element type that no operator takes"),
        ([2**70], DtypeRefused, "element type that no operator takes"),
    ],
)
def test_what_is_no_array_of_ours_is_refused(
    value: object, kind: type[Exception], problem: str
) -> None:
    with pytest.raises(kind, match=problem):
        as_array(value, "data")


def imitate(name: str, dtype: object = None, **flags: object) -> object:
    """An object that answers as those of a framework do, whose values nobody can read."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("The tensor has no values")

    kind = type(name, (), {"__array__": fail, "detach": fail, **flags})
    thing = kind()
    if dtype is not None:
        thing.dtype = dtype
    return thing


class Masked:
    """What pandas makes of Int64 with NA: the other numbers are rounded without a word."""

    def __init__(self, kind: str, *, missing: bool = True) -> None:
        self.dtype, self.missing = kind, missing

    def isna(self) -> list[bool]:
        return [False, self.missing]

    def __array__(self, *_: object, **__: object) -> Array:
        return np.array([2.0**53, np.nan])


UNREADABLE = [
    (imitate("Tensor", is_sparse=True), "data is sparse"),
    (imitate("BCOO"), "data is sparse"),
    (imitate("Tensor", is_meta=True), "data has a shape and no values"),
    (imitate("KerasTensor"), "data has a shape and no values"),
    (imitate("Tensor", is_quantized=True), r"data is quantized.*data\.int_repr\(\)"),
    (imitate("RaggedTensor"), "data has rows of different lengths"),
    (imitate("DynamicJaxprTracer"), "data is being traced.*outside jit"),
    (imitate("PRNGKeyArray", "key<fry>"), r"jax\.random\.key_data\(data\)"),
    (imitate("Anything"), "data is no array of values; data is a .*Anything.*"),
    ({"a": 1}, "data is no array of values; data is a dict"),
    (object(), "data is an object"),
    ([imitate("Tensor")], r"data is no array of values; .*torch\.stack\(data\)"),
    ([1 << 63, -1], "numbers below zero and past int64"),
    (Path("x.npy"), r"gscli\.load\(data\) reads a file"),
    (Masked("Int64"), r"missing; data: 1 NA, of type Int64; data\.fillna"),
]


@pytest.mark.parametrize(("value", "problem"), UNREADABLE, ids=[text for _, text in UNREADABLE])
def test_an_input_of_an_unusual_kind_is_named_for_what_it_is(value: object, problem: str) -> None:
    with pytest.raises(ContentRefused, match=problem):
        gscli.gather(value, [0])
    with pytest.raises(ContentRefused, match=problem):
        gscli.check("gather", {"data": value, "indices": [0]})


def test_a_number_that_cannot_be_read_is_refused() -> None:
    axis = imitate("Tensor", __index__=lambda _: (_ for _ in ()).throw(RuntimeError("deleted")))
    with pytest.raises(UsageError, match="axis takes a whole number"):
        gscli.gather([1], [0], axis=axis)


def test_nan_is_a_value_and_na_is_none() -> None:
    assert gscli.gather(Masked("float64"), [0]).tolist() == [2.0**53]
    assert gscli.gather(Masked("Int64", missing=False), [0]).tolist() == [2.0**53]
    texts = np.array([b"a", "é".encode()], object)  # a string tensor of TensorFlow's
    assert gscli.gather(texts, [1]).tolist() == ["é"]
    assert gscli.gather([(1 << 64) - 3, 9], [0]).tolist() == [(1 << 64) - 3]
    with pytest.raises(DtypeRefused, match="holds 18446744073709551616, of type int"):
        gscli.gather([0.5, 1 << 64], [0])
    with pytest.raises(DtypeRefused, match="holds None, of type NoneType"):
        gscli.gather(np.array([1, None], object), [0])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("-inf"), "-inf"),
        (np.float16(0.5), 0.5),
        (ml_dtypes.bfloat16(1.5), 1.5),
        (2**53, 2**53),
        (-(2**53) - 1, "-9007199254740993"),
        (complex("nan"), ["nan", 0.0]),
        (True, True),
        (None, None),
        ((1, 2), [1, 2]),
        ("word", "word"),
    ],
)
def test_scalars_are_written_as_json_can_keep_them(value: object, written: object) -> None:
    found = to_json(value)
    assert found == written
    assert type(found) is type(written)
    json.dumps(found, allow_nan=False)


def test_the_document_of_a_run_keeps_small_integers_whole() -> None:
    data = np.array([3, -1], ml_dtypes.int4)
    found = gscli.trace("jax.take", {"a": data, "indices": [1]}).to_dict()
    assert found["output"] == {"dtype": "int4", "shape": [1], "data": [-1]}
    output = found["output"]
    assert isinstance(output, dict)
    assert load_json(output).dtype == data.dtype


def test_arrays_that_do_not_fit_say_so_themselves() -> None:
    class Huge:
        def __array__(self, *_: object) -> np.ndarray:
            raise MemoryError

    with pytest.raises(MemoryError):
        as_array(Huge(), "data")


class Chunked:
    """An array that lies in chunks elsewhere, as zarr's and Dask's do."""

    chunks = (2,)

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.arange(3)


def test_chunks_are_brought_into_memory_where_they_fit() -> None:
    assert as_array(Chunked(24), "data").tolist() == [0, 1, 2]
    with pytest.raises(LimitRefused, match="data lies in chunks and is too large to be held"):
        as_array(Chunked(1 << 40), "data")
