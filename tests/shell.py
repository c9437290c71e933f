"""The command as a shell runs it: `gscli` on PATH, a bare environment, pipes and terminals."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import chdir, suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

import forks

from gscli.cli import run_safely

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "gscli")
BARE = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "PYTHONPATH": str(ROOT)}
TERMINAL = {"TERM": "xterm-256color", "COLUMNS": "80"}
PATIENCE = 30


def gscli(
    *words: str,
    stdin: bytes = b"",
    cwd: Path | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command on pipes; `variables` are all of its environment besides PATH."""
    return subprocess.run(
        [*COMMAND, *words], input=stdin, capture_output=True, cwd=cwd, env={**BARE, **variables},
        timeout=PATIENCE, check=False,
    )  # fmt: skip


def forked(
    *words: str,
    stdin: bytes = b"",
    cwd: Path | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[bytes]:
    """The same where a new process is not what is tested, in a fork, ten times as fast."""
    environment = {**BARE, **variables}
    status, out, err = forks.run(words, cwd=cwd, environment=environment, stdin=stdin)
    return subprocess.CompletedProcess(words, status, out, err)


def call_gscli(
    *words: str,
    stdin: bytes = b"",
    cwd: Path | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[bytes]:
    """The same in this very process, five times as fast again."""
    environment = {**BARE, **variables}
    status, out, err = call(words, cwd=cwd, environment=environment, stdin=stdin)
    return subprocess.CompletedProcess(words, status, out, err)


def call(
    words: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str],
    stdin: bytes = b"",
    together: bool = False,
) -> tuple[int, bytes, bytes]:
    """Exit status, standard output and standard error, which is empty where both go `together`.

    This very process runs the command: a fifth of what a fork costs, for what only reads and says.
    """
    out = BytesIO()
    err = out if together else BytesIO()
    standard = (sys.stdin, sys.stdout, sys.stderr)
    # A pipe gets what is on stderr line by line, and stdout at the end.
    streams = (
        TextIOWrapper(BytesIO(stdin), "utf-8"),
        TextIOWrapper(out, "utf-8"),
        TextIOWrapper(err, "utf-8", line_buffering=True),
    )
    with chdir(cwd or Path.cwd()), patch.dict(os.environ, environment, clear=True):
        sys.stdin, sys.stdout, sys.stderr = streams
        try:
            status = run_safely([*words])
        finally:
            sys.stdin, sys.stdout, sys.stderr = standard
    for stream in streams[1:]:
        stream.flush()
    return status, out.getvalue(), b"" if together else err.getvalue()


def program(folder: Path) -> dict[str, str]:
    """An environment in which `gscli` is a program on PATH."""
    folder.mkdir(exist_ok=True)
    script = folder / "gscli"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gscli "$@"\n')
    script.chmod(0o755)
    return {**BARE, "PATH": f"{folder}:{BARE['PATH']}"}


def forked_program(folder: Path) -> dict[str, str]:
    """The same where a new process is not what is tested."""
    folder.mkdir(exist_ok=True)
    forks.program(folder)
    return {**BARE, "PATH": f"{folder}:{BARE['PATH']}"}


def shell(
    line: str, cwd: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which `gscli` is a command."""
    return subprocess.run(
        ["bash", "-c", line], cwd=cwd, env=dict(environment), capture_output=True,
        stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False,
    )  # fmt: skip


class Terminal:
    """The command on a pseudo-terminal: what it shows, and keys for it."""

    def __init__(self, *words: str, **variables: str) -> None:
        self._child, self._descriptor = pty.fork()
        if self._child == 0:  # pragma: no cover  this is the command
            os.environ.clear()
            os.environ.update({**BARE, **TERMINAL, **variables})
            os.execv(sys.executable, [*COMMAND, *words])
        self.screen = ""

    def wait_for(self, text: str) -> str:
        """Read until the screen shows `text`; the whole screen so far."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.screen:
            assert time.monotonic() < deadline, self.screen
            assert self._read(), f"ended without {text!r}: {self.screen}"
        return self.screen

    def press(self, keys: str) -> None:
        """Send keys once the command waits for single ones; what came before would be dropped."""
        deadline = time.monotonic() + PATIENCE
        while termios.tcgetattr(self._descriptor)[3] & termios.ICANON:
            assert time.monotonic() < deadline, self.screen
            time.sleep(0.005)
        os.write(self._descriptor, keys.encode())

    def finish(self) -> int:
        """Read to the end; the exit status."""
        while self._read():
            pass
        os.close(self._descriptor)
        return os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])

    def _read(self) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], PATIENCE)
        assert ready, f"silent: {self.screen}"
        try:
            data = os.read(self._descriptor, 1 << 16)
        except OSError:  # what Linux gives at the end
            return False
        self.screen += data.decode()
        return bool(data)


def on_terminal(words: Sequence[str], **variables: str) -> tuple[int, str]:
    """Exit status and screen of a command that needs no keys, in a fork on a pseudo-terminal."""
    ours, theirs = pty.openpty()
    parts: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # what Linux gives at the end
            while part := os.read(ours, 1 << 16):
                parts.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        environment = {**BARE, **TERMINAL, **variables}
        status = forks.run_on([theirs] * 3, words, environment=environment)
    finally:
        os.close(theirs)
        reader.join(PATIENCE)
        os.close(ours)
    return status, b"".join(parts).decode()
