"""Rows of a file that is too large to hold: few are read by position, many from mapped pages.

Pages mapped one by one cost more than to read from them, and would stay in the process: those of a
window are mapped together, and let go of when its rows have been picked.
"""

from __future__ import annotations

import os
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from gscli.base.arrays import Array, Indices
from gscli.base.records import cached_property
from gscli.disk import mapped
from gscli.disk.mapped import RegularFile, read_errors
from gscli.kernel.tuning import DEFAULT, run_parallel
from gscli.stream.scatter import stable_argsort

Bytes = NDArray[np.uint8]

# Bytes of a row up to which it is an item of NumPy's to us; larger ones are read one by one.
LARGEST_ITEM = 1 << 16

# Bytes mapped at once where many rows of a window are wanted.
WINDOW = 1 << 22

# Rows in a window up to which each is read alone: so many calls cost as much as the window.
SPARSE_FACTOR = 128

# Rows read alone whose bytes are put together at a time.
MAX_PREADS = 1 << 11


class FileRows:
    """Part of a file as rows of `width` bytes, from byte `offset` on."""

    def __init__(self, file: RegularFile, offset: int, width: int, count: int) -> None:
        self.name, self.offset, self.width, self.count = file.name, offset, width, count
        self._file, self._descriptor = file, file.descriptor

    def read(self, first: int, into: Bytes) -> None:
        """Consecutive rows from row `first` on; as many as `into` (rows, width) has."""
        self._file.read_into(self.offset + first * self.width, into.reshape(-1).data)

    def take(self, rows: Indices, into: Bytes) -> None:
        """The rows numbered `rows`, in that order, to `into` (rows, width).

        The file is read forwards, whatever their order. Numbers must be legal.
        """
        order = stable_argsort(rows, self.count)
        ordered = rows[order]
        windows = ordered // max(WINDOW // self.width, 1)
        starts = np.flatnonzero(windows[1:] != windows[:-1]) + 1
        starts = np.concatenate(([0], starts)) if rows.size else starts
        counts = np.diff(starts, append=rows.size)
        is_sparse = (counts <= SPARSE_FACTOR) | (self.width > LARGEST_ITEM)
        alone = np.repeat(is_sparse, counts)
        with read_errors(self.name):
            self._take_by_pread(ordered[alone], order[alone], into)
            crowded = np.stack([starts, starts + counts], axis=1)[~is_sparse].tolist()

            whole = self._whole if crowded else into

            def take_near(ends: list[int]) -> None:
                here = slice(*ends)
                self._take_window(whole, ordered[here], order[here], into)

            run_parallel(crowded, take_near, DEFAULT.threads_for(into))

    def _take_by_pread(self, ordered: Indices, places: Indices, into: Bytes) -> None:
        """Rows with few neighbours, or large ones: one call for each, as a rule without a loop."""
        if self.width > LARGEST_ITEM:
            for row, place in zip(ordered.tolist(), places.tolist(), strict=True):
                self._file.read_into(self.offset + row * self.width, into[place].data)
            return
        item = f"V{self.width}"
        for first in range(0, ordered.size, MAX_PREADS):
            positions = (ordered[first : first + MAX_PREADS] * self.width + self.offset).tolist()
            reads = map(os.pread, repeat(self._descriptor), repeat(self.width), positions)
            content = b"".join(reads)
            if len(content) != len(positions) * self.width:
                raise self._file.truncation_error()
            into.view(item)[places[first : first + MAX_PREADS], 0] = np.frombuffer(content, item)

    @cached_property
    def _whole(self) -> Bytes:
        shape = (self.count * self.width,)
        return mapped.map_file(self._file, np.dtype(np.uint8), shape, self.offset)

    def _take_window(self, whole: Bytes, ordered: Indices, places: Indices, into: Bytes) -> None:
        """Rows of one window, whose pages the system maps together, and lets go of again."""
        first, last = int(ordered[0]), int(ordered[-1]) + 1
        with mapped.map_part(whole, first * self.width, last * self.width) as near:
            item = f"V{self.width}"
            picked = near.reshape(-1, self.width).view(item)[:, 0]
            into.view(item)[places, 0] = picked.take(ordered - first, mode="wrap")


class InMemoryRows:
    """Rows of an array in memory, with the methods of `FileRows`."""

    def __init__(self, array: Array, width: int) -> None:
        flat = np.ascontiguousarray(array).reshape(-1)
        self.width = width
        self._rows = flat.view(np.uint8).reshape(-1, width)

    def read(self, first: int, into: Bytes) -> None:
        """As `FileRows.read`."""
        into[...] = self._rows[first : first + len(into)]

    def take(self, rows: Indices, into: Bytes) -> None:
        """As `FileRows.take`."""
        self._rows.take(rows, axis=0, out=into, mode="wrap")
