"""A comparison in full sentences of ASCII, one statement a line: for screen readers and grep."""

from __future__ import annotations

from collections.abc import Iterator

from gscli.base.words import format_count
from gscli.lab.answers import ComparisonResult, ResultGroup, RuleSetResult
from gscli.traces import entry_label
from gscli.views.look import ViewOptions, choose_signs
from gscli.views.words.comparison import LISTED_CELLS, SHORT_TENSOR, ComparisonTexts, join_names
from gscli.views.words.facts import Describer
from gscli.views.words.vocabularies import describe_index, describe_skip, describe_tensor

TOLD_ENTRIES = 12
"""Unusual entries of one answer that are told."""


def describe_comparison(comparing: ComparisonResult, options: ViewOptions) -> str:
    """The comparison as sentences.

    >>> from gscli.lab.compare import compare
    >>> found = compare("gather", {"data": [10, 20], "indices": [1, 5]}, only=["onnx", "jax"])
    >>> print(describe_comparison(found, ViewOptions()).splitlines()[3])
    ONNX Gather-13 refuses: entry b is 5, index out of range, legal: -2 to 1.
    """
    plain = options._replace(utf8=False)
    signs = choose_signs(plain)
    lines = _ComparisonSentences(comparing, ComparisonTexts(comparing, plain)).lines()
    return "\n".join(signs.sanitize_line(line) for line in lines) + "\n"


class _ComparisonSentences:
    def __init__(self, comparing: ComparisonResult, answers: ComparisonTexts) -> None:
        self.comparing = comparing
        self.answers = answers

    def lines(self) -> Iterator[str]:
        """What is compared, each answer, and how many there are."""
        call = ", ".join(self.answers.call.replace("=", " is ").split("  "))
        yield f"compare {self.comparing.concept}" + (f", {call}." if call else ".")
        numbers = self.answers.numbers
        for name, array in self.comparing.inputs.items():
            yield from describe_tensor(name, array, numbers, SHORT_TENSOR)
        for group in self.comparing.outcome_groups:
            yield self._group(group)
            if group.first is self.answers.first_result and not self.answers.columns:
                assert group.first.output is not None
                lines = describe_tensor("output", group.first.output, numbers, SHORT_TENSOR)
                yield from (f"  {text}" for text in lines)
            yield from self._unusual(group.first)
            if group.first.trace is not None:
                sentences = self.answers.describe_duplicates(group.first.trace, LISTED_CELLS)
                yield from (f"  entries {text}." for text in sentences)
        yield from self.answers.list_footnotes()
        yield self.answers.summary("To differ is to have")

    def _group(self, group: ResultGroup) -> str:
        names = join_names(group.labels)
        alone = "s" if len(group.labels) == 1 else ""
        if group.first.output is None:
            return f"{names} refuse{alone}: {self._refusal(group)}."
        return f"{names} answer{alone}: {self._answer(group)}."

    def _refusal(self, group: ResultGroup) -> str:
        entry = group.first.entry
        text = (
            self.answers.describe_refusal(group)
            .replace(" … ", " to ")
            .replace(", legal ", ", legal: ")
        )
        return (
            text if entry is None else f"entry {entry_label(entry)} is {text.replace(' ', ', ', 1)}"
        )

    def _answer(self, group: ResultGroup) -> str:
        if self.answers.columns:
            return "; ".join(
                f"{self._place(number)} {answer.text}"
                + (", which differs" if answer.kind == "differs" else "")
                for number, answer in enumerate(self.answers.make_cells(group))
            )
        more = "more cell differs", "more cells differ"
        return "; ".join(
            self.answers.describe_differences(group, "{} is {}, not {}", more, "the output below")
        )

    def _place(self, number: int) -> str:
        if self.answers.is_per_entry:
            return f"entry {entry_label(number)} reads"
        return f"output[{number}] is"

    def _unusual(self, row: RuleSetResult) -> Iterator[str]:
        """What became of numbers that are not their own coordinates."""
        if row.trace is None:
            return
        teller = Describer(row.trace, self.answers.numbers)
        unusual = list(self.answers.unusual_entries(row.trace))
        for entry in unusual[:TOLD_ENTRIES]:
            remarks = [describe_index(teller, adjustment).plain for adjustment in entry.adjustments]
            remarks += [] if entry.live else [describe_skip(teller)]
            yield f"  entry {entry.label}: {'; '.join(remarks)}."
        if len(unusual) > TOLD_ENTRIES:
            more = format_count(len(unusual) - TOLD_ENTRIES, "more entry", "more entries")
            yield f"  and {more} with such numbers."
