"""Zarr stores as files: read, written, listed; what is hostile in them is refused."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import math
import os
import signal
import threading
import time
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from stream.stores import DATA, made

from gscli import files
from gscli.base import (
    CannotRead,
    CannotWrite,
    ContentRefused,
    DtypeRefused,
    GscliError,
    LimitRefused,
    UsageError,
)
from gscli.cli import run_safely
from gscli.disk import mapped
from gscli.files import load, members, save
from gscli.files.stores import codecs, zarr_format
from gscli.files.stores.zarr_format import create_zarr_array
from gscli.files.stores.zarr_place import ZarrPath
from gscli.files.stores.zarr_store import ZarrArray, open_zarr_array
from gscli.stream.cluster.tasks import to_file_reference

LIMIT = 1 << 30

CODECS: dict[str, dict[str, Any]] = {
    "plain": {"compressors": None},
    "zstd": {},
    "gzip": {"compressors": zarr.codecs.GzipCodec()},
    "blosc": {"compressors": zarr.codecs.BloscCodec()},
    "checksum": {"compressors": [zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()]},
    "sharded": {"shards": (8, 6)},
    "sharded_gzip": {"shards": (8, 6), "compressors": zarr.codecs.GzipCodec()},
    "v2": {"zarr_format": 2},
    "v2_plain": {"zarr_format": 2, "compressors": None},
    "v2_slash": {"zarr_format": 2, "chunk_key_encoding": {"name": "v2", "separator": "/"}},
    "v2_zlib": {"zarr_format": 2, "compressors": numcodecs.Zlib()},
    "v2_bz2": {"zarr_format": 2, "compressors": numcodecs.BZ2()},
    "v2_lzma": {"zarr_format": 2, "compressors": numcodecs.LZMA()},
    "v2_lz4": {"zarr_format": 2, "compressors": numcodecs.LZ4()},
    "v2_delta": {"zarr_format": 2, "filters": [numcodecs.Delta("f4")]},
    "v2_fortran": {"zarr_format": 2, "order": "F"},
}


@pytest.mark.parametrize("codec", CODECS)
def test_any_codec_is_read(tmp_path: Path, codec: str) -> None:
    read = load(made(tmp_path / "s.zarr", **CODECS[codec]))
    assert np.array_equal(read.array, DATA)
    assert read.is_typed
    assert not read.array.flags.writeable
    store = open_zarr_array(ZarrPath(str(tmp_path / "s.zarr")), LIMIT)
    chunk = store.read_chunk((1, 0))
    assert np.array_equal(chunk, DATA[store.chunk_slices((1, 0))])
    assert chunk.flags.writeable


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64", ">f4", "U3", "S4"]
)
@pytest.mark.parametrize("version", [2, 3])
def test_types_are_read(tmp_path: Path, dtype: str, version: int) -> None:
    data = (np.arange(10) % 2).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # text in version 3, of which older ones warn
        path = made(tmp_path / "s.zarr", data, zarr_format=version)
    array = load(path).array
    assert array.dtype == data.dtype.newbyteorder("=")
    assert np.array_equal(array, data)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int4", "str", "bool", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 0, 2), (7, 3)])
def test_what_is_written_is_read_again(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    path = str(tmp_path / "s.zarr")
    numbers = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape)
    kind = "int64" if dtype in ("str", "bool") else dtype
    array = load(json.dumps(numbers.tolist()), dtype=kind).array.reshape(shape)
    array = array.astype(dtype) if dtype in ("str", "bool") else array
    save(path, array)
    again = load(path, dtype=dtype if dtype in ("bfloat16", "int4") else None).array
    assert again.shape == shape
    assert np.array_equal(again, array)
    assert [path.name for path in tmp_path.iterdir()] == ["s.zarr"]


def test_opaque_elements_need_their_name(tmp_path: Path) -> None:
    path = str(tmp_path / "s.zarr")
    save(path, load("[1,2]", dtype="bfloat16").array)
    with pytest.raises(DtypeRefused, match="opaque"):
        load(path)
    store = open_zarr_array(ZarrPath(path), LIMIT, load("[1]", dtype="bfloat16").array.dtype, True)
    store.write_chunk((0,), load("[3,4]", dtype="bfloat16").array)
    assert load(path, dtype="bfloat16").array.tolist() == [3, 4]


def test_groups_are_listed_and_their_arrays_named(tmp_path: Path) -> None:
    path = str(tmp_path / "s.zarr")
    group = zarr.open_group(path, mode="w")
    group.create_array("a/b", shape=(3,), dtype="i4")[:] = [1, 2, 3]
    group.create_array("c", shape=(2,), dtype="f8")
    Path(path, "link").symlink_to(tmp_path / "s.zarr" / "c")
    assert [(m.name, m.dtype, m.shape, m.bytes) for m in members(path)] == [
        ("c", "float64", (2,), 16),
        ("a/b", "int32", (3,), 12),
    ]
    assert load(f"{path}::a/b").array.tolist() == [1, 2, 3]
    with pytest.raises(UsageError, match="say which one"):
        load(path)
    with pytest.raises(CannotRead, match="is a group"):
        load(f"{path}::a")
    with pytest.raises(CannotRead, match="no Zarr array"):
        load(f"{path}::a/c")


def test_the_only_array_of_a_group_needs_no_name(tmp_path: Path) -> None:
    save(f"{tmp_path}/s.zarr::deep/er", DATA)
    assert np.array_equal(load(f"{tmp_path}/s.zarr").array, DATA)


def test_an_archive_is_read_and_never_written(tmp_path: Path) -> None:
    made(tmp_path / "s.zarr")
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        for path in (tmp_path / "s.zarr").rglob("*"):
            archive.write(path, path.relative_to(tmp_path / "s.zarr"))
    path = str(tmp_path / "s.zip")
    assert np.array_equal(load(path).array, DATA)
    store = open_zarr_array(ZarrPath(path), LIMIT)
    assert len(list(store.stored_keys())) == 6
    assert store.folder is None
    assert store.read_encoded("c/9/9") is None
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.write(tmp_path / "s.zarr" / "zarr.json", "zarr.json")
    assert not open_zarr_array(ZarrPath(f"{tmp_path}/e.zip"), LIMIT).read_chunk((0, 0)).any()
    with pytest.raises(UsageError, match="no format"):
        save(path, DATA)
    Path(path).write_bytes(b"hello")
    with pytest.raises(ContentRefused, match="not a Zarr store"):
        load(path)
    Path(path).write_bytes(b"PKhello")
    with pytest.raises(ContentRefused, match="not a sound"):
        load(path)


def test_an_array_is_added_to_a_group_and_replaced_in_it(tmp_path: Path) -> None:
    path = str(tmp_path / "s.zarr")
    save(f"{path}::a", DATA)
    save(f"{path}::g/a", DATA)
    save(f"{path}::g/b", DATA + 1)
    save(f"{path}::a", DATA[:2])
    assert load(f"{path}::a").array.shape == (2, 6)
    assert np.array_equal(load(f"{path}::g/b").array, DATA + 1)
    assert not [name for _, names, _ in os.walk(path) for name in names if "gscli" in name]
    save(f"{tmp_path}/one.zarr", DATA)
    with pytest.raises(CannotWrite, match="an array, not a group"):
        save(f"{tmp_path}/one.zarr::a", DATA)


def test_consolidated_metadata_would_hide_a_new_array(tmp_path: Path) -> None:
    path = str(tmp_path / "s.zarr")
    save(f"{path}::a", DATA)
    group = zarr.open_group(path, mode="r+", zarr_format=3)
    document = json.loads(Path(path, "zarr.json").read_text())
    member = json.loads(Path(path, "a", "zarr.json").read_text())
    document["consolidated_metadata"] = {
        "kind": "inline", "must_understand": False, "metadata": {"a": member},
    }  # fmt: skip
    Path(path, "zarr.json").write_text(json.dumps(document))
    del group
    with pytest.raises(CannotWrite, match="consolidated"):
        save(f"{path}::b", DATA)


def test_a_store_replaces_an_older_one_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "s.zarr")
    save(path, DATA)
    save(path, DATA[:3])
    assert load(path).array.shape == (3, 6)
    assert [path.name for path in tmp_path.iterdir()] == ["s.zarr"]


def test_chunks_are_those_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "s.zarr")
    assert run_safely(["convert", "arange:10x6", path, "--chunks", "3x-1"]) == 0
    assert zarr.open_array(path, mode="r").chunks == (3, 6)
    for words, says in (
        (["--chunks", "3"], "1 size, the array has 2 axes"),
        (["--chunks", "3xb"], "a size for each axis"),
        (["--chunks", "0x1"], "a size for each axis"),
    ):
        assert run_safely(["convert", "arange:10x6", path, *words]) == 2
        assert says in capsys.readouterr().err
    assert run_safely(["convert", "arange:4", f"{tmp_path}/x.npy", "--chunks", "2"]) == 2
    assert run_safely(["convert", "arange:4", "-", "-f", "zarr"]) == 2


@pytest.mark.parametrize("shape", [(), (7,), (40, 50), (3, 4, 5), (2, 3, 30, 4), (0, 3)])
def test_a_picture_reads_the_chunks_that_it_shows(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, ...],
) -> None:
    """The picture of a store is that of the same values in memory, and reads no more for it."""
    data = np.arange(math.prod(shape), dtype=np.int16).reshape(shape)
    path = made(tmp_path / "a.zarr", data, chunks=(2,) * data.ndim)
    np.save(tmp_path / "a.npy", data)
    read, real = list[Any](), ZarrArray.read_chunk

    def reading(self: ZarrArray, coordinates: tuple[int, ...]) -> Any:
        read.append(coordinates)
        return real(self, coordinates)

    monkeypatch.setattr(ZarrArray, "read_chunk", reading)
    monkeypatch.setattr(ZarrArray, "read_all", None)
    pictures = []
    for name in (path, f"{tmp_path}/a.npy"):
        assert run_safely(["show", name]) == 0
        pictures.append(capsys.readouterr().out.partition("  ")[2])
    assert pictures[0] == pictures[1]
    assert len(read) == len(set(read))
    if shape == (40, 50):
        assert len(read) < 20 * 25
    capsys.readouterr()


def test_a_large_array_is_not_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes to a temporary file, whose pages can be given back, and keeps to the limit."""
    monkeypatch.setattr(zarr_format, "MIN_SPILL_BYTES", 1)
    path = made(tmp_path / "a.zarr")
    array = load(path).array
    assert np.array_equal(array, DATA)
    assert mapped.find_file(array) is not None
    assert to_file_reference(array) is array  # no worker could open the file
    with pytest.raises(LimitRefused, match="the array is larger"):
        load(path, max_bytes=239)
    made(tmp_path / "i.zarr", np.array([[0], [9], [0]]))
    made(tmp_path / "u.zarr", DATA[:3])
    words = [path, f"{tmp_path}/i.zarr", f"{tmp_path}/u.zarr", "-o", f"{tmp_path}/o.zarr"]
    assert run_safely(["scatter-nd", *words, "--reduction", "add"]) == 0
    expected = DATA.copy()
    np.add.at(expected, [0, 9, 0], DATA[:3])
    assert np.array_equal(load(f"{tmp_path}/o.zarr").array, expected)


def test_a_store_is_shown_and_gathered_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path / "s.zarr")
    assert run_safely(["show", path, "--stat"]) == 0
    assert "float32 [10,6]" in capsys.readouterr().out
    assert run_safely(["gather", path, "[3]", "--json=output"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == DATA[3].tolist()
    zarr.open_group(f"{tmp_path}/g.zarr", mode="w").create_array("x", shape=(1,), dtype="i4")
    zarr.open_group(f"{tmp_path}/g.zarr", mode="a").create_array("y", shape=(1,), dtype="i4")
    assert run_safely(["show", f"{tmp_path}/g.zarr"]) == 0
    assert capsys.readouterr().out.startswith("x  int32 [1]")


@pytest.mark.parametrize("member", ["../s.zarr", "a/../b", "a//b", "a/./b", "a\\b"])
def test_paths_stay_in_the_store(tmp_path: Path, member: str) -> None:
    with pytest.raises(CannotRead, match="no path of an array"):
        load(f"{made(tmp_path / 's.zarr')}::{member}")


def test_links_are_not_followed(tmp_path: Path) -> None:
    path = made(tmp_path / "s.zarr", compressors=None)
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(48))
    chunk = Path(path, "c/0/0")
    chunk.unlink()
    chunk.symlink_to(secret)
    with pytest.raises(ContentRefused, match="link"):
        load(path)
    chunk.unlink()
    os.mkfifo(chunk)
    with pytest.raises(ContentRefused, match="link or no file"):
        load(path)
    chunk.unlink()
    Path(path, "c").rename(tmp_path / "elsewhere")
    Path(path, "c").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ContentRefused, match="link"):
        open_zarr_array(ZarrPath(path), LIMIT).read_chunk((1, 0))
    other = zarr.open_group(f"{tmp_path}/g.zarr", mode="w")
    other.create_array("a", shape=(1,), dtype="i4")
    Path(tmp_path, "g.zarr", "b").symlink_to(tmp_path / "g.zarr" / "a")
    with pytest.raises(ContentRefused, match="is a link"):
        load(f"{tmp_path}/g.zarr::b")
    Path(path, "zarr.json").rename(tmp_path / "z")
    Path(path, "zarr.json").symlink_to(tmp_path / "z")
    with pytest.raises(ContentRefused, match=r"zarr\.json is a link"):
        load(path)


def changed(path: str, **fields: Any) -> str:
    """The same store with other metadata."""
    file = Path(path, "zarr.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))
    return path


def grid(*sizes: int) -> dict[str, Any]:
    return {"name": "regular", "configuration": {"chunk_shape": list(sizes)}}


HOSTILE: dict[str, tuple[dict[str, Any], type[GscliError], str]] = {
    "huge": ({"shape": [2**40, 6]}, LimitRefused, "larger than the limit"),
    "beyond": ({"shape": [2**62, 6]}, ContentRefused, "no array can"),
    "zero_and_huge": ({"shape": [0, 2**62]}, ContentRefused, "no array can"),
    "minus": ({"shape": [-1, 6]}, ContentRefused, "not a sound"),
    "chunk_huge": ({"chunk_grid": grid(2**40, 6)}, LimitRefused, "a chunk"),
    "rank": ({"shape": [10]}, ContentRefused, "not a sound"),
    "object": ({"data_type": "string", "fill_value": ""}, GscliError, "sound|objects"),
    "codec": ({"codecs": [{"name": "pickle"}]}, ContentRefused, "not a sound"),
    "type": ({"data_type": "float99"}, ContentRefused, "not a sound"),
    "fill": ({"data_type": "bool", "fill_value": [1, 2]}, ContentRefused, "no single element"),
    "kind": ({"node_type": "other"}, CannotRead, "no Zarr array"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_metadata_is_refused(tmp_path: Path, name: str) -> None:
    fields, error, says = HOSTILE[name]
    with pytest.raises(error, match=says):
        load(changed(made(tmp_path / "s.zarr"), **fields))


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"a":' * 5000, "\0", '"\\ud800"'])
def test_metadata_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = made(tmp_path / "s.zarr")
    Path(path, "zarr.json").write_text(text)
    with pytest.raises(ContentRefused, match="not a sound"):
        load(path)


def test_metadata_may_not_be_long(tmp_path: Path) -> None:
    path = made(tmp_path / "s.zarr")
    with Path(path, "zarr.json").open("ab") as file:
        file.truncate(17 << 20)
    with pytest.raises(LimitRefused, match=r"zarr\.json"):
        load(path)


def test_objects_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "s.zarr")
    zarr.create_array(path, shape=(2,), dtype="str", zarr_format=2, chunks=(2,))
    with pytest.raises(DtypeRefused, match="objects or records"):
        load(path)
    zarr.create_array(
        path, shape=(2,), dtype=[("a", "i4")], zarr_format=2, chunks=(2,), overwrite=True
    )
    with pytest.raises(DtypeRefused, match="objects or records"):
        load(path)
    zarr.create_array(path, shape=(2,), dtype="M8[s]", zarr_format=2, overwrite=True)
    with pytest.raises(DtypeRefused, match="not supported"):
        load(path)


def test_broken_chunks_are_refused(tmp_path: Path) -> None:
    for name, options in CODECS.items():
        if name == "v2_lz4":
            continue  # its own length is trusted only up to the size of the chunk
        path = made(tmp_path / f"{name}.zarr", **options)
        chunk = next(p for p in sorted(Path(path).rglob("*")) if p.is_file() and "z" not in p.name)
        for content in (b"", b"hello", chunk.read_bytes()[: chunk.stat().st_size // 2]):
            chunk.write_bytes(content)
            with pytest.raises(GscliError) as caught:
                load(path)
            where = f"{path}: chunk {chunk.relative_to(path)}"
            assert (caught.value.where + ":").startswith(f"{where}:"), name


def _encoded(codec: Any) -> Any:
    return lambda content: bytes(codec.encode(content))


BOMBS = {
    "zlib": (numcodecs.Zlib(), zlib.compress),
    "gzip": (numcodecs.GZip(), gzip.compress),
    "bz2": (numcodecs.BZ2(), bz2.compress),
    "lzma": (numcodecs.LZMA(), lzma.compress),
    **{
        codec.codec_id: (codec, _encoded(codec))
        for codec in (numcodecs.Zstd(), numcodecs.LZ4(), numcodecs.Blosc())
    },
}


@pytest.mark.parametrize("codec", BOMBS)
def test_chunks_that_inflate_are_refused(tmp_path: Path, codec: str) -> None:
    compressor, packed = BOMBS[codec]
    path = made(tmp_path / "s.zarr", zarr_format=2, compressors=compressor)
    Path(path, "0.0").write_bytes(packed(bytes(8 << 20)))
    with pytest.raises(ContentRefused, match="larger than its cells"):
        load(path)


def test_inner_chunks_that_inflate_are_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "s.zarr", shards=(8, 6), compressors=zarr.codecs.GzipCodec())
    bomb = gzip.compress(bytes(8 << 20))
    inner = np.full((4, 2), 2**64 - 1, "<u8")
    inner[0] = 0, len(bomb)
    index = inner.tobytes()
    import google_crc32c

    checksum = google_crc32c.value(index).to_bytes(4, "little")
    Path(path, "c/0/0").write_bytes(bomb + index + checksum)
    with pytest.raises(ContentRefused, match="larger than its cells"):
        load(path)


def test_zstd_frames_need_not_say_how_large_they_are() -> None:
    decode = codecs.DECODERS["zstd"]
    head = b"\x28\xb5\x2f\xfd\x00\x58"
    last_raw = (5 << 3 | 1).to_bytes(3, "little") + b"hello"
    assert bytes(decode(head + last_raw, 100)) == b"hello"
    repeated = (9 << 3 | 2).to_bytes(3, "little") + b"x"
    assert bytes(decode(head + repeated + last_raw, 100)) == b"xxxxxxxxxhello"
    assert len(decode(head + repeated + last_raw, 13)) == 14
    many = (4 << 3 | 4).to_bytes(3, "little") + b"abcd"
    assert len(decode(head + many * 3, 1 << 18)) > 1 << 18
    skipped = b"\x50\x2a\x4d\x18\x02\x00\x00\x00ab"
    for other in (skipped + head + last_raw, head + last_raw + head + last_raw, b""):
        with pytest.raises(ValueError, match="zstd frame"):
            decode(other, 1 << 18)


def _long(store: Path, metadata: dict[str, Any], chunk: bytes, name: str = "0") -> str:
    """A store of version 2 with one chunk of 64 bytes, as it is packed in the test."""
    store.mkdir()
    document = {
        "zarr_format": 2, "shape": [64], "chunks": [64], "dtype": "|u1", "fill_value": 0,
        "order": "C", "compressor": None, "filters": None, **metadata,
    }  # fmt: skip
    (store / ".zarray").write_text(json.dumps(document))
    (store / name).write_bytes(chunk)
    return str(store)


ZEROS = bytes(8 << 20)
GZIP, BZ2, DEFLATE = {"id": "gzip"}, {"id": "bz2"}, {"id": "zlib"}
HIDDEN_BOMBS: dict[str, tuple[dict[str, Any], bytes]] = {
    "two gzip members": ({"compressor": GZIP}, gzip.compress(bytes(64)) + gzip.compress(ZEROS)),
    "two bz2 streams": ({"compressor": BZ2}, bz2.compress(bytes(64)) + bz2.compress(ZEROS)),
    "thrice": (
        {"compressor": GZIP, "filters": [DEFLATE, BZ2]},
        gzip.compress(bz2.compress(zlib.compress(ZEROS))),
    ),
    "filter": ({"filters": [DEFLATE]}, zlib.compress(ZEROS)),
    "bits": ({"filters": [{"id": "packbits"}] * 9}, bytes(60)),
    "plain": ({}, ZEROS),
}


@pytest.mark.parametrize("name", HIDDEN_BOMBS)
def test_no_way_of_packing_makes_more_than_the_cells(tmp_path: Path, name: str) -> None:
    metadata, chunk = HIDDEN_BOMBS[name]
    path = _long(tmp_path / "s.zarr", metadata, chunk)
    with pytest.raises(ContentRefused):
        load(path)


@pytest.mark.parametrize(
    "options", [{"index_location": "start"}, {"index_codecs": [zarr.codecs.BytesCodec()]}]
)
def test_an_index_elsewhere_hides_no_bomb(tmp_path: Path, options: dict[str, Any]) -> None:
    sharding = zarr.codecs.ShardingCodec(
        chunk_shape=(8,), codecs=[zarr.codecs.BytesCodec(), zarr.codecs.GzipCodec()], **options
    )
    path = tmp_path / "s.zarr"
    array = zarr.create(
        shape=(16,), chunks=(16,), dtype="u1", store=str(path), codecs=[sharding], fill_value=0
    )
    array[:] = np.arange(16)
    assert load(str(path)).array.tolist() == list(range(16))
    bomb, checked = gzip.compress(ZEROS[: 1 << 20]), "index_location" in options
    index = np.array([[36 if checked else 0, len(bomb)], [2**64 - 1] * 2], "<u8").tobytes()
    import google_crc32c

    whole = index + google_crc32c.value(index).to_bytes(4, "little") + bomb
    (path / "c/0").write_bytes(whole if checked else bomb + index)
    with pytest.raises(ContentRefused, match="larger than its cells"):
        load(str(path))


@pytest.mark.parametrize("name", [".zarray", "0"])
def test_members_of_an_archive_are_inflated_within_limits(tmp_path: Path, name: str) -> None:
    path = _long(tmp_path / "s.zarr", {}, bytes(64))
    archive = tmp_path / "s.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for member in (".zarray", "0"):
            content = Path(path, member).read_bytes()
            file.writestr(member, content.ljust((72 << 20) * (member == name)))
    with pytest.raises(LimitRefused, match="a member is larger"):
        load(str(archive), max_bytes=100)


def test_absent_chunks_cost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = {"shape": [60_000_000], "chunks": [1], "compressor": GZIP, "fill_value": 7}
    path = _long(tmp_path / "s.zarr", chunks, gzip.compress(b"x"), "59")
    reads = list[tuple[int, ...]]()
    monkeypatch.setattr(
        ZarrArray, "read_chunk", lambda _, at: reads.append(at) or np.full(1, 9, np.uint8)
    )
    array = load(path).array
    assert reads == [(59,)]
    assert (array[59], array[58], array.sum()) == (9, 7, 420_000_002)


@pytest.mark.parametrize("lists", [{"shape": [1] * 100}, {"filters": [DEFLATE] * 100}])
def test_metadata_may_not_list_much(tmp_path: Path, lists: dict[str, Any]) -> None:
    path = _long(tmp_path / "s.zarr", lists, bytes(64))
    with pytest.raises(LimitRefused, match="a list is larger"):
        load(path)


def test_codecs_that_are_not_on_the_list_need_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _long(tmp_path / "s.zarr", {"filters": [{"id": "base64"}]}, base64.b64encode(bytes(64)))
    with pytest.raises(ContentRefused, match="packed by base64") as refused:
        load(path)
    assert "GSCLI_CODECS=base64" in refused.value.hint
    monkeypatch.setenv("GSCLI_CODECS", "zfpy,base64")
    assert load(path).array.tolist() == [0] * 64
    Path(path, "0").write_bytes(base64.b64encode(bytes(1 << 12)))
    with pytest.raises(ContentRefused, match="larger than its cells"):
        load(path)


def test_filters_make_numbers_and_nothing_longer(tmp_path: Path) -> None:
    wide = {"id": "astype", "encode_dtype": "u1", "decode_dtype": "U1000000"}
    path = _long(tmp_path / "s.zarr", {"filters": [wide]}, bytes(64))
    with pytest.raises(ContentRefused, match="makes no numbers"):
        load(path)


def test_a_shard_has_no_million_chunks(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    zarr.create_array(path, shape=(1 << 21,), shards=(1 << 21,), chunks=(1,), dtype="u1")
    with pytest.raises(LimitRefused, match="too many chunks"):
        load(str(path))


def test_what_is_there_is_never_lost(tmp_path: Path) -> None:
    folder = tmp_path / "s.zarr"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(CannotWrite, match="something else"):
        save(str(folder), DATA)
    assert (folder / "notes.txt").read_text() == "mine"
    (tmp_path / "f.zarr").write_text("a file")
    with pytest.raises(CannotWrite, match="is no folder"):
        save(f"{tmp_path}/f.zarr", DATA)
    with pytest.raises(CannotRead, match="cannot read"):
        load(str(tmp_path / "none.zarr"))
    with pytest.raises(CannotWrite, match="no such file"):
        save(f"{tmp_path}/none/s.zarr", DATA)
    with pytest.raises(CannotWrite, match=r"a folder NAME\.zarr"):
        save(f"{tmp_path}/x", DATA, format="zarr")
    with pytest.raises(CannotWrite, match="Icechunk"):
        save(f"{tmp_path}/s.zarr@main", DATA)


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "s.zarr").mkdir()
    save(f"{tmp_path}/s.zarr", DATA)
    assert np.array_equal(load(f"{tmp_path}/s.zarr").array, DATA)
    (tmp_path / "e.zarr").mkdir()
    with pytest.raises(CannotRead, match="no Zarr array"):
        load(f"{tmp_path}/e.zarr")


def test_a_missing_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "s.zarr")
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    with pytest.raises(CannotRead) as caught:
        load(path)
    assert "gscli[zarr]" in caught.value.hint
    with pytest.raises(CannotRead):
        save(f"{tmp_path}/t.zarr", DATA)
    assert not Path(tmp_path, "t.zarr").exists()


def test_stores_are_pickled_as_places(tmp_path: Path) -> None:
    import pickle

    store = open_zarr_array(ZarrPath(made(tmp_path / "s.zarr")), LIMIT)
    again: ZarrArray = pickle.loads(pickle.dumps(store))
    assert np.array_equal(again.read_all(), DATA)
    fresh = create_zarr_array(ZarrPath(str(tmp_path / "n.zarr")), np.dtype("f4"), (3,), like=store)
    assert [codec.to_dict() for codec in fresh.array.compressors] == [
        codec.to_dict() for codec in store.array.compressors
    ]


def test_a_store_inside_a_folder_of_inputs_is_no_single_array(tmp_path: Path) -> None:
    save(f"{tmp_path}/call.zarr::data", DATA)
    save(f"{tmp_path}/call.zarr::indices", np.array([1]))
    found = files.load_many(f"{tmp_path}/call.zarr", ["data", "indices"])
    assert np.array_equal(found["data"].array, DATA)


def test_filled_chunks_are_stored_all_the_same(tmp_path: Path) -> None:
    """-0.0 equals the fill value 0.0 and has other bits."""
    path = f"{tmp_path}/s.zarr"
    save(path, np.array([-0.0, 0.0], np.float32))
    assert np.signbit(load(path).array).tolist() == [True, False]


def test_chunks_of_any_layout_are_found(tmp_path: Path) -> None:
    path = made(tmp_path / "s.zarr")
    Path(path, "c", "0", "junk.partial").write_text("x")
    assert len(list(open_zarr_array(ZarrPath(path), LIMIT).stored_keys())) == 6
    empty = str(tmp_path / "e.zarr")
    zarr.create_array(empty, shape=(4,), dtype="f4", chunks=(2,))
    store = open_zarr_array(ZarrPath(empty), LIMIT)
    assert list(store.stored_keys()) == []
    assert store.read_all().tolist() == [0] * 4
    assert store.read_chunk((1,)).tolist() == [0, 0]
    gone = open_zarr_array(ZarrPath(made(tmp_path / "g.zarr")), LIMIT)
    Path(tmp_path, "g.zarr").rename(tmp_path / "h.zarr")
    assert list(gone.stored_keys()) == []


def test_what_the_system_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "s.zarr")
    store = open_zarr_array(ZarrPath(path), LIMIT, writable=True)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zarr.storage._local, "_put", full)
    with pytest.raises(CannotWrite, match="no space"):
        store.write_chunk((0, 0), DATA[:4, :3])

    def large(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(zarr.storage._local, "_put", large)
    with pytest.raises(MemoryError):
        store.write_chunk((0, 0), DATA[:4, :3])
    monkeypatch.setattr(zarr.storage._local, "_put", None)
    with pytest.raises(CannotWrite, match="not callable"):
        store.write_chunk((0, 0), DATA[:4, :3])


def test_an_interrupt_waits_until_the_library_has_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library writes in a thread of its own, which would fill a folder that is removed by then.
    store = open_zarr_array(ZarrPath(made(tmp_path / "s.zarr")), LIMIT, writable=True)
    put, written, main = zarr.storage._local._put, [], threading.get_ident()

    def put_slowly(*words: Any, **options: Any) -> None:
        signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.3)
        put(*words, **options)
        written.append(True)

    monkeypatch.setattr(zarr.storage._local, "_put", put_slowly)
    with pytest.raises(KeyboardInterrupt):
        store.write_chunk((0, 0), DATA[:4, :3])
    assert written == [True]


def test_a_store_is_no_stream(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="a folder, not a stream"):
        save("-", np.arange(3), format="zarr")
    assert not capsys.readouterr().out
