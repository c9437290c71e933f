"""Journals beside a file that cannot be used, and names beside which there is none."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from gscli.errors import CannotRead
from gscli.formats.content import MAPPED_FROM, FileContent
from gscli.formats.undo import journal_of, recover
from gscli.mapped import file_of


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
