"""What crosses the network when a table lives in chunks: a count, not a system.

    python -m tests.bench.traffic     write the table into SCALE.md

The entries' rows come from gscli's own plan, block by block; chunks and owners are arithmetic on
them. `by_owner` is the one law that the page rests on, and a test proves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from gscli import run
from gscli.frameworks import find_operator
from gscli.plan import infer_layout
from gscli.plan.indices import BLOCK
from gscli.plan.plan import Plan

from .report import section_replaced

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

PAGE = Path(__file__).with_name("SCALE.md")
MARKERS = ("<!-- table:start -->\n", "<!-- table:end -->")
ROW_BYTES, INDEX_BYTES = 256, 8
WORKERS = 16
KIB = 1 << 10
CHUNKS = (64 * KIB, KIB**2, 16 * KIB**2)


@dataclass(frozen=True)
class Traffic:
    """Bytes as multiples of those in the rows asked for, and how even the owners' work is.

    `by_block`, `by_chunk`: whole chunks read, by each block of the plan, and each one once.
    `entries`, `distinct`: rows and their numbers between workers, one for each entry, and one for
    each distinct row of a worker.
    """

    touched: float
    by_block: float
    by_chunk: float
    entries: float
    distinct: float
    busiest: float


def uniform(rng: np.random.Generator, rows: int, count: int) -> Array:
    """Every row alike."""
    return rng.integers(0, rows, count)


def zipf(rng: np.random.Generator, rows: int, count: int) -> Array:
    """Word frequencies: few rows very often; popular rows lie anywhere in the table."""
    weights = 1.0 / np.arange(1, rows + 1)
    ranks = np.searchsorted(np.cumsum(weights), rng.random(count) * weights.sum())
    found: Array = rng.permutation(rows)[np.minimum(ranks, rows - 1)]
    return found


def clustered(rng: np.random.Generator, rows: int, count: int) -> Array:
    """Runs of neighbouring rows, as of one document after the other."""
    length = 1000
    starts = rng.integers(0, max(rows - length, 1), -(-count // length))
    return (starts[:, None] + np.arange(length)).reshape(-1)[:count] % rows


DISTRIBUTIONS: Mapping[str, Callable[[np.random.Generator, int, int], Array]] = {
    "uniform": uniform,
    "Zipf": zipf,
    "clustered": clustered,
}


def planned_rows(indices: Array, rows: int) -> Iterator[Array]:
    """The rows that each block of the plan of a Gather addresses."""
    inputs = {"data": np.broadcast_to(np.float32(0), (rows, 1)), "indices": indices}
    layout = infer_layout(find_operator("onnx.gather"), inputs, {})
    plan = Plan(layout, inputs).validate()
    for first in range(0, layout.entry_count, BLOCK):
        last = min(first + BLOCK, layout.entry_count)
        yield plan.row_addresses(first, last, layout.form.column_strides)[0]


def traffic(indices: Array, rows: int, chunk_bytes: int) -> Traffic:
    """Count for one table of `rows` rows in chunks, entries and chunks shared evenly."""
    per_chunk = chunk_bytes // ROW_BYTES
    chunks = -(-rows // per_chunk)
    blocks = list(planned_rows(indices, rows))
    addressed = np.concatenate(blocks)
    wanted = addressed.size * ROW_BYTES
    touched = np.unique(addressed // per_chunk).size
    fetched = sum(np.unique(block // per_chunk).size for block in blocks)
    sender = np.arange(addressed.size) * WORKERS // addressed.size
    owner = addressed // per_chunk % WORKERS
    away = sender != owner
    distinct = np.unique(sender[away] * rows + addressed[away]).size
    message = INDEX_BYTES + ROW_BYTES
    return Traffic(
        touched=touched / chunks,
        by_block=fetched * chunk_bytes / wanted,
        by_chunk=touched * chunk_bytes / wanted,
        entries=message * int(away.sum()) / wanted,
        distinct=message * distinct / wanted,
        busiest=int(np.bincount(owner, minlength=WORKERS).max()) * WORKERS / addressed.size,
    )


def by_owner(data: Array, indices: Array, updates: Array, chunk_rows: int, reduction: str) -> Array:
    """ScatterND by chunks: each owner takes its entries in entry order, and nothing else.

    Same bits as one call, because cells of different chunks never meet.
    """
    rows = np.where(indices[:, 0] < 0, indices[:, 0] + len(data), indices[:, 0])
    parts = []
    for first in range(0, len(data), chunk_rows):
        own = (rows >= first) & (rows < first + chunk_rows)
        inputs = {
            "data": data[first : first + chunk_rows],
            "indices": rows[own, None] - first,
            "updates": updates[own],
        }
        parts.append(run("onnx.scatter_nd", inputs, {"reduction": reduction}))
    return np.concatenate(parts)


HEADER = (
    "| indices | chunk KiB | chunks touched | read by each block | read once | sent per entry "
    "| sent per distinct row | busiest owner |\n|---|--:|--:|--:|--:|--:|--:|--:|"
)


def table(rows: int, count: int) -> str:
    """The simulation as Markdown."""
    lines = [HEADER]
    for name, draw in DISTRIBUTIONS.items():
        indices = draw(np.random.default_rng(7), rows, count)
        for chunk in CHUNKS:
            found = traffic(indices, rows, chunk)
            lines.append(
                f"| {name} | {chunk // KIB} | {found.touched:.0%} | {found.by_block:.1f} "
                f"| {found.by_chunk:.1f} | {found.entries:.2f} | {found.distinct:.2f} "
                f"| {found.busiest:.1f} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(section_replaced(page, table(4_000_000, 1_000_000), MARKERS), encoding="utf-8")
