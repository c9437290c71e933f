"""The picture: a table of entries, beside it the grids that they touch, and what is said below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING

from gscli.base.arrays import Array
from gscli.base.words import MAX_LETTERED_ENTRIES, format_count, format_shape
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.layout.axes import Shape, box_size
from gscli.layout.families import broadcast_shapes
from gscli.traces import Entry, Trace
from gscli.views.group import RenderedGroup, render_tensors
from gscli.views.lines import (
    Block,
    Drawing,
    align_right,
    flow_blocks,
    join_blocks,
    line_width,
    make_block,
    wrap_paragraph,
)
from gscli.views.look import (
    PLAIN,
    Line,
    Role,
    Style,
    StyleSheet,
    ViewOptions,
    cell_len,
    pad_left,
    pad_right,
)
from gscli.views.sheet import is_part_requested
from gscli.views.subject import (
    TensorView,
    add_expected,
    find_factor,
    list_samples,
    make_views,
    take_box,
)
from gscli.views.summary import (
    count_cells,
    describe_purpose,
    describe_slice,
    explain_signs,
    format_counts,
    list_attributes,
    name_axes,
)
from gscli.views.texts import NumberFormat

if TYPE_CHECKING:
    from gscli.lab.expectation import OutputDiagnosis

# Cells between the columns of the table of entries.
BETWEEN = 2


# Entries whose cells are marked, unless the options ask for more.
MAX_MARKED_ENTRIES = MAX_LETTERED_ENTRIES

# Entries that the legend lists, unless the options say otherwise.
MAX_LISTED_ENTRIES = 20
GAP = 4
NARROWEST_GRID = 12


class TraceDrawing(Drawing):
    """A drawing of one run: what its picture, its steps and its explanation have in common."""

    def __init__(self, trace: Trace, options: ViewOptions) -> None:
        super().__init__(options)
        self.trace = trace

    def render_title(self, width: int, *more: Line) -> list[Line]:
        """`scatter-nd   reduction=add` and what else is said, continued below where it is long."""
        dim, attributes = self.look.dim, list_attributes(self.trace)
        shown: list[Line] = [[(self.signs.sanitize(text, width - 3), dim)] for text in attributes]
        lines: list[Line] = [[(self.trace.title, self.look.bold)]]
        for number, part in enumerate([*shown, *more]):
            gap = "  " if 0 < number < len(shown) else "   "
            if line_width([*lines[-1], (gap, dim), *part]) > width:
                lines.append([])
                gap = "  "
            lines[-1] += [(gap, dim), *part]
        return lines

    def render_with_table(
        self, listed_entries: Sequence[Entry], views: Sequence[TensorView], width: int,
        highlighted: Sequence[Entry] | None = None,
    ) -> tuple[list[Line], RenderedGroup]:  # fmt: skip
        """The table of entries and the grids, beside it where fewer lines then show as much.

        With `show` the sheets alone.
        """
        options, extras = self.options, list_samples(self.trace, listed_entries, MOST_VALUES)
        group = render_tensors(views, options, width, extras)
        if options.show is not None:
            return flow_blocks(group.blocks, width, GAP), group
        lane = self.look.with_role(PLAIN, "lane")
        entries = EntryTable(self.trace, listed_entries, group.numbers, self.look, highlighted)
        table = entries.draw(width)
        below = flow_blocks([table, *group.blocks], width, GAP, lane=lane)
        room = width - table.width - GAP
        if room < NARROWEST_GRID:
            return below, group
        fits = all(block.width <= room for block in group.blocks)
        slim = group if fits else render_tensors(views, options, room, extras)
        beside = flow_blocks([table, *slim.blocks], width, GAP, lane=lane)
        fewer = len(beside) < len(below) and slim.columns == group.columns
        return (beside, slim) if fewer else (below, group)

    def render_legend(
        self, remark: str, entries: Sequence[Entry], drawing: Sequence[Line], width: int
    ) -> list[Line]:
        """What is told below a drawing, and what its signs mean: one line where both fit in it.

        `entries`: those whose numbers may have a sign there.
        """
        text = "\n".join("".join(part for part, _ in line) for line in drawing)
        parts = [remark, explain_signs(text, self.signs)]
        if entries:
            from gscli.views.words.below import explain_outcome_signs

            parts.insert(1, explain_outcome_signs(self.trace, entries, self.signs, text))
        joined = "   ".join(filter(None, parts))
        parts = [joined] if cell_len(joined) <= width else parts
        dim = self.look.dim
        return [line for part in filter(None, parts) for line in wrap_paragraph(part, width, dim)]


class Picture(TraceDrawing):
    """All tensors of a trace and a line per entry; UsageError for a wrong `show` or `slice`.

    Cells of the output that differ from a `diagnosis` are drawn with both values.

    >>> from gscli.traces import trace
    >>> run = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> print(Picture(run, ViewOptions(color="none")))
    gather
    Each number of indices names a cell of data; its value is copied to output.
    <BLANKLINE>
         indices [1]    data  int64 [3]     output  int64 [1]
          cell             0     1     2       0
     a     -1↺            10    20  a:30    a:30
    <BLANKLINE>
     a   -1↺ counts from the end: cell 2
    1 of 3 cells read
    """

    def __init__(
        self, trace: Trace, options: ViewOptions, *, title: bool = True,
        diagnosis: OutputDiagnosis | None = None,
    ) -> None:  # fmt: skip
        super().__init__(trace, options)
        if is_part_requested(options) or options.show is not None or options.limit is not None:
            from gscli.views.choices import check_view_options

            check_view_options(trace, options)
        self.title, self.diagnosis = title, diagnosis

        # Differing cells that the last drawing shows.
        self.shown_differences = 0

    @cached_property
    def marked_entries(self) -> list[Entry]:
        """The entries whose cells are marked: the first, or those that lead to one refused."""
        limit = self.options.limit
        if self.options.full and limit is None:
            return self.trace.entries()
        count, last = limit or MAX_LISTED_ENTRIES, self.trace.first_refused + 1
        if last > count:
            return self.trace.entries(last, last - count)
        return self.trace.entries(max(MAX_MARKED_ENTRIES, count))

    @cached_property
    def listed_entries(self) -> list[Entry]:
        """The entries that the legend lists."""
        limit, most = self.options.limit, None if self.options.full else MAX_LISTED_ENTRIES
        return self.marked_entries[: most if limit is None else limit]

    def _draw_lines(self, width: int) -> list[Line]:
        """Title, what happens in a sentence, the entries and the grid that they touch.

        With `show` a sheet per tensor and a legend. Then what is not shown.
        """
        options, trace, look = self.options, self.trace, self.look
        lines = self.render_title(width) if self.title else []
        views = make_views(trace, self.marked_entries, options.show)
        views = add_expected(views, self.diagnosis)
        drawing, group = self.render_with_table(self.listed_entries, views, width)
        self.shown_differences = group.wrong
        if options.show is None:
            lines += self.wrap(describe_purpose(trace), width)
            text = self._render_remarks(group.numbers, width)
            text += self.render_legend(self._format_counts(), [], drawing, width)
        else:
            from gscli.views.terminal.legend import render_entries
            from gscli.views.words.facts import Describer

            text = render_entries(Describer(trace, group.numbers), self.listed_entries, width, look)
            text += self.render_legend("", self.marked_entries, drawing, width)
        lines += [*([[]] if lines else []), *drawing, *([[], *text] if text else [])]
        return lines + self._render_hidden(group, width)

    def _render_remarks(self, numbers: NumberFormat, width: int) -> list[Line]:
        """What is said of numbers that mean others, and of cells that several entries write."""
        targets = [entry.target for entry in self.marked_entries if entry.target is not None]
        alone = self.trace.kind == "gather" or len(set(targets)) == len(targets)
        adjusted = any(entry.adjustments for entry in self.marked_entries)
        if self.trace.words is None and alone and not adjusted:
            return []
        from gscli.views.terminal.legend import render_remarks
        from gscli.views.words.below import make_remarks
        from gscli.views.words.facts import Describer

        make = make_remarks if self.trace.words is None else self.trace.words.make_remarks
        remarks = make(Describer(self.trace, numbers), self.marked_entries)
        return render_remarks(remarks, width, self.look)

    def _format_counts(self) -> str:
        """How many cells were read or changed, where every entry is at hand."""
        is_whole = len(self.marked_entries) == self.trace.entry_count > 0
        if not is_whole or self.trace.words is not None:
            return ""
        return format_counts(self.trace, count_cells(self.trace))

    def _render_hidden(self, group: RenderedGroup, width: int) -> list[Line]:
        """How many entries are marked in each tensor and listed, and the options that show more."""
        listed, total, options = len(self.listed_entries), self.trace.entry_count, self.options
        remedies = set(group.remedies)
        if listed < total:
            remedies |= {"--limit N"} if options.limit is not None else {"--limit N", "--full"}
        if not remedies:
            return []
        counts = [(f"marked in {name}", count) for name, count in group.seen] + [("listed", listed)]
        texts = [f"{count:,} {what}" for what, count in counts if count < total]
        text = ", ".join([format_count(total, "entry", "entries"), *texts])
        if options.hints:
            text += f": {', '.join([*sorted(remedies, reverse=True), 'gscli explain'])}"
        dim = self.look.dim
        return [[], *wrap_paragraph(text, width - 1, dim, head=[(f"{self.signs.across} ", dim)])]


# Updates of one slice that stand in the table; of larger ones it says the shape.
MOST_VALUES = 8


class EntryTable:
    """Rows for `entries`; `lit` are in colour, all by default (a step lights one)."""

    def __init__(
        self, trace: Trace, entries: Sequence[Entry], numbers: NumberFormat, look: StyleSheet,
        lit: Sequence[Entry] | None,
    ) -> None:  # fmt: skip
        self.trace, self.entries = trace, entries
        self.numbers, self.look, self.signs = numbers, look, look.signs
        self.lit = {entry.number for entry in (entries if lit is None else lit)}
        own: Role = "entry" if trace.is_replayed or trace.tensor("updates") is None else "gradient"
        self._role: Role = "" if lit is None else own
        self._is_headed = bool(trace.layout.column_axes)
        self._dots: Line = [(f" {self.signs.down}", look.dim)]
        self._above = [self._dots] if entries and entries[0].number > 0 else []

    def draw(self, width: int) -> Block:
        """The table; where it is too wide, first where the indices stand goes, then updates below.

        Of updates that are too wide by themselves it says the shape.
        """
        own, bare = (self._indices(places=places) for places in (True, False))
        updates = self._updates(MOST_VALUES)
        if self._join_groups(updates).width > width:
            updates = self._updates(1)
        below = [[group] for group in updates]
        choices = [[own, *updates]], [[bare, *updates]], [[own], *below], [[bare], *below]
        tables = [flow_blocks(list(map(self._join_groups, parts)), width) for parts in choices]
        blocks = list(map(make_block, tables))
        return next((block for block in blocks if block.width <= width), blocks[-1])

    def _join_groups(self, groups: Sequence[Block]) -> Block:
        """The letters of entries, and beside them their columns."""
        entries = self.entries
        labels = max((cell_len(entry.label) for entry in entries), default=1)
        end = max((entry.number + 1 for entry in entries), default=0)
        below = [self._dots] if end < self.trace.entry_count else []
        chips = [[(f" {pad_right(entry.label, labels)} ", self._style(entry))] for entry in entries]
        margin: list[Line] = [[(" " * (labels + BETWEEN), PLAIN)], *[[]] * self._is_headed]
        letters = make_block([*margin, *self._above, *chips, *below])
        none: list[Line] = [] if self.trace.entry_count else [[(" no entries", self.look.dim)]]
        return make_block([*join_blocks([letters, *groups], BETWEEN), *none])

    def _group(self, title: str, shapes: Sequence[Shape], columns: Sequence[Block]) -> Block:
        """Neighbouring columns under one title, and the shape of their tensors together."""
        sizes = self.signs.times.join(map(str, broadcast_shapes(shapes)))
        head: Line = [(title, self.look.bold), (f" [{sizes}]" if shapes else " ", self.look.dim)]
        return make_block([head, *join_blocks(columns, 0)])

    def _column(self, texts: Sequence[str], head: str = "", *, chips: bool = True) -> Block:
        """A text per entry; `chips`: they bear the colour of their entry."""
        heads = [(f" {head} ", self.look.dim)] * self._is_headed + [("", PLAIN)] * len(self._above)
        styles = [self._style(each) if chips else self.look.dim for each in self.entries]
        return align_right([*heads, *zip((f" {text} " for text in texts), styles, strict=True)])

    def _style(self, entry: Entry) -> Style:
        if entry.number not in self.lit:
            return self.look.dim
        skipped = not entry.live and self.trace.layout.window_size > 0
        return self.look.with_role(self.look.value_style(entry.number, alarm=skipped), self._role)

    def _indices(self, *, places: bool) -> Block:
        layout, names = self.trace.layout, name_axes(self.trace.layout)
        columns, is_nested = list[Block](), len(layout.addressing.entry_shape) > 1
        if places and is_nested:
            texts = [format_shape(entry.at) for entry in self.entries]
            columns.append(self._column(texts, "at", chips=False))
        for name, axis in zip(names, layout.axes, strict=True):
            if axis.column is not None:
                columns.append(self._column(self._format_indices(axis.column), name))
            elif axis.entry is not None and places:
                own = [str(entry.at[axis.entry]) for entry in self.entries]
                columns.append(self._column(own, name, chips=False))
        if is_nested and not places:
            columns.append(self._column([self.signs.across] * len(self.entries), chips=False))
        title = ", ".join(_shorten_names(layout.index_inputs))
        shapes = [self.trace.inputs[name].shape for name in layout.index_inputs]
        return self._group(self.signs.sanitize(title, 60), shapes, columns)

    def _format_indices(self, slot: int) -> list[str]:
        """What stands in one index column, each with the sign of what became of it."""
        signs = [
            {index.slot: self.signs.for_outcome(index.sign) for index in entry.adjustments}
            for entry in self.entries
        ]
        wide = max((cell_len(own.get(slot, "")) for own in signs), default=0)
        pairs = zip(self.entries, signs, strict=True)
        return [f"{entry.vector[slot]}{pad_right(own.get(slot, ''), wide)}" for entry, own in pairs]

    def _updates(self, most: int) -> list[Block]:
        updates, fold = self.trace.tensor("updates"), self.trace.layout.fold
        if updates is not None:
            name, shape = updates.name, updates.shape
            rows = [self._format_update(updates.array, entry, most) for entry in self.entries]
        elif fold is not None and fold.factors is not None:
            name, shape = fold.factors, self.trace.inputs[fold.factors].shape
            rows = [self._format_factor(entry) for entry in self.entries]
        else:
            return []
        columns = [self._column(texts) for texts in zip_longest(*rows, fillvalue="")]
        return [self._group(self.signs.sanitize(name, 40), [shape], columns)]

    def _format_factor(self, entry: Entry) -> list[str]:
        """What the cells of an entry are multiplied by, where any are read."""
        _, number = find_factor(self.trace, entry)
        return [_prefix_sign(self.signs.times, each) for each in self.numbers.format_values(number)]

    def _format_update(self, array: Array, entry: Entry, most: int) -> list[str]:
        """The values that one entry brings, or the shape of its slice where they are more."""
        box = entry.result
        if box is None:
            return [""]
        if sum(stop - start != 1 for start, stop in box) > 1 or box_size(box) > most:
            return [describe_slice(box, self.signs)]
        prefix = REDUCTION_WORDS[self.trace.reduction].sign.replace("×", self.signs.times)
        texts = self.numbers.format_values(take_box(array, box))
        scale = self.trace.layout.updates and self.trace.layout.updates.scale
        factor = "" if scale is None else f"{self.numbers.format_value(scale)}{self.signs.times}"
        if self._role == "gradient" and entry.number > max(self.lit, default=-1):
            return [pad_left(self.signs.point, cell_len(text)) for text in texts]
        return [_prefix_sign(prefix, _prefix_sign(factor, text)) for text in texts]


def _shorten_names(names: Sequence[str]) -> list[str]:
    """Names of which only the number is left where it alone differs from the name before.

    >>> _shorten_names(["indices_0", "indices_1", "nonzero(indices_2)[0]", "nonzero(indices_2)[1]"])
    ['indices_0', '_1', 'nonzero(indices_2)[0]', '[1]']
    """
    stems = [re.sub(r"(_\d+|\[\d+\])$", "", name) for name in names]
    pairs = zip(names, stems, ["", *stems], strict=False)
    return [name.removeprefix(stem if stem == last else "") for name, stem, last in pairs]


def _prefix_sign(prefix: str, text: str) -> str:
    """`+10` and `2×3`, but `-3` where -3 is added and `-(-3)` where it is taken away."""
    if not prefix or not text.startswith("-"):
        return prefix + text
    return text if prefix == "+" else f"{prefix}({text})"
