"""Journals beside a file that cannot be used, and names beside which there is none."""

from __future__ import annotations

import fcntl
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from gscli.base.errors import CannotRead
from gscli.files.content import MAPPED_FROM, FileContent
from gscli.files.mapped import file_of
from gscli.files.undo import Journal, journal_of, recover


def test_names_that_no_file_can_have_have_no_journal() -> None:
    assert recover("a\0b") is False
    assert recover("\ud800") is False


def test_a_journal_that_is_a_link_is_left_to_a_person(tmp_path: Path) -> None:
    target = tmp_path / "data.npy"
    target.write_bytes(b"kept")
    Path(journal_of(str(target))).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotRead):
        recover(str(target))
    assert target.read_bytes() == b"kept"


def test_a_journal_that_goes_away_was_finished_by_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "lexists", lambda _: True)
    assert recover(str(tmp_path / "data.npy")) is False


def test_a_journal_without_its_file_is_left_to_a_person(tmp_path: Path) -> None:
    target = tmp_path / "data.npy"
    Path(journal_of(str(target))).write_bytes(b"")
    with pytest.raises(CannotRead):
        recover(str(target))


def test_a_mapped_descriptor_without_a_name(tmp_path: Path) -> None:
    file = tmp_path / "bytes"
    file.write_bytes(bytes(MAPPED_FROM))
    with FileContent("a name", os.open(file, os.O_RDONLY), MAPPED_FROM) as content:
        array = content.array(np.dtype(np.uint8), MAPPED_FROM, 0)
    assert array.sum() == 0
    assert file_of(array) is None


def interrupted(folder: Path) -> Path:
    """A file of 8 zero bytes whose patch stopped half way: it held ones before."""
    target = folder / "data"
    target.write_bytes(b"\1" * 8)
    descriptor = os.open(target, os.O_RDWR)
    journal = Journal(str(target), descriptor, 0, 8)
    journal.add(np.array([0]), np.ones((1, 8), np.uint8))
    journal.seal()
    os.pwrite(descriptor, bytes(8), 0)
    os.close(descriptor)
    os.close(journal._descriptor)
    return target


def test_what_was_cut_short_is_put_back(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    assert recover(str(target)) is True
    assert target.read_bytes() == b"\1" * 8
    assert list(tmp_path.iterdir()) == [target]


def test_a_strangers_journal_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shared folder anybody can put a file of that name beside another's file."""
    target = interrupted(tmp_path)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(CannotRead, match="not your own"):
        recover(str(target))
    assert target.read_bytes() == bytes(8)
    assert Path(journal_of(str(target))).exists()


def test_a_journal_with_a_second_name_is_not_believed(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    (tmp_path / "second").hardlink_to(journal_of(str(target)))
    with pytest.raises(CannotRead, match="not your own"):
        recover(str(target))
    assert target.read_bytes() == bytes(8)


def test_a_patch_that_ends_while_we_look_is_not_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = interrupted(tmp_path)
    real = fcntl.flock

    def finished_first(descriptor: int, operation: int) -> None:
        Path(journal_of(str(target))).unlink()
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", finished_first)
    assert recover(str(target)) is False
    assert target.read_bytes() == bytes(8)


def test_a_sealed_journal_that_makes_no_sense(tmp_path: Path) -> None:
    """Its checksum is right: only its numbers are not."""
    target = tmp_path / "data"
    target.write_bytes(bytes(8))
    status = target.stat()
    for width, count in [(0, 1), (8, 1), (8, 2**60), (2**62, 1)]:
        body = b"gscli undo 1\n" + struct.pack("<5Q", status.st_ino, 8, 0, width, count)
        body += struct.pack("<Q", 0)
        journal = Path(journal_of(str(target)))
        journal.write_bytes(body + struct.pack("<I", zlib.crc32(body[:-8])) + b"sealed\n")
        with pytest.raises(CannotRead):
            recover(str(target))
        journal.unlink()
    assert target.read_bytes() == bytes(8)
