"""Fail the n-th call of the system in a streamed result and in a patch in place.

Streamed: the old file or the complete new one, no other file, as for the whole-file writer; so
with a file replaced in place. A direct patch: the old file or the new one, or a mix that says so.
"""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest
from conftest import everyday
from faults.faulty import each_step, refused
from faults.large import DATA, PATCHED, STREAMED, cramp

from gscli.stream.undo_file import undo

ERRORS = (errno.EIO, errno.ENOSPC, errno.EINTR)


@pytest.fixture(autouse=True)
def cramped(monkeypatch: pytest.MonkeyPatch) -> None:
    cramp(monkeypatch)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
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


# The error of a call, and whether all calls after it fail as well.
FAILURES = {
    "EIO": (errno.EIO, False),
    "EIO from then on": (errno.EIO, True),
    "ENOSPC": (errno.ENOSPC, False),
    "EINTR": (errno.EINTR, False),
}


@pytest.mark.parametrize("failure", everyday(FAILURES, {"EIO"}))
@pytest.mark.parametrize("name", PATCHED)
def test_each_step_of_a_replacement_in_place(
    name: str, failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, lasting = FAILURES[failure]
    subject, path = PATCHED[name], tmp_path / "data.npy"
    subject.saved(tmp_path)
    before, expected = content(tmp_path), subject.expected()
    for faults in each_step(number, lasting=lasting):
        told = refused(faults, monkeypatch, lambda: subject.patched(tmp_path, direct=False))
        after = content(tmp_path)
        complete = path.read_bytes().endswith(expected)
        assert after["data.npy"] == before["data.npy"] or complete
        assert complete or told
        assert after.keys() == before.keys() or (lasting and "unlink" in faults.calls)
        for name_left in after.keys() - before.keys():
            (tmp_path / name_left).unlink()
        np.save(path, DATA)
    assert faults.fail_at >= 30
    assert told is None


@pytest.mark.parametrize("failure", everyday(FAILURES, {"EIO", "EIO from then on"}))
@pytest.mark.parametrize("name", everyday(PATCHED, {"sums"}))
def test_each_step_of_a_direct_patch(
    name: str, failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what became of the file, and `gscli undo` mends what is a mix."""
    number, lasting = FAILURES[failure]
    subject, path = PATCHED[name], tmp_path / "data.npy"
    subject.saved(tmp_path)
    before, expected = content(tmp_path), subject.expected()
    left = mixed = 0
    for faults in each_step(number, lasting=lasting):
        told = refused(faults, monkeypatch, lambda: subject.patched(tmp_path, direct=True))
        after = content(tmp_path)
        whole = after["data.npy"] == before["data.npy"] or path.read_bytes().endswith(expected)
        assert whole or "gscli undo" in (told or "")
        assert path.read_bytes().endswith(expected) or told
        mixed += not whole
        if after.keys() != before.keys():
            left += 1
            undo(str(path))
            assert content(tmp_path) == before
        np.save(path, DATA)
    assert faults.fail_at >= 30
    assert told is None
    assert left >= 1
    assert mixed >= 1 or not lasting
