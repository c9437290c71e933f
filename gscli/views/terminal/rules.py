"""The table of rules, in columns where the width allows, else an operator per paragraph."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from gscli.lab.rules import COLUMNS, Rule
from gscli.views.lines import Block, Drawing, join_blocks, wrap_paragraph
from gscli.views.look import PLAIN, Line, ViewOptions, cell_len

GAP = 2
WIDEST_LABEL = 44


class RulesView(Drawing):
    """Rules as a table."""

    def __init__(self, rules: Sequence[Rule], options: ViewOptions) -> None:
        super().__init__(options)
        self.rules = rules

    def draw(self, width: int) -> list[Line]:
        """A heading and a row per rule."""
        heads = ["operator", *(column.replace("_", " ") for column in COLUMNS)]
        rows = [[rule.label, *map(self._ascii, rule.behaviours)] for rule in self.rules]
        widths = [
            max(cell_len(row[number]) for row in [heads, *rows]) + GAP
            for number in range(len(heads))
        ]
        widths[0] = min(widths[0], WIDEST_LABEL)
        if sum(widths) - GAP > width:
            return self._paragraphs(heads, rows, width)
        lines = self._row(heads, widths, bold=True)
        for row in rows:
            lines += self._row(row, widths, bold=False)
        return lines

    def _ascii(self, text: str) -> str:
        return text if self.options.utf8 else text.replace("–", "-")

    def _row(self, row: Sequence[str], widths: Sequence[int], *, bold: bool) -> list[Line]:
        style = self.look.bold if bold else PLAIN
        labels = wrap(row[0], widths[0] - GAP, subsequent_indent="  ") or [""]
        first = Block(tuple([(label, style)] for label in labels), widths[0])
        others = zip(row[1:], widths[1:], strict=True)
        return join_blocks(
            [first, *(Block(([(text, style)],), width) for text, width in others)], 0
        )

    def _paragraphs(
        self, heads: Sequence[str], rows: Sequence[Sequence[str]], width: int
    ) -> list[Line]:
        lines: list[Line] = []
        for label, *texts in rows:
            lines += wrap_paragraph(label, width, self.look.bold)
            joined = "; ".join(
                f"{head}: {text}" for head, text in zip(heads[1:], texts, strict=True)
            )
            lines += wrap_paragraph(joined, width, head=[("  ", PLAIN)])
        return lines
