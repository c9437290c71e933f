"""Ctrl-C at every line that Python runs while a file is written: whole files, and nothing left.

A signal acts between two instructions, also within a clean-up and where objects are freed. The
trace function of each child raises it at one line, call or return; the next child at a later one.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

import pytest
from faults.large import cramp
from faults.test_every_call import NEW, OLD, WAYS, content, prepared

# Lines from one signal to the next: all of them take half an hour.
STRIDE = int(os.environ.get("GSCLI_STRIDE", "199"))


class Interruption:
    """Sends SIGINT at event number `at`, and counts the events."""

    def __init__(self, at: int) -> None:
        self.at, self.count, self.place = at, 0, ""

    def __call__(self, frame: FrameType, _event: str, _argument: object) -> Interruption:
        self.count += 1
        if self.count == self.at:
            self.place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            signal.raise_signal(signal.SIGINT)
        return self


def run(way: str, folder: Path, at: int) -> int:
    """The exit status of a child that is sent SIGINT at event `at`; 99 for any other exception."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status, interruption = 99, Interruption(at)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(folder / "errors", os.O_WRONLY | os.O_CREAT), 2)
        sys.settrace(interruption)
        WAYS[way](folder)
        status = 0 if interruption.count < at else 50
    except KeyboardInterrupt:
        status = 130
    except BaseException:  # noqa: BLE001  whatever comes out is told
        traceback.print_exc()
    finally:
        sys.settrace(None)
        if status not in {0, 130}:
            os.write(2, interruption.place.encode())
        os._exit(status)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_interrupted(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cramp(monkeypatch)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    data = prepared(tmp_path)
    names = {path.name for path in tmp_path.iterdir()} | {"errors"}
    WAYS[way](tmp_path)  # it also imports what the children need
    seen, at = set(), 1
    while True:
        data = prepared(tmp_path)
        status = run(way, tmp_path, at)
        told = (tmp_path / "errors").read_text()
        assert {path.name for path in tmp_path.iterdir()} == names, (at, told)
        assert content(data) in {OLD, NEW}, (at, told)
        # Python drops what is raised where objects are freed. The file is complete by then.
        assert (status, told) in {(130, ""), (0, "")} or (status == 50 and content(data) == NEW), at
        seen.add(content(data))
        if not status:
            break
        at += STRIDE
    assert seen == {OLD, NEW}
    assert at > 5000
