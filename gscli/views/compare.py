"""Answers side by side: a row per rule set, a column per entry, or a list of differing cells."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import numpy as np
from rich.style import Style

from gscli.compare import Comparing, Group, Row, different
from gscli.tracing import Trace, label_of
from gscli.views.lines import Drawn, Line
from gscli.views.numbers import NumberFormat, number_format
from gscli.views.options import ViewOptions
from gscli.views.palette import PLAIN, Palette, palette_of
from gscli.views.picture import picture
from gscli.views.signs import cells, left, signs_of

LABEL_SHARE = 0.4
"""Part of the width that labels may take before they wrap."""

NARROWEST_LABEL = 22
NARROWEST_REASON = 14
REASON_GAP = 3

MOST_COLUMNS = 24
LISTED_CELLS = 8
LISTED_ENTRIES = 200


def comparison(comparing: Comparing, options: ViewOptions) -> ComparisonView:
    """The comparison as a rich renderable."""
    return ComparisonView(comparing, options)


class ComparisonView(Drawn):
    """A table where every entry has one cell; otherwise the base's picture and the differences."""

    def __init__(self, comparing: Comparing, options: ViewOptions) -> None:
        super().__init__(options)
        self.comparing = comparing
        self.signs = signs_of(options)
        self.palette: Palette = palette_of(options)
        outputs = [g.first.output for g in comparing.groups if g.first.output is not None]
        self.numbers: NumberFormat = number_format(outputs, options.precision)

    def draw(self, width: int) -> list[Line]:
        """Heading, rows, summary."""
        body = self._table(width) if self._has_columns(width) else self._differences(width)
        return [*self._heading(width), [], *body, [], *self._summary(width)]

    def _heading(self, width: int) -> list[Line]:
        comparing, call = self.comparing, self.comparing.call
        shown = {"axis": call.axis, "batch_dims": call.batch_dims, "reduction": call.reduction}
        usual = {"axis": None, "batch_dims": 0, "reduction": "none"}
        told = "  ".join(f"{k}={v}" for k, v in shown.items() if v != usual[k])
        lines: list[Line] = [
            [(f"compare {comparing.concept}", self.palette.bold), ("   " + told, self.palette.dim)]
        ]
        for name, array in comparing.inputs.items():
            shape = self.signs.times.join(map(str, array.shape))
            head = f"{name}  {array.dtype.name} [{shape}]  "
            values = "  ".join(self.numbers.texts(array, self.signs)) if array.size <= 64 else ""  # noqa: PLR2004  a line's worth
            room = width - cells(head)
            lines.append([(head, self.palette.dim), (self.signs.fit(values, room), PLAIN)])
        return lines

    # --- one column per entry -------------------------------------------------------------

    def _has_columns(self, width: int) -> bool:
        count = self._column_count()
        if count is None:
            return False
        needed = NARROWEST_LABEL + sum(self._widths(count)) + REASON_GAP + NARROWEST_REASON
        return needed <= width

    def _column_count(self) -> int | None:
        """Columns when each entry (gather) or output cell (scatter) has one value in every row."""
        groups = self.comparing.groups
        sizes = {g.first.output.size for g in groups if g.first.output is not None}
        ranks = {g.first.output.ndim for g in groups if g.first.output is not None}
        if len(sizes) != 1 or max(ranks) > 1:
            return None
        size = sizes.pop()
        return size if 0 < size <= MOST_COLUMNS else None

    def _texts(self, group: Group, count: int) -> list[str]:
        output = group.first.output
        if output is None:
            marked = group.first.entry if self._gathers else None
            alarm = f"{self.signs.skipped} error"
            return [
                alarm if number == marked else "·" if self.signs.utf8 else "."
                for number in range(count)
            ]
        flags = self.comparing.differs(group)
        texts = self.numbers.texts(output.reshape(-1), self.signs)
        return [
            f"{self._unequal} {text}" if flags is None or flags.reshape(-1)[number] else text
            for number, text in enumerate(texts)
        ]

    @property
    def _unequal(self) -> str:
        return "≠" if self.signs.utf8 else "!="

    @property
    def _gathers(self) -> bool:
        return "updates" not in self.comparing.inputs

    def _widths(self, count: int) -> list[int]:
        rows = [self._texts(group, count) for group in self.comparing.groups]
        heads = self._column_heads(count)
        return [max(cells(heads[i]), *(cells(row[i]) for row in rows)) + 2 for i in range(count)]

    def _column_heads(self, count: int) -> list[str]:
        if self._gathers:
            return [f" {label_of(number)} " for number in range(count)]
        return [f"[{number}]" for number in range(count)]

    def _label_width(self, width: int, columns: int) -> int:
        longest = max(cells(label) for g in self.comparing.groups for label in g.labels)
        room = width - columns - REASON_GAP - NARROWEST_REASON
        return max(min(longest + 2, int(width * LABEL_SHARE), room), NARROWEST_LABEL)

    def _table(self, width: int) -> list[Line]:
        count = self._column_count() or 0
        widths = self._widths(count)
        room = self._label_width(width, sum(widths))
        heads = self._column_heads(count)
        header: Line = [(" " * room, PLAIN)]
        for number, head in enumerate(heads):
            style = self.palette.value(number) if self._gathers else self.palette.dim
            header += [(" " * (widths[number] - cells(head)), PLAIN), (head, style)]
        header.append((" " * REASON_GAP + "what happens", self.palette.dim))
        lines = [header]
        for group in self.comparing.groups:
            lines += self._row(group, count, widths, room, width)
        return lines

    def _row(
        self, group: Group, count: int, widths: list[int], room: int, width: int
    ) -> list[Line]:
        style = self.palette.bold if group is self.comparing.groups[0] else PLAIN
        labels = _filled(group.labels, room - 2)
        used = room + sum(widths)
        reasons = self._reasons(group.first, width - used - REASON_GAP)
        line: Line = [(left(self.signs.fit(labels[0], room - 1), room), style)]
        for number, text in enumerate(self._texts(group, count)):
            shown = self._value_style(group, number, text)
            pad = widths[number] - cells(text)
            line += [(" " * pad, PLAIN), (text, shown)]
        line.append((" " * REASON_GAP + (reasons[0] if reasons else ""), self.palette.dim))
        lines = [line]
        for number in range(1, max(len(labels), len(reasons))):
            label = labels[number] if number < len(labels) else ""
            reason = reasons[number] if number < len(reasons) else ""
            lines.append([
                (left(self.signs.fit(label, room - 1), used + REASON_GAP), style),
                (reason, self.palette.dim),
            ])  # fmt: skip
        return lines

    def _value_style(self, group: Group, number: int, text: str) -> Style:
        if group.first.output is None:
            return self.palette.alarm if "error" in text else self.palette.dim
        flags = self.comparing.differs(group)
        differs = flags is None or bool(flags.reshape(-1)[number])
        return self.palette.several if differs else PLAIN

    # --- differences only -----------------------------------------------------------------

    def _differences(self, width: int) -> list[Line]:
        lines: list[Line] = []
        base = next((g.first for g in self.comparing.groups if g.first.trace is not None), None)
        if base is not None and base.trace is not None:
            lines += [[(base.label, self.palette.bold)], []]
            lines += [list(line) for line in picture(base.trace, self.options).lines(width)]
        for group in self.comparing.groups:
            lines += [[], *self._wrapped(", ".join(group.labels), width, self.palette.bold)]
            for text in self._listed(group, base):
                lines += self._wrapped("  " + text, width, PLAIN)
        return lines

    def _listed(self, group: Group, base: Row | None) -> list[str]:
        output = group.first.output
        if output is None:
            return [self._refusal(group.first)]
        if base is None or base.output is None or group.first is base:
            return ["as drawn above"]
        if output.shape != base.output.shape:
            shape = ",".join(map(str, output.shape))
            return [f"another shape: [{shape}]"]
        places = np.argwhere(different(output, base.output))
        told = [
            f"output[{','.join(map(str, place))}]: {self._number(output[tuple(place)])} "
            f"{self._unequal} {self._number(base.output[tuple(place)])}"
            for place in places[:LISTED_CELLS].tolist()
        ]
        if len(places) > LISTED_CELLS:
            told.append(f"and {len(places) - LISTED_CELLS} more cells")
        return told or ["as drawn above"]

    def _number(self, value: object) -> str:
        return self.numbers.text(value, self.signs)

    # --- reasons and summary --------------------------------------------------------------

    def _reasons(self, row: Row, width: int) -> list[str]:
        """The last column: why it refuses, or what became of unusual entries."""
        if row.trace is None:
            return wrap(self._refusal(row), width, break_on_hyphens=False)
        return _filled(self._unusual(row.trace), width, "  ")

    def _refusal(self, row: Row) -> str:
        error = row.error
        assert error is not None
        where = f"{error.where}: " if error.where else ""
        if row.entry is not None:
            where = f"{label_of(row.entry)}: {error.where.rsplit(' = ', 1)[-1]} "
        legal = f", legal {error.valid}" if error.valid else ""
        return f"{where}{error.problem}{legal}"

    def _unusual(self, trace: Trace) -> list[str]:
        told: list[str] = []
        for entry in trace.entries(LISTED_ENTRIES):
            for one in entry.adjustments:
                meant = "" if one.coordinate is None else f" {one.coordinate}"
                if one.how == "skipped":
                    meant = " filled" if trace.kind == "gather" else " dropped"
                told.append(f"{entry.label}: {one.written} {self.signs.of(one.how)}{meant}")
        return told

    def _summary(self, width: int) -> list[Line]:
        comparing = self.comparing
        if comparing.agree and comparing.base.trace is not None:
            text = f"All {len(comparing.groups[0].rows)} rule sets agree."
            return self._wrapped(text, width, self.palette.bold)
        results = f"{comparing.results} different result" + "s" * (comparing.results != 1)
        refusals = f"{comparing.refusals} refusal" + "s" * (comparing.refusals != 1)
        base = comparing.base.label
        text = f"{results}, {refusals}. {self._unequal} marks a value other than {base}'s."
        return self._wrapped(text, width, self.palette.bold)

    def _wrapped(self, text: str, width: int, style: Style) -> list[Line]:
        lines = wrap(text, width, break_on_hyphens=False, subsequent_indent="  ")
        return [[(line, style)] for line in lines]


def _filled(labels: Sequence[str], width: int, separator: str = ", ") -> list[str]:
    """Labels side by side while they fit, broken between them rather than inside.

    >>> _filled(["ONNX Gather-13", "NumPy take", "Caffe2 Gather"], 25)
    ['ONNX Gather-13,', 'NumPy take, Caffe2 Gather']
    """
    lines: list[str] = []
    for label in labels:
        if lines and cells(lines[-1]) + cells(separator + label) <= width:
            lines[-1] += separator + label
            continue
        if lines:
            lines[-1] += separator.rstrip()
        lines += wrap(label, width, break_on_hyphens=False, subsequent_indent="  ")
    return lines
