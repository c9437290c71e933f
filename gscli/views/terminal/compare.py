"""Answers side by side: a row per rule set, a column per entry, or a list of differing cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from gscli.lab.answers import ComparisonResult, ResultGroup
from gscli.traces import Trace, entry_label
from gscli.views.lines import Block, Drawing, join_blocks, line_width, make_block, wrap_paragraph
from gscli.views.look import PLAIN, Line, Style, ViewOptions, cell_len
from gscli.views.number_line import Behaviour, make_number_line, name_behaviour
from gscli.views.picture import make_picture
from gscli.views.terminal.ruler import NumberLineRenderer
from gscli.views.words.comparison import (
    SHORT_TENSOR,
    ComparisonTexts,
    ResultCell,
    describe_lettered_refusal,
)

LABEL_SHARE = 0.4
"""Part of the width that labels may take before they wrap."""

NARROWEST_LINE = 80
NARROWEST_LABEL = 22
NARROWEST_REASON = 14
REASON_GAP = 3

INDENT: Line = [("  ", PLAIN)]


def make_comparison_view(comparing: ComparisonResult, options: ViewOptions) -> ComparisonView:
    """The comparison as a rich renderable."""
    return ComparisonView(comparing, options)


class ComparisonView(Drawing):
    """A table where every entry has one cell; otherwise the base's picture and the differences."""

    def __init__(self, comparing: ComparisonResult, options: ViewOptions) -> None:
        super().__init__(options)
        self.comparing = comparing
        self.answers = ComparisonTexts(comparing, options)

    def draw(self, width: int) -> list[Line]:
        """Heading, rows, summary."""
        line = self._number_line(width)
        if not self.answers.columns:
            body = self._differences(width, line)
        elif line is None and self._has_columns(width):
            body = self._table(width)
        else:
            body = self._render_groups(width, line)
        summary = self.answers.summary()
        return [
            *self._heading(width), [], *body, [],
            *(line for text in self.answers.list_footnotes()
              for line in wrap_paragraph(text, width, self.look.dim, indent="  ")),
            *wrap_paragraph(summary, width, self.look.bold, indent="  "),
        ]  # fmt: skip

    def _heading(self, width: int) -> list[Line]:
        title, call = f"compare {self.comparing.concept}", self.answers.call
        lines: list[Line] = [[(title, self.look.bold), ("   " + call, self.look.dim)]]
        for name, kind, values in self.answers.inputs():
            head = f"{name}  {kind}  "
            room = width - cell_len(head)
            lines.append([(head, self.look.dim), (self.signs.truncate(values, room), PLAIN)])
        return lines

    # --- one column per entry -------------------------------------------------------------

    def _has_columns(self, width: int) -> bool:
        if not self.answers.columns:
            return False
        return NARROWEST_LABEL + sum(self._widths()) + REASON_GAP + NARROWEST_REASON <= width

    def _text(self, answer: ResultCell) -> str:
        return f"{self.signs.differs} {answer.text}" if answer.kind == "differs" else answer.text

    def _widths(self) -> list[int]:
        groups = self.comparing.outcome_groups
        rows = [map(self._text, self.answers.make_cells(group)) for group in groups]
        columns = zip(self._column_heads(), *rows, strict=True)
        return [max(map(cell_len, column)) + 2 for column in columns]

    def _column_heads(self) -> list[str]:
        numbers = range(self.answers.columns)
        if self.answers.is_per_entry:
            return [f" {entry_label(number)} " for number in numbers]
        return [f"[{number}]" for number in numbers]

    def _label_width(self, width: int, columns: int) -> int:
        longest = max(cell_len(label) for g in self.comparing.outcome_groups for label in g.labels)
        room = width - columns - REASON_GAP - NARROWEST_REASON
        return max(min(longest + 2, int(width * LABEL_SHARE), room), NARROWEST_LABEL)

    def _table(self, width: int) -> list[Line]:
        widths = self._widths()
        room = self._label_width(width, sum(widths))
        header: Line = [(" " * room, PLAIN)]
        for number, head in enumerate(self._column_heads()):
            style = self.look.value_style(number) if self.answers.is_per_entry else self.look.dim
            header += [(" " * (widths[number] - cell_len(head)), PLAIN), (head, style)]
        header.append((" " * REASON_GAP + "what happens", self.look.dim))
        lines = [header]
        for group in self.comparing.outcome_groups:
            lines += self._row(group, widths, room, width)
        return lines

    def _row(self, group: ResultGroup, widths: list[int], room: int, width: int) -> list[Line]:
        style = self.look.bold if group is self.comparing.outcome_groups[0] else PLAIN
        labels = [
            self.signs.truncate(label, room - 1) for label in _wrap_labels(group.labels, room - 2)
        ]
        reasons = self._reasons(group, width - room - sum(widths) - REASON_GAP)
        answers: Line = []
        for answer, column in zip(self.answers.make_cells(group), widths, strict=True):
            text = self._text(answer)
            answers += [(" " * (column - cell_len(text)), PLAIN), (text, self._value_style(answer))]
        parts = [
            Block(tuple([(label, style)] for label in labels), room),
            Block((answers,), sum(widths) + REASON_GAP),
            make_block([[(reason, self.look.dim)] for reason in reasons]),
        ]
        return join_blocks(parts, 0)

    def _value_style(self, answer: ResultCell) -> Style:
        look = self.look
        styles = {"error": look.alarm, "none": look.dim, "differs": look.shared}
        return styles.get(answer.kind, PLAIN)

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
        if ruler is not None:
            return self._render_behaviours(ruler, width)
        lines: list[Line] = []
        for group in self.comparing.outcome_groups:
            lines += [
                [],
                *self._render_name(group, name_behaviour(group), width),
                *self._cells(group, width),
            ]
            reasons = self._reasons(group, width - 2)
            lines += [[("  " + text, self.look.dim)] for text in reasons]
        return lines[1:]

    def _render_behaviours(self, ruler: NumberLineRenderer, width: int) -> list[Line]:
        """The coordinates of a number line, and below them what each behaviour does."""
        lines = ruler.render_head()
        for behaviour in ruler.line.behaviours:
            lines += self._render_behaviour(ruler, behaviour, width)
        return lines

    def _render_behaviour(
        self, ruler: NumberLineRenderer, behaviour: Behaviour, width: int
    ) -> Iterator[Line]:
        """One behaviour of a number line: name, rule sets, answer, and the ways of its numbers."""
        yield []
        yield from self._render_name(behaviour.group, behaviour.name, width)
        if self.answers.columns:
            yield from self._cells(behaviour.group, width)
        elif behaviour.group.first.output is not None:
            for text in self._describe_differences(behaviour.group):
                yield from wrap_paragraph(text, width, head=INDENT)
        yield from self._render_ways(ruler, behaviour, width)

    def _render_name(self, group: ResultGroup, name: str, width: int) -> list[Line]:
        name = self.signs.sanitize(name)
        labels = _wrap_labels(group.labels, width - 2)
        if not name:
            return [[(("  " if number else "") + text, self.look.bold)] for number, text in
                    enumerate(labels)]  # fmt: skip
        return [[(name, self.look.bold)], *([("  " + text, self.look.dim)] for text in labels)]

    def _cells(self, group: ResultGroup, width: int) -> list[Line]:
        """The answers one after the other, each behind its letter or place."""
        lines: list[Line] = [[("  ", PLAIN)]]
        heads = self._column_heads()
        for number, answer in enumerate(self.answers.make_cells(group)):
            style = self.look.value_style(number) if self.answers.is_per_entry else self.look.dim
            piece: Line = [(heads[number], style), (" ", PLAIN)]
            piece += [(self._text(answer), self._value_style(answer)), ("   ", PLAIN)]
            if line_width(lines[-1]) + line_width(piece) - 3 > width and len(lines[-1]) > 1:
                lines.append([("  ", PLAIN)])
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

    def _differences(self, width: int, ruler: NumberLineRenderer | None) -> list[Line]:
        lines: list[Line] = []
        drawn = self.answers.first_result
        if drawn is not None and drawn.trace is not None:
            lines += [[(f"{drawn.label}: what the others are compared with", self.look.bold)]]
            if self._is_picture_shown(drawn.trace):
                own = make_picture(drawn.trace, self.options, title=False)
                lines += [[], *(list(line) for line in own.render_lines(width))]
        if ruler is not None:
            return [*lines, [], *self._render_behaviours(ruler, width)]
        for group in self.comparing.outcome_groups:
            lines += [
                [],
                *wrap_paragraph(", ".join(group.labels), width, self.look.bold, indent="  "),
            ]
            for text in self._describe_differences(group):
                lines += wrap_paragraph(text, width, head=INDENT)
        return lines

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

    def _reasons(self, group: ResultGroup, width: int) -> list[str]:
        """The last column: why it refuses, or what became of unusual entries."""
        trace = group.first.trace
        if group.first.output is None:
            refusal = self.signs.sanitize(describe_lettered_refusal(group))
            return wrap(refusal, width, break_on_hyphens=False)
        return [] if trace is None else _wrap_labels(self._format_unusual(trace), width, "  ")

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
