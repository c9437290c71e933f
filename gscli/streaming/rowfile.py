"""Rows of a file that is too large to hold: read by position, never mapped.

Mapped pages would stay in the process, and a file that becomes shorter would end it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gscli import mapped
from gscli.errors import CannotRead
from gscli.kernel.rows import LARGEST_ITEM, stable_order
from gscli.plan import Array, Indices
from gscli.text import safe

Bytes = NDArray[np.uint8]

WINDOW = 1 << 20
"""Bytes read at once where many rows of a window are wanted."""

SPARSE = 48
"""Rows in a window up to which each is read alone: so many calls cost as much as the window."""


class RowFile:
    """Part of a file as rows of `width` bytes, from byte `offset` on."""

    def __init__(self, path: str, offset: int, width: int, count: int) -> None:
        self.name, self.offset, self.width, self.count = safe(path), offset, width, count
        with _reading(self.name):
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._window = np.empty(max(WINDOW, width), np.uint8)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def read(self, first: int, into: Bytes) -> None:
        """Consecutive rows from row `first` on; as many as `into` (rows, width) has."""
        with _reading(self.name):
            self._fill(into.reshape(-1).data, self.offset + first * self.width)

    def take(self, rows: Indices, into: Bytes) -> None:
        """The rows numbered `rows`, in that order, to `into` (rows, width).

        The file is read forwards, whatever their order. Numbers must be legal.
        """
        order = stable_order(rows, self.count)
        ordered = rows[order]
        windows = ordered // max(WINDOW // self.width, 1)
        edges = np.flatnonzero(windows[1:] != windows[:-1]) + 1
        with _reading(self.name):
            for begin, end in pairwise([0, *edges.tolist(), rows.size]):
                take = self._take_each if end - begin <= SPARSE else self._take_near
                take(ordered[begin:end], order[begin:end], into)

    def _take_each(self, ordered: Indices, places: Indices, into: Bytes) -> None:
        """Few rows of one window: one call for each."""
        flat, width = into.reshape(-1).data, self.width
        for row, place in zip(ordered.tolist(), places.tolist(), strict=True):
            view = flat[place * width : (place + 1) * width]
            self._fill(view, self.offset + row * width)

    def _take_near(self, ordered: Indices, places: Indices, into: Bytes) -> None:
        """Rows of one window: read from the first to the last of them, then picked."""
        first, last = int(ordered[0]), int(ordered[-1])
        window = self._window[: (last - first + 1) * self.width].reshape(-1, self.width)
        self._fill(window.reshape(-1).data, self.offset + first * self.width)
        if self.width <= LARGEST_ITEM:
            item = f"V{self.width}"
            into.view(item)[places, 0] = window.view(item)[:, 0].take(ordered - first, mode="clip")
        else:
            into[places] = window[ordered - first]

    def _fill(self, view: memoryview, position: int) -> None:
        while view.nbytes:
            done = os.preadv(self._descriptor, [view], position)
            if not done:
                raise CannotRead(f"cannot read {self.name}", where=f"{self.name}: became shorter")
            view, position = view[done:], position + done


class HeldRows:
    """Rows of an array in memory, with the methods of `RowFile`."""

    def __init__(self, array: Array, width: int) -> None:
        flat = np.ascontiguousarray(array).reshape(-1)
        self.width = width
        self._rows = flat.view(np.uint8).reshape(-1, width)

    def close(self) -> None:
        """Nothing to do."""

    def read(self, first: int, into: Bytes) -> None:
        """As `RowFile.read`."""
        into[...] = self._rows[first : first + len(into)]

    def take(self, rows: Indices, into: Bytes) -> None:
        """As `RowFile.take`."""
        self._rows.take(rows, axis=0, out=into, mode="clip")


def rows_of(array: Array, width: int) -> RowFile | HeldRows:
    """An array as rows of `width` bytes: from the file it is mapped from, else from memory."""
    place = mapped.file_of(array)
    if place is None:
        return HeldRows(array, width)
    return RowFile(*place, width, array.nbytes // width)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotRead(
            f"cannot read {name}", where=f"{name}: {error.strerror or error}"
        ) from error
