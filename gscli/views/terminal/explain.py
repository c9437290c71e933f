"""explain: the operator's formula with the real numbers, a line per entry, then the counts."""

from __future__ import annotations

from gscli.base.words import format_count, format_shape, sanitize
from gscli.traces import Trace
from gscli.views.choices import check_size
from gscli.views.look import Line, ViewOptions
from gscli.views.picture import TraceDrawing
from gscli.views.subject import list_samples
from gscli.views.summary import count_cells, describe_purpose, format_counts
from gscli.views.terminal.legend import render_entries
from gscli.views.texts import choose_number_format
from gscli.views.words.facts import TOLD_CELLS, Describer
from gscli.views.words.formula import Formula, explain_entry
from gscli.views.words.vocabularies import describe_entry, describe_tensor

# Entries told, unless a limit says otherwise.
EXPLAINED_ENTRIES = 100


class Explanation(TraceDrawing):
    """Formula, entries and counts of one run.

    With `plain` numbers are as `format_plain` tells them, in full sentences of ASCII.

    >>> from gscli.traces import trace
    >>> run = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> print(Explanation(run, ViewOptions(color="none")))
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

    def __init__(self, trace: Trace, options: ViewOptions, *, plain: bool = False) -> None:
        check_size(options._replace(full=False), trace.entry_count, [])
        options = options._replace(utf8=options.utf8 and not plain)
        super().__init__(trace, options)
        self.shown = trace.entries(EXPLAINED_ENTRIES if options.limit is None else options.limit)
        # One format for every value that is told: small tensors, slices, and what cells held.
        parts = [item.array for item in trace.tensors if item.role != "indices"]
        parts = [part for part in parts if part.size <= TOLD_CELLS]
        parts += list_samples(trace, self.shown, TOLD_CELLS)
        self.teller = Describer(trace, choose_number_format(parts, options), is_told=plain)

    def _draw_lines(self, width: int) -> list[Line]:
        """Operator and tensors, as many on a line as fit, then formula, entries and counts."""
        look, tensors = self.look, list[Line]()
        for tensor in self.trace.tensors:
            facts = f" {tensor.dtype} {format_shape(tensor.shape)}"
            tensors.append([(look.signs.sanitize(tensor.name), look.bold), (facts, look.dim)])
        lines = self.render_title(width, *tensors)
        formula, *meaning = self._formula()
        lines += [[], *self.wrap(formula, width, look.bold, indent="  ")]
        for text in meaning:
            lines += self.wrap(text, width, indent="  ")
        listed = render_entries(self.teller, self.shown, width, look)
        lines += [[], *listed, []] if listed else [[]]
        for text in self._summary():
            lines += self.wrap(text, width, indent="  ")
        return lines

    def format_plain(self) -> str:
        """One statement a line, ASCII, no line ever broken."""
        trace, operator = self.trace, self.trace.operator
        pairs = trace.nondefault_attributes.items()
        attributes = [f"{key} is {sanitize(str(value))}" for key, value in pairs]
        lines = [f"{operator.framework.title} {operator.name}: {operator.summary}"]
        lines += [", ".join(attributes) + "."] if attributes else []
        *drawn, output = [(tensor.name, tensor.array) for tensor in trace.tensors]
        for name, array in [*(dict(drawn) | trace.call_inputs).items(), output]:
            lines += describe_tensor(name, array, self.teller.numbers)
        formula, *meaning = self._formula()
        lines += dict.fromkeys([describe_purpose(trace), formula + ".", *meaning])
        lines += [describe_entry(self.teller, entry) for entry in self.shown]
        if trace.words is not None:
            remarks = trace.words.make_remarks(self.teller, self.shown)
            lines += [f"{remark.text}." for remark in remarks]
        lines += [text + "." for text in self._summary()]
        return self.signs.format_lines(lines)

    def format_step(self, number: int) -> str:
        """A step in the same way: what its entry does, and why; step 0 has none."""
        lines = [f"step {number} of {self.trace.entry_count}."]
        for entry in self.trace.entries(number, max(number - 1, 0)):
            lines += [describe_entry(self.teller, entry), *explain_entry(self.teller, entry)]
        return self.signs.format_lines(lines if number else [*lines, describe_purpose(self.trace)])

    def _formula(self) -> list[str]:
        formula, order = Formula(self.trace), self.trace.layout.unspecified_order
        equation = formula.equation + (f"   for {formula.ranges}" if formula.ranges else "")
        ends = [f"{order}; here the last entry wins."] if order else []
        return [equation, *formula.meaning, *ends]

    def _summary(self) -> list[str]:
        rest = self.trace.entry_count - len(self.shown)
        more = [f"{format_count(rest, 'more entry', 'more entries')}: --limit N"] * (rest > 0)
        return [format_counts(self.trace, count_cells(self.trace)), *more]
