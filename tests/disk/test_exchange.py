"""A new file takes the place of the one that was read, and of no other; and syncing."""

from __future__ import annotations

import ctypes
import errno
import os
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gscli.base import CannotRead, CannotWrite, GscliError
from gscli.disk import exchange, system
from gscli.disk.atomic import open_atomic
from gscli.disk.mapped import RegularFile, open_regular_file, undo_file_of
from gscli.files import save

real = exchange.exchange_names


@pytest.fixture
def old(tmp_path: Path) -> RegularFile:
    """The file that was read."""
    (tmp_path / "x").write_bytes(b"old")
    file = open_regular_file(str(tmp_path / "x"))
    assert file is not None
    return file


def replaced(file: RegularFile) -> None:
    with open_atomic(file.path, replaces=file) as out:
        out.write(b"new")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def before_exchange(
    monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], object], does: type | None = None
) -> None:
    """Something happens right before the first exchange, the second, …"""
    left = list(acts)

    def call(one: str, other: str) -> bool:
        if left:
            left.pop(0)()
        return real(one, other) if does is None else does()

    monkeypatch.setattr(exchange, "exchange_names", call)


def test_the_old_file_goes(old: RegularFile, tmp_path: Path) -> None:
    replaced(old)
    assert contents(tmp_path) == {"x": b"new"}


def test_another_file_that_is_moved_there_in_the_last_moment_stays(
    old: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").write_bytes(b"other")
    before_exchange(monkeypatch, lambda: (tmp_path / "other").rename(old.path))
    with pytest.raises(CannotWrite, match="moved or replaced"):
        replaced(old)
    assert contents(tmp_path) == {"x": b"other"}


def test_what_is_written_to_it_in_the_last_moment_stays(
    old: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_exchange(monkeypatch, lambda: (tmp_path / "x").write_bytes(b"newest"))
    with pytest.raises(CannotRead, match="was changed"):
        replaced(old)
    assert contents(tmp_path) == {"x": b"newest"}


def test_the_newest_of_several_stays(
    old: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).write_bytes(name.encode())
    moves = [lambda name=name: (tmp_path / name).rename(old.path) for name in ("first", "second")]
    before_exchange(monkeypatch, *moves)
    with pytest.raises(CannotWrite, match="moved or replaced"):
        replaced(old)
    assert contents(tmp_path) == {"x": b"second"}


def test_a_name_that_goes_in_the_last_moment_is_not_made_again(
    old: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_exchange(monkeypatch, lambda: (tmp_path / "x").rename(tmp_path / "moved"))
    with pytest.raises(CannotWrite, match="moved or replaced"):
        replaced(old)
    assert contents(tmp_path) == {"moved": b"old"}


def test_what_cannot_be_put_back_is_kept_and_named(
    old: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").write_bytes(b"other")
    moves = (lambda: (tmp_path / "other").rename(old.path), (tmp_path / "x").unlink)
    before_exchange(monkeypatch, *moves)
    with pytest.raises(CannotWrite, match="cannot be put back") as caught:
        replaced(old)
    ((name, content),) = contents(tmp_path).items()
    assert content == b"other"
    assert name in caught.value.details[0]


def test_a_system_that_cannot_exchange_renames(
    old: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_exchange(monkeypatch, does=bool)
    replaced(old)
    assert contents(tmp_path) == {"x": b"new"}


WAYS = pytest.mark.parametrize("missing", ["nothing", "renameat2", "links"])


def lose_calls(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the system lack some calls."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if missing != "nothing":
        monkeypatch.setattr(exchange, "_renameat2", lambda *_: False)
    if missing == "links":
        monkeypatch.setattr(os, "link", refuse)


@WAYS
@pytest.mark.parametrize("began", ["free", "old", "gone", "written to"])
def test_a_file_that_takes_the_name_of_an_output_meanwhile_stays(
    began: str, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_calls(missing, monkeypatch)
    path = tmp_path / "out"
    if began != "free":
        path.write_bytes(b"old")

    def take_the_name() -> None:
        if began in {"old", "gone"}:
            path.rename(tmp_path / "moved")
        if began != "gone":
            path.write_bytes(b"precious")

    def write() -> None:
        with open_atomic(str(path), check=take_the_name) as out:
            out.write(b"new")

    if began == "gone":
        write()
        assert contents(tmp_path) == {"moved": b"old", "out": b"new"}
        return
    with pytest.raises(CannotWrite, match=r"replaced meanwhile|by somebody else meanwhile"):
        write()
    assert path.read_bytes() == b"precious"
    assert set(contents(tmp_path)) <= {"moved", "out"}


@WAYS
def test_an_output_is_made_where_the_name_is_free(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_calls(missing, monkeypatch)
    for content in (b"one", b"two"):
        with open_atomic(str(tmp_path / "out")) as out:
            out.write(content)
        assert contents(tmp_path) == {"out": content}


def test_a_link_that_fails_otherwise_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_calls("renameat2", monkeypatch)

    def refuse(*_: object) -> None:
        raise OSError(errno.EMLINK, os.strerror(errno.EMLINK))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(CannotWrite, match="too many links"), open_atomic(f"{tmp_path}/out") as out:
        out.write(b"new")
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("library", [types.SimpleNamespace(), None], ids=["absent", "refused"])
def test_a_system_without_the_call_says_so(
    library: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library is None:
        library = types.SimpleNamespace(renameat2=lambda *_: -1)
        monkeypatch.setattr(ctypes, "get_errno", lambda: 38)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: library)
    assert not exchange.exchange_names(str(tmp_path / "a"), str(tmp_path / "b"))


def test_an_old_file_that_cannot_be_removed_is_told_of(
    old: RegularFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(CannotWrite, match="cannot remove the old content"):
        replaced(old)
    assert (tmp_path / "x").read_bytes() == b"new"


def test_nothing_is_written_over_a_file_with_an_undo_file(tmp_path: Path) -> None:
    path = str(tmp_path / "x.npy")
    save(path, np.arange(3))
    Path(undo_file_of(path)).write_bytes(b"rows of another run")
    before = contents(tmp_path)
    with pytest.raises(GscliError, match="under way, or was cut short"):
        save(path, np.arange(4))
    assert contents(tmp_path) == before


def test_a_drive_with_a_memory_of_its_own_is_asked_to_empty_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    full = types.SimpleNamespace(F_FULLFSYNC=51, fcntl=lambda _, request: asked.append(request))
    monkeypatch.setattr(system, "fcntl", full)
    monkeypatch.setattr(system.os, "fsync", lambda _: asked.append(0))
    save(str(tmp_path / "x.npy"), np.arange(3))
    assert set(asked) == {51}

    def refuse(*_: int) -> None:
        raise OSError(25, "Inappropriate ioctl for device")

    full.fcntl = refuse
    asked.clear()
    save(str(tmp_path / "x.npy"), np.arange(3))
    assert set(asked) == {0}
