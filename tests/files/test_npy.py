"""Plain arrays: read bit by bit, mapped when large, and written as NumPy writes them."""

from __future__ import annotations

import io
import os
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from gscli import files
from gscli.base import CannotRead, ContentRefused, DtypeRefused, GscliError
from gscli.disk.mapped import RegularFile
from gscli.files import load, members, save
from gscli.files.content import MIN_MAP_BYTES, Content, FileContent
from gscli.files.formats import npy
from gscli.files.formats.npy import npy_header

DTYPES = [
    *("?", "i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "u1", "<u2", ">u4", "<u8", ">u8"),
    *("<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16", "<U3", ">U3", "S4"),
]
SHAPES = [(), (1,), (7,), (0,), (2, 3), (0, 5), (3, 0, 2), (2, 3, 4), (1,) * 64]


def sample(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    generator = np.random.default_rng(len(shape) + 17)
    count = int(np.prod(shape))
    kind = np.dtype(dtype).kind
    if kind in "US":
        return np.array(["a", "bc", "é" if kind == "U" else "z"] * count, dtype)[:count].reshape(
            shape
        )
    if kind == "b":
        return (generator.integers(0, 2, count) == 1).reshape(shape)
    raw = generator.integers(0, 256, count * np.dtype(dtype).itemsize, np.uint8)
    return raw.view(dtype).reshape(shape)


def saved(path: Path, array: np.ndarray) -> str:
    np.save(path, array)
    return str(path)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_numpy_wrote_is_read(dtype: str, order: str, tmp_path: Path) -> None:
    for shape in SHAPES:
        array = np.asarray(sample(dtype, shape), order=order)
        loaded = load(saved(tmp_path / "x.npy", array))
        assert loaded.array.dtype == np.dtype(dtype).newbyteorder("=")
        assert loaded.array.dtype.isnative
        assert loaded.array.shape == shape
        assert loaded.array.tobytes() == array.astype(loaded.array.dtype).tobytes()
        assert loaded.array.flags.c_contiguous
        assert not loaded.array.flags.writeable
        assert loaded.is_typed


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d[0] != ">"])
def test_what_is_written_is_what_numpy_writes(dtype: str, tmp_path: Path) -> None:
    for shape in SHAPES:
        array = sample(dtype, shape)
        save(str(tmp_path / "x.npy"), array)
        expected = io.BytesIO()
        np.save(expected, array)
        assert (tmp_path / "x.npy").read_bytes() == expected.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24).reshape(2, 3, 4).T,
        np.arange(24).reshape(4, 6)[:, ::2],
        np.arange(24)[::-3],
        np.broadcast_to(np.arange(3), (4, 3)),
        np.zeros((0, 4)).T,
        np.arange(6).astype(ml_dtypes.bfloat16)[::2],
        np.array(["ab", "c", "d"])[::2],
        np.arange(5000.0).reshape(50, 100).T,
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_any_layout_is_written_in_c_order(
    array: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npy, "WRITE_BLOCK", 1000)
    save(str(tmp_path / "x.npy"), array)
    header = npy_header(array.dtype, array.shape)
    assert (tmp_path / "x.npy").read_bytes() == header + array.tobytes("C")


def test_the_header_of_a_written_file_is_numpys() -> None:
    for shape in SHAPES:
        expected = io.BytesIO()
        np.save(expected, np.zeros(shape, np.float32))
        assert expected.getvalue().startswith(npy_header(np.dtype("float32"), shape))
    assert len(npy_header(np.dtype("float64"), (1 << 50, 1 << 10))) % 64 == 0


def test_large_arrays_stay_in_the_file(tmp_path: Path) -> None:
    count = MIN_MAP_BYTES // 8
    large = load(saved(tmp_path / "large.npy", np.arange(count)))
    assert isinstance(large.array, np.memmap)
    assert np.array_equal(large.array, np.arange(count))
    small = load(saved(tmp_path / "small.npy", np.arange(count - 1)))
    assert not isinstance(small.array, np.memmap)
    assert load(str(tmp_path / "large.npy"), max_bytes=10).array.size == count


def test_a_mapped_array_outlives_the_replacement_of_its_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.npy", np.arange(MIN_MAP_BYTES))
    array = load(path).array
    save(path, array[::-1])
    assert array[5] == 5
    assert load(path).array[5] == MIN_MAP_BYTES - 6


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"])
def test_opaque_elements_need_their_type(name: str, tmp_path: Path) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    array = np.arange(4).astype(dtype)
    ours, numpys = str(tmp_path / "ours.npy"), saved(tmp_path / "numpys.npy", array)
    save(ours, array)
    assert np.load(ours).dtype == np.dtype(f"V{dtype.itemsize}")
    for path in (ours, numpys):
        assert load(path, dtype=name).array.dtype == dtype
        assert load(path, dtype=name).array.tobytes() == array.tobytes()
        assert members(path)[0].dtype == f"V{dtype.itemsize}"
        with pytest.raises(DtypeRefused) as caught:
            load(path)
        assert name in caught.value.valid
        assert caught.value.hint.startswith("--dtype")


def test_headers_other_programs_write() -> None:
    variants = [
        b'{"descr":"<f8","fortran_order":False,"shape":(2,)}',
        b"{'shape': (2,), 'fortran_order': False, 'descr': '<f8'}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L,), }   \n",
        b"{ 'descr' : '<f8' ,\n'fortran_order':False,'shape':(2,) }",
    ]
    for version, field in (((1, 0), 2), ((2, 0), 4), ((3, 0), 4)):
        for text in variants:
            start = b"\x93NUMPY" + bytes(version) + len(text).to_bytes(field, "little") + text
            held = Content("x.npy", start + np.array([1.5, 2.5]).tobytes())
            header = npy.parse_header(held.read_prefix(npy.PREFIX_LIMIT), "x.npy")
            assert (header.dtype, header.shape, header.is_fortran) == (np.float64, (2,), False)
            flat = held.as_array(header.dtype, header.size, header.offset)
            array = npy.reshape_elements(flat, header, 1000, "x.npy")
            assert array.tolist() == [1.5, 2.5]
            assert array.flags.aligned


def test_members_of_a_plain_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.npy", np.zeros((3, 4), np.float32))
    assert members(path) == [files.Member("", "float32", (3, 4), 48)]
    whole = (tmp_path / "x.npy").read_bytes()
    for length in (1, 6, 7, 8, 9, 100, len(whole) - 1):
        (tmp_path / "x.npy").write_bytes(whole[:length])
        with pytest.raises(ContentRefused, match="cut off"):
            members(path)


@pytest.mark.parametrize("size", [100, MIN_MAP_BYTES])
def test_a_file_that_shrinks_while_it_is_read(size: int, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(size))
    content = FileContent(RegularFile(os.open(path, os.O_RDONLY), "x.bin"))
    path.write_bytes(b"")
    with pytest.raises(GscliError, match=r"shorter|changed"):
        content.as_array(np.dtype("u1"), size, 0)
    with pytest.raises(CannotRead, match="changed"):
        content.check_unchanged()
    content.close()


def test_a_file_stays_open_where_that_is_asked_for(tmp_path: Path) -> None:
    path = str(tmp_path / "x.npy")
    np.save(path, np.arange(3))
    kept = load(path, leave=True).file
    assert kept is not None
    assert kept.is_same_file(path)
    assert kept.read(0, 6) == b"\x93NUMPY"
    assert load(path).file is None
    assert Content("a pipe", b"").detach_file() is None
