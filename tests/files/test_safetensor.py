from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from gscli.base import CannotRead, ContentRefused, DtypeRefused, GscliError, UsageError
from gscli.base.arrays import parse_dtype
from gscli.files import load, members, save
from gscli.files.formats import safetensor
from gscli.files.request import Member

# What the oldest safetensors package that is tried does not cover.
RECENT = ("complex64", "float8")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.recent if name.startswith(RECENT) else ())
        for name in sorted(set(safetensor.TYPES.values()))
    ],
)
def test_every_type_is_read_and_written_as_the_library_does(name: str, tmp_path: Path) -> None:
    dtype = parse_dtype(name)
    raw = np.random.default_rng(3).integers(0, 2, 6 * dtype.itemsize, np.uint8)
    array = raw.view(dtype).reshape(2, 3)
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file({"a": array}, path)
    read = load(str(path)).array
    assert read.dtype == dtype
    assert read.shape == (2, 3)
    assert read.tobytes() == array.tobytes()
    save(str(tmp_path / "y.safetensors::a"), array[::-1])
    safetensors.numpy.save_file({"a": np.ascontiguousarray(array[::-1])}, path)
    assert (tmp_path / "y.safetensors").read_bytes() == path.read_bytes()
    assert members(str(path)) == [Member("a", name, (2, 3), array.nbytes)]


def test_tensors_are_laid_out_as_the_library_does(tmp_path: Path) -> None:
    """The widest first: each begins at an even address, and can be mapped."""
    names = ("bool", "uint8", "float16", "int32", "float32", "float64", "int64", "uint64")
    tensors = {name: np.ones(3, name) for name in names}
    path = tmp_path / "x.safetensors"
    for name, array in tensors.items():
        save(f"{path}::{name}", array)
    safetensors.numpy.save_file(tensors, tmp_path / "y.safetensors")
    assert path.read_bytes() == (tmp_path / "y.safetensors").read_bytes()


def test_large_tensors_are_mapped(tmp_path: Path) -> None:
    path = str(tmp_path / "x.safetensors")
    save(path, np.arange(1 << 18, dtype=np.float64).astype(ml_dtypes.bfloat16))
    array = load(path, max_bytes=10_000).array
    assert not isinstance(array, np.memmap)
    array = load(path).array
    assert array.dtype == ml_dtypes.bfloat16
    save(path, np.arange(1 << 18))
    assert isinstance(load(path, max_bytes=10).array, np.memmap)


def test_no_tensors_of_no_elements(tmp_path: Path) -> None:
    path = str(tmp_path / "x.safetensors")
    for name in ("a", "b", "c"):
        save(f"{path}::{name}", np.zeros((0, 4), np.float32))
    assert load(f"{path}::b").array.shape == (0, 4)


def test_a_tensor_of_the_same_kind_is_patched_and_nothing_else_moves(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tensors = {"b": np.arange(4), "a": np.arange(6.0).reshape(2, 3), "c": np.arange(3, dtype="i1")}
    safetensors.numpy.save_file(tensors, path, {"made by": "a test"})
    before = path.read_bytes()
    save(f"{path}::a", tensors["a"] + 1)
    expected = before.replace(tensors["a"].tobytes(), (tensors["a"] + 1).tobytes())
    assert path.read_bytes() == expected != before


def test_a_new_tensor_or_shape_keeps_the_others_and_the_free_text(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file({"a": np.arange(3), "b": np.arange(4.0)}, path, {"k": "v"})
    save(f"{path}::a", np.arange(2, dtype=np.float32))
    save(f"{path}::c", np.array([True]))
    with safetensors.safe_open(path, "np") as file:
        assert sorted(file.keys()) == ["a", "b", "c"]
        assert file.metadata() == {"k": "v"}
        assert file.get_tensor("a").tolist() == [0, 1]
        assert file.get_tensor("b").tolist() == [0, 1, 2, 3]


def test_what_the_format_cannot_hold(tmp_path: Path) -> None:
    path = str(tmp_path / "x.safetensors")
    for array in (np.array(["a"]), np.array([1j]), np.array([1], ml_dtypes.int4)):
        with pytest.raises(DtypeRefused, match="no element type") as caught:
            save(path, array)
        assert (caught.value.where, caught.value.hint) == (path, "use .npy or .json")
    with pytest.raises(UsageError, match="no name"):
        save(f"{path}::__metadata__", np.arange(3))
    assert not list(tmp_path.iterdir())


def test_a_tensor_at_an_odd_address_is_copied(tmp_path: Path) -> None:
    field = {"dtype": "F64", "shape": [1 << 17], "data_offsets": [0, 1 << 20]}
    for spaces in range(8):
        text = json.dumps({"a": field}).encode() + b" " * spaces
        data = np.arange(1 << 17, dtype=np.float64)
        path = tmp_path / "x.safetensors"
        path.write_bytes(len(text).to_bytes(8, "little") + text + data.tobytes())
        array = load(str(path)).array
        assert array.flags.aligned
        assert np.array_equal(array, data)
        if len(text) % 8:
            with pytest.raises(GscliError, match="limit"):
                load(str(path), max_bytes=1 << 19)


def test_a_header_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes((65 << 20).to_bytes(8, "little"))
    with path.open("r+b") as file:
        file.truncate(70 << 20)  # a hole: nobody needs its bytes
    with pytest.raises(ContentRefused, match="header has"):
        load(str(path))


def sharded(folder: Path, shards: dict[str, object]) -> str:
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": shards}))
    return str(index)


def test_a_tensor_of_several_files_goes_by_their_index(tmp_path: Path) -> None:
    names = {"a": "m-00001.safetensors", "b": "m-00002.safetensors"}
    for number, (name, file) in enumerate(names.items()):
        save(f"{tmp_path / file}::{name}", np.arange(3, dtype=np.float32) + number)
        save(f"{tmp_path / file}::extra{number}", np.zeros(1))
    index = sharded(tmp_path, {**names})
    assert load(f"{index}::b").array.tolist() == [1, 2, 3]
    assert [member.name for member in members(index)] == ["a", "b"]
    with pytest.raises(CannotRead, match="has no member c"):
        load(f"{index}::c")
    with pytest.raises(UsageError) as unwritten:
        save(f"{index}::a", np.arange(3))
    assert unwritten.value.hint == "the .safetensors files beside this index hold arrays"
    with pytest.raises(UsageError, match="2 arrays: say which one"):
        load(index)


@pytest.mark.parametrize(
    "file", ["../m.safetensors", "/etc/passwd", "", 5, "model.safetensors.index.json", "m.npy"]
)
def test_an_index_names_files_beside_it(tmp_path: Path, file: object) -> None:
    index = sharded(tmp_path, {"a": file})
    with pytest.raises(ContentRefused, match="no file beside its index"):
        load(f"{index}::a")
    with pytest.raises(ContentRefused):
        members(index)


def test_an_index_without_a_map_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors.index.json"
    path.write_text("[1]")
    with pytest.raises(ContentRefused, match="has no weight_map"):
        load(f"{path}::a")


@pytest.mark.parametrize(
    ("size", "problem"), [(77, "is cut off"), (81, "goes on after the tensors")]
)
def test_another_length_is_told_with_the_one_that_fits(
    size: int, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.safetensors"
    save(str(path), np.arange(2, dtype=np.int32))
    whole = path.read_bytes()
    path.write_bytes((whole + b"x")[:size])
    with pytest.raises(ContentRefused, match=problem) as refused:
        load(str(path))
    assert (refused.value.where, refused.value.valid) == (f"{path}: {size} bytes", "80 bytes")
