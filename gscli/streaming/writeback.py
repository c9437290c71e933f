"""Let the device write while the result is still being made, so that the last sync is short."""

from __future__ import annotations

import os
from contextlib import suppress

from gscli.formats.atomic import AtomicFile

STRIDE = 64 << 20
"""Bytes written between two requests to the device."""

KEPT = 256 << 20
"""Bytes of the result that stay in the system's cache, the newest ones."""


class Writeback:
    """Has the device take each stretch of a file once it is written, and lets go of the oldest.

    A large result that stayed in the cache would push out all that others keep there, its source
    among it, and cost a new page for every 4 KiB, which takes longer than to fill it. Nothing is
    lost by a request: pages that the device does not have yet stay, and if it fails to take them,
    the sync before the file is replaced tells.
    """

    def __init__(self, file: AtomicFile) -> None:
        self._descriptor = file.fileno()
        self._possible = hasattr(os, "posix_fadvise") and file.seekable()
        self._asked = 0

    def go_on(self, written: int) -> None:
        """Ask for what was written since the last request, if it is enough."""
        if not self._possible or written - self._asked < STRIDE:
            return
        self._let_go(self._asked, written)
        if self._asked > KEPT:
            self._let_go(0, self._asked - KEPT)
        self._asked = written

    def _let_go(self, first: int, last: int) -> None:
        """Linux begins to write what is not on the device yet, and forgets the rest."""
        with suppress(OSError):  # only advice
            os.posix_fadvise(self._descriptor, first, last - first, os.POSIX_FADV_DONTNEED)
