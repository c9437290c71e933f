"""Tensors and tables by themselves: one tensor, where two differ, the rules of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from gscli.base.arrays import Array
from gscli.views.choices import check_size, check_slice, parse_slice
from gscli.views.group import render_tensors
from gscli.views.lines import (
    Block,
    Drawing,
    FunctionDrawing,
    align_right,
    flow_blocks,
    join_blocks,
    make_block,
    wrap_paragraph,
)
from gscli.views.look import PLAIN, Line, ViewOptions, cell_len, choose_signs, pad_right
from gscli.views.subject import TensorView
from gscli.views.texts import choose_number_format
from gscli.views.words.vocabularies import TOLD_CELLS, describe_tensor

if TYPE_CHECKING:
    from gscli.lab.difference import TensorDifference
    from gscli.lab.rules import Rule


def make_tensor_drawing(name: str, array: Array, options: ViewOptions) -> FunctionDrawing:
    """Name, dtype, shape and the cells that fit; UsageError for a slice of another rank.

    >>> import numpy as np
    >>> from gscli.views.lines import render_text
    >>> options = ViewOptions(color="none")
    >>> print(
    ...     render_text(make_tensor_drawing("w", np.array([[1, 2], [3, 4]]), options), options),
    ...     end="",
    ... )
    w  int64 [2×2]
        0  1
    0 │ 1  2
    1 │ 3  4
    """
    check_size(options, 0, [array.size])
    if options.slice is not None:
        check_slice(options.slice, [array.shape])
    subject = TensorView(name, array)
    return FunctionDrawing(
        lambda width: flow_blocks(
            render_tensors([subject], options, width, fill=True).blocks, width
        ),
        options,
    )


def format_tensor_text(name: str, array: Array, options: ViewOptions) -> str:
    """The tensor in sentences of ASCII, values row by row: for screen readers and grep.

    >>> import numpy as np
    >>> print(format_tensor_text("w", np.array([[1, 2], [3, 4]]), ViewOptions()), end="")
    w is int64 with shape [2,2].
    w[0,:] is 1, 2.
    w[1,:] is 3, 4.
    """
    if options.slice is not None:
        check_slice(options.slice, [array.shape])
        part = parse_slice(options.slice, array.shape)
        array = array[np.ix_(*part)] if part else array
        name = f"{name}[{options.slice}]"
    plain = options._replace(utf8=False)
    numbers = choose_number_format([array] if array.size <= TOLD_CELLS else [], plain)
    lines = describe_tensor(numbers.signs.sanitize(name), array, numbers)
    return "".join(numbers.signs.sanitize_line(line) + "\n" for line in lines)


SHOWN = 8
"""Differing cells in the table; `--limit` asks for others."""

WIDEST = 40
"""Characters of a value."""

HEADS = ("cell", "is", "expected")


def _list_cells(
    differences: TensorDifference, options: ViewOptions, letters: Sequence[str]
) -> Iterator[tuple[str, str, str, str]]:
    """Place, both values and entries of each differing cell that is listed."""
    signs, shown = choose_signs(options), differences.cells[: options.limit or SHOWN]
    for cell, letter in zip(shown, chain(letters, repeat("")), strict=False):
        at = f"[{','.join(map(str, cell.at))}]"
        actual, expected = (signs.sanitize(str(value), WIDEST)
                            for value in (cell.actual, cell.expected))  # fmt: skip
        yield at, actual, expected, letter


def describe_cells(
    differences: TensorDifference, options: ViewOptions, letters: Sequence[str] = ()
) -> list[str]:
    """A sentence for each differing cell that is listed.

    >>> from gscli.lab.difference import compare_tensors
    >>> import numpy as np
    >>> describe_cells(compare_tensors(np.array([1, 2]), np.array([1, 3])), ViewOptions(), ["b"])
    ['cell [1] is 2, expected 3; reached by entry b.']
    """
    lines: list[str] = []
    for at, actual, expected, letter in _list_cells(differences, options, letters):
        names = letter.split()
        word = "entry" if len(names) == 1 else "entries"
        reached = f"; reached by {word} {', '.join(names)}" if names else ""
        lines.append(f"cell {at} is {actual}, expected {expected}{reached}.")
    return lines


class DifferenceView(Drawing):
    """`sentences`: the first of them the verdict; `letters` name entries by cell.

    `listed`: the first differing cells stand in a table.
    """

    def __init__(
        self,
        differences: TensorDifference,
        sentences: Sequence[str],
        options: ViewOptions,
        letters: Sequence[str] = (),
        *,
        listed: bool = True,
    ) -> None:
        super().__init__(options)
        self.differences, self.sentences, self.letters = differences, sentences, letters
        self.listed = listed

    def draw(self, width: int) -> list[Line]:
        """The verdict, the first differing cells, then the rest of what is said."""
        verdict, *others = self.sentences
        style = self.look.bold if self.differences.is_equal else self.look.alarm
        lines = wrap_paragraph(verdict, width, style)
        if self.differences.cells and self.listed:
            lines += [[], *self._table(), []]
        for text in others:
            lines += wrap_paragraph(text, width, indent="    ")
        return lines

    def _table(self) -> list[Line]:
        look, rows = self.look, list(_list_cells(self.differences, self.options, self.letters))
        *columns, letters = zip(*rows, strict=True)
        wide = max(map(cell_len, letters))
        blocks = [
            align_right([(head, look.dim), *((text, PLAIN) for text in column)])
            for head, column in zip(HEADS, columns, strict=True)
        ]
        chips: list[Line] = [[(f" {pad_right(letter, wide)}", look.bold)] for letter in letters]
        lines = join_blocks([make_block([[], *chips]), make_block(join_blocks(blocks, 2))], 1)
        if self.differences.differing_count > len(rows):
            lines.append([(f" {self.signs.down}", look.dim)])
        return lines


GAP = 2
WIDEST_LABEL = 44


class RulesView(Drawing):
    """Rules as a table."""

    def __init__(self, rules: Sequence[Rule], options: ViewOptions) -> None:
        super().__init__(options)
        self.rules = rules

    def draw(self, width: int) -> list[Line]:
        """A heading and a row per rule."""
        from gscli.lab.rules import COLUMNS

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
            pairs = zip(heads[1:], texts, strict=True)
            joined = "; ".join(f"{head}: {text}" for head, text in pairs)
            lines += wrap_paragraph(joined, width, head=[("  ", PLAIN)])
        return lines
