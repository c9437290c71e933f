"""Fail the n-th call of the system, then the next, until a run ends clean.

After every fault the target holds the old content or the complete new one, no temporary file is
left, no descriptor stays open, and nothing but GscliError comes out.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from faults.faulty import FaultyOs

from gscli.errors import CannotRead, CannotWrite, GscliError
from gscli.files import load, open_atomic, save
from gscli.formats import atomic, content

ERRORS = (errno.EIO, errno.ENOSPC, errno.EINTR)
OLD = np.arange(3)
NEW = np.arange(40.0).reshape(5, 8)


def install(monkeypatch: pytest.MonkeyPatch, faulty: FaultyOs) -> None:
    monkeypatch.setattr(atomic, "os", faulty)
    monkeypatch.setattr(content, "os", faulty)


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
    steps = 0
    while True:
        folder = tmp_path / f"step{steps}"
        folder.mkdir()
        path = target(folder)
        before = snapshot(folder)
        descriptors = open_descriptors()
        faulty = FaultyOs(steps, number)
        refused = None
        with monkeypatch.context() as patch:
            install(patch, faulty)
            try:
                save(str(path), NEW, format=form)
            except CannotWrite as error:
                refused = error
        assert open_descriptors() == descriptors
        content_now = path.read_bytes() if path.exists() else None
        if refused is None:
            assert content_now == complete
        else:
            assert content_now in {before.get(str(path)), complete}
            assert set(snapshot(folder)) - {str(path)} == set(before) - {str(path)}
        assert not [name for name in names(folder) if name.startswith(".gscli")]
        if not faulty.failed:
            break
        steps += 1
    assert steps >= 8
    assert refused is None


def test_a_failed_unlink_does_not_hide_the_first_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fails(FaultyOs):
        def __getattr__(self, name: str) -> object:
            if name in {"fsync", "unlink"}:
                return self.refuse
            return getattr(os, name)

        def refuse(self, *_: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(atomic, "os", Fails(0, 0))
    with pytest.raises(CannotWrite, match="input/output error"):
        save(str(tmp_path / "x.npy"), NEW)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


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
    steps = 0
    while True:
        descriptors = open_descriptors()
        faulty = FaultyOs(steps, number)
        with monkeypatch.context() as patch:
            install(patch, faulty)
            try:
                result = load(str(path)).array.tobytes()
            except CannotRead:
                result = None
        assert result in {None, expected}
        del result
        assert open_descriptors() == descriptors
        if not faulty.failed:
            break
        steps += 1
    assert steps >= 3


@pytest.mark.parametrize("form", ["npz", "safetensors", "h5"])
def test_each_step_of_changing_a_member(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"x.{form}"
    save(f"{path}::a", OLD)
    save(f"{path}::b", NEW)
    old = path.read_bytes()
    steps = 0
    while True:
        faulty = FaultyOs(steps, errno.EIO)
        with monkeypatch.context() as patch:
            install(patch, faulty)
            try:
                save(f"{path}::a", OLD * 2)
            except GscliError:
                assert path.read_bytes() == old or load(f"{path}::a").array[1] == 2
        assert [p.name for p in tmp_path.iterdir()] == [path.name]
        assert np.array_equal(load(f"{path}::b").array, NEW)
        path.write_bytes(old)
        if not faulty.failed:
            break
        steps += 1
    assert steps >= 8


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Short(FaultyOs):
        def __getattr__(self, name: str) -> object:
            if name == "write":
                return lambda descriptor, data: os.write(descriptor, data[:7])
            return getattr(os, name)

    monkeypatch.setattr(atomic, "os", Short(0, 0))
    save(str(tmp_path / "x.npy"), NEW)
    assert np.array_equal(load(str(tmp_path / "x.npy")).array, NEW)


def test_the_folder_sync_that_failed_is_told_with_the_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    class SecondSync(FaultyOs):
        def __getattr__(self, name: str) -> object:
            return self.sync if name == "fsync" else getattr(os, name)

        def sync(self, descriptor: int) -> None:
            calls.append(descriptor)
            if len(calls) == 2:
                raise OSError(self.error, os.strerror(self.error))

    for number, refused in [(errno.EIO, True), (errno.EINVAL, False)]:
        calls.clear()
        monkeypatch.setattr(atomic, "os", SecondSync(0, number))
        if refused:
            with pytest.raises(CannotWrite, match="is complete, but may not survive"):
                save(str(tmp_path / "x.npy"), NEW)
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
