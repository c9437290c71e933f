"""What is recorded is what gscli makes today.

If a test fails here and the new text is right: python tests/record.py, then read `git diff`.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from record import record
from recording import ROOT, recordings
from recording.sessions import Place, run_here, run_in_shell

from gscli.cli.commands.samples import shell_environment

RECORDINGS = recordings()


@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_as_made(name: str) -> None:
    made = RECORDINGS[name].make()
    different, stale = RECORDINGS[name].differences(made)
    for path in different:
        kept = (ROOT / path).read_bytes() if (ROOT / path).exists() else b""
        today, known = made[path].decode("utf-8", "replace"), kept.decode("utf-8", "replace")
        assert known == today, f"{path}: if it is right now, python tests/record.py {name}"
    assert not different, f"python tests/record.py {name}"
    assert not stale, f"nothing makes them any more: python tests/record.py {name}"


def test_what_cannot_be_recorded_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GSCLI_PYTHONS", "torch=/no/such/python")
    changed, problem = record("code")
    assert not changed
    assert problem.startswith("code: no such interpreter")


def test_this_process_prints_what_a_shell_shows(tmp_path: Path) -> None:
    with shell_environment() as variables:
        place = Place(tmp_path, variables=variables)
        for command in (
            "gscli gather '[1,2]' '[-1]'",
            "gscli gather '[1,2]' '[9]'",
            "gscli samples",
            "gscli scatter-nd '[0]' '[[0],[0]]' '[1,2]'",
        ):
            words = shlex.split(command)[1:]
            assert run_here(words, place) == run_in_shell(command, 0, place), command
