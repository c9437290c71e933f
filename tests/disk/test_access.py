"""A file that takes another's place is open to the same people, or to fewer."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from gscli.disk.atomic import open_atomic

LIST = "system.posix_acl_access"
ROOT = os.geteuid() == 0


def put(path: Path) -> None:
    with open_atomic(str(path)) as file:
        file.write(b"new")


def access_list() -> bytes:
    """user::rw-, user:1234:rw-, group::---, mask::rw-, other::--- as Linux stores it."""
    entries = [(1, 6, -1), (2, 6, 1234), (4, 0, -1), (16, 6, -1), (32, 0, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def refuse(*_: object) -> None:
    raise PermissionError


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    return path


def test_owner_group_list_and_attributes_stay(old: Path) -> None:
    if ROOT:
        os.chown(old, 1000, 2000)
    old.chmod(0o640)
    attributes = {"user.note": b"kept", LIST: access_list()}
    for name, value in attributes.items():
        os.setxattr(old, name, value)
    before = old.stat()
    put(old)
    after = old.stat()
    assert old.read_bytes() == b"new"
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert after.st_mode == before.st_mode
    assert {name: os.getxattr(old, name) for name in attributes} == attributes


@pytest.mark.skipif(not ROOT, reason="only root makes a file of another group")
@pytest.mark.parametrize(
    ("mode", "narrowed"), [(0o664, 0o644), (0o660, 0o600), (0o604, 0o600), (0o755, 0o755)]
)
def test_without_the_group_nobody_else_comes_in(
    mode: int, narrowed: int, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(old, 1000, 2000)
    old.chmod(mode)
    monkeypatch.setattr("os.fchown", refuse)
    put(old)
    assert old.stat().st_mode & 0o777 == narrowed


def test_without_its_list_a_file_is_its_owners_alone(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.setxattr(old, LIST, access_list())
    os.setxattr(old, "user.note", b"lost")
    assert old.stat().st_mode & 0o777 == 0o660  # the list's mask
    monkeypatch.setattr("os.setxattr", refuse)
    put(old)
    assert old.stat().st_mode & 0o777 == 0o600


def test_attributes_that_cannot_be_read_or_are_not_known(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old.chmod(0o640)
    os.setxattr(old, "user.note", b"kept")
    monkeypatch.setattr("os.listxattr", lambda _: ["trusted.other", "user.note"])
    put(old)
    assert os.getxattr(old, "user.note") == b"kept"
    monkeypatch.setattr("os.getxattr", refuse)
    put(old)
    monkeypatch.delattr("os.listxattr")
    put(old)
    assert old.stat().st_mode & 0o777 == 0o640
