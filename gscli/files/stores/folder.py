"""Put a folder in place completely or not at all, as `atomic` does with files.

The new content grows in `OUT.gscli-xxxxxxxx` beside OUT and takes its name in one step; where OUT
is there already, the two change places and the old one is removed. Only SIGKILL can leave the
folder behind. Whoever makes it holds a lock on it, so that the next run knows a leftover from the
work of another process.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from gscli.base import CannotWrite, GscliWarning, Notice
from gscli.disk.exchange import exchange
from gscli.disk.interrupts import Interrupts
from gscli.disk.mapped import check_system
from gscli.disk.system import sync, sync_folder, writing


@contextmanager
def open_folder(
    path: str, ours: Callable[[str], bool], *, check: Callable[[], None] | None = None
) -> Iterator[str]:
    """A new empty folder that becomes `path` when the block ends without an exception.

    What stands at `path` is replaced if it is an empty folder or one that is `ours`; anything else
    is refused. `check` may still refuse when all is written. Raises CannotWrite.
    """
    check_system()
    with writing(path):
        target = os.path.realpath(path.rstrip("/") or path)
        _check_target(target, path, ours)
        _remove_leftovers(target, path)
    with Interrupts() as interrupts:
        with writing(path):
            hidden, lock = _made(target)
        try:
            with interrupts.allowed():
                yield hidden
                with writing(path):
                    _synced(hidden)
            if check is not None:
                check()
            with writing(path):
                _put_in_place(hidden, target)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)  # the old one, or what was not finished
            with suppress(OSError):
                os.close(lock)


def _check_target(target: str, name: str, ours: Callable[[str], bool]) -> None:
    if not os.path.lexists(target):
        os.stat(os.path.dirname(target) or ".")
        return
    if not os.path.isdir(target):
        raise CannotWrite(f"cannot write {name}", where=f"{name}: is no folder")
    if os.listdir(target) and not ours(target):
        raise CannotWrite(
            f"cannot write {name}",
            where=f"{name}: is a folder of something else, and would be lost",
        )


def _made(target: str) -> tuple[str, int]:
    """The hidden folder, and a descriptor that holds its lock."""
    hidden = f"{target}.gscli-{os.urandom(4).hex()}"
    os.mkdir(hidden)
    lock = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    _lock(lock)
    return hidden, lock


def _lock(descriptor: int) -> bool:
    """Whether the lock of a folder could be had; file systems without locks never give it."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_leftovers(target: str, name: str) -> None:
    """Remove what a killed run left beside `target`; refuse where another one is at work."""
    folder, base = os.path.split(target)
    pattern = re.compile(re.escape(base) + r"\.gscli-[0-9a-f]{8}")
    with os.scandir(folder) as entries:
        found = [
            entry.path
            for entry in entries
            if pattern.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        ]
    for path in found:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not _lock(descriptor):
                raise CannotWrite(
                    f"{name} is being written by another process",
                    where=path,
                    hint="run the command again when it is done",
                )
            shutil.rmtree(path)
            left = f"{path} was left by a run that was killed, and is removed"
            warnings.warn(GscliWarning(Notice(left)), stacklevel=2)
        finally:
            os.close(descriptor)


def _synced(folder: str) -> None:
    """Ask the device to keep every file of a folder."""
    for path, folders, files in os.walk(folder):
        for name in files:
            descriptor = os.open(os.path.join(path, name), os.O_RDONLY | os.O_CLOEXEC)
            try:
                sync(descriptor)
            finally:
                os.close(descriptor)
        for name in folders:
            sync_folder(os.path.join(path, name))
    sync_folder(folder)


def _put_in_place(hidden: str, target: str) -> None:
    """Give the new folder its name; the old one, if there is one, gets the hidden name."""
    old = os.path.isdir(target)
    mode = stat.S_IMODE(os.stat(target).st_mode) if old else None
    if mode is not None:
        os.chmod(hidden, mode)
    if not old or not os.listdir(target):
        os.rename(hidden, target)
    elif not exchange(hidden, target):
        aside = f"{hidden[:-8]}{os.urandom(4).hex()}"
        os.rename(target, aside)
        try:
            os.rename(hidden, target)
        except BaseException:
            os.rename(aside, target)
            raise
        shutil.rmtree(aside, ignore_errors=True)
    sync_folder(os.path.dirname(target))
