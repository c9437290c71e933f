"""What is said below a picture: what became of numbers and of cells that several entries met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from gscli.base.records import Record, group_pairs
from gscli.base.words import format_count
from gscli.kernel.reductions import REDUCTION_WORDS, REDUCTIONS, saturating_cast
from gscli.layout.axes import Box
from gscli.plan.outcomes import OUTCOMES, describe_skips
from gscli.traces import Entry, Trace
from gscli.views.look import Signs
from gscli.views.words.facts import Describer
from gscli.views.words.vocabularies import describe_index

# Remarks of one kind before the rest is counted.
LISTED = 4

_MOST_TERMS = 6


class Remark(Record):
    """The entries that it is about, and what is said; no entries: it counts what is left out."""

    entries: tuple[Entry, ...]
    text: str


def make_remarks(
    teller: Describer, entries: Sequence[Entry], *, duplicates: bool = True, signed: bool = True
) -> list[Remark]:
    """First what became of the numbers, then the cells that several entries met, if asked for.

    `signed`: beside each number stands its sign, as in the picture. Without, what is outside stands
    without the legal range, which other rule sets that answer alike may not share.

    >>> from gscli.traces import trace
    >>> from gscli.views.texts import NumberFormat
    >>> inputs = {"data": [1, 2], "indices": [[-1], [1]], "updates": [9, 8]}
    >>> found = trace("onnx.scatter_nd", inputs, {"reduction": "add"})
    >>> teller = Describer(found, NumberFormat())
    >>> [one.text for one in make_remarks(teller, found.entries())]
    ['-1↺ counts from the end: cell 1', 'output[1], twice: 2 + 9 + 8 = 19']
    """
    if teller.is_empty:
        return []
    remarks = limit_remarks(list(_iter_index_remarks(teller, entries, signed=signed)), "number")
    if duplicates and teller.trace.kind == "scatter":
        remarks += limit_remarks(list(_iter_duplicate_remarks(teller, entries)), "cell")
    count, total = len(entries), teller.trace.entry_count
    if remarks and count < total:
        remarks.append(Remark((), f"counted over {count:,} of {total:,} entries"))
    return remarks


def limit_remarks(remarks: list[Remark], thing: str, unlisted: int = 0) -> list[Remark]:
    """The first LISTED remarks, and one that counts the others and those `unlisted`."""
    rest = max(len(remarks) - LISTED, 0) + unlisted
    more = [Remark((), f"and {format_count(rest, f'more such {thing}')}")] if rest else []
    return remarks[:LISTED] + more


def _iter_index_remarks(
    teller: Describer, entries: Sequence[Entry], *, signed: bool
) -> Iterator[Remark]:
    """A remark per number and axis, with all entries that say it."""
    groups = group_pairs(
        ((index.axis, index.raw_value, index.outcome), (entry, index))
        for entry in entries
        for index in entry.adjustments
    )
    for group in groups.values():
        _, index = group[0]
        number, sign = str(index.raw_value), teller.signs.for_outcome(index.sign) * signed
        has_range = signed or index.outcome != "outside"
        text = describe_index(teller, index, "remark" if has_range else "way")
        yield Remark(tuple(entry for entry, _ in group), text.replace(number, number + sign, 1))


def _iter_duplicate_remarks(teller: Describer, entries: Sequence[Entry]) -> Iterator[Remark]:
    so_far = " so far" * (len(entries) < teller.trace.entry_count)
    for writers, text in find_duplicate_writes(teller, entries):
        times = "twice" if len(writers) == 2 else f"{len(writers)} times"  # noqa: PLR2004
        yield Remark(tuple(writers), f"{teller.format_target(writers[0])}, {times}: {text}{so_far}")


def find_duplicate_writes(
    teller: Describer, entries: Sequence[Entry]
) -> Iterator[tuple[list[Entry], str]]:
    """Entries that write the same cells and no other ones any of these, and what comes of it."""
    writers = group_pairs((entry.target, entry) for entry in entries if entry.target is not None)
    boxes = list(writers) if teller.trace.layout.has_overlapping_windows else []
    for box, entries_of_cell in writers.items():
        if len(entries_of_cell) > 1 and not any(map(partial(_overlaps, box), boxes)):
            yield entries_of_cell, _describe_duplicate(teller, entries_of_cell)


def _overlaps(box: Box, other: Box) -> bool:
    """Whether another box holds some of the same cells."""
    spans = zip(box, other, strict=True)
    meet = all(max(start, first) < min(stop, last) for (start, stop), (first, last) in spans)
    return box != other and meet


def _describe_duplicate(teller: Describer, entries: Sequence[Entry]) -> str:
    reduction, last = teller.trace.reduction, entries[-1]
    changes = [entry.change for entry in entries if entry.change is not None]
    single = len(changes) == len(entries) and changes[-1].new.size == 1
    if reduction == "none":
        value = f" with {teller.numbers.format_value(changes[-1].new)}" if single else ""
        return f"{last.label}, the last, wins{value}"
    if not single:
        text = REDUCTION_WORDS[reduction].combines.format(reduction=reduction)
        return text.replace("updates", "cotangents") if teller.trace.words else text
    terms = [change.update for change in changes]
    combines_first = REDUCTIONS[reduction].epilogue is not None
    terms = terms if changes[0].is_first_write or combines_first else [changes[0].old, *terms]
    texts = [teller.numbers.format_value(term) for term in terms]
    if len(texts) > _MOST_TERMS:
        texts = [*texts[: _MOST_TERMS - 2], teller.signs.cut, texts[-1]]
    if combines_first:
        base, operand = map(teller.numbers.format_value, changes[-1].operands)
        product = f" {teller.signs.times} ".join(texts)
        texts = [base, f"({product} {teller.signs.arrow} {operand})"]
        terms = list(changes[-1].operands)
    result = changes[-1].new
    reduced = teller.format_reduction(texts, changes[-1]) + teller.format_overflow(terms, result)
    kept = saturating_cast(result, teller.trace.output.dtype)
    shown, kept_text = map(teller.numbers.format_value, (result, kept))
    cast = f", in {teller.trace.layout.dtype} = {kept_text}" * (shown != kept_text)
    return f"{reduced} = {shown}{cast}"


def explain_outcome_signs(
    trace: Trace, entries: Sequence[Entry], signs: Signs, drawing: str
) -> str:
    """The signs in a drawing beside the index numbers of some entries.

    >>> from gscli.traces import trace
    >>> from gscli.views.look import ViewOptions
    >>> from gscli.views.look import choose_signs
    >>> found = trace("onnx.gather", {"data": [1, 2, 3], "indices": [-1]})
    >>> explain_outcome_signs(found, found.entries(), choose_signs(ViewOptions()), "-1↺")
    '↺ counts from the end'
    """
    outcomes = {index.outcome for entry in entries for index in entry.adjustments}
    if any(entry.dropped for entry in entries):  # parts of windows, whose numbers have no sign
        outcomes.add("outside")
    texts: list[str] = []
    for sign in ("wrapped", "clipped", "skipped"):
        keys: dict[str, list[str]] = {}
        for outcome in outcomes:
            end = f", {describe_skips(trace.layout, outcome).word}" if sign == "skipped" else ""
            if OUTCOMES[outcome].sign == sign and signs.for_outcome(sign) in drawing:
                keys.setdefault(end, []).append(OUTCOMES[outcome].key)
        for end, words in sorted(keys.items()):
            texts.append(f"{signs.for_outcome(sign)} {' or '.join(sorted(words))}{end}")
    return "   ".join(texts)
