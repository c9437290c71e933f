"""Index numbers outside their legal range: how they are found, and the refusal that tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gscli.base import MAX_INDEX, CaretLine, Finding, IndexRefused
from gscli.base.arrays import BoolArray
from gscli.base.words import format_count
from gscli.disk import mapped
from gscli.layout import Layout
from gscli.plan.indices import BLOCK, BoundLayout, describe_out_of_range, legal_range

# Bad indices and groups of duplicates that `check` lists one by one, unless a limit says.
DEFAULT_LISTED = 50

# Entries after which the pages of mapped indices are let go.
RELEASE_INTERVAL = 64 * BLOCK


def find_out_of_bounds(
    indices: BoundLayout, columns: Sequence[int], limit: int | None
) -> tuple[list[Finding], int]:
    """Every bad number of these columns in entry order, and how many there are in all.

    At most `limit` of them are described.
    """
    findings, total = list[Finding](), 0
    for column in columns:
        described = 0
        for first, refused in _iter_refused(indices, column):
            places = np.flatnonzero(refused)
            total += places.size
            head = places if limit is None else places[: max(limit - described, 0)]
            described += head.size
            entries = (indices.first_entry(column, first + int(place)) for place in head)
            findings.extend(_describe_index(indices, column, entry) for entry in entries)
    findings.sort(key=lambda finding: (finding.entry, finding.slot))
    return findings[:limit], total


def has_out_of_bounds(indices: BoundLayout, first: int, last: int) -> bool:
    """Whether an index of entries `first` … `last`-1 is outside its legal range."""
    columns = range(len(indices.layout.column_axes))
    return any(any(_iter_refused(indices, column, range(first, last))) for column in columns)


def _iter_refused(
    indices: BoundLayout, column: int, entries: range | None = None
) -> Iterator[tuple[int, BoolArray]]:
    """Blocks of a column in which a number may be bad: where each begins, and which they are."""
    axis = indices.layout.axes[indices.layout.column_axes[column]]
    for begin, numbers in indices.iter_numbers(column, entries):
        if begin and not begin % RELEASE_INTERVAL:
            mapped.release_pages(*indices.inputs.values())
        refused = describe_out_of_range(numbers, axis, indices.layout.policy)
        if refused is not None:
            yield begin, refused


def _describe_index(indices: BoundLayout, column: int, entry: int) -> Finding:
    source, position, axis = indices.index_place(column, entry)
    layout, vector = indices.layout, indices.index_vector(entry)
    if source != layout.addressing.columns[column].source:
        vector = (True,)  # of a mask, beyond the axis
    low, high = legal_range(layout.axes[layout.column_axes[column]], layout.policy)
    high = MAX_INDEX if layout.is_counted else high
    return Finding(source, position, vector[column], vector, column, axis, low, high, entry)


def out_of_bounds_error(layout: Layout, findings: Sequence[Finding], total: int) -> IndexRefused:
    """The refusal for bad indices, the first of them pointed at."""
    first, policy = findings[0], layout.policy
    outcomes = [policy.unchecked_outcomes[_find_side(finding)] for finding in findings]
    note = policy.note if any(outcomes) else ""
    count = total - len(findings)
    limit = f" … --limit={total}" if total > DEFAULT_LISTED else ""
    more = [f"… and {count} more: gscli check{limit} lists them all"] if count else []
    details = (*map(_caret_line, findings), *more, _describe_axis(layout, first))
    counting = "negative indices do not count from the end here"
    return IndexRefused(
        first.problem,
        findings=tuple(findings),
        total=total,
        unchecked=outcomes[0] if policy.note else "",
        where=f"{first.index_path} = {first.value}",
        details=details,
        valid=first.legal_text,
        hint=note or counting * (first.problem == "negative index"),
    )


def _find_side(finding: Finding) -> int:
    """Where a number lies: from -s to -1, below that or above, as `Policy` counts them."""
    return 2 if finding.value > finding.high else int(finding.value < -1 - finding.high)


def _describe_axis(layout: Layout, finding: Finding) -> str:
    data = layout.data_name or "output"
    size = layout.axes[layout.column_axes[finding.slot]].size
    if finding.axis is None:
        place, extent = f"{layout.name_flat(data)} laid flat", f"has {format_count(size, 'cell')}"
    else:
        place, extent = f"axis {finding.axis} of {data}", f"has size {size}"
    return f"{place} {extent}" if finding.high >= 0 else f"{place} is empty: no index is valid"


def _caret_line(finding: Finding) -> CaretLine:
    """The vector as written, pointing at the number that is wrong."""
    numbers = [str(number) for number in finding.vector]
    start, end = (" in (", ")") if numbers[1:] else (" = ", "")
    line = f"{finding.index_path}{start}"
    before = len(line) + sum(len(number) + 2 for number in numbers[: finding.slot])
    return CaretLine(f"{line}{', '.join(numbers)}{end}", before, len(numbers[finding.slot]))
