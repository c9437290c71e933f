"""write(read(x)) == x, and what gscli accepts NumPy accepts with equal bytes, over many arrays."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from shell import call_gscli

from gscli.base import GscliError, GscliWarning, LimitRefused
from gscli.base.arrays import (
    NUMPY_NAMES,
    SMALL_NAMES,
    cast_lossless,
    decode_bytes,
    dtype_name,
    parse_dtype,
)
from gscli.files import load, save, writers
from gscli.files.formats import delimited, jsonarray
from gscli.files.formats.jsonarray import dump_json, load_json
from gscli.traces import MAX_JSON_CELLS

FORMATS = ("npy", "npz", "json", "pb", "safetensors", "h5", "csv", "tsv", "txt")
REPEATABLE = settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def any_array(draw: st.DrawFn) -> np.ndarray:
    """An array of any type, from any bits, in any order and layout."""
    name = draw(st.sampled_from([*NUMPY_NAMES, *SMALL_NAMES, "S3"]))
    shape = draw(arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    if name == "str":
        text = st.text(max_size=3).filter(lambda word: not word.endswith("\0"))
        array = np.array(draw(st.lists(text, min_size=1, max_size=1)) * int(np.prod(shape)), "U3")
        array = array.reshape(shape)
    elif name == "S3":
        word = draw(st.binary(max_size=3)).rstrip(b"\0")
        array = np.full(shape, word, "S3")
    else:
        dtype = parse_dtype(name)
        size = int(np.prod(shape)) * dtype.itemsize
        raw = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), np.uint8)
        if name == "bool":
            raw = raw & 1
        if name.startswith(("float6", "float4", "int", "uint")) and dtype.name in SMALL_NAMES:
            raw = canonical(raw, dtype)
        array = raw.view(dtype).reshape(shape)
    layout = draw(st.sampled_from(["C", "F", "reversed", "big"]))
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "reversed" and array.ndim:
        return array[::-1]
    if layout == "big" and name in NUMPY_NAMES:
        return array.astype(array.dtype.newbyteorder(">"))
    return array


def canonical(raw: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Bytes as the type itself writes them: fewer bits than a byte leave the rest to chance."""
    return raw.view(dtype).astype(np.float32).astype(dtype).view(np.uint8)


def same(left: np.ndarray, right: np.ndarray) -> bool:
    """Equal types, shapes and bits; every NaN counts as one."""
    if (dtype_name(left.dtype), left.shape) != (dtype_name(right.dtype), right.shape):
        return False
    if left.dtype.kind in "US" or not left.size:
        return bool(np.array_equal(left, right))
    plain = [np.ascontiguousarray(a, a.dtype.newbyteorder("=")).reshape(-1) for a in (left, right)]
    if left.dtype.kind == "c":
        plain = [a.view(f"f{a.dtype.itemsize // 2}") for a in plain]
    nans = [a != a for a in plain]  # noqa: PLR0124 -- NaN
    bits = [a.view(np.uint8).reshape(a.size, a.dtype.itemsize) for a in plain]
    return bool(((bits[0] == bits[1]).all(1) | (nans[0] & nans[1])).all())


@REPEATABLE
@given(array=any_array(), form=st.sampled_from(FORMATS))
def test_what_is_written_is_read(array: np.ndarray, form: str, tmp_path: Path) -> None:
    path = str(tmp_path / f"x.{form}")
    try:
        save(path, array)
    except GscliError:
        return
    try:
        name = dtype_name(array.dtype)
        read = load(path, dtype=name).array
    except GscliError as error:
        raise AssertionError(f"{form} is written but not read: {error}") from error
    expected = array
    if form in {"csv", "tsv", "txt"}:
        expected = array.reshape(array.shape[0] if array.ndim else 1, -1)
    assert same(read, expected)
    first = Path(path).read_bytes()
    save(path, read)
    assert Path(path).read_bytes() == first or array.dtype.kind in "fcV"


@REPEATABLE
@given(any_array())
def test_documents_lose_nothing(array: np.ndarray) -> None:
    assert same(load_json(dump_json(array)), array)


@REPEATABLE
@given(any_array())
def test_bit_for_bit_in_binary_formats(array: np.ndarray) -> None:
    """NaN keeps its payload where bytes are stored."""
    for form in ("npy", "npz"):
        stream = io.BytesIO()
        save("-", array, format=form, stdout=stream)
        stream.seek(0)
        read = load("-", stdin=stream, dtype=dtype_name(array.dtype)).array
        assert read.tobytes() == array.astype(read.dtype).tobytes() or array.dtype.kind == "U"


@REPEATABLE
@given(any_array(), st.sampled_from([*NUMPY_NAMES, *SMALL_NAMES]))
def test_an_exact_cast_keeps_every_value(array: np.ndarray, name: str) -> None:
    """Checked one by one with Python's own numbers, which are exact."""
    dtype = parse_dtype(name)
    try:
        cast = cast_lossless(array, dtype, "x")
    except GscliError:
        return
    assert cast.shape == array.shape
    if array.dtype.kind in "US":
        assert np.array_equal(decode_bytes(cast), decode_bytes(array))
        return
    for old, new in zip(array.reshape(-1), cast.reshape(-1), strict=True):
        before, after = python_value(old), python_value(new)
        assert before == after or (before != before and after != after)  # noqa: PLR0124 -- NaN


def python_value(value: np.generic) -> complex | int | float:
    """The number itself; comparing int and float in Python rounds nothing."""
    if value.dtype.kind in "biufc":
        return value.item()
    return float(value) if "float" in value.dtype.name else int(value)


def test_documents_made_in_python_are_limited_too() -> None:
    deep: object = 1
    for _ in range(65):
        deep = [deep]
    for data in (deep, [1, [2]], None, (1, 2), np.int64(3), [object()]):
        with pytest.raises(GscliError):
            load_json({"data": data})
    with pytest.raises(GscliError, match="unknown key 1"):
        load_json({"data": [1], 1: 2})
    with pytest.raises(GscliError, match="it is no object"):
        load_json([1, 2])


def test_the_cast_accepts_what_is_exact() -> None:
    exact = [
        (np.array([0, 255]), "uint8"),
        (np.array([-128, 127]), "int8"),
        (np.array([2**53, -(2**63)]), "float64"),
        (np.array([2.0**63], np.float32), "uint64"),
        (np.array([0.5, np.nan, np.inf]), "bfloat16"),
        (np.array([1 + 0j]), "int8"),
        (np.array([True]), "float16"),
        (np.array([0, 1]), "bool"),
        (np.array([7, -8]), "int4"),
        (np.array([0.5], np.float16), "complex64"),
        (np.array(["é", "ab"]), "S2"),
    ]
    for array, name in exact:
        assert cast_lossless(array, parse_dtype(name), "x").dtype == parse_dtype(name)
    refused = [
        (np.array([256]), "uint8"),
        (np.array([-1]), "uint64"),
        (np.array([2**64 - 1], np.uint64), "int64"),
        (np.array([2**53 + 1]), "float64"),
        (np.array([2**63 - 1]), "float32"),
        (np.array([2.0**63]), "int64"),
        (np.array([2.0**64]), "uint64"),
        (np.array([np.nan]), "int64"),
        (np.array([np.inf]), "int8"),
        (np.array([0.1]), "float32"),
        (np.array([1e300]), "float16"),
        (np.array([1j]), "float64"),
        (np.array([2]), "bool"),
        (np.array([8]), "int4"),
        (np.array([np.nan]), "float4_e2m1fn"),
        (np.array([np.inf]), "float8_e4m3fn"),
        (np.array(["a"]), "float64"),
        (np.array([1.0]), "str"),
        (np.array(["€"]), "S3"),
        (np.array([b"ab"]), "S1"),
    ]
    for array, name in refused:
        try:
            cast_lossless(array, parse_dtype(name), "x")
        except GscliError:
            continue
        raise AssertionError(f"{array} became {name}")


@REPEATABLE
@given(array=any_array(), packed=st.booleans())
def test_numpy_reads_what_gscli_reads(array: np.ndarray, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("x.npz" if packed else "x.npy")
    if packed:
        np.savez_compressed(path, a=array)
    else:
        np.save(path, array)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ours = load(str(path)).array
        except GscliError:
            return
        theirs = np.load(path)
    if packed:
        with theirs as archive:
            theirs = archive["a"]
    assert theirs.astype(ours.dtype).tobytes() == ours.tobytes()
    assert theirs.shape == ours.shape


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt", "x.json"])
def test_a_text_too_large_to_be_read_again_is_warned_of(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / name)
    for module in (delimited, jsonarray):
        monkeypatch.setattr(module, "MOST_VALUES", 4)
    with warnings.catch_warnings(action="error"):
        save(path, np.arange(4))
    assert load(path).array.size == 4
    for target, stream in ((path, None), ("-", io.BytesIO())):
        with pytest.warns(GscliWarning, match="too large to be read by gscli again"):
            save(target, np.arange(5), format=name[2:], stdout=stream)
    if name != "x.json":
        with pytest.raises(LimitRefused) as refused:
            load(path)
        assert refused.value.valid == "at most 4 cells"
        assert "numpy.loadtxt and numpy.save" in refused.value.hint
    written: list[int] = []
    with warnings.catch_warnings(action="error"), pytest.raises(GscliWarning) as early:
        save(path, np.arange(5), progress=written.append)
    assert (written, early.value.notice.where) == ([], "5 values")
    monkeypatch.setattr(writers, "TEXT_LIMIT", 6)
    with pytest.warns(GscliWarning, match="too large to be read by gscli again"):
        save(path, np.arange(4))


def test_the_limits_of_texts_are_told() -> None:
    text = call_gscli("help", "inputs").stdout.decode()
    for most in (jsonarray.MOST_VALUES, delimited.MOST_VALUES):
        assert f"{most:,} " in text
    document = call_gscli("help", "json").stdout.decode()
    assert f'"data"}}, without data above {MAX_JSON_CELLS:,} cells' in document
