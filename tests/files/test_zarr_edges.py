"""What few stores have: lists too long, indexes packed, members read in part, chunks elsewhere."""

from __future__ import annotations

import json
import os
import zipfile
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
from gscli.files.stores.plain_chunks import RawChunks
from gscli.files.stores.stand_ins import spill_to_disk
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
    assert store._get("0", prototype, OffsetByteRequest(6)).to_bytes() == b"6789"
    assert store._get("1", prototype) is None
    store.close()


def test_plain_chunks_that_are_absent_hold_the_fill(tmp_path: Path) -> None:
    chunks = RawChunks((2, 2), np.dtype("i4"), 7, direct=False)
    assert chunks.read(f"{tmp_path}/c", (2, 1), "s").tolist() == [[7], [7]]
    (tmp_path / "c").write_bytes(bytes(3))
    with pytest.raises(ContentRefused, match="not as long as its cells"):
        chunks.read(f"{tmp_path}/c", (2, 1), "s")


def test_what_no_chunk_holds_is_the_fill_on_disk_too(tmp_path: Path) -> None:
    array = zarr.create_array(
        tmp_path / "s.zarr", shape=(6,), chunks=(2,), dtype="i4", fill_value=5
    )
    array[2:4] = 1
    (tmp_path / "s.zarr/c/99").write_bytes(b"of no cell of the array")
    source = open_zarr_array(ZarrPath(f"{tmp_path}/s.zarr"), 1 << 20)
    assert spill_to_disk(source, str(tmp_path)).tolist() == [5, 5, 1, 1, 5, 5]


def test_a_mask_that_changed_is_refused() -> None:
    data, mask = np.arange(4), np.array([True, False, True, False])
    inputs = {"input": data, "mask": mask}
    layout = infer_layout(find_operator("torch.masked_select"), inputs, {})
    with pytest.raises(CannotRead, match="changed while it was read"):
        Plan(layout, inputs | {"mask": np.ones(4, np.bool_)}).validate()
