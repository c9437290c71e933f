"""Cells and letters of a tensor on the page: table cells, and outlines of what is not all shown.

A cell that no entry touches is its value alone; its headers say where it is. Letters and signs
are drawn from `data-t`, so that the text of a cell is its value and its label holds that text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from gscli.traces import entry_label
from gscli.views.lenses import group_by_plane
from gscli.views.look import UTF8
from gscli.views.markup import escape
from gscli.views.page.sheets import PageTensor
from gscli.views.page.words import OUTCOME_WORDS
from gscli.views.sheet import Coordinates
from gscli.views.subject import Mark

LETTERS = 4
"""Entries that one cell names; of more, the first and the last."""

COLOURS = 7


def chip_class(number: int, *, live: bool) -> str:
    """The class of an entry's colour.

    >>> chip_class(8, live=True), chip_class(0, live=False)
    ('c1', 'x')
    """
    return f"c{number % COLOURS}" if live else "x"


def entry_chip(number: int, *, live: bool = True, spoken: bool = True) -> str:
    """The letter of an entry in its colour; `spoken`: a screen reader hears what it is.

    >>> entry_chip(1, spoken=False)
    '<i class="c1">b</i>'
    """
    word = '<span class="v">entry </span>' * spoken
    return f'<i class="{chip_class(number, live=live)}">{word}{entry_label(number)}</i>'


class CellRenderer:
    """The cells of one tensor; `skipped`: numbers of the entries without a target.

    Where `is_question`, cells of data have no letters, those of indices and updates do not
    say what becomes of their entries, and those of output have no value.
    """

    def __init__(
        self, tensor: PageTensor, skipped: Collection[int], *, is_question: bool = False
    ) -> None:
        role = tensor.subject.role
        self._tensor, self._role = tensor, role
        self._is_output, self._is_blank = role == "output", is_question and role == "output"
        self._entries = {} if is_question and role == "data" else tensor.entries
        self._signs = {} if is_question else tensor.signs
        self._expected = {} if is_question else tensor.expected_texts
        self._skipped = () if is_question else skipped

    def render_cell(self, cell: Coordinates) -> str:
        """One `<td>`."""
        if self._is_blank:
            label = escape(self.spoken_position(cell))
            return f'<td aria-label="{label}">{self._render_previous(cell)}<b></b></td>'
        numbers, text = self._entries.get(cell, []), self._tensor.texts[cell]
        changed = cell in self._expected or self._tensor.initial_texts[cell] != text
        if numbers or (self._is_output and changed):  # entries that are not listed may write it
            return self._render_touched(cell, numbers)
        return f"<td>{escape(text)}</td>"

    def find_row_entry(self, line: Sequence[Coordinates]) -> int | None:
        """The entry that a whole row of indices or updates belongs to, and no other."""
        if self._role not in ("indices", "updates") or not line:
            return None
        owners = {tuple(self._entries.get(cell, ())) for cell in line}
        numbers = owners.pop()
        return numbers[0] if not owners and len(numbers) == 1 else None

    def render_row_cell(self, cell: Coordinates, number: int) -> str:
        """One `<td>` of a row whose header names its entry."""
        if self._signs.get(cell) or number in self._skipped:
            return self._render_touched(cell, [number])
        text = escape(self._tensor.texts[cell])
        return f'<td data-e="{number}" class="n1 {self.chip_class(number)}"><b>{text}</b></td>'

    def spoken_position(self, cell: Coordinates) -> str:
        """How a cell is called aloud."""
        return f"{self._tensor.subject.name} {','.join(map(str, cell))}".strip()

    def chip_class(self, number: int) -> str:
        """The class of an entry's colour here."""
        return chip_class(number, live=number not in self._skipped)

    def _render_touched(self, cell: Coordinates, numbers: Sequence[int]) -> str:
        chips = self._render_chips(numbers)
        kinds = [f"n{len(chips)}", self.chip_class(numbers[-1])] if numbers else []
        kinds += self._outcome_classes(cell, numbers)
        style = f'class="{" ".join(kinds)}" ' if kinds else ""
        value = self._spoken_value(cell, numbers)
        label = self.spoken_position(cell) + value + spoken_entries(numbers)
        has_previous = self._is_output and self._tensor.initial_texts[cell]
        was = self._render_previous(cell) if has_previous else ""
        return (
            f'<td data-e="{" ".join(map(str, numbers))}" {style}aria-label="{escape(label)}">'
            f'<span class="e">{"".join(chips)}</span>{was}'
            f"<b>{escape(self._tensor.texts[cell])}</b>{self._render_sign(cell)}</td>"
        )

    def _render_sign(self, cell: Coordinates) -> str:
        """What became of the number, or what the cell should hold."""
        how = self._signs.get(cell)
        sign = self._expected.get(cell, "") if how is None else UTF8.for_outcome(how)
        return f'<em data-t="{escape(sign)}"></em>' if sign else ""

    def _render_previous(self, cell: Coordinates) -> str:
        return f'<small class="was" data-t="{escape(self._tensor.initial_texts[cell])}"></small>'

    def _outcome_classes(self, cell: Coordinates, numbers: Sequence[int]) -> list[str]:
        """An index or update that is not used is struck through; a skipped gather fills."""
        lost = self._role == "updates" and cell in self._signs
        unused = all(number in self._skipped for number in numbers)
        fates = ["fill" if self._is_output else "drop"] if lost or (numbers and unused) else []
        return [*fates, "off"] if cell in self._expected else fates

    def _spoken_value(self, cell: Coordinates, numbers: Sequence[int]) -> str:
        text, how = f" is {self._tensor.texts[cell]}", self._signs.get(cell)
        if self._is_output:
            filled = ", filled" if "fill" in self._outcome_classes(cell, numbers) else ""
            expected = f", expected {self._expected[cell]}" if cell in self._expected else ""
            return f"{text}{filled}{expected}"
        if how is None:
            return text
        return f"{text}, {OUTCOME_WORDS[how] if self._role == 'indices' else 'dropped'}"

    def _render_chips(self, numbers: Sequence[int]) -> list[str]:
        """A letter per entry; of many, the first and the last, which decides the ground."""
        many = len(numbers) > LETTERS
        chips = [
            f'<i class="{self.chip_class(number)}" data-t="{entry_label(number)}"></i>'
            for number in ([numbers[0], numbers[-1]] if many else numbers)
        ]
        if many:
            chips.insert(1, f'<i class="m" data-t="+{len(numbers) - 2}"></i>')
        return chips


def spoken_entries(numbers: Sequence[int]) -> str:
    """The entries of a cell, for its label.

    >>> spoken_entries([0, 2]), spoken_entries([])
    (', entry a and c', '')
    """
    if not numbers:
        return ""
    *first, last = [entry_label(number) for number in numbers]
    return f", entry {', '.join(first)} and {last}" if first else f", entry {last}"


MAP_WIDTH, LOWEST, HIGHEST = 300, 70, 140
"""Pixels of the outline; its height follows the shape of the matrix between two ends."""

MAX_MARKS, MAX_PLANES = 60, 6
"""Entries and planes that are drawn."""

_CHIP = 18
_MATRIX = 2


def render_map_svg(tensor: PageTensor) -> str:
    """A map of a matrix, or of the touched planes of a larger tensor, of which parts are left out.

    Pure decoration: rows and columns are named by the headers of the tables.
    """
    shown = tensor.is_whole or tensor.subject.role not in ("data", "output")
    if len(tensor.shape) < _MATRIX or shown or not tensor.subject.marks:
        return ""
    marks = tensor.subject.marks[:MAX_MARKS]
    *_, rows, columns = tensor.shape
    planes = group_by_plane(marks)[:MAX_PLANES]
    maps = "".join(_map(rows, columns, own, title) for title, own in planes)
    return (
        f'<figure class="map"><figcaption>where: rows 0 … {rows - 1:,} down, '
        f"columns 0 … {columns - 1:,} across</figcaption>{maps}</figure>"
    )


def _map(rows: int, columns: int, marks: Sequence[Mark], title: str) -> str:
    height = max(LOWEST, min(HIGHEST, MAP_WIDTH * rows // columns))
    name = f'<text class="plane" x="0" y="-7">{escape(title)}</text>' if title else ""
    head = 22 if title else 0
    chips = "".join(_chips(rows, columns, height, marks))
    return (
        f'<svg viewBox="-2 {-2 - head} {MAP_WIDTH + 4} {height + 4 + head}" '
        f'width="{MAP_WIDTH + 4}" '
        f'height="{height + 4 + head}" aria-hidden="true">'
        f'{name}<rect class="outline" width="{MAP_WIDTH}" height="{height}"/>{chips}</svg>'
    )


def _chips(rows: int, columns: int, height: int, marks: Sequence[Mark]) -> Iterator[str]:
    """How far each entry reaches, and above all of them the letters."""
    places: set[tuple[int, int]] = set()
    letters: list[str] = []
    for mark in marks:
        (top, bottom), (left, right) = mark.box[-_MATRIX:]
        colour, label = chip_class(mark.number, live=not mark.alarm), entry_label(mark.number)
        if (bottom - top, right - left) != (1, 1):
            x, y = left * MAP_WIDTH // columns, top * height // rows
            wide = max((right - left) * MAP_WIDTH // columns, 4)
            high = max((bottom - top) * height // rows, 4)
            yield f'<rect class="reach {colour}" x="{x}" y="{y}" width="{wide}" height="{high}"/>'
        x = _chip_position(left + right, 2 * columns, MAP_WIDTH)
        y = _chip_position(top + bottom, 2 * rows, height)
        while any(abs(x - other) < _CHIP and abs(y - line) < _CHIP for other, line in places):
            x += _CHIP
        places.add((x, y))
        half = _CHIP // 2
        letters.append(
            f'<rect class="{colour}" x="{x - half}" y="{y - half}" width="{_CHIP}" '
            f'height="{_CHIP}" rx="3"/><text class="{colour}" x="{x}" y="{y + 5}">{label}</text>'
        )
    yield from letters


def _chip_position(twice: int, size: int, pixels: int) -> int:
    """The middle of some places on an axis as a pixel, far enough from both ends for a chip.

    >>> [_chip_position(twice, 2000, 300) for twice in (1, 1000, 1999)]
    [9, 150, 291]
    """
    half = _CHIP // 2
    return max(half, min(pixels - half, twice * pixels // size))
