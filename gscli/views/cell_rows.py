"""One sheet as lines: which columns fit, heads, and rows of cells.

Letters stand left and numbers right; the cells of a slice are a bar.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, groupby
from typing import TypeAlias

from gscli.base.arrays import dtype_name
from gscli.base.records import Record
from gscli.base.words import format_count
from gscli.views.lines import Block, flow_blocks, line_width, make_block
from gscli.views.look import (
    MATRIX,
    PLAIN,
    Line,
    Role,
    Style,
    StyleSheet,
    TextRun,
    cell_len,
    pad_left,
    pad_right,
)
from gscli.views.sheet import Coordinates, HeadRole, SheetPosition, VisibleTensor, fill_gaps
from gscli.views.subject import Mark
from gscli.views.texts import CellTexts, NumberFormat

MOST_LETTERS = 4
GAP = 2
PLANE_GAP = 4
_GRID_RANK = 4
_BAR = 3


class ShownColumn(Record):
    """A shown column: its place among the candidates, coordinate, width of letters and number,
    width of the sign behind.

    `gap`: what stands before it, a sign too where columns are left out; `tail`: what stands behind
    the last one.
    """

    place: int
    coordinate: int
    width: int
    sign: int
    gap: str = ""
    tail: str = ""


# Columns of one table.
Chunk: TypeAlias = list[ShownColumn]


# Columns are as wide as the widest while that makes a row no more than so many times wider.
MOST_PADDING = 1.7


# Per candidate column: width of letters and number, width of the sign behind.
ColumnWidths: TypeAlias = tuple[list[int], list[int]]


class TensorRenderer:
    """Draws one sheet in `width`, in one table or several below each other.

    `has_long_labels`: an entry of the picture has a label of two letters, so that letters of
    several need a comma.
    """

    def __init__(
        self, sheet: VisibleTensor, numbers: NumberFormat, look: StyleSheet, width: int,
        *, has_long_labels: bool,
    ) -> None:  # fmt: skip
        subject = sheet.subject
        self.sheet, self.subject, self.width = sheet, subject, width
        self.look, self.signs, self._has_long_labels = look, look.signs, has_long_labels
        self.texts = CellTexts(sheet, numbers)
        self.marked, self.wrong = self.texts.marked, self.texts.difference_tails
        self._annotated = self.marked.keys() | self.wrong.keys()
        self._is_left_aligned = subject.array.dtype.kind in "UTOS"
        self._role: Role = "result" if subject.role == "output" else ""
        self._role = "cell" if subject.is_target else self._role
        self._rest = look.dim if subject.left_out == 0 else PLAIN
        self._lit_heads = sheet.find_heads() if subject.is_target and subject.full_run else {}
        self.chunks = self._fit_columns(self._measure_columns())
        self.shown = {column.place for chunk in self.chunks for column in chunk}

    def render(self, *, titled: bool = True) -> Block:
        """Title, planes, and how many planes are left out."""
        lines = list(self.title) if titled else []
        if self.sheet.empty:
            return make_block([*lines, [("(empty)", self.look.dim)]])
        for group in group_plane_rows(self.sheet.selection.planes, self.sheet.rank):
            planes = [self._sheet(number) for number in group]
            lane = self.look.with_role(PLAIN, "lane")
            lines += flow_blocks(planes, self.width, PLANE_GAP, between=0, lane=lane)
        return make_block([*lines, *self._left_out()])

    def visible_entries(self) -> set[int]:
        """The entries that some shown cell carries."""
        marked = self.marked.items()
        return {m.number for (_, _, at), marks in marked if at in self.shown for m in marks}

    def shown_differences(self) -> set[Coordinates]:
        """The cells that are shown and differ from what is expected."""
        return {self.sheet.to_coordinates(place) for place in self.wrong if place[2] in self.shown}

    @property
    def title(self) -> list[Line]:
        """Name, dtype and shape, and what `was → is` means."""
        array, before = self.subject.array, self.subject.before
        facts = f"  {dtype_name(array.dtype)} [{self.signs.times.join(map(str, array.shape))}]"
        changed, words = any(self.signs.arrow in text for text in self.texts.cells.flat), ""
        if (changed and before) or self.wrong:
            was, now = before.words if before else ("", "is")
            words += f"   {was} {self.signs.arrow} {now}" if changed and before else f"   {now}"
            words += f" {self.signs.differs} expected" if self.wrong else ""
        head: Line = [(self.signs.sanitize(self.subject.name, 60), self.look.bold)]
        head, below = [*head, (facts, self.look.dim)], (words, self.look.dim)
        is_broken = bool(words) and line_width([*head, below]) > self.width
        return [head, [below]] if is_broken else [[*head, below]]

    def _left_out(self) -> list[Line]:
        selection = self.sheet.selection
        rest = selection.plane_count - len(selection.planes)
        if not rest:
            return []
        untouched = self.subject.left_out == 0 and not self.sheet.hides_planes()
        fate = "untouched" if untouched else "not shown"
        return [[(f"{self.signs.across} {format_count(rest, 'plane')} {fate}", self.look.dim)]]

    # --- planes and their heads -----------------------------------------------------------

    @cached_property
    def _row_names(self) -> list[str]:
        """How each row is called before its bar; nothing for rank 0 and 1."""
        if self.sheet.rank < MATRIX or self.sheet.empty:
            return []
        rows = self.sheet.selection.rows
        wide = max(len(str(row)) for row in rows)
        word = "batch " if self.subject.batch > self.sheet.rank - MATRIX else ""
        return [f"{word}{row:>{wide}}" for row in rows]

    @cached_property
    def _margin(self) -> int:
        return cell_len(self._row_names[0]) + _BAR if self._row_names else 0

    def _head_style(self, role: HeadRole, *place: int) -> Style:
        """The style of a plane's, row's or column's head, in a step that of its entry."""
        mark = self._lit_heads.get((role, *place))
        return self.look.with_role(self._value_style(mark), role) if mark else self.look.dim

    def _render_row_header(self, plane: int, row: int) -> Line:
        if not self._row_names:
            return []
        name = self._row_names[row].lstrip()
        before = " " * (self._margin - _BAR - len(name))
        edge = (f" {self.signs.bar} ", self.look.with_role(self.look.dim, "edge"))
        return [(before, self.look.dim), (name, self._head_style("row", plane, row)), edge]

    def _sheet(self, number: int) -> Block:
        """One plane, in a wide figure as an oblique sheet."""
        lines = list(self._plane(number))
        if self.look.oblique and self.sheet.selection.planes[number]:
            from gscli.views.crosshair import mark_oblique_plane

            lines = mark_oblique_plane(lines, f"{self.subject.name} {number}")
        return make_block(lines)

    def _plane(self, number: int) -> Iterator[Line]:
        if plane := self.sheet.selection.planes[number]:
            lit = any(place[0] == number for place in self.marked)
            style = self._head_style("plane", number)
            yield [(self._plane_name(plane), self.look.bold if style.dim and lit else style)]
        for place, chunk in enumerate(self.chunks):
            if place:
                yield []
            yield from self._table(number, chunk)

    def _plane_name(self, plane: tuple[int, ...]) -> str:
        name = f"[{','.join(map(str, plane))},:,:]"
        batch = ",".join(map(str, plane[: self.subject.batch]))
        return f"batch {batch}  {name}" if batch else name

    def _table(self, plane: int, columns: Chunk) -> Iterator[Line]:
        selection = self.sheet.selection
        if self.sheet.rank:
            yield self._render_column_headers(plane, columns)
        row_of = {at: row for row, at in enumerate(selection.rows)}
        for at in fill_gaps(selection.rows, selection.allowed[-2]):
            if isinstance(at, range):
                yield self._render_gap_row(columns)
            else:
                row = row_of[at]
                yield [*self._render_row_header(plane, row), *self._render_row(plane, row, columns)]

    def _render_column_headers(self, plane: int, columns: Chunk) -> Line:
        """The coordinates above the numbers."""
        line: Line = [(" " * self._margin, self.look.dim)]
        for column in columns:
            name = str(column.coordinate)
            room = " " * (column.width - len(name))
            before, behind = ("", room) if self._is_left_aligned else (room, "")
            line += [(column.gap + before, self.look.dim)]
            line += [(name, self._head_style("column", plane, column.place))]
            line += [(behind + " " * column.sign, self.look.dim)]
        return [*line, (columns[-1].tail, self.look.dim)]

    def _render_gap_row(self, columns: Chunk) -> Line:
        """The row that stands for rows left out."""
        head = pad_left(self.signs.down, self._margin - _BAR) + " " * _BAR
        widths = ((cell_len(column.gap) + column.width, column.sign) for column in columns)
        signs = (pad_left(self.signs.down, width) + " " * sign for width, sign in widths)
        return [(head + "".join(signs), self.look.dim)]

    # --- cells ----------------------------------------------------------------------------

    def _render_row(self, plane: int, row: int, columns: Chunk) -> Line:
        """Cells of one row; neighbours of one entry alone join into a bar.

        Stretches that nothing is said of are one run each.
        """
        line, texts = list[TextRun](), self.texts.cells[plane, row].tolist()
        start, before = 0, None
        for number, column in enumerate(columns):
            place = plane, row, column.place
            if place not in self._annotated:
                continue
            marks = self.marked.get(place, [])
            line.append((self._join(texts, columns[start:number]), self._rest))
            alone = marks[0] if len(marks) == 1 else None
            joined = self.look.bars and alone is not None and alone is before and start == number
            line.append((column.gap, self._chip_style(marks[0]) if joined else self._rest))
            line += self._render_marked(place, column, joined=joined)
            start, before = number + 1, alone
        return [*line, (self._join(texts, columns[start:]) + columns[-1].tail, self._rest)]

    def _join(self, texts: Sequence[str], columns: Chunk) -> str:
        """Cells that nothing is said of."""
        pad = self._pad
        return "".join(
            [f"{gap}{pad(texts[at], width)}{'':{sign}}" for at, _, width, sign, gap, _ in columns]
        )

    def _format_label(self, marks: Sequence[Mark]) -> str:
        """The letters of a cell: `b:`, `acf:`, from five on `a+4:`."""
        return "".join(text for text, _ in self._letters(marks)) + ":" if marks else ""

    def _letters(self, marks: Sequence[Mark]) -> list[tuple[str, Mark | None]]:
        if len(marks) > MOST_LETTERS:
            return [(marks[0].label, marks[0]), (f"+{len(marks) - 1}", None)]
        letters: list[tuple[str, Mark | None]] = []
        for number, mark in enumerate(marks):
            if self._has_long_labels and number:
                letters.append((",", None))
            letters.append((mark.label, mark))
        return letters

    def _render_marked(self, place: SheetPosition, column: ShownColumn, *, joined: bool) -> Line:
        """One marked or differing cell; its tail stands behind its text in the colour of alarm."""
        marks, how = self.marked.get(place, []), self.texts.outcomes.get(place)
        tail = self.wrong.get(place, "")
        text = self.texts.cells[place].removesuffix(tail)
        sign = pad_right(self.signs.for_number(how) if how else "", column.sign)
        label = "" if joined else self._format_label(marks)
        room = column.width - cell_len(label) - cell_len(tail)
        number = text if tail and self._is_left_aligned else self._pad(text, room)
        behind: Line = []
        if tail:
            pad = " " * (room - cell_len(number)) + sign
            behind, sign = [(tail, self.look.alarm), (pad, self._rest)], ""
        if not marks:
            return [(number, self._rest), *behind]
        if len(marks) == 1:
            before, arrow, after = number.rpartition(self.signs.arrow)
            value = self.look.with_role(self._value_style(marks[0]), self._role)
            chip = (label + before + arrow, self._chip_style(marks[0]))
            return [chip, (after + sign, value), *behind]
        value = self._value_style(marks[-1]) if self.subject.last_wins else self.look.shared
        letters = self._letters(marks)
        line: Line = [(part, self._value_style(mark) if mark else value) for part, mark in letters]
        return [*line, (":" + number + sign, value), *behind]

    def _chip_style(self, mark: Mark) -> Style:
        return self.look.with_role(self.look.chip_style(mark.number, alarm=mark.alarm), self._role)

    def _value_style(self, mark: Mark) -> Style:
        return self.look.value_style(mark.number, alarm=mark.alarm)

    def _pad(self, text: str, width: int) -> str:
        return pad_right(text, width) if self._is_left_aligned else pad_left(text, width)

    # --- which columns are shown, and how wide they are -----------------------------------

    def _fit_columns(self, measures: ColumnWidths) -> list[Chunk]:
        """All columns where they fit the sheet's lines; else the least important go."""
        sheet, columns = self.sheet, self.sheet.selection.columns
        if not columns:
            return []
        widths, signs = measures
        is_alike = max(widths) * len(columns) <= MOST_PADDING * sum(widths) and not sheet.is_region
        alike = [max(widths)] * len(columns), [max(signs)] * len(columns)
        chunks = self._split_columns(range(len(columns)), alike if is_alike else measures)
        if len(chunks) <= sheet.lines and sheet.selection.has_all_columns:
            return chunks
        place_of = {column: place for place, column in enumerate(columns)}
        order = [place_of[column] for column in sheet.by_importance]

        def split(kept: int) -> list[Chunk]:
            return self._split_columns(sorted(order[:kept]), measures)

        counts = range(len(columns) + 1)  # one column at least
        return split(bisect_right(counts, sheet.lines, 2, key=lambda kept: len(split(kept))) - 1)

    def _split_columns(self, places: Sequence[int], measures: ColumnWidths) -> list[Chunk]:
        """Columns side by side as far as they fit the width, the others below."""
        selection, across, room = self.sheet.selection, self.signs.across, self.width - self._margin
        allowed, (widths, signs) = selection.allowed[-1], measures
        before = allowed.start - allowed.step
        chunks: list[Chunk] = []
        used, between = room, " " * GAP
        for place in places:
            at, width, sign = selection.columns[place], widths[place], signs[place]
            gap = between if at - before == allowed.step else between + across + between
            if used + len(gap) + width + sign > room:
                chunks.append([])
                used, gap = 0, gap[GAP:]
            used += len(gap) + width + sign
            chunks[-1].append(ShownColumn(place, at, width, sign, gap))
            before = at
        if places and before != allowed[-1]:
            column = chunks[-1].pop()
            if chunks[-1] and used + GAP + len(across) > room:
                chunks.append([])
                column = column._replace(gap=column.gap[GAP:])
            chunks[-1].append(column._replace(tail=between + across))
        return chunks

    def _measure_columns(self) -> ColumnWidths:
        """What the texts take, and in a step what those of another step would."""
        sheet, texts, full_run = self.sheet, self.texts, self.subject.full_run
        widths = [cell_len(str(column)) if sheet.rank else 0 for column in sheet.selection.columns]
        signs, outcomes = [0] * len(widths), [texts.outcomes]
        labels = [(self.marked, texts.cells, 0)]
        reserved = texts.numbers.format_cells(sheet.reserved)
        if full_run is not None:
            differing = sheet.compute_differing_mask(sheet.reserved)
            tails = texts.write_differences(reserved, sheet.reserved, differing)
            for mark in full_run.marks:
                # In a step a cell carries one letter at a time.
                marked, room = sheet.marks_by_position([mark]), self._change_width(mark)
                tail = max((cell_len(tails.get(place, "")) for place in marked), default=0)
                labels.append((marked, reserved, room and room + tail))
            dropped = texts.dropped_updates(sheet.marks_by_position(full_run.marks))
            outcomes += [sheet.outcomes_by_position(full_run.outcomes), dropped]
        for column, width in enumerate(widths):
            both = (cells[:, :, column : column + 1].flat for cells in (texts.cells, reserved))
            widths[column] = max([width, *map(cell_len, chain(*both))])
        for marked, cells, least in labels:
            for place, marks in marked.items():
                text = max(cell_len(cells[place]), least)
                label = cell_len(self._format_label(marks))
                widths[place[-1]] = max(widths[place[-1]], label + text)
        for (_, _, column), how in chain.from_iterable(each.items() for each in outcomes):
            signs[column] = max(signs[column], cell_len(self.signs.for_number(how)))
        return widths, signs

    def _change_width(self, mark: Mark) -> int:
        """What `was → is` takes in the step of one entry."""
        values = self.subject.steps.get(mark.number, ())
        texts = zip(*map(self.texts.numbers.format_column, values), strict=True)
        cells = zip(*(each.flat for each in values), strict=True)
        changes = map(self.signs.arrow.join, map(self.texts.tell_apart, texts, cells))
        return max(map(cell_len, changes), default=0)


def group_plane_rows(planes: Sequence[tuple[int, ...]], rank: int) -> list[list[int]]:
    """Planes that may stand side by side: axis 0 of a four-dimensional tensor goes down.

    >>> group_plane_rows([(0, 0), (0, 1), (1, 0)], 4), group_plane_rows([(0,), (1,)], 3)
    ([[0, 1], [2]], [[0, 1]])
    """
    rows = groupby(enumerate(planes), lambda plane: plane[1][: rank == _GRID_RANK])
    return [[number for number, _ in row] for _, row in rows]
