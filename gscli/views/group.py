"""Tensors that are drawn together, as lines: one number format, one look, the same limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby

from gscli.base.arrays import Array, dtype_name
from gscli.base.records import Record
from gscli.base.words import counted
from gscli.views.cell_rows import Chunk, Measures, Pen, Ruling, fitting, is_narrow, measured
from gscli.views.lines import Block, block, flow, line_width
from gscli.views.look import (
    FLAT_LINES,
    LARGE,
    PLAIN,
    PLANES,
    ROWS,
    Limits,
    Line,
    Look,
    ViewOptions,
    cells,
    look_of,
    right,
)  # fmt: skip
from gscli.views.sheet import Cell, Sheet, is_asked, sheets_of
from gscli.views.subject import Subject
from gscli.views.texts import Heads, NumberFormat, Texts, number_format

PLANE_GAP = 4


_MATRIX = 2


_PAIR = 2


_GRID_RANK = 4


_BAR = 3


_NARROWEST_COLUMN = 3


ALIKE = 3
"""Planes that are shown of many which are touched alike."""


LENS_GAP = 4


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
        self.chunks = fitting(self.sheet, measures, self.pen, self.width - self._margin)
        self.shown = {place for chunk in self.chunks for place, _ in chunk}

    def draw(self, *, titled: bool = True) -> Block:
        """Title, planes, and how many planes are left out."""
        lines = [self.title] if titled else []
        if self.sheet.empty:
            return block([*lines, [("(empty)", self.look.dim)]])
        for group in plane_rows(self.sheet.selection.planes, self.sheet.rank):
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
        selection = self.sheet.selection
        rest = selection.plane_count - len(selection.planes)
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
        rows = self.sheet.selection.rows
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
        if self.look.oblique and self.sheet.selection.planes[number]:
            from gscli.views.crosshair import mark_oblique_plane

            lines = mark_oblique_plane(lines, f"{self.sheet.subject.name} {number}")
        return block(lines)

    def _plane(self, number: int) -> Iterator[Line]:
        plane = self.sheet.selection.planes[number]
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
        dim, selection = self.look.dim, self.sheet.selection
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
        step, rows = selection.allowed[-2].step, selection.allowed[-2]
        before, count = rows[0] - step, len(selection.columns)
        every = [place for place, _ in chunk] == list(range(count))
        for row, at in enumerate(selection.rows):
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


class DrawnGroup(Record):
    """Drawn tensors, the format of their numbers, and per tensor the marks not to be seen.

    `columns`: how many are shown, of all tensors together. `wrong`: shown cells that differ from
    what is expected.
    """

    blocks: tuple[Block, ...]
    numbers: NumberFormat
    columns: int
    hidden: tuple[tuple[str, int], ...]
    wrong: int = 0


def draw_group(
    found: Sequence[Subject],
    options: ViewOptions,
    width: int,
    extras: Sequence[Array] = (),
    *,
    fill: bool = False,
) -> DrawnGroup:
    """Draw `found`; `extras` are further values that the format must suit."""
    views = [_View(one, options, width, fill=fill) for one in found]
    drawn = [view for view in views if view.subject.role != "indices"]
    alike = [part for view in drawn for sheet in view.sheets for part in sheet.samples()]
    numbers = number_format([*alike, *extras], options)
    marks = [mark for one in found for mark in (one.unlit or one).marks]
    separated = any(len(mark.label) > 1 for mark in marks)
    for view in views:
        view.paint(numbers, separated=separated)
    _widen_twins([painter for view in views for painter in view.painters if not view.lensed])
    painters = [painter for view in views for painter in view.painters]
    return DrawnGroup(
        tuple(drawn for view in views for drawn in view.blocks()),
        numbers,
        sum(len(painter.shown) for painter in painters),
        tuple((view.subject.name, view.hidden()) for view in views),
        len({cell for painter in painters for cell in painter.wrong_cells()}),
    )


class _View:
    """One tensor of a group: its whole as a sheet, or a map with a lens per neighbourhood."""

    def __init__(self, subject: Subject, options: ViewOptions, width: int, *, fill: bool) -> None:
        self.subject, self.width, self.look = subject, width, look_of(options)
        self._marks = (subject.unlit or subject).marks
        mapped = subject.letters and bool(self._marks) and not is_asked(options)
        flat = subject.array.ndim < _MATRIX
        limits = _limits(subject, options, width, lines=flat, fill=fill)
        close = _limits(subject, options, width, lines=True)._replace(planes=1)
        self.sheets = sheets_of(subject, options, limits, close if mapped else None)
        self.lensed = self.sheets[0].lens
        large = not flat and subject.array.size > LARGE and not self.sheets[0].selection.complete
        self._mapped = self.lensed or (mapped and large)

    def paint(self, numbers: NumberFormat, *, separated: bool) -> None:
        """Choose columns; a whole that fits after all is not taken apart."""
        self.painters = [
            Painter(sheet, numbers, self.look, self.width, separated=separated)
            for sheet in self.sheets
        ]

    def blocks(self) -> list[Block]:
        """The sheet, of a large tensor a map too, and one lens or several."""
        drawn = [painter.draw(titled=not self.lensed) for painter in self.painters]
        if not self._mapped:
            return drawn
        from gscli.views.terminal.outline import outline

        seen = outline(self.subject.array.shape, self._marks, self.width, self.look)
        if not self.lensed:
            return [seen, *drawn]
        told = f"{counted(len(drawn), 'neighbourhood')}, close up"
        title = max((painter.title for painter in self.painters), key=line_width)
        lines = [title, [(told, self.look.dim)], *flow(drawn, self.width, LENS_GAP)]
        return [seen, block(lines)]

    def hidden(self) -> int:
        """How many entries no shown cell carries, of those that are to be seen at all."""
        visible = {number for painter in self.painters for number in painter.visible()}
        marks, whole = self.subject.marks, self.sheets[0]
        wanted = {mark.number for mark in marks if self.lensed or whole.asked_for(mark)}
        return len(wanted - visible)


def _widen_twins(painters: Sequence[Painter]) -> None:
    """Data and output with the same cells show the same columns, so old and new compare by eye."""
    sheets = [one for one in painters if one.sheet.subject.role in ("data", "output")]
    twins = [one for one in sheets if not one.sheet.empty]
    if len(twins) != _PAIR:
        return
    one, other = twins
    whole = {len(one.sheet.selection.allowed[-1])}
    if one.sheet.selection != other.sheet.selection or {len(one.shown), len(other.shown)} == whole:
        return
    if one.sheet.by_importance != other.sheet.by_importance:
        return
    for each, measures in ((one, other.measures), (other, one.measures)):
        each.widen(each.measures.joined(measures))


def _limits(
    subject: Subject, options: ViewOptions, width: int, *, lines: bool, fill: bool = False
) -> Limits:
    """`lines`: columns may go on below each other."""
    most = (options.rows or FLAT_LINES) if lines else 1
    return Limits(
        rows=options.rows or ROWS,
        columns=width // _NARROWEST_COLUMN * most,
        lines=most,
        planes=_planes(subject, options),
        edge=options.edge,
        full=options.full,
        fill=fill,
    )


def _planes(subject: Subject, options: ViewOptions) -> int:
    """How many planes are shown; few where every entry touches all of many alike."""
    alike = subject.marks and all(
        any(stop - start > PLANES for start, stop in mark.box[:-_MATRIX]) for mark in subject.marks
    )
    return ALIKE if alike and not is_asked(options) else PLANES
