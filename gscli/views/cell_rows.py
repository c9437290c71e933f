"""Which columns fit, and rows of cells: letters left, numbers right, chips, slices as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from gscli.base.records import Record
from gscli.plan.indices import OutcomeSign
from gscli.views.look import (
    PLAIN,
    Line,
    Role,
    Style,
    StyleSheet,
    cell_len,
    pad_left,
    pad_right,
)
from gscli.views.sheet import Selection, SheetPosition, VisibleTensor
from gscli.views.subject import Mark
from gscli.views.texts import CellAnnotation, CellTexts, strip_zeros

MOST_LETTERS = 4
GAP = 2


class ShownColumn(Record):
    """A shown column: coordinate, width of letters and number, width of the sign behind.

    `gap`: what stands before it, a sign too where columns are left out; `tail`: what stands behind
    the last one.
    """

    coordinate: int
    width: int
    sign: int
    gap: str = ""
    tail: str = ""


class RowRenderer(Record):
    """Draws rows in one look.

    `is_left_aligned`: strings stand at the left. `wide`: some texts hold wide characters.
    `has_long_labels`: an entry of the picture has a label of two letters, so that letters of
    several need a comma.
    `role`: what marked cells are in a step.
    """

    look: StyleSheet
    last_wins: bool = False
    is_left_aligned: bool = False
    dims_unmarked: bool = True
    has_wide_characters: bool = False
    has_long_labels: bool = False
    role: Role = ""

    def render_header(self, columns: Sequence[ShownColumn], styles: Sequence[Style]) -> Line:
        """The coordinates above the numbers, each in a style."""
        line: Line = []
        for column, style in zip(columns, styles, strict=True):
            name = str(column.coordinate)
            room = " " * (column.width - len(name))
            before, behind = ("", room) if self.is_left_aligned else (room, "")
            line += [(column.gap + before, self.look.dim), (name, style)]
            line.append((behind + " " * column.sign, self.look.dim))
        return [*line, (columns[-1].tail, self.look.dim)]

    def render_gap_row(self, columns: Sequence[ShownColumn]) -> Line:
        """The row that stands for rows left out."""
        down = self.look.signs.down
        blank = [column._replace(gap=" " * cell_len(column.gap)) for column in columns]
        return [(_join_right([down] * len(columns), blank), self.look.dim)]

    def render_row(
        self,
        texts: Sequence[str],
        columns: Sequence[ShownColumn],
        touched: Mapping[int, CellAnnotation],
    ) -> Line:
        """Cells of one row; neighbours of one entry alone join into a bar.

        `touched` is by place in the row; stretches without are one run each.
        """
        line: Line = []
        start, before = 0, None
        for place in sorted(touched):
            marks, _, tail = touched[place]
            line.append((self._join(texts[start:place], columns[start:place]), self._rest))
            alone = marks[0] if len(marks) == 1 else None
            joined = self.look.bars and alone is not None and alone is before and start == place
            style = self._chip_style(marks[0]) if joined else self._rest
            line.append((columns[place].gap, style))
            text = texts[place].removesuffix(tail)
            line += self._render_marked(text, touched[place], columns[place], joined=joined)
            start, before = place + 1, alone
        rest = self._join(texts[start:], columns[start:])
        return [*line, (rest + columns[-1].tail, self._rest)]

    @property
    def _rest(self) -> Style:
        return self.look.dim if self.dims_unmarked else PLAIN

    def _join(self, texts: Sequence[str], columns: Sequence[ShownColumn]) -> str:
        """Cells that nothing is said of."""
        if self.has_wide_characters or self.is_left_aligned:
            pairs = zip(texts, columns, strict=True)
            return "".join(column.gap + self._pad(text, column.width) + " " * column.sign
                           for text, column in pairs)  # fmt: skip
        return _join_right(texts, columns)

    def format_label(self, marks: Sequence[Mark]) -> str:
        """The letters of a cell: `b:`, `acf:`, from five on `a+4:`.

        >>> from gscli.views.look import ViewOptions
        >>> from gscli.views.look import make_style_sheet
        >>> pen = RowRenderer(make_style_sheet(ViewOptions()))
        >>> pen.format_label([Mark(0, "a", ()), Mark(2, "c", ())])
        'ac:'
        """
        return "".join(text for text, _ in self._letters(marks)) + ":" if marks else ""

    def _letters(self, marks: Sequence[Mark]) -> list[tuple[str, Mark | None]]:
        if len(marks) > MOST_LETTERS:
            return [(marks[0].label, marks[0]), (f"+{len(marks) - 1}", None)]
        letters: list[tuple[str, Mark | None]] = []
        for number, mark in enumerate(marks):
            if self.has_long_labels and number:
                letters.append((",", None))
            letters.append((mark.label, mark))
        return letters

    def _render_marked(
        self, text: str, touch: CellAnnotation, column: ShownColumn, *, joined: bool
    ) -> Line:
        """One marked or differing cell; its tail stands behind its text in the colour of alarm."""
        marks, how, tail = touch
        sign = pad_right(self.look.signs.for_outcome(how) if how else "", column.sign)
        label = "" if joined else self.format_label(marks)
        room = column.width - cell_len(label) - cell_len(tail)
        number = text if tail and self.is_left_aligned else self._pad(text, room)
        behind: Line = []
        if tail:
            pad = " " * (room - cell_len(number)) + sign
            behind, sign = [(tail, self.look.alarm), (pad, self._rest)], ""
        if not marks:
            return [(number, self._rest), *behind]
        if len(marks) == 1:
            before, arrow, after = number.rpartition(self.look.signs.arrow)
            value = self.look.with_role(self.value_style(marks[0]), self.role)
            chip = (label + before + arrow, self._chip_style(marks[0]))
            return [chip, (after + sign, value), *behind]
        value = self.value_style(marks[-1]) if self.last_wins else self.look.shared
        line: Line = [
            (part, self.value_style(mark) if mark else value) for part, mark in self._letters(marks)
        ]
        return [*line, (":" + number + sign, value), *behind]

    def _chip_style(self, mark: Mark) -> Style:
        style = self.look.chip_style(mark.number, alarm=mark.alarm)
        return self.look.with_role(style, self.role)

    def value_style(self, mark: Mark) -> Style:
        """The style of what an entry touches."""
        return self.look.value_style(mark.number, alarm=mark.alarm)

    def _pad(self, text: str, width: int) -> str:
        return pad_right(text, width) if self.is_left_aligned else pad_left(text, width)


def _join_right(texts: Sequence[str], columns: Sequence[ShownColumn]) -> str:
    """Texts of narrow characters, aligned on the right."""
    pairs = zip(texts, columns, strict=True)
    return "".join([f"{gap}{text:>{width}}{'':{sign}}" for text, (_, width, sign, gap, _) in pairs])


Chunk: TypeAlias = list[tuple[int, ShownColumn]]
"""Columns of one table with their place among the candidates."""


MOST_PADDING = 1.7
"""Columns are as wide as the widest while that makes a row no more than so many times wider."""


class ColumnWidths(Record):
    """Per candidate column: width of letters and number, width of the sign behind."""

    widths: list[int]
    signs: list[int]

    def widen(self, column: int, width: int = 0, sign: int = 0) -> None:
        """Wide enough for one more text, or one more sign."""
        self.widths[column] = max(self.widths[column], width)
        self.signs[column] = max(self.signs[column], sign)

    def equalize(self) -> ColumnWidths:
        """Every column as wide as the widest."""
        count = len(self.widths)
        return ColumnWidths([max(self.widths)] * count, [max(self.signs)] * count)


def fit_columns(
    sheet: VisibleTensor, measures: ColumnWidths, across: str, room: int
) -> list[Chunk]:
    """All columns where they fit the sheet's lines of width `room`; else the least important go."""
    selection, lines, count = sheet.selection, sheet.lines, len(sheet.selection.columns)
    if not count:
        return []
    wide = measures.equalize()
    alike = not sheet.is_region and sum(wide.widths) <= MOST_PADDING * sum(measures.widths)
    chunks = _split_columns(selection, range(count), wide if alike else measures, across, room)
    if len(chunks) <= lines and selection.has_all_columns:
        return chunks
    place_of = {column: place for place, column in enumerate(selection.columns)}
    order = [place_of[column] for column in sheet.by_importance]
    fits, low, high = chunks, 1, count
    while low <= high:
        kept = (low + high) // 2
        chunks = _split_columns(selection, sorted(order[:kept]), measures, across, room)
        if len(chunks) <= lines or kept == 1:
            fits, low = chunks, kept + 1
        else:
            high = kept - 1
    return fits


def _split_columns(
    selection: Selection, places: Sequence[int], measures: ColumnWidths, across: str, room: int
) -> list[Chunk]:
    allowed = selection.allowed[-1]
    before = allowed.start - allowed.step
    chunks: list[Chunk] = []
    used, between = room, " " * GAP
    for place in places:
        at, width, sign = selection.columns[place], measures.widths[place], measures.signs[place]
        gap = between if at - before == allowed.step else between + across + between
        if used + len(gap) + width + sign > room:
            chunks.append([])
            used, gap = 0, gap[GAP:]
        used += len(gap) + width + sign
        chunks[-1].append((place, ShownColumn(at, width, sign, gap)))
        before = at
    if places and before != allowed[-1]:
        place, column = chunks[-1].pop()
        if chunks[-1] and used + GAP + len(across) > room:
            chunks.append([])
            column = column._replace(gap=column.gap[GAP:])
        chunks[-1].append((place, column._replace(tail=between + across)))
    return chunks


def measure_columns(texts: CellTexts, pen: RowRenderer) -> ColumnWidths:
    """What the texts of a sheet take, and in a step what those of another step would."""
    sheet, unlit = texts.sheet, texts.sheet.subject.full_run
    names = [cell_len(str(column)) if sheet.rank else 0 for column in sheet.selection.columns]
    widths = ColumnWidths(names, [0] * len(names))
    _measure_texts(widths, texts.planes)
    _measure_marks(pen, widths, texts.planes, texts.marked)
    _measure_signs(pen, widths, texts.outcomes)
    if unlit is not None:
        reserved = [texts.numbers.format_column(column) for column in sheet.reserved]
        apart = sheet.compute_differing_masks(sheet.reserved)
        tails = texts.write_differences(reserved, sheet.reserved, apart)
        _measure_texts(widths, reserved)
        for mark in unlit.marks:
            # In a step a cell carries one letter at a time.
            marked, room = sheet.marks_by_position([mark]), _change_width(texts, mark)
            tail = max((cell_len(tails.get(place, "")) for place in marked), default=0)
            _measure_marks(pen, widths, reserved, marked, room and room + tail)
        dropped = texts.dropped_updates(sheet.marks_by_position(unlit.marks))
        _measure_signs(pen, widths, {**sheet.outcomes_by_position(unlit.signs), **dropped})
    return widths


def _change_width(texts: CellTexts, mark: Mark) -> int:
    """What `was → is` takes in the step of one entry."""
    pair = texts.sheet.subject.steps.get(mark.number, ())
    both = zip(*(map(strip_zeros, texts.numbers.format_column(part)) for part in pair), strict=True)
    return max((cell_len(old + texts.signs.arrow + new) for old, new in both), default=0)


def _measure_signs(
    pen: RowRenderer, measures: ColumnWidths, how: Mapping[SheetPosition, OutcomeSign]
) -> None:
    for (_, _, column), sign in how.items():
        measures.widen(column, sign=cell_len(pen.look.signs.for_outcome(sign)))


def _measure_texts(measures: ColumnWidths, texts: Sequence[Sequence[str]]) -> None:
    count = len(measures.widths)
    for text in texts:
        sizes = list(map(len if is_narrow(text) else cell_len, text))
        for column in range(count):
            measures.widen(column, max(sizes[column::count], default=0))


def _measure_marks(
    pen: RowRenderer,
    measures: ColumnWidths,
    texts: Sequence[Sequence[str]],
    marked: Mapping[SheetPosition, Sequence[Mark]],
    least: int = 0,
) -> None:
    count = len(measures.widths)
    for (plane, row, column), marks in marked.items():
        text = max(cell_len(texts[plane][row * count + column]), least)
        measures.widen(column, cell_len(pen.format_label(marks)) + text)


def is_narrow(texts: Sequence[str]) -> bool:
    """Whether every character takes one cell."""
    joined = "".join(texts)
    return len(joined) == cell_len(joined)
