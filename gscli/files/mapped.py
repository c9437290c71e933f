"""Arrays that are files mapped into memory: found, read block by block, and let go again.

A page once touched stays in the process until it is released, so a pass over a large file would
grow the process to the file's size. Released pages stay in the system's cache.

A file that becomes shorter takes its pages away from whoever has mapped it, and the next look at
one of them ends the process (SIGBUS), without a message and with hidden files left behind. Python
cannot handle that signal, because it would return to the same instruction for ever. A function of
the C library can be handed a Python function, which puts zeros where the pages were. The result is
worth nothing then, and `RegularFile.check_unchanged` says so before it is shown or kept.
"""

from __future__ import annotations

import mmap
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from gscli.base.records import Record
from gscli.files.arrays import Array
from gscli.files.regular import RegularFile

READ_AT_ONCE = 16 << 20
"""Bytes of a mapped file that are looked at between two releases."""

WORTH_OVERLAYING = 64 << 20
"""Bytes from which a copy costs more than the pages that a few writes touch."""


_PLACES: WeakKeyDictionary[mmap.mmap, Pages] = WeakKeyDictionary()


def map_file(
    file: RegularFile,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    offset: int,
    mode: Literal["r", "c"] = "r",
) -> Array:
    """Part of a file as an array, "r" to read or "c" to write to a copy of it. Raises OSError,
    and CannotRead where the file is shorter than it was.
    """
    # The system would not mind to map beyond the end; the first access would kill us.
    file.check_unchanged()
    with os.fdopen(os.dup(file.descriptor), "rb") as stream:
        array = np.memmap(stream, dtype, mode, offset, shape)
    mapping = mapping_of(array)
    assert mapping is not None
    _PLACES[mapping] = Pages(file, offset, _address(array), array.nbytes)
    survive(lambda: list(_PLACES.values()))
    return array


def mapping_of(array: Array) -> mmap.mmap | None:
    """The mapping that an array is a view of, or None for an array in memory.

    >>> mapping_of(np.arange(3)) is None
    True
    """
    owner: object = array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner if isinstance(owner, mmap.mmap) else None


def release(*arrays: Array) -> None:
    """Let go of the pages of mapped arrays; what was written to a file's mapping stays there."""
    for array in arrays:
        mapping = mapping_of(array)
        if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)


def blocks(array: Array) -> Iterator[Array]:
    """The whole array, or a mapped one in flat parts that are released after use.

    >>> [part.tolist() for part in blocks(np.arange(3))]
    [[0, 1, 2]]
    """
    if mapping_of(array) is None or not array.flags.c_contiguous:
        yield array
        return
    flat = np.asarray(array).reshape(-1)
    size = max(READ_AT_ONCE // array.itemsize, 1)
    for first in range(0, flat.size, size):
        yield flat[first : first + size]
        release(array)


def file_of(array: Array) -> tuple[RegularFile, int] | None:
    """The file that a whole array was mapped from, and the byte where it begins there.

    None for arrays in memory, for those that `map_file` did not make, and for views with gaps.
    """
    mapping = mapping_of(array)
    place = None if mapping is None else _PLACES.get(mapping)
    if place is None or not array.flags.c_contiguous:
        return None
    return place.file, place.offset + _address(array) - place.address


def check_unchanged(*arrays: Array) -> None:
    """CannotRead where the file of a mapped array was written to since it was opened."""
    for array in arrays:
        mapping = mapping_of(array)
        place = None if mapping is None else _PLACES.get(mapping)
        if place is not None:
            place.file.check_unchanged()


def overlay(array: Array) -> Array | None:
    """A large mapped array once more, to be written to: only pages written to take memory.

    The file stays as it is. None for arrays in memory and for small ones.
    """
    place = file_of(array)
    if place is None or array.nbytes < WORTH_OVERLAYING:
        return None
    try:
        return np.asarray(map_file(place[0], array.dtype, array.shape, place[1], "c"))
    except (OSError, ValueError):
        return None


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


MOST_TIMES = 100
"""Losses that one process survives: the same page again and again would be no end."""

_MAP_FIXED = 0x10
"""On Linux and macOS alike."""


class Pages(Record):
    """A mapping: `size` bytes from `address` on are those of the file from byte `offset` on."""

    file: RegularFile
    offset: int
    address: int
    size: int


_installed: list[object] = []


def survive(mappings: Callable[[], Iterable[Pages]]) -> None:
    """From now on, put zeros where pages of these mappings are lost. Costs nothing until then."""
    if _installed or not hasattr(signal, "SIGBUS"):
        return
    try:
        import ctypes

        library = ctypes.CDLL(None)
        library.mmap.restype = ctypes.c_void_p
        library.mmap.argtypes = [
            ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long,
        ]  # fmt: skip
        library.signal.restype = ctypes.c_void_p
        library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    except (ImportError, OSError, AttributeError):  # a Python or a C library without it
        return

    times = count()

    def lost(_number: int) -> None:
        replaced = [_replaced(pages, library) for pages in mappings()]
        if not any(replaced) or next(times) > MOST_TIMES:
            # Not a page of ours, or lost for another reason: end as without us.
            library.signal(signal.SIGBUS, None)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lost)
    _installed.append(handler)
    library.signal(signal.SIGBUS, ctypes.cast(handler, ctypes.c_void_p))


def _replaced(pages: Pages, library: Any) -> bool:
    """Whether the file is too short for its mapping; then zeros are behind its end."""
    short = pages.offset + pages.size - os.fstat(pages.file.descriptor).st_size
    if short <= 0:
        return False
    end = pages.address + pages.size
    # The system itself fills the rest of the last page that a file has with zeros.
    first = max(end - short, pages.address - pages.offset % mmap.ALLOCATIONGRANULARITY)
    first += -first % mmap.PAGESIZE
    if first < end:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
        library.mmap(first, end - first, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    pages.file.lose()
    return True
