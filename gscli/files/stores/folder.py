"""Put a folder in place completely or not at all, as `atomic` does with files.

The new content grows in `OUT.gscli-xxxxxxxx` beside OUT and takes its name in one step; where OUT
is there already, the two change places and the old one is removed. Only SIGKILL can leave the
folder behind. Whoever makes it holds a lock on it, so that the next run knows a leftover from the
work of another process.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from gscli.base import CannotWrite, GscliWarning, Notice, check_rule, warn_caller
from gscli.disk.exchange import remove_folder, replace_file
from gscli.disk.interrupts import DeferredSignals, record_result
from gscli.disk.mapped import RegularFile, check_system, open_file
from gscli.disk.system import sync, sync_folder, try_lock, write_errors

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


@contextmanager
def open_folder(
    path: str, ours: Callable[[str], bool], *, check: Callable[[], None] | None = None
) -> Iterator[str]:
    """A new empty folder that becomes `path` when the block ends without an exception.

    What stands at `path` now is replaced if it is an empty folder or one that is `ours`; anything
    else is refused, and so is what takes the name meanwhile. `check` may still refuse when all is
    written. Raises CannotWrite.
    """
    check_system()
    with write_errors(path):
        target = os.path.realpath(path.rstrip("/") or path)
        old = _old_folder(target, path, ours)
        _remove_leftovers(target, path)
    with DeferredSignals() as interrupts:
        with write_errors(path):
            hidden = f"{target}.gscli-{os.urandom(4).hex()}"
            os.mkdir(hidden)
            lock = open_file(hidden, _FOLDER)
            try_lock(lock)
        try:
            with interrupts.allow():
                yield hidden
                with write_errors(path):
                    _sync_tree(hidden)
            if check is not None:
                check()
            with write_errors(path):
                if old is not None:
                    os.chmod(hidden, stat.S_IMODE(old.status.st_mode))
                replace_file(hidden, target, old)
                record_result(path)
                sync_folder(os.path.dirname(target))
        finally:
            for left in (lock, old):  # what was not finished, or what was replaced
                if left is not None and left.is_same_file(hidden):
                    remove_folder(left, hidden)
            lock.close()


def _old_folder(target: str, name: str, ours: Callable[[str], bool]) -> RegularFile | None:
    """The folder that is to be replaced, held open; None where there is none."""
    if not os.path.lexists(target):
        os.stat(os.path.dirname(target) or ".")
        return None
    problem, where = f"cannot write {name}", f"{name}: is no folder"
    check_rule(os.path.isdir(target), problem, where, kind=CannotWrite)
    old = open_file(target, _FOLDER, name=name)
    where = f"{name}: is a folder of something else, and would be lost"
    check_rule(not os.listdir(target) or ours(target), problem, where, kind=CannotWrite)
    return old


def _remove_leftovers(target: str, name: str) -> None:
    """Remove what a killed run left beside `target`; refuse where another one is at work."""
    folder, base = os.path.split(target)
    pattern = re.compile(re.escape(base) + r"\.gscli-[0-9a-f]{8}")
    with os.scandir(folder) as entries:
        left = [entry for entry in entries if pattern.fullmatch(entry.name)]
        paths = [entry.path for entry in left if entry.is_dir(follow_symlinks=False)]
    for path in paths:
        with closing(open_file(path, _FOLDER | os.O_NOFOLLOW)) as leftover:
            problem = f"{name} is being written by another process"
            hint = "run the command again when it is done"
            check_rule(bool(try_lock(leftover)), problem, path, kind=CannotWrite, hint=hint)
            remove_folder(leftover, path)
            notice = Notice(f"{path} was left by a run that was killed, and is removed")
            warn_caller(GscliWarning(notice))


def _sync_tree(folder: str) -> None:
    """Ask the device to keep every file of a folder."""
    for path, folders, files in os.walk(folder):
        for name in files:
            with closing(open_file(os.path.join(path, name), os.O_RDONLY)) as file:
                sync(file.descriptor)
        for name in folders:
            sync_folder(os.path.join(path, name))
    sync_folder(folder)
