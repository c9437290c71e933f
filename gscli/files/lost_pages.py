"""Pages of a mapped file that are no longer there: zeros in their place, and an error later.

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
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from gscli.base.records import Record
from gscli.files.regular import RegularFile

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
