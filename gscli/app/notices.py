"""Warnings of a run: on stderr, or with `--strict` a refusal before anything is written."""

from __future__ import annotations

import sys

from gscli.errors import Notice, StrictFinding
from gscli.messages import warning_text
from gscli.options import Settings
from gscli.settling import Inputs
from gscli.terminal import screen, tell
from gscli.tracing import Trace, label_of

_NAMED = 3
"""Entries of one group that a warning names."""


def warn(trace: Trace, inputs: Inputs, settings: Settings) -> None:
    """Tell every notice of the run; StrictFinding instead with `--strict`."""
    notices = [*inputs.notices, *duplicate_notice(trace)]
    if settings.strict and notices:
        first = notices[0]
        raise StrictFinding(
            first.problem, where=first.where, details=first.details, hint=first.hint
        )
    side = screen(sys.stderr, settings.color, settings.width)
    for notice in notices:
        tell(warning_text(notice, color=side.color, width=side.width, utf8=side.utf8))


def duplicate_notice(trace: Trace) -> list[Notice]:
    """The warning about entries that write one cell where no text says which of them wins."""
    reason = trace.layout.open_order
    groups, count = trace.duplicates() if reason else ([], 0)
    if not groups:
        return []
    lines = [_writers(trace, group) for group in groups]
    lines.append(f"{reason}; here the last one ({label_of(groups[0][-1])}) won")
    if count > len(groups):
        lines.append(f"… and {count - len(groups)} more cells written more than once")
    return [
        Notice(
            f"{len(groups[0])} entries write the same cell",
            details=tuple(lines),
            hint=_reduction_hint(trace) + "--strict refuses",
        )
    ]


def _writers(trace: Trace, group: tuple[int, ...]) -> str:
    named = group if len(group) <= _NAMED else (group[0], group[1], group[-1])
    plan = trace.run.plan
    shown = [f"{label_of(number)}: {_vector(plan.vector(number))}" for number in named]
    more = f" (and {len(group) - len(shown)} more)" if len(group) > len(shown) else ""
    return "   and   ".join(shown) + more


def _vector(numbers: tuple[int | float, ...]) -> str:
    return f"({', '.join(map(str, numbers))})" if len(numbers) != 1 else f"index {numbers[0]}"


def _reduction_hint(trace: Trace) -> str:
    for attribute in trace.operator.attributes:
        if attribute.name in ("reduction", "reduce") and attribute.choices:
            others = "|".join(choice for choice in attribute.choices if choice not in ("none", ""))
            return f"--{attribute.name} {others} defines it; "
    return ""
