"""A comparison in full sentences of ASCII, one statement a line: for screen readers and grep."""

from __future__ import annotations

from collections.abc import Iterator

from gscli.base.words import entry_name
from gscli.lab.answers import ComparisonResult, ResultGroup
from gscli.traces import entry_label
from gscli.views.look import ViewOptions
from gscli.views.words.comparison import (
    SHORT_TENSOR,
    WITHOUT_MARK,
    ComparisonTexts,
    format_reason,
    join_names,
)
from gscli.views.words.vocabularies import describe_tensor


def describe_comparison(comparing: ComparisonResult, options: ViewOptions) -> str:
    """The comparison as sentences.

    >>> from gscli.lab.compare import compare
    >>> found = compare("gather", {"data": [10, 20], "indices": [1, 5]}, only=["onnx", "jax"])
    >>> print(describe_comparison(found, ViewOptions()).splitlines()[3])
    ONNX Gather-13 refuses: entry b is 5, index out of range, legal: -2 to 1.
    """
    answers = ComparisonTexts(comparing, options._replace(utf8=False))
    return answers.signs.format_lines(_iter_sentences(answers))


def _iter_sentences(answers: ComparisonTexts) -> Iterator[str]:
    """What is compared, each answer, and how many there are."""
    comparing, numbers = answers.comparing, answers.numbers
    call = ", ".join(answers.call.replace("=", " is ").split("  "))
    yield f"compare {comparing.concept}" + (f", {call}." if call else ".")
    for name, array in comparing.inputs.items():
        yield from describe_tensor(name, array, numbers, SHORT_TENSOR)
    for group in answers.groups:
        output, trace = group.first.output, group.first.trace
        refusal, answer = ("refuse", _describe_refusal), ("answer", _describe_answer)
        verb, text = refusal if output is None else answer
        alone = "s" if len(group.labels) == 1 else ""
        yield f"{join_names(group.labels)} {verb}{alone}: {text(answers, group)}."
        if group.first is answers.reference and output is not None and not answers.columns:
            lines = describe_tensor("output", output, numbers, SHORT_TENSOR)
            yield from (f"  {line}" for line in lines)
        reasons = [] if trace is None or answers.is_per_entry else answers.reasons(group)
        for entries, remark in reasons:
            noun = ("entry " if len(entries) == 1 else "entries ") * bool(entries)
            yield f"  {noun}{format_reason(entries, remark)}."
    yield from answers.list_footnotes()
    yield answers.summary(WITHOUT_MARK)


def _describe_refusal(answers: ComparisonTexts, group: ResultGroup) -> str:
    text = answers.describe_refusal(group).replace(" … ", " to ").replace(", legal ", ", legal: ")
    if group.first.entry is None:
        return text
    entry = entry_name(group.first.entry).removeprefix("entry ")
    return f"entry {entry} is {text.replace(' ', ', ', 1)}"


def _describe_answer(answers: ComparisonTexts, group: ResultGroup) -> str:
    if not answers.columns and group.first is answers.reference:
        return "the output below"
    if not answers.columns:
        listed, rest = answers.list_differences(group)
        texts = (f"{place} is {mine}, not {other}" for place, mine, other in listed)
        return "; ".join([*texts, *rest])
    sentences: list[str] = []
    for number, cell in enumerate(answers.make_cells(group)):
        entry = f"entry {entry_label(number)} reads"
        place = entry if answers.is_per_entry else f"output[{number}] is"
        landing = f" ({cell.landing})" if cell.landing else ""
        differs = ", which differs" if cell.kind == "differs" else ""
        sentences.append(f"{place} {cell.text}{landing}{differs}")
    return "; ".join(sentences)
