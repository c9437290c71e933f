"""Pictures read back: which cells a drawn table shows, what they hold, where something is left out.

Knows nothing of how pictures are made; numbers only, no strings or complex values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

ACROSS, DOWN = "⋯", "⋮"
_LABEL = r"[a-zA-Z]+(?:,[a-zA-Z]+)*(?:,?\+\d+)?:"


class Cell(NamedTuple):
    """A drawn cell: the letters before it, how many more there are, and its number as written."""

    letters: tuple[str, ...]
    more: int
    text: str


class Table(NamedTuple):
    """Cells by (row, column); `columns` and `rows` as drawn, None where something is left out."""

    columns: tuple[int | None, ...]
    rows: tuple[int | None, ...]
    cells: dict[tuple[int, int], Cell]


def tables(
    lines: Sequence[str], *, commas: bool = False
) -> Iterator[tuple[tuple[int, ...], Table]]:
    """The tables of one tensor, each with its plane; `lines` follow the tensor's title.

    `commas`: letters of several entries have commas between them. Planes must stand below each
    other, as they do where only one fits the width.
    """
    plane: tuple[int, ...] = ()
    block: list[str] = []
    for line in [*lines, ""]:
        named = re.fullmatch(r"(?:batch [\d,]+  )?\[([\d,]*),:,:\]", line.strip())
        if named or not line.strip() or re.match(rf"{ACROSS} [\d,]+ plane", line):
            if block:
                yield plane, _table(block, commas=commas)
            block = []
            if named:
                plane = tuple(map(int, named[1].split(",")))
            continue
        if (
            block
            and re.fullmatch(rf"[\s\d{ACROSS}]+", line)
            and "│" not in line
            and "│" in block[-1]
        ):
            yield plane, _table(block, commas=commas)
            block = []
        block.append(line)


def _table(lines: Sequence[str], *, commas: bool) -> Table:
    columns = tuple(None if word == ACROSS else int(word) for word in lines[0].split())
    rows: list[int | None] = []
    cells: dict[tuple[int, int], Cell] = {}
    for number, line in enumerate(lines[1:]):
        head, bar, rest = line.partition("│")
        if not bar:
            head, rest = (DOWN, "") if set(line.split()) == {DOWN} else (str(number), line)
        row = None if DOWN in head else int(head.split()[-1])
        rows.append(row)
        if row is None:
            continue
        words = re.sub(rf"({_LABEL})\s+", r"\1", rest).split()
        assert len(words) == len(columns), (words, columns)
        for column, word in zip(columns, words, strict=True):
            assert (column is None) == (word == ACROSS)
            if column is not None:
                cells[row, column] = _cell(word, commas=commas)
    return Table(columns, tuple(rows), cells)


def _cell(word: str, *, commas: bool) -> Cell:
    found = re.match(_LABEL, word)
    if found is None:
        return Cell((), 0, word)
    letters, _, more = found[0][:-1].partition("+")
    written = letters.rstrip(",")
    parts = written.split(",") if commas else list(written)
    return Cell(tuple(parts), int(more or 0), word[found.end() :])


def missing(shown: Sequence[int | None], size: int) -> list[int]:
    """Coordinates that are neither drawn nor stood for by a mark; marks that stand for nothing."""
    wrong: list[int] = []
    before = -1
    marked = False
    for one in [*shown, size]:
        if one is None:
            marked = True
            continue
        left_out = list(range(before + 1, one))
        if bool(left_out) != marked:
            wrong += left_out or [one]
        before, marked = one, False
    return wrong


def gaps(shown: Sequence[int | None]) -> list[int]:
    """Coordinates of a lens before which others are left out without a mark."""
    pairs = pairwise(shown)
    return [after for before, after in pairs if None not in (before, after) and after != before + 1]
