"""Sheets as HTML tables: captions, header cells and rows.

Everything that a reader sees or hears is in the markup, so the page reads without its script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import TypeAlias

import numpy as np

from gscli.base.arrays import dtype_name
from gscli.base.words import format_count
from gscli.layout.axes import box_size
from gscli.traces import entry_label
from gscli.views.markup import escape
from gscli.views.page.cells import CellRenderer, render_map
from gscli.views.page.sheets import PageTensor
from gscli.views.page.words import format_shape_words
from gscli.views.sheet import Coordinates, Selection
from gscli.views.summary import COUNTED_CELLS, cell_numbers

BLOCK, CHUNK = 25, 10
"""Rows and columns of one table; a browser lays out and paints anew only what changes or comes in
sight, and headers are never far.
"""

_MATRIX = 2

Positions: TypeAlias = Sequence[int | range]
"""Rows or columns of a table; ranges are left out of it."""


def render_tensor(
    tensor: PageTensor, cells: CellRenderer, *, title: str = "", column_headers: Sequence[str] = ()
) -> str:
    """One tensor with its heading, planes and what is left out.

    `title` in place of its name; `heads` over the columns in place of their numbers.
    """
    subject = tensor.subject
    kind = f"{dtype_name(subject.array.dtype)} {format_shape_words(tensor.shape)}"
    name = f"{escape(title or subject.name)} <small>{kind}</small>"
    tables = _TensorTables(tensor, cells, column_headers).render(name)
    return (
        f'<div class="tensor {subject.role}" data-n="{escape(subject.name)}">{tables}'
        + "".join(f'<p class="rest">{line}</p>' for line in describe_hidden_cells(tensor))
        + render_map(tensor) * (not tensor.has_regions)
        + "</div>"
    )


class _TensorTables:
    """The tables of one tensor: one a plane, of many rows or columns several."""

    def __init__(self, tensor: PageTensor, cells: CellRenderer, heads: Sequence[str]) -> None:
        self._tensor, self._cells, self._heads = tensor, cells, heads
        self._headed = len(tensor.shape) > 0 and bool(heads or not tensor.is_upright)
        self._numbered = len(tensor.shape) >= _MATRIX or tensor.is_upright

    def render(self, name: str) -> str:
        """All of them below their name."""
        tensor, first = self._tensor, self._tensor.sheets[0].selection
        if not tensor.texts:
            return f'<p class="name">{name}</p><p class="rest">no cells</p>'
        if len(tensor.shape) <= _MATRIX and not tensor.has_regions:
            return self._render_plane(first, (), name)
        parts = [f'<p class="name">{name}</p>']
        if tensor.has_regions:
            count = format_count(len(tensor.sheets), "neighbourhood")
            parts.append(f'{render_map(tensor)}<p class="close">{count}, close up</p>')
            selections = [sheet.selection for sheet in tensor.sheets]
            rows = [[(seen, lead) for seen in selections for lead in seen.planes]]
        else:
            grouped = groupby(first.planes, lambda lead: lead[:-1])
            rows = [[(first, lead) for lead in row] for _, row in grouped]
        for row in rows:
            tables = (
                self._render_plane(seen, lead, _caption(tensor, seen, lead)) for seen, lead in row
            )
            parts.append(f'<div class="planes">{"".join(tables)}</div>')
        return "".join(parts)

    def _render_plane(self, seen: Selection, lead: Coordinates, caption: str) -> str:
        rows, columns = map(_with_gaps, (seen.rows, seen.columns), seen.allowed[-_MATRIX:])
        if self._tensor.is_upright:
            rows, columns = columns, [0]
        blocks, chunks = _split_positions(rows, BLOCK), _split_positions(columns, CHUNK)
        if len(blocks) == len(chunks) == 1:
            return self._render_table(lead, rows, columns, caption)
        captions = [caption, *(f"<small>from {_first_position(b)}</small>" for b in blocks[1:])]
        return "".join(
            f'<div class="block">{self._render_block(lead, block, chunks, name)}</div>'
            for block, name in zip(blocks, captions, strict=True)
        )

    def _render_block(
        self, lead: Coordinates, rows: Positions, chunks: Sequence[Positions], caption: str
    ) -> str:
        """The same rows of every part of the columns, side by side."""
        if len(chunks) == 1:
            return self._render_table(lead, rows, chunks[0], caption)
        later = (f"<small>from column {_first_position(chunk)}</small>" for chunk in chunks[1:])
        pairs = zip(chunks, [caption, *later], strict=True)
        tables = (self._render_table(lead, rows, columns, name) for columns, name in pairs)
        return "".join(f'<div class="chunk">{table}</div>' for table in tables)

    def _render_table(
        self, lead: Coordinates, rows: Positions, columns: Positions, caption: str
    ) -> str:
        corner = '<td class="gap"></td>' if self._numbered else ""
        heads = _headers(columns, self._heads)
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
            owner = None if batch else self._cells.find_row_entry(shown)
            header = _row_header(self._cells, row, owner, batch=batch)
        return f"<tr>{header}{''.join(_cell(self._cells, at, owner) for at in line)}</tr>"

    def _at(self, lead: Coordinates, row: int, column: int) -> Coordinates:
        if self._tensor.is_upright:
            return (row,)
        rank = len(self._tensor.shape)
        return (*lead, row, column)[-rank:] if rank else ()


def _caption(tensor: PageTensor, seen: Selection, lead: Coordinates) -> str:
    """The plane, and of a lens which rows and columns it shows."""
    plane = plane_name(tensor, lead) if lead else ""
    if not tensor.has_regions:
        return plane
    rows, columns = (f"{numbers[0]} … {numbers[-1]}" for numbers in seen.allowed[-_MATRIX:])
    part = f"<small>rows {rows}, columns {columns}</small>"
    return f"{plane} {part}".strip()


def plane_name(tensor: PageTensor, lead: Coordinates) -> str:
    """The caption of a plane; batch axes are named as such."""
    name = f"{escape(tensor.subject.name)}[{','.join(map(str, lead))},:,:]"
    batch = lead[: tensor.subject.batch]
    return f"{name} <small>batch {','.join(map(str, batch))}</small>" if batch else name


def describe_hidden_cells(tensor: PageTensor) -> Iterator[str]:
    """What of the tensor is not drawn, in words."""
    if tensor.hidden_planes > 0:
        yield f"⋯ {format_count(tensor.hidden_planes, 'plane')} not shown"
    boxes = [mark.box for mark in tensor.subject.marks]
    if sum(map(box_size, boxes)) > COUNTED_CELLS:
        yield "most of the touched cells are not shown"
        return
    touched = np.unique(cell_numbers(boxes, tensor.shape)).size
    if touched > len(tensor.entries):
        yield f"{format_count(int(touched) - len(tensor.entries), 'touched cell')} not shown"


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


def _cell(cells: CellRenderer, at: Coordinates | range, owner: int | None) -> str:
    if isinstance(at, range):
        return '<td class="gap">⋯</td>'
    return cells.render_cell(at) if owner is None else cells.render_row_cell(at, owner)


def _headers(columns: Positions, heads: Sequence[str]) -> str:
    return "".join(
        f'<th scope="col" class="gap" aria-label="{format_count(len(at), "column")} not '
        f'shown">⋯</th>'
        if isinstance(at, range)
        else f'<th scope="col">{escape(heads[at]) if heads else at}</th>'
        for at in columns
    )


def _row_header(cells: CellRenderer, row: int, owner: int | None, *, batch: bool) -> str:
    """The number of the row, or the letter of the entry that it is; a row may be a batch."""
    if owner is None:
        return f'<th scope="row">{"<small>batch</small> " * batch}{row}</th>'
    chip = f'<i class="{cells.chip_class(owner)}">{entry_label(owner)}</i>'
    return f'<th scope="row" class="letter"><span class="v">entry </span>{chip}</th>'


def _with_gaps(shown: Sequence[int], allowed: range) -> list[int | range]:
    """The positions shown and, as ranges, those left out between them.

    >>> _with_gaps((0, 1, 7), range(9))
    [0, 1, range(2, 7), 7, range(8, 9)]
    """
    items: list[int | range] = []
    outside = (allowed.start - allowed.step, *shown, allowed.start + len(allowed) * allowed.step)
    for before, at in pairwise(outside):
        gap = range(before + allowed.step, at, allowed.step)
        items += [gap] * bool(gap) + [at]
    return items[:-1]
