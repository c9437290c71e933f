"""Icechunk repositories as inputs: branches, tags, snapshots, history."""

from __future__ import annotations

import json
import os
from pathlib import Path

import icechunk
import numpy as np
import pytest
import zarr

from gscli.base import CannotRead, CannotWrite, ContentRefused, LimitRefused, UsageError
from gscli.cli import run_safely
from gscli.files import check_replaced, load, members, save
from gscli.files.stores import icechunk_store


def repository(path: Path) -> tuple[str, list[str]]:
    """A repository with two versions of one array; its path and snapshots, the oldest first."""
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
    snapshots = []
    for number in range(2):
        session = repo.writable_session("main")
        array = (
            zarr.create_array(session.store, name="emb", shape=(4, 2), dtype="f4", chunks=(2, 2))
            if number == 0
            else zarr.open_array(session.store, path="emb", mode="r+")
        )
        array[...] = number + 1
        snapshots.append(session.commit(f"version {number}"))
    repo.create_tag("first", snapshot_id=snapshots[0])
    return str(path), snapshots


@pytest.mark.parametrize("name", ["t.icechunk", "t.zarr"])
def test_every_version_is_read(tmp_path: Path, name: str) -> None:
    path, (first, second) = repository(tmp_path / name)
    for version, value in (
        ("", 2), ("@main", 2), ("@first", 1), (f"@{first}", 1), (f"@{second}", 2),
    ):  # fmt: skip
        assert np.array_equal(load(f"{path}{version}::emb").array, np.full((4, 2), value, "f4"))
        assert np.array_equal(load(f"{path}{version}").array, np.full((4, 2), value, "f4"))
    assert [member.name for member in members(path)] == ["emb"]
    with pytest.raises(CannotRead, match="no version second") as caught:
        load(f"{path}@second")
    assert caught.value.valid == "main, first"


@pytest.mark.parametrize("name", ["t.icechunk", "t.zarr"])
def test_a_repository_is_not_told_to_be_written_by_name(tmp_path: Path, name: str) -> None:
    path, _ = repository(tmp_path / name)
    session = icechunk.Repository.open(icechunk.local_filesystem_storage(path)).writable_session(
        "main"
    )
    zarr.create_array(session.store, name="other", shape=(2,), dtype="f4")
    session.commit("another")
    check_replaced(path, [f"{path}::emb"])
    with pytest.raises(CannotWrite, match="emb") as caught:
        save(f"{path}::emb", np.zeros(2))
    assert caught.value.where.endswith("is changed by --in-place alone")


def test_history_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, (first, second) = repository(tmp_path / "t.icechunk")
    assert run_safely(["show", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "emb  float32 [4,2]  32 bytes"
    assert [line.split()[0] for line in lines[1:3]] == [f"@{second}", f"@{first}"]
    assert lines[1].endswith("version 1")
    assert run_safely(["show", f"{path}@first", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["history"][0]["message"] == "version 0"
    assert len(icechunk_store.list_commits(path, 1)) == 1
    assert run_safely(["show", f"{path}::emb", "-q"]) == 0


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.icechunk").mkdir()
    with pytest.raises(CannotRead, match="no Icechunk repository"):
        load(f"{tmp_path}/none.icechunk@main")
    with pytest.raises(UsageError, match="unknown kind of store ftp"):
        load("ftp://host/t.icechunk")
    repository(tmp_path / "t.icechunk")
    with pytest.raises(ContentRefused):
        load(f"{tmp_path}/t.icechunk@{'0' * 20}")


def test_buckets_are_named_by_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Library:
        @staticmethod
        def s3_storage(**options: object) -> str:
            seen.append(options)
            return "s3"

        @staticmethod
        def gcs_storage(**options: object) -> str:
            seen.append(options)
            return "gs"

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9000")
    assert icechunk_store._make_storage(Library, "s3://bucket/some/t.icechunk") == "s3"
    assert icechunk_store._make_storage(Library, "gs://bucket/t.icechunk") == "gs"
    assert seen[0]["bucket"] == "bucket"
    assert seen[0]["prefix"] == "some/t.icechunk"
    assert seen[0]["allow_http"]
    assert seen[1] == {"bucket": "bucket", "prefix": "t.icechunk", "from_env": True}


def test_a_bucket_that_cannot_be_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's own words up to its context; without words, the kind of failure."""

    def unreached(words: str) -> type:
        class Repository:
            @staticmethod
            def exists(_: object) -> bool:
                raise ValueError(words)

        return Repository

    for words, told in (("  x dispatch failure\n |\n | context: 0", "dispatch failure"),
                        ("", "ValueError")):  # fmt: skip
        monkeypatch.setattr(icechunk, "Repository", unreached(words))
        with pytest.raises(CannotRead, match=r"cannot read s3://b/t\.icechunk") as caught:
            load("s3://b/t.icechunk")
        assert caught.value.where == f"s3://b/t.icechunk: {told}"


@pytest.mark.parametrize("folder", ["snapshots", "manifests", "transactions"])
def test_metadata_are_measured_before_the_library_reads_them(tmp_path: Path, folder: str) -> None:
    path, _ = repository(tmp_path / "t.icechunk")
    repeated = ((1 << 17) << 3 | 1 << 1).to_bytes(3, "little") + b"\0"  # 128 KiB in four bytes
    for file in (tmp_path / "t.icechunk" / folder).iterdir():
        head = file.read_bytes()[:39]
        file.write_bytes(head + b"\x28\xb5\x2f\xfd\x00\x38" + repeated * (1 << 13) + b"\1\0\0")
    with pytest.raises(LimitRefused, match="metadata is larger"):
        load(f"{path}::emb")


def test_a_large_reference_and_a_pipe_are_not_read(tmp_path: Path) -> None:
    path, _ = repository(tmp_path / "t.icechunk")
    place = tmp_path / "t.icechunk" / "refs" / "branch.main" / "ref.json"
    with place.open("ab") as file:
        file.truncate(1 << 30)
    with pytest.raises(LimitRefused, match="metadata is larger"):
        load(f"{path}::emb")
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(ContentRefused, match="is none"):
        load(f"{path}::emb")


def test_a_repository_that_lets_nobody_in_is_read(tmp_path: Path) -> None:
    path, _ = repository(tmp_path / "t.icechunk")
    (tmp_path / "t.icechunk" / "chunks").mkdir(exist_ok=True)
    (tmp_path / "t.icechunk" / "config.yaml").write_text(
        "max_concurrent_requests: 0\ncaching: {num_chunk_refs: 0}\n", "utf-8"
    )
    assert load(f"{path}::emb").array[0, 0] == 2


def test_a_panic_of_the_library_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pyo3_runtime.PanicException` is no Exception; one of 1,000 forged snapshots raises it."""
    path, _ = repository(tmp_path / "t.icechunk")
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})

    def fail(*_: object, **__: object) -> None:
        raise panic("invalid node data type")

    monkeypatch.setattr(icechunk.Repository, "readonly_session", fail)
    with pytest.raises(ContentRefused, match="invalid node data type"):
        load(f"{path}::emb")
    monkeypatch.setattr(icechunk.Repository, "readonly_session", raise_interrupt)
    with pytest.raises(KeyboardInterrupt):
        load(f"{path}::emb")


def raise_interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("member", "name"), [("", ""), ("::emb", "emb")])
def test_a_new_repository_takes_commits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], member: str, name: str
) -> None:
    path = str(tmp_path / "new.icechunk")
    table = np.arange(12, dtype="f4").reshape(4, 3)
    np.save(tmp_path / "t.npy", table)
    assert run_safely(["convert", str(tmp_path / "t.npy"), path + member]) == 0
    assert np.array_equal(load(path + member).array, table)
    assert [found.name for found in members(path)] == [name]
    assert run_safely(["scatter-nd", path, "[[0,0]]", "[9]", "--in-place", "-m", "nine"]) == 0
    assert load(path).array[0, 0] == 9
    assert run_safely(["convert", str(tmp_path / "t.npy"), path]) == 73
    assert "by --in-place alone" in " ".join(capsys.readouterr().err.split())
    assert load(path).array[0, 0] == 9
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["new.icechunk", "t.npy"]


def test_a_folder_of_something_else_is_no_new_repository(tmp_path: Path) -> None:
    (tmp_path / "old.icechunk").mkdir()
    (tmp_path / "old.icechunk" / "mine.txt").write_text("mine")
    with pytest.raises(CannotWrite):
        save(str(tmp_path / "old.icechunk"), np.arange(3))
    assert (tmp_path / "old.icechunk" / "mine.txt").read_text() == "mine"


def test_a_new_repository_has_no_version_to_be_named() -> None:
    with pytest.raises(CannotWrite) as refusal:
        save("new.icechunk@main", np.arange(3))
    assert "a new repository is a folder" in refusal.value.where
