"""Fail the n-th call of the system, then the next, until a run ends clean.

After every fault the target holds the old content or the complete new one, no temporary file is
left, no descriptor stays open, and nothing but GscliError comes out.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import slow
from faults.faulty import each_step, refused

from gscli.base import CannotWrite
from gscli.disk import atomic, system
from gscli.disk.atomic import open_atomic
from gscli.files import load, save

ERRORS = (errno.EIO, errno.ENOSPC, errno.EINTR)
OLD = np.arange(3)
NEW = np.arange(40.0).reshape(5, 8)


def new_target(folder: Path) -> Path:
    return folder / "out"


def old_target(folder: Path) -> Path:
    path = folder / "out"
    path.write_bytes(b"old")
    path.chmod(0o640)
    return path


def link_target(folder: Path) -> Path:
    (folder / "real").mkdir()
    (folder / "real" / "file").write_bytes(b"old")
    (folder / "out").symlink_to("real/file")
    return folder / "out"


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("target", [new_target, old_target, link_target])
@pytest.mark.parametrize("form", ["npy", "npz", "json", "csv", "pb", "safetensors", "h5"])
def test_each_step_of_a_write(
    form: str,
    target: Callable[[Path], Path],
    number: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = tmp_path / "expected"
    save(str(expected), NEW, format=form)
    complete = expected.read_bytes()
    for faults in each_step(number):
        folder = tmp_path / f"step{faults.fail_at}"
        folder.mkdir()
        path = target(folder)
        before = snapshot(folder)
        told = refused(faults, monkeypatch, lambda path=path: save(str(path), NEW, format=form))
        content_now = path.read_bytes() if path.exists() else None
        if told is None:
            assert content_now == complete
        else:
            assert content_now in {before.get(str(path)), complete}
            assert set(snapshot(folder)) - {str(path)} == set(before) - {str(path)}
        assert not [name for name in names(folder) if name.startswith(".gscli")]
    assert faults.fail_at >= 8
    assert told is None


def test_a_failed_unlink_does_not_hide_the_first_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(system, "os", Changed(fsync=refuse))
    monkeypatch.setattr(atomic, "os", Changed(unlink=refuse))
    with pytest.raises(CannotWrite, match="input/output error"):
        save(str(tmp_path / "x.npy"), NEW)


class Changed:
    """`os` with some calls replaced."""

    def __init__(self, **calls: Callable[..., object]) -> None:
        self._calls = calls

    def __getattr__(self, name: str) -> object:
        return self._calls.get(name, getattr(os, name, None))


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def names(folder: Path) -> list[str]:
    return [p.name for p in folder.rglob("*")]


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("form", ["npy", "npz", "json", "csv", "pb", "safetensors", "h5"])
def test_each_step_of_a_read(
    form: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"x.{form}"
    save(str(path), np.arange(1 << 17) if form == "npy" else NEW)
    expected = load(str(path)).array.tobytes()
    for faults in each_step(number):
        found: list[bytes] = []

        def read(found: list[bytes] = found) -> None:
            found.append(load(str(path)).array.tobytes())

        told = refused(faults, monkeypatch, read)
        assert found == ([] if told else [expected])
    assert faults.fail_at >= 3
    assert told is None


@pytest.mark.parametrize("form", ["npz", "safetensors", *slow(["h5"])])
def test_each_step_of_changing_a_member(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"x.{form}"
    save(f"{path}::a", OLD)
    save(f"{path}::b", NEW)
    old = path.read_bytes()
    for faults in each_step(errno.EIO):
        told = refused(faults, monkeypatch, lambda: save(f"{path}::a", OLD * 2))
        if told is not None:
            assert path.read_bytes() == old or load(f"{path}::a").array[1] == 2
        assert [p.name for p in tmp_path.iterdir()] == [path.name]
        assert np.array_equal(load(f"{path}::b").array, NEW)
        path.write_bytes(old)
    assert faults.fail_at >= 8


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = Changed(write=lambda descriptor, data: os.write(descriptor, data[:7]))
    monkeypatch.setattr(atomic, "os", short)
    save(str(tmp_path / "x.npy"), NEW)
    assert np.array_equal(load(str(tmp_path / "x.npy")).array, NEW)


def test_the_folder_sync_that_failed_is_told_with_the_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def sync(number: int, descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(number, os.strerror(number))

    for number, is_told in [(errno.EIO, True), (errno.EINVAL, False)]:
        calls.clear()
        monkeypatch.setattr(system, "os", Changed(fsync=partial(sync, number)))
        if is_told:
            with pytest.raises(CannotWrite, match="cannot sync the folder") as caught:
                save(str(tmp_path / "x.npy"), NEW)
            assert "is complete, but may not survive" in caught.value.details[0]
        else:
            save(str(tmp_path / "x.npy"), NEW)
        assert np.array_equal(load(str(tmp_path / "x.npy")).array, NEW)
        assert [p.name for p in tmp_path.iterdir()] == ["x.npy"]


def test_a_closed_file_takes_no_more(tmp_path: Path) -> None:
    with open_atomic(str(tmp_path / "x")) as file:
        file.write(b"a")
    file.close()
    with pytest.raises(CannotWrite, match="closed"):
        file.write(b"b")
    assert (tmp_path / "x").read_bytes() == b"a"
