"""Let the device write while the result is still being made, so that the last sync is short."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from gscli.errors import CannotWrite
from gscli.formats.atomic import AtomicFile

STRIDE = 256 << 20
"""Bytes written between two syncs."""


class Writeback:
    """Syncs a file from a thread of its own, one sync at a time. A failure is told at the end.

    It must be told: the system reports that data were lost once, and the sync before the file is
    replaced would know nothing of it.
    """

    def __init__(self, file: AtomicFile) -> None:
        self._file, self._next = file, STRIDE
        self._thread: threading.Thread | None = None
        self._error: OSError | None = None

    def start_after(self, written: int) -> None:
        """Begin a sync if enough was written since the last one began and that has ended."""
        busy = self._thread is not None and self._thread.is_alive()
        if written >= self._next and not busy and self._file.seekable():
            self._next = written + STRIDE
            thread = threading.Thread(target=self._sync)
            with suppress(RuntimeError):  # no memory for a thread: all is synced at the end
                thread.start()
                self._thread = thread

    def _sync(self) -> None:
        try:
            os.fdatasync(self._file.fileno())
        except OSError as error:
            self._error = error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._error is not None and kind is None:
            name, reason = self._file.name, self._error.strerror or str(self._error)
            raise CannotWrite(f"cannot write {name}", where=f"{name}: {reason}") from self._error
