"""Sheets as HTML tables: captions, header cells and rows.

Everything that a reader sees or hears is in the markup, so the page reads without its script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np

from gscli.base.arrays import dtype_name
from gscli.base.words import format_count
from gscli.layout.axes import box_size
from gscli.traces import entry_label
from gscli.views.markup import escape
from gscli.views.page.cells import CellRenderer, render_map_svg
from gscli.views.page.sheets import PageTensor
from gscli.views.page.words import format_shape_words
from gscli.views.sheet import Coordinates, Selection
from gscli.views.summary import COUNTED_CELLS, cell_numbers

BLOCK, CHUNK = 25, 10
"""Rows and columns of one table; a browser lays out and paints anew only what changes or comes in
sight, and headers are never far.
"""

_MATRIX = 2


def render_tensor(
    tensor: PageTensor, cells: CellRenderer, *, title: str = "", column_headers: Sequence[str] = ()
) -> str:
    """One tensor with its heading, planes and what is left out.

    `title` in place of its name; `heads` over the columns in place of their numbers.
    """
    subject = tensor.subject
    kind = f"{dtype_name(subject.array.dtype)} {format_shape_words(tensor.shape)}"
    tables = _tables(
        tensor, f"{escape(title or subject.name)} <small>{kind}</small>", cells, column_headers
    )
    return (
        f'<div class="tensor {subject.role}" data-n="{escape(subject.name)}">{tables}'
        + "".join(f'<p class="rest">{line}</p>' for line in describe_hidden_cells(tensor))
        + render_map_svg(tensor) * (not tensor.has_regions)
        + "</div>"
    )


def _tables(tensor: PageTensor, name: str, cells: CellRenderer, heads: Sequence[str]) -> str:
    if not tensor.texts:
        return f'<p class="name">{name}</p><p class="rest">no cells</p>'
    rank = len(tensor.shape)
    if rank <= _MATRIX and not tensor.has_regions:
        return _table(tensor, tensor.sheets[0].selection, (), name, cells, heads)
    parts = [f'<p class="name">{name}</p>']
    if tensor.has_regions:
        count = format_count(len(tensor.sheets), "neighbourhood")
        parts.append(f'{render_map_svg(tensor)}<p class="close">{count}, close up</p>')
        rows = [
            [(sheet.selection, lead) for sheet in tensor.sheets for lead in sheet.selection.planes]
        ]
    else:
        seen = tensor.sheets[0].selection
        grouped = groupby(seen.planes, lambda lead: lead[:-1])
        rows = [[(seen, lead) for lead in row] for _, row in grouped]
    for row in rows:
        tables = (
            _table(tensor, seen, lead, _caption(tensor, seen, lead), cells, heads)
            for seen, lead in row
        )
        parts.append(f'<div class="planes">{"".join(tables)}</div>')
    return "".join(parts)


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


def _table(
    tensor: PageTensor,
    seen: Selection,
    lead: Coordinates,
    caption: str,
    cells: CellRenderer,
    heads: Sequence[str],
) -> str:
    """One plane as a table; of many rows or columns, as tables of some each."""
    rows, columns = (
        _with_gaps(shown, allowed)
        for shown, allowed in ((seen.rows, seen.allowed[-2]), (seen.columns, seen.allowed[-1]))
    )
    if tensor.is_upright:
        rows, columns = columns, [0]
    frames = [
        _TableFrame(tensor, lead, chunk, cells, heads) for chunk in _split_positions(columns, CHUNK)
    ]
    blocks = list(_split_positions(rows, BLOCK))
    if len(blocks) == len(frames) == 1:
        return frames[0].table(rows, caption)
    captions = [caption] + [f"<small>from {_first_position(block)}</small>" for block in blocks[1:]]
    return "".join(
        f'<div class="block">{_chunks(frames, block, name)}</div>'
        for block, name in zip(blocks, captions, strict=True)
    )


def _chunks(frames: Sequence[_TableFrame], rows: Sequence[int | range], caption: str) -> str:
    """The same rows of every part of the columns, side by side."""
    if len(frames) == 1:
        return frames[0].table(rows, caption)
    captions = [caption] + [f"<small>from column {later.first}</small>" for later in frames[1:]]
    tables = [frame.table(rows, name) for frame, name in zip(frames, captions, strict=True)]
    return "".join(f'<div class="chunk">{table}</div>' for table in tables)


def _split_positions(places: Sequence[int | range], size: int) -> Iterator[Sequence[int | range]]:
    """All at once where they are few, else some each.

    >>> [[len(part) for part in _split_positions(range(size), 10)] for size in (15, 25)]
    [[15], [10, 10, 5]]
    """
    if len(places) <= size + size // 2:
        size = len(places)
    for first in range(0, len(places), size or 1):
        yield places[first : first + size]


def _first_position(places: Sequence[int | range]) -> int:
    return places[0].start if isinstance(places[0], range) else places[0]


class _TableFrame:
    """What the rows of one plane have in common."""

    def __init__(
        self,
        tensor: PageTensor,
        lead: Coordinates,
        columns: Sequence[int | range],
        cells: CellRenderer,
        heads: Sequence[str],
    ) -> None:
        self._tensor, self._lead, self._columns, self._cells = tensor, lead, columns, cells
        headed = len(tensor.shape) > 0 and bool(heads or not tensor.is_upright)
        self._numbered = len(tensor.shape) >= _MATRIX or tensor.is_upright
        corner = '<td class="gap"></td>' if self._numbered else ""
        self._head = f"<thead><tr>{corner}{_headers(columns, heads)}</tr></thead>" if headed else ""
        self.first = _first_position(columns)
        places = ",".join(map(str, lead))
        self._open = '<table role="grid" aria-readonly="true"' + (
            f' data-l="{places}">' if lead else ">"
        )

    def table(self, rows: Sequence[int | range], caption: str) -> str:
        """A `<table>` of some rows."""
        body = "".join(map(self._row, rows))
        return f"{self._open}<caption>{caption}</caption>{self._head}<tbody>{body}</tbody></table>"

    def _row(self, row: int | range) -> str:
        if isinstance(row, range):
            text = f"⋮ {format_count(len(row), 'row')}"
            return f'<tr><td class="gap" colspan="{len(self._columns) + 1}">{text}</td></tr>'
        line = [column if isinstance(column, range) else self._at(row, column)
                for column in self._columns]  # fmt: skip
        if not self._numbered:
            return f"<tr>{''.join(_cell(self._cells, at, None) for at in line)}</tr>"
        batch = 0 < self._tensor.subject.batch >= len(self._tensor.shape) - 1
        shown = [at for at in line if not isinstance(at, range)]
        owner = None if batch else self._cells.find_row_entry(shown)
        cells = "".join(_cell(self._cells, at, owner) for at in line)
        return f"<tr>{_row_header(self._cells, row, owner, batch=batch)}{cells}</tr>"

    def _at(self, row: int, column: int) -> Coordinates:
        if self._tensor.is_upright:
            return (row,)
        rank = len(self._tensor.shape)
        return (*self._lead, row, column)[-rank:] if rank else ()


def _cell(cells: CellRenderer, at: Coordinates | range, owner: int | None) -> str:
    if isinstance(at, range):
        return '<td class="gap">⋯</td>'
    return cells.render_cell(at) if owner is None else cells.render_row_cell(at, owner)


def _headers(columns: Sequence[int | range], heads: Sequence[str]) -> str:
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
