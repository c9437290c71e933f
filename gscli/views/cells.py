"""One row of cells: letters left, numbers right, a chip per entry, a bar per slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style

from gscli.tracing import How
from gscli.views.lines import Line
from gscli.views.palette import PLAIN, Palette
from gscli.views.signs import Signs, cells, left, right
from gscli.views.subject import Mark

MOST_LETTERS = 4
GAP = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """A shown cell: its number as text, the marks on it, what became of an index."""

    text: str
    marks: tuple[Mark, ...] = ()
    how: How | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A shown column: coordinate, width of letters and number, width of the sign behind.

    `skips`: columns before it are left out.
    """

    coordinate: int
    width: int
    sign: int
    skips: bool = False


@dataclass(frozen=True)
class Pen:
    """Draws rows in one palette and character set. `lefthand`: strings stand at the left."""

    palette: Palette
    signs: Signs
    last_wins: bool = False
    lefthand: bool = False
    dim_rest: bool = True

    def gap(self, column: Column, first: bool) -> int:
        """Cells before a column."""
        if column.skips:
            return cells(self.signs.across) + GAP * (1 if first else 2)
        return 0 if first else GAP

    def width(self, columns: Sequence[Column]) -> int:
        """Width of a row of these columns."""
        gaps = sum(self.gap(column, number == 0) for number, column in enumerate(columns))
        return gaps + sum(column.width + column.sign for column in columns)

    def header(self, columns: Sequence[Column]) -> Line:
        """The coordinates above the numbers."""
        parts: list[str] = []
        for number, column in enumerate(columns):
            parts.append(self._gap_text(column, number == 0))
            name = str(column.coordinate)
            place = left(name, column.width) if self.lefthand else right(name, column.width)
            parts.append(place + " " * column.sign)
        return [("".join(parts), self.palette.dim)]

    def dots(self, columns: Sequence[Column]) -> Line:
        """The row that stands for rows left out."""
        parts: list[str] = []
        for number, column in enumerate(columns):
            parts.append(" " * self.gap(column, number == 0))
            parts.append(right(self.signs.down, column.width) + " " * column.sign)
        return [("".join(parts), self.palette.dim)]

    def row(self, row: Sequence[Cell], columns: Sequence[Column]) -> Line:
        """Cells of one row; neighbours of one entry alone join into a bar."""
        line: Line = []
        rest = self.palette.dim if self.dim_rest else PLAIN
        before: Mark | None = None
        for number, (cell, column) in enumerate(zip(row, columns, strict=True)):
            alone = cell.marks[0] if len(cell.marks) == 1 else None
            joined = self.palette.bars and alone is not None and alone is before
            gap = self._gap_text(column, number == 0)
            line.append((gap, self._chip(alone) if joined and alone else rest))
            if not cell.marks:
                line.append((self._placed(cell.text, column.width) + " " * column.sign, rest))
            else:
                line += self._marked(cell, column, joined=joined)
            before = alone
        return line

    def label(self, marks: Sequence[Mark]) -> str:
        """The letters of a cell: `b:`, `acf:`, from five on `a+4:`.

        >>> from gscli.views.options import ViewOptions
        >>> from gscli.views.palette import palette_of
        >>> from gscli.views.signs import signs_of
        >>> pen = Pen(palette_of(ViewOptions()), signs_of(ViewOptions()))
        >>> pen.label([Mark(0, "a", ()), Mark(2, "c", ())])
        'ac:'
        """
        return "".join(text for text, _ in self._letters(marks)) + ":" if marks else ""

    def _letters(self, marks: Sequence[Mark]) -> list[tuple[str, Mark | None]]:
        if len(marks) > MOST_LETTERS:
            return [(marks[0].label, marks[0]), (f"+{len(marks) - 1}", None)]
        comma = any(len(mark.label) > 1 for mark in marks)
        found: list[tuple[str, Mark | None]] = []
        for number, mark in enumerate(marks):
            if comma and number:
                found.append((",", None))
            found.append((mark.label, mark))
        return found

    def _marked(self, cell: Cell, column: Column, *, joined: bool) -> Line:
        sign = left(self.signs.of(cell.how) if cell.how else "", column.sign)
        label = "" if joined else self.label(cell.marks)
        number = self._placed(cell.text, column.width - cells(label))
        if len(cell.marks) == 1:
            mark = cell.marks[0]
            return [(label, self._chip(mark)), (number + sign, self._value(mark))]
        value = self._value(cell.marks[-1]) if self.last_wins else self.palette.several
        line: Line = [
            (text, self._value(mark) if mark else value) for text, mark in self._letters(cell.marks)
        ]
        return [*line, (":" + number + sign, value)]

    def _chip(self, mark: Mark) -> Style:
        return self.palette.alarm if mark.alarm else self.palette.chip(mark.number)

    def _value(self, mark: Mark) -> Style:
        return self.palette.alarm if mark.alarm else self.palette.value(mark.number)

    def _placed(self, text: str, width: int) -> str:
        return left(text, width) if self.lefthand else right(text, width)

    def _gap_text(self, column: Column, first: bool) -> str:
        if not column.skips:
            return "" if first else " " * GAP
        return (" " * GAP if not first else "") + self.signs.across + " " * GAP
