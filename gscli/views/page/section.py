"""One run on a page: heading, equation, tensors, entries, and the facts for the script."""

from __future__ import annotations

from typing import Any

from gscli.base.words import sanitize
from gscli.traces import Entry
from gscli.views.look import UTF8
from gscli.views.markup import escape, escape_json
from gscli.views.page.cells import entry_chip
from gscli.views.page.predict import Mistakes
from gscli.views.page.sheets import PageTensor, TraceView
from gscli.views.page.table import TensorTables
from gscli.views.page.words import (
    coordinate_headers,
    describe_end,
    describe_start,
    entry_coordinates,
    format_counts_line,
    list_fixed_axes,
    verb_of,
)
from gscli.views.summary import (
    axis_word,
    describe_addressing,
    describe_purpose,
    explain_signs,
    list_attributes,
)
from gscli.views.terminal.explain import Explanation
from gscli.views.words.below import explain_outcome_signs
from gscli.views.words.facts import Describer
from gscli.views.words.formula import Formula
from gscli.views.words.vocabularies import MOVE_TEMPLATES, PATH_TEMPLATES, format_entry

# Cells of a run that the page also writes as text.
COPIED_CELLS = 2_000


class RunSection:
    """A `<section>` of the page, called `noun` and a number.

    `title`: its own, or what was run, as a shell would say it, and its attributes. `note`: markup
    between the lead and the equation.
    """

    def __init__(
        self, scene: TraceView, number: int, *, noun: str = "example", quiz: bool = False,
        title: str = "", note: str = "",
    ) -> None:  # fmt: skip
        self._scene = scene
        self.name = f"{noun}-{number + 1}"
        self._quiz = quiz and not scene.trace.is_refused  # of a refused call there is no answer
        attributes = list_attributes(scene.trace)
        self.title = title or sanitize(" · ".join([scene.trace.title, *attributes]))
        self._note = f'<p class="lead">{note}</p>' * bool(note)
        self._teller = Describer(scene.trace, scene.numbers)
        self._predictions = Mistakes(scene.trace)
        self._skipped = {entry.number for entry in scene.entries if not entry.live}

    def html(self, *, heading: str) -> str:
        """The `<section>`; `heading` is its element's name."""
        kinds = f"{self._scene.trace.kind}{' quiz' if self._quiz else ''}"
        body = self._render_run()
        if self._quiz:
            stage = f'<div class="stage question">{self._tensors(quiz=True)}</div>'
            body = f"{stage}<template>{body}</template>"
        equation = escape(Formula(self._scene.trace).equation)
        return (
            f'<section id="{self.name}" class="{kinds}" aria-labelledby="{self.name}-title">'
            f'<{heading} id="{self.name}-title">{escape(self.title)}</{heading}>'
            f'<p class="lead">{escape(self._lead())}</p>{self._note}'
            f'<p class="formula"><code>{equation}</code></p>{body}{self._render_plain_text()}'
            f'<script type="application/json" class="facts">{escape_json(self._script_data())}'
            "</script></section>"
        )

    def _lead(self) -> str:
        trace = self._scene.trace
        version = trace.attributes.get("opset")
        which = f" opset {version}" if version else ""
        return f"{describe_purpose(trace)} {trace.operator.framework.title}{which}."

    def _render_run(self) -> str:
        items = "".join(self._render_entry(entry) for entry in self._scene.entries)
        return (
            f'<div class="stage">{self._tensors(quiz=False)}</div>'
            f'<ol class="entries" aria-label="entries">{items}</ol>{self._render_diagnosis()}'
            f'<p class="counts">{escape(format_counts_line(self._teller, self._scene.entries))}</p>'
            f"{self._render_legend()}"
        )

    def _render_legend(self) -> str:
        scene = self._scene
        wide = [tensor for tensor in scene.tensors if not tensor.is_upright]  # others have rows
        sheets = (sheet.selection for tensor in wide for sheet in tensor.sheets)
        signs = [UTF8.across] * any(not shown.has_all_columns for shown in sheets)
        cells = [cell for tensor in scene.tensors for cell in tensor.cells.values()]
        outcome_signs = {UTF8.for_number(cell.outcome) for cell in cells if cell.outcome}
        drawn = " ".join([*signs, *outcome_signs])
        outcomes = explain_outcome_signs(scene.trace, scene.entries, UTF8, drawn)
        differing = f"{UTF8.differs} what was expected" * any(cell.expected for cell in cells)
        legend = "   ".join(filter(None, [outcomes, explain_signs(drawn, UTF8), differing]))
        return f'<p class="key">{escape(legend)}</p>' if legend else ""

    def _render_diagnosis(self) -> str:
        """Whether the answer is the expected one, and which causes would give that."""
        diagnosis = self._scene.diagnosis
        sentences = [] if diagnosis is None else diagnosis.describe()
        lines = "".join(f"<li>{escape(line.strip())}</li>" for line in sentences)
        return f'<ul class="verdict">{lines}</ul>' * bool(sentences)

    def _tensors(self, *, quiz: bool) -> str:
        """What is given on one side: data, where it is drawn by itself, and output on the other."""
        sides = {"given": "", "made": ""}
        for tensor in self._scene.tensors:
            name, heads = self._name(tensor), self._column_headers(tensor)
            tables = TensorTables(tensor, self._skipped, name, heads, is_question=quiz)
            side = "given" if tensor.subject.role in ("indices", "updates") else "made"
            sides[side] += tables.render()
        return "".join(f'<div class="{side}">{markup}</div>' for side, markup in sides.items())

    def _name(self, tensor: PageTensor) -> str:
        """A scatter's grid is a copy of data at first, and output in the end."""
        data = self._scene.trace.layout.data_name
        copied = tensor.subject.role == "output" and self._scene.trace.kind == "scatter"
        return f"{data} → {self._scene.trace.output_name}" if copied and data else ""

    def _column_headers(self, tensor: PageTensor) -> list[str]:
        """Names over the columns: the axis that a number of indices addresses, or updates' verb."""
        if tensor.subject.role == "updates" and tensor.is_upright:
            return [verb_of(self._scene.trace)]
        layout = self._scene.trace.layout
        if tensor.subject.role != "indices" or not tensor.shape or layout.is_flattened:
            return []
        own = tensor.subject.name, None if tensor.is_upright else len(tensor.shape) - 1
        pairs = zip(layout.addressing.columns, layout.column_axes, strict=True)
        axes = (axis for column, axis in pairs if (column.source, column.vector_dim) == own)
        return [axis_word(axis, len(layout.data_shape)) for axis in axes]

    def _render_entry(self, entry: Entry) -> str:
        (words, value), notes = format_entry(self._teller, entry, PATH_TEMPLATES)
        value = f" <b>{escape(value)}</b>" if value else ""
        return (
            f'<li><button type="button">{entry_chip(entry.number, live=entry.live)} '
            f'<span class="s">{escape(words)}{value}{escape("".join(notes))}</span>'
            "</button></li>"
        )

    def _render_plain_text(self) -> str:
        """All of it as text, to be copied, unless that would double a large page."""
        if sum(len(tensor.cells) for tensor in self._scene.tensors) > COPIED_CELLS:
            return ""
        options = self._scene.options._replace(limit=len(self._scene.entries))
        explanation = Explanation(self._scene.trace, options, plain=True)
        text = f"<pre>{escape(explanation.format_plain())}</pre>"
        summary = "The answer as text" if self._quiz else "As text"
        return f'<details class="text"><summary>{summary}</summary>{text}</details>'

    def _script_data(self) -> dict[str, object]:
        """What the script cannot read off the tables: addresses, and values in between."""
        trace = self._scene.trace
        facts = [self._entry_facts(entry) for entry in self._scene.entries]
        guesses = [guess for fact in facts for guess in (*fact["places"], *fact["values"])]
        kinds = dict.fromkeys(["outside", "inside", *(kind for _, kind in guesses)])
        return {
            "labels": [entry.label for entry in self._scene.entries],
            "parts": coordinate_headers(trace.layout),
            "axes": list_fixed_axes(trace.layout),
            "entries": facts,
            "why": {kind: self._predictions.explain(kind) for kind in kinds},
            "thing": describe_addressing(trace)[1],
            "act": verb_of(trace),
            "sign": self._teller.reduction_sign(boolean=trace.layout.dtype == "bool"),
            "fresh": not trace.layout.include_self,
            "between": self._intermediate_texts,
            "opening": describe_start(self._teller),
            "finish": describe_end(trace.entry_count - len(facts)),
        }

    def _entry_facts(self, entry: Entry) -> dict[str, Any]:
        """One entry: coordinates, what it moves, its sum, and wrong predictions."""
        (value, sum_), _ = format_entry(self._teller, entry, MOVE_TEMPLATES)
        return {
            "at": entry_coordinates(self._scene.trace.layout, entry),
            "value": value,
            "sum": sum_,
            "places": list(self._predictions.iter_wrong_targets(entry)),
            "values": list(self._predictions.iter_wrong_values(entry, self._teller)),
        }

    @property
    def _intermediate_texts(self) -> list[dict[int, str]]:
        """The texts that an entry leaves in touched cells where they are not those of the result.

        By the number of the cell among those that the table marks with `data-e`.
        """
        cells = self._scene.output.cells
        if self._scene.trace.kind == "gather":
            return []
        marked = [at for at, cell in cells.items() if cell.entries or cell.is_changed]
        number = {at: order for order, at in enumerate(marked)}
        return [
            {number[at]: text for at, text in step.items() if text != cells[at].text}
            for step in self._scene.steps
        ]
