from __future__ import annotations

import io
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import ml_dtypes
import numpy as np
import pytest
from library_process import library_in_this_process

from gscli.base import CannotWrite, ContentRefused, DtypeRefused, GscliError
from gscli.base.arrays import parse_dtype
from gscli.base.words import sanitize
from gscli.files import isolated, load, members, save
from gscli.files.formats import hdf5, hdf5_library
from gscli.files.request import Member


@pytest.fixture(autouse=True)
def _library_is_here(request: pytest.FixtureRequest) -> Iterator[None]:
    with nullcontext() if "elsewhere" in request.keywords else library_in_this_process():
        yield
    isolated._close_kept()


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
        with pytest.raises(DtypeRefused, match=r"hold (str|float8_e5m2)\b"):
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
    with pytest.raises(CannotWrite, match="g/b is an array, not a group"):
        save(f"{path}::g/b/c", np.array([5]))
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


def stored(path: Path, chunk: bytes, size: int, **options: Any) -> None:
    """A dataset of one chunk of `size` bytes, of which the file has other bytes than it says."""
    with h5py.File(path, "w") as file:
        made = file.create_dataset("a", (size,), np.uint8, chunks=(size,), **options)
        made.id.write_direct_chunk((0,), chunk)


GZIP = {"compression": "gzip"}


@pytest.mark.parametrize("size", [17, 4096, 10**6])
@pytest.mark.parametrize(
    ("chunk", "options"),
    [
        (b"A" * 16, {}),
        (zlib.compress(b"A" * 16), GZIP),
        (zlib.compress(b"A" * 16), {**GZIP, "shuffle": True}),
        (8 << 20, GZIP),
        (zlib.compress(b"A" * 16)[:-3], GZIP),
        (b"A", {"fletcher32": True}),
    ],
    ids=["plain", "gzip", "shuffle", "bomb", "cut", "checksum"],
)
def test_no_byte_that_is_not_the_files_is_shown(
    chunk: bytes | int, options: dict[str, Any], size: int, tmp_path: Path
) -> None:
    """A chunk that is a number is so many zeros, packed when they are needed."""
    path = tmp_path / "x.h5"
    packed = zlib.compress(bytes(chunk)) if isinstance(chunk, int) else chunk
    stored(path, packed, size, **options)
    with pytest.raises(GscliError, match=r"not as long as|not a sound"):
        load(str(path))
    before = path.read_bytes()
    with pytest.raises(GscliError, match=r"not as long as|not a sound"):
        save(f"{path}::a", np.zeros(size, np.uint8))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": (5, 3)},
        {"chunks": (5, 3), "compression": "gzip"},
        {"chunks": (5, 3), "compression": "gzip", "shuffle": True, "fletcher32": True},
        {"chunks": (5, 3), "fletcher32": True},
        {"chunks": (64, 64), "maxshape": (None, None), "shuffle": True},
    ],
    ids=str,
)
def test_sound_chunks_are_read(options: dict[str, Any], tmp_path: Path) -> None:
    path, array = tmp_path / "x.h5", np.arange(84.0).reshape(12, 7)
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=array, **options)
        file.create_dataset("absent", (40, 40), np.float32, chunks=(7, 7), fillvalue=2.5)
    assert np.array_equal(load(f"{path}::a").array, array)
    assert (load(f"{path}::absent").array == 2.5).all()
    save(f"{path}::a", -array)
    assert np.array_equal(load(f"{path}::a").array, -array)


@pytest.mark.parametrize("filters", [{"compression": "lzf"}, {"scaleoffset": 3}], ids=str)
def test_filters_without_a_bound_are_refused(filters: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=np.arange(100), **filters)
    with pytest.raises(ContentRefused, match="needs filter") as caught:
        load(str(path))
    assert "gzip" in caught.value.valid


@pytest.mark.parametrize("link", ["external", "soft"])
def test_nothing_is_written_through_a_link(link: str, tmp_path: Path) -> None:
    path, other = tmp_path / "x.h5", tmp_path / "other.h5"
    for target in (path, other):
        with h5py.File(target, "w") as file:
            file["kept/a"] = np.arange(4)
    with h5py.File(path, "r+") as file:
        for name, target in (("grp", str(other)), ("self", str(path))):
            file[name] = (
                h5py.ExternalLink(target, "/kept") if link == "external" else h5py.SoftLink("/kept")
            )
    before = {target: target.read_bytes() for target in (path, other)}
    for name in ("grp/new", "grp/a", "self/new", "self/deep/new"):
        with pytest.raises(ContentRefused, match="does not write through links"):
            save(f"{path}::{name}", np.arange(3))
        assert {target: target.read_bytes() for target in (path, other)} == before


def test_values_in_another_file_are_not_written(tmp_path: Path) -> None:
    path, raw = tmp_path / "x.h5", tmp_path / "raw.bin"
    raw.write_bytes(bytes(32))
    with h5py.File(path, "w") as file:
        file.create_dataset("a", (4,), np.int64, external=[(str(raw), 0, 32)])
    with pytest.raises(ContentRefused, match="another file"):
        save(f"{path}::a", np.arange(4))
    assert raw.read_bytes() == bytes(32)


def test_what_no_library_writes_is_measured_too() -> None:
    """Contiguous data of another length, a chunk beyond the file, one without its filter."""
    short = SimpleNamespace(chunks=None, nbytes=8, id=SimpleNamespace(get_storage_size=lambda: 4))
    beyond = SimpleNamespace(
        chunks=(4,),
        nbytes=4,
        dtype=np.dtype(np.int8),
        id=SimpleNamespace(
            chunk_iter=lambda told: told(SimpleNamespace(size=10**9)),
            get_create_plist=lambda: SimpleNamespace(get_nfilters=lambda: 0),
        ),
    )
    for dataset in (short, beyond):
        with pytest.raises(ContentRefused, match="not as long as"):
            hdf5_library._check_stored_size(dataset, 100, "x.h5")
    assert hdf5_library._measure_unfiltered(b"plain", [1], 1, 5) == 5


def test_a_named_type_is_no_array(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["kind"], file["a"] = np.dtype("f4"), np.arange(3)
    assert [member.name for member in members(str(tmp_path / "x.h5"))] == ["a"]


@pytest.mark.elsewhere
@pytest.mark.parametrize("options", [{}, {"chunks": (1, 1 << 19), "compression": 1}], ids=str)
def test_a_large_dataset_comes_in_pieces_from_another_process(
    options: dict[str, Any], tmp_path: Path
) -> None:
    path, array = f"{tmp_path}/x.h5", np.arange(5 << 20, dtype=np.int32).reshape(10, -1)
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=array, **options)
    assert np.array_equal(load(path).array, array)
    assert [member.shape for member in members(path)] == [array.shape]
    save(f"{path}::b/c", -array)
    assert np.array_equal(load(f"{path}::b/c").array, -array)
    assert np.array_equal(load(f"{path}::a").array, array)


def test_what_is_no_dataset_is_no_dataset(tmp_path: Path) -> None:
    path = f"{tmp_path}/x.h5"
    with h5py.File(path, "w") as file:
        file["g/a"] = np.arange(3)
        file["again"], file["none"] = file["g"], h5py.Empty("f8")
    assert [member.name for member in members(path)] == ["again/a", "none"]
    with pytest.raises(ContentRefused, match="without a shape"):
        load(f"{path}::none")
    with pytest.raises(GscliError, match="group"):
        save(f"{path}::g", np.arange(3))
    with pytest.raises(GscliError, match="is the root"):
        save(f"{path}::/.", np.arange(3))
    Path(path).write_bytes(b"no HDF5")
    with pytest.raises(ContentRefused, match="is not an HDF5 file"):
        load(path)


@pytest.mark.parametrize("change", [-1, 1])
def test_an_answer_of_another_length_is_refused(
    change: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(f"{tmp_path}/x.h5", np.arange(4, dtype=np.uint8))
    messages = [({"dtype": "|u1", "shape": [4], "where": "x"}, b""), ({}, bytes(4 + change))]
    monkeypatch.setattr(hdf5, "ask_isolated", lambda *_: (message for message in messages))
    with pytest.raises(ContentRefused, match=r"not read to its end|not a sound"):
        load(f"{tmp_path}/x.h5")


FINAL = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))


def checksum(text: bytes) -> int:
    """What HDF5 has behind its metadata: Bob Jenkins' lookup3, as the format's description says."""
    mask = 0xFFFFFFFF
    state = [(0xDEADBEEF + len(text)) & mask] * 3

    def turn(by: int, bits: int) -> int:
        return (state[by] << bits | state[by] >> (32 - bits)) & mask

    while text:
        block, text = text[:12], text[12:]
        words = struct.unpack("<III", block.ljust(12, b"\0"))
        state = [(old + word) & mask for old, word in zip(state, words, strict=True)]
        if text:
            for at, bits in enumerate((4, 6, 8, 16, 19, 4)):
                to, by = at % 3, (at + 2) % 3
                state[to] = ((state[to] - state[by]) & mask) ^ turn(by, bits)
                state[by] = (state[by] + state[3 - to - by]) & mask
        else:
            for to, by, bits in FINAL:
                state[to] = ((state[to] ^ state[by]) - turn(by, bits)) & mask
    return state[2]


@pytest.mark.elsewhere
@pytest.mark.parametrize(
    ("block", "offset", "value"), [(b"BTHD", 5, 0), (b"BTHD", 10, 0), (b"OHDR", 18, 255)]
)
def test_metadata_with_right_checksums_end_no_process_of_ours(
    block: bytes, offset: int, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HDF5 2.0 is ended by SIGSEGV and SIGFPE, and hangs; 1.14 refuses them itself."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file.create_dataset("a", data=np.eye(4), chunks=(2, 2), maxshape=(None, None))
    content = bytearray(path.read_bytes())
    start = content.rindex(block)
    ends = range(start + 8, len(content) - 4)
    sums = ((end, checksum(content[start:end]).to_bytes(4, "little")) for end in ends)
    end = next(end for end, sum_ in sums if sum_ == content[end : end + 4])
    content[start + offset] = value
    content[end : end + 4] = checksum(content[start:end]).to_bytes(4, "little")
    path.write_bytes(content)
    monkeypatch.setattr(isolated, "PATIENCE", 1.0)
    with pytest.raises(ContentRefused, match=r"x\.h5 is not (sound; .*(SIG|no answer)|a sound)"):
        load(str(path))


@pytest.mark.parametrize("name", ["output", "a/b/c"])
@pytest.mark.parametrize("dtype", ["float32", "int16", "bool", "complex64", "bfloat16", "S3"])
def test_every_type_is_written_to_any_path(tmp_path: Path, name: str, dtype: str) -> None:
    array = np.arange(60).reshape(5, 12).astype(parse_dtype(dtype))
    path = tmp_path / "t.h5"
    save(f"{path}::{name}", array)
    save(f"{tmp_path / 'turned.h5'}::{name}", array.T)
    with h5py.File(path) as file:
        assert file[name][...].tobytes() == array.tobytes()
    read = load(f"{path}::{name}", dtype="bfloat16" if dtype == "bfloat16" else None)
    assert np.array_equal(read.array, array)
    with h5py.File(tmp_path / "turned.h5") as file:
        assert file[name][...].tobytes() == array.T.tobytes()
    save(f"{path}::more", np.arange(3))
    assert [member.name for member in members(str(path))] == sorted([name, "more"])


# The HDF5 of h5py 3.11 tells it too, and then crashes while it gives back the file at exit.
@pytest.mark.recent
def test_no_room_for_temporary_files_is_told(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from gscli.cli import run_safely; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)); "
        "sys.exit(run_safely(['convert', 'zeros:100000', 't.h5']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.returncode == 73
    folder = sanitize(tempfile.gettempdir())
    assert f"cannot write temporary files in {folder}" in done.stderr
    assert "TMPDIR=FOLDER" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_large_table_is_not_held(tmp_path: Path) -> None:
    np.lib.format.open_memmap(tmp_path / "t.npy", "w+", "f4", (1 << 25,)).flush()
    code = (
        "import resource, sys; from gscli.cli import run_safely; "
        "resource.setrlimit(resource.RLIMIT_DATA, (160 << 20, 160 << 20)); "
        "sys.exit(run_safely(['convert', 't.npy', 't.h5']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == 0
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["output"].shape == (1 << 25,)
