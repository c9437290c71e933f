"""A scatter into a file by the rows that it touches: what they hold, and what they will hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.kernel import ScatterOutput
from gscli.kernel.steps import Tile
from gscli.layout import Layout
from gscli.plan.plan import ValidatedPlan
from gscli.stream.rows import Rows
from gscli.stream.scatter import PREFETCH_CELLS, Prefetcher, update_records
from gscli.stream.to_file import make_update_reader, open_data_rows

CHUNK = 8 << 20
"""Bytes of rows that are changed at a time."""


@dataclass(frozen=True)
class RowBatch:
    """Some rows, rising, each once; their updates, by which row of the part they go to."""

    rows: Indices
    targets: Indices
    updates: slice


@dataclass(frozen=True)
class RowUpdates:
    """A scatter by the rows that it touches, from where each row has all its updates together."""

    layout: Layout
    dtype: np.dtype[np.generic]
    offset: int
    source: Rows
    rows: Indices
    ahead: Prefetcher

    @property
    def count(self) -> int:
        """How many rows change."""
        return int(np.count_nonzero(np.diff(self.rows, prepend=-1)))

    @classmethod
    def of(cls, plan: ValidatedPlan, offset: int) -> RowUpdates:
        """Sort the addresses of a plan."""
        layout = plan.layout
        assert layout.data_name is not None
        dtype = plan.inputs[layout.data_name].dtype
        source = open_data_rows(plan, dtype)
        rows, places = update_records(plan).sort_all()
        count = max(PREFETCH_CELLS // layout.form.row_size, 1)
        return cls(
            layout,
            dtype,
            offset,
            source,
            rows,
            Prefetcher(make_update_reader(plan, dtype), places, count),
        )

    def parts(self) -> Iterator[RowBatch]:
        """All touched rows, a few megabytes at a time."""
        starts = np.flatnonzero(np.diff(self.rows, prepend=-1))
        size = max(CHUNK // self.source.width, 1)
        for first in range(0, starts.size, size):
            here = starts[first : first + size]
            end = int(starts[first + size]) if first + size < starts.size else self.rows.size
            begin = int(here[0])
            numbers = np.repeat(np.arange(here.size), np.diff(here, append=end))
            yield RowBatch(self.rows[here], numbers, slice(begin, end))

    def read_rows(self, rows: Indices) -> Array:
        """The bytes of some rows, (rows, width)."""
        block = np.empty((rows.size, self.source.width), np.uint8)
        self.source.take(rows, block)
        return block

    def apply_batch(self, part: RowBatch, block: Array) -> Array:
        """The bytes of a part's rows after their updates; `block`: those before, overwritten."""
        with np.errstate(all="ignore"):
            return self._apply(part, block.view(self.dtype))

    def _apply(self, part: RowBatch, block: Array) -> Array:
        target, values = ScatterOutput(self.layout, block), self.ahead.read_slice(part.updates)
        if target.rule is None:
            target.rows[part.targets] = values
        else:
            target.count_updates(part.targets)
            target.init_identity()
            target.apply_updates(Tile(slice(None), part.targets, None, (slice(None),)), values)
        return target.finalize().reshape(part.rows.size, -1).view(np.uint8)


def write_rows(descriptor: int, offset: int, rows: Indices, content: Array) -> None:
    """Rows (n,), rising, of a file get their content (n, width); neighbours in one call."""
    flat, width = content.reshape(-1).data, content.shape[1]
    for begin, end in neighbours(rows):
        position = offset + int(rows[begin]) * width
        view = flat[begin * width : end * width]
        while view:
            done = os.pwrite(descriptor, view, position)
            view, position = view[done:], position + done


def neighbours(rows: Indices) -> Iterator[tuple[int, int]]:
    """Where rows follow each other, as (begin, end) of the numbers."""
    gaps = (rows[1:] != rows[:-1] + 1).nonzero()[0] + 1
    return pairwise([0, *gaps.tolist(), rows.size])
