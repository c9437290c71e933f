"""Tensors and tables by themselves: one tensor, where two differ, the rules of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.base.words import format_count, format_shape
from gscli.lab.causes import EntryNames
from gscli.lab.difference import TensorDifference
from gscli.views.cell_rows import MOST_LETTERS
from gscli.views.choices import check_size, check_slice, take_slice
from gscli.views.group import render_tensors
from gscli.views.lines import (
    Block,
    Drawing,
    align_right,
    flow_blocks,
    join_blocks,
    make_block,
    wrap_paragraph,
)
from gscli.views.look import (
    PLAIN,
    Line,
    Style,
    StyleSheet,
    ViewOptions,
    cell_len,
    choose_signs,
    make_style_sheet,
    pad_right,
)
from gscli.views.subject import TensorView
from gscli.views.texts import NumberFormat, choose_number_format
from gscli.views.words.facts import TOLD_CELLS
from gscli.views.words.vocabularies import describe_tensor


def make_tensor_drawing(name: str, array: Array, options: ViewOptions) -> Drawing:
    """Name, dtype, shape and the cells that fit; UsageError for a slice of another rank.

    >>> import numpy as np
    >>> print(make_tensor_drawing("w", np.array([[1, 2], [3, 4]]), ViewOptions(color="none")))
    w  int64 [2×2]
        0  1
    0 │ 1  2
    1 │ 3  4
    """
    check_size(options, 0, [array.size])
    if options.slice is not None:
        check_slice(options.slice, {name: array.shape})
    subject = TensorView(name, array)

    def draw(width: int) -> list[Line]:
        return flow_blocks(render_tensors([subject], options, width, fill=True).blocks, width)

    return Drawing(options, draw)


def format_tensor_text(name: str, array: Array, options: ViewOptions) -> str:
    """The tensor in sentences of ASCII, values row by row: for screen readers and grep.

    >>> import numpy as np
    >>> print(format_tensor_text("w", np.array([[1, 2], [3, 4]]), ViewOptions()), end="")
    w is int64 with shape [2,2].
    w[0,:] is 1, 2.
    w[1,:] is 3, 4.
    """
    if options.slice is not None:
        array, _ = take_slice(array, options.slice)
        name = f"{name}[{options.slice}]"
    plain = options._replace(utf8=False)
    numbers = choose_number_format([array] if array.size <= TOLD_CELLS else [], plain)
    return numbers.signs.format_lines(describe_tensor(numbers.signs.sanitize(name), array, numbers))


# Differing cells in the table; `--limit` asks for others.
SHOWN = 8

HEADS = ("cell", "is", "expected")


class DifferenceTable(Record):
    """The first cells in which two tensors differ; `find_entries` names those that reach one."""

    differences: TensorDifference
    options: ViewOptions
    find_entries: Callable[[Sequence[int]], EntryNames] | None = None

    def _list_cells(self) -> Iterator[tuple[str, str, str, EntryNames]]:
        """Place, both values and entries of each differing cell that is listed."""
        numbers, limit = NumberFormat(signs=choose_signs(self.options)), self.options.limit
        for cell in self.differences.cells[: SHOWN if limit is None else limit]:
            entries = self.find_entries([cell.number]) if self.find_entries else EntryNames()
            actual, expected = map(numbers.format_exact, (cell.actual, cell.expected))
            yield format_shape(cell.at), actual, expected, entries

    def describe(self) -> Iterator[str]:
        """A sentence for each differing cell that is listed.

        >>> from gscli.lab.difference import compare_tensors
        >>> import numpy as np
        >>> differences = compare_tensors(np.array([1, 2]), np.array([1, 3]))
        >>> table = DifferenceTable(differences, ViewOptions(), lambda _: EntryNames(("b",), 1))
        >>> list(table.describe())
        ['cell [1] is 2, expected 3, reached by entry b.']
        """
        cells = [*self._list_cells()]
        for at, actual, expected, entries in cells:
            yield f"cell {at} is {actual}, expected {expected}{entries.reach}."
        if more := self.differences.differing_count - len(cells):
            yield f"{format_count(more, 'more cell')}: --limit N."

    def make_drawing(self, sentences: Sequence[str], *, listed: bool = True) -> Drawing:
        """The verdict, the cells in a table if `listed`, then what else is said.

        `sentences`: the first of them the verdict.
        """
        look, (verdict, *others) = make_style_sheet(self.options), sentences
        style = look.bold if self.differences.is_equal else look.alarm

        def draw(width: int) -> list[Line]:
            lines = wrap_paragraph(verdict, width, style)
            if listed and self.differences.cells and self.options.limit != 0:
                lines += [[], *self._render(look), []]
            for text in others:
                lines += wrap_paragraph(text, width, indent="    ")
            return lines

        return Drawing(self.options, draw)

    def _render(self, look: StyleSheet) -> list[Line]:
        *columns, entries = zip(*self._list_cells(), strict=True)
        names = [f"{own.names[0]}+{own.total - 1:,}" if own.total > MOST_LETTERS
                 else " ".join(own.names) for own in entries]  # fmt: skip
        wide = max(map(cell_len, names))
        blocks = [
            align_right([(head, look.dim), *((text, PLAIN) for text in column)])
            for head, column in zip(HEADS, columns, strict=True)
        ]
        chips: list[Line] = [[(f" {pad_right(name, wide)}", look.bold)] for name in names]
        lines = join_blocks([make_block([[], *chips]), make_block(join_blocks(blocks, 2))], 1)
        if self.differences.differing_count > len(names):
            lines.append([(f" {look.signs.down}", look.dim)])
        return lines


GAP = 2
WIDEST_LABEL = 44


def make_rules_drawing(
    heads: Sequence[str], rules: Sequence[Sequence[str]], options: ViewOptions
) -> Drawing:
    """A heading and a row per rule, its label first; paragraphs where a table is too wide."""
    dash = "–" if options.utf8 else "-"
    rows = [[label, *(text.replace("–", dash) for text in texts)] for label, *texts in rules]
    columns = zip(heads, *rows, strict=True)
    first, *widths = (max(map(cell_len, column)) + GAP for column in columns)
    widths = [min(first, WIDEST_LABEL), *widths]
    bold = make_style_sheet(options).bold

    def draw(width: int) -> list[Line]:
        if sum(widths) - GAP > width:
            return [line for row in rows for line in _render_rule(heads, row, width, bold)]
        styles = [bold, *[PLAIN] * len(rows)]
        return [line for row, style in zip([heads, *rows], styles, strict=True)
                for line in _render_rule_row(row, widths, style)]  # fmt: skip

    return Drawing(options, draw)


def _render_rule_row(row: Sequence[str], widths: Sequence[int], style: Style) -> list[Line]:
    labels = wrap(row[0], widths[0] - GAP, subsequent_indent="  ") or [""]
    texts = [labels, *([text] for text in row[1:])]
    return join_blocks([Block(tuple([(text, style)] for text in lines), width)
                        for lines, width in zip(texts, widths, strict=True)], 0)  # fmt: skip


def _render_rule(
    heads: Sequence[str], row: Sequence[str], width: int, bold: Style
) -> Iterator[Line]:
    label, *texts = row
    yield from wrap_paragraph(label, width, bold)
    joined = "; ".join(f"{head}: {text}" for head, text in zip(heads[1:], texts, strict=True))
    yield from wrap_paragraph(joined, width, head=[("  ", PLAIN)])
