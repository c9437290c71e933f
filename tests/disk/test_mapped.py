"""One descriptor for each file: what cannot be opened, named, locked or found again."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from gscli.base import CannotRead, CannotWrite
from gscli.disk import system
from gscli.disk.mapped import open_file, open_regular_file, read_errors
from gscli.disk.system import lock_file
from gscli.files import load


def refuse(*_: object) -> None:
    raise OSError(5, "bad disk")


def test_what_is_no_regular_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path), str(tmp_path / "pipe"), str(tmp_path / "absent"), "a\0b"):
        assert open_regular_file(path) is None
    (tmp_path / "x").write_bytes(b"x")
    with monkeypatch.context() as patch:
        patch.setattr("os.fstat", refuse)
        found = open_regular_file(str(tmp_path / "x"))
        with pytest.raises(OSError, match="bad disk"):
            open_file(str(tmp_path / "x"), os.O_RDONLY)
    assert found is None


def test_a_file_that_became_shorter(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345678")
    file = open_file(str(path), os.O_RDONLY)
    os.truncate(path, 3)
    with pytest.raises(CannotRead, match="became shorter while"):
        file.read(0, 8)
    with pytest.raises(CannotRead, match="became shorter while"):
        file.read_into(0, memoryview(bytearray(8)))


def test_a_name_that_means_another_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"1")
    file = open_file(str(path), os.O_RDONLY)
    file.reopen_writable().close()
    (tmp_path / "y").write_bytes(b"2")
    (tmp_path / "y").rename(path)
    with pytest.raises(CannotWrite, match="moved or replaced"):
        file.reopen_writable()
    assert not file.is_same_file(str(path))
    path.unlink()
    assert not file.is_same_file(str(path))


def test_systems_and_file_systems_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_bytes(b"x")
    file = open_file(str(tmp_path / "x"), os.O_RDONLY)
    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", refuse)
        with lock_file(file):
            pass
    monkeypatch.setattr(system, "fcntl", None)
    with lock_file(file):
        pass


def test_names_that_no_file_can_have() -> None:
    with pytest.raises(CannotRead, match="cannot read"), read_errors("a name"):
        raise ValueError("embedded null byte")
    with pytest.raises(CannotRead) as refused, read_errors("large.npy"):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")
    assert "ulimit -v" in refused.value.hint


def overwrite(path: Path) -> None:
    """Another content of the same length, with the time of the old one: cp -p, rsync -t."""
    before = path.stat()
    path.write_bytes(b"2" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_content_whose_time_was_set_back_is_another(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"1" * 100)
    file = open_file(str(path), os.O_RDONLY)
    file.check_unchanged()
    time.sleep(0.02)  # two ticks of the clock that files get their times from
    overwrite(path)
    with pytest.raises(CannotRead, match="was changed while"):
        file.check_unchanged()
    file.check_unchanged(was_renamed=True)  # which sets that time, too


def test_a_second_name_is_no_change_of_content(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"1")
    file = open_file(str(path), os.O_RDONLY)
    time.sleep(0.02)
    (tmp_path / "y").hardlink_to(path)
    file.check_unchanged()
    path.unlink()
    (tmp_path / "y").unlink()
    file.check_unchanged()


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("0,2", "values stand in brackets: '[0,2]'"),
        ("((1, 2), (-3.5, 1e3),)", "values stand in brackets: '[[1, 2], [-3.5, 1e3]]'"),
        ("array([1., nan], dtype=float32)", "x.tolist()"),
        ("np.arange(5)", "x.tolist()"),
        ("(1,x)", "written as JSON"),
        ("(" + "1" * 200 + "x", "written as JSON"),
        ("nothing.npy", "written as JSON"),
    ],
)
def test_values_that_are_no_file_are_told_how_they_are_written(
    path: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotRead, match="cannot read") as caught:
        load(path)
    assert hint in caught.value.hint
