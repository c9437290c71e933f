"""Cells and letters of a tensor on the page: table cells, and maps of what is not all shown.

A cell that no entry touches is its value alone; its headers say where it is. Letters and signs
are drawn from `data-t`, so that the text of a cell is its value and its label holds that text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gscli.traces import entry_label
from gscli.views.lines import make_block, merge_runs
from gscli.views.look import UTF8, Line, Style, ViewOptions, make_style_sheet
from gscli.views.markup import escape
from gscli.views.page.sheets import PageTensor
from gscli.views.page.words import OUTCOME_WORDS
from gscli.views.sheet import Coordinates
from gscli.views.terminal.legend import draw_plane_maps
from gscli.views.words.comparison import join_names

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
        fates *= not self._is_output or self._tensor.texts[cell] != UTF8.point  # nothing is there
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
    return f", entry {join_names([*map(entry_label, numbers)])}" if numbers else ""


_MAP_WIDTH = 36
"""Columns in which a map is drawn."""

_MATRIX = 2


def render_map(tensor: PageTensor) -> str:
    """The map of a large tensor of which parts are left out, as the terminal draws it.

    Pure decoration: rows and columns are named by the headers of the tables.
    """
    shown = tensor.is_whole or tensor.subject.role not in ("data", "output")
    if len(tensor.shape) < _MATRIX or shown or not tensor.subject.marks:
        return ""
    look = make_style_sheet(ViewOptions())
    outlines, notes = draw_plane_maps(tensor.shape, tensor.subject.marks, _MAP_WIDTH, look)
    kinds = {style: f' class="c{number}"' for number, style in enumerate(look.values)}
    kinds[look.alarm] = ' class="x"'
    drawings = "".join(
        f"<pre>{_render_lines(outline.lines, kinds)}</pre>"
        for outline in (*outlines, make_block(notes))
    )
    return (
        '<figure class="map" aria-hidden="true"><figcaption>where: rows down, columns across'
        f"</figcaption>{drawings}</figure>"
    )


def _render_lines(lines: Sequence[Line], kinds: Mapping[Style, str]) -> str:
    """Drawn lines, each run in the class of its style."""
    return "\n".join(
        "".join(f"<span{kinds.get(style, '')}>{escape(text)}</span>" for text, style in line)
        for line in map(merge_runs, lines)
    )
