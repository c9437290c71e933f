"""Answers side by side: a row per rule set, a column per entry, or a list of differing cells."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from gscli.base.records import cached_property
from gscli.lab.answers import ComparisonResult, ResultGroup
from gscli.traces import Trace, entry_label
from gscli.views.lines import Block, Drawing, join_blocks, line_width, make_block, wrap_paragraph
from gscli.views.look import PLAIN, Line, ViewOptions, cell_len
from gscli.views.number_line import Behaviour, make_number_line, name_behaviour
from gscli.views.picture import make_picture
from gscli.views.terminal.ruler import NumberLineRenderer
from gscli.views.words.comparison import (
    SHORT_TENSOR,
    ComparisonTexts,
    describe_lettered_refusal,
)

LABEL_SHARE = 0.4
"""Part of the width that labels may take before they wrap."""

NARROWEST_LINE = 80
NARROWEST_LABEL = 22
NARROWEST_REASON = 14
REASON_GAP = 3

INDENT: Line = [("  ", PLAIN)]


class ComparisonView(Drawing):
    """A table where every entry has one cell; otherwise the base's picture and the differences."""

    def __init__(self, comparing: ComparisonResult, options: ViewOptions) -> None:
        super().__init__(options)
        self.comparing = comparing
        self.answers = ComparisonTexts(comparing, options)

    def draw(self, width: int) -> list[Line]:
        """Heading, rows, summary."""
        answers, ruler = self.answers, self._number_line(width)
        has_table = ruler is None and answers.columns and self._table_width <= width
        body = self._table(width) if has_table else self._render_groups(width, ruler)
        lines = [*self._heading(width), [], *body, []]
        for text in answers.list_footnotes():
            lines += wrap_paragraph(text, width, self.look.dim, indent="  ")
        return lines + wrap_paragraph(answers.summary(), width, self.look.bold, indent="  ")

    def _heading(self, width: int) -> list[Line]:
        title, call = f"compare {self.comparing.concept}", self.answers.call
        lines: list[Line] = [[(title, self.look.bold), ("   " + call, self.look.dim)]]
        for name, kind, values in self.answers.inputs():
            head = f"{name}  {kind}  "
            room = width - cell_len(head)
            lines.append([(head, self.look.dim), (self.signs.truncate(values, room), PLAIN)])
        return lines

    # --- one column per entry -------------------------------------------------------------

    @property
    def _table_width(self) -> int:
        return NARROWEST_LABEL + sum(self._widths) + REASON_GAP + NARROWEST_REASON

    def _cells(self, group: ResultGroup) -> Line:
        """The text of each column."""
        look, sign = self.look, f"{self.signs.differs} "
        styles = {"error": look.alarm, "none": look.dim, "differs": look.shared}
        return [
            (sign * (cell.kind == "differs") + cell.text, styles.get(cell.kind, PLAIN))
            for cell in self.answers.make_cells(group)
        ]

    @cached_property
    def _widths(self) -> list[int]:
        rows = [self._heads, *map(self._cells, self.comparing.outcome_groups)]
        return [max(cell_len(text) for text, _ in column) + 2 for column in zip(*rows, strict=True)]

    @cached_property
    def _heads(self) -> Line:
        """The letter of each column's entry, or its place in output."""
        numbers = range(self.answers.columns)
        if self.answers.is_per_entry:
            return [(f" {entry_label(n)} ", self.look.value_style(n)) for n in numbers]
        return [(f"[{n}]", self.look.dim) for n in numbers]

    def _align(self, cells: Line) -> Line:
        """One row of the table's columns."""
        line: Line = []
        for (text, style), width in zip(cells, self._widths, strict=True):
            line += [(" " * (width - cell_len(text)), PLAIN), (text, style)]
        return line

    def _label_width(self, width: int, columns: int) -> int:
        longest = max(cell_len(label) for g in self.comparing.outcome_groups for label in g.labels)
        room = width - columns - REASON_GAP - NARROWEST_REASON
        return max(min(longest + 2, int(width * LABEL_SHARE), room), NARROWEST_LABEL)

    def _table(self, width: int) -> list[Line]:
        columns = sum(self._widths)
        room, first = self._label_width(width, columns), self.comparing.outcome_groups[0]
        what = (" " * REASON_GAP + "what happens", self.look.dim)
        lines: list[Line] = [[(" " * room, PLAIN), *self._align(self._heads), what]]
        for group in self.comparing.outcome_groups:
            labels = [self.signs.truncate(label, room - 1)
                      for label in _wrap_labels(group.labels, room - 2)]  # fmt: skip
            style = self.look.bold if group is first else PLAIN
            lines += join_blocks([
                Block(tuple([(label, style)] for label in labels), room),
                Block((self._align(self._cells(group)),), columns + REASON_GAP),
                make_block(self._reasons(group, width - room - columns - REASON_GAP)),
            ], 0)  # fmt: skip
        return lines

    # --- a block per behaviour ------------------------------------------------------------

    def _number_line(self, width: int) -> NumberLineRenderer | None:
        """The axis as a line, where one axis is addressed and rule sets differ or entries meet."""
        line = make_number_line(self.answers) if width >= NARROWEST_LINE else None
        if line is None:
            return None
        ruler = NumberLineRenderer(line, self.look)
        tells = len(line.behaviours) > 1 or bool(line.behaviours[0].duplicate_writes)
        return ruler if tells and ruler.width <= width else None

    def _render_groups(self, width: int, ruler: NumberLineRenderer | None) -> list[Line]:
        """What each group does, who is in it, its answers, and the ways of unusual numbers."""
        lines = [] if self.answers.columns else [*self._render_base(width), []]
        lines += [*ruler.render_head(), []] if ruler else []
        for number, group in enumerate(self.comparing.outcome_groups):
            lines += [[]] if number else []
            if ruler:
                behaviour = ruler.line.behaviours[number]
                lines += self._render_name(group, behaviour.name, width)
                if self.answers.columns or group.first.output is not None:
                    lines += self._render_answer(group, width)
                lines += self._render_ways(ruler, behaviour, width)
            elif self.answers.columns:
                lines += self._render_name(group, name_behaviour(group), width)
                lines += self._render_answer(group, width)
                reasons = self._reasons(group, width - 2)
                lines += [[("  " + text, style)] for [(text, style)] in reasons]
            else:
                labels = ", ".join(group.labels)
                lines += wrap_paragraph(labels, width, self.look.bold, indent="  ")
                lines += self._render_answer(group, width)
        return lines

    def _render_name(self, group: ResultGroup, name: str, width: int) -> list[Line]:
        name = self.signs.sanitize(name)
        labels = _wrap_labels(group.labels, width - 2)
        if not name:
            return [[(("  " if number else "") + text, self.look.bold)] for number, text in
                    enumerate(labels)]  # fmt: skip
        return [[(name, self.look.bold)], *([("  " + text, self.look.dim)] for text in labels)]

    def _render_answer(self, group: ResultGroup, width: int) -> list[Line]:
        """The answers one after the other behind their letters or places, or what differs."""
        if not self.answers.columns:
            return [line for text in self._describe_differences(group)
                    for line in wrap_paragraph(text, width, head=INDENT)]  # fmt: skip
        lines = [[*INDENT]]
        for head, cell in zip(self._heads, self._cells(group), strict=True):
            piece: Line = [head, (" ", PLAIN), cell, ("   ", PLAIN)]
            if line_width(lines[-1]) + line_width(piece) - 3 > width and len(lines[-1]) > 1:
                lines.append([*INDENT])
            lines[-1] += piece
        return lines

    def _render_ways(
        self, ruler: NumberLineRenderer, behaviour: Behaviour, width: int
    ) -> list[Line]:
        if behaviour.group.first.error is None:
            ways = ruler.render_ways(behaviour)
            return [line for way in ways for line in self._wrap_way(way, width)]
        text = self.signs.sanitize(describe_lettered_refusal(behaviour.group))
        apart = wrap_paragraph(text, width, self.look.dim, head=INDENT)
        stopped = [index for index in behaviour.indices if index.outcome == "refused"]
        if not stopped:
            return apart
        drawn = ruler.render_stop(stopped[0], text.partition(": ")[2])
        if line_width(drawn) <= width:
            return [drawn]
        return [ruler.render_stop(stopped[0], "refused"), *apart]

    def _wrap_way(self, way: Line, width: int) -> list[Line]:
        """A way with its words behind it, or below it where they do not fit."""
        if line_width(way) <= width:
            return [way]
        *drawn, (text, style) = way
        return [drawn, *wrap_paragraph(text, width, style, head=INDENT)]

    # --- differences only -----------------------------------------------------------------

    def _render_base(self, width: int) -> list[Line]:
        """What answers are compared with, and its picture."""
        base = self.answers.first_result
        if base is None or base.trace is None:
            return []
        title: Line = [(f"{base.label}: what the others are compared with", self.look.bold)]
        if not self._is_picture_shown(base.trace):
            return [title]
        return [title, [], *make_picture(base.trace, self.options, title=False).render_lines(width)]

    def _is_picture_shown(self, trace: Trace) -> bool:
        """Whether the picture of the base is asked for, or small."""
        options = self.options.show or self.options.rows or self.options.full
        return bool(options) or trace.output.size <= SHORT_TENSOR

    def _describe_differences(self, group: ResultGroup) -> list[str]:
        if group.first.output is None:
            return [self.signs.sanitize(describe_lettered_refusal(group))]
        template, more = f"{{}}: {{}} {self.signs.differs} {{}}", ("more cell", "more cells")
        return self.answers.describe_differences(group, template, more, "compared with itself")

    # --- reasons --------------------------------------------------------------

    def _reasons(self, group: ResultGroup, width: int) -> list[Line]:
        """The last column: why it refuses, or what became of unusual entries."""
        trace, texts = group.first.trace, list[str]()
        if group.first.output is None:
            refusal = self.signs.sanitize(describe_lettered_refusal(group))
            texts = wrap(refusal, width, break_on_hyphens=False)
        elif trace is not None:
            texts = _wrap_labels(self._format_unusual(trace), width, "  ")
        return [[(text, self.look.dim)] for text in texts]

    def _format_unusual(self, trace: Trace) -> list[str]:
        sentences: list[str] = []
        for entry in self.answers.unusual_entries(trace):
            for adjustment in entry.adjustments:
                meant = "" if adjustment.coordinate is None else f" {adjustment.coordinate}"
                if adjustment.sign == "skipped":
                    meant = " filled" if trace.kind == "gather" else " dropped"
                sign = self.signs.for_outcome(adjustment.sign)
                sentences.append(f"{entry.label}: {adjustment.raw_value} {sign}{meant}")
        return sentences


def _wrap_labels(labels: Sequence[str], width: int, separator: str = ", ") -> list[str]:
    """Labels side by side while they fit, broken between them rather than inside.

    >>> _wrap_labels(["ONNX Gather-13", "NumPy take", "Caffe2 Gather"], 25)
    ['ONNX Gather-13,', 'NumPy take, Caffe2 Gather']
    """
    lines: list[str] = []
    room = width - len(separator.rstrip())
    for number, label in enumerate(labels, 1):
        limit = width if number == len(labels) else room
        if lines and cell_len(lines[-1]) + cell_len(separator + label) <= limit:
            lines[-1] += separator + label
            continue
        if lines:
            lines[-1] += separator.rstrip()
        lines += wrap(label, limit, break_on_hyphens=False, subsequent_indent="  ")
    return lines
