"""Sheets as HTML tables: captions, header cells, a spoken label and the entries of every cell.

Everything that a reader sees or hears is in the markup, so the page reads without its script.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import groupby, pairwise

import numpy as np

from gscli.base.arrays import dtype_name
from gscli.base.text import counted
from gscli.layout.boxes import box_size
from gscli.traces.trace import label_of
from gscli.views.page.sheets import SIGNS, Cell, Sheet
from gscli.views.page.words import shape_words, spoken_sign
from gscli.views.words.counts import COUNTED_CELLS, cell_numbers

LETTERS = 4
"""Entries that one cell names; of more, the first and the last."""

COLOURS = 7
_MATRIX = 2


def chip_class(number: int, *, live: bool) -> str:
    """The class of an entry's colour.

    >>> chip_class(8, live=True), chip_class(0, live=False)
    ('c1', 'x')
    """
    return f"c{number % COLOURS}" if live else "x"


def sheet_html(sheet: Sheet, skipped: Collection[int], *, quiz: bool = False) -> str:
    """One tensor with its heading, planes and what is left out, `skipped` entries struck through.

    `quiz` asks for the output: nothing that follows from the indices is told.
    """
    subject = sheet.subject
    kinds = {"data": BareCells, "output": BlankCells} if quiz else {}
    default = LetterCells if quiz else Cells
    cells = kinds.get(subject.role or "", default)(sheet, skipped)
    name = f"{subject.name} <small>{dtype_name(subject.array.dtype)} {shape_words(sheet.shape)}"
    return (
        f'<div class="tensor {subject.role}">{_tables(sheet, f"{name}</small>", cells)}'
        + "".join(f'<p class="rest">{line}</p>' for line in left_out(sheet))
        + "</div>"
    )


def _tables(sheet: Sheet, name: str, cells: Cells) -> str:
    if not sheet.texts:
        return f'<p class="name">{name}</p><p class="rest">no cells</p>'
    if len(sheet.shape) <= _MATRIX:
        return _table(sheet, (), name, cells)
    parts = [f'<p class="name">{name}</p>']
    for _, row in groupby(sheet.window.planes, lambda lead: lead[:-1]):
        tables = (_table(sheet, lead, plane_name(sheet, lead), cells) for lead in row)
        parts.append(f'<div class="planes">{"".join(tables)}</div>')
    return "".join(parts)


def plane_name(sheet: Sheet, lead: Cell) -> str:
    """The caption of a plane; batch axes are named as such."""
    name = f"{sheet.subject.name}[{','.join(map(str, lead))},:,:]"
    batch = lead[: sheet.subject.batch]
    return f"{name} <small>batch {','.join(map(str, batch))}</small>" if batch else name


def left_out(sheet: Sheet) -> Iterator[str]:
    """What of the tensor is not drawn, in words."""
    planes = sheet.window.plane_count - len(sheet.window.planes)
    if planes > 0:
        yield f"⋯ {counted(planes, 'plane')} not shown"
    boxes = [mark.box for mark in sheet.subject.marks]
    if sum(map(box_size, boxes)) > COUNTED_CELLS:
        yield "most of the touched cells are not shown"
        return
    touched = np.unique(cell_numbers(boxes, sheet.shape)).size
    if touched > len(sheet.entries):
        yield f"{counted(int(touched) - len(sheet.entries), 'touched cell')} not shown"


class Cells:
    """The table cells of one sheet: value, letters, and what is said of them."""

    def __init__(self, sheet: Sheet, skipped: Collection[int]) -> None:
        self._sheet = sheet
        self._skipped = skipped

    def html(self, cell: Cell) -> str:
        """One `<td>`."""
        numbers, text = self._sheet.entries.get(cell, []), escape(self._sheet.texts[cell])
        label = escape(self.place(cell) + self._is(cell) + entry_words(numbers))
        if not numbers:
            return f'<td aria-label="{label}"><b>{text}</b></td>'
        chips = self._chips(numbers)
        kinds = [f"n{len(chips)}"] + ["drop"] * self._dropped(cell, numbers)
        return (
            f'<td data-e="{" ".join(map(str, numbers))}" class="{" ".join(kinds)}" '
            f'aria-label="{label}"><span class="e">{"".join(chips)}</span>'
            f'<b class="{self._chip(numbers[-1])}">{text}</b>{self._sign(cell, numbers)}</td>'
        )

    def _dropped(self, cell: Cell, numbers: Sequence[int]) -> bool:
        lost = self._sheet.subject.role == "updates" and cell in self._sheet.subject.signs
        return lost or all(number in self._skipped for number in numbers)

    def place(self, cell: Cell) -> str:
        """How a cell is called aloud."""
        return f"{self._sheet.subject.name} {','.join(map(str, cell))}".strip()

    def _is(self, cell: Cell) -> str:
        text, how = self._sheet.texts[cell], self._sheet.subject.signs.get(cell)
        if how is None:
            return f" is {text}"
        indices = self._sheet.subject.role == "indices"
        return f" is {text}, {spoken_sign(how) if indices else 'dropped'}"

    def _sign(self, cell: Cell, numbers: Sequence[int]) -> str:
        how = self._sheet.subject.signs.get(cell)
        return "" if how is None else f'<em class="{self._chip(numbers[-1])}">{SIGNS.of(how)}</em>'

    def _chips(self, numbers: Sequence[int]) -> list[str]:
        """A letter per entry; of many, the first and the last, which decides the ground."""
        many = len(numbers) > LETTERS
        chips = [f'<i class="{self._chip(number)}">{label_of(number)}</i>' for number in
                 ([numbers[0], numbers[-1]] if many else numbers)]  # fmt: skip
        if many:
            chips.insert(1, f'<i class="m">+{len(numbers) - 2}</i>')
        return chips

    def _chip(self, number: int) -> str:
        return chip_class(number, live=number not in self._skipped)


class LetterCells(Cells):
    """Cells of a question: the entries, and not what becomes of them."""

    def __init__(self, sheet: Sheet, _skipped: Collection[int]) -> None:
        super().__init__(replace(sheet, subject=replace(sheet.subject, signs={})), ())


class BareCells(Cells):
    """Cells of a question without their entries."""

    def html(self, cell: Cell) -> str:
        """One `<td>` with its value."""
        label, text = escape(self.place(cell) + self._is(cell)), escape(self._sheet.texts[cell])
        return f'<td aria-label="{label}"><b>{text}</b></td>'


class BlankCells(Cells):
    """Cells that are asked for."""

    def html(self, cell: Cell) -> str:
        """One `<td>` without its value."""
        return f'<td aria-label="{escape(self.place(cell))}"><b></b></td>'


def entry_words(numbers: Sequence[int]) -> str:
    """The entries of a cell, for its label.

    >>> entry_words([0, 2]), entry_words([])
    (', entry a and c', '')
    """
    if not numbers:
        return ""
    *first, last = [label_of(number) for number in numbers]
    return f", entry {', '.join(first)} and {last}" if first else f", entry {last}"


def _table(sheet: Sheet, lead: Cell, caption: str, cells: Cells) -> str:
    rank, seen = len(sheet.shape), sheet.window
    parts = [f'<table role="grid" aria-readonly="true"><caption>{caption}</caption>']
    if rank:
        corner = "<td></td>" if rank >= _MATRIX else ""
        parts.append(f"<thead><tr>{corner}{_headers(sheet)}</tr></thead>")
    parts.append("<tbody>")
    width = len(_with_gaps(seen.columns, seen.allowed[-1])) + 1
    for row in _with_gaps(seen.rows, seen.allowed[-2]):
        if isinstance(row, range):
            text = f"⋮ {counted(len(row), 'row')}"
            parts.append(f'<tr><td class="gap" colspan="{width}">{text}</td></tr>')
        else:
            header = f'<th scope="row">{row}</th>' if rank >= _MATRIX else ""
            parts.append(f"<tr>{header}{_row(sheet, lead, row, cells)}</tr>")
    return "".join([*parts, "</tbody></table>"])


def _headers(sheet: Sheet) -> str:
    return "".join(
        f'<th scope="col" class="gap" aria-label="{counted(len(at), "column")} not shown">⋯</th>'
        if isinstance(at, range)
        else f'<th scope="col">{at}</th>'
        for at in _with_gaps(sheet.window.columns, sheet.window.allowed[-1])
    )


def _row(sheet: Sheet, lead: Cell, row: int, cells: Cells) -> str:
    return "".join(
        '<td class="gap">⋯</td>'
        if isinstance(column, range)
        else cells.html(sheet.cell(lead, row, column))
        for column in _with_gaps(sheet.window.columns, sheet.window.allowed[-1])
    )


def _with_gaps(shown: Sequence[int], allowed: range) -> list[int | range]:
    """The positions shown and, as ranges, those left out between them.

    >>> _with_gaps((0, 1, 7), range(9))
    [0, 1, range(2, 7), 7, range(8, 9)]
    """
    found: list[int | range] = []
    outside = (allowed.start - allowed.step, *shown, allowed.start + len(allowed) * allowed.step)
    for before, at in pairwise(outside):
        gap = range(before + allowed.step, at, allowed.step)
        found += [gap] * bool(gap) + [at]
    return found[:-1]
