"""Sheets as HTML tables: captions, header cells, rows and their cells.

A cell that no entry touches is its value alone; its headers say where it is.

Everything that a reader sees or hears is in the markup, so the page reads without its script.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, product

from gscli.base.arrays import dtype_name
from gscli.base.words import format_count
from gscli.layout.axes import box_size
from gscli.plan.outcomes import OUTCOMES
from gscli.traces import entry_label
from gscli.views.look import MATRIX, UTF8
from gscli.views.markup import escape
from gscli.views.page.cells import chip_class, entry_chip, render_map, spoken_entries
from gscli.views.page.sheets import PageCell, PageTensor
from gscli.views.page.words import format_shape_words
from gscli.views.sheet import Coordinates, Positions, Selection, fill_gaps

# Rows and columns of one table; a browser lays out and paints anew only what changes or comes in
# sight, and headers are never far.
BLOCK, CHUNK = 25, 10

# Entries that one cell names; of more, the first and the last.
LETTERS = 4

# Touched cells of one tensor that are counted, many times those that a page shows.
COUNTED_CELLS = 1 << 17


class TensorTables:
    """The tables of one tensor: one a plane, of many rows or columns several.

    `skipped`: numbers of the entries without a target. `title` in place of its name, `heads` over
    the columns in place of their numbers. Where `is_question`, cells of data have no letters, those
    of indices and updates do not say what becomes of their entries, and those of output have no
    value.
    """

    def __init__(
        self, tensor: PageTensor, skipped: Collection[int], title: str, heads: Sequence[str],
        *, is_question: bool,
    ) -> None:  # fmt: skip
        role = tensor.subject.role
        self._tensor, self._role, self._title, self._heads = tensor, role, title, heads
        self._headed = len(tensor.shape) > 0 and bool(heads or not tensor.is_upright)
        self._numbered = len(tensor.shape) >= MATRIX or tensor.is_upright
        self._is_output, self._is_blank = role == "output", is_question and role == "output"
        self._is_question, self._skipped = is_question, () if is_question else skipped

    def render(self) -> str:
        """The tensor with its heading, planes and what is left out."""
        tensor, subject = self._tensor, self._tensor.subject
        kind = f"{dtype_name(subject.array.dtype)} {format_shape_words(tensor.shape)}"
        tables = self._render_planes(f"{escape(self._title or subject.name)} <small>{kind}</small>")
        return (
            f'<div class="tensor {subject.role}" data-n="{escape(subject.name)}">{tables}'
            + "".join(f'<p class="rest">{line}</p>' for line in describe_hidden_cells(tensor))
            + render_map(tensor) * (not tensor.has_regions)
            + "</div>"
        )

    def _render_planes(self, name: str) -> str:
        """All of them below their name."""
        tensor, first = self._tensor, self._tensor.sheets[0].selection
        if not tensor.cells:
            return f'<p class="name">{name}</p><p class="rest">no cells</p>'
        if len(tensor.shape) <= MATRIX and not tensor.has_regions:
            return self._render_plane(first, (), name)
        parts = [f'<p class="name">{name}</p>']
        if tensor.has_regions:
            count = format_count(len(tensor.sheets), "neighbourhood")
            parts.append(f'{render_map(tensor)}<p class="close">{count}, close up</p>')
        selections = [sheet.selection for sheet in tensor.sheets]
        planes = [(seen, lead) for seen in selections for lead in seen.planes]
        for _, row in groupby(planes, lambda plane: () if tensor.has_regions else plane[1][:-1]):
            tables = (self._render_plane(*each, _render_caption(tensor, *each)) for each in row)
            parts.append(f'<div class="planes">{"".join(tables)}</div>')
        return "".join(parts)

    def _render_plane(self, seen: Selection, lead: Coordinates, caption: str) -> str:
        """One table; where rows or columns are many, blocks below and chunks beside each other."""
        rows, columns = map(fill_gaps, (seen.rows, seen.columns), seen.allowed[-MATRIX:])
        if self._tensor.is_upright:
            rows, columns = columns, [0]
        blocks, chunks = _split_positions(rows, BLOCK), _split_positions(columns, CHUNK)
        if len(blocks) == len(chunks) == 1:
            return self._render_table(lead, rows, columns, caption)
        markup = ""
        for block in blocks:
            tables, first = "", _first_position(block)
            name = caption if block is blocks[0] else f"<small>from {first}</small>"
            for chunk in chunks:
                if chunk is not chunks[0]:
                    name = f"<small>from column {_first_position(chunk)}</small>"
                table = self._render_table(lead, block, chunk, name)
                tables += f'<div class="chunk">{table}</div>' if len(chunks) > 1 else table
            markup += f'<div class="block">{tables}</div>'
        return markup

    def _render_table(
        self, lead: Coordinates, rows: Positions, columns: Positions, caption: str
    ) -> str:
        corner = '<td class="gap"></td>' if self._numbered else ""
        heads = _render_headers(columns, self._heads)
        head = f"<thead><tr>{corner}{heads}</tr></thead>" if self._headed else ""
        body = "".join(self._row(lead, row, columns) for row in rows)
        place = f' data-l="{",".join(map(str, lead))}"' if lead else ""
        return (
            f'<table role="grid" aria-readonly="true"{place}><caption>{caption}</caption>{head}'
            f"<tbody>{body}</tbody></table>"
        )

    def _row(self, lead: Coordinates, row: int | range, columns: Positions) -> str:
        if isinstance(row, range):
            text = f"⋮ {format_count(len(row), 'row')}"
            return f'<tr><td class="gap" colspan="{len(columns) + 1}">{text}</td></tr>'
        line = [column if isinstance(column, range) else self._at(lead, row, column)
                for column in columns]  # fmt: skip
        header, owner = "", None
        if self._numbered:
            batch = 0 < self._tensor.subject.batch >= len(self._tensor.shape) - 1
            shown = [at for at in line if not isinstance(at, range)]
            owner = None if batch else self._find_row_entry(shown)
            header = self._row_header(row, owner, batch=batch)
        return f"<tr>{header}{''.join(self._render_cell(at, owner) for at in line)}</tr>"

    def _at(self, lead: Coordinates, row: int, column: int) -> Coordinates:
        if self._tensor.is_upright:
            return (row,)
        rank = len(self._tensor.shape)
        return (*lead, row, column)[-rank:] if rank else ()

    def _row_header(self, row: int, owner: int | None, *, batch: bool) -> str:
        """The number of the row, or the letter of the entry that it is; a row may be a batch."""
        if owner is None:
            return f'<th scope="row">{"<small>batch</small> " * batch}{row}</th>'
        chip = entry_chip(owner, live=owner not in self._skipped, spoken=False)
        return f'<th scope="row" class="letter"><span class="v">entry </span>{chip}</th>'

    # --- cells: letters and signs are drawn from `data-t`, a label holds the text ---------

    def _render_cell(self, at: Coordinates | range, owner: int | None) -> str:
        """One `<td>`; that of an `owner` has a row whose header names it."""
        if isinstance(at, range):
            return '<td class="gap">⋯</td>'
        cell = self._cell(at)
        text, place = escape(cell.text), f"{self._tensor.subject.name} {','.join(map(str, at))}"
        was = f'<small class="was" data-t="{escape(cell.initial_text)}"></small>'
        if owner is not None and not cell.outcome and owner not in self._skipped:
            return f'<td data-e="{owner}" class="n1 {self._chip_class(owner)}"><b>{text}</b></td>'
        if self._is_blank:
            return f'<td aria-label="{escape(place.strip())}">{was}<b></b></td>'
        if not cell.entries and not (self._is_output and cell.is_changed):
            return f"<td>{text}</td>"
        # Entries that are not listed may write a cell of output.
        chips, kinds = self._render_chips(cell.entries), self._list_classes(cell)
        style = f'class="{" ".join(kinds)}" ' if kinds else ""
        label = place.strip() + self._spoken_value(cell) + spoken_entries(cell.entries)
        was *= self._is_output and bool(cell.initial_text)
        sign = UTF8.for_number(cell.outcome) if cell.outcome else cell.expected
        sign = f'<em data-t="{escape(sign)}"></em>' if sign else ""
        return (
            f'<td data-e="{" ".join(map(str, cell.entries))}" {style}aria-label="{escape(label)}">'
            f'<span class="e">{"".join(chips)}</span>{was}<b>{text}</b>{sign}</td>'
        )

    def _cell(self, at: Coordinates) -> PageCell:
        """A cell, in a question without what would answer it."""
        cell = self._tensor.cells[at]
        if not self._is_question:
            return cell
        entries = () if self._role == "data" else cell.entries
        return cell._replace(entries=entries, outcome=None, expected="")

    def _find_row_entry(self, line: Sequence[Coordinates]) -> int | None:
        """The entry that a whole row of indices or updates belongs to, and no other."""
        if self._role not in ("indices", "updates") or not line:
            return None
        owners = {self._cell(at).entries for at in line}
        numbers = owners.pop()
        return numbers[0] if not owners and len(numbers) == 1 else None

    def _chip_class(self, number: int) -> str:
        """The class of an entry's colour here."""
        return chip_class(number, live=number not in self._skipped)

    def _list_classes(self, cell: PageCell) -> list[str]:
        """Letters and the last one's colour; what is not used is struck through, or a fill."""
        count = len(self._render_chips(cell.entries))
        chips = [f"n{count}", self._chip_class(cell.entries[-1])] if count else []
        lost = self._role == "updates" and cell.outcome is not None
        unused = bool(cell.entries) and all(number in self._skipped for number in cell.entries)
        fates = ["fill" if self._is_output else "drop"] if lost or unused else []
        fates *= not self._is_output or cell.text != UTF8.point  # nothing is there
        return [*chips, *fates, *["off"] * bool(cell.expected)]

    def _spoken_value(self, cell: PageCell) -> str:
        text = f" is {cell.text}"
        if self._is_output:
            filled = ", filled" if "fill" in self._list_classes(cell) else ""
            return f"{text}{filled}{f', expected {cell.expected}' * bool(cell.expected)}"
        if cell.outcome is None:
            return text
        return f"{text}, {OUTCOMES[cell.outcome].key if self._role == 'indices' else 'dropped'}"

    def _render_chips(self, numbers: Sequence[int]) -> list[str]:
        """A letter per entry; of many, the first and the last, which decides the ground."""
        many = len(numbers) > LETTERS
        chips = [
            f'<i class="{self._chip_class(number)}" data-t="{entry_label(number)}"></i>'
            for number in ([numbers[0], numbers[-1]] if many else numbers)
        ]
        if many:
            chips.insert(1, f'<i class="m" data-t="+{len(numbers) - 2}"></i>')
        return chips


def _render_caption(tensor: PageTensor, seen: Selection, lead: Coordinates) -> str:
    """The plane, and of a lens which rows and columns it shows."""
    name = f"{escape(tensor.subject.name)}[{','.join(map(str, lead))},:,:]"
    batch = ",".join(map(str, lead[: tensor.subject.batch]))
    plane = f"{name}{f' <small>batch {batch}</small>' * bool(batch)}" * bool(lead)
    if not tensor.has_regions:
        return plane
    rows, columns = (f"{numbers[0]} … {numbers[-1]}" for numbers in seen.allowed[-MATRIX:])
    return f"{plane} <small>rows {rows}, columns {columns}</small>".strip()


def describe_hidden_cells(tensor: PageTensor) -> Iterator[str]:
    """What of the tensor is not drawn, in words."""
    if tensor.hidden_planes > 0:
        yield f"⋯ {format_count(tensor.hidden_planes, 'plane')} not shown"
    boxes = {mark.box for mark in tensor.subject.marks}
    if sum(map(box_size, boxes)) > COUNTED_CELLS:
        yield "most of the touched cells are not shown"
        return
    touched = {at for box in boxes for at in product(*(range(*span) for span in box))}
    if hidden := touched - {at for at, cell in tensor.cells.items() if cell.entries}:
        yield f"{format_count(len(hidden), 'cell')} of the listed entries not shown"


def _split_positions(places: Positions, size: int) -> list[Positions]:
    """All at once where they are few, else some each.

    >>> [[len(part) for part in _split_positions(range(size), 10)] for size in (15, 25)]
    [[15], [10, 10, 5]]
    """
    if len(places) <= size + size // 2:
        size = len(places)
    return [places[first : first + size] for first in range(0, len(places), size or 1)]


def _first_position(places: Positions) -> int:
    return places[0].start if isinstance(places[0], range) else places[0]


def _render_headers(columns: Positions, heads: Sequence[str]) -> str:
    return "".join(
        f'<th scope="col" class="gap" aria-label="{format_count(len(at), "column")} not '
        f'shown">⋯</th>'
        if isinstance(at, range)
        else f'<th scope="col">{escape(heads[at]) if heads else at}</th>'
        for at in columns
    )
