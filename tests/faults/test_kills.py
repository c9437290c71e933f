"""Signals at random moments of a long write: the old file or the new one, and nothing beside it.

For the writer of whole files, for results streamed from file to file, for files replaced in place,
and for direct patches, which `gscli undo` takes back where the process had no time to do so.
`GSCLI_KILLS` sets their number for each signal and writer.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("GSCLI_KILLS", "40"))


SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
SUBJECTS = ("whole", "streamed", "in place", "direct")


def test_killed_during_a_direct_patch(tmp_path: Path) -> None:
    killed_while_writing(signal.SIGKILL, "direct", 12, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_killed_while_writing(number: signal.Signals, subject: str, tmp_path: Path) -> None:
    killed_while_writing(number, subject, KILLS, tmp_path)


def killed_while_writing(number: signal.Signals, subject: str, kills: int, tmp_path: Path) -> None:
    program = Path(__file__).with_name("under_fire.py")
    words = [str(tmp_path), subject, str(int(number)), "7", str(kills)]
    command = [sys.executable, str(program), *words]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert report["mixed"] == 0
    assert report["old"] + report["new"] == kills
    cleaned_up = str(128 + number)
    assert set(report["exits"]) <= {cleaned_up, str(-number), "0"}
    assert report["old"] > kills // 2
    if number == signal.SIGKILL:
        assert report["exits"][str(-number)] > kills // 2
        assert report["taken back"] > kills // 4 or subject != "direct"
    else:
        assert report["exits"][cleaned_up] > kills // 2
        assert report["left"] == report["taken back"] == 0
