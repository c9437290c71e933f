"""Replace a file completely or not at all.

The new content grows in a hidden temporary file beside the target and takes its place in one
step. Whatever goes wrong before that step, the target keeps its old content and the temporary
file vanishes: on every exception, and on every signal that can be caught. Only SIGKILL can leave
the hidden file behind; even then the target is untouched.

The same people may read and write the new content, or fewer.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from gscli.base import CannotWrite
from gscli.disk.exchange import replace_file
from gscli.disk.interrupts import DeferredSignals, record_result
from gscli.disk.mapped import ATTRIBUTE, RegularFile, check_system, open_file
from gscli.disk.system import check_space, sync, sync_folder, write_all, write_errors
from gscli.disk.unfinished import refuse_unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import ReadableBuffer

    Check = Callable[[], None] | None

# As many as Linux itself follows before it says ELOOP.
MAX_LINKS = 40

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")

# To hold a file open whose content is of no interest, so that no other can be taken for it.
_HELD = getattr(os, "O_PATH", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)

_STANDARD_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


class AtomicFile(io.RawIOBase):
    """A binary file to write and seek; every failure of the system is CannotWrite.

    `poll` lets a signal that waits act; whoever writes for long calls it now and then.

    `write` takes any contiguous buffer and writes all of it. `fileno()` may be handed to
    `os.pwrite`. A closed pipe stays BrokenPipeError, because the reader decided to go.
    """

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__()
        self._descriptor = descriptor
        self.name = name
        self.poll: Callable[[], None] = lambda: None  # signals act at once

    def fileno(self) -> int:
        """The descriptor, as long as it is ours."""
        if self.closed:  # the number may belong to another file by now
            raise CannotWrite(f"cannot write {self.name}", where=f"{self.name}: is closed")
        return self._descriptor

    def writable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Where it is a regular file."""
        with write_errors(self.name):
            return stat.S_ISREG(os.fstat(self.fileno()).st_mode)

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of a buffer; the number of its bytes."""
        self.poll()
        with write_errors(self.name):
            return write_all(lambda part, _: os.write(self.fileno(), part), data)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place."""
        with write_errors(self.name):
            return os.lseek(self.fileno(), offset, whence)

    def close(self) -> None:
        """Close the descriptor exactly once: after a failed close it is gone all the same."""
        if self.closed:
            return
        super().close()
        with write_errors(self.name):
            os.close(self._descriptor)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close; a failure to do so matters only where nothing failed before."""
        with suppress(CannotWrite) if kind else nullcontext():
            self.close()


@contextmanager
def open_atomic(
    path: str, *, size: int | None = None, check: Check = None, replaces: RegularFile | None = None
) -> Iterator[AtomicFile]:
    """Open `path` for writing; the new content appears when the block ends without an exception.

    A link is followed and what it points to is replaced; the mode of an old file is kept. A
    device, a FIFO and the names of open descriptors (/dev/stdout) are written into. `size`, where
    known, is compared with the free space first. `check` may still refuse when all is written,
    right before the new content takes its place. That is the place of the file that has the name
    now, or of `replaces`, which was opened and read before: another file that gets the name
    meanwhile keeps it. Raises CannotWrite, BrokenPipeError.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_atomic(folder + "/out.bin") as out:
    ...         _ = out.write(b"whole")
    ...     os.listdir(folder)
    ['out.bin']
    """
    check_system()
    with write_errors(path):
        target = _follow_links(path)
        number = _parse_descriptor(target)
        # A second descriptor of /dev/stdout and its like: opening by name would start at byte 0.
        opened = None if number is None else AtomicFile(os.dup(number), path)
        status = None if opened is not None else _stat_or_none(target)
        if status is not None and stat.S_ISSOCK(status.st_mode):
            raise CannotWrite(f"cannot write {path}", where=f"{path}: is a socket")
        if status is not None and not stat.S_ISREG(status.st_mode):
            opened = AtomicFile(os.open(target, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY), path)
    if opened is not None:
        record_result(path, "was written in part")
        with opened as file:
            yield file
        record_result(path)
    else:
        old = replaces
        with write_errors(path):
            refuse_unfinished(target)
            if status is not None and old is None:
                old = open_file(target, _HELD | os.O_NOFOLLOW, name=path)
                if not os.path.samestat(old.status, status):
                    raise old.replaced_error()
            if size is not None:
                check_space(os.path.dirname(target) or ".", size, path)
        with _replace_file(target, old, path, check, is_input=replaces is not None) as file:
            yield file


@contextmanager
def _replace_file(
    target: str, old: RegularFile | None, name: str, check: Check, *, is_input: bool
) -> Iterator[AtomicFile]:
    folder, _ = os.path.split(target)
    temporary = os.path.join(folder, f".gscli-{os.getpid()}-{os.urandom(8).hex()}")
    with DeferredSignals() as interrupts:
        # At no moment is it more open to others than the old one was.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with write_errors(name):
            file = AtomicFile(os.open(temporary, flags, 0o666 if old is None else 0o600), name)
        left = True
        try:
            with file, interrupts.allow():
                file.poll = interrupts.deliver_pending
                if old is not None:
                    with write_errors(name):
                        copy_permissions(target, file.fileno(), old.status)
                yield file
                with write_errors(name):
                    sync(file.fileno())
                interrupts.deliver_pending()
            if check is not None:
                check()
            with write_errors(name):
                left = replace_file(temporary, target, old, is_input=is_input)
            record_result(name)
            if left:
                failure = "cannot remove the old content of", "the new one is complete"
                with write_errors(name, *failure):
                    os.unlink(temporary)
                    left = False
        finally:
            if left:
                with suppress(OSError):
                    os.unlink(temporary)
        state = f"{name} is complete, but may not survive a power failure"
        with write_errors(f"folder of {name}", "cannot sync the", state):
            sync_folder(folder)


def _follow_links(path: str) -> str:
    """Where a chain of links ends, stopping at the name of an open descriptor."""
    target = path
    for _ in range(MAX_LINKS):
        if _parse_descriptor(target) is not None or not os.path.islink(target):
            return target
        target = os.path.join(os.path.dirname(target), os.readlink(target))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _parse_descriptor(target: str) -> int | None:
    match = _DESCRIPTOR.fullmatch(target)
    return int(match[1]) if match else _STANDARD_STREAMS.get(target)


def _stat_or_none(target: str) -> os.stat_result | None:
    """What stands at `target` now; None where a new file will."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        if target.endswith("/") or not os.path.basename(target):
            raise
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISREG(status.st_mode) and not os.access(target, os.W_OK):
        # The folder would allow a replacement, but the owner protected this file.
        raise PermissionError(errno.EACCES, "the file is write-protected")
    return status


# The attribute in which Linux keeps an access control list; its mask shows as the group's bits.
_ACCESS_LIST = "system.posix_acl_access"

# Attributes that stay; others, as capabilities and our own, are meant for the old content.
_KEPT = ("user.", "security.selinux")


def copy_permissions(old_path: str, new: int, old: os.stat_result) -> None:
    """Give a new file, that only its owner can open yet, the owner, group, mode, access list and
    attributes of an old one. Where one of them cannot be given, it is open to fewer people.

    Raises OSError where the mode cannot be set.
    """
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if not _copy_owner(new, old):
        # Whoever was of the old group is one of the others now, and the other way round.
        common = mode >> 3 & mode & 0o007
        mode = mode & 0o700 | common << 3 | common
    attributes = _read_xattrs(old_path)
    listed = attributes.pop(_ACCESS_LIST, None)
    os.fchmod(new, mode if listed is None else mode & 0o700)
    for name, value in attributes.items():
        with suppress(OSError):
            os.setxattr(new, name, value)
    if listed is not None and os.fstat(new).st_gid == old.st_gid:
        with suppress(OSError):
            os.setxattr(new, _ACCESS_LIST, listed)  # sets the mode as well


def _copy_owner(new: int, old: os.stat_result) -> bool:
    """Give owner and group, or the group alone; whether the group is as it was."""
    now = os.fstat(new)
    for owner in (old.st_uid, -1):
        if (now.st_uid, now.st_gid) == (old.st_uid, old.st_gid):
            break
        with suppress(OSError):
            os.fchown(new, owner, old.st_gid)
            break
    return os.fstat(new).st_gid == old.st_gid


def _read_xattrs(path: str) -> dict[str, bytes]:
    """The extended attributes to be kept and the access list, as far as they can be read."""
    xattrs: dict[str, bytes] = {}
    if not hasattr(os, "listxattr"):  # macOS keeps its own in another way
        return xattrs
    with suppress(OSError):
        for name in os.listxattr(path):
            if (name.startswith(_KEPT) and name != ATTRIBUTE) or name == _ACCESS_LIST:
                xattrs[name] = os.getxattr(path, name)
    return xattrs
