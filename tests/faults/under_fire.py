"""A program that kills its own children while they write, and reports how they left the file.

Run as `python under_fire.py FOLDER SIGNAL SEED KILLS`. Each child replaces `FOLDER/out.npy` by new
content, slowly; it gets the signal as soon as its hidden file has grown to a random part of its
length. Forking saves importing NumPy for every kill.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from gscli.files import save
from gscli.formats import atomic, npy

OLD = np.arange(100)
NEW = np.arange(1 << 18)
BLOCKS = 64


def slow_write(descriptor: int, data: memoryview) -> int:
    time.sleep(0.001)
    return os.write(descriptor, data)


class SlowOs:
    """`os` with a write that takes its time."""

    write = staticmethod(slow_write)

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)


def child(target: Path) -> None:
    """Write like the command line does: a KeyboardInterrupt becomes exit code 130."""
    npy.WRITE_BLOCK = NEW.nbytes // BLOCKS
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
    atomic.os = SlowOs()  # type: ignore[assignment]
    try:
        save(str(target), NEW)
    except KeyboardInterrupt:
        os._exit(130)
    except SystemExit as stop:
        os._exit(stop.code if isinstance(stop.code, int) else 1)
    except Exception:  # noqa: BLE001 -- the code tells that something else came out
        os._exit(99)
    os._exit(0)


def grown(folder: Path, pid: int) -> int:
    """How many bytes the hidden file of a child has."""
    for path in folder.glob(f".gscli-{pid}-*"):
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0
    return -1


def fire(folder: Path, number: int, part: float) -> int:
    """One child, killed when `part` of its file is there; its wait status."""
    target = folder / "out.npy"
    pid = os.fork()
    if pid == 0:
        child(target)
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if grown(folder, pid) >= part * NEW.nbytes:
            os.kill(pid, number)
            return os.waitpid(pid, 0)[1]
        time.sleep(0.0005)


def main(folder: Path, number: int, seed: int, kills: int) -> None:
    moments = random.Random(seed)
    target = folder / "out.npy"
    report = {"exits": {}, "old": 0, "new": 0, "mixed": 0, "left": 0}
    old, new = OLD.tobytes(), NEW.tobytes()
    for _ in range(kills):
        save(str(target), OLD)
        status = fire(folder, number, moments.uniform(-0.01, 1.02))
        exit_code = str(os.waitstatus_to_exitcode(status))
        report["exits"][exit_code] = report["exits"].get(exit_code, 0) + 1
        content = target.read_bytes()
        kind = "old" if content.endswith(old) else "new" if content.endswith(new) else "mixed"
        report[kind] += 1
        hidden = [path for path in folder.iterdir() if path != target]
        report["left"] += len(hidden)
        for path in hidden:
            path.unlink()
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
