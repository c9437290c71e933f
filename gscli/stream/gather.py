"""Gather from a file: the result in pieces, in the order in which it is written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gscli.base.arrays import Array, DType
from gscli.disk import mapped
from gscli.kernel.walks import tile_plan
from gscli.plan.plan import ValidatedPlan
from gscli.stream.rows import Rows

PIECE_BYTES = 36 << 20
"""Bytes of result that are gathered at a time: the file is passed over once for each piece."""

MAX_PIECE_ROWS = 1 << 20
"""Rows gathered at a time at most: sorting them takes about 40 bytes for each."""


def iter_gathered(plan: ValidatedPlan, source: Rows, dtype: DType) -> Iterator[Array]:
    """Pieces of the canonical result, as (rows, run), one after the other.

    `source` has the data as rows of the form's run. A piece is overwritten by the next one.
    """
    run = plan.layout.form.row_size
    most = max(min(PIECE_BYTES // source.width, MAX_PIECE_ROWS), 1)
    buffer = np.empty((0, run), dtype)
    for step in tile_plan(plan, most, sequential=True).iter_all_tiles():
        rows, live = step.flat_addresses()
        if len(buffer) < rows.size:
            buffer = np.empty((rows.size, run), dtype)
        piece = buffer[: rows.size]
        target = piece.view(np.uint8).reshape(rows.size, source.width)
        if live is None:
            source.take(rows, target)
        else:
            chosen = np.empty((int(live.sum()), source.width), np.uint8)
            source.take(rows[live], chosen)
            target[live] = chosen
            piece[~live] = plan.layout.fill_value
        yield piece
        mapped.release_pages(*plan.inputs.values())
