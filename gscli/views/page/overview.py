"""The whole of a large matrix as an outline with letters: where in it the shown windows lie."""

from __future__ import annotations

from gscli.traces.trace import label_of
from gscli.views.page.cells import chip_class
from gscli.views.page.sheets import Sheet

WIDTH, LOWEST, HIGHEST = 300, 70, 220
"""Pixels of the outline; its height follows the shape of the matrix between two ends."""

MOST = 60
"""Entries that the outline marks."""

_CHIP = 18
_MATRIX = 2


def overview_svg(sheet: Sheet) -> str:
    """An `<svg>` for a matrix of which parts are left out, otherwise nothing.

    Pure decoration: rows and columns are named by the headers of the windows.
    """
    seen = sheet.window
    whole = len(seen.rows) == len(seen.allowed[-2]) and len(seen.columns) == len(seen.allowed[-1])
    if len(sheet.shape) != _MATRIX or whole or sheet.subject.role not in ("data", "output"):
        return ""
    rows, columns = sheet.shape
    height = max(LOWEST, min(HIGHEST, WIDTH * rows // columns))
    taken: set[tuple[int, int]] = set()
    chips = []
    for mark in sheet.subject.marks[:MOST]:
        (top, bottom), (left, right) = mark.box
        x = _spot(left + right, 2 * columns, WIDTH)
        y = _spot(top + bottom, 2 * rows, height)
        while any(abs(x - other) < _CHIP and abs(y - line) < _CHIP for other, line in taken):
            x += _CHIP
        taken.add((x, y))
        colour, label = chip_class(mark.number, live=True), label_of(mark.number)
        half = _CHIP // 2
        chips.append(
            f'<rect class="{colour}" x="{x - half}" y="{y - half}" width="{_CHIP}" '
            f'height="{_CHIP}" rx="3"/><text class="{colour}" x="{x}" y="{y + 5}">{label}</text>'
        )
    return (
        f'<figure class="map"><figcaption>where: rows 0 … {rows - 1:,} down, '
        f"columns 0 … {columns - 1:,} across</figcaption>"
        f'<svg viewBox="-2 -2 {WIDTH + 4} {height + 4}" width="{WIDTH + 4}" '
        f'height="{height + 4}" aria-hidden="true">'
        f'<rect class="outline" width="{WIDTH}" height="{height}"/>{"".join(chips)}</svg></figure>'
    )


def _spot(twice: int, size: int, pixels: int) -> int:
    """The middle of some places on an axis as a pixel, far enough from both ends for a chip.

    >>> _spot(1, 2000, 300), _spot(1000, 2000, 300), _spot(1999, 2000, 300)
    (9, 150, 291)
    """
    half = _CHIP // 2
    return max(half, min(pixels - half, twice * pixels // size))
