"""Folders appear whole or not at all, and leftovers are told from the work of others."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gscli.base import CannotWrite, GscliWarning
from gscli.disk import exchange
from gscli.files.stores.folder import open_folder


def ours(_path: str) -> bool:
    return True


def names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def put(path: Path, text: str, **options: Any) -> None:
    with open_folder(str(path), ours, **options) as hidden:
        Path(hidden, "deep").mkdir()
        Path(hidden, "deep", "file").write_text(text)


WAYS = pytest.mark.parametrize("exchanges", [True, False])


def without_renameat2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_renameat2", lambda *_: False)


@WAYS
def test_a_new_folder_and_one_that_replaces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    if not exchanges:
        without_renameat2(monkeypatch)
    out = tmp_path / "out.zarr"
    put(out, "one")
    out.chmod(0o750)
    put(out, "two")
    assert Path(out, "deep", "file").read_text() == "two"
    assert out.stat().st_mode & 0o777 == 0o750
    assert names(tmp_path) == ["out.zarr"]


def test_nothing_appears_when_the_block_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with open_folder(f"{tmp_path}/out.zarr", ours) as hidden:
            Path(hidden, "file").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert names(tmp_path) == []

    def refuse() -> None:
        raise CannotWrite("changed")

    put(tmp_path / "out.zarr", "old")
    with pytest.raises(CannotWrite, match="changed"):
        put(tmp_path / "out.zarr", "new", check=refuse)
    assert Path(tmp_path, "out.zarr", "deep", "file").read_text() == "old"
    assert names(tmp_path) == ["out.zarr"]


def test_the_old_folder_stays_where_the_new_cannot_be_put(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.zarr"
    put(out, "old")
    without_renameat2(monkeypatch)
    real = os.rename

    def rename(old: str, new: str) -> None:
        if new == str(out) and not Path(old, "deep", "file").read_text() == "old":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(old, new)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(CannotWrite, match="input/output"):
        put(out, "new")
    assert Path(out, "deep", "file").read_text() == "old"
    assert names(tmp_path) == ["out.zarr"]


def make_theirs(path: Path) -> None:
    path.mkdir()
    (path / "theirs").write_text("precious")


@WAYS
@pytest.mark.parametrize("began", ["free", "empty", "ours", "gone"])
def test_a_folder_that_takes_the_name_meanwhile_stays(
    began: str, exchanges: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchanges:
        without_renameat2(monkeypatch)
    out = tmp_path / "out.zarr"
    if began == "empty":
        out.mkdir()
    elif began != "free":
        put(out, "old")

    def take_the_name() -> None:
        if began != "free":
            out.rename(tmp_path / "moved.zarr")
        if began != "gone":
            make_theirs(out)

    if began == "gone":
        put(out, "new", check=take_the_name)
        assert Path(out, "deep", "file").read_text() == "new"
    else:
        with pytest.raises(CannotWrite, match=r"replaced meanwhile|by somebody else meanwhile"):
            put(out, "new", check=take_the_name)
        assert Path(out, "theirs").read_text() == "precious"
    assert set(names(tmp_path)) <= {"moved.zarr", "out.zarr"}


@WAYS
def test_what_is_put_into_the_old_folder_meanwhile_stays(
    exchanges: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchanges:
        without_renameat2(monkeypatch)
    out = tmp_path / "out.zarr"
    put(out, "old")
    with pytest.raises(CannotWrite, match="replaced meanwhile"):
        put(out, "new", check=lambda: make_theirs(out / "more"))
    assert Path(out, "deep", "file").read_text() == "old"
    assert Path(out, "more", "theirs").read_text() == "precious"
    assert names(tmp_path) == ["out.zarr"]


def test_a_hidden_folder_that_was_moved_away_is_not_looked_for_by_name(tmp_path: Path) -> None:
    def swap() -> None:
        (hidden,) = tmp_path.iterdir()
        hidden.rename(tmp_path / "ours")
        make_theirs(hidden)
        raise CannotWrite("changed")

    with pytest.raises(CannotWrite, match="changed"):
        put(tmp_path / "out.zarr", "new", check=swap)
    assert len(names(tmp_path)) == 2
    assert [path.read_text() for path in tmp_path.glob("out*/theirs")] == ["precious"]


def test_leftovers_are_removed_and_told_of(tmp_path: Path) -> None:
    left = tmp_path / "out.zarr.gscli-0123abcd"
    left.mkdir()
    (left / "file").write_text("half")
    (tmp_path / "other.zarr.gscli-0123abcd").mkdir()
    with pytest.warns(GscliWarning, match="was left by a run that was killed"):
        put(tmp_path / "out.zarr", "new")
    assert names(tmp_path) == ["other.zarr.gscli-0123abcd", "out.zarr"]


WAITING = """
import sys, time
from gscli.files.stores.folder import open_folder
with open_folder(sys.argv[1], lambda path: True) as hidden:
    print("there", flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_refused_and_a_killed_one_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out.zarr"
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, str(out)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        with pytest.raises(CannotWrite, match="by another process"):
            put(out, "mine")
    finally:
        process.kill()
        process.communicate()
    assert len(names(tmp_path)) == 1
    with pytest.warns(GscliWarning, match="killed"):
        put(out, "mine")
    assert names(tmp_path) == ["out.zarr"]


def test_a_signal_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, f"{tmp_path}/out.zarr"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    process.communicate(timeout=30)
    deadline = time.monotonic() + 10
    while names(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert names(tmp_path) == []
