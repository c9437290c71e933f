"""Undo files of `--in-place=direct`: rows of a file are put back where writing them was cut short.

An undo file has what is to be changed, before and after. It is complete and on the device before
the first byte of the data changes, and goes away when the last one is there. Nobody reads it but
`gscli undo FILE`; whoever merely reads the data is told that it is there (`disk.unfinished`).

The format: a first line, (size, modification time, offset, width), then (count, rows, old bytes,
new bytes) again and again, then a count of 0, the CRC-32 of all before and a last line.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gscli.base import CannotRead, CannotWrite, check_rule, translate_errors
from gscli.base.arrays import Array, Indices
from gscli.disk.interrupts import record_result
from gscli.disk.mapped import UNDO_SUFFIX, RegularFile, find_undo_file, open_file, undo_file_of
from gscli.disk.system import lock_file, preallocate, sync, sync_folder, write_all, write_errors
from gscli.disk.unfinished import is_undo_file_of, unmark_unfinished
from gscli.files.content import check_kind

Bytes = NDArray[np.uint8]

_MAGIC, _SEAL = b"gscli undo 2\n", b"sealed\n"
_HEADER, _COUNT, _CRC = struct.Struct("<4Q"), struct.Struct("<Q"), struct.Struct("<I")
_NUMBER = struct.calcsize("<q")
_ENDING = _COUNT.size + _CRC.size + len(_SEAL)


class UndoFile:
    """The undo file of one patch; `rows` of `width` bytes are counted from byte `offset`.

    Raises OSError; FileExistsError where there is one already.
    """

    def __init__(self, file: RegularFile, offset: int, width: int) -> None:
        self.path, self._crc = undo_file_of(file.path), 0
        status = os.fstat(file.descriptor)
        self.file = open_file(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)
        self._first = _MAGIC + _HEADER.pack(status.st_size, status.st_mtime_ns, offset, width)

    def add(self, rows: Indices, old: Bytes, new: Bytes) -> None:
        """Note what some rows (n,) hold and will hold: (n, width) bytes each."""
        self._write(_COUNT.pack(rows.size), rows.tobytes(), old.tobytes(), new.tobytes())

    def commit(self) -> None:
        """The undo file is complete and durable from here on; the data may change."""
        self._write()
        self._write(_COUNT.pack(0) + _CRC.pack(self._crc) + _SEAL)
        sync(self.file.descriptor)
        sync_folder(os.path.dirname(self.path))

    def _write(self, *parts: bytes) -> None:
        """Write some bytes, and what the file begins with before the first ones."""
        for content in (self._first, *parts):
            self._crc = zlib.crc32(content, self._crc)
            write_all(lambda part, _: os.write(self.file.descriptor, part), content)
        self._first = b""


def write_rows(descriptor: int, offset: int, rows: Indices, content: Array) -> None:
    """Rows (n,), rising, of a file get their content (n, width); neighbours in one call."""
    flat, width = content.reshape(-1).data, content.shape[1]
    write = partial(os.pwrite, descriptor)
    for begin, end in _iter_neighbours(rows):
        write_all(write, flat[begin * width : end * width], offset + int(rows[begin]) * width)


def _iter_neighbours(rows: Indices) -> Iterator[tuple[int, int]]:
    """Where rows follow each other, as (begin, end) of the numbers."""
    return pairwise([*np.flatnonzero(np.diff(rows, prepend=-2) != 1).tolist(), rows.size])


def reserve_rows(descriptor: int, offset: int, rows: Indices, width: int) -> None:
    """Room on the device for rows of a file with holes, so that writing them cannot fill it."""
    for begin, end in _iter_neighbours(rows):
        preallocate(descriptor, offset + int(rows[begin]) * width, (end - begin) * width)


def undo(path: str, undo_path: str | None = None) -> int:
    """Put back what a patch that was cut short has changed; how many rows that were.

    `undo_path`: the undo file, where it is not to be looked for. Every byte must be the old or the
    new one of its row: otherwise nothing is written, because the file was written to since, or is
    another one. Of a copy the undo file is kept, for the file itself is still a mix. Raises
    CannotRead and CannotWrite.
    """
    check_kind(path)
    with write_errors(path, "cannot mend", hint="name the patched file; it must be writable"):
        file = open_file(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
    with closing(file), write_errors(path, "cannot mend"), lock_file(file):
        place = undo_path or find_undo_file(path, file.descriptor) or undo_file_of(path)
        undo_file = _open_own(place, path)
        count = _restore_rows(file, undo_file)
        if is_undo_file_of(file, undo_file):
            remove_undo_file(undo_file, file)
        return count


def remove_undo_file(undo: RegularFile, file: RegularFile) -> None:
    """The data in `file` are whole, old or new. Raises OSError."""
    unmark_unfinished(file)  # first: no name says more than the one beside the undo file
    undo.unlink()
    undo.close()
    sync_folder(os.path.dirname(undo.path))


def _open_own(path: str, name: str) -> RegularFile:
    """The undo file, if it is the user's own: a stranger who may put files into the folder would
    otherwise have us write his bytes into ours.
    """
    hint = "a complete patch has none; name that of a moved file, at its old place"
    lacking = CannotRead(f"{name} has no undo file", where=path, hint=hint)
    with translate_errors(lambda _: lacking, FileNotFoundError):
        undo_file = open_file(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    status = undo_file.status
    is_own = stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_uid == os.geteuid()
    check_rule(is_own, f"{undo_file.name} is not your own", undo_file.name, kind=CannotRead)
    return undo_file


def _restore_rows(file: RegularFile, undo: RegularFile) -> int:
    if not _is_sealed(undo):
        _check_never_begun(file, undo)
        return 0
    size, _, offset, width = _read_header(undo)
    problem = f"{file.name} became shorter since the patch"
    where = f"{file.name}: {file.size:,} bytes, of {size:,}"
    check_rule(file.size >= size, problem, where, "nothing was changed", kind=CannotRead)
    count = 0
    for rows, old, new in iter_parts(undo):
        _check_old_or_new(file, undo.name, rows, _read_rows(file, offset, rows, width), old, new)
        count += rows.size
    record_result(file.name, "is a mix of old and new rows: run the command again")
    put_back(undo, file, offset)
    record_result(file.name, "is as it was")
    return count


def put_back(undo: RegularFile, file: RegularFile, offset: int) -> None:
    """The old rows that an undo file has, in the file that they are of. Raises OSError."""
    for rows, old, _ in iter_parts(undo):
        is_other = (_read_rows(file, offset, rows, old.shape[1]) != old).any(axis=1)
        # Rows that were never reached may lie where nothing can be written.
        write_rows(file.descriptor, offset, rows[is_other], old[is_other])
    sync(file.descriptor)


def _check_never_begun(file: RegularFile, undo: RegularFile) -> None:
    """Before the undo file is complete nothing has changed; but a damaged one looks alike."""
    whole = undo.size >= len(_MAGIC) + _HEADER.size and undo.read(0, len(_MAGIC)) == _MAGIC
    status = os.fstat(file.descriptor)
    fits = whole and _read_header(undo)[:2] == (status.st_size, status.st_mtime_ns)
    problem, where = f"{undo.name} is no whole undo file", f"{file.name}: nothing was changed"
    reason = "it is another file, or its patch stopped before it began, or old rows are lost"
    hint = "the second word is NAME.gscli-undo, which the patch left: gscli undo FILE UNDO-FILE"
    if undo.name.endswith(UNDO_SUFFIX):
        hint = f"delete {undo.name} if {file.name} is as it should be"
    check_rule(fits or not undo.size, problem, where, reason, kind=CannotRead, hint=hint)


def _check_old_or_new(
    file: RegularFile, undo: str, rows: Indices, current: Bytes, old: Bytes, new: Bytes
) -> None:
    strange = ((current != old) & (current != new)).any(axis=1)
    problem = f"{file.name} was written to since the patch, or is another file"
    first, hint = int(rows[strange.argmax()]), f"delete {undo} to keep {file.name} as it is"
    where = f"{file.name}: row {first} holds neither its old nor its new content"
    is_known, reason = not strange.any(), "nothing was changed"
    check_rule(is_known, problem, where, reason, kind=CannotWrite, hint=hint)


def _read_rows(file: RegularFile, offset: int, rows: Indices, width: int) -> Bytes:
    spans = ((int(rows[begin]), end - begin) for begin, end in _iter_neighbours(rows))
    parts = (file.read(offset + first * width, count * width) for first, count in spans)
    return np.frombuffer(b"".join(parts), np.uint8).reshape(-1, width)


def _read_header(undo: RegularFile) -> tuple[int, int, int, int]:
    return _HEADER.unpack(undo.read(len(_MAGIC), _HEADER.size))


def iter_parts(undo: RegularFile) -> Iterator[tuple[Indices, Bytes, Bytes]]:
    """Row numbers, old and new bytes; ValueError where they cannot be those of a patch."""
    size, _, offset, width = _read_header(undo)
    position = len(_MAGIC) + _HEADER.size
    end = os.fstat(undo.descriptor).st_size - _ENDING  # of one in the making as well
    while True:
        (count,) = _COUNT.unpack(undo.read(position, _COUNT.size))
        if not count:
            return
        position += _COUNT.size
        if not width or count * (_NUMBER + 2 * width) > end - position:
            raise ValueError("a part goes on beyond the end")
        rows = np.frombuffer(undo.read(position, count * _NUMBER), np.int64)
        is_rising = rows[0] >= 0 and (rows[1:] > rows[:-1]).all()
        if not is_rising or int(rows[-1]) >= (size - offset) // width:
            raise ValueError("a row is none of the file's")
        position += rows.nbytes
        both = np.frombuffer(undo.read(position, 2 * count * width), np.uint8)
        position += both.nbytes
        old, new = both.reshape(2, count, width)
        yield rows, old, new


def _is_sealed(undo: RegularFile) -> bool:
    """Whether everything that was noted is there, by its check sum."""
    crc, body = 0, undo.size - _ENDING
    if body < len(_MAGIC) + _HEADER.size or undo.read(0, len(_MAGIC)) != _MAGIC:
        return False
    for position in range(0, body, 1 << 20):
        crc = zlib.crc32(undo.read(position, min(1 << 20, body - position)), crc)
    return undo.read(body, _ENDING) == _COUNT.pack(0) + _CRC.pack(crc) + _SEAL
