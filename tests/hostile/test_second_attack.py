"""Findings of a second attack that no other test of this folder shows."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import judged

import gscli
from gscli import files
from gscli import stream as streaming
from gscli.base import ContentRefused, DtypeRefused, GscliError, LimitRefused
from gscli.base.words import sanitize
from gscli.files.formats.jsonarray import dump_json
from gscli.files.request import format_for
from gscli.lab import jobs
from gscli.stream import writeback


@pytest.mark.parametrize("digits", [f"{'1' * 250}e99", f"{'1' * 305}e9", "1e309", "-1e+400"])
def test_a_number_beyond_floats_is_refused_however_it_is_written(digits: str) -> None:
    with pytest.raises(ContentRefused, match="too large"):
        files.load(f"[{digits}]")


def test_large_numbers_that_fit_are_read() -> None:
    assert files.load(f"[{'1' * 250}e9]").array[0] == float("1" * 250 + "e9")


@pytest.mark.parametrize("text", ["=cmd|calc", "+1+cmd", "-2+3|x", "@SUM(1)"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_table_holds_no_formula(text: str, suffix: str, tmp_path: Path) -> None:
    with pytest.raises(DtypeRefused, match="formula"):
        files.save(str(tmp_path / f"x.{suffix}"), np.array(["a", text]))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("character", "\u034f\u115f\u1160\u3164\uffa0\u2800\ufe0f\U000e0100")
def test_what_prints_as_nothing_is_printed_escaped(character: str) -> None:
    assert sanitize(f"a{character}b").startswith("a\\")


@pytest.mark.skipif(not Path("/proc/self/mounts").exists(), reason="needs /proc")
def test_files_that_say_they_are_empty_are_read() -> None:
    with pytest.raises(ContentRefused, match="is not JSON"):
        files.load("/proc/version")


def test_big_endian_machines_are_told_what_they_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "byteorder", "big")
    for suffix in (".safetensors", ".pb"):
        with pytest.raises(GscliError, match="big-endian"):
            format_for(suffix)
    assert format_for(".npy")


def test_a_system_without_the_calls_for_files_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.save(str(tmp_path / "x.npy"), np.arange(3))
    monkeypatch.delattr("os.pread")
    with pytest.raises(GscliError, match="Linux and macOS alone"):
        files.load(str(tmp_path / "x.npy"))
    with pytest.raises(GscliError, match="Linux and macOS alone"):
        files.save(str(tmp_path / "y.npy"), np.arange(3))
    assert files.load("[1, 2]").array.size == 2


EMPTY = {"dtype": "int8", "shape": [0], "data": []}
MANY = {"dtype": "int64", "shape": [10**12, 0], "data": []}


def test_entries_that_move_nothing_are_not_visited() -> None:
    for name, inputs in {
        "openvino.gather_nd": {"data": EMPTY, "indices": MANY},
        "scatter_nd": {"data": EMPTY, "indices": MANY, "updates": {**MANY, "dtype": "int8"}},
    }.items():
        line = json.dumps({"op": name, "inputs": inputs}).encode()
        error = jobs.run_job(line, 1, [])["error"]
        assert error["problem"] == "there are more entries than values"


def test_no_index_of_an_empty_axis_is_looked_at_twice() -> None:
    data, indices = np.empty((10**8, 0), np.int8), np.array([[0]])
    with pytest.raises(GscliError, match="out of range") as caught:
        gscli.numpy.take_along_axis(data, indices, axis=1)
    assert caught.value.total == 1  # type: ignore[attr-defined]  # the index, not its entries


def test_a_line_of_a_batch_answers_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {"dtype": "int8", "shape": [7], "data": [1] * 7}
    many = {"dtype": "int64", "shape": [100_000_000, 0], "data": []}
    job = {"op": "openvino.gather_nd", "inputs": {"data": cells, "indices": many}}
    assert jobs.run_job(json.dumps(job).encode(), 1, [])["error"]["kind"] == "LimitRefused"

    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(jobs, "run_plan", exhausted)
    line = b'{"id": 7, "op": "gather", "inputs": {"data": [1], "indices": [0]}}'
    assert jobs.run_job(line, 1, [])["error"]["problem"] == "not enough memory for this line"


def test_a_document_that_nobody_could_read_is_refused() -> None:
    with pytest.raises(LimitRefused, match="the JSON document is larger"):
        dump_json(np.empty(5_000_001, np.int8))


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("lost"), OSError(5, "bad disk")])
def test_no_block_is_lost_in_silence(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr(writeback, "write_at", fail)
    monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 0)
    monkeypatch.setattr(writeback, "BUFFER_BYTES", 4096)
    plan = judged("onnx.gather", {"data": np.arange(9000.0), "indices": np.arange(9000)}, {})
    with pytest.raises(GscliError, match="cannot write"):
        streaming.run_to_file(plan, str(tmp_path / "out.npy"))
    assert not list(tmp_path.iterdir())


def test_a_device_that_refuses_to_be_written_past_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writeback, "set_direct", lambda *_, **__: False)
    monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 0)
    plan = judged("onnx.gather", {"data": np.arange(9000.0), "indices": np.arange(9000)}, {})
    streaming.run_to_file(plan, str(tmp_path / "out.npy"))
    assert np.array_equal(np.load(tmp_path / "out.npy"), np.arange(9000.0))


@pytest.mark.parametrize("name", ["../up", "/abs", "a\\b", "C:x", "a/../../b", "\x1b[31m"])
def test_names_of_members_are_never_paths(name: str, tmp_path: Path) -> None:
    held = io.BytesIO()
    np.savez(held, **{name: np.arange(3)})
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "x.npz"
    path.write_bytes(held.getvalue())
    assert files.load(str(path)).array.tolist() == [0, 1, 2]
    files.save(f"{path}::other", np.arange(2))
    assert [one.name for one in tmp_path.rglob("*")] == ["in", "x.npz"]
