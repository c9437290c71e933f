"""Chunks are encoded and written, or copied, by other threads, while the next one is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from gscli.files.stores.zarr_store import Store
from gscli.stream.writeback import Behind

WAITING = 2
"""Chunks that are being written while one is made."""

LARGEST = 16 << 20
"""Bytes of a chunk up to which others may wait; larger ones would take too much memory."""


class WrittenBehind:
    """Calls that write to a store and are not waited for; when a block ends, all are done."""

    def __init__(self, target: Store, *, holding: bool = True) -> None:
        """`holding`: calls that wait hold a chunk each, for which a large one leaves no room."""
        self._name = target.name
        large = holding and target.chunk_bytes > LARGEST
        self._behind = Behind(0 if large else WAITING)
        self._places = SimpleQueue[Any]()
        for _ in range(WAITING):
            self._places.put(None)

    # No generator, as in `writeback`: a signal that arrives while it is entered would be lost.
    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._behind.stop()
        if kind is None:
            self._behind.tell(self._name)

    def do(self, call: Callable[..., object], *arguments: object) -> None:
        """Take a call; nobody may change its arguments any more. Raises what an earlier one met."""
        self._places.get()
        self._behind.do(partial(self._leave, call, arguments))
        self._behind.tell(self._name)

    def _leave(self, call: Callable[..., object], arguments: tuple[object, ...]) -> None:
        try:
            call(*arguments)
        finally:
            self._places.put(None)
