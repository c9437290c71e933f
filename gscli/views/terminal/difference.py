"""Where an answer differs from the expected one: sentences, and a table of the first cells."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.lab.difference import TensorDifference
from gscli.views.lines import Drawing, align_right, join_blocks, make_block, wrap_paragraph
from gscli.views.look import PLAIN, Line, ViewOptions, cell_len, choose_signs, pad_right

SHOWN = 8
"""Differing cells in the table; `--limit` asks for others."""

WIDEST = 40
"""Characters of a value."""

HEADS = ("cell", "is", "expected")


def describe_cells(
    found: TensorDifference, options: ViewOptions, letters: Sequence[str] = ()
) -> list[str]:
    """A sentence for each differing cell that is listed.

    >>> from gscli.lab.difference import compare_tensors
    >>> import numpy as np
    >>> describe_cells(compare_tensors(np.array([1, 2]), np.array([1, 3])), ViewOptions(), ["b"])
    ['cell [1] is 2, expected 3; reached by entry b.']
    """
    signs, lines = choose_signs(options), list[str]()
    shown = found.cells[: options.limit or SHOWN]
    for cell, letter in zip(shown, [*letters, *[""] * len(shown)], strict=False):
        at = ",".join(map(str, cell.at))
        values = [signs.sanitize(str(value), WIDEST) for value in (cell.actual, cell.expected)]
        names = letter.split()
        word = "entry" if len(names) == 1 else "entries"
        reached = f"; reached by {word} {', '.join(names)}" if names else ""
        lines.append(f"cell [{at}] is {values[0]}, expected {values[1]}{reached}.")
    return lines


class DifferenceView(Drawing):
    """`told` are the sentences, the first of them the verdict; `letters` name entries by cell.

    `listed`: the first differing cells stand in a table.
    """

    def __init__(
        self,
        found: TensorDifference,
        told: Sequence[str],
        options: ViewOptions,
        letters: Sequence[str] = (),
        *,
        listed: bool = True,
    ) -> None:
        super().__init__(options)
        self.found, self.told, self.letters = found, told, letters
        self.listed = listed

    def draw(self, width: int) -> list[Line]:
        """The verdict, the first differing cells, then the rest of what is told."""
        verdict, *others = self.told
        style = self.look.bold if self.found.is_equal else self.look.alarm
        lines = wrap_paragraph(verdict, width, style)
        if self.found.cells and self.listed:
            lines += [[], *self._table(), []]
        for text in others:
            lines += wrap_paragraph(text, width, indent="    ")
        return lines

    def _table(self) -> list[Line]:
        shown, look = self.found.cells[: self.options.limit or SHOWN], self.look
        texts = [
            [f"[{','.join(map(str, cell.at))}]" for cell in shown],
            [self._value(cell.actual) for cell in shown],
            [self._value(cell.expected) for cell in shown],
        ]
        columns = [
            align_right([(head, look.dim), *((text, PLAIN) for text in own)])
            for head, own in zip(HEADS, texts, strict=True)
        ]
        letters = [*self.letters, *[""] * len(shown)][: len(shown)]
        wide = max(map(cell_len, letters), default=0)
        chips = make_block(
            [[], *([(f" {pad_right(letter, wide)}", look.bold)] for letter in letters)]
        )
        lines = join_blocks([chips, make_block(join_blocks(columns, 2))], 1)
        if self.found.differing_count > len(shown):
            lines.append([(f" {self.signs.down}", look.dim)])
        return lines

    def _value(self, value: object) -> str:
        """All digits, for the last ones may be what differs."""
        return self.signs.sanitize(str(value), WIDEST)
