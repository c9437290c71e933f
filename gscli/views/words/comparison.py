"""What a comparison says of its answers, on the screen and on the page: cells, reasons, summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import Literal, TypeAlias

import numpy as np

from gscli.base import IndexRefused, PictureNotice, UsageError
from gscli.base.arrays import Array, BoolArray, dtype_name, unequal_cells, unravel_place
from gscli.base.records import Record, group_pairs
from gscli.base.words import entry_name, format_count, format_shape
from gscli.lab.answers import ComparisonResult, ResultGroup, UnsupportedRuleSet
from gscli.traces import Entry, Trace
from gscli.views.look import ViewOptions, choose_signs
from gscli.views.texts import choose_number_format
from gscli.views.words.below import LISTED, make_remarks
from gscli.views.words.facts import Describer

MOST_COLUMNS = 24

# Values of a differing slice that are written out.
SHORT_ROW = 8

# Inputs of up to so many cells are written out.
SHORT_TENSOR = 64

# Differing cells or slices that a sentence tells each.
LISTED_CELLS = 8

# What a summary says where nothing is marked.
WITHOUT_MARK = "To differ is to have"

# Entries that are looked through for unusual ones.
LISTED_ENTRIES = 200


class ResultCell(Record):
    """One cell of an answer. "none": no value, because the rule set refuses elsewhere.

    `landing`: what became of the index number, where it is not its own coordinate.
    """

    text: str
    kind: Literal["same", "differs", "error", "none"]
    landing: str = ""


# A place, the value here, and the value of the reference.
Difference: TypeAlias = tuple[str, str, str]


class ComparisonTexts:
    """Texts about one comparison. `reference`: what others are compared with, if any answers."""

    def __init__(self, comparing: ComparisonResult, options: ViewOptions) -> None:
        self.comparing, self.reference = comparing, comparing.reference
        self.signs = choose_signs(options)
        outputs = (group.first.output for group in comparing.groups)
        self._outputs = [output for output in outputs if output is not None]
        tensors = [array for array in comparing.inputs.values() if array.size <= SHORT_TENSOR]
        numbers = choose_number_format([*self._outputs, *tensors], options)
        self.numbers = numbers._replace(names_limits=True)

    @cached_property
    def groups(self) -> list[ResultGroup]:
        """Rows that answer alike in the same way: what was asked for first, then the largest."""
        ways, fixed = self.comparing.outcome_groups, self.comparing.is_ordered
        return [*ways[:fixed], *sorted(ways[fixed:], key=lambda group: -len(group.rows))]

    @property
    def has_others(self) -> bool:
        """Whether there is another answer than the reference's."""
        return len(self.comparing.answers) > 1

    @cached_property
    def columns(self) -> int:
        """Columns when every answer has one row of cells, of one shape; otherwise 0."""
        shape, *others = {output.shape for output in self._outputs} or [(0,)]
        return prod(shape) if not others and len(shape) <= 1 and prod(shape) <= MOST_COLUMNS else 0

    @cached_property
    def is_per_entry(self) -> bool:
        """Whether each column is what one entry reads, rather than a cell of output."""
        trace = None if self.reference is None else self.reference.trace
        return trace is not None and trace.kind == "gather" and trace.entry_count == self.columns

    @property
    def call(self) -> str:
        """Arguments other than the usual ones: `axis=1  reduction=add`."""
        arguments = self.comparing.call.other_arguments.items()
        return "  ".join(f"{name}={value}" for name, value in arguments)

    def inputs(self) -> Iterator[tuple[str, str, str]]:
        """Name, type and shape, and values of each input; no values where there are many."""
        for name, array in self.comparing.inputs.items():
            shape = self.signs.times.join(map(str, array.shape))
            short = array.size <= SHORT_TENSOR
            values = "  ".join(self.numbers.format_column(array)) if short else ""
            yield name, f"{array.dtype.name} [{shape}]", values

    @cached_property
    def order(self) -> list[int]:
        """The columns, those first in which answers differ or are refused."""
        return sorted(range(self.columns), key=self.is_alike)

    def is_alike(self, column: int) -> bool:
        """Whether all that answer do the same in a column, and nobody refuses there."""
        cells = [row[column] for row in self.rows if row[column].kind != "none"]
        return len({(cell.text, cell.landing) for cell in cells}) <= 1

    @cached_property
    def rows(self) -> list[list[ResultCell]]:
        """The cells of each group."""
        return list(map(self.make_cells, self.groups))

    def make_cells(self, group: ResultGroup) -> list[ResultCell]:
        """A cell per column."""
        output = group.first.output
        if output is None:
            marked = group.refused_entries if self.is_per_entry else ()
            error = ResultCell("refused", "error")
            nothing = ResultCell("–" if self.signs.utf8 else "-", "none")
            return [error if number in marked else nothing for number in range(self.columns)]
        mask = self.comparing.differing_mask(group)
        flags = np.ones(output.size, np.bool_) if mask is None else mask.reshape(-1)
        trace = group.first.trace if self.is_per_entry else None
        landings: dict[int, str] = {}
        for entry in () if trace is None else self.unusual_entries(trace):
            ways = (index.format(index.arithmetic.landing) for index in entry.adjustments)
            landings[entry.number] = ", ".join(ways)
        return [
            ResultCell(text, "differs" if flags[number] else "same", landings.get(number, ""))
            for number, text in enumerate(self._texts[group.labels])
        ]

    @cached_property
    def _texts(self) -> dict[tuple[str, ...], Sequence[str]]:
        """The values of each answer by its labels, where all have a cell per column."""
        answers = [(group.labels, group.first.output) for group in self.groups]
        outputs = {labels: output for labels, output in answers if output is not None}
        return dict(zip(outputs, self.numbers.format_columns([*outputs.values()]), strict=True))

    @cached_property
    def heads(self) -> list[tuple[int | None, str]]:
        """Entry and index of each column, or no entry and the place in output."""
        drawn = self.reference
        if not self.is_per_entry or drawn is None or drawn.trace is None:
            return [(None, f"[{number}]") for number in range(self.columns)]
        teller = Describer(drawn.trace, self.numbers)
        entries = drawn.trace.entries(self.columns)
        return [(entry.number, teller.locate_index(entry)[1]) for entry in entries]

    def list_differences(
        self, group: ResultGroup, limit: int = LISTED_CELLS
    ) -> tuple[list[Difference], list[str]]:
        """The cells that differ from the reference's, and what else there is to say of them."""
        output = group.first.output
        base = None if self.reference is None else self.reference.output
        assert output is not None
        assert base is not None
        if group.first is self.reference:
            return [], ["the others are compared with it" if self.has_others else "the only answer"]
        flags, listed = self.comparing.differing_mask(group), list[Difference]()
        if flags is None:
            text = f"another shape: {format_shape(output.shape)}  {''.join(self._shorten(output))}"
            return [], [text.rstrip()]
        places = np.flatnonzero(flags)
        while len(places) and len(listed) < limit:
            at = _largest_slice(flags, unravel_place(places[0], flags.shape))
            named = ",".join(map(str, at)) + ",:" * (flags.ndim - len(at))
            count = int(np.count_nonzero(flags[at]))
            whole = "" if count == flags[at].size else f" ({count} of {flags[at].size} cells)"
            mine, other = self._shorten(output[at], base[at])
            listed.append((f"output[{named}]{whole}", mine, other))
            places = places[count:]
        rest = f"and {format_count(len(places), 'more cell')}" if listed else "no cell differs"
        return listed, [rest] * bool(len(places) or not listed)

    def _shorten(self, *slices: Array) -> Iterator[str]:
        """The first values of each slice, or its only one; one value for a long slice of it."""
        flats = [np.asarray(values).reshape(-1) for values in slices]
        columns = self.numbers.format_columns([flat[:SHORT_ROW] for flat in flats])
        for flat, texts in zip(flats, columns, strict=True):
            if flat.size <= SHORT_ROW:
                yield " ".join(texts)
            elif not unequal_cells(flat, np.broadcast_to(flat[:1], flat.shape)).any():
                yield f"{flat.size:,} times {texts[0]}"
            else:
                yield " ".join([*texts, self.signs.cut])

    def list_footnotes(self) -> list[str]:
        """Rule sets that have no way to say the call, what others warn of, and the element types of
        answers where they differ, as sentences.
        """
        warned = group_pairs(
            (f"{notice.where} ({notice.problem})" if notice.where else notice.problem, row.label)
            for row in self.comparing.rows
            for notice in (() if row.trace is None else row.trace.warnings)
            if not isinstance(notice, PictureNotice)  # "what happens" tells those
        )
        notes = [f"{text}: a warning of {', '.join(labels)}" for text, labels in warned.items()]
        rows = self.comparing.rows
        kinds = group_pairs(
            (dtype_name(row.output.dtype), row.label) for row in rows if row.output is not None
        )
        texts = (f"{', '.join(labels)} in {kind}" for kind, labels in kinds.items())
        notes += [f"Answers of different element types: {'; '.join(texts)}"] * (len(kinds) > 1)
        own = (self.comparing.concept, "first")
        pairs = ((row.label, each) for row in rows for each in row.operator.concept_mappings)
        turned = (label for label, each in pairs if (each.concept, each.vector_layout) == own)
        if names := ", ".join(dict.fromkeys(turned)):
            notes.append(f"vectors are turned to the first axis for {names}")
        reasons = UnsupportedRuleSet.format_reasons(self.comparing.unsupported)
        return [f"{text}." for text in (*reasons, *notes)]

    @staticmethod
    def describe_refusal(group: ResultGroup, *, problem: bool = True) -> str:
        """Why the rows of a group refuse, without the letter of their entry.

        The legal ranges of all are told, and what frameworks themselves do in place of a refusal; a
        runtime that was asked shows it. `problem`: the number and what is wrong with it too.
        """
        errors = [(row.error, row) for row in group.rows if row.error is not None]
        error, _ = errors[0]
        is_alone = not errors[1:] or not isinstance(error, UsageError)  # else each has its version
        where = f"{error.where}: " if error.where and is_alone else ""
        if isinstance(error, IndexRefused) and error.findings:
            where = f"{error.findings[0].value} "
        # Not each calls a number below zero out of range.
        alike = len({each.problem for each, _ in errors if isinstance(each, IndexRefused)}) <= 1
        lines = [f"{where}{error.problem if alike else 'index out of range'}"] * problem
        legal = group_pairs((each.valid, row.label) for each, row in errors if each.valid)
        for number, (valid, labels) in enumerate(legal.items()):
            lines.append(f"or {valid} in {', '.join(labels)}" if number else f"legal {valid}")
        itself = group_pairs(
            (each.unchecked, row.label) for each, row in errors
            if isinstance(each, IndexRefused) and each.unchecked and not row.from_runtime
        )  # fmt: skip
        text = ", ".join(lines)
        for outcome, labels in itself.items():
            text += f"; {', '.join(labels)} {'themselves' if labels[1:] else 'itself'}: {outcome}"
        return text

    def reasons(self, group: ResultGroup) -> list[tuple[list[int], str]]:
        """Why it refuses, or what became of unusual entries: numbers of entries, and words."""
        row = group.first
        if row.output is None:
            return [([] if row.entry is None else [row.entry], self.describe_refusal(group))]
        if row.trace is None:
            return [([], "answered by the runtime itself")]
        return list_outcomes(Describer(row.trace, self.numbers))

    @staticmethod
    def unusual_entries(trace: Trace) -> Iterator[Entry]:
        """Entries with a number that is not its own coordinate."""
        return (entry for entry in trace.entries(LISTED_ENTRIES) if entry.adjustments)

    def summary(self, mark: str = "") -> str:
        """How many answers and refusals there are, and what `mark`, else `≠`, compares with."""
        comparing = self.comparing
        noun = "row" if any(row.from_runtime for row in comparing.rows) else "rule set"
        if len(comparing.groups) == 1:
            count = len(comparing.groups[0].rows)
            verb = "refuse" if self.reference is None else "agree" if count > 1 else "answer"
            missing = [row.label for row in comparing.unsupported if row.is_requested]
            more = f"; no row for {join_names(missing)}, asked for" if missing else ""
            if count == 1:
                return f"1 {noun} {verb}s{more or '; there is no other to compare it with'}."
            able = " with a row" if comparing.unsupported and noun != "row" else ""
            whole = "Both" if count == 2 else f"All {count}"  # noqa: PLR2004
            return f"{whole} {noun}s{able} {verb}{more}."
        answers = len(self.comparing.answers)
        kinds = len(comparing.groups) - answers
        groups = sum(group.first.output is not None for group in self.groups)
        word = "different answer" if answers > 1 else "answer"
        more = f" in {groups} groups" * (groups > answers)
        counts = [format_count(answers, word) + more] * bool(answers)
        if kinds:
            whom = format_count(comparing.refusal_count, noun)
            counts.append(f"{format_count(kinds, 'kind')} of refusal by {whom}")
        text = f"{', '.join(counts)}."
        if self.reference is None or answers == 1:
            return text
        first, *others = (len(group.rows) for group in self.comparing.answers)
        common = ", the most common answer" * (first > max(others))
        # No cell of another shape is marked.
        outputs = (group.first.output for group in comparing.answers)
        shapes = [None if output is None else output.shape for output in outputs]
        has_mark = not mark and shapes.count(shapes[0]) > 1
        mark = f"{self.signs.differs} marks" if has_mark else mark or WITHOUT_MARK
        return f"{text} {mark} a value other than {self.reference.label}'s{common}."


def list_outcomes(teller: Describer, *, duplicates: bool = True) -> list[tuple[list[int], str]]:
    """What became of unusual entries: numbers of entries, and words."""
    entries = teller.trace.entries(LISTED_ENTRIES)
    remarks = make_remarks(teller, entries, duplicates=duplicates, signed=False)
    return [([entry.number for entry in each.entries], each.text) for each in remarks]


def format_entries(numbers: Sequence[int]) -> str:
    """The letters of entries, or their numbers where letters are many; of many the first.

    >>> format_entries([0, 2]), format_entries(range(9)), format_entries([777])
    ('a, c', 'a, b, c, d and 5 more', 'entry 777')
    """
    letters = ", ".join(map(entry_name, numbers[:LISTED]))
    return f"{letters} and {len(numbers) - LISTED} more" if len(numbers) > LISTED else letters


def join_names(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> join_names(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _largest_slice(flags: BoolArray, place: tuple[int, ...]) -> tuple[int, ...]:
    """The start of the place that names the largest slice around it, most cells of which differ.

    >>> _largest_slice(np.array([[True, True], [True, False]]), (0, 0))
    (0,)
    >>> _largest_slice(np.array([[True, False], [False, False]]), (0, 0))
    (0, 0)
    """
    for rank in range(1, len(place)):
        part = flags[place[:rank]]
        if part.size > 1 and 2 * np.count_nonzero(part) > part.size:
            return place[:rank]
    return place


def format_reason(entries: Sequence[int], text: str) -> str:
    """A reason behind the letters of the entries that it is about.

    >>> format_reason([0, 2], "5 is outside: dropped"), format_reason([], "no axis")
    ('a, c: 5 is outside: dropped', 'no axis')
    """
    return f"{format_entries(entries)}: {text}" if entries else text
