"""Table cells of a sheet: value, letters, and what is said of them.

A cell that no entry touches is its value alone; its headers say where it is. Letters and signs
are drawn from `data-t`, so that the text of a cell is its value and its label holds that text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from html import escape
from types import MappingProxyType

from gscli.traces.trace import label_of
from gscli.views.page.sheets import SIGNS, Cell, Sheet
from gscli.views.page.words import SPOKEN

LETTERS = 4
"""Entries that one cell names; of more, the first and the last."""

COLOURS = 7


def chip_class(number: int, *, live: bool) -> str:
    """The class of an entry's colour.

    >>> chip_class(8, live=True), chip_class(0, live=False)
    ('c1', 'x')
    """
    return f"c{number % COLOURS}" if live else "x"


class Cells:
    """The cells of one sheet; `skipped`: numbers of the entries without a target."""

    def __init__(self, sheet: Sheet, skipped: Collection[int]) -> None:
        self._sheet = sheet
        self._skipped = skipped

    def html(self, cell: Cell) -> str:
        """One `<td>`."""
        numbers = self._sheet.entries.get(cell, [])
        return self._touched(cell, numbers) if numbers else self._bare(cell)

    def owner(self, line: Sequence[Cell]) -> int | None:
        """The entry that a whole row of indices or updates belongs to, and no other."""
        if self._sheet.subject.role not in ("indices", "updates") or not line:
            return None
        owners = {tuple(self._sheet.entries.get(cell, ())) for cell in line}
        numbers = owners.pop()
        return numbers[0] if not owners and len(numbers) == 1 else None

    def owned(self, cell: Cell, number: int) -> str:
        """One `<td>` of a row whose header names its entry."""
        if self._sheet.subject.signs.get(cell) or number in self._skipped:
            return self._touched(cell, [number])
        text = escape(self._sheet.texts[cell])
        return f'<td data-e="{number}" class="n1 {self.chip(number)}"><b>{text}</b></td>'

    def place(self, cell: Cell) -> str:
        """How a cell is called aloud."""
        return f"{self._sheet.subject.name} {','.join(map(str, cell))}".strip()

    def chip(self, number: int) -> str:
        """The class of an entry's colour here."""
        return chip_class(number, live=number not in self._skipped)

    def _bare(self, cell: Cell) -> str:
        return f"<td>{escape(self._sheet.texts[cell])}</td>"

    def _touched(self, cell: Cell, numbers: Sequence[int], was: str = "") -> str:
        chips = self._chips(numbers)
        kinds = [f"n{len(chips)}", self.chip(numbers[-1]), *self._fate(cell, numbers)]
        label = self.place(cell) + self._is(cell) + entry_words(numbers)
        return (
            f'<td data-e="{" ".join(map(str, numbers))}" class="{" ".join(kinds)}" '
            f'aria-label="{escape(label)}"><span class="e">{"".join(chips)}</span>{was}'
            f"<b>{escape(self._sheet.texts[cell])}</b>{self._sign(cell)}</td>"
        )

    def _fate(self, cell: Cell, numbers: Sequence[int]) -> list[str]:
        """An index or update that is not used is struck through."""
        lost = self._sheet.subject.role == "updates" and cell in self._sheet.subject.signs
        unused = all(number in self._skipped for number in numbers)
        return ["drop"] if lost or unused else []

    def _is(self, cell: Cell) -> str:
        text, how = self._sheet.texts[cell], self._sheet.subject.signs.get(cell)
        if how is None:
            return f" is {text}"
        indices = self._sheet.subject.role == "indices"
        return f" is {text}, {SPOKEN[how] if indices else 'dropped'}"

    def _sign(self, cell: Cell) -> str:
        how = self._sheet.subject.signs.get(cell)
        return "" if how is None else f'<em data-t="{SIGNS.of(how)}"></em>'

    def _chips(self, numbers: Sequence[int]) -> list[str]:
        """A letter per entry; of many, the first and the last, which decides the ground."""
        many = len(numbers) > LETTERS
        chips = [f'<i class="{self.chip(number)}" data-t="{label_of(number)}"></i>' for number in
                 ([numbers[0], numbers[-1]] if many else numbers)]  # fmt: skip
        if many:
            chips.insert(1, f'<i class="m" data-t="+{len(numbers) - 2}"></i>')
        return chips


class OutputCells(Cells):
    """Cells of the result with what they held at first; a skipped entry of a gather fills them.

    `wanted`: what cells should hold that hold something else.
    """

    def __init__(
        self,
        sheet: Sheet,
        skipped: Collection[int],
        start: Mapping[Cell, str],
        wanted: Mapping[Cell, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(sheet, skipped)
        self._start, self._wanted = start, wanted

    def _bare(self, cell: Cell) -> str:
        """Entries that are not told may have changed the cell, and it may not be as expected."""
        if self._start[cell] == self._sheet.texts[cell] and cell not in self._wanted:
            return super()._bare(cell)
        label, text = self.place(cell) + self._is(cell), self._sheet.texts[cell]
        kind = ' class="off"' if cell in self._wanted else ""
        return (
            f'<td data-e=""{kind} aria-label="{escape(label)}"><span class="e"></span>'
            f"{self._was(cell)}<b>{escape(text)}</b>{self._sign(cell)}</td>"
        )

    def _sign(self, cell: Cell) -> str:
        """What the cell should hold, where that is something else."""
        wanted = self._wanted.get(cell)
        return "" if wanted is None else f'<em data-t="{escape(wanted)}"></em>'

    def _touched(self, cell: Cell, numbers: Sequence[int], was: str = "") -> str:
        return super()._touched(cell, numbers, was or self._was(cell))

    def _was(self, cell: Cell) -> str:
        text = self._start[cell]
        return f'<small class="was" data-t="{escape(text)}"></small>' if text else ""

    def _fate(self, cell: Cell, numbers: Sequence[int]) -> list[str]:
        fates = ["fill"] * self._filled(cell, numbers)
        return [*fates, "off"] if cell in self._wanted else fates

    def _filled(self, _cell: Cell, numbers: Sequence[int]) -> bool:
        return all(number in self._skipped for number in numbers)

    def _is(self, cell: Cell) -> str:
        numbers = self._sheet.entries.get(cell, [])
        filled = ", filled" if numbers and self._filled(cell, numbers) else ""
        wanted = f", expected {self._wanted[cell]}" if cell in self._wanted else ""
        return f" is {self._sheet.texts[cell]}{filled}{wanted}"


class LetterCells(Cells):
    """Cells of a question: the entries, and not what becomes of them."""

    def __init__(self, sheet: Sheet, _skipped: Collection[int]) -> None:
        super().__init__(replace(sheet, subject=sheet.subject._replace(signs={})), ())


class BareCells(Cells):
    """Cells of a question without their entries."""

    def html(self, cell: Cell) -> str:
        """One `<td>` with its value."""
        return self._bare(cell)


class BlankCells(Cells):
    """Cells that are asked for; they start with a value."""

    def __init__(self, sheet: Sheet, skipped: Collection[int], start: Mapping[Cell, str]) -> None:
        super().__init__(sheet, skipped)
        self._start = start

    def html(self, cell: Cell) -> str:
        """One `<td>` without its value."""
        label, start = escape(self.place(cell)), escape(self._start[cell])
        was = f'<small class="was" data-t="{start}"></small>'
        return f'<td aria-label="{label}">{was}<b></b></td>'


def entry_words(numbers: Sequence[int]) -> str:
    """The entries of a cell, for its label.

    >>> entry_words([0, 2]), entry_words([])
    (', entry a and c', '')
    """
    if not numbers:
        return ""
    *first, last = [label_of(number) for number in numbers]
    return f", entry {', '.join(first)} and {last}" if first else f", entry {last}"
