"""Arrays that are files mapped into memory: found, read block by block, and let go again.

A page once touched stays in the process until it is released, so a pass over a large file would
grow the process to the file's size. Released pages stay in the system's cache.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from gscli.base.arrays import Array
from gscli.files.lost_pages import Pages, survive
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
