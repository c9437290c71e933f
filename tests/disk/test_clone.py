"""Copies of a file: shared where the system can, else every byte, and room for it first."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gscli.base import CannotWrite
from gscli.disk import clone as cloning
from gscli.disk.atomic import open_atomic
from gscli.disk.clone import clone_file
from gscli.disk.mapped import RegularFile, open_regular_file

CONTENT = bytes(range(256)) * 500


@pytest.fixture
def source(tmp_path: Path) -> RegularFile:
    (tmp_path / "source").write_bytes(CONTENT)
    file = open_regular_file(str(tmp_path / "source"))
    assert file is not None
    return file


def copied(source: RegularFile, folder: Path) -> bytes:
    with open_atomic(str(folder / "copy")) as out:
        clone_file(source, out)
    return (folder / "copy").read_bytes()


def test_blocks_that_can_be_shared_are_not_copied(
    source: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr("fcntl.ioctl", lambda _target, request, _source: asked.append(request))
    assert copied(source, tmp_path) == b""
    assert asked == [0x40049409]


def test_bytes_that_cannot_be_shared_are_copied(
    source: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cloning, "_STEP", 1000)
    assert copied(source, tmp_path) == CONTENT


def test_a_failure_of_the_copy_is_told(
    source: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "bad disk")

    monkeypatch.setattr("os.pwrite", fail)
    with pytest.raises(OSError, match="bad disk"):
        copied(source, tmp_path)
    assert not (tmp_path / "copy").exists()


def test_a_system_that_knows_no_holes(
    source: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.SEEK_DATA")
    assert copied(source, tmp_path) == CONTENT


def test_holes_stay_holes_and_failures_to_find_them_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "holes"
    with path.open("wb") as file:
        file.write(b"data")
        file.truncate(10 << 20)
    source = open_regular_file(str(path))
    assert source is not None
    assert copied(source, tmp_path) == path.read_bytes()
    assert (tmp_path / "copy").stat().st_blocks * 512 < 1 << 20

    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "bad disk")

    monkeypatch.setattr("os.lseek", fail)
    with pytest.raises(OSError, match="bad disk"):
        list(cloning._iter_data_extents(source))


def test_room_is_asked_for_first(
    source: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full: Any = SimpleNamespace(f_bavail=1, f_frsize=512)
    monkeypatch.setattr("os.statvfs", lambda _: full)
    with pytest.raises(CannotWrite, match="not enough space"):
        copied(source, tmp_path)
