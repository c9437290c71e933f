"""Where each rule set sends an index: the axis as a line of cells with what lies beyond its ends.

Data alone; the page draws it. A comparison has a number line when each entry names one coordinate
of one axis, and few enough of them to be seen at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from gscli.lab.answers import Comparing, Group
from gscli.traces.trace import Adjustment, Entry, Trace
from gscli.views.words.answers import behaviour

MOST_ENTRIES = 12
MOST_PLACES = 24

Fate: TypeAlias = Literal["used", "wrapped", "clipped", "skipped", "refused", "unreached"]


@dataclass(frozen=True, slots=True)
class Landing:
    """One entry: the number as written, what became of it, and the cell that it reached, if any.

    `note`: the arithmetic of a move, such as `+3` or `7 mod 3 = 1`. "unreached": the call was
    refused for another entry.
    """

    number: int
    written: int
    fate: Fate
    to: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What rule sets that answer alike do with the numbers, under a name of its own."""

    name: str
    group: Group
    landings: tuple[Landing, ...]


@dataclass(frozen=True, slots=True)
class NumberLine:
    """The places to draw: cells 0 … `size` - 1 and whatever the numbers name outside of them."""

    size: int
    places: range
    behaviours: tuple[Behaviour, ...]


def number_line(comparing: Comparing) -> NumberLine | None:
    """The number line of a comparison, or None where it has none.

    >>> from gscli.lab.compare import compare
    >>> found = compare("gather", {"data": [1, 2, 3], "indices": [-1, 7]}, only=["numpy"])
    >>> line = number_line(found)
    >>> line.places, [one.name for one in line.behaviours]
    (range(-1, 8), ['refuse what is outside', 'wrap around', 'clip to the nearest end'])
    >>> [landing.note for landing in line.behaviours[1].landings]
    ['+3', '7 mod 3 = 1']
    """
    traces = [group.first.trace for group in comparing.groups if group.first.trace is not None]
    sizes = {_axis_size(trace) for trace in traces}
    if len(sizes) != 1 or None in sizes:
        return None
    size = sizes.pop()
    entries = traces[0].entries(MOST_ENTRIES + 1)
    numbers = [int(entry.vector[0]) for entry in entries]
    if not size or not 0 < len(numbers) <= MOST_ENTRIES:
        return None
    places = range(min(0, *numbers), max(size - 1, *numbers) + 1)
    if len(places) > MOST_PLACES:
        return None
    behaviours = tuple(_behaviour(group, numbers) for group in comparing.groups)
    return NumberLine(size, places, behaviours)


def _axis_size(trace: Trace) -> int | None:
    """The size of the one axis that is addressed, if an entry is one coordinate of it."""
    layout = trace.layout
    own = any(axis.entry is not None for axis in layout.axes)
    if len(layout.column_axes) != 1 or own or layout.window_size == 0:
        return None
    return layout.axes[layout.column_axes[0]].size


def _behaviour(group: Group, numbers: list[int]) -> Behaviour:
    trace, refused = group.first.trace, group.first.entry
    name = behaviour(group) or group.first.label
    if trace is not None:
        return Behaviour(name, group, tuple(map(_landing, trace.entries(MOST_ENTRIES))))
    if group.first.output is not None:
        return Behaviour(name, group, ())
    return Behaviour(name, group, tuple(
        Landing(number, written, "refused" if number == refused else "unreached")
        for number, written in enumerate(numbers)
    ))  # fmt: skip


def _landing(entry: Entry) -> Landing:
    written = int(entry.vector[0])
    if not entry.adjustments:
        return Landing(entry.number, written, "used", written)
    moved = entry.adjustments[0]
    note = _note(moved) if moved.how == "wrapped" else ""
    return Landing(entry.number, written, moved.how, moved.coordinate, note)


def _note(moved: Adjustment) -> str:
    if moved.written + moved.size == moved.coordinate:
        return f"+{moved.size}"
    return f"{moved.written} mod {moved.size} = {moved.coordinate}"
