"""Hostile calls of the whole command end with their exit status, one safe paragraph, no traces."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hostile import strangers
from hostile.commands import Command, commands
from hostile.test_hostile import MEMORY, memory_limited, unprintable

from gscli.cli import run_safely

COMMANDS = [*commands(), *strangers.commands()]
KINDS = sorted({command.name.partition("/")[0] for command in COMMANDS})


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    assert len(COMMANDS) >= 300
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def everything_below(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


def complaint(
    command: Command, folder: Path, code: int, shown: str, before: dict[str, tuple[int, bytes]]
) -> str:
    """What is wrong with how a command ended and what it said, or nothing."""
    if code != command.code or command.says not in shown:
        return f"status {code}, expected {command.code}, {command.says!r}"
    if len(shown) >= 3_000 or "Traceback" in shown or "a bug" in shown or unprintable(shown):
        return "not one safe paragraph"
    return "" if everything_below(folder) == before else "the folder was changed"


@pytest.mark.parametrize("kind", KINDS)
def test_every_command_ends_with_its_status(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    complaints = []
    for number, command in enumerate(COMMANDS):
        if command.name.partition("/")[0] != kind:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        command.prepare()
        before = everything_below(folder)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(command.stdin)))
        with memory_limited(MEMORY):
            code = run_safely(command.words)
        shown = "".join(capfd.readouterr())
        if wrong := complaint(command, folder, code, shown, before):
            complaints.append(f"{command.name}: {wrong}\n{shown}")
    assert not complaints, "\n".join(complaints)
