"""Arrays that are files mapped into memory: found, read block by block, and let go again.

A page once touched stays in the process until it is released, so a pass over a large file would
grow the process to the file's size. Released pages stay in the system's cache.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

READ_AT_ONCE = 16 << 20
"""Bytes of a mapped file that are looked at between two releases."""

WORTH_OVERLAYING = 64 << 20
"""Bytes from which a copy costs more than the pages that a few writes touch."""


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


def file_of(array: Array) -> tuple[str, int] | None:
    """The file that a whole mapped array lies in and the byte where it begins there.

    None for arrays in memory and for views with gaps.
    """
    root: object = array
    while isinstance(root, np.ndarray) and isinstance(root.base, np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or root.filename is None or not array.flags.c_contiguous:
        return None
    begin = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return str(root.filename), root.offset + begin


def overlay(array: Array) -> Array | None:
    """A large mapped array once more, to be written to: only pages written to take memory.

    The file stays as it is. None for arrays in memory, for small ones, and where the file is not
    what it was.
    """
    place = file_of(array)
    if place is None or array.nbytes < WORTH_OVERLAYING:
        return None
    path, begin = place
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return np.asarray(np.memmap(file, array.dtype, "c", begin, array.shape))
    except (OSError, ValueError):
        return None
