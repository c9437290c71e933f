"""An `os` module whose n-th call of a kind fails, for the writer and the readers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


class FaultyOs:
    """Stands in for `os`; the `fail_at`-th call of one of `names` raises or writes short.

    `calls` lists what was called, so that a test can fail each step in turn and stop when a run
    needs no more of them.
    """

    NAMES = (
        *("open", "write", "fsync", "replace", "close", "stat", "fstat", "fchmod", "lseek"),
        *("read", "pread", "dup", "readlink", "access", "statvfs", "unlink"),
    )

    def __init__(self, fail_at: int, error: int, names: tuple[str, ...] = NAMES) -> None:
        self.fail_at = fail_at
        self.error = error
        self.names = names
        self.calls: list[str] = []

    @property
    def failed(self) -> bool:
        return len(self.calls) > self.fail_at

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._counted(name, real) if name in self.names else real

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 == self.fail_at:
                if name == "close":
                    real(*arguments)  # the system gives the descriptor back even then
                raise OSError(self.error, os.strerror(self.error))
            if name == "fsync":
                return None  # waiting for the device would only make the tests slow
            return real(*arguments, **options)

        return call
