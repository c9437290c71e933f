"""A program that kills its own children while they write, and reports how they left the file.

Run as `python under_fire.py FOLDER SUBJECT SIGNAL SEED KILLS`. Each child writes slowly and tells
through a pipe when it comes to a call that writes, syncs, renames or removes; at a random one of
them it gets the signal. Forking saves importing NumPy for every kill.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gscli.__main__ import reraise_interrupt
from gscli.cli import run_safely
from gscli.disk import atomic, clone, exchange, mapped, system, uncached
from gscli.disk.mapped import undo_file_of
from gscli.files import content, load, save
from gscli.files.formats import npy
from gscli.stream import patch, scatter, to_file, undo_file, writeback

OLD = np.arange(3000 * 16, dtype=np.float32).reshape(3000, 16)
AT = np.random.default_rng(1).permutation(3000 // 25)[:40].repeat(25)[:, None] * 25
AT += np.tile(np.arange(25), 40)[:, None]
UPDATES = -np.ones((1000, 16), np.float32)
NEW = OLD.copy()
NEW[AT[:, 0]] = UPDATES

CALLS = ("write", "pwrite", "fsync", "fdatasync", "replace", "unlink")
PAUSE = 0.0004


class SlowOs:
    """`os` whose calls take their time and are told of; the disk is not waited for."""

    def __init__(self, told: Callable[[], None]) -> None:
        self._told = told

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments: Any) -> Any:
            self._told()
            time.sleep(PAUSE)
            return None if name.endswith("sync") else real(*arguments)

        return call


def slow_down(told: Callable[[], None]) -> None:
    for module in (atomic, clone, exchange, mapped, system, uncached, undo_file):
        module.os = SlowOs(told)  # type: ignore[attr-defined]


def everything_is_large() -> None:
    content.MIN_MAP_BYTES, to_file.MIN_STREAM_BYTES = 1, 0
    npy.WRITE_BLOCK = to_file.BLOCK = OLD.nbytes // 40
    scatter.MAX_SORTED_RECORDS, scatter.MAX_SPILL_FILES = 1 << 9, 4
    writeback.MIN_DIRECT_BYTES, writeback.BUFFER_BYTES = 1, 1 << 14
    patch.CHUNK = 1 << 13


@dataclass(frozen=True)
class Subject:
    """What a child does to a file in the folder, and how the file may look when it is stopped."""

    target: str
    act: Callable[[], int]
    old: np.ndarray[Any, np.dtype[Any]]


def whole() -> int:
    save("out.npy", NEW)
    return 0


def command(*words: str) -> Callable[[], int]:
    return lambda: run_safely(
        ["scatter-nd", "data.npy", "at.npy", "updates.npy", *words, "--quiet"]
    )


SUBJECTS = {
    "whole": Subject("out.npy", whole, np.arange(100)),
    "streamed": Subject("out.npy", command("-o", "out.npy"), np.arange(100)),
    "in place": Subject("data.npy", command("--in-place"), OLD),
    "direct": Subject("data.npy", command("--in-place=direct"), OLD),
}


def left_with(act: Callable[[], int]) -> int:
    """The exit code of an action, as the process would have it."""
    try:
        return act()
    except KeyboardInterrupt:
        return 130
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except BaseException:  # noqa: BLE001 -- the code tells that something else came out
        return 99


def fire(subject: Subject, number: int, moment: int) -> int:
    """One child, sent the signal at its call number `moment`; its wait status."""
    reading, writing_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
        sys.unraisablehook = reraise_interrupt
        slow_down(lambda: os.write(writing_end, b"."))
        os._exit(left_with(subject.act))
    os.close(writing_end)
    heard = 0
    while heard < moment and (part := os.read(reading, moment - heard)):
        heard += len(part)
    if heard == moment:
        os.kill(pid, number)
    status = os.waitpid(pid, 0)[1]
    os.close(reading)
    return status


def calls_of(subject: Subject) -> int:
    """How many calls a whole run makes; it also imports what the children need."""
    made: list[None] = []
    slow_down(lambda: made.append(None))
    assert left_with(subject.act) == 0
    return len(made)


def main(folder: str, name: str, number: int, seed: int, kills: int) -> None:
    os.chdir(folder)
    everything_is_large()
    subject, target = SUBJECTS[name], Path(SUBJECTS[name].target)
    for file, array in (("data", OLD), ("at", AT), ("updates", UPDATES)):
        save(f"{file}.npy", array)
    save(str(target), subject.old)
    names = {path.name for path in Path().iterdir()}
    calls, moments = calls_of(subject), random.Random(seed)
    kinds = {subject.old.tobytes(): "old", NEW.tobytes(): "new"}
    report: dict[str, Any] = {"calls": calls, "exits": {}, "old": 0, "new": 0, "mixed": 0}
    report |= {"left": 0, "taken back": 0}
    for _ in range(kills):
        np.save(target, subject.old)
        status = fire(subject, number, moments.randint(1, calls))
        exit_code = str(os.waitstatus_to_exitcode(status))
        report["exits"][exit_code] = report["exits"].get(exit_code, 0) + 1
        if Path(undo_file_of(str(target))).exists():
            undo_file.undo(str(target))
            report["taken back"] += 1
        report[kinds.get(np.array(load(str(target)).array).tobytes(), "mixed")] += 1
        hidden = [path for path in Path().iterdir() if path.name not in names]
        report["left"] += len(hidden)
        for path in hidden:
            path.unlink()
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
