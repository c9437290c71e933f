"""The refusal of index numbers outside their legal range: findings put into words."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.errors import Finding, IndexRefused, Pointed
from gscli.base.text import counted
from gscli.layout.layout import Layout

SHOWN_FINDINGS = 3


def refusal(layout: Layout, found: Sequence[Finding], total: int) -> IndexRefused:
    """The refusal for bad indices, the first of them pointed at."""
    first, note = found[0], layout.policy.note
    negative = first.value < 0 <= first.low <= first.high
    more = total - len(found)
    details = [
        *map(_pointed, found),
        *([f"… and {more} more: gscli check lists them all"] if more else []),
        _addressed(layout, first),
    ]
    return IndexRefused(
        "negative index" if negative else "index out of range",
        findings=tuple(found),
        total=total,
        unchecked=note,
        where=f"{first.place} = {first.value}",
        details=tuple(details),
        valid=first.legal,
        hint=note or ("negative indices do not count from the end here" if negative else ""),
    )


def _addressed(layout: Layout, finding: Finding) -> str:
    """What the number addresses, and how large that is."""
    data = layout.data or "output"
    size = layout.axes[layout.column_axes[finding.slot]].size
    if finding.axis is None:
        return f"{data} laid flat has {counted(size, 'cell')}"
    return f"axis {finding.axis} of {data} has size {size}"


def _pointed(finding: Finding) -> Pointed:
    """The vector as written, pointing at the number that is wrong."""
    numbers = [str(number) for number in finding.vector]
    length = len(numbers[finding.slot])
    if len(numbers) == 1:
        line = f"{finding.place} = "
        return Pointed(line + numbers[0], len(line), length)
    line = f"{finding.place} in ("
    before = len(line) + sum(len(number) + 2 for number in numbers[: finding.slot])
    return Pointed(f"{line}{', '.join(numbers)})", before, length)
