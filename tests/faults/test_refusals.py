"""What a file system may refuse: more room than a quota grants, reserving room, all writes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults.faulty import Faults, refused
from faults.large import DATA, STREAMED, cramp

from gscli.base import CannotWrite
from gscli.disk import system, uncached
from gscli.disk.mapped import RegularFile
from gscli.stream import undo_file

SUBJECT = STREAMED["scatter"]
NEW = SUBJECT.expected()

TAKE_ROOM = {"write", "pwrite", "posix_fallocate", "flush"}


@pytest.fixture(autouse=True)
def cramped(monkeypatch: pytest.MonkeyPatch) -> None:
    cramp(monkeypatch)


class Quota(Faults):
    """The calls that take room are refused from the `fail_at`-th on; all others go on."""

    def __init__(self, fail_at: int) -> None:
        super().__init__(fail_at, errno.EDQUOT, lasting=True)

    def counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        return super().counted(name, real) if name in TAKE_ROOM else real


WAYS: dict[str, Callable[[Path], None]] = {
    "output": lambda folder: SUBJECT.streamed(folder, "data.npy"),
    "in place": lambda folder: SUBJECT.patched(folder, direct=False),
    "direct": lambda folder: SUBJECT.patched(folder, direct=True),
}


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_quota_leaves_whole_files(
    way: str, holes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RegularFile, "has_holes", property(lambda _: holes))
    SUBJECT.saved(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    data, granted, told = tmp_path / "data.npy", 0, "once"
    while told:
        told = refused(quota := Quota(granted), monkeypatch, lambda: WAYS[way](tmp_path)) or ""
        assert "quota" in told.lower() or not quota.failed
        mixed = data.read_bytes() != before["data.npy"] and told
        if mixed or "gscli undo" in told:
            assert way == "direct"
            assert "gscli undo" in told
            undo_file.undo(str(data))
        if told:
            assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        granted += 1
    assert data.read_bytes().endswith(NEW)
    assert granted >= 3


def test_no_room_for_the_rows_of_a_file_with_holes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was written then: the file is as it was, and needs no undo."""
    monkeypatch.setattr(RegularFile, "has_holes", property(lambda _: True))
    SUBJECT.saved(tmp_path)

    def full(*_: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(CannotWrite, match="quota") as caught:
        SUBJECT.patched(tmp_path, direct=True)
    assert caught.value.details == ("the file is as it was",)
    assert np.array_equal(np.load(tmp_path / "data.npy"), DATA)
    assert not list(tmp_path.glob("*undo*"))


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, None])
def test_systems_that_cannot_reserve_room(
    number: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: int) -> None:
        raise OSError(number, "no such call")

    monkeypatch.setattr(RegularFile, "has_holes", property(lambda _: True))
    if number is None:
        monkeypatch.delattr(os, "posix_fallocate")
    else:
        monkeypatch.setattr(os, "posix_fallocate", unknown)
    SUBJECT.saved(tmp_path)
    SUBJECT.patched(tmp_path, direct=True)
    assert (tmp_path / "data.npy").read_bytes().endswith(NEW)
    system.preallocate(-1, 0, 0)


def test_a_device_that_refuses_every_write_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: Any) -> int:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    SUBJECT.saved(tmp_path)
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(uncached.os, "pwrite", refusing)
    with pytest.raises(CannotWrite, match="invalid argument"):
        SUBJECT.streamed(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
