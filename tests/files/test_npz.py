"""Archives: NumPy's and ours are read member by member, and a member can be replaced."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gscli.base import CannotRead, ContentRefused, DtypeRefused, UsageError
from gscli.files import load, members, save
from gscli.files.formats import archive
from gscli.files.request import Member


@pytest.mark.parametrize("compressed", [False, True])
def test_what_numpy_wrote_is_read(compressed: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    arrays = {
        "data": np.arange(300_000.0).reshape(300, 1000),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "swapped": np.arange(5, dtype=">i4"),
        "empty": np.zeros((0, 3)),
        "scalar": np.array(7),
        "dir/é": np.array(["a", "bc"]),
    }
    (np.savez_compressed if compressed else np.savez)(path, **arrays)
    for name, array in arrays.items():
        loaded = load(f"{path}::{name}")
        assert loaded.array.dtype == array.dtype.newbyteorder("=")
        assert loaded.array.tobytes() == array.astype(loaded.array.dtype).tobytes()
        assert loaded.array.shape == array.shape
        assert loaded.origin == f"{path}::{name}"
        assert not loaded.array.flags.writeable
    assert members(str(path)) == [
        Member(n, str(a.dtype.newbyteorder("=")).replace("<U2", "str"), a.shape, a.nbytes)
        for n, a in arrays.items()
    ]


def test_members_that_no_operator_takes_are_listed_beside_the_others(tmp_path: Path) -> None:
    path = str(tmp_path / "x.npz")
    times, objects = np.array(["2020-01-01"], "M8[D]"), np.array([{}], object)
    np.savez(path, times=times, objects=objects, data=np.arange(3))
    assert [member.dtype for member in members(path)] == ["datetime64[D]", "object", "int64"]
    with pytest.raises(UsageError, match="holds 3 arrays") as caught:
        load(str(path))
    assert caught.value.hint == f"{path}::data"
    assert load(f"{path}::data").array.tolist() == [0, 1, 2]
    np.save(tmp_path / "records.npy", np.zeros(2, [("a", "i4"), ("b", "f8")]))
    with pytest.raises(DtypeRefused, match="void96") as records:
        load(str(tmp_path / "records.npy"))
    assert records.value.hint == "in Python, array['a'] is one of its fields"
    for member, hint in (("times", ".view('int64') has"), ("objects", ".astype(int) has")):
        with pytest.raises(DtypeRefused, match="is not supported") as refused:
            load(f"{path}::{member}")
        assert refused.value.hint.startswith(f"in Python, array{hint} ")


def test_the_only_member_needs_no_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", data=np.arange(3))
    for text in ("x.npz", "x.npz::data", "x.npz::data.npy"):
        assert load(str(tmp_path / text)).array.tolist() == [0, 1, 2]


def test_numpy_reads_what_is_written_and_the_bytes_repeat(tmp_path: Path) -> None:
    array = np.arange(24.0).reshape(2, 3, 4).T
    save(str(tmp_path / "x.npz"), array)
    with np.load(tmp_path / "x.npz") as file:
        assert file.files == ["output"]
        assert np.array_equal(file["output"], array)
    stream = io.BytesIO()
    save("-", array, format="npz", stdout=stream)
    assert stream.getvalue() == (tmp_path / "x.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "x.npz") as file:
        assert file.testzip() is None


def test_a_member_is_added_or_replaced_and_the_others_stay(tmp_path: Path) -> None:
    path = str(tmp_path / "x.npz")
    save(f"{path}::a", np.arange(3))
    save(f"{path}::b", np.arange(200_000.0))
    save(f"{path}::a", np.array(["new"]))
    with np.load(path) as file:
        assert sorted(file.files) == ["a", "b"]
        assert file["a"].tolist() == ["new"]
        assert np.array_equal(file["b"], np.arange(200_000.0))


def test_members_stay_packed_as_they_are(tmp_path: Path) -> None:
    path, zeros = tmp_path / "x.npz", np.zeros(1 << 20)
    np.savez_compressed(path, a=zeros, b=zeros)
    for name in ("b", "c"):
        save(f"{path}::{name}", np.arange(3 << 17) // 100_000)
    with zipfile.ZipFile(path) as file:
        assert [(info.filename, info.compress_type) for info in file.infolist()] == [
            (f"{name}.npy", zipfile.ZIP_DEFLATED) for name in "abc"
        ]
        assert file.testzip() is None
    assert path.stat().st_size < 20_000
    assert np.array_equal(load(f"{path}::a").array, zeros)
    with np.load(path) as file:
        assert np.array_equal(file["b"], load(f"{path}::c").array)
    content = bytearray(path.read_bytes())
    content[500] ^= 1
    path.write_bytes(content)
    with pytest.raises(Exception, match=r"member a\.npy"):
        save(f"{path}::c", np.arange(3))
    assert path.read_bytes() == content


def test_a_damaged_member_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(3), b=np.arange(3))
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(Exception, match="checksum"):
        save(f"{path}::c", np.arange(3))
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["x.npz"]


class Sparse(io.RawIOBase):
    """A file of which only the written parts are held; a number is a hole of that size."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[int, bytes]] = []
        self.end = 0
        self.position = 0

    def write(self, data: Any) -> int:
        size = data if isinstance(data, int) else len(data)
        if not isinstance(data, int):
            self.parts.append((self.end, bytes(data)))
        self.end += size
        return size

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self.position = offset + (0, self.position, self.end)[whence]
        return self.position

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self.end - self.position)
        held = {start + n: byte for start, part in self.parts for n, byte in enumerate(part)}
        buffer[:size] = bytes(held.get(self.position + n, 0) for n in range(size))
        self.position += size
        return size


def test_archives_with_64_bit_numbers() -> None:
    file: Any = Sparse()
    target = archive.ZipWriter(file.write)
    hole: Any = [5 << 30]
    target.add(archive.ZipEntry("a.npy", 0, 5 << 30, 5 << 30, 1, is_deflated=False), hole)
    checksum = zlib.crc32(b"hello")
    target.add(archive.ZipEntry("b.npy", 0, 5, 5, checksum, is_deflated=False), [b"hello"])
    target.close()
    with zipfile.ZipFile(file) as whole:
        large, small = whole.infolist()
        assert (large.file_size, large.header_offset) == (5 << 30, 0)
        assert small.header_offset > 5 << 30
        assert whole.read("b.npy") == b"hello"


def test_asking_for_what_is_not_there(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **{f"a{n}": np.arange(1) for n in range(20)})
    with pytest.raises(UsageError) as several:
        load(str(tmp_path / "x.npz"))
    assert several.value.valid == ", ".join(f"a{n}" for n in range(12)) + " and 8 more"
    assert several.value.hint.endswith("x.npz::a0")
    with pytest.raises(CannotRead, match="no member b"):
        load(str(tmp_path / "x.npz::b"))


def test_an_archive_with_64_bit_records(tmp_path: Path) -> None:
    """As for 65,535 members and more, with the true numbers in the record before the last."""
    path = tmp_path / "x.npz"
    save(str(path), np.arange(3))
    content = path.read_bytes()
    *_, count, size, start, _ = struct.unpack("<4s4H2LH", content[-22:])
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, start + size, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    path.write_bytes(content[:-22] + end64 + locator + end)
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
    assert load(str(path)).array.tolist() == [0, 1, 2]
    path.write_bytes(content[:-22] + b"x" + end64 + locator + end)
    with pytest.raises(ContentRefused, match="outside"):
        load(str(path))


@pytest.mark.slow
def test_archives_of_very_many_members_are_written(tmp_path: Path) -> None:
    with (tmp_path / "x.zip").open("wb") as file:
        target = archive.ZipWriter(file.write)
        for number in range(65_536):
            target.add(archive.ZipEntry(str(number), 0, 0, 0, 0, is_deflated=False), [])
        target.close()
    with zipfile.ZipFile(tmp_path / "x.zip") as whole:
        assert len(whole.infolist()) == 65_536


def test_streamed_archives_are_read() -> None:
    """Written to a pipe, members state their sizes only behind their data and in the directory."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            super().__init__()
            self.parts: list[bytes] = []

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            self.parts.append(bytes(data))  # type: ignore[call-overload]
            return len(self.parts[-1])

    pipe = Pipe()
    np.savez_compressed(pipe, a=np.arange(5))
    stream = io.BytesIO(b"".join(pipe.parts))
    assert load("-", stdin=stream).array.tolist() == [0, 1, 2, 3, 4]


def test_what_is_packed_best_is_read_to_its_end(tmp_path: Path) -> None:
    """Of 80 MiB of zeros the last input is taken long before the last output is there."""
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(80 << 20, np.uint8))
    assert load(str(tmp_path / "x.npz")).array.size == 80 << 20
