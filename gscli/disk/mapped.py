"""An open regular file, what is read through its one descriptor, and arrays mapped from it.

A name may come to mean another file at any moment; a descriptor cannot. What was judged, what is
read and what is locked are therefore always the same file.

Mapped arrays are read block by block, and let go again: a page once touched stays in the process
until it is released, so a pass over a large file would grow the process to the file's size.
Released pages stay in the system's cache. Files that become shorter: `gscli.disk.lost_pages`.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from gscli.base import CannotRead, CannotWrite, check_rule, translate_errors
from gscli.base.arrays import Array, DType
from gscli.base.records import Record
from gscli.base.words import error_reason, sanitize, suggest_names

# Bytes of a mapped file that are looked at between two releases.
READ_AT_ONCE = 16 << 20

# Bytes from which a copy costs more than the pages that a few writes touch.
WORTH_OVERLAYING = 64 << 20

# On Linux and macOS alike.
_MAP_FIXED = 0x10

# To map pages before they are touched: on Linux from 5.14 on. Elsewhere each comes when it is.
_POPULATE_READ = 22

# Files beside a missing one whose names are looked at.
MOST_NEIGHBOURS = 10_000

_UNTOUCHED = "run the command again when nobody writes to it"

UNDO_SUFFIX = ".gscli-undo"

# Number of the file, number of its undo file, and where that is.
ATTRIBUTE = "user.gscli.undo"

# Files of which this process lost mapped pages.
TRUNCATED_FILES: list[str] = []


class Stamp(Record):
    """What a change of a file's content changes, too: by it alone is a file known to be unchanged.

    The time of the last change of content or attributes (`changed`) cannot be set back, as that of
    the content (`modified`) can be by cp -p and rsync -t. Where a file system has no such time, as
    FAT, a content of the same length whose time was set back is not seen.
    """

    size: int
    modified: int
    changed: int
    links: int

    @classmethod
    def from_status(cls, status: os.stat_result) -> Stamp:
        """The stamp of a file that was looked at."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_nlink)

    def is_same_content(self, other: Stamp, *, was_renamed: bool = False) -> bool:
        """Whether another stamp can be of the same content.

        A new or a lost name sets `changed` as well, and so does on many file systems one that is
        changed: neither is a change of content.
        """
        if (self.size, self.modified) != (other.size, other.modified):
            return False
        return was_renamed or self.links != other.links or self.changed == other.changed


_NUMBER = r"-?\d++(?:\.\d++)?(?:[eE][-+]?\d++)?"

# What Python reads as a tuple of numbers.
_LIST = re.compile(rf"{_NUMBER}(?:, ?{_NUMBER})+|\((?:[(), ]|{_NUMBER})*(?<=\))", re.ASCII)
_TO_BRACKETS = str.maketrans("()", "[]")

# How an array begins that Python printed, or makes.
_PYTHON = re.compile(r"((np|numpy|torch|jnp)\.)?(array|asarray|tensor|arange|zeros|ones)\(")


# How to go on where the system says why it does not read.
_HINTS = {errno.ENOMEM: "files are mapped: their size must be within the limit of ulimit -v"}
_HINTS[errno.EACCES] = "see that you may read it and enter the folders above it"


def read_errors(name: str) -> AbstractContextManager[None]:
    """Turn a failure of the system into CannotRead."""
    # ValueError: a NUL byte in the name, a closed stream
    return translate_errors(lambda error: read_error(error, name), OSError, ValueError)


def read_error(error: Exception, name: str) -> CannotRead:
    """CannotRead for a failure of the system.

    >>> print(read_error(PermissionError(errno.EACCES, "Permission denied"), "a.npy").hint)
    see that you may read it and enter the folders above it
    """
    number, name = getattr(error, "errno", 0), name or "''"
    reason, hint = error_reason(error), _HINTS.get(number, "")
    if isinstance(error, OSError) and number == errno.ENOENT:
        reason, hint = "no such file", suggest_similar(str(error.filename or name))
    return CannotRead(f"cannot read {name}", where=f"{name}: {reason}", hint=hint)


def suggest_similar(path: str, suffixes: tuple[str, ...] = ("",)) -> str:
    """Which files beside a missing one have a name like it and one of these suffixes, or how values
    are written inline.

    For a model or a file of cases no other kind of file does: most commands that take one read it
    alone.

    >>> suggest_similar("(1, 2)"), suggest_similar("0,2")
    ("values stand in brackets: '[1, 2]'", "values stand in brackets: '[0,2]'")
    """
    if _LIST.fullmatch(path):
        text = path if path[0] == "(" else f"[{path}]"
        text = text.translate(_TO_BRACKETS).replace(",]", "]")
        return f"values stand in brackets: {sanitize(repr(text), 60)}"
    if _PYTHON.match(path):
        return "Python writes it as JSON by print(x.tolist()), as a file by numpy.save"
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)  # suffixes make all names alike
    ends = (suffix,) if suffix in (".onnx", ".jsonl") else suffixes
    known: dict[str, str] = {}
    with suppress(OSError, ValueError), os.scandir(folder or ".") as entries:
        names = {file.name for file in islice(entries, MOST_NEIGHBOURS) if file.name.endswith(ends)}
        for other in sorted(names - {name}, key=lambda other: (other.endswith(suffix), other)):
            known[os.path.splitext(other)[0]] = os.path.join(folder, other)
    return suggest_names(stem, known, write=known.__getitem__)


def undo_file_of(path: str) -> str:
    """The name of an undo file: beside the file that links lead to."""
    return os.path.realpath(path) + UNDO_SUFFIX


def find_undo_file(path: str, descriptor: int | None = None) -> str | None:
    """The undo file of a patch that is under way or was cut short; None where there is none.

    `descriptor`: the file at `path`, where it is open. Nothing is opened, nothing is changed. What
    lies beside a file counts for it, for in a backup that was put back all numbers are new.
    """
    with suppress(ValueError, OSError):  # a name that no file can have, or a folder that is gone
        beside = undo_file_of(path)
        if os.path.lexists(beside):
            return beside
        return _find_by_attribute(path if descriptor is None else descriptor)
    return None


def _find_by_attribute(file: str | int) -> str | None:
    """Raises OSError and ValueError where there is no attribute, or none of ours."""
    if not hasattr(os, "getxattr"):  # macOS keeps its own in another way
        return None
    own, undo, place = os.getxattr(file, ATTRIBUTE).split(b" ", 2)
    path, status = os.fsdecode(place), os.stat(file)
    other = os.lstat(path)
    numbers = int(own), int(undo), status.st_dev
    return path if numbers == (status.st_ino, other.st_ino, other.st_dev) else None


class RegularFile:
    """An open file, how it was when it was opened, and the name under which that happened.

    It is closed with `close()`, or when the last array that lies in it is gone.
    """

    def __init__(self, descriptor: int, path: str, name: str | None = None) -> None:
        """Raises OSError, and then the descriptor is still the caller's."""
        self.descriptor, self.is_truncated = -1, False
        self.path, self.name = os.path.abspath(path), name or path

        # When it was opened.
        self.status = os.fstat(descriptor)
        self.descriptor = descriptor

    @property
    def size(self) -> int:
        """Bytes when it was opened."""
        return self.status.st_size

    @property
    def stamp(self) -> Stamp:
        """How it was when it was opened."""
        return Stamp.from_status(self.status)

    @property
    def has_holes(self) -> bool:
        """Whether parts of it have no room on the device yet."""
        return os.fstat(self.descriptor).st_blocks * 512 < self.size

    def read(self, offset: int, length: int) -> bytes:
        """Exactly the bytes asked for; CannotRead where the file became shorter."""
        content = bytearray(length)
        self.read_into(offset, memoryview(content))
        return bytes(content)

    def read_into(self, offset: int, view: memoryview) -> None:
        """All of `view` from a place on; CannotRead where the file became shorter."""
        with read_errors(self.name):
            while view.nbytes:
                done = os.preadv(self.descriptor, [view], offset)
                if not done:
                    raise self.truncation_error()
                view, offset = view[done:], offset + done

    def truncation_error(self) -> CannotRead:
        """What is said where bytes are gone that were there when the file was opened."""
        problem = f"{self.name} became shorter while it was being read"
        return CannotRead(problem, where=self.name, hint=_UNTOUCHED)

    def is_unchanged(self, *, was_renamed: bool = False) -> bool:
        """Whether nobody wrote to the file since it was opened. Raises OSError."""
        now = Stamp.from_status(os.fstat(self.descriptor))
        return not self.is_truncated and now.is_same_content(self.stamp, was_renamed=was_renamed)

    def check_unchanged(self, *, was_renamed: bool = False) -> None:
        """CannotRead where somebody wrote to the file since it was opened.

        Index values are judged first and used later: they must not be other ones by then.
        """
        with read_errors(self.name):
            unchanged = self.is_unchanged(was_renamed=was_renamed)
        problem = f"{self.name} was changed while it was being read"
        check_rule(unchanged, problem, self.name, kind=CannotRead, hint=_UNTOUCHED)

    def is_same_file(self, path: str) -> bool:
        """Whether another name means this file, too."""
        with suppress(OSError):
            return os.path.samestat(os.stat(path), self.status)
        return False

    def unlink(self) -> None:
        """Remove the file's name, unless that means another file by now. Raises OSError."""
        if self.is_same_file(self.path):
            os.unlink(self.path)

    def reopen_writable(self) -> RegularFile:
        """The same file once more, opened to be written to. Raises OSError, CannotWrite."""
        again = open_file(self.path, os.O_RDWR)
        if os.path.samestat(again.status, self.status):
            return again
        again.close()
        raise self.replaced_error()

    def replaced_error(self) -> CannotWrite:
        """What is said where the name means another file by now, or none."""
        problem, hint = f"{self.name} was moved or replaced meanwhile", "run the command again"
        return CannotWrite(problem, where=self.name, details=("nothing was written",), hint=hint)

    def close(self) -> None:
        """Give the descriptor back; what was read is read, so that a failure changes nothing."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def check_system() -> None:
    """CannotRead where Python lacks the calls that files are read and written with: on Windows."""
    problem = "gscli reads and writes files on Linux and macOS alone"
    hint = "on Windows, run it in WSL"
    check_rule(hasattr(os, "pread"), problem, sys.platform, kind=CannotRead, hint=hint)


def open_file(path: str, flags: int, *, name: str | None = None) -> RegularFile:
    """A file opened with some flags, whatever kind it is of; `name`: as it was typed. Raises
    OSError.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        return RegularFile(descriptor, path, name)
    except OSError:
        with suppress(OSError):
            os.close(descriptor)
        raise


def open_regular_file(path: str) -> RegularFile | None:
    """A regular file opened to be read; None for anything else, and for what cannot be opened.

    A pipe is not even opened: its writer would take us for the reader, and leave with us.
    """
    with suppress(OSError, ValueError):
        if stat.S_ISREG(os.stat(path).st_mode):
            # It may have become a pipe by now.
            file = open_file(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
            return file if stat.S_ISREG(file.status.st_mode) else None
    return None


MapMode: TypeAlias = Literal["r", "c"]


class Mapping(Record):
    """A mapping: `size` bytes from `address` on are those of the file from byte `offset` on."""

    file: RegularFile
    offset: int
    address: int
    size: int

    def remap_truncated(self, library: Any) -> bool:
        """Whether the file is too short for its mapping; then zeros are behind its end."""
        short = self.offset + self.size - os.fstat(self.file.descriptor).st_size
        if short <= 0:
            return False
        end = self.address + self.size
        # The system itself fills the rest of the last page that a file has with zeros.
        first = max(end - short, self.address - self.offset % mmap.ALLOCATIONGRANULARITY)
        first += -first % mmap.PAGESIZE
        if first < end:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
            library.mmap(first, end - first, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        self.file.is_truncated = True  # what was mapped is not its content any more
        TRUNCATED_FILES.append(self.file.name)
        return True


_MAPPINGS: WeakKeyDictionary[mmap.mmap, Mapping] = WeakKeyDictionary()


def map_file(
    file: RegularFile, dtype: DType, shape: tuple[int, ...], offset: int, mode: MapMode = "r"
) -> Array:
    """Part of a file as an array, "r" to read or "c" to write to a copy of it. Raises OSError,
    and CannotRead where the file is shorter than it was.
    """
    from gscli.disk.lost_pages import install_sigbus_handler

    # The system would not mind to map beyond the end; the first access would kill us.
    file.check_unchanged()
    with os.fdopen(os.dup(file.descriptor), "rb") as stream:
        array = np.memmap(stream, dtype, mode, offset, shape)
    mapping = find_mapping(array)
    assert mapping is not None
    _MAPPINGS[mapping] = Mapping(file, offset, _find_address(array), array.nbytes)
    install_sigbus_handler(lambda libc: [m.remap_truncated(libc) for m in list(_MAPPINGS.values())])
    return array


def find_mapping(array: Array) -> mmap.mmap | None:
    """The mapping that an array is a view of, or None for an array in memory.

    >>> find_mapping(np.arange(3)) is None
    True
    """
    owner: object = array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner if isinstance(owner, mmap.mmap) else None


def release_pages(*arrays: Array) -> None:
    """Let go of the pages of mapped arrays; what was written to a file's mapping stays there."""
    for array in arrays:
        mapping = find_mapping(array)
        if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)


@contextmanager
def map_part(array: Array, begin: int, end: int) -> Iterator[Array]:
    """Some bytes of a file mapped as bytes: their pages come together, and go afterwards."""
    mapping = find_mapping(array)
    assert mapping is not None
    first = _MAPPINGS[mapping].offset % mmap.ALLOCATIONGRANULARITY + begin
    start = first - first % mmap.PAGESIZE
    pages = start, first - start + end - begin
    with suppress(OSError):  # another system; or the file became shorter, which is told elsewhere
        mapping.madvise(_POPULATE_READ, *pages)
    try:
        yield array[begin:end]
    finally:
        mapping.madvise(mmap.MADV_DONTNEED, *pages)


def iter_blocks(array: Array) -> Iterator[Array]:
    """The whole array, or a mapped one in flat parts that are released after use.

    >>> [block.tolist() for block in iter_blocks(np.arange(3))]
    [[0, 1, 2]]
    """
    if find_mapping(array) is None or not array.flags.c_contiguous:
        yield array
        return
    flat = np.asarray(array).reshape(-1)
    size = max(READ_AT_ONCE // array.itemsize, 1)
    for first in range(0, flat.size, size):
        yield flat[first : first + size]
        release_pages(array)


def find_file(array: Array) -> tuple[RegularFile, int] | None:
    """The file that a whole array was mapped from, and the byte where it begins there.

    None for arrays in memory, for those that `map_file` did not make, and for views with gaps.
    """
    place = _find_place(array)
    if place is None or not array.flags.c_contiguous:
        return None
    return place.file, place.offset + _find_address(array) - place.address


def check_unchanged(*arrays: Array) -> None:
    """CannotRead where the file of a mapped array was written to since it was opened."""
    for array in arrays:
        place = _find_place(array)
        if place is not None:
            place.file.check_unchanged()


def map_copy_on_write(array: Array) -> Array | None:
    """A large mapped array once more, to be written to: only pages written to take memory.

    The file stays as it is. None for arrays in memory and for small ones.
    """
    place = find_file(array)
    if place is None or array.nbytes < WORTH_OVERLAYING:
        return None
    with suppress(OSError, ValueError):
        return np.asarray(map_file(place[0], array.dtype, array.shape, place[1], "c"))
    return None


def _find_place(array: Array) -> Mapping | None:
    mapping = find_mapping(array)
    return None if mapping is None else _MAPPINGS.get(mapping)


def _find_address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
