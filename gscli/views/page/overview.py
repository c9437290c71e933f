"""The whole of a large tensor as outlines with letters: where in it the shown parts lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gscli.traces import entry_label
from gscli.views.lenses import group_by_plane
from gscli.views.markup import escape
from gscli.views.page.cells import chip_class
from gscli.views.page.sheets import PageTensor
from gscli.views.subject import Mark

WIDTH, LOWEST, HIGHEST = 300, 70, 140
"""Pixels of the outline; its height follows the shape of the matrix between two ends."""

MOST, MOST_PLANES = 60, 6
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
    marks = tensor.subject.marks[:MOST]
    *_, rows, columns = tensor.shape
    planes = group_by_plane(marks)[:MOST_PLANES]
    maps = "".join(_map(rows, columns, own, title) for title, own in planes)
    return (
        f'<figure class="map"><figcaption>where: rows 0 … {rows - 1:,} down, '
        f"columns 0 … {columns - 1:,} across</figcaption>{maps}</figure>"
    )


def _map(rows: int, columns: int, marks: Sequence[Mark], title: str) -> str:
    height = max(LOWEST, min(HIGHEST, WIDTH * rows // columns))
    name = f'<text class="plane" x="0" y="-7">{escape(title)}</text>' if title else ""
    head = 22 if title else 0
    chips = "".join(_chips(rows, columns, height, marks))
    return (
        f'<svg viewBox="-2 {-2 - head} {WIDTH + 4} {height + 4 + head}" width="{WIDTH + 4}" '
        f'height="{height + 4 + head}" aria-hidden="true">'
        f'{name}<rect class="outline" width="{WIDTH}" height="{height}"/>{chips}</svg>'
    )


def _chips(rows: int, columns: int, height: int, marks: Sequence[Mark]) -> Iterator[str]:
    """How far each entry reaches, and above all of them the letters."""
    places: set[tuple[int, int]] = set()
    letters: list[str] = []
    for mark in marks:
        (top, bottom), (left, right) = mark.box[-_MATRIX:]
        colour, label = chip_class(mark.number, live=not mark.alarm), entry_label(mark.number)
        if (bottom - top, right - left) != (1, 1):
            x, y = left * WIDTH // columns, top * height // rows
            wide = max((right - left) * WIDTH // columns, 4)
            high = max((bottom - top) * height // rows, 4)
            yield f'<rect class="reach {colour}" x="{x}" y="{y}" width="{wide}" height="{high}"/>'
        x = _chip_position(left + right, 2 * columns, WIDTH)
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
