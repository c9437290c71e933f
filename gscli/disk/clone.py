"""A second file with the content of a first, its blocks shared where the system can do that."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from gscli.disk.atomic import AtomicFile
from gscli.disk.mapped import RegularFile
from gscli.disk.system import check_space, write_all

# The request that Btrfs, XFS, bcachefs and others answer by sharing blocks (ioctl_ficlone(2)).
_FICLONE = 0x40049409

# Bytes copied at a time, so that a signal is answered soon.
_STEP = 1 << 20

# Bytes in each of `st_blocks`.
_BLOCK = 512


def clone_file(source: RegularFile, target: AtomicFile, hint: str = "") -> None:
    """Fill an empty file with all bytes of another; holes stay holes. Raises OSError, CannotWrite,
    whose `hint` says what needs less room.

    Shared blocks take neither time nor room, whatever the size; so this comes before any check of
    the free space.
    """
    if share_blocks(source.descriptor, target.fileno()):
        return
    needed = os.fstat(source.descriptor).st_blocks * _BLOCK
    check_space(target.fileno(), needed, source.name, "a copy of ", hint)
    os.ftruncate(target.fileno(), source.size)
    for begin, end in _iter_data_extents(source):
        _copy_range(source, target, begin, end)


def share_blocks(source: int, target: int) -> bool:
    """Whether an open file could be given all blocks of another."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.ioctl(target, _FICLONE, source)
        return True
    return False  # no such request on this system or file system


def _iter_data_extents(source: RegularFile) -> Iterator[tuple[int, int]]:
    """Where the file has data, as (begin, end); all of it where holes cannot be told."""
    if not hasattr(os, "SEEK_DATA"):
        yield 0, source.size
        return
    end = 0
    while end < source.size:
        try:
            begin = os.lseek(source.descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole from here on
                return
            raise
        end = os.lseek(source.descriptor, begin, os.SEEK_HOLE)
        yield begin, end


def _copy_range(source: RegularFile, target: AtomicFile, begin: int, end: int) -> None:
    buffer = memoryview(bytearray(min(_STEP, end - begin)))
    for at in range(begin, end, _STEP):
        target.poll()
        part = buffer[: min(_STEP, end - at)]
        source.read_into(at, part)
        write_all(partial(os.pwrite, target.fileno()), part, at)
