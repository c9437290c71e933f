"""Gradients in sentences: what flows where, and who is given what several could have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, starmap

import numpy as np

from gscli.base.arrays import Array, Arrays
from gscli.base.records import group_pairs
from gscli.base.words import entry_name, format_count, format_shape
from gscli.frameworks import TITLES
from gscli.gradients import choose_policy
from gscli.gradients.call import Gradients, find_other_cells
from gscli.gradients.conventions import LOOP, Convention
from gscli.gradients.flow import FlowTrace
from gscli.gradients.sharing import SharedCell, find_shared_cells
from gscli.lab.answers import UnsupportedRuleSet
from gscli.lab.gradient_comparison import GradientComparison, GradientRow
from gscli.traces import Entry, TraceWords
from gscli.views.lines import wrap_text
from gscli.views.look import Signs, ViewOptions, choose_signs
from gscli.views.texts import NumberFormat, choose_number_format
from gscli.views.words.below import LISTED, Remark, limit_remarks, make_remarks
from gscli.views.words.comparison import WITHOUT_MARK, format_reason, list_outcomes
from gscli.views.words.facts import Describer
from gscli.views.words.formula import Formula, gives_nan
from gscli.views.words.vocabularies import describe_tensor

# Values of a gradient that stand in a sentence.
MOST_VALUES = 12

_GATHER = "Each cotangent{kept} is added to the cell of {data} that its output was read from."
_FOLD = "Each cell of {data} is given its share of the cotangent of every output it went into."
_PURPOSES = {
    "none": "The cotangent of a cell goes to the update that was written there{writers}{others}.",
    "add": "The cotangent of a cell goes to every update that was added there{times}{also}.",
    "sub": "The cotangent of a cell goes, its sign turned, to every update that was subtracted "
    "there{also}.",
    "mul": "The cotangent of a cell goes to every factor, times the product of the others.",
    "div": "The cotangent of a cell goes to {data} over the product of updates, and to each update "
    "by the rule of quotients.",
    "pow": "The cotangent of a cell goes to {data} and to each update by the rule of powers.",
    "max": "The cotangent of a cell goes to what equals the largest there: {tie}.",
    "min": "The cotangent of a cell goes to what equals the smallest there: {tie}.",
    "mean": "The cotangent of a cell is divided by how many values met there, and goes to each.",
    "sqrt_n": "The cotangent of a cell is divided by the root of how many values met there, and "
    "goes to each.",
}

TIES = {
    "first": "the first of several gets it",
    "last": "the last of several gets it",
    "even": "several share it evenly",
    "all": "each of several gets it whole",
}


CONVENTION_HEADS = ("rules", "ties", "several writers", "NaN", "data without part", "gradient gaps")


def describe_convention(convention: Convention) -> list[str]:
    """A row of the table of conventions.

    >>> describe_convention(LOOP)
    ['loop', 'first', 'last', 'holds', '–', '–']
    """
    nan = {"hold": "holds", "spread": "spreads", "vanish": "gives 0"}
    gaps = (what.rpartition(".")[2].partition(" ")[0] for what in convention.missing)
    kinds = dict.fromkeys((nan[convention.nan_ties], nan[convention.nan_segments]))
    has_ties = convention.ties != "none"
    nan_text = ", ".join(kinds) + (" in segments" if len(kinds) > 1 else "")
    return [
        convention.name, convention.ties if has_ties else "–", convention.writers,
        nan_text if has_ties else "–",
        "counts" if convention.counts_absent_data else "–",
        ", ".join(dict.fromkeys(gaps)) or "–",
    ]  # fmt: skip


def describe_purpose(gradients: Gradients) -> str:
    """What flows where, in a sentence.

    >>> import gscli
    >>> from gscli.gradients.call import trace_gradients
    >>> run = gscli.trace("gather", {"data": [1.0, 2.0], "indices": [1, 1]})
    >>> describe_purpose(trace_gradients(run))
    'Each cotangent is added to the cell of data that its output was read from.'
    """
    run, convention = gradients.trace, gradients.convention
    layout, data = run.layout, run.layout.data_name
    if run.kind == "gather":
        kept = " that is not dropped" * (choose_policy(layout, convention) != layout.policy)
        return (_FOLD if layout.fold else _GATHER).format(data=data, kept=kept)
    scale = layout.updates and layout.updates.scale
    sentence = _PURPOSES[run.reduction].format(
        times="" if scale is None else f", times {scale}",
        writers="" if gradients.writers == "last" else ", every one of several writers",
        others=f"; {data} keeps the others" if data else "",
        also=f", and to {data}" if data and layout.include_self else "",
        tie=TIES.get(convention.ties), data=data,
    )  # fmt: skip
    if all(gives_nan(run, convention)):
        sentence += " Where that is nan, all that met there are given nan."
    nan_ties = convention.nan_ties if data else convention.nan_segments
    is_extreme = run.reduction in ("max", "min")
    if is_extreme and nan_ties == "vanish" and np.isnan(run.output).any():
        sentence += " Where that is nan nothing equals it, and nothing is given it."
    if data and not layout.include_self and run.reduction != "none":
        sentence += f" Where {data} was written to it takes no part: 0."
    return sentence


def make_flow(gradients: Gradients) -> FlowTrace:
    """The way back as a trace that pictures, steps and pages draw.

    >>> import gscli
    >>> from gscli.gradients.call import trace_gradients
    >>> flow = make_flow(trace_gradients(gscli.trace("gather", {"data": [1.0], "indices": [0]})))
    >>> [tensor.name for tensor in flow.tensors]
    ['indices', 'cotangent', 'gradient of data']
    """
    run, convention = gradients.trace, gradients.convention
    operator = run.operator
    own = TITLES.get(convention.name, "the specification's loop")
    equations = Formula(run).list_gradients(convention)
    shown = tuple(line for name, line in equations.items() if name in gradients.arrays)
    rule = f"Rule: {operator.framework.title} {operator.name}, walked back by the rules of {own}."
    make_notes = partial(_make_remarks, gradients)
    return FlowTrace(gradients, TraceWords(describe_purpose(gradients), shown, rule, make_notes))


def _make_remarks(
    gradients: Gradients, teller: Describer, entries: Sequence[Entry]
) -> list[Remark]:
    """What became of index numbers, and who is given what several could have."""
    remarks = make_remarks(teller, entries, duplicates=gradients.trace.kind == "gather")
    return [*remarks, *list_ties(gradients, teller, entries)]


def list_ties(gradients: Gradients, teller: Describer, entries: Sequence[Entry]) -> list[Remark]:
    """Who is given what several could have, beside those of the entries that it is about."""
    cells, count = find_shared_cells(gradients, LISTED)
    known = {entry.number: entry for entry in entries}
    remarks = []
    for cell in cells:
        holders = tuple(known[number] for number in cell.entries if number in known)
        remarks.append(Remark(holders, describe_shared_cell(gradients, cell, teller)))
    return limit_remarks(remarks, "cell", count - len(cells))


def describe_shared_cell(gradients: Gradients, cell: SharedCell, teller: Describer) -> str:
    """One cell that several could be given the gradient of."""
    run, convention = gradients.trace, gradients.convention
    place, last = format_shape(cell.cell), max(cell.entries, default=0)
    if run.reduction == "none":
        stayed = f"{place}: {format_count(len(cell.entries), 'writer')}, {entry_name(last)} stayed"
        if gradients.writers == "last":
            return f"{stayed} and is given the gradient"
        return f"{stayed}; {TITLES[convention.name]} gives each of them the gradient"
    value = teller.numbers.format_value(cell.value)
    data = run.layout.data_name or "what it starts with"
    first = ", which comes first," * (convention.ties == "first")
    too = f" and {data}{first}" * (cell.has_data or cell.counts_data)
    absent = f", but {data} takes no part and is given none of it" * cell.counts_data
    labels = ", ".join(map(entry_name, cell.entries[:LISTED]))
    return f"{place}: {labels}{too} equal {value}; {TIES[convention.ties]}{absent}"


def describe_missing(gradients: Gradients, chosen: Arrays) -> str:
    """Why the framework itself has no gradient of one that is shown; "" where it has."""
    missing, updates = gradients.missing, gradients.trace.layout.value_names[1]
    is_meant = updates in chosen or "updates" not in missing
    return missing.replace("updates", str(updates)) if is_meant else ""


def iter_sentences(gradients: Gradients, chosen: Arrays) -> Iterator[str]:
    """What no gradient itself shows: the loop's own, and what is missing."""
    if missing := describe_missing(gradients, chosen):
        yield missing
    divides = ", for it divides by no factor" * (gradients.trace.reduction == "mul")
    others = gradients.arrays if gradients.convention == LOOP else gradients.compute(LOOP)
    for name, array in chosen.items():
        differing = find_other_cells(array, others[name])
        if differing.any():
            flow = _format_marked(others[name], differing)
            yield f"the loop itself gives {name} {flow}{divides}: --rules loop"


def describe_comparison(
    result: GradientComparison, options: ViewOptions, *, is_short: bool
) -> Iterator[str]:
    """The rows that give the same gradients, what they choose, and their gradients."""
    signs, mark = choose_signs(options), WITHOUT_MARK
    for group in () if is_short else result.groups:
        names = ", ".join(row.label for row in group)
        yield from wrap_text(signs.sanitize_line(names), options.width, "  ")
        pairs = [(text, row.label) for row in group for text in _list_reasons(row, result, signs)]
        for role, array in result.merge_gradients(group).items():
            text = _format_marked(array, result.find_differing(group, role), signs.differs)
            mark = f"{signs.differs} marks" if signs.differs in text else mark
            pairs += [(f"{role} {text}", row.label) for row in group if role in row.gradients]
        for text, labels in group_pairs(pairs).items():
            own = f" ({', '.join(labels)})" * (len(labels) < len(group))
            yield from wrap_text(signs.sanitize_line(f"  {text}{own}"), options.width, "    ")
    reasons = group_pairs((row.refusal, row.label) for row in result.refusals)
    notes = list(dict.fromkeys(row.missing for row in chain(*result.groups) if row.missing))
    notes += [f"no gradients: {', '.join(labels)}: {why}" for why, labels in reasons.items()]
    notes += [f"{text}." for text in UnsupportedRuleSet.format_reasons(result.unsupported)]
    if notes and result.concept == "scatter-elements" and result.kind not in ("mul", "mean"):
        notes.append("gscli compare scatter-nd --grad has rows for JAX and TensorFlow.")
    for note in () if is_short else notes:
        yield from wrap_text(signs.sanitize_line(note), options.width, "  ")
    yield from wrap_text(_summarize(result, mark), options.width)


def _list_reasons(row: GradientRow, result: GradientComparison, signs: Signs) -> Iterator[str]:
    """Who is given a gradient where a choice is left, and what becomes of unusual numbers."""
    if row.convention and result.kind in ("none", "max", "min"):
        every, last = (
            "every writer of a cell gets its gradient",
            "the last writer of a cell gets it",
        )
        writers = every if row.convention.writers == "all" else last
        text = writers if result.kind == "none" else TIES[row.convention.ties]
        yield text + ", by the specification's loop" * (row.convention.name == "loop")
    if row.source is not None:
        teller = Describer(make_flow(row.source), NumberFormat(signs=signs))
        yield from starmap(format_reason, list_outcomes(teller, duplicates=False))


def _summarize(result: GradientComparison, mark: str) -> str:
    """How many gradients there are, and what the mark compares with."""
    rows, answers = sum(map(len, result.groups)), len(result.groups)
    every = (*result.refusals, *chain(*result.groups))
    noun = "row" if any(row.from_runtime for row in every) else "rule set"
    if not answers:
        return f"{format_count(len(result.refusals), noun)} without gradients."
    refused = f", {len(result.refusals)} without" * bool(result.refusals)
    if answers > 1:
        base = result.groups[0][0].label
        return f"{answers} different gradients{refused}. {mark} a value other than {base}'s."
    if rows == 1:
        return f"1 {noun} gives gradients{refused}; there is no other to compare it with."
    return f"{rows} {noun}s give the same gradients{refused}."


def _format_marked(array: Array, differing: Array | None = None, mark: str = "") -> str:
    """A small array on one line, a mark at the cells that differ; of a larger one how many do."""
    flags = np.zeros(array.shape, np.bool_) if differing is None else differing
    if array.size <= MOST_VALUES:
        pairs = zip(array.flat, flags.flat, strict=True)
        texts = [f"{value:.6g}" + mark * bool(flag) for value, flag in pairs]
        shaped = np.array(texts, object).reshape(array.shape)
        return np.array2string(shaped, separator=", ", formatter={"object": str}).replace("\n", "")
    shape, places = f"of shape {format_shape(array.shape)}", np.argwhere(flags)
    if not len(places):
        return shape
    first = tuple(places[0].tolist())
    cells, place = format_count(len(places), "cell"), format_shape(first)
    return f"{shape}, other in {cells}, first at {place} with {array[first]:.6g}"


def describe_gradients(chosen: Arrays, limit: int) -> Iterator[str]:
    """Sentences in place of a picture: every gradient, value by value up to a limit."""
    numbers = choose_number_format(chosen.values())
    for name, array in chosen.items():
        yield from describe_tensor(f"gradient of {name}", array, numbers, limit)
