"""Signals at random moments of a long write: the old file or the new one, and nothing beside it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = 40


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL],
    ids=lambda number: number.name,
)
def test_killed_while_writing(number: signal.Signals, tmp_path: Path) -> None:
    program = Path(__file__).with_name("under_fire.py")
    command = [sys.executable, str(program), str(tmp_path), str(int(number)), "7", str(KILLS)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    report = json.loads(result.stdout)
    assert report["mixed"] == 0
    assert report["old"] + report["new"] == KILLS
    expected = str(-number if number == signal.SIGKILL else 128 + number)
    assert set(report["exits"]) <= {expected, "0"}
    assert report["exits"][expected] > 0
    assert report["old"] > 0
    if number != signal.SIGKILL:
        assert report["left"] == 0
    assert result.stderr == ""
