"""Turn the signals that end a process into exceptions while a file is being written.

Their default is to end it on the spot, without cleaning up. SIGINT is KeyboardInterrupt already.
All of them act only where that is harmless, so that no step of a clean-up is cut in two.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from gscli.base.words import sanitize

# Every signal that ends a process unless it is caught; which there are depends on the system.
SIGNALS = tuple(
    getattr(signal, name)
    for name in (
        *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM"),
        *("SIGPROF", "SIGXCPU", "SIGIO", "SIGPWR", "SIGBREAK"),
    )
    if hasattr(signal, name)
)


# Functions in which an exception would cut a clean-up in two, or be dropped by Python.
_NOT_IN = {"__enter__", "__exit__", "__del__"}

# Modules whose functions run while something is freed, where Python drops exceptions too, or while
# a pool of threads takes a call, and would not know what it was given.
_NOT_OF = {"weakref", "_weakrefset", "concurrent.futures.thread"}


# What this process has written, by its printable name, and how far: told when it is interrupted.
#
# Whoever puts a result in place records it before signals act again.
RESULTS: dict[str, str] = {}


def record_result(name: str, state: str = "was written") -> None:
    """Note that something was written under a name, or is in another state by now."""
    RESULTS[sanitize(name)] = state


class DeferredSignals:
    """While entered, signals wait for `allow()` or the end, then the first one raises.

    Within `allow()` one that arrives while something is entered, left or freed waits on, for
    `deliver_pending()` or the end: no clean-up has a guard against exceptions between its own
    lines.

    KeyboardInterrupt for SIGINT, SystemExit(128 + n) for the others. A handler the program
    installed is called instead, an ignored signal (nohup) stays ignored. Signals reach Python's
    main thread only; in another thread this does nothing.

    >>> with DeferredSignals() as interrupts:
    ...     signal.raise_signal(signal.SIGTERM)
    ...     print("still here")
    Traceback (most recent call last):
    SystemExit: 143
    """

    def __init__(self) -> None:
        self._previous: dict[int, signal._HANDLER] = {}
        self._pending: list[int] = []
        self._allowed = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                previous = signal.getsignal(number)
                if previous is signal.SIG_DFL or callable(previous):
                    self._previous[number] = previous
                    signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, previous in self._previous.items():
            signal.signal(number, previous)
        self._deliver()

    @contextmanager
    def allow(self) -> Iterator[None]:
        """Let signals act at once inside the block."""
        self._allowed = True
        try:
            self._deliver()
            yield
        finally:
            self._allowed = False

    def deliver_pending(self) -> None:
        """Let a signal that waits act now, if that is allowed here."""
        if self._allowed:
            self._deliver()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._pending.append(number)
        while frame is not None:
            if frame.f_code.co_name in _NOT_IN or frame.f_globals.get("__name__") in _NOT_OF:
                return
            frame = frame.f_back
        self.deliver_pending()

    def _deliver(self) -> None:
        if not self._pending:
            return
        # The first one ends the block: a second must not break into the clean-up.
        self._allowed = False
        number = self._pending.pop(0)
        previous = self._previous[number]
        if callable(previous):
            previous(number, None)
        else:
            raise SystemExit(128 + number)
