"""Streaming at its edges: nothing to write, readers that leave, rows wider than an item."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import Array, assert_same, judged

import gscli
from gscli import stream as streaming
from gscli.base import CannotRead
from gscli.cli import run_safely
from gscli.disk.mapped import open_regular_file
from gscli.files import content, load, save
from gscli.stream import rowfile, scatter, to_file, writeback
from gscli.stream.scatter import stable_argsort

DATA = np.random.default_rng(8).standard_normal((40, 6, 32)).astype(np.float32)


@pytest.fixture(autouse=True)
def everything_is_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MIN_MAP_BYTES", 1)
    monkeypatch.setattr("os.fsync", lambda _: None)


def saved(folder: Path, name: str, array: Array) -> Array:
    np.save(folder / f"{name}.npy", array)
    return load(str(folder / f"{name}.npy")).array


def test_large_is_what_is_mapped_and_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = saved(tmp_path, "data", DATA)
    assert not streaming.is_worth_streaming({"data": mapped})
    monkeypatch.setattr(to_file, "MIN_STREAM_BYTES", DATA.nbytes)
    assert streaming.is_worth_streaming({"indices": np.array([0]), "data": mapped})
    assert not streaming.is_worth_streaming({"data": DATA, "indices": mapped[:1]})


@pytest.mark.parametrize("at", [np.zeros((0,), np.int64), np.array([3, -1])])
def test_rows_wider_than_an_item(
    at: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rowfile, "LARGEST_ITEM", 64)
    inputs = {"data": saved(tmp_path, "data", DATA), "indices": at}
    expected = gscli.run("onnx.gather", {"data": DATA, "indices": at})
    for sparse in (0, 128):
        monkeypatch.setattr(rowfile, "SPARSE_FACTOR", sparse)
        output = streaming.run_to_file(judged("onnx.gather", inputs, {}), str(tmp_path / "out.npy"))
        assert_same(np.asarray(output), expected)
        assert_same(np.load(tmp_path / "out.npy"), expected)


@pytest.mark.parametrize("largest", [64, 1 << 16])
@pytest.mark.parametrize("sparse", [0, 128])
def test_a_file_that_becomes_shorter(
    largest: int, sparse: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rowfile, "LARGEST_ITEM", largest)
    monkeypatch.setattr(rowfile, "SPARSE_FACTOR", sparse)
    inputs = {"data": saved(tmp_path, "data", DATA), "indices": np.array([0, 39])}
    os.truncate(tmp_path / "data.npy", 10_000)
    with pytest.raises(CannotRead, match=r"became shorter|was changed"):
        streaming.run_to_file(judged("onnx.gather", inputs, {}), str(tmp_path / "out.npy"))
    assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]


def test_data_in_memory_and_updates_in_a_file(tmp_path: Path) -> None:
    inputs = {
        "data": DATA,
        "indices": np.array([[5], [-1], [5]]),
        "updates": saved(tmp_path, "updates", DATA[:3]),
    }
    output = streaming.run_to_file(judged("onnx.scatter_nd", inputs, {}), str(tmp_path / "out.npy"))
    assert_same(np.asarray(output), gscli.run("onnx.scatter_nd", inputs))


def test_a_reader_that_leaves_is_no_error_of_the_disk(tmp_path: Path) -> None:
    pipe = tmp_path / "out.npy"
    os.mkfifo(pipe)
    inputs = {"data": saved(tmp_path, "data", DATA), "indices": np.arange(40).repeat(20)}

    def read_a_little() -> None:
        with pipe.open("rb") as stream:
            stream.read(10)

    reader = threading.Thread(target=read_a_little)
    reader.start()
    with pytest.raises(BrokenPipeError):
        streaming.run_to_file(judged("onnx.gather", inputs, {}), str(pipe))
    reader.join()
    assert pipe.is_fifo()


def test_a_pipe_gets_it_all(tmp_path: Path) -> None:
    pipe, got = tmp_path / "out.npy", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    inputs = {"data": saved(tmp_path, "data", DATA), "indices": np.arange(40)}
    output = streaming.run_to_file(judged("onnx.gather", inputs, {}), str(pipe))
    reader.join()
    assert got[0].endswith(DATA.tobytes())
    assert output.shape == DATA.shape


def test_nothing_to_patch_and_a_file_that_is_gone(tmp_path: Path) -> None:
    inputs = {
        "data": saved(tmp_path, "data", DATA),
        "indices": np.zeros((0, 1), np.int64),
        "updates": DATA[:0],
    }
    file = open_regular_file(str(tmp_path / "data.npy"))
    assert file is not None
    assert streaming.patch_in_place(judged("onnx.scatter_nd", inputs, {}), file) == 0
    inputs |= {"indices": np.array([[1]]), "updates": saved(tmp_path, "updates", DATA[:1])}
    (tmp_path / "data.npy").unlink()
    for direct in (False, True):
        with pytest.raises(gscli.GscliError, match=r"moved or replaced|cannot write"):
            streaming.patch_in_place(judged("onnx.scatter_nd", inputs, {}), file, direct=direct)
    assert [path.name for path in tmp_path.iterdir()] == ["updates.npy"]


def test_updates_are_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def updates(places: Array) -> Array:
        read.append(places.size)
        return places * 10

    monkeypatch.setattr(scatter, "PREFETCH_CELLS", 50)
    rows = np.arange(100)
    blocks = scatter.ExternalSort(updates, 1, 20, None).iter_sorted(rows, rows, 0, 60)
    parts = [values.tolist() for block in blocks for _, values in block.updates()]
    ends = pairwise((0, 20, 40, 50, 60))
    assert parts == [list(range(10 * first, 10 * last, 10)) for first, last in ends]
    assert read == [50, 50]


@pytest.mark.parametrize("known", [False, True], ids=["unknown", "refused"])
def test_without_a_way_past_the_cache(
    known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: int) -> int:
        if arguments[1] == fcntl.F_SETFL:
            raise OSError(errno.EINVAL, "Invalid argument")
        return 0

    monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 1)
    monkeypatch.setattr(os, "O_DIRECT", os.O_DIRECT if known else 0)
    monkeypatch.setattr(fcntl, "fcntl", refuse)
    inputs = {"data": saved(tmp_path, "data", DATA), "indices": np.array([3, -1])}
    streaming.run_to_file(judged("onnx.gather", inputs, {}), str(tmp_path / "out.npy"))
    assert_same(np.load(tmp_path / "out.npy"), DATA[[3, -1]])


@pytest.mark.parametrize("limit", [1, 5, 1 << 16, 1 << 17, 1 << 40])
def test_orders_are_stable(limit: int) -> None:
    keys = np.random.default_rng(limit).integers(0, limit, 500)
    assert_same(stable_argsort(keys, limit), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_what_is_folded_is_no_stream(suffix: str, tmp_path: Path) -> None:
    """Gathers whose cells are summed are made in memory, wherever data lie and the result goes."""
    table, target = DATA[0], [0, 3, 0, 1, 31, 2]
    bags = {"input": [0, 5, 2, 2], "weight": table, "offsets": [0, 3]}
    calls = {
        "nll_loss": ({"input": table, "target": target}, {"reduction": "sum"}),
        "embedding_bag": (bags, {"mode": "sum"}),
    }
    for name, (inputs, attrs) in calls.items():
        expected = gscli.run(f"torch.{name}", inputs, attrs)
        data = next(key for key, value in inputs.items() if value is table)
        store, result = str(tmp_path / f"{name}{suffix}"), str(tmp_path / f"of-{name}{suffix}")
        save(store, table)
        words = [store if key == data else json.dumps(value) for key, value in inputs.items()]
        options = [word for key, value in attrs.items() for word in (f"--{key}", value)]
        command = ["torch", name.replace("_", "-"), *words, *options, "-o", result, "-q"]
        assert run_safely(command) == 0
        assert_same(load(result).array, expected)
        gscli.run(f"torch.{name}", inputs | {data: load(store).array}, attrs, out=result)
        assert_same(load(result).array, expected)
