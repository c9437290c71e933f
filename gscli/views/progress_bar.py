"""Progress on stderr: only on a terminal, only after a second, gone when the work is done."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import ProgressColumn

SHOWN_AFTER = 1.0


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Counts work done; draws a bar with rate and time left when it takes long.

    >>> with ProgressBar("cases", total=2) as progress:
    ...     progress.advance()
    """

    def __init__(
        self, label: str, total: int | None, *, unit: str = "", quiet: bool = False
    ) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._done = 0
        self._began = time.monotonic()
        self._is_shown = not quiet and sys.stderr.isatty()

    def advance(self, amount: int = 1) -> None:
        """`amount` more is done."""
        self.update(self._done + amount)

    def update(self, done: int, total: int | None = None, label: str = "") -> None:
        """So much is done now; `label` says what of, where that changes."""
        self._label = label or self._label
        self._done, self._total = done, total if total is not None else self._total
        if self._is_shown and time.monotonic() - self._began >= SHOWN_AFTER:
            (task,) = self._bar.task_ids
            self._bar.update(task, completed=done, total=self._total, description=self._label)

    @cached_property
    def _bar(self) -> RichProgress:
        """The bar, which is drawn from now on."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        counts: list[ProgressColumn] = [MofNCompleteColumn()]
        if self._unit == "bytes":
            counts = [DownloadColumn(), TransferSpeedColumn()]
        bar = Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), *counts,
            TimeRemainingColumn(), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        bar.start()
        bar.add_task(self._label, total=self._total)
        return bar

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """The work is done: the bar goes."""
        if "_bar" in vars(self):
            self._bar.stop()
