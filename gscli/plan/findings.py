"""Findings: index numbers outside their legal range, and the refusal that tells of them."""

from __future__ import annotations

from typing import NamedTuple

from gscli.base.errors import IndexRefused
from gscli.base.text import show_shape
from gscli.layout.layout import Layout

SHOWN_FINDINGS = 3


class Finding(NamedTuple):
    """One index number outside its legal range."""

    source: str
    position: tuple[int, ...]
    value: int | float
    vector: tuple[int | float, ...]
    slot: int
    axis: int
    low: int
    high: int
    entry: int = 0

    @property
    def legal(self) -> str:
        """The legal range in words.

        >>> Finding("i", (0,), 5, (5,), 0, 0, -4, 3).legal
        '-4 … 3'
        """
        if self.high < 0:
            return f"none: axis {self.axis} is empty"
        return f"{self.low} … {self.high}"


def refusal(layout: Layout, found: list[Finding], total: int) -> IndexRefused:
    """The refusal for bad indices, the first of them pointed at."""
    first = found[0]
    empty = first.high < 0
    negative = first.value < 0 and first.low >= 0
    policy = layout.policy
    data = layout.data or "output"
    size = layout.axes[first.axis].size
    details = [line for finding in found for line in _pointed(finding)]
    if total > len(found):
        details.append(f"… and {total - len(found)} more: gscli check lists them all")
    hint = policy.note
    if negative and not empty and not hint:
        hint = "negative indices do not count from the end here; ONNX and NumPy would"
        if first.value >= -size:
            hint += f" read {first.value} as {int(first.value) + size}"
    refused = IndexRefused(
        "negative index" if negative and not empty else "index out of range",
        where=f"{first.source}{show_shape(first.position)} = {first.value}",
        details=(*details, f"axis {first.axis} of {data} has size {size}"),
        valid=first.legal,
        hint=hint,
    )
    refused.entry = first.entry
    return refused


def _pointed(finding: Finding) -> tuple[str, str]:
    """The vector as written and a caret under the number that is wrong."""
    numbers = [str(number) for number in finding.vector]
    if len(numbers) == 1:
        line = f"{finding.source}{show_shape(finding.position)} = "
        return line + numbers[0], " " * len(line) + "^" * len(numbers[0])
    line = f"{finding.source}{show_shape(finding.position)} in ("
    before = len(line) + sum(len(number) + 2 for number in numbers[: finding.slot])
    caret = " " * before + "^" * len(numbers[finding.slot])
    return line + ", ".join(numbers) + ")", caret
