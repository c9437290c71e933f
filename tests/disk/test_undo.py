"""Undo files: what was cut short is put back, and nothing else is ever written by them."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from gscli.base import CannotRead, CannotWrite
from gscli.disk.mapped import RegularFile, is_unfinished, open_regular, undo_file_of
from gscli.disk.system import locked
from gscli.disk.undo import UndoFile, UnfinishedPatch, undo
from gscli.files import load

OLD, NEW = b"\1" * 8, b"\2" * 8


def opened(path: Path) -> RegularFile:
    file = open_regular(str(path))
    assert file is not None
    return file


def interrupted(folder: Path, *, sealed: bool = True, left: bytes = b"\2" * 3 + b"\1" * 5) -> Path:
    """A file of two rows, the first old, the second cut short on its way to new."""
    target = folder / "data.npy"
    target.write_bytes(OLD + OLD)
    note = UndoFile(opened(target), 0, 8)
    old, new = (np.frombuffer(row, np.uint8).reshape(1, 8) for row in (OLD, NEW))
    note.add(np.array([1]), old, new)
    if sealed:
        note.seal()
        target.write_bytes(OLD + left)
        os.utime(target, ns=(1, 1))
    note.leave()
    return target


@pytest.mark.parametrize("left", [OLD, NEW, b"\2" * 3 + b"\1" * 5], ids=["old", "new", "mixed"])
def test_what_was_cut_short_is_put_back(left: bytes, tmp_path: Path) -> None:
    target = interrupted(tmp_path, left=left)
    assert undo(str(target)) == 1
    assert target.read_bytes() == OLD + OLD
    assert list(tmp_path.iterdir()) == [target]


def test_a_patch_that_never_began_is_forgotten(tmp_path: Path) -> None:
    target = interrupted(tmp_path, sealed=False)
    assert undo(str(target)) == 0
    assert target.read_bytes() == OLD + OLD
    assert list(tmp_path.iterdir()) == [target]
    Path(undo_file_of(str(target))).write_bytes(b"")
    assert undo(str(target)) == 0


def test_new_content_under_the_name_is_not_overwritten(tmp_path: Path) -> None:
    """Neither by a reader, which the first design let write, nor by undo."""
    target = interrupted(tmp_path)
    fresh = np.full((16,), 7, np.uint8).tobytes()
    target.write_bytes(fresh)
    with pytest.raises(CannotWrite, match="neither its old nor its new"):
        undo(str(target))
    assert target.read_bytes() == fresh
    assert Path(undo_file_of(str(target))).exists()


def test_a_moved_file_is_mended_by_naming_its_undo_file(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    moved = target.rename(tmp_path / "moved.npy")
    with pytest.raises(CannotRead, match="no undo file"):
        undo(str(moved))
    assert undo(str(moved), undo_file_of(str(target))) == 1
    assert moved.read_bytes() == OLD + OLD


def test_a_second_name_is_mended_as_well(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    second = tmp_path / "second.npy"
    second.hardlink_to(target)
    assert undo(str(second), undo_file_of(str(target))) == 1
    assert target.read_bytes() == OLD + OLD


@pytest.mark.parametrize("place", [0, 20, 60, -1])
def test_a_damaged_undo_file_is_told_of_and_kept(place: int, tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    before = target.read_bytes()
    note = Path(undo_file_of(str(target)))
    content = bytearray(note.read_bytes())
    content[place] ^= 1
    note.write_bytes(content)
    with pytest.raises(CannotRead, match="incomplete or damaged"):
        undo(str(target))
    assert target.read_bytes() == before
    assert note.exists()


def test_a_reader_is_told_and_changes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "data.npy"
    np.save(target, np.arange(3))
    Path(undo_file_of(str(target))).write_bytes(b"anything")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.warns(UnfinishedPatch, match="gscli undo"):
        assert load(str(target)).array.tolist() == [0, 1, 2]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_is_being_patched_is_left_alone(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    before = target.read_bytes()
    with locked(opened(target)), pytest.raises(CannotWrite, match="another process"):
        undo(str(target))
    assert target.read_bytes() == before


def test_names_that_no_file_can_have_have_no_undo_file() -> None:
    assert not is_unfinished("a\0b")
    assert not is_unfinished("\ud800")
    for name in ("a\0b", "\ud800", "absent.npy"):
        with pytest.raises(CannotWrite):
            undo(name)


def test_an_undo_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    note = Path(undo_file_of(str(target)))
    note.rename(tmp_path / "elsewhere")
    note.symlink_to(tmp_path / "elsewhere")
    before = target.read_bytes()
    with pytest.raises(CannotWrite, match="mend"):
        undo(str(target))
    assert target.read_bytes() == before


def test_a_strangers_undo_file_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shared folder anybody can put a file of that name beside another's file."""
    target = interrupted(tmp_path)
    before, me = target.read_bytes(), os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(CannotRead, match="not your own"):
        undo(str(target))
    assert target.read_bytes() == before


def test_an_undo_file_with_a_second_name_is_not_believed(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    (tmp_path / "second").hardlink_to(undo_file_of(str(target)))
    with pytest.raises(CannotRead, match="not your own"):
        undo(str(target))


def test_a_sealed_undo_file_that_makes_no_sense(tmp_path: Path) -> None:
    """Its checksum is right: only its numbers are not."""
    target = tmp_path / "data.npy"
    target.write_bytes(bytes(8))
    for width, count in [(0, 1), (8, 1), (8, 2**60), (2**62, 1)]:
        body = b"gscli undo 2\n" + struct.pack("<5Q", 8, 0, 0, width, count) + struct.pack("<Q", 0)
        note = Path(undo_file_of(str(target)))
        note.write_bytes(body + struct.pack("<I", zlib.crc32(body[:-8])) + b"sealed\n")
        with pytest.raises(CannotWrite, match="mend"):
            undo(str(target))
        note.unlink()
    assert target.read_bytes() == bytes(8)


def test_rows_beyond_the_file_are_not_written(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    target.write_bytes(OLD)
    with pytest.raises(Exception, match="shorter"):
        undo(str(target))
    assert target.read_bytes() == OLD
