"""What few stores have: lists too long, indexes packed, members read in part, chunks elsewhere."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from zarr.abc.store import OffsetByteRequest
from zarr.core.buffer import default_buffer_prototype

from gscli.base import CannotRead, ContentRefused, LimitRefused
from gscli.files import load
from gscli.files.content import open_content
from gscli.files.stores.codecs import limit_codecs
from gscli.files.stores.zarr_place import ZarrPath
from gscli.files.stores.zarr_store import open_zarr_array
from gscli.files.stores.zip_store import CheckedZipStore
from gscli.frameworks import find_operator
from gscli.plan import infer_layout
from gscli.plan.plan import Plan


def edit_metadata(path: Path, change: Any) -> None:
    document = json.loads((path / "zarr.json").read_text())
    change(document["codecs"])
    (path / "zarr.json").write_text(json.dumps(document))


def test_a_chunk_has_few_codecs(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "s.zarr", shape=(4,), dtype="u1", compressors=None)
    edit_metadata(tmp_path / "s.zarr", lambda codecs: codecs.extend([{"name": "crc32c"}] * 20))
    with pytest.raises(LimitRefused, match="too many codecs"):
        load(f"{tmp_path}/s.zarr")


def test_the_index_of_a_shard_is_not_packed(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "s.zarr", shape=(4,), chunks=(2,), shards=(4,), dtype="u1")
    packed = {"name": "gzip", "configuration": {"level": 1}}
    edit_metadata(
        tmp_path / "s.zarr",
        lambda codecs: codecs[0]["configuration"]["index_codecs"].append(packed),
    )
    with pytest.raises(ContentRefused):
        load(f"{tmp_path}/s.zarr")


def test_what_is_packed_in_an_archive_is_not_longer_than_the_cells(tmp_path: Path) -> None:
    array = zarr.create_array(
        tmp_path / "s.zarr", shape=(4,), dtype="u1", zarr_format=2, compressors=numcodecs.Zlib()
    )
    array[:] = 1
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as file:
        file.write(tmp_path / "s.zarr" / ".zarray", ".zarray")
        file.writestr("0", numcodecs.Zlib().encode(os.urandom(20_000)))
    with pytest.raises(ContentRefused, match="larger than its cells"):
        load(f"{tmp_path}/s.zip")


def test_an_array_with_limited_codecs_is_written_as_before(tmp_path: Path) -> None:
    options: dict[str, Any] = {"shape": (8,), "chunks": (2,), "shards": (4,), "dtype": "i4"}
    compressors = [zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()]
    array = zarr.create_array(tmp_path / "s.zarr", compressors=compressors, **options)
    assert limit_codecs(array, "s.zarr") > 0
    array[:] = np.arange(8)
    assert load(f"{tmp_path}/s.zarr").array.tolist() == list(range(8))
    plain = zarr.create_array(tmp_path / "p.zarr", shape=(8,), dtype="i4", compressors=compressors)
    limit_codecs(plain, "p.zarr")
    checksum = list(plain.async_array.codec_pipeline)[-1]
    assert checksum.compute_encoded_size(10, None) == 14
    assert checksum.to_dict()["name"] == "crc32c"


def test_members_of_an_archive_are_read_in_part(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as file:
        file.writestr("0", b"0123456789")
    store, prototype = (
        CheckedZipStore(open_content(f"{tmp_path}/s.zip", 1 << 20), 100),
        default_buffer_prototype(),
    )
    part = asyncio.run(store.get("0", prototype, OffsetByteRequest(6)))
    assert part is not None
    assert part.to_bytes() == b"6789"
    assert asyncio.run(store.get("1", prototype)) is None
    store.close()


def test_what_no_chunk_holds_is_the_fill_on_disk_too(tmp_path: Path) -> None:
    array = zarr.create_array(
        tmp_path / "s.zarr", shape=(6,), chunks=(2,), dtype="i4", fill_value=5
    )
    array[2:4] = 1
    (tmp_path / "s.zarr/c/99").write_bytes(b"of no cell of the array")
    source = open_zarr_array(ZarrPath(f"{tmp_path}/s.zarr"), 1 << 20)
    assert source.spill_to_disk().tolist() == [5, 5, 1, 1, 5, 5]


def test_a_mask_that_changed_is_refused() -> None:
    data, mask = np.arange(4), np.array([True, False, True, False])
    inputs = {"input": data, "mask": mask}
    layout = infer_layout(find_operator("torch.masked_select"), inputs, {})
    with pytest.raises(CannotRead, match="changed while it was read"):
        Plan(layout, inputs | {"mask": np.ones(4, np.bool_)}).validate()


def _archive(path: Path, *members: tuple[str, bytes]) -> Path:
    """A .zip of a store of eight bytes in one chunk, and members that are added to it later."""
    zarr.create_array(path.parent / "s.zarr", shape=(8,), dtype="u1", compressors=None)[:] = 1
    folder = path.parent / "s.zarr"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("zarr.json", "c/0"):
            file.write(folder / name, name)
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as file:
        warnings.simplefilter("ignore")
        for name, content in members:
            file.writestr(name, content)
    return path


def _with_directory(whole: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """An archive whose directory is another one."""
    size, offset = struct.unpack("<2L", whole[-10:-2])
    directory = change(whole[offset : offset + size])
    count = directory.count(b"PK\x01\x02")
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *[min(count, 0xFFFF)] * 2, 0, 0, 0)
    if count < 0xFFFF:
        end = end[:12] + struct.pack("<2LH", len(directory), offset, 0)
        return whole[:offset] + directory + end
    wide = count, count, len(directory), offset
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, *wide)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, offset + len(directory), 1)
    return whole[:offset] + directory + record + locator + end[:12] + b"\xff" * 8 + b"\0\0"


def _pointing_at_zero(directory: bytes) -> bytes:
    last = directory.rindex(b"PK\x01\x02")
    return directory[: last + 42] + bytes(4) + directory[last + 46 :]


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a comment": (lambda whole: whole[:-2] + b"\5\0hello", "end as an archive"),
    "an end within a comment": (lambda whole: whole[:-2] + b"\x16\0" + whole[-22:], "outside"),
    "another count": (lambda whole: whole[:-12] + b"\7\0" + whole[-10:], "not one of"),
    "members that overlap": (lambda whole: _with_directory(whole, _pointing_at_zero), "overlap"),
    "a member half a million times": (
        lambda whole: _with_directory(whole, lambda directory: directory * (1 << 18)),
        "not one of",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_directory_of_an_archive_is_judged_before_it_is_read(tmp_path: Path, name: str) -> None:
    path = _archive(tmp_path / "s.zip", ("c/1", bytes(8)))
    change, says = HOSTILE[name]
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ContentRefused) as refusal:
        load(str(path))
    assert says in refusal.value.where


def test_of_a_member_that_was_written_again_the_last_one_counts(tmp_path: Path) -> None:
    path = _archive(tmp_path / "s.zip", ("c/0", bytes(range(8))), ("c/", b""))
    assert load(str(path)).array.tolist() == list(range(8))


def test_a_file_that_takes_the_name_of_an_archive_is_not_read(tmp_path: Path) -> None:
    path = _archive(tmp_path / "s.zip")
    store = CheckedZipStore(open_content(str(path), 0), 100)
    other = tmp_path / "other"
    other.mkdir()
    _archive(other / "s.zip", ("c/0", bytes(8))).replace(path)
    member = asyncio.run(store.get("c/0", default_buffer_prototype()))
    assert member is not None
    assert member.to_bytes() == bytes([1]) * 8
    assert [asyncio.run(store.exists(name)) for name in ("c/0", "c/1")] == [True, False]
    store.close()
