"""A sheet as lines: title, planes side by side, axis numbers at the edge, rows of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from gscli.arrays import dtype_name
from gscli.views.cells import Cell, Column, Pen
from gscli.views.flow import Block, block, flow
from gscli.views.lines import Line
from gscli.views.numbers import NumberFormat
from gscli.views.palette import Palette
from gscli.views.sheet import Place, Sheet
from gscli.views.signs import Signs, cells, right

PLANE_GAP = 4
_MATRIX = 2
_GRID_RANK = 4
_CHUNKS = 4
"""Lines that a one-dimensional tensor may take before columns are left out."""


@dataclass(frozen=True)
class Drawing:
    """A finished tensor, and how many of its marks no shown cell carries."""

    block: Block
    hidden: int


def paint(
    sheet: Sheet, width: int, numbers: NumberFormat, palette: Palette, signs: Signs, *, full: bool
) -> Drawing:
    """The sheet, at most `width` wide where a single column fits."""
    title = _title(sheet, palette, signs)
    if sheet.empty:
        return Drawing(block([title, [("(empty)", palette.dim)]]), 0)
    return _Painter(sheet, width, numbers, palette, signs, full).drawing(title)


def _title(sheet: Sheet, palette: Palette, signs: Signs) -> Line:
    array = sheet.subject.array
    facts = f"  {dtype_name(array.dtype)} [{signs.times.join(map(str, array.shape))}]"
    return [(signs.text(sheet.subject.name, 60), palette.bold), (facts, palette.dim)]


class _Painter:
    def __init__(
        self,
        sheet: Sheet,
        width: int,
        numbers: NumberFormat,
        palette: Palette,
        signs: Signs,
        full: bool,
    ) -> None:
        self.sheet, self.window, self.subject = sheet, sheet.window, sheet.subject
        self.palette, self.signs = palette, signs
        self.pen = Pen(
            palette,
            signs,
            last_wins=sheet.subject.last_wins,
            lefthand=sheet.subject.array.dtype.kind in "UTO",
            dim_rest=sheet.subject.dim_rest,
        )
        self.marked, self.how = sheet.marked(), sheet.how()
        self.texts = [self._texts(number, numbers) for number in range(len(self.window.planes))]
        self.heads = self._row_heads()
        self.width = width
        room = width - cells(self.heads[0]) if self.heads else width
        most = len(self.window.columns) if full else (_CHUNKS if sheet.rank <= 1 else 1)
        self.chunks = self._chunks(room, most)

    def drawing(self, title: Line) -> Drawing:
        """Title and planes."""
        lines = [title]
        many = sheet_groups(self.window.planes, self.sheet.rank)
        for group in many:
            planes = [block(list(self._plane(number))) for number in group]
            lines += flow(planes, self.width, PLANE_GAP, between=0)
        left_out = self.window.plane_count - len(self.window.planes)
        if left_out:
            plane = "plane" if left_out == 1 else "planes"
            words = f"{self.signs.across} {left_out} {plane} {self._fate_of_planes()}"
            lines.append([(words, self.palette.dim)])
        return Drawing(block(lines), self._hidden())

    def _fate_of_planes(self) -> str:
        return "not shown"

    def _hidden(self) -> int:
        columns = {place for chunk in self.chunks for place, _ in chunk}
        visible = {
            mark.number
            for (_, _, column), marks in self.marked.items()
            if column in columns
            for mark in marks
        }
        return len(self.subject.marks) - len(visible)

    def _texts(self, plane: int, numbers: NumberFormat) -> list[str]:
        texts = numbers.texts(self.sheet.blocks[plane], self.signs)
        if self.subject.blank:
            dot = "·" if self.signs.utf8 else "."
            known = self.sheet.known[plane].reshape(-1).tolist()
            return [text if sure else dot for text, sure in zip(texts, known, strict=True)]
        return texts

    def _row_heads(self) -> list[str]:
        """What stands before each row; nothing for rank 0 and 1."""
        if self.sheet.rank < _MATRIX:
            return []
        wide = max(len(str(row)) for row in self.window.rows)
        word = "batch " if self.subject.batch > self.sheet.rank - _MATRIX else ""
        return [f"{word}{row:>{wide}} {self.signs.bar} " for row in self.window.rows]

    def _measures(self) -> tuple[list[int], list[int]]:
        """Width of letters and number, and of the sign, per candidate column."""
        count = len(self.window.columns)
        widths = [
            max(max(map(cells, texts[column::count])) for texts in self.texts)
            for column in range(count)
        ]
        for (plane, row, column), marks in self.marked.items():
            label = self.pen.label(marks)
            text = self.texts[plane][row * count + column]
            widths[column] = max(widths[column], cells(label) + cells(text))
        signs = [0] * count
        for (_, _, column), how in self.how.items():
            signs[column] = max(signs[column], cells(self.signs.of(how)))
        names = (
            [len(str(one)) for one in self.window.columns] if self.sheet.rank else [0] * count
        )
        return [max(pair) for pair in zip(widths, names, strict=True)], signs

    def _chunks(self, room: int, most: int) -> list[list[tuple[int, Column]]]:
        """The shown columns in lines of at most `room`; the least important go first."""
        widths, signs = self._measures()
        place_of = {one: place for place, one in enumerate(self.window.columns)}
        order = [place_of[one] for one in self.window.by_importance]
        alike = [max(widths)] * len(widths), [max(signs)] * len(signs)
        chunks = self._split(sorted(order), *alike, room)
        if len(chunks) <= most and self.window.all_columns:
            return chunks
        for count in range(len(order), 0, -1):
            chunks = self._split(sorted(order[:count]), widths, signs, room)
            if len(chunks) <= most:
                break
        return chunks

    def _split(
        self, places: Sequence[int], widths: Sequence[int], signs: Sequence[int], room: int
    ) -> list[list[tuple[int, Column]]]:
        step = self.window.allowed[-1].step
        chunks: list[list[tuple[int, Column]]] = []
        used, before = 0, self.window.allowed[-1].start - step
        for place in places:
            at = self.window.columns[place]
            column = Column(at, widths[place], signs[place], at - before != step)
            size = column.width + column.sign
            if chunks and used + self.pen.gap(column, first=False) + size <= room:
                used += self.pen.gap(column, first=False) + size
            else:
                chunks.append([])
                used = self.pen.gap(column, first=True) + size
            chunks[-1].append((place, column))
            before = at
        return chunks

    def _plane(self, number: int) -> Iterator[Line]:
        plane = self.window.planes[number]
        if plane:
            lit = any(place[0] == number for place in self.marked)
            yield [(self._plane_name(plane), self.palette.bold if lit else self.palette.dim)]
        for chunk in self.chunks:
            yield from self._table(number, chunk)

    def _plane_name(self, plane: tuple[int, ...]) -> str:
        name = f"[{','.join(map(str, plane))},:,:]"
        batch = ",".join(map(str, plane[: self.subject.batch]))
        return f"batch {batch}  {name}" if batch else name

    def _table(self, plane: int, chunk: Sequence[tuple[int, Column]]) -> Iterator[Line]:
        dim = self.palette.dim
        columns = [column for _, column in chunk]
        if self.sheet.rank:
            margin = cells(self.heads[0]) if self.heads else 0
            yield [(" " * margin, dim), *self.pen.header(columns)]
        before = self.window.rows[0]
        step = self.window.allowed[-2].step
        for row, at in enumerate(self.window.rows):
            if at - before > step:
                head = right(self.signs.down, cells(self.heads[0]) - 3)
                yield [(f"{head} {self.signs.bar} ", dim), *self.pen.dots(columns)]
            line = self.pen.row([self._cell((plane, row, place)) for place, _ in chunk], columns)
            yield [(self.heads[row], dim), *line] if self.heads else line
            before = at

    def _cell(self, place: Place) -> Cell:
        plane, row, column = place
        text = self.texts[plane][row * len(self.window.columns) + column]
        return Cell(text, tuple(self.marked.get(place, ())), self.how.get(place))


def sheet_groups(planes: Sequence[tuple[int, ...]], rank: int) -> list[list[int]]:
    """Planes that may stand side by side: axis 0 of a four-dimensional tensor goes down."""
    if rank != _GRID_RANK:
        return [list(range(len(planes)))]
    numbered = enumerate(planes)
    return [[number for number, _ in group] for _, group in groupby(numbered, lambda one: one[1][0])]
