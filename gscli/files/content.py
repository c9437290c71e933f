"""The bytes of one input, readable at any place: a regular file, or a pipe held in memory.

Devices, folders and sockets are refused before a byte is read, a pipe is read up to a limit, and
every failure of the system is CannotRead with the file's name.
"""

from __future__ import annotations

import io
import os
import select
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from gscli.base import CannotRead, ContentRefused, LimitRefused, check_rule
from gscli.base.arrays import Array, DType
from gscli.disk import mapped
from gscli.disk.mapped import RegularFile, check_system, find_undo_file, open_file, read_errors

# `check_rule` for what a format promises of its bytes.
check_content = partial(check_rule, kind=ContentRefused)

STANDARD_INPUT = "standard input"

# Arrays of at least this many bytes stay in the file and are mapped; smaller ones are read.
MIN_MAP_BYTES = 1 << 20

# JSON and CSV are at most this long, whatever the byte limit for arrays is.
TEXT_LIMIT = 64 << 20

PIPE_CHUNK = 1 << 20

# Bytes of a stream from which its bounds are judged: enough for the header of any .npy file.
MIN_SNIFF_BYTES = 1 << 14

# What is not read, and what is.
_READ = "regular files and pipes are read"
_KINDS = (
    (stat.S_ISDIR, "is a folder", "name a file in it; node tests: gscli run FOLDER"),
    (stat.S_ISCHR, "is a character device", _READ),
    (stat.S_ISBLK, "is a block device", _READ),
    (stat.S_ISSOCK, "is a socket", _READ),
)


# Says of a stream's first bytes, the limit and its name how many bytes are refused, and how many
# are all it has.
BoundsFunction: TypeAlias = "Callable[[bytes, int, str], tuple[int, int]]"


class Content(AbstractContextManager["Content"]):
    """The bytes of an input, at any place: here those in memory, of a pipe or an archive's member.

    `name` is for messages, `size` is fixed.
    """

    def __init__(self, name: str, data: bytes | bytearray = b"") -> None:
        self.name, self.size = name, len(data)
        self._data = memoryview(data).toreadonly()

    def read(self, offset: int, length: int) -> bytes | memoryview:
        """Exactly the bytes asked for; CannotRead where the file became shorter."""
        return self._data[offset : offset + length]

    def open_file(self) -> BinaryIO:
        """A file object for a library that wants one; the caller closes it."""
        return io.BytesIO(self._data)

    def close(self) -> None:
        """Give the descriptor back; arrays may still use the bytes."""

    def check_unchanged(self) -> None:
        """CannotRead where the bytes may not be those of one moment; called at the end."""

    def as_array(self, dtype: DType, count: int, offset: int) -> Array:
        """A one-dimensional read-only array of the bytes at `offset`, mapped if it is large."""
        if not count:
            return np.empty(0, dtype)
        return np.frombuffer(self.read(offset, count * dtype.itemsize), dtype)

    def detach_file(self) -> RegularFile | None:
        """The open file, which stays open when the content is closed; None where there is none."""
        return None

    def read_prefix(self, length: int) -> bytes:
        """At most `length` bytes from the start."""
        return bytes(self.read(0, min(length, self.size)))

    def read_all(self, limit: int, what: str) -> bytes | memoryview:
        """All bytes, or LimitRefused where there are more than `limit`."""
        check_limit(self.size, limit, self.name, what)
        return self.read(0, self.size)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.check_unchanged()
        finally:
            self.close()


class FileContent(Content):
    """A regular file, read by position."""

    def __init__(self, file: RegularFile) -> None:
        super().__init__(file.name)
        self.size, self._file, self._shared = file.size, file, False

    def read(self, offset: int, length: int) -> bytes:
        """As `Content.read`."""
        return self._file.read(offset, length)

    def check_unchanged(self) -> None:
        """As `Content.check_unchanged`."""
        self._file.check_unchanged()

    def open_file(self) -> BinaryIO:
        """As `Content.open_file`."""
        with read_errors(self.name):
            return os.fdopen(os.dup(self._file.descriptor), "rb")

    def detach_file(self) -> RegularFile:
        """As `Content.detach_file`."""
        self._shared = True
        return self._file

    def close(self) -> None:
        """As `Content.close`; mapped arrays keep the file open."""
        if not self._shared:
            self._file.close()

    def as_array(self, dtype: DType, count: int, offset: int) -> Array:
        """As `Content.as_array`."""
        if count * dtype.itemsize < MIN_MAP_BYTES:
            return super().as_array(dtype, count, offset)
        with read_errors(self.name):
            array = mapped.map_file(self._file, dtype, (count,), offset)
        self._shared = True
        return array


def open_content(path: str, limit: int, bounds_for: BoundsFunction | None = None) -> Content:
    """Open a regular file or read a pipe; CannotRead for everything else.

    Nothing but a pipe is opened in a way that could block, and the kind is judged on the opened
    file, not on the name. `bounds_for` says of a pipe's first bytes how far to read. Nothing is
    written: a patch that was cut short is only told of.
    """
    check_system()
    with read_errors(path):
        # A FIFO opened without blocking would look empty before its writer comes.
        waits = 0 if stat.S_ISFIFO(os.stat(path).st_mode) else os.O_NONBLOCK
        file = open_file(path, os.O_RDONLY | os.O_NOCTTY | waits)
    with ExitStack() as stack:
        stack.callback(file.close)
        if stat.S_ISREG(file.status.st_mode):
            undo_file = find_undo_file(path, file.descriptor)
            if undo_file is not None:
                from gscli.disk.unfinished import warn_of_unfinished

                warn_of_unfinished(path, undo_file)
            with read_errors(path):  # files of /proc say that they are empty, and are as pipes
                if file.size or not os.pread(file.descriptor, 1, 0):
                    stack.pop_all()
                    return FileContent(file)
        _refuse_special(file.status.st_mode, path)
        data = read_pipe(lambda size: os.read(file.descriptor, size), path, limit, bounds_for)
    return Content(path, data)


def check_kind(path: str) -> None:
    """Refuse what is not there, and what is neither a file nor a pipe, without opening it."""
    with read_errors(path):
        mode = os.stat(path).st_mode
    _refuse_special(mode, path)


def _refuse_special(mode: int, name: str) -> None:
    for is_kind, words, hint in _KINDS:
        if is_kind(mode):
            raise CannotRead(f"cannot read {name}", where=f"{name}: {words}", hint=hint)


def read_pipe(
    read: Callable[[int], bytes], name: str, limit: int, bounds_for: BoundsFunction | None = None
) -> bytearray:
    """Everything that comes out of `read`, or LimitRefused as soon as it is more than the limit.

    ContentRefused as soon as it goes on after its end.
    """
    data, enough = bytearray(), limit
    with read_errors(name):
        while part := read(PIPE_CHUNK):
            data += part
            if bounds_for is not None and len(data) >= MIN_SNIFF_BYTES:
                limit, enough = bounds_for(bytes(data[:MIN_SNIFF_BYTES]), limit, name)
                bounds_for = None
            check_limit(len(data), limit, f"{name}, as far as it was read", "the stream")
            where = f"{name}: more than {enough:,} bytes"
            check_content(len(data) <= enough, f"{name} goes on after the array", where)
    return data


def blocking_reader(stream: BinaryIO) -> Callable[[int], bytes]:
    """A function that reads what is there. On a stream that does not block, "nothing yet" looks
    like the end, so it is asked again when the system says that something is there.
    """
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    try:
        if os.get_blocking(stream.fileno()):
            return read
    except (OSError, AttributeError):  # no descriptor behind it
        return read

    def read_when_ready(length: int) -> bytes:
        select.select([stream], [], [])
        return read(length)

    return read_when_ready


def check_limit(
    size: int, limit: int, where: str, what: str, *, unit: str = "bytes", hint: str | None = None
) -> None:
    """Refuse before anything of that size is allocated; `hint`: what helps where no option does."""
    if size > limit:
        if hint is None and unit == "bytes":
            hint = "save large arrays as .npy" if limit == TEXT_LIMIT else "--max-bytes raises it"
        problem, valid = f"{what} is larger than the limit", f"at most {limit:,} {unit}"
        raise LimitRefused(problem, where=f"{where}: {size:,} {unit}", valid=valid, hint=hint or "")


def import_extra(module: str, name: str) -> Any:
    """The module, or CannotRead with the command that installs it.

    >>> import_extra("json", "onnx").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError as error:
        problem = f"this needs the package {module.partition('.')[0]}"
        raise CannotRead(problem, hint=f"pip install 'gscli[{name}]'") from error
