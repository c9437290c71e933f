"""Where each rule set sends an index: the axis as a line of cells with what lies beyond its ends.

Data alone: the terminal and the page draw it. A comparison has a number line when each entry names
one coordinate of one axis, and few enough of them to be seen at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from gscli.base import GscliError
from gscli.base.records import Record
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.lab.answers import ResultGroup, RuleSetResult
from gscli.layout import Layout
from gscli.plan import infer_layout
from gscli.plan.indices import IndexOutcome
from gscli.plan.outcomes import OUTCOMES, outcome_of
from gscli.traces import Entry, Trace
from gscli.views.texts import LIMIT_NAMES, strip_zeros
from gscli.views.words.below import find_duplicate_writes
from gscli.views.words.comparison import ComparisonTexts
from gscli.views.words.facts import Describer

MOST_ENTRIES = 12
MOST_PLACES = 24


class ResolvedIndex(Record):
    """One entry: the number as written, what became of it, and the cell that it reached, if any.

    `text`: what happens to the number, as arithmetic where it is some; `note`: the same of a number
    that goes around, as short as an arc has room. "unreached": the call was refused for another
    entry.
    """

    entry_number: int
    written: int
    outcome: Literal["used", "wrapped", "clipped", "skipped", "refused", "unreached"]
    coordinate: int | None = None
    text: str = ""
    note: str = ""


# A cell that several entries write, these, and what comes of it: who wins, what is combined.
DuplicateWrite: TypeAlias = tuple[int, list[int], str]


class Behaviour(Record):
    """What rule sets that answer alike do with the numbers, under a name of its own if it has one.

    `skip_text`: what is said of an entry without a cell.
    """

    name: str
    group: ResultGroup
    indices: tuple[ResolvedIndex, ...]
    duplicate_writes: Sequence[DuplicateWrite] = ()
    skip_text: str = ""


class NumberLine(Record):
    """The places to draw: cells 0 … `size` - 1 and whatever the numbers name outside of them.

    `values`: the text of each cell, empty where a cell is a slice.
    """

    size: int
    places: range
    values: tuple[str, ...]
    behaviours: tuple[Behaviour, ...]

    def is_inside(self, place: int) -> bool:
        """Whether a place is a cell."""
        return 0 <= place < self.size


def make_number_line(answers: ComparisonTexts) -> NumberLine | None:
    """The number line of a comparison, or None where it has none.

    >>> from gscli.lab.compare import compare
    >>> from gscli.views.look import ViewOptions
    >>> writers = compare("gather", {"data": [1, 2, 3], "indices": [-1, 7]}, only=["numpy"])
    >>> line = make_number_line(ComparisonTexts(writers, ViewOptions()))
    >>> line.places, [behaviour.name for behaviour in line.behaviours]
    (range(-1, 8), ['refuse what is outside', 'wrap around', 'clip to the nearest end'])
    >>> [(index.text, index.note) for index in line.behaviours[1].indices]
    [('-1 + 3 = 2', '+3'), ('7 mod 3 = 1', '7 mod 3 = 1')]
    """
    comparing = answers.comparing
    traces = [group.first.trace for group in comparing.groups if group.first.trace is not None]
    sizes = {_axis_size(trace) for trace in traces}
    size = sizes.pop() if len(sizes) == 1 else None
    data, indices = comparing.inputs["data"], comparing.inputs["indices"]
    if not size or not 0 < indices.size <= MOST_ENTRIES:
        return None
    numbers = [int(number) for number in indices.flat]
    places = range(min(0, *numbers), max(size - 1, *numbers) + 1)
    if places.stop - places.start > MOST_PLACES:  # len() of such a range can overflow
        return None
    behaviours = tuple(_make_behaviour(answers, group, numbers) for group in answers.groups)
    is_line = data.ndim == 1 and data.size == size
    values = tuple(answers.numbers.format_values(data)) if is_line else ("",) * size
    return NumberLine(size, places, values, behaviours)


def _axis_size(trace: Trace) -> int | None:
    """The size of the one axis that is addressed, if an entry is one coordinate of it."""
    layout = trace.layout
    own = any(axis.entry is not None for axis in layout.axes)
    if len(layout.column_axes) != 1 or own or layout.window_size == 0:
        return None
    return layout.axes[layout.column_axes[0]].size


def _make_behaviour(
    answers: ComparisonTexts, group: ResultGroup, numbers: Sequence[int]
) -> Behaviour:
    trace, name = group.first.trace, name_behaviour(group)
    if trace is None:
        if group.first.error is None:
            return Behaviour(name, group, ())
        unreached = [ResolvedIndex(*entry, "unreached") for entry in enumerate(numbers)]
        for at in group.refused_entries:
            is_first = at == group.first.entry
            text = f"refused: {answers.describe_refusal(group)}" if is_first else "refused, too"
            unreached[at] = ResolvedIndex(at, numbers[at], "refused", text=text)
        return Behaviour(name, group, tuple(unreached))
    fill = np.asarray(trace.layout.fill_value).astype(trace.output.dtype)
    (filled,) = answers.numbers.format_column(fill)
    skip_text = "dropped" if trace.kind == "scatter" else strip_zeros(filled)
    entries = trace.entries(MOST_ENTRIES)
    indices = tuple(_resolve_index(entry, skip_text) for entry in entries)
    writes = find_duplicate_writes(Describer(trace, answers.numbers), entries)
    duplicates: list[DuplicateWrite] = [
        (cell, [entry.number for entry in writers], text)
        for writers, text in (writes if trace.kind == "scatter" else ())
        if (cell := _resolve_index(writers[0]).coordinate) is not None
    ]
    if duplicates:
        combines = REDUCTION_WORDS[trace.reduction].combines.format(reduction=trace.reduction)
        moved = any(index.outcome != "used" for index in indices)
        name = f"{name}, {combines}" if moved and name else combines
    return Behaviour(name, group, indices, duplicates, skip_text)


def _resolve_index(entry: Entry, fate: str = "") -> ResolvedIndex:
    written = int(entry.vector[0])
    if not entry.adjustments:
        return ResolvedIndex(entry.number, written, "used", written)
    index = entry.adjustments[0]
    text = index.format(index.arithmetic.way, fate=fate)
    note = f"+{index.size}" if index.is_once_around else text
    return ResolvedIndex(entry.number, written, index.sign, index.coordinate, text, note)


def name_behaviour(group: ResultGroup) -> str:
    """What all rule sets of a group do with numbers outside, by their rules or what is seen.

    >>> from gscli.lab.compare import compare
    >>> inputs = {"data": [10, 20, 30], "indices": [0, 7]}
    >>> name_behaviour(compare("gather", inputs, only=["onnx", "tf"]).outcome_groups[0])
    'refuse what is outside'
    """
    names = {_name_by_policy(row) for row in group.rows if not row.from_runtime}
    if not names:
        return "the runtime's own answer"
    if len(names) == 1:
        return names.pop()
    if group.first.trace is None:
        return "refuse what is outside"
    return _name_by_outcomes(group.first.trace)


def _name_by_policy(row: RuleSetResult) -> str:
    try:
        trace = row.trace
        layout = trace.layout if trace else infer_layout(row.operator, row.inputs, row.attrs)
    except GscliError:
        return "refuse the call"
    counts = outcome_of(layout.policy, negative=True) == "from_end"
    return _name_policy(layout, outcome_of(layout.policy), counts=counts)


def _name_by_outcomes(trace: Trace) -> str:
    """What becomes of the numbers of this call, whatever the rules say of others."""
    entries = ComparisonTexts.unusual_entries(trace)
    seen = {index.outcome for entry in entries for index in entry.adjustments}
    counts = "from_end" in seen
    for outcome in ("wrapped", "clipped", "below", "outside"):
        if outcome in seen:
            return _name_policy(trace.layout, outcome, counts=counts)
    return "count from the end" if seen else "use every number as written"


def _name_policy(layout: Layout, outcome: IndexOutcome, *, counts: bool) -> str:
    """The name of a behaviour; `counts`: numbers below zero count from the end."""
    if layout.kind == "scatter":
        instead, alone = "drop", "drop what is outside"
    else:
        fill = str(layout.fill_value)
        instead = "the least integer" if fill in (text for _, text in LIMIT_NAMES) else fill
        alone = f"{instead} for anything outside"
    return OUTCOMES[outcome].behaviour[not counts].format(instead=instead, alone=alone)
