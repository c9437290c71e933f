"""explain: the operator's formula with the real numbers, a line per entry, then the counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gscli.base.words import format_count, format_shape, sanitize
from gscli.traces import Entry, Trace
from gscli.views.choices import check_size
from gscli.views.lines import Drawing, line_width, wrap_paragraph
from gscli.views.look import PLAIN, Line, Signs, ViewOptions, choose_signs, make_style_sheet
from gscli.views.picture import render_title
from gscli.views.subject import list_samples
from gscli.views.summary import count_cells, describe_purpose, format_counts
from gscli.views.terminal.legend import render_entries
from gscli.views.texts import NumberFormat, choose_number_format
from gscli.views.words.facts import Describer
from gscli.views.words.formula import Formula
from gscli.views.words.vocabularies import TOLD_CELLS, describe_entry, describe_tensor

EXPLAINED_ENTRIES = 100
"""Entries told, unless a limit says otherwise."""


def make_explanation(trace: Trace, options: ViewOptions, *, plain: bool) -> Drawing | str:
    """Formula, entries, counts: a renderable, or with `plain` full sentences in ASCII.

    >>> from gscli.traces import trace
    >>> from gscli.views.lines import render_text
    >>> options = ViewOptions(color="none")
    >>> counts = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> print(render_text(make_explanation(counts, options, plain=False), options), end="")
    gather   data int64 [3]   indices int64 [1]   output int64 [1]
    <BLANKLINE>
    output[i] = data[indices[i]]   for i = 0
    Legal: -3 … 2 on axis 0; below zero counts from the end, anything else is
      refused.
    <BLANKLINE>
     a  indices[0] = -1 counts from the end: 2 → data[2] → output[0] = 30
    <BLANKLINE>
    1 of 3 cells read
    """
    check_size(options._replace(full=False), trace.entry_count, [])
    shown = trace.entries(EXPLAINED_ENTRIES if options.limit is None else options.limit)
    if plain:
        return _format_plain(trace, options, shown)
    return Drawing(partial(_render_explanation, trace, options, shown), options)


def _render_explanation(
    trace: Trace, options: ViewOptions, shown: Sequence[Entry], width: int
) -> list[Line]:
    """Operator and tensors, as many on a line as fit, then formula, entries and counts."""
    look = make_style_sheet(options)
    lines = render_title(trace, options, width)
    for tensor in trace.tensors:
        facts = f" {tensor.dtype} {format_shape(tensor.shape)}"
        run: Line = [(look.signs.sanitize(tensor.name), look.bold), (facts, look.dim)]
        if line_width(lines[-1]) + 3 + line_width(run) > width:
            lines.append([("  ", PLAIN), *run])
        else:
            lines[-1] = [*lines[-1], ("   ", PLAIN), *run]
    formula, *meaning = _formula(trace, look.signs)
    lines += [[], *wrap_paragraph(formula, width, look.bold, indent="  ")]
    for text in meaning:
        lines += wrap_paragraph(text, width, indent="  ")
    teller = Describer(trace, _numbers(trace, shown, options))
    listed = render_entries(teller, shown, width, look)
    lines += [[], *listed, []] if listed else [[]]
    for text in _summary(trace, len(shown)):
        lines += wrap_paragraph(text, width, indent="  ")
    return lines


def _format_plain(trace: Trace, options: ViewOptions, shown: Sequence[Entry]) -> str:
    """One statement a line, ASCII, no line ever broken."""
    options = options._replace(utf8=False)
    signs = choose_signs(options)
    attributes = [
        f"{key} is {sanitize(str(value))}" for key, value in trace.nondefault_attributes.items()
    ]
    lines = [f"{trace.operator.framework.title} {trace.operator.name}: {trace.operator.summary}"]
    lines += [", ".join(attributes) + "."] if attributes else []
    teller = Describer(trace, _numbers(trace, shown, options))
    for tensor in trace.tensors:
        lines += describe_tensor(tensor.name, tensor.array, teller.numbers)
    formula, *meaning = _formula(trace, signs)
    lines += [describe_purpose(trace), formula + ".", *meaning]
    lines += [describe_entry(teller, entry) for entry in shown]
    lines += [text + "." for text in _summary(trace, len(shown))]
    return "\n".join(signs.sanitize_line(line) for line in lines) + "\n"


def _formula(trace: Trace, signs: Signs) -> list[str]:
    formula = Formula(trace)
    equation = formula.equation + (f"   for {formula.ranges}" if formula.ranges else "")
    sentences = [equation, *formula.meaning]
    if trace.layout.unspecified_order:
        sentences.append(f"{trace.layout.unspecified_order}; here the last entry wins.")
    return [signs.sanitize_line(text) for text in sentences]


def _numbers(trace: Trace, shown: Sequence[Entry], options: ViewOptions) -> NumberFormat:
    """The format for every value that is told: small tensors, slices, and what cells held."""
    parts = [item.array for item in trace.tensors if item.role != "indices"]
    parts = [part for part in parts if part.size <= TOLD_CELLS]
    return choose_number_format([*parts, *list_samples(trace, shown, TOLD_CELLS)], options)


def _summary(trace: Trace, shown: int) -> list[str]:
    lines = [format_counts(trace, count_cells(trace))]
    rest = trace.entry_count - shown
    if rest > 0:
        lines.append(f"{format_count(rest, 'more entry', 'more entries')}: --limit N")
    return lines
