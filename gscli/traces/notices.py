"""Warnings of a finished run, as data: what is right under the rules and may still surprise."""

from __future__ import annotations

from gscli.base.errors import Notice
from gscli.base.text import counted
from gscli.frameworks.execute import Run
from gscli.traces.duplicates import duplicate_writers, judged_entries, windows_overlap
from gscli.traces.entries import name_of

_NAMED = 3
"""Entries of one group that a warning names."""

_DESCRIBED = 3
"""Groups that a warning describes."""

_REDUCTIONS = ("reduction", "reduce", "update_computation")
"""Names that frameworks give to the attribute that combines values."""


def duplicate_notice(run: Run) -> list[Notice]:
    """The warning about entries that write one cell where no text says which of them wins."""
    reason = run.layout.open_order
    found = duplicate_writers(run.plan, _DESCRIBED) if reason else None
    if found is None or not found.groups:
        return []
    lines = [_writers(run, group) for group in found.groups]
    more = found.total - len(lines)
    if windows_overlap(run.layout):
        cells = counted(found.cells, "cell is", "cells are")
        least = "at least " * (found.judged < run.layout.entry_count)
        problem = f"{least}{cells} written more than once"
        lines += [f"… and {counted(more, 'more group')} of entries"] if more else []
        lines.append(f"{reason}; here the last one won")
    else:
        thing = "cell" if run.layout.window_size == 1 else "slice"
        together = f"the same {thing}" if found.total == 1 else f"{found.total:,} {thing}s together"
        problem = f"{found.writers:,} entries write {together}"
        lines += [f"… and {counted(more, f'more {thing}')} written more than once"] if more else []
        last = f" ({name_of(found.groups[0][-1])})" if found.total == 1 else " of each"
        lines.append(f"{reason}; here the last one{last} won")
    lines += judged_part(run)
    return [Notice(problem, details=tuple(lines), hint=_reduction_hint(run) + "--strict refuses")]


def judged_part(run: Run) -> list[str]:
    """Which entries were compared, where they are too many and their order is open."""
    judged, count = judged_entries(run.layout), run.layout.entry_count
    if not run.layout.open_order or judged == count:
        return []
    return [f"duplicates were looked for among the first {judged:,} of {count:,} entries"]


def _writers(run: Run, group: tuple[int, ...]) -> str:
    named = group if len(group) <= _NAMED else (group[0], group[1], group[-1])
    shown = [f"{name_of(number)}: {_vector(run.plan.vector(number))}" for number in named]
    more = f" (and {len(group) - len(shown)} more)" if len(group) > len(shown) else ""
    return "   and   ".join(shown) + more


def _vector(numbers: tuple[int | float, ...]) -> str:
    return f"({', '.join(map(str, numbers))})" if len(numbers) != 1 else f"index {numbers[0]}"


def _reduction_hint(run: Run) -> str:
    for attribute in run.operator.attributes:
        if attribute.name in _REDUCTIONS and attribute.choices:
            others = "|".join(one for one in attribute.choices if one not in ("none", "set", ""))
            return f"--{attribute.name.replace('_', '-')} {others} defines it; "
    return ""
