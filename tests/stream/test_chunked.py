"""Zarr stores through the stream: the bits of the answer in memory, whatever the chunks."""

from __future__ import annotations

import errno
import json
import os
import pickle
import resource
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from stream.stores import DATA, RandomCall, made, random_call, same_bits

from gscli.base import CannotWrite, ContentRefused
from gscli.base.arrays import LazyArray
from gscli.cli import run_safely
from gscli.files import load, save
from gscli.files.stores.zarr_place import ZarrPath
from gscli.files.stores.zarr_store import ZarrArray, open_zarr_array, zarr_source
from gscli.stream import run_to_file, scatter
from gscli.stream.chunked import gather, to_store
from gscli.stream.chunked import grid as grid_of_chunks
from gscli.stream.chunked import scatter as scatter_of_chunks
from gscli.stream.chunked.grid import ChunkGrid
from gscli.stream.chunked.scatter import copy_chunk, iter_untouched
from gscli.stream.chunked.to_store import run_to_store
from gscli.stream.gather import open_rows

LIMIT = 1 << 30


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so low that small calls go every way of large ones."""
    monkeypatch.setattr(scatter, "MAX_SORTED_RECORDS", 16)
    monkeypatch.setattr(scatter, "PREFETCH_CELLS", 8)
    monkeypatch.setattr(scatter, "MAX_SPILL_FILES", 3)
    monkeypatch.setattr(scatter, "SPILL_BYTES", 40)
    monkeypatch.setattr(gather, "PIECE_BYTES", 64)
    monkeypatch.setattr(gather, "MAX_PENDING_BYTES", 16)
    monkeypatch.setattr(grid_of_chunks, "CACHE_BYTES", 32)


def copy_untouched(source: ZarrArray, folder: str) -> Iterator[int]:
    for key in iter_untouched(source.stored_keys(), folder):
        yield copy_chunk(source, key, folder)


def checked(call: RandomCall, folder: Path, target: str) -> None:
    plan = call.plan(folder / "in.zarr")
    path = str(folder / target)
    (run_to_store if target.endswith(".zarr") else run_to_file)(plan, path)
    assert same_bits(load(path).array, call.expected()), str(call)
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(["in.zarr", target])


BLOCKS = [pytest.param(block, marks=[pytest.mark.slow] * (block > 0)) for block in range(50)]


@pytest.mark.parametrize("block", BLOCKS)
def test_five_hundred_random_calls(tmp_path: Path, block: int, small: None) -> None:
    del small
    for seed in range(block * 10, block * 10 + 10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        checked(random_call(seed), folder, "out.zarr" if seed % 4 else "out.npy")


@pytest.mark.parametrize("seed", range(600, 624))
def test_random_calls_at_their_usual_limits(tmp_path: Path, seed: int) -> None:
    checked(random_call(seed), tmp_path, "out.zarr" if seed % 2 else "out.npy")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_patched_store_keeps_what_it_was(tmp_path: Path) -> None:
    """Codecs, chunks, attributes; chunks that nobody touches are the same bytes."""
    path = made(tmp_path / "in.zarr", attributes={"units": "m"}, chunks=(2, 6))
    out = f"{tmp_path}/out.zarr"
    assert run_safely(["scatter-nd", path, "[[0],[-1]]", "[[1,1,1,1,1,1],[2,2,2,2,2,2]]",
                    "-o", out, "--reduction", "add"]) == 0  # fmt: skip
    expected = DATA.copy()
    expected[[0, -1]] += [[1], [2]]
    assert same_bits(load(out).array, expected)
    assert Path(out, "zarr.json").read_bytes() == Path(path, "zarr.json").read_bytes()
    for chunk in ("1", "2", "3"):
        assert Path(out, "c", chunk, "0").read_bytes() == Path(path, "c", chunk, "0").read_bytes()
    assert names(tmp_path) == ["in.zarr", "out.zarr"]


def test_the_input_may_be_the_output(tmp_path: Path) -> None:
    path = made(tmp_path / "in.zarr")
    assert run_safely(["scatter-elements", path, "[[1]]", "[[9]]", "-o", path]) == 0
    assert load(path).array[1, 0] == 9
    assert names(tmp_path) == ["in.zarr"]


def test_bad_indices_are_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path / "in.zarr")
    for words in (
        ["gather", path, "[0,10]"],
        ["scatter-elements", path, "[[11]]", "[[9]]"],
    ):
        assert run_safely([*words, "-o", f"{tmp_path}/out.zarr"]) == 65
        assert "out of range" in capsys.readouterr().err
        assert names(tmp_path) == ["in.zarr"]


def test_members_and_archives_are_streamed_from(tmp_path: Path) -> None:
    save(f"{tmp_path}/g.zarr::a/b", DATA)
    save(f"{tmp_path}/g.zarr::c", DATA)
    out = f"{tmp_path}/out.zarr"
    assert (
        run_safely(["scatter-elements", f"{tmp_path}/g.zarr::a/b", "[[1]]", "[[9]]", "-o", out])
        == 0
    )
    assert load(out).array[1, 0] == 9
    path = made(tmp_path / "in.zarr")
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        for file in Path(path).rglob("*"):
            archive.write(file, file.relative_to(path))
    assert run_safely(["scatter-elements", f"{tmp_path}/s.zip", "[[1]]", "[[9]]", "-o", out]) == 0
    assert load(out).array[1, 0] == 9
    assert load(out).array[9, 5] == DATA[9, 5]


def test_other_inputs_of_stores_are_read(tmp_path: Path) -> None:
    data, index, updates, out = (f"{tmp_path}/{name}.zarr" for name in ("d", "i", "u", "o"))
    save(data, DATA)
    save(index, np.array([[1], [1]]))
    save(updates, DATA[:2])
    words = ["scatter-nd", data, index, updates, "-o", out, "--reduction", "add", "-v"]
    assert run_safely(words) == 0
    assert same_bits(load(out).array[1], DATA[1] + DATA[0] + DATA[1])
    segments = ["jax", "segment-sum", data, "[0,0,1,1,1,1,1,1,1,1]"]
    assert run_safely([*segments, "-o", out]) == 0
    assert load(out).array.shape == (2, 6)


def test_indices_of_a_store_are_widened(tmp_path: Path) -> None:
    store, target = tmp_path / "ids.zarr", tmp_path / "out.npy"
    zarr.save_array(store, np.array([2, 0, 0], np.int16))
    np.save(tmp_path / "table.npy", np.arange(6.0).reshape(3, 2))
    words = ["torch", "embedding", str(store), str(tmp_path / "table.npy"), "-o", str(target)]
    assert run_safely(words) == 0
    assert np.load(target).tolist() == [[4, 5], [0, 1], [0, 1]]


def test_text_and_asked_for_types_and_views_go_through_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = f"{tmp_path}/t.zarr", f"{tmp_path}/o.zarr"
    save(path, np.array(["a", "bc"]))
    assert run_safely(["scatter-elements", path, "[1]", '["longer"]', "-o", out]) == 0
    assert load(out).array.tolist() == ["a", "longer"]
    save(path, DATA)
    assert run_safely(["gather", path, "[1]", "-o", out, "--dtype", "float64"]) == 0
    assert load(out).array.dtype == np.float64
    assert run_safely(["gather", path, "[1]", "-o", out, "--json=output"]) == 0
    assert "6" in capsys.readouterr().out
    assert run_safely(["gather", path, "[1]", "-o", out, "--full"]) == 0
    assert "output" in capsys.readouterr().out


def test_a_large_file_becomes_a_store(tmp_path: Path) -> None:
    data = np.arange(17 << 20, dtype=np.float32).reshape(-1, 64)
    np.save(f"{tmp_path}/d.npy", data)
    words = ["scatter-elements", f"{tmp_path}/d.npy", "[[1]]", "[[9]]"]
    assert run_safely([*words, "-o", f"{tmp_path}/o.zarr"]) == 0
    data[1, 0] = 9
    assert same_bits(load(f"{tmp_path}/o.zarr").array, data)
    assert run_safely(["gather", f"{tmp_path}/o.zarr", "[1,0]", "-o", f"{tmp_path}/g.zarr"]) == 0
    assert same_bits(load(f"{tmp_path}/g.zarr").array, data[[1, 0]])


def test_what_is_refused_on_the_way_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path / "in.zarr", compressors=None)
    words = ["scatter-elements", path, "[[1]]", "[[9]]", "-o", f"{tmp_path}/out.zarr"]
    Path(path, "c/0/0").write_bytes(b"short")
    assert run_safely(words) == 65
    assert "is not a sound Zarr store" in capsys.readouterr().err
    Path(path, "c/0/0").unlink()
    assert run_safely(words) == 0  # a chunk that is not stored is the fill value
    assert load(f"{tmp_path}/out.zarr").array[1, 0] == 9
    Path(path, "c/1/0").unlink()
    Path(path, "c/1/0").symlink_to("/etc/hostname")
    assert run_safely(words) == 65
    assert "link" in capsys.readouterr().err
    assert names(tmp_path) == ["in.zarr", "out.zarr"]
    assert run_safely([*words[:-1], f"{tmp_path}/none/out.zarr"]) == 73


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = random_call(1)
    plan = call.plan(tmp_path / "in.zarr")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(CannotWrite, match="no space") as caught:
        for _ in copy_untouched(zarr_source(plan.inputs["data"]), f"{tmp_path}/o.zarr"):  # type: ignore[arg-type]
            pass
    assert caught.value.problem == f"cannot write {tmp_path}/o.zarr"  # and not the input
    with pytest.raises(CannotWrite, match="temporary files"):
        zarr_source(plan.inputs["data"]).spill_to_disk()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "refused", "words"),
    [
        ("lstat", "in.zarr/zarr.json", "show DATA"),
        ("scandir", "in.zarr/c", "gather DATA [0]"),
        ("scandir", "in.zarr/c", "scatter-nd DATA [[0]] ones:1x6:float32 -o o.zarr"),
        ("open", "in.zarr/c/3/0", "scatter-nd DATA [[0]] ones:1x6:float32 -o o.zarr"),
    ],
)
def test_what_may_not_be_read_is_not_said_to_be_unwritable(
    call: str, refused: str, words: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    made(tmp_path / "in.zarr", chunks=(1, 6))
    real = getattr(os, call)

    def refuse(file: Any, *rest: Any, **named: Any) -> Any:
        if str(file).rstrip("/").endswith(refused):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return real(file, *rest, **named)

    monkeypatch.setattr(os, call, refuse)
    assert run_safely(words.replace("DATA", "in.zarr").split()) == 66
    printed = capsys.readouterr().err
    assert "cannot read in.zarr" in printed
    assert "see that you may read it" in printed
    assert names(tmp_path) == ["in.zarr"]


@pytest.mark.parametrize("size", [0, 47, 49])
def test_a_chunk_of_another_length_is_refused(tmp_path: Path, size: int) -> None:
    path = made(tmp_path / "in.zarr", compressors=None)
    Path(path, "c/0/0").write_bytes(bytes(size))
    with pytest.raises(ContentRefused):
        open_zarr_array(ZarrPath(path), LIMIT).read_chunk((0, 0))


def test_chunks_are_copied_as_blocks_that_files_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_zarr_array(ZarrPath(made(tmp_path / "in.zarr")), LIMIT)
    asked: list[int] = []
    monkeypatch.setattr("fcntl.ioctl", lambda _target, request, _source: asked.append(request))
    assert list(copy_untouched(store, f"{tmp_path}/out")) == [48] * 6
    assert len(asked) == 6


def test_chunks_are_copied_out_of_an_archive_and_never_by_a_link(tmp_path: Path) -> None:
    with zarr.storage.ZipStore(f"{tmp_path}/a.zip", mode="w") as archive:
        zarr.create_array(archive, shape=(10, 6), chunks=(4, 3), dtype="f4")[...] = DATA
    words = ["[[9]]", "[[7,7,7,7,7,7]]", "-o", f"{tmp_path}/o.zarr"]
    assert run_safely(["scatter-nd", f"{tmp_path}/a.zip", *words]) == 0
    assert same_bits(load(f"{tmp_path}/o.zarr").array, np.vstack([DATA[:9], [7] * 6]).astype("f4"))
    packed = open_zarr_array(ZarrPath(f"{tmp_path}/a.zip"), LIMIT)
    assert list(copy_untouched(packed, f"{tmp_path}/c")) == [48] * 6  # in this thread
    path = made(tmp_path / "in.zarr")
    Path(path, "c/0/0").unlink()
    Path(path, "c/0/0").symlink_to("/etc/hostname")
    store = open_zarr_array(ZarrPath(path), LIMIT)
    with pytest.raises(ContentRefused, match="link or no file"):
        list(copy_untouched(store, f"{tmp_path}/out"))


def test_a_chunk_that_is_not_copied_whole_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "in.zarr", np.arange(4096.0), chunks=(4096,), compressors=None)
    store = open_zarr_array(ZarrPath(path), LIMIT)
    monkeypatch.setattr(scatter_of_chunks, "share_blocks", lambda *_: False)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))  # the system takes so much
    try:
        with pytest.raises(CannotWrite, match="too large"):
            list(copy_untouched(store, f"{tmp_path}/out"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("dtype", ["int8", ">f4", "complex64", "bool"])
@pytest.mark.parametrize("version", [2, 3])
def test_plain_chunks_are_what_the_library_reads(tmp_path: Path, dtype: str, version: int) -> None:
    data = (DATA % 2).astype(dtype)
    path = made(tmp_path / "in.zarr", data, compressors=None, zarr_format=version, fill_value=1)
    out = f"{tmp_path}/out.zarr"
    update = json.dumps([[0]]) if dtype != "bool" else "[[false]]"
    assert run_safely(["scatter-elements", path, "[[9]]", update, "-o", out]) == 0
    data[9, 0] = 0
    assert np.array_equal(zarr.open_array(out, mode="r")[...], data)


@pytest.mark.parametrize("largest", [0, 1 << 20])
def test_what_fails_behind_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    largest: int,
) -> None:
    """At once, by the next chunk or at the end; large chunks are waited for."""
    path = made(tmp_path / "in.zarr", chunks=(1, 6))
    words = ["scatter-nd", path, "[[0],[4],[9]]", "ones:3x6:float32", "-o", f"{tmp_path}/o.zarr"]
    monkeypatch.setattr(to_store, "MAX_QUEUED_CHUNK_BYTES", largest)
    assert run_safely(words) == 0
    real = ZarrArray.write_chunk
    for failing in range(3):

        def write(self: ZarrArray, coordinates: Any, values: Any, failing: int = failing) -> None:
            if coordinates[0] == (0, 4, 9)[failing]:
                raise CannotWrite("cannot write", where="no space left on device")
            real(self, coordinates, values)

        with monkeypatch.context() as patch:
            patch.setattr(ZarrArray, "write_chunk", write)
            assert run_safely(words) == 73
        assert "no space" in capsys.readouterr().err
        assert names(tmp_path) == ["in.zarr", "o.zarr"]


def test_whoever_writes_behind_has_ended_when_the_folder_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a chunk that is still being written would bring a part of it back."""
    plan = RandomCall("onnx.gather", {"data": DATA, "indices": np.arange(10)}, {}, (1, 6), {}).plan(
        tmp_path / "in.zarr"
    )
    real = ZarrArray.write_chunk

    def write(self: ZarrArray, coordinates: Any, values: Any) -> None:
        time.sleep(0.05)
        real(self, coordinates, values)

    def stopped(*_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ZarrArray, "write_chunk", write)
    with pytest.raises(KeyboardInterrupt):
        run_to_store(plan, f"{tmp_path}/o.zarr", progress=stopped)
    time.sleep(0.1)
    assert names(tmp_path) == ["in.zarr"]


def test_a_store_can_be_put_into_a_temporary_file(tmp_path: Path) -> None:
    store = open_zarr_array(ZarrPath(made(tmp_path / "in.zarr")), LIMIT)
    assert np.array_equal(store.spill_to_disk(), DATA)
    empty = open_zarr_array(ZarrPath(made(tmp_path / "e.zarr", DATA[:0], chunks=(1, 3))), LIMIT)
    assert empty.spill_to_disk().shape == (0, 6)
    assert ChunkGrid.for_row_size((4, 6), (2, 2), 4) is None
    taken = np.empty((4, 16), np.uint8)
    open_rows(LazyArray.of(store), 16).take(np.array([0, 1, 2, 14]), taken)  # rows of 4 cells
    assert taken.view(np.float32)[3].tolist() == DATA.reshape(-1, 4)[14].tolist()


def test_an_empty_store_is_patched_and_gathered_from(tmp_path: Path) -> None:
    path = made(tmp_path / "in.zarr", DATA[:0], chunks=(1, 3))
    assert run_safely(["scatter-nd", path, "zeros:0x1:int64", "zeros:0x6:float32",
                    "-o", f"{tmp_path}/o.zarr"]) == 0  # fmt: skip
    assert load(f"{tmp_path}/o.zarr").array.shape == (0, 6)
    assert run_safely(["gather", path, "zeros:0:int64", "-o", f"{tmp_path}/o.zarr"]) == 0


# Prints the MiB of the command alone: ru_maxrss would count what pytest held when it forked.
MEMORY = """
import sys
from gscli.cli import run_safely
code = run_safely(sys.argv[1:])
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM")))
raise SystemExit(code)
"""


@pytest.mark.slow
def test_memory_stays_flat(tmp_path: Path) -> None:
    """A store of 512 MiB, scattered into from another one and gathered from, within 200 MiB.

    Packed chunks of 16 MiB take several times their size while they are read and written.
    """
    rows_, path = 1 << 21, f"{tmp_path}/t.zarr"
    array = zarr.create_array(path, shape=(rows_, 64), chunks=(1 << 16, 64), dtype="f4")
    for first in range(0, rows_, 1 << 18):
        array[first : first + (1 << 18)] = np.float32(first)
    rng = np.random.default_rng(1)
    np.save(f"{tmp_path}/i.npy", rng.integers(0, rows_, (600_000, 1)))
    np.save(f"{tmp_path}/g.npy", rng.integers(0, rows_, 600_000))
    updates = np.ones((600_000, 64), np.float32)
    made(tmp_path / "u.zarr", updates, chunks=(1 << 14, 64))
    for words in (
        ["scatter-nd", path, f"{tmp_path}/i.npy", f"{tmp_path}/u.zarr", "--reduction", "add"],
        ["gather", path, f"{tmp_path}/g.npy"],
    ):
        command = [sys.executable, "-c", MEMORY, *words, "-o", f"{tmp_path}/o.zarr"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        assert int(done.stdout.split()[-1]) <= 200


def test_rows_of_a_store_are_kept_for_the_next(tmp_path: Path) -> None:
    store = open_zarr_array(ZarrPath(made(tmp_path / "in.zarr")), LIMIT)
    grid = ChunkGrid.for_row_size(store.shape, store.chunk_shape, 6)
    assert grid is not None
    source, row = grid_of_chunks.ChunkedRows(store, grid, 24), np.empty((1, 24), np.uint8)
    source.take(np.empty(0, np.int64), row[:0])
    for at in (1, 2):
        source.read(at, row)
        assert row.view(np.float32).tolist() == [DATA[at].tolist()]
    again = pickle.loads(pickle.dumps(LazyArray.of(store)))
    assert np.array_equal(zarr_source(again).read_all(), DATA)  # type: ignore[union-attr]
