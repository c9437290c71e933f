"""Hostile calls of the whole command end with their exit status, one safe paragraph, no traces."""

from __future__ import annotations

import io
import unicodedata
from pathlib import Path

import pytest
from hostile import strangers
from hostile.commands import Command, commands
from hostile.test_hostile import MEMORY, memory_limited

from gscli.cli import guarded

COMMANDS = [*commands(), *strangers.commands()]


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    assert len(COMMANDS) >= 300
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def everything_below(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_refused(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    command.prepare()
    before = everything_below(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(command.stdin)))
    with memory_limited(MEMORY):
        code = guarded(command.words)
    shown = "".join(capfd.readouterr())
    assert code == command.code, shown
    assert command.says in shown
    assert len(shown) < 3_000
    assert "Traceback" not in shown
    assert "a bug" not in shown
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c != "\n"]
    assert everything_below(tmp_path) == before
