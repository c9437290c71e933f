"""A sheet as lines: title, planes side by side, axis numbers at the edge, rows of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby

from gscli.base.arrays import dtype_name
from gscli.base.text import counted
from gscli.views.lines import Block, block, flow
from gscli.views.look import PLAIN, Line, Look, cells, right
from gscli.views.numbers import NumberFormat
from gscli.views.sheet import Cell, Sheet
from gscli.views.terminal.cells import Pen, Ruling
from gscli.views.terminal.columns import Chunk, Measures, fitting, is_narrow, measured
from gscli.views.texts import Heads, Texts

PLANE_GAP = 4
_MATRIX = 2
_GRID_RANK = 4
_BAR = 3


class Painter:
    """Draws one sheet in `width`; `widen` keeps two tensors alike."""

    def __init__(
        self, sheet: Sheet, numbers: NumberFormat, look: Look, width: int, *, separated: bool
    ) -> None:
        self.sheet, self.width = sheet, width
        self.look, self.signs = look, look.signs
        subject = sheet.subject
        self.texts = Texts(sheet, numbers)
        self.marked, self.wrong = self.texts.marked, self.texts.wrong
        self.heads = Heads(sheet, self.marked) if subject.letters else None
        self.pen = Pen(
            look,
            last_wins=subject.last_wins,
            lefthand=subject.array.dtype.kind in "UTO",
            dim_rest=subject.dim_rest,
            wide=not all(map(is_narrow, self.texts.planes)),
            separated=separated,
            role="cell" if subject.letters else "result" if subject.role == "output" else "",
        )
        self.measures = measured(self.texts, self.pen)
        for at, marks in self.heads.columns.items() if self.heads else ():
            letters = cells(self.pen.letters(marks))
            self.measures.widths[at[1]] = max(self.measures.widths[at[1]], letters)
        self.widen(self.measures)

    def widen(self, measures: Measures) -> None:
        """Choose the columns that fit, in one table or several below each other."""
        window, room = self.sheet.window, self.width - self._margin
        alike = not self.sheet.lens
        self.chunks = fitting(window, measures, self.pen, room, self.sheet.lines, alike=alike)
        self.shown = {place for chunk in self.chunks for place, _ in chunk}

    def draw(self, *, titled: bool = True) -> Block:
        """Title, planes, and how many planes are left out."""
        lines = [self.title] if titled else []
        if self.sheet.empty:
            return block([*lines, [("(empty)", self.look.dim)]])
        for group in plane_rows(self.sheet.window.planes, self.sheet.rank):
            planes = [self._sheet(number) for number in group]
            lines += flow(planes, self.width, PLANE_GAP, between=0)
        return block([*lines, *self._left_out()])

    def visible(self) -> set[int]:
        """The entries that some shown cell carries."""
        marked = self.marked.items()
        return {m.number for (_, _, at), marks in marked if at in self.shown for m in marks}

    def wrong_cells(self) -> set[Cell]:
        """The cells that are shown and differ from what is expected."""
        return {self.sheet.cell(place) for place in self.wrong if place[2] in self.shown}

    @property
    def title(self) -> Line:
        """Name, dtype and shape."""
        array, name = self.sheet.subject.array, self.sheet.subject.name
        facts = f"  {dtype_name(array.dtype)} [{self.signs.times.join(map(str, array.shape))}]"
        changed = any(self.signs.arrow in text for texts in self.texts.planes for text in texts)
        if (changed and self.sheet.before) or self.wrong:
            facts += f"   was {self.signs.arrow} is" if changed and self.sheet.before else "   is"
            facts += f" {self.signs.differs} expected" if self.wrong else ""
        return [(self.signs.text(name, 60), self.look.bold), (facts, self.look.dim)]

    def _left_out(self) -> list[Line]:
        window = self.sheet.window
        rest = window.plane_count - len(window.planes)
        if not rest:
            return []
        untouched = self.sheet.subject.dim_rest and not self.sheet.hides_planes()
        fate = "untouched" if untouched else "not shown"
        words = f"{self.signs.across} {counted(rest, 'plane')} {fate}"
        return [[(words, self.look.dim)]]

    @cached_property
    def _heads(self) -> list[str]:
        """What stands before each row; nothing for rank 0 and 1."""
        if self.sheet.rank < _MATRIX or self.sheet.empty:
            return []
        rows = self.sheet.window.rows
        wide = max(len(str(row)) for row in rows)
        word = "batch " if self.sheet.subject.batch > self.sheet.rank - _MATRIX else ""
        return [f"{word}{row:>{wide}} {self.signs.bar} " for row in rows]

    @cached_property
    def _margin(self) -> int:
        return self._letter_room + (cells(self._heads[0]) if self._heads else 0)

    @property
    def _steps(self) -> bool:
        """Whether room for letters is kept that only another step shows."""
        unlit = self.sheet.subject.unlit
        return self.heads is not None and self.sheet.rank >= _MATRIX and bool(unlit and unlit.marks)

    @cached_property
    def _letter_room(self) -> int:
        """Room for the letters before row numbers, the same in every plane."""
        if self._steps and self.sheet.subject.unlit:
            return max(cells(mark.label) for mark in self.sheet.subject.unlit.marks) + 1
        rows = self.heads.rows.values() if self.heads else ()
        return max((cells(self.pen.letters(marks)) + 1 for marks in rows), default=0)

    def _head(self, plane: int, row: int) -> Line:
        if not self._heads:
            return []
        marks = self.heads.rows.get((plane, row), ()) if self.heads else ()
        pad = self._letter_room - cells(self.pen.letters(marks)) - 1
        letters: Line = [(" " * pad, PLAIN), *self.pen.letter_runs(marks), (" ", PLAIN)]
        return [*(letters if self._letter_room else []), (self._heads[row], self.look.dim)]

    def _sheet(self, number: int) -> Block:
        """One plane, in a wide figure as an oblique sheet."""
        lines = list(self._plane(number))
        if self.look.oblique and self.sheet.window.planes[number]:
            from gscli.views.oblique import leaning

            lines = leaning(lines, f"{self.sheet.subject.name} {number}")
        return block(lines)

    def _plane(self, number: int) -> Iterator[Line]:
        plane = self.sheet.window.planes[number]
        if plane:
            lit = any(place[0] == number for place in self.marked)
            line = [(self._plane_name(plane), self.look.bold if lit else self.look.dim)]
            if self.heads and (whole := self.heads.planes.get(number)):
                line += [("  ", PLAIN), *self.pen.letter_runs(whole)]
            yield line
        for place, chunk in enumerate(self.chunks):
            if place:
                yield []
            yield from self._table(number, chunk)

    def _plane_name(self, plane: tuple[int, ...]) -> str:
        name = f"[{','.join(map(str, plane))},:,:]"
        batch = ",".join(map(str, plane[: self.sheet.subject.batch]))
        return f"batch {batch}  {name}" if batch else name

    def _table(self, plane: int, chunk: Chunk) -> Iterator[Line]:
        dim, window = self.look.dim, self.sheet.window
        columns = [column for _, column in chunk]
        if self.heads and (self.heads.columns or self._steps):
            letters = {
                number: self.heads.columns.get((plane, at), ())
                for number, (at, _) in enumerate(chunk)
            }
            yield [(" " * self._margin, dim), *self.pen.letter_heads(columns, letters)]
        ruling = self.pen.ruling(columns)
        if self.sheet.rank:
            yield [(" " * self._margin, dim), *self.pen.header(ruling)]
        step, rows = window.allowed[-2].step, window.allowed[-2]
        before, count = rows[0] - step, len(window.columns)
        every = [place for place, _ in chunk] == list(range(count))
        for row, at in enumerate(window.rows):
            if at - before > step:
                yield self._dots(ruling)
            texts = self.texts.planes[plane][row * count : (row + 1) * count]
            touched = self.texts.rows.get((plane, row), {})
            if not every:
                texts = [texts[place] for place, _ in chunk]
                touched = {n: touched[at] for n, (at, _) in enumerate(chunk) if at in touched}
            yield [*self._head(plane, row), *self.pen.row(texts, ruling, touched)]
            before = at
        if before != rows[-1]:
            yield self._dots(ruling)

    def _dots(self, ruling: Ruling) -> Line:
        """The row that stands for rows left out."""
        head = right(self.signs.down, self._margin - _BAR) + " " * _BAR
        return [(head, self.look.dim), *self.pen.dots(ruling)]


def plane_rows(planes: Sequence[tuple[int, ...]], rank: int) -> list[list[int]]:
    """Planes that may stand side by side: axis 0 of a four-dimensional tensor goes down.

    >>> plane_rows([(0, 0), (0, 1), (1, 0)], 4), plane_rows([(0,), (1,)], 3)
    ([[0, 1], [2]], [[0, 1]])
    """
    numbered = list(enumerate(planes))
    if rank != _GRID_RANK:
        return [[number for number, _ in numbered]]
    return [[number for number, _ in row] for _, row in groupby(numbered, lambda one: one[1][0])]
