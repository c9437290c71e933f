"""Fail the n-th call of the system in a streamed result and in a patch in place.

Streamed: the old file or the complete new one, no other file, as for the whole-file writer. In
place: the file as it was at once, or from its journal when it is next read.
"""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest
from faults.faulty import each_step, refused
from faults.large import DATA, PATCHED, STREAMED, cramp

from gscli.files.files import load

ERRORS = (errno.EIO, errno.ENOSPC, errno.EINTR)


@pytest.fixture(autouse=True)
def cramped(monkeypatch: pytest.MonkeyPatch) -> None:
    cramp(monkeypatch)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("name", STREAMED)
def test_each_step_of_a_streamed_result(
    name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject, target = STREAMED[name], tmp_path / "out.npy"
    subject.saved(tmp_path)
    target.write_bytes(b"old")
    before, expected = content(tmp_path), subject.expected()
    for faults in each_step(number):
        told = refused(faults, monkeypatch, lambda: subject.streamed(tmp_path))
        after = content(tmp_path)
        complete = after["out.npy"].endswith(expected)
        assert complete or told
        assert after == before or (complete and after.keys() == before.keys())
        target.write_bytes(b"old")
    assert faults.fail_at >= 30
    assert told is None


@pytest.mark.parametrize(
    ("number", "lasting"),
    [*((number, False) for number in ERRORS), (errno.EIO, True)],
    ids=["EIO", "ENOSPC", "EINTR", "EIO from then on"],
)
@pytest.mark.parametrize("name", PATCHED)
def test_each_step_of_a_patch(
    name: str, number: int, lasting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject, path = PATCHED[name], tmp_path / "data.npy"
    subject.saved(tmp_path)
    before, expected = content(tmp_path), subject.expected()
    left = 0
    for faults in each_step(number, lasting=lasting):
        told = refused(faults, monkeypatch, lambda: subject.patched(tmp_path))
        at_once = content(tmp_path)
        if told is not None and not lasting and at_once.keys() == before.keys():
            assert at_once == before or path.read_bytes().endswith(expected)
        left += at_once.keys() != before.keys()
        found = load(str(path)).array.tobytes()
        assert found in {DATA.tobytes(), expected}
        assert found == expected or told
        assert content(tmp_path).keys() == before.keys()
        np.save(path, DATA)
    assert faults.fail_at >= 30
    assert told is None
    assert left >= (10 if lasting else 1)
