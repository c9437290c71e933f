"""In place in an Icechunk repository: one commit, whole or not at all, the old version readable."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import icechunk
import numpy as np
import pytest
import zarr
from stream.stores import committed_meanwhile

from gscli.base.arrays import LazyArray
from gscli.cli import run_safely
from gscli.files import load
from gscli.files.stores import icechunk_store
from gscli.files.stores.zarr_place import ZarrPath
from gscli.files.stores.zarr_store import open_zarr_array
from gscli.frameworks import find_operator
from gscli.plan import build_plan, infer_layout
from gscli.stream.chunked import to_store

DATA = np.arange(24, dtype=np.float32).reshape(8, 3)


def made(path: Path, data: Any = DATA) -> str:
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
    session = repo.writable_session("main")
    array = zarr.create_array(
        session.store, name="emb", shape=data.shape, dtype="f4", chunks=(2, 3)
    )
    array[...] = data
    repo.create_tag("old", snapshot_id=session.commit("table"))
    return str(path)


def scattered(path: str, *words: str) -> int:
    updates = "[[1,1,1],[1,1,1]]"
    return run_safely(["scatter-nd", path, "[[0],[0]]", updates, "--reduction", "add", *words])


def test_a_scatter_is_one_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made(tmp_path / "t.icechunk")
    assert scattered(path, "--in-place", "-m", "night run", "-v") == 0
    assert "1 chunk written, snapshot " in capsys.readouterr().err
    expected = DATA.copy()
    expected[0] += 2
    assert np.array_equal(load(f"{path}::emb").array, expected)
    assert np.array_equal(load(f"{path}@old::emb").array, DATA)
    assert icechunk_store.list_commits(path, 1)[0].message == "night run"
    assert scattered(path, "--in-place") == 0
    assert icechunk_store.list_commits(path, 1)[0].message == "gscli scatter, 2 entries"


def test_nothing_to_write_is_no_commit(tmp_path: Path) -> None:
    path = made(tmp_path / "t.icechunk")
    before = icechunk_store.list_commits(path, 9)
    words = [path, "zeros:0x1:int64", "zeros:0x3:float32", "--in-place"]
    assert run_safely(["scatter-nd", *words]) == 0
    assert icechunk_store.list_commits(path, 9) == before


def test_without_a_command(tmp_path: Path) -> None:
    store = open_zarr_array(ZarrPath(made(tmp_path / "t.icechunk"), "emb"), 1 << 30)
    arrays = {"data": LazyArray.of(store), "indices": np.array([[3]]), "updates": DATA[:1]}
    plan = build_plan(
        infer_layout(find_operator("onnx.scatter_nd"), arrays, {}), arrays, None
    ).validate()
    assert to_store.commit_scatter(plan, store, "text")[0] == 1


def test_a_commit_in_between_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "t.icechunk")
    committed_meanwhile(path, monkeypatch)
    assert scattered(path, "--in-place") == 73
    assert icechunk_store.list_commits(path, 1)[0].message == "somebody else"
    assert np.array_equal(load(f"{path}::emb").array[1:], DATA[1:])


def test_what_cannot_be_committed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path / "t.icechunk")
    assert scattered(f"{path}@old", "--in-place") == 2
    assert scattered(path, "--in-place=direct") == 2
    assert run_safely(["gather", path, "[0]", "--in-place"]) == 2
    assert run_safely(["scatter-nd", path, "[[9]]", "[[1,1,1]]", "--in-place"]) == 65
    assert run_safely(["convert", path, f"{tmp_path}/t.zarr"]) == 0
    assert run_safely(["convert", path, f"{tmp_path}/t.h5"]) == 0
    capsys.readouterr()
    for name, way in product(("t.zarr", "t.h5"), ("--in-place", "--in-place=direct")):
        assert scattered(f"{tmp_path}/{name}", way) == 2
        assert "only a scatter into a .npy file" in capsys.readouterr().err
    np.save(f"{tmp_path}/t.npy", DATA)
    assert scattered(f"{tmp_path}/t.npy", "--in-place", "-m", "text") == 2
    monkeypatch.setattr(to_store.ChunkGrid, "for_row_size", lambda *_: None)
    assert scattered(path, "--in-place") == 73
    assert len(icechunk_store.list_commits(path, 9)) == 2
