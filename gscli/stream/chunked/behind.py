"""Chunks are encoded and written by other threads, while the next one is made."""

from __future__ import annotations

from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from gscli.base.arrays import Array
from gscli.files.zarr_store import Store
from gscli.stream.chunked.grid import Coordinates
from gscli.stream.writeback import Behind

WAITING = 2
"""Chunks that are being written while one is made."""

LARGEST = 16 << 20
"""Bytes of a chunk up to which others may wait; larger ones would take too much memory."""


class WrittenBehind:
    """A store's `write` that does not wait; all is written, and told of, when the block ends."""

    def __init__(self, target: Store) -> None:
        self._target = target
        large = target.chunk_bytes > LARGEST
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
            self._behind.tell(self._target.name)

    def write(self, coordinates: Coordinates, values: Array) -> None:
        """Take a chunk, which nobody may change any more. Raises what an earlier one met."""
        self._places.get()
        self._behind.do(partial(self._leave, coordinates, values))
        self._behind.tell(self._target.name)

    def _leave(self, coordinates: Coordinates, values: Array) -> None:
        try:
            self._target.write(coordinates, values)
        finally:
            self._places.put(None)
