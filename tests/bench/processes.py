"""Whole processes: commands measured from start to exit, with any stdout."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from .machine import ROOT

SPAWN = Path(__file__).with_name("spawn.py")
SCRIPT = "import sys; from gscli.__main__ import main; sys.exit(main())"

# What the installed `gscli` does.
GSCLI = (sys.executable, "-c", SCRIPT)
BARE = (sys.executable, "-m", "tests.bench.bare")


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    terminal: bool = False,
) -> dict[str, float]:
    """Wall and CPU seconds, peak MiB; stdout is read from a pipe or a pseudo-terminal.

    Raises RuntimeError when the command fails.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    # An installed program has its bytecode.
    environment |= dict.fromkeys(("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"), "")
    report, inherited = os.pipe()
    reader, writer = pty.openpty() if terminal else os.pipe()
    arguments = [sys.executable, "-S", "-E", SPAWN, str(inherited), *command]
    with subprocess.Popen(
        arguments, stdout=writer, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        env=environment, pass_fds=[inherited],
    ) as process:  # fmt: skip
        os.close(inherited)
        os.close(writer)
        drain = threading.Thread(target=_drained, args=(reader,))
        drain.start()
        assert process.stderr is not None
        complaint = process.stderr.read()
        drain.join()
        with os.fdopen(report, "rb") as file:
            found: dict[str, float] = json.loads(file.read())
    if found.pop("status"):
        raise RuntimeError(f"{command} failed: {complaint.decode()[-2000:]}")
    return found


def _drained(descriptor: int) -> None:
    """Read to the end; a pseudo-terminal ends with an error."""
    try:
        while os.read(descriptor, 1 << 16):
            pass
    except OSError:
        pass
    os.close(descriptor)
