"""A comparison as a page: every answer in one table, and each distinct one as an example below it.

What it says comes from `ComparisonTexts`, as on the screen; signs are put into words for speech.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gscli.base.records import group_pairs
from gscli.lab.answers import ComparisonResult, ResultGroup
from gscli.lab.concepts import CONCEPTS
from gscli.views.look import ViewOptions
from gscli.views.markup import escape
from gscli.views.number_line import make_number_line
from gscli.views.page.cells import entry_chip
from gscli.views.page.section import RunSection
from gscli.views.page.sheets import TraceView
from gscli.views.page.strips import BehaviourStrip
from gscli.views.words.below import LISTED
from gscli.views.words.comparison import LISTED_ENTRIES, ComparisonTexts, ResultCell

LISTED_CELLS = 16

NOUN = "answer"
_ERROR = '<span aria-hidden="true">✗ </span>refused'
COMPARE_STYLE = "compare.css"


class ComparisonSection:
    """A comparison as part `number` of a page: all answers in a table, a section per result."""

    def __init__(self, comparing: ComparisonResult, number: int, options: ViewOptions) -> None:
        self._comparing, self._answers = comparing, ComparisonTexts(comparing, options)
        self._name = f"example-{number + 1}"
        self._sections: dict[str, RunSection] = {}
        for group in self._answers.groups:
            if (trace := group.first.trace) is not None:
                first, *others = group.labels
                alike = f"The same answer: {escape(', '.join(others))}. " * bool(others)
                self._sections[first] = RunSection(
                    TraceView(trace, options), len(self._sections), noun=f"{self._name}-{NOUN}",
                    title=first, note=f'{alike}<a href="#{self._name}-answers">All answers</a>',
                )  # fmt: skip

    @property
    def title(self) -> str:
        """What is compared."""
        return f"compare {self._comparing.concept}"

    def html(self, *, heading: str) -> str:
        """The `<section>` of a lesson; `heading` is its element's name."""
        inner = f"h{int(heading[1:]) + 1}"
        answers = "".join(each.html(heading=inner) for each in self._sections.values())
        return (
            f'<section id="{self._name}" aria-labelledby="{self._name}-title">'
            f'<{heading} id="{self._name}-title">{escape(self.title)}</{heading}>'
            f'<div class="comparison">{self._render_overview()}{answers}</div></section>'
        )

    def _render_overview(self) -> str:
        concept = self._comparing.concept
        call = self._answers.call.replace("  ", ", ")
        lead = f"{concept}{f', {call}' * bool(call)}: {CONCEPTS[concept].summary}."
        notes = "".join(f"<p>{escape(text)}</p>" for text in self._answers.list_footnotes())
        return (
            f'<div id="{self._name}-answers" class="overview"><p class="lead">{escape(lead)}</p>'
            f'<dl class="inputs">{"".join(self._inputs())}</dl>'
            f'{notes}<p class="summary">{escape(self._answers.summary())}</p>'
            f'<div class="wide">{self._blocks()}{self._table()}</div></div>'
        )

    def _inputs(self) -> Iterator[str]:
        for name, kind, values in self._answers.inputs():
            markup = f"<dt>{escape(name)}</dt><dd><small>{escape(kind)}</small>"
            yield f"{markup}{f' <code>{escape(values)}</code>' * bool(values)}</dd>"

    def _table(self) -> str:
        columns = self._answers.columns
        names = list(self._heads() if columns else ["cells that differ"])
        heads = "".join(f'<th scope="col">{name}</th>' for name in names)
        per_column = f"<span>, one column per {self._column_word}</span>" * bool(columns)
        line = make_number_line(self._answers)
        rows = ""
        for number, group in enumerate(self._answers.groups):
            rows += self._row(group)
            if line:
                strip = BehaviourStrip(line, line.behaviours[number]).render()
                rows += f'<tr class="strip"><td colspan="{len(names) + 2}">{strip}</td></tr>'
        return (
            f'<table class="answers{"" if columns else " listed"}"><caption>One row per answer'
            f'{per_column}</caption><thead><tr><th scope="col">rule sets</th>{heads}'
            f'<th scope="col">what happens</th></tr></thead><tbody>{rows}</tbody></table>'
        )

    def _blocks(self) -> str:
        """The table turned, for telephones: a block per column, in it who has which value."""
        answers, blocks = self._answers, list[str]()
        heads = list(self._heads())
        for number in answers.order:
            names = group_pairs(
                (self._render_cell(row[number]), label)
                for group, row in zip(answers.groups, answers.rows, strict=True)
                for label in group.labels
            )
            rows = (f'<tr><th scope="row">{escape(", ".join(labels))}</th>{cell}</tr>'
                    for cell, labels in names.items())  # fmt: skip
            head = f'<th scope="col" colspan="2">{heads[number]}</th>'
            blocks.append(f"<tbody><tr>{head}</tr>{''.join(rows)}")
        caption = f"<caption>One block per {self._column_word}</caption>"
        table = f'<table class="turned">{caption}{"</tbody>".join([*blocks, ""])}</table>'
        return table * bool(blocks)

    @property
    def _column_word(self) -> str:
        return "entry" if self._answers.is_per_entry else "cell of output"

    def _heads(self) -> Iterator[str]:
        for entry, text in self._answers.heads:
            yield text if entry is None else f"{entry_chip(entry)} <code>{escape(text)}</code>"

    def _row(self, group: ResultGroup) -> str:
        first, *others = group.labels
        also = f"<span>, {escape(', '.join(others))}</span>" if others else ""
        section, of_first = self._sections.get(first), f'<span class="v"> of {escape(first)}</span>'
        steps = f' <a href="#{section.name}">steps{of_first}</a>' if section else ""
        return (
            f'<tr><th scope="row"><b>{escape(first)}</b>{also}{steps}</th>'
            f'{self._render_cells(group)}<td class="why">{self._render_reasons(group)}</td></tr>'
        )

    def _render_cells(self, group: ResultGroup) -> str:
        """A cell per column, or the list of those that differ."""
        answers, row = self._answers, group.first
        has_place = answers.columns and answers.is_per_entry and row.entry is not None
        if row.output is None and not has_place:
            span = f' colspan="{answers.columns}"' if answers.columns else ""
            return f'<td class="error"{span}><b>{_ERROR}</b></td>'
        if answers.columns:
            return "".join(map(self._render_cell, answers.make_cells(group)))
        listed, rest = answers.list_differences(group, LISTED_CELLS)
        if not listed:
            return f'<td class="word">{escape(rest[0])}</td>'
        items = [
            f"<code>{escape(place)}</code> <b>{escape(mine)}</b>"
            f'<span aria-hidden="true"> ≠ </span>{self._name_reference(": ")}{escape(other)}'
            for place, mine, other in listed
        ]
        markup = "".join(f"<li>{item}</li>" for item in [*items, *rest])
        return f'<td class="cells"><ul>{markup}</ul></td>'

    def _render_cell(self, cell: ResultCell) -> str:
        text = escape(cell.text)
        if cell.kind == "error":
            text = _ERROR
        elif cell.kind == "none":
            text = '<span aria-hidden="true">–</span><span class="v">no value</span>'
        elif cell.kind == "differs":
            text = f'<span aria-hidden="true">≠ </span>{text}{self._name_reference()}'
        landing = f" <small>{escape(cell.landing)}</small>" * bool(cell.landing)
        return f'<td class="{cell.kind}"><b>{text}</b>{landing}</td>'

    def _name_reference(self, end: str = "") -> str:
        """What a value differs from, for the ear."""
        label = self._answers.reference.label if self._answers.reference else ""
        return f'<span class="v"> differs from {escape(label)}{end}</span>'

    def _render_reasons(self, group: ResultGroup) -> str:
        """Why it refuses, or what became of unusual entries."""
        reasons, trace = self._answers.reasons(group), group.first.trace
        has_unusual = trace is not None and any(ComparisonTexts.unusual_entries(trace))
        if trace is not None and trace.entry_count <= LISTED_ENTRIES and not has_unusual:
            reasons = [([], "every index is used as written"), *reasons]
        return "".join(_render_reason(*item) for item in reasons)


def _render_reason(entries: Sequence[int], text: str) -> str:
    chips = "".join(f"{entry_chip(number)} " for number in entries[:LISTED])
    more = f"+{len(entries) - LISTED} " * (len(entries) > LISTED)
    return f"<p>{chips}{more}<span>{escape(text)}</span></p>"
