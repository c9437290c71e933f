"""Undo files: what was cut short is put back, and nothing else is ever written by them."""

from __future__ import annotations

import errno
import os
import struct
import warnings
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import judged, open_file

import gscli
from gscli.base import CannotRead, CannotWrite
from gscli.base.arrays import Indices
from gscli.cli import run_safely
from gscli.disk.mapped import ATTRIBUTE, find_undo_file, undo_file_of
from gscli.disk.system import lock_file
from gscli.disk.unfinished import UnfinishedPatch
from gscli.files import load, save
from gscli.stream import patch, patch_in_place
from gscli.stream.undo_file import Bytes, UndoFile, undo, write_rows

OLD, NEW = b"\1" * 8, b"\2" * 8


def interrupted(folder: Path, *, sealed: bool = True, left: bytes = b"\2" * 3 + b"\1" * 5) -> Path:
    """A file of two rows, the first old, the second cut short on its way to new."""
    target = folder / "data.npy"
    target.write_bytes(OLD + OLD)
    note = UndoFile(open_file(target), 0, 8)
    old, new = (np.frombuffer(row, np.uint8).reshape(1, 8) for row in (OLD, NEW))
    note.add(np.array([1]), old, new)
    if sealed:
        note.commit()
        target.write_bytes(OLD + left)
        os.utime(target, ns=(1, 1))
    note.file.close()
    return target


@pytest.mark.parametrize("left", [OLD, NEW, b"\2" * 3 + b"\1" * 5], ids=["old", "new", "mixed"])
def test_what_was_cut_short_is_put_back(left: bytes, tmp_path: Path) -> None:
    target = interrupted(tmp_path, left=left)
    assert undo(str(target)) == 1
    assert target.read_bytes() == OLD + OLD
    assert list(tmp_path.iterdir()) == [target]


def test_the_command_counts_places_which_may_be_rows_or_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = interrupted(tmp_path)
    assert run_safely(["undo", str(target)]) == 0
    assert capsys.readouterr().out == f"{target} is as it was: 1 place put back\n"


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
    for words in ((), (str(tmp_path / "none.npy.gscli-undo"),)):
        with pytest.raises(CannotRead, match="no undo file") as missing:
            undo(str(moved), *words)
        assert missing.value.hint.startswith("a complete patch has none; name that of a moved file")
    with pytest.raises(CannotRead, match="no whole undo file") as swapped:  # data stay
        undo(undo_file_of(str(target)), str(moved))
    assert "it is another file" in swapped.value.details[0]
    assert swapped.value.hint.endswith("gscli undo FILE UNDO-FILE")
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
    with pytest.raises(CannotRead, match="no whole undo file"):
        undo(str(target))
    assert target.read_bytes() == before
    assert note.exists()


def test_a_reader_is_told_and_changes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "data.npy"
    np.save(target, np.arange(3))
    Path(undo_file_of(str(target))).write_bytes(b"anything")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.warns(UnfinishedPatch, match="gscli undo") as seen:
        assert load(str(target)).array.tolist() == [0, 1, 2]
    assert [warning.filename for warning in seen] == [__file__]  # not a line of gscli's own
    with (
        warnings.catch_warnings(action="error", category=gscli.GscliWarning),
        pytest.raises(gscli.GscliWarning, match="may be a mix"),
    ):
        gscli.load(str(target))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_script_whose_path_begins_as_that_of_gscli_is_the_callers(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.arange(3))
    (tmp_path / "data.npy.gscli-undo").write_bytes(b"anything")
    script = f"{Path(gscli.__file__).parent}_notes.py"
    source = compile(f"gscli.load({str(tmp_path / 'data.npy')!r})", script, "exec")
    with pytest.warns(gscli.GscliWarning) as seen:
        exec(source, {"gscli": gscli})
    assert [warning.filename for warning in seen] == [script]


def test_a_file_that_is_being_patched_is_left_alone(tmp_path: Path) -> None:
    target = interrupted(tmp_path)
    before = target.read_bytes()
    with lock_file(open_file(target)), pytest.raises(CannotWrite, match="another process"):
        undo(str(target))
    assert target.read_bytes() == before


def test_names_that_no_file_can_have_have_no_undo_file() -> None:
    assert not find_undo_file("a\0b")
    assert not find_undo_file("\ud800")
    for name in ("a\0b", "\ud800", "absent.npy", "."):  # inputs that cannot be read, as elsewhere
        with pytest.raises(CannotRead, match="cannot read"):
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


@pytest.mark.parametrize(
    ("size", "offset", "rows"),
    [
        (16, 0, [2**62]), (16, 2**63, [0]), (2**64 - 1, 2**63, [0]), (16, 0, [-1]), (16, 0, [2]),
        (16, 8, [1]), (16, 0, [1, 0]), (16, 0, [1, 1]), (2**64 - 1, 0, [2**60]),
    ],
)  # fmt: skip
def test_rows_that_the_file_cannot_have_are_refused(
    size: int, offset: int, rows: list[int], tmp_path: Path
) -> None:
    """However sound the undo file is otherwise."""
    target, note = tmp_path / "data.npy", tmp_path / "data.npy.gscli-undo"
    target.write_bytes(OLD + OLD)
    body = b"gscli undo 2\n" + struct.pack("<4QQ", size, 0, offset, 8, len(rows))
    body += np.array(rows, np.int64).tobytes() + OLD * 2 * len(rows)
    note.write_bytes(body + bytes(8) + struct.pack("<I", zlib.crc32(body)) + b"sealed\n")
    with pytest.raises((CannotRead, CannotWrite)):
        undo(str(target))
    assert target.read_bytes() == OLD + OLD
    assert note.exists()


def keep_attributes(monkeypatch: pytest.MonkeyPatch, *, kept: bool = True) -> None:
    """A file system with extended attributes, whatever this one is; or one without."""
    values: dict[tuple[int, int], bytes] = {}

    def key(file: str | int) -> tuple[int, int]:
        status = os.stat(file)  # noqa: PTH116  a descriptor has no Path
        if not kept:
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        return status.st_dev, status.st_ino

    def get(file: str | int, _name: str) -> bytes:
        if key(file) not in values:
            raise OSError(errno.ENODATA, os.strerror(errno.ENODATA))
        return values[key(file)]

    def put(file: str | int, _name: str, value: bytes) -> None:
        values[key(file)] = value

    def drop(file: str | int, _name: str) -> None:
        del values[key(file)]

    monkeypatch.setattr(os, "getxattr", get, raising=False)
    monkeypatch.setattr(os, "setxattr", put, raising=False)
    monkeypatch.setattr(os, "removexattr", drop, raising=False)


class Crash(BaseException):
    """The process is gone."""


@pytest.fixture
def crashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose direct patch died after its first row."""
    keep_attributes(monkeypatch)
    return crash(tmp_path, monkeypatch)


def crash(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    target = folder / "data.npy"
    np.save(target, np.zeros((4, 2), np.int64))

    def die(descriptor: int, offset: int, rows: Indices, content: Bytes) -> None:
        write_rows(descriptor, offset, rows[:1], content[:1])
        raise Crash

    with monkeypatch.context() as dying:
        dying.setattr(patch, "write_rows", die)
        dying.setattr(patch.DirectPatch, "_restore_rows", lambda *_: None)
        with pytest.raises(Crash):
            patch_rows(target)
    return target


def patch_rows(path: Path, *, direct: bool = True) -> int:
    file = open_file(path)
    inputs = {"data": load(str(path)).array, "indices": np.array([[0], [2]])}
    inputs["updates"] = np.ones((2, 2), np.int64)
    return patch_in_place(judged("onnx.scatter_nd", inputs, {}), file, direct=direct)


@pytest.mark.parametrize("way", ["hard link", "moved", "moved elsewhere", "linked elsewhere"])
def test_an_unfinished_patch_is_known_by_the_file_and_not_by_its_name(
    way: str, crashed: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = tmp_path / ("elsewhere" if "elsewhere" in way else "") / "other.npy"
    if "link" in way:
        other.hardlink_to(crashed)
    else:
        crashed.rename(other)
    mixed = other.read_bytes()
    with pytest.warns(UnfinishedPatch, match="may be a mix"):
        load(str(other))
    with pytest.warns(UnfinishedPatch), pytest.raises(CannotWrite, match="cut short"):
        patch_rows(other)
    with pytest.raises(CannotWrite, match="cut short"):
        save(str(other), np.arange(3))
    assert other.read_bytes() == mixed
    assert undo(str(other)) == 2
    assert not np.load(other).any()
    assert not list(tmp_path.glob("**/*undo*"))
    assert patch_rows(other) == 2


def test_a_copy_with_its_attributes_is_another_file(crashed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.npy"
    np.save(copy, np.zeros((4, 2), np.int64))
    os.setxattr(copy, ATTRIBUTE, os.getxattr(crashed, ATTRIBUTE))
    assert find_undo_file(str(copy)) is None
    assert patch_rows(copy) == 2


@pytest.mark.parametrize("way", ["in its place", "moved", "replaced by the copy", "not marked"])
def test_a_copy_that_is_put_back_leaves_the_undo_file_to_the_original(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_attributes(monkeypatch, kept=way != "not marked")
    original, undo_path = crash(tmp_path, monkeypatch), str(tmp_path / "data.npy.gscli-undo")
    if way not in ("in its place", "not marked"):
        original = original.rename(tmp_path / "moved.npy")
    copy = tmp_path / ("data.npy" if way == "replaced by the copy" else "copy.npy")
    copy.write_bytes(original.read_bytes())
    assert undo(str(copy), undo_path) == 2
    assert not np.load(copy).any()
    assert Path(undo_path).exists()
    with pytest.warns(UnfinishedPatch, match="may be a mix"):
        assert load(str(original)).array.any()
    assert undo(str(original), undo_path) == 2
    assert not np.load(original).any()
    assert not Path(undo_path).exists()


def test_a_backup_that_was_put_back_has_its_undo_file(crashed: Path, tmp_path: Path) -> None:
    """Of its files all numbers are new, and their attributes may be the old ones."""
    (tmp_path / "backup").mkdir()
    for name in ("data.npy", "data.npy.gscli-undo"):
        restored = tmp_path / "backup" / name
        restored.write_bytes((tmp_path / name).read_bytes())
        os.setxattr(restored, ATTRIBUTE, os.getxattr(tmp_path / name, ATTRIBUTE))
    assert undo(str(tmp_path / "backup/data.npy")) == 2
    assert [*(tmp_path / "backup").iterdir()] == [tmp_path / "backup/data.npy"]
    assert Path(undo_file_of(str(crashed))).exists()


@pytest.mark.parametrize("value", [b"", b"1 2", b"x y z", b"1 2 /nowhere", b"1 2 a\0b"])
def test_attributes_that_make_no_sense_are_as_none(value: bytes, crashed: Path) -> None:
    Path(undo_file_of(str(crashed))).unlink()
    os.setxattr(crashed, ATTRIBUTE, value)
    assert find_undo_file(str(crashed)) is None


def test_an_undo_file_that_was_deleted_is_missed_by_no_name(crashed: Path, tmp_path: Path) -> None:
    """That is how somebody says that the data are right."""
    other = crashed.rename(tmp_path / "other.npy")
    Path(undo_file_of(str(crashed))).unlink()
    assert find_undo_file(str(other)) is None


@pytest.mark.parametrize("missing", ["on this file system", "on this system"])
def test_without_attributes_the_name_alone_tells(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_attributes(monkeypatch, kept=False)
    if missing == "on this system":
        for name in ("getxattr", "setxattr", "removexattr", "listxattr"):
            monkeypatch.delattr(os, name, raising=False)
    crashed = crash(tmp_path, monkeypatch)
    assert find_undo_file(str(crashed)) == undo_file_of(str(crashed))
    other = tmp_path / "other.npy"
    other.hardlink_to(crashed)
    assert find_undo_file(str(other)) is None
    assert undo(str(other), undo_file_of(str(crashed))) == 2
    assert not np.load(crashed).any()


def test_an_undo_file_is_removed_by_what_it_is(crashed: Path, tmp_path: Path) -> None:
    place = Path(undo_file_of(str(crashed)))
    file = open_file(place)
    place.rename(tmp_path / "moved")
    place.write_bytes(b"precious")
    file.unlink()
    assert place.read_bytes() == b"precious"


def test_an_undo_file_without_room_is_told_of_before_and_after_it_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.npy"
    np.save(path, np.zeros((4, 2), np.int64))
    monkeypatch.setattr("os.statvfs", lambda _: SimpleNamespace(f_bavail=1, f_frsize=79))
    with pytest.raises(CannotWrite, match="not enough space for a copy of ") as copying:
        patch_rows(path, direct=False)
    assert copying.value.hint == "--in-place=direct needs 80 bytes, and fewer for fewer rows"
    with pytest.raises(CannotWrite, match=r"not enough space for \S*data.npy.gscli-undo") as direct:
        patch_rows(path)
    assert "needs 80 bytes, 79 are free" in direct.value.where
    assert direct.value.hint == "patch fewer rows at a time: each needs 40 bytes"
    assert list(tmp_path.iterdir()) == [path]


def test_saving_old_rows_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    told: list[tuple[str, int, int]] = []
    np.save(path, np.zeros((4, 2), np.int64))
    inputs = {"data": load(str(path)).array, "indices": np.array([[0], [2]])}
    inputs["updates"] = np.ones((2, 2), np.int64)
    plan = judged("onnx.scatter_nd", inputs, {})
    patch_in_place(
        plan, open_file(path), direct=True,
        saving=lambda *at: told.append(("saving", *at)),
        progress=lambda *at: told.append(("writing", *at)),
    )  # fmt: skip
    assert told == [("saving", 32, 32), ("writing", 32, 32)]
