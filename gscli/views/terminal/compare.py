"""Answers side by side: a row per rule set, a column per entry, or a list of differing cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from textwrap import wrap

from gscli.base.records import cached_property
from gscli.base.words import format_count
from gscli.lab.answers import ComparisonResult, ResultGroup
from gscli.traces import entry_label
from gscli.views.lines import Block, Drawing, flow_blocks, join_blocks, line_width, make_block
from gscli.views.look import PLAIN, Line, TextRun, ViewOptions, cell_len, pad_right
from gscli.views.number_line import Behaviour, make_number_line, name_behaviour
from gscli.views.picture import Picture
from gscli.views.terminal.ruler import NumberLineRenderer
from gscli.views.words.comparison import SHORT_TENSOR, ComparisonTexts, ResultCell, format_reason

# Part of the width that labels may take before they wrap.
LABEL_SHARE = 0.3

NARROWEST_LINE = 80
NARROWEST_LABEL, WIDE_LABEL = 22, 30
NARROWEST_REASON = 14
GAP = 3

# Between a value and what led to it.
BETWEEN = "  "

INDENT: Line = [("  ", PLAIN)]


class ComparisonView(Drawing):
    """A table of entries or cells, or a number line; of slices the reference and what differs."""

    def __init__(self, comparing: ComparisonResult, options: ViewOptions) -> None:
        super().__init__(options)
        self.comparing = comparing
        self.answers = ComparisonTexts(comparing, options)

    def _draw_lines(self, width: int) -> list[Line]:
        """Heading, rows, summary."""
        answers, ruler = self.answers, self._number_line(width)
        is_table = bool(answers.columns) and not (self.options.lines and ruler)
        body = self._table(width) if is_table else []
        hint = "  as number lines: --lines" * bool(ruler and body)
        if self.options.lines and not ruler:
            hint = "  --lines draws one short axis where rule sets part, in 80 columns or more"
        base, ruler = self._render_base(width), None if is_table else ruler
        lines = [*self._heading(width), [], *base, *[[]] * bool(base)]
        lines += [*(body or self._render_groups(width, ruler)), []]
        for text in answers.list_footnotes():
            lines += self.wrap(text, width, self.look.dim, indent="  ")
        lines += self.wrap(answers.summary(), width, self.look.bold, indent="  ")
        if hint and self.options.hints:
            lines += self.wrap(hint, width, self.look.dim, indent="  ")
        return lines

    def _heading(self, width: int) -> list[Line]:
        title, call = f"compare {self.comparing.concept}", self.answers.call
        lines: list[Line] = [[(title, self.look.bold), ("   " + call, self.look.dim)]]
        for name, kind, values in self.answers.inputs():
            head = f"{name}  {kind}  "
            room = width - cell_len(head)
            lines.append([(head, self.look.dim), (self.signs.truncate(values, room), PLAIN)])
        return lines

    # --- one column per entry -------------------------------------------------------------

    @cached_property
    def _heads(self) -> Line:
        return [
            (text, self.look.dim) if entry is None
            else (f" {entry_label(entry)} ", self.look.value_style(entry))
            for entry, text in self.answers.heads
        ]  # fmt: skip

    def _value(self, cell: ResultCell, entry: int | None) -> TextRun:
        """The value of a cell, in the colour of its entry if it is that of one."""
        look, differs = self.look, cell.kind == "differs"
        style = look.shared if differs else PLAIN
        if cell.kind in ("error", "none"):
            style = look.alarm if cell.kind == "error" else look.dim
        elif entry is not None:
            style = look.value_style(entry)
        return f"{self.signs.differs} " * differs + cell.text, style

    def _column(self, number: int, *, below: bool) -> list[Block]:
        """A head, and for each group the value and what led to it, beside or below the value."""
        entry, index = self.answers.heads[number]
        cells = [row[number] for row in self.answers.rows]
        longest = 0 if below else max(cell_len(cell.landing) for cell in cells)
        between = BETWEEN * bool(longest)
        index = f" {index}" * (entry is not None) + between + " " * longest
        stacks: list[list[Line]] = [[[self._heads[number], (index, PLAIN)]]]
        for cell in cells:
            value, landing = self._value(cell, entry), (cell.landing, self.look.dim)
            beside = (between + pad_right(cell.landing, longest), self.look.dim)
            stacks.append([[value], [landing]] if below else [[value, beside]])
        wide = max(line_width(line) for stack in stacks for line in stack)
        return [
            Block(tuple([(" " * (wide - line_width(line)), PLAIN), *line] for line in stack),
                  wide + GAP)
            for stack in stacks
        ]  # fmt: skip

    def _choose_columns(self, widths: Sequence[int], room: int) -> list[int]:
        """The columns that fit, those first in which answers differ; none if not all of those."""
        order = list(self.answers.order)
        if sum(widths) <= room:
            return sorted(order)
        while order and sum(widths[number] for number in order) > room:
            if not self.answers.is_alike(order.pop()):
                return []
        return order

    def _table(self, width: int) -> list[Line]:
        """The shorter table, what led to a value beside or below it; nothing where neither fits."""
        tables = [self._draw_table(width, below=below) for below in (False, True)]
        return min(filter(None, tables), key=len, default=[])

    def _draw_table(self, width: int, *, below: bool) -> list[Line]:
        """A row per group; nothing where what differs, or beside values any column, has no room."""
        groups = self.answers.groups
        has_reasons = any(self._reasons(group, width) for group in groups)
        reason_room = (GAP + NARROWEST_REASON) * has_reasons
        names = [label for group in groups for label in group.labels]
        longest = max(map(cell_len, names))
        # A word is not broken, behind an indent and before a comma.
        narrowest = max(NARROWEST_LABEL, max(map(cell_len, " ".join(names).split())) + GAP)
        columns = [self._column(number, below=below) for number in range(self.answers.columns)]
        widths = [column[0].width for column in columns]
        labels = narrowest if below else max(min(longest, WIDE_LABEL), narrowest)
        chosen = self._choose_columns(widths, width - labels - reason_room)
        if not chosen or (len(chosen) < len(widths) and not below):
            return []
        used = sum(widths[number] for number in chosen)
        room = min(max(longest + 2, int(width * LABEL_SHARE)), width - used - reason_room)
        table = join_blocks([Block(([],), room), *(columns[number][0] for number in chosen)], 0)
        gap = Block(([],), GAP)
        for row, group in enumerate(groups, 1):
            first, *others = (self.signs.truncate(text, room)
                              for text in _wrap_labels(group.labels, room))  # fmt: skip
            texts: list[Line] = [[(first, self.look.bold)], *([(text, PLAIN)] for text in others)]
            values = [columns[number][row] for number in chosen]
            reasons = make_block(self._reasons(group, width - room - used - GAP))
            table += join_blocks([Block(tuple(texts), room), *values, gap, reasons], 0)
        if more := len(columns) - len(chosen):
            text = f"{self.signs.across} {format_count(more, 'more column')}, all alike"
            table += [[], [(text, self.look.dim)]]
        return table

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
        columns = self.answers.columns
        lines: list[Line] = [*ruler.render_head(), []] if ruler else []
        for number, group in enumerate(self.answers.groups):
            behaviour = ruler.line.behaviours[number] if ruler else None
            name = behaviour.name if behaviour else name_behaviour(group) if columns else ""
            lines += [*([[]] if number else []), *self._render_name(group, name, width)]
            if columns:
                lines += self._render_answer(group, width, landings=not ruler)
            elif group.first.output is not None or not ruler:
                lines += self._render_differences(group, width)
            if ruler and behaviour:
                lines += self._draw_ways(ruler, behaviour, width)
            elif columns:
                lines += [[*INDENT, *line] for line in self._reasons(group, width - 2)]
        return lines

    def _render_name(self, group: ResultGroup, name: str, width: int) -> list[Line]:
        labels = _wrap_labels(group.labels, width - 2)
        style = self.look.dim if name else self.look.bold
        texts = [self.signs.sanitize(name), *labels] if name else labels
        return [[(texts[0], self.look.bold)], *([*INDENT, (text, style)] for text in texts[1:])]

    def _render_answer(self, group: ResultGroup, width: int, *, landings: bool) -> list[Line]:
        """The answers one after the other behind their letters or places."""
        row = self.answers.make_cells(group)
        blocks: list[Block] = []
        for head, (entry, _), cell in zip(self._heads, self.answers.heads, row, strict=True):
            landing = f" {cell.landing}" * bool(cell.landing and landings)
            line = [head, (" ", PLAIN), self._value(cell, entry), (landing, self.look.dim)]
            blocks.append(make_block([line]))
        return [[*INDENT, *line] for line in flow_blocks(blocks, width - 2, GAP, between=0)]

    def _render_differences(self, group: ResultGroup, width: int) -> list[Line]:
        """The cells that differ from the reference's, or why there are none."""
        if group.first.output is None:
            return self.wrap(format_reason(*self.answers.reasons(group)[0]), width, head=INDENT)
        listed, rest = self.answers.list_differences(group)
        texts = [f"{place}: {mine} {self.signs.differs} {other}" for place, mine, other in listed]
        return [line for text in (*texts, *rest) for line in self.wrap(text, width, head=INDENT)]

    def _draw_ways(self, ruler: NumberLineRenderer, behaviour: Behaviour, width: int) -> list[Line]:
        """The ways of numbers with their words behind them, or below where those do not fit."""
        lines: list[Line] = []
        for way in ruler.render_ways(behaviour):
            *drawn, (text, style) = way
            fits = line_width(way) <= width
            lines += [way] if fits else [drawn, *self.wrap(text, width, style, head=INDENT)]
        if lines or behaviour.group.first.error is None:
            return lines
        text = format_reason(*self.answers.reasons(behaviour.group)[0])
        return self.wrap(text, width, self.look.dim, head=INDENT)

    # --- the reference, and reasons -------------------------------------------------------

    def _render_base(self, width: int) -> list[Line]:
        """What answers are compared with, and its picture where it is asked for, or small."""
        base, options = self.answers.reference, self.options
        if base is None or base.trace is None:
            return []
        is_small = not self.answers.columns and base.trace.output.size <= SHORT_TENSOR
        if not (is_small or options.show or options.rows or options.full):
            return []
        role = "what the others are compared with" if self.answers.has_others else "the only answer"
        title: Line = [(f"{base.label}: {role}", self.look.bold)]
        return [title, [], *Picture(base.trace, options, title=False).render_lines(width)]

    def _reasons(self, group: ResultGroup, width: int) -> list[Line]:
        """The last column: why it refuses, and what the cells do not say of unusual entries."""
        answers, row = self.answers, group.first
        reasons = answers.reasons(group)
        if answers.is_per_entry and (row.output is not None or row.entry is not None):
            refuses = row.output is None
            reasons = [([], answers.describe_refusal(group, problem=False))] if refuses else []
        texts = starmap(format_reason, reasons)
        return [line for text in texts for line in self.wrap(text, width, self.look.dim)]


def _wrap_labels(labels: Sequence[str], width: int) -> list[str]:
    """Labels side by side while they fit, broken between them rather than inside.

    >>> _wrap_labels(["ONNX Gather-13", "NumPy take", "Caffe2 Gather"], 25)
    ['ONNX Gather-13,', 'NumPy take, Caffe2 Gather']
    """
    lines: list[str] = []
    for label in [*(f"{label}," for label in labels[:-1]), labels[-1]]:
        if lines and cell_len(f"{lines[-1]} {label}") <= width:
            lines[-1] += f" {label}"
        else:
            lines += wrap(label, width, break_on_hyphens=False, subsequent_indent="  ")
    return lines
