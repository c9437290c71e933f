from __future__ import annotations

import io
from pathlib import Path

import h5py
import ml_dtypes
import numpy as np
import pytest

from gscli.base.errors import DtypeRefused, GscliError
from gscli.files.files import load, members, save
from gscli.files.request import Member


def test_datasets_are_read_by_path(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["g/data"] = np.arange(6, dtype=">f4").reshape(2, 3)
        file.create_dataset("packed", data=np.arange(1000), chunks=(100,), compression="gzip")
        file["truth"] = np.array([True, False])
        file["scalar"] = 2.5
        file["text"] = np.array([b"a", b"bc"])
        file["empty"] = np.zeros((0, 3), np.complex64)
        file["soft"] = h5py.SoftLink("/scalar")
    assert load(f"{path}::/g/data").array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert load(f"{path}::g/data").array.dtype == np.dtype("float32")
    assert load(f"{path}::packed").array.tolist() == list(range(1000))
    assert load(f"{path}::truth").array.dtype == np.bool_
    assert load(f"{path}::scalar").array.shape == ()
    assert load(f"{path}::text").array.tolist() == [b"a", b"bc"]
    assert load(f"{path}::empty").array.shape == (0, 3)
    assert members(str(path)) == [
        Member("empty", "complex64", (0, 3), 0),
        Member("g/data", "float32", (2, 3), 24),
        Member("packed", "int64", (1000,), 8000),
        Member("scalar", "float64", (), 8),
        Member("text", "S2", (2,), 4),
        Member("truth", "bool", (2,), 2),
    ]
    with pytest.raises(GscliError, match="no member soft"):
        load(f"{path}::soft")


@pytest.mark.parametrize("suffix", ["h5", "hdf5", "HDF5"])
def test_what_is_written_is_read(suffix: str, tmp_path: Path) -> None:
    path = f"{tmp_path}/x.{suffix}"
    for array in (np.arange(6).reshape(2, 3), np.array(1.5), np.array([1j]), np.array([b"ab"])):
        save(path, array)
        loaded = load(path).array
        assert loaded.dtype == array.dtype
        assert loaded.shape == array.shape
        assert loaded.tobytes() == array.tobytes()
    stream = io.BytesIO()
    save("-", array, format="h5", stdout=stream)
    assert stream.getvalue() == Path(path).read_bytes()


def test_small_types_are_opaque_bytes(tmp_path: Path) -> None:
    path = str(tmp_path / "x.h5")
    array = np.array([1.5, 2.0], ml_dtypes.bfloat16)
    save(path, array)
    assert members(path) == [Member("output", "V2", (2,), 4)]
    assert load(path, dtype="bfloat16").array.tobytes() == array.tobytes()
    with pytest.raises(DtypeRefused, match="opaque"):
        load(path)
    for refused in (np.array(["a"]), np.array([1.0], ml_dtypes.float8_e5m2)):
        with pytest.raises(DtypeRefused, match="cannot hold"):
            save(str(tmp_path / "y.h5"), refused)
    assert [p.name for p in tmp_path.iterdir()] == ["x.h5"]


def test_a_dataset_is_patched_or_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["a"] = np.arange(4)
        file["a"].attrs["unit"] = "m"
        file["g/b"] = np.arange(3.0)
        file["link"] = h5py.SoftLink("/a")
    save(f"{path}::/a", np.arange(4) * 2)
    save(f"{path}::g/b", np.array([True]))
    save(f"{path}::new/c", np.array([5]))
    with h5py.File(path) as file:
        assert file["a"][()].tolist() == [0, 2, 4, 6]
        assert file["a"].attrs["unit"] == "m"
        assert file["g/b"][()].tolist() == [True]
        assert file["new/c"][()].tolist() == [5]
        assert file["link"][()].tolist() == [0, 2, 4, 6]


def test_a_damaged_file_is_not_written_into(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    save(str(path), np.arange(4))
    damaged = path.read_bytes()[:-100]
    path.write_bytes(damaged)
    with pytest.raises(GscliError, match="not a sound HDF5 file"):
        save(f"{path}::a", np.arange(3))
    assert path.read_bytes() == damaged
    assert [p.name for p in tmp_path.iterdir()] == ["x.h5"]
