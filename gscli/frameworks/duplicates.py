"""Which entries of a scatter write the same cells, and the warning where their order is open."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from gscli.base import GscliError, Notice
from gscli.base.arrays import Indices
from gscli.base.records import Record
from gscli.base.words import entry_name, format_count
from gscli.declare import Signature
from gscli.kernel.tiles import WindowRows
from gscli.layout import Layout
from gscli.plan import infer_layout
from gscli.plan.indices import BLOCK
from gscli.plan.plan import Plan, ValidatedPlan

# Addresses that are looked at: one for each entry, or one for each cell of windows.
MAX_COMPARED_CELLS = 1 << 22

# Bytes of updates that are held against each other; more are taken to differ.
MAX_COMPARED_BYTES = 1 << 26

# Frameworks whose texts leave the result open even where all writers of a cell bring the same.
_FORBIDDING = frozenset({"onnx", "mxnet"})

# Entries of one group that a warning names.
_NAMED = 3

# Groups that a warning describes.
_DESCRIBED = 3


class Duplicates(Record):
    """Entries that write cells together.

    `groups`: the first of them, earliest entry first; `total`: how many there are. `cells`: how
    many cells are written more than once. `compared`: entries that were looked at. `writers`: how
    many of them write a cell of these, each counted once for every such cell.
    """

    groups: list[tuple[int, ...]]
    total: int
    cells: int
    compared: int
    writers: int = 0


def find_duplicate_writers(
    plan: ValidatedPlan, limit: int, *, skips_equal: bool = False
) -> Duplicates:
    """Groups of entries that write the same cells, the first `limit` described.

    `skips_equal`: none of entries that all bring the same bits.

    Slices are the same or have no cell in common. Windows may overlap, so that each of their cells
    is looked at; groups of many entries that begin and end alike are one group there.

    >>> import gscli
    >>> inputs = {"data": [0, 0, 0], "indices": [[1], [2], [1]], "updates": [7, 8, 9]}
    >>> find_duplicate_writers(gscli.trace("scatter_nd", inputs).plan, 3)
    Duplicates(groups=[(0, 2)], total=1, cells=1, compared=3, writers=2)
    """
    layout = plan.layout
    windows = layout.has_overlapping_windows
    judged = count_compared_entries(layout)
    if layout.kind == "gather" or judged < 2 or not layout.window_size:  # noqa: PLR2004  one entry meets no other
        return Duplicates([], 0, 0, judged)
    cells, writers = written_cells(plan, judged, every=windows)
    order = np.argsort(cells, kind="stable")
    cells, writers = cells[order], writers[order]
    again = cells[1:] == cells[:-1]
    if not again.any():
        return Duplicates([], 0, 0, judged)
    starts = np.flatnonzero(np.concatenate(([True], ~again)))
    lengths = np.diff(starts, append=cells.size)
    repeated = np.flatnonzero(lengths > 1)
    if skips_equal and not windows:
        members = writers[np.repeat(lengths > 1, lengths)]
        repeated = repeated[_bring_other_bits(plan, members, lengths[repeated])]
    starts, lengths = starts[repeated], lengths[repeated]
    alone = _group_representatives(writers, starts, lengths) if windows else np.arange(starts.size)
    earliest = alone[np.argsort(writers[starts[alone]], kind="stable")][:limit]
    groups = [tuple(writers[starts[g] : starts[g] + lengths[g]].tolist()) for g in earliest]
    cells_written = int(repeated.size) * (1 if windows else layout.window_size)
    return Duplicates(groups, int(alone.size), cells_written, judged, int(lengths.sum()))


def count_compared_entries(layout: Layout) -> int:
    """How many entries are looked at: all, but for very many."""
    addresses = max(layout.window_size, 1) if layout.has_overlapping_windows else 1
    return min(layout.entry_count, MAX_COMPARED_CELLS // addresses)


def _bring_other_bits(plan: ValidatedPlan, members: Indices, lengths: Indices) -> NDArray[np.bool_]:
    """For each group of writers of one slice, whether any brings another one than the first.

    `members`: the writers, group after group; `lengths`: how many each group has.
    """
    updates = plan.updates_view()
    if members.size * plan.layout.window_size * updates.itemsize > MAX_COMPARED_BYTES:
        return np.ones(len(lengths), np.bool_)
    slices = updates[np.unravel_index(members, plan.layout.addressing.entry_shape)]
    bits = np.ascontiguousarray(slices).reshape(len(members), -1).view(np.uint8)
    first = np.cumsum(lengths) - lengths
    other = (bits != bits[np.repeat(first, lengths)]).any(axis=1)
    return np.asarray(np.logical_or.reduceat(other, first), np.bool_)


def _group_representatives(writers: Indices, starts: Indices, lengths: Indices) -> Indices:
    """One repeated cell for each group: cells with the same first and last of as many writers."""
    ends = np.stack([writers[starts], writers[starts + lengths - 1], lengths])
    numbers: Indices = np.unique(ends, axis=1, return_index=True)[1]
    return numbers


def written_cells(
    plan: ValidatedPlan, count: int, *, every: bool = True
) -> tuple[Indices, Indices]:
    """Flat addresses that the first `count` entries write, at least one, and the entry of each.

    Without `every` the first cell of each live entry alone, which tells slices apart.
    """
    cells, writers, windows = [], [], WindowRows(plan)
    run = windows.row_size if every else 1
    for first in range(0, count, BLOCK):
        rows, exist = windows.resolve(first, min(first + BLOCK, count))
        entries = np.arange(first, first + len(rows))
        if not every:
            rows, exist = rows[:, :1], exist if exist is None else exist[:, :1]
        there = np.ones(rows.shape, np.bool_) if exist is None else exist
        writers.append(np.repeat(entries, there.sum(axis=1) * run))
        cells.append((rows[there][:, None] * run + np.arange(run)).reshape(-1))
    none = np.zeros(0, np.int64)
    return np.concatenate([*cells, none]), np.concatenate([*writers, none])


def find_duplicate_cells(plan: Plan) -> NDArray[np.bool_] | None:
    """For each cell of a scatter's output whether more than one update goes there.

    None for a gather, and where an index is refused, so that nothing is written.
    """
    layout = plan.layout
    if layout.kind == "gather":
        return None
    if not layout.entry_count * layout.window_size * layout.output_size:
        return np.zeros(layout.output_shape, np.bool_)
    with suppress(GscliError):
        cells, _ = written_cells(plan.validate(), layout.entry_count)
        return (np.bincount(cells, minlength=layout.output_size) > 1).reshape(layout.output_shape)
    return None


def name_shared_cells(layout: Layout) -> str:
    """What entries of a scatter share: a cell, a slice, or cells of windows that overlap."""
    if layout.window_size == 1:
        return "cell"
    return "cells" if layout.has_overlapping_windows else "slice"


def duplicate_notice(operator: Signature, plan: ValidatedPlan) -> list[Notice]:
    """The warning about entries that write one cell; no text says which of them wins."""
    skips_equal = operator.framework_name not in _FORBIDDING
    twins = find_duplicate_writers(plan, _DESCRIBED, skips_equal=skips_equal)
    if not twins.groups:
        return []
    lines = [_format_writers(plan, group) for group in twins.groups]
    more, last = twins.total - len(lines), ""
    if plan.layout.has_overlapping_windows:
        cells = format_count(twins.cells, "cell is", "cells are")
        least = "at least " if twins.compared < plan.layout.entry_count else ""
        problem = f"{least}{cells} written more than once"
        others = f"{format_count(more, 'more group')} of entries"
    else:
        thing = name_shared_cells(plan.layout)
        together = f"the same {thing}" if twins.total == 1 else f"{twins.total:,} {thing}s together"
        problem = f"{twins.writers:,} entries write {together}"
        others = f"{format_count(more, f'more {thing}')} written more than once"
        last = f" ({entry_name(twins.groups[0][-1])})" if twins.total == 1 else " of each"
    lines += [f"… and {others}"] * (more > 0)
    lines.append(f"{plan.layout.unspecified_order}; here the last one{last} won")
    lines += format_compared_part(plan.layout)
    return [Notice(problem, details=tuple(lines), hint=_reduction_hint(operator, plan))]


def format_compared_part(layout: Layout) -> list[str]:
    """Which entries were compared, where they are too many and their order is open."""
    judged, count = count_compared_entries(layout), layout.entry_count
    if not layout.unspecified_order or judged == count:
        return []
    return [f"duplicates were looked for among the first {judged:,} of {count:,} entries"]


def _format_writers(plan: ValidatedPlan, group: tuple[int, ...]) -> str:
    named = group if len(group) <= _NAMED else (group[0], group[1], group[-1])
    shown = [f"{entry_name(at)}: {format_vector(plan.index_vector(at))}" for at in named]
    more = f" (and {len(group) - len(shown)} more)" if len(group) > len(shown) else ""
    return "   and   ".join(shown) + more


def format_vector(numbers: tuple[int | float, ...]) -> str:
    """Index numbers of an entry as written: `index 3`, or several as `(0, 3)`."""
    return f"({', '.join(map(str, numbers))})" if len(numbers) != 1 else f"index {numbers[0]}"


def _reduction_hint(operator: Signature, plan: Plan) -> str:
    """The reductions that this version has, and whose text says what they make of this type."""
    attribute, own, others = operator.attribute("reduction"), plan.layout, list[str]()
    if attribute is None:
        return ""
    for choice in attribute.choices:
        with suppress(GscliError):
            attrs = {**dict(own.attributes), attribute.name: choice}
            layout = infer_layout(operator, plan.inputs, attrs)
            new = dict(set(layout.unspecified) - set(own.unspecified))
            others += [choice] * (not layout.unspecified_order and "always" not in new)
    text = f"--{attribute.name} {'|'.join(others)} of {operator.name}".replace("_", "-")
    return f"{text} defines it" if others else ""
