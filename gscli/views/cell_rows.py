"""Which columns fit, and rows of cells: letters left, numbers right, chips, slices as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from gscli.base.records import Record
from gscli.plan.indices import OutcomeSign
from gscli.views.look import PLAIN, Line, Look, Role, Run, Style, cells, left, right
from gscli.views.sheet import Place, Selection, Sheet
from gscli.views.subject import Mark
from gscli.views.texts import Texts, Touch, shortened

MOST_LETTERS = 4
GAP = 2


class ShownColumn(Record):
    """A shown column: coordinate, width of letters and number, width of the sign behind.

    `skips`: columns before it are left out; `ends`: all those behind it are.
    """

    coordinate: int
    width: int
    sign: int
    skips: bool = False
    ends: bool = False


class Ruling(Record):
    """Columns of one table with a pattern for the gap and cell of each."""

    columns: tuple[ShownColumn, ...]
    gaps: tuple[str, ...]
    patterns: tuple[str, ...]
    tail: str = ""


class Pen(Record):
    """Draws rows in one look.

    `lefthand`: strings stand at the left. `wide`: some texts hold wide characters. `separated`: an
    entry of the picture has a label of two letters, so that letters of several need a comma.
    `role`: what marked cells are in a step.
    """

    look: Look
    last_wins: bool = False
    lefthand: bool = False
    dim_rest: bool = True
    wide: bool = False
    separated: bool = False
    role: Role = ""

    def gap(self, column: ShownColumn, first: bool) -> int:
        """Cells before a column."""
        return cells(self._gap_text(column, first))

    def tail(self, column: ShownColumn) -> int:
        """Cells behind the last column of a table."""
        return cells(self._tail_text(column))

    def header(self, ruling: Ruling) -> Line:
        """The coordinates above the numbers."""
        names = tuple(str(column.coordinate) for column in ruling.columns)
        return [("".join(ruling.patterns) % names + ruling.tail, self.look.dim)]

    def dots(self, ruling: Ruling) -> Line:
        """The row that stands for rows left out."""
        down = self.look.signs.down
        parts = [
            " " * cells(gap) + right(down, column.width) + " " * column.sign
            for gap, column in zip(ruling.gaps, ruling.columns, strict=True)
        ]
        return [("".join(parts), self.look.dim)]

    def ruling(self, columns: Sequence[ShownColumn]) -> Ruling:
        """What every row of a table of these columns has in common."""
        gaps = [self._gap_text(column, number == 0) for number, column in enumerate(columns)]
        hand = "-" if self.lefthand else ""
        return Ruling(
            tuple(columns),
            tuple(gaps),
            tuple(
                f"{gap}%{hand}{column.width}s{' ' * column.sign}"
                for gap, column in zip(gaps, columns, strict=True)
            ),
            self._tail_text(columns[-1]),
        )

    def row(
        self,
        texts: Sequence[str],
        ruling: Ruling,
        touched: Mapping[int, Touch],
    ) -> Line:
        """Cells of one row; neighbours of one entry alone join into a bar.

        `touched` is by place in the row; stretches without are one run each.
        """
        line: Line = []
        start, before = 0, None
        for place in sorted(touched):
            marks, _, tail = touched[place]
            line.append(self._stretch(texts, ruling, start, place))
            alone = marks[0] if len(marks) == 1 else None
            joined = self.look.bars and alone is not None and alone is before and start == place
            line.append((ruling.gaps[place], self._chip(marks[0]) if joined else self._rest))
            text = texts[place].removesuffix(tail)
            line += self._marked(text, touched[place], ruling.columns[place], joined=joined)
            start, before = place + 1, alone
        line += [self._stretch(texts, ruling, start, len(texts)), (ruling.tail, self._rest)]
        return line

    @property
    def _rest(self) -> Style:
        return self.look.dim if self.dim_rest else PLAIN

    def _stretch(self, texts: Sequence[str], ruling: Ruling, start: int, stop: int) -> Run:
        """Cells that no entry touches."""
        if not self.wide:
            pattern = "".join(ruling.patterns[start:stop])
            return pattern % tuple(texts[start:stop]), self._rest
        parts = [
            gap + self._placed(text, column.width) + " " * column.sign
            for text, gap, column in zip(
                texts[start:stop], ruling.gaps[start:stop], ruling.columns[start:stop], strict=True
            )
        ]
        return "".join(parts), self._rest

    def label(self, marks: Sequence[Mark]) -> str:
        """The letters of a cell: `b:`, `acf:`, from five on `a+4:`.

        >>> from gscli.views.look import ViewOptions
        >>> from gscli.views.look import look_of
        >>> pen = Pen(look_of(ViewOptions()))
        >>> pen.label([Mark(0, "a", ()), Mark(2, "c", ())])
        'ac:'
        """
        return self.letters(marks) + ":" if marks else ""

    def letters(self, marks: Sequence[Mark]) -> str:
        """The letters of several entries as they stand at the head of a row or column."""
        return "".join(text for text, _ in self._letters(marks))

    def letter_runs(self, marks: Sequence[Mark], role: Role = "row") -> Line:
        """The same, each in the colour of its entry."""
        return [
            (text, self.look.as_role(self._value(mark), role) if mark else self._rest)
            for text, mark in self._letters(marks)
        ]

    def letter_heads(
        self, columns: Sequence[ShownColumn], letters: Mapping[int, Sequence[Mark]]
    ) -> Line:
        """Letters above the numbers of the columns, by place in the row."""
        line: Line = []
        for number, column in enumerate(columns):
            marks = letters[number]
            room = " " * (column.width - cells(self.letters(marks)))
            before, behind = ("", room) if self.lefthand else (room, "")
            line.append((" " * self.gap(column, number == 0) + before, PLAIN))
            line += [*self.letter_runs(marks, "column"), (behind + " " * column.sign, PLAIN)]
        return line

    def _letters(self, marks: Sequence[Mark]) -> list[tuple[str, Mark | None]]:
        if not marks:
            return []
        if len(marks) > MOST_LETTERS:
            return [(marks[0].label, marks[0]), (f"+{len(marks) - 1}", None)]
        found: list[tuple[str, Mark | None]] = []
        for number, mark in enumerate(marks):
            if self.separated and number:
                found.append((",", None))
            found.append((mark.label, mark))
        return found

    def _marked(self, text: str, touch: Touch, column: ShownColumn, *, joined: bool) -> Line:
        """One marked or differing cell; its tail stands behind its text in the colour of alarm."""
        marks, how, tail = touch
        sign = left(self.look.signs.of(how) if how else "", column.sign)
        label = "" if joined else self.label(marks)
        room = column.width - cells(label) - cells(tail)
        number = text if tail and self.lefthand else self._placed(text, room)
        behind: Line = []
        if tail:
            pad = " " * (room - cells(number)) + sign
            behind, sign = [(tail, self.look.alarm), (pad, self._rest)], ""
        if not marks:
            return [(number, self._rest), *behind]
        if len(marks) == 1:
            before, arrow, after = number.rpartition(self.look.signs.arrow)
            value = self.look.as_role(self._value(marks[0]), self.role)
            chip = (label + before + arrow, self._chip(marks[0]))
            return [chip, (after + sign, value), *behind]
        value = self._value(marks[-1]) if self.last_wins else self.look.several
        line: Line = [
            (part, self._value(mark) if mark else value) for part, mark in self._letters(marks)
        ]
        return [*line, (":" + number + sign, value), *behind]

    def _chip(self, mark: Mark) -> Style:
        style = self.look.alarm if mark.alarm else self.look.chip(mark.number)
        return self.look.as_role(style, self.role)

    def _value(self, mark: Mark) -> Style:
        return self.look.alarm if mark.alarm else self.look.value(mark.number)

    def _placed(self, text: str, width: int) -> str:
        return left(text, width) if self.lefthand else right(text, width)

    def _tail_text(self, column: ShownColumn) -> str:
        return " " * GAP + self.look.signs.across if column.ends else ""

    def _gap_text(self, column: ShownColumn, first: bool) -> str:
        if not column.skips:
            return "" if first else " " * GAP
        return (" " * GAP if not first else "") + self.look.signs.across + " " * GAP


Chunk: TypeAlias = list[tuple[int, ShownColumn]]
"""Columns of one table with their place among the candidates."""


MOST_PADDING = 1.7
"""Columns are as wide as the widest while that makes a row no more than so many times wider."""


class Measures(Record):
    """Per candidate column: width of letters and number, width of the sign behind."""

    widths: list[int]
    signs: list[int]

    def joined(self, other: Measures) -> Measures:
        """Wide enough for two tensors that shall have the same columns."""
        return Measures(
            list(map(max, self.widths, other.widths)), list(map(max, self.signs, other.signs))
        )

    def alike(self) -> Measures:
        """Every column as wide as the widest."""
        count = len(self.widths)
        return Measures([max(self.widths)] * count, [max(self.signs)] * count)


def fitting(sheet: Sheet, measures: Measures, pen: Pen, room: int) -> list[Chunk]:
    """All columns where they fit the sheet's lines of width `room`; else the least important go."""
    selection, lines, count = sheet.selection, sheet.lines, len(sheet.selection.columns)
    if not count:
        return []
    wide = measures.alike()
    alike = not sheet.lens and sum(wide.widths) <= MOST_PADDING * sum(measures.widths)
    chunks = _split(selection, range(count), wide if alike else measures, pen, room)
    if len(chunks) <= lines and selection.all_columns:
        return chunks
    place_of = {one: place for place, one in enumerate(selection.columns)}
    order = [place_of[one] for one in sheet.by_importance]
    fits, low, high = chunks, 1, count
    while low <= high:
        kept = (low + high) // 2
        chunks = _split(selection, sorted(order[:kept]), measures, pen, room)
        if len(chunks) <= lines or kept == 1:
            fits, low = chunks, kept + 1
        else:
            high = kept - 1
    return fits


def _split(
    selection: Selection, places: Sequence[int], measures: Measures, pen: Pen, room: int
) -> list[Chunk]:
    step = selection.allowed[-1].step
    before = selection.allowed[-1].start - step
    chunks: list[Chunk] = []
    used = 0
    for place in places:
        at = selection.columns[place]
        column = ShownColumn(at, measures.widths[place], measures.signs[place], at - before != step)
        size = column.width + column.sign
        if chunks and used + pen.gap(column, first=False) + size <= room:
            used += pen.gap(column, first=False) + size
        else:
            chunks.append([])
            used = pen.gap(column, first=True) + size
        chunks[-1].append((place, column))
        before = at
    if places and before != selection.allowed[-1][-1]:
        place, column = chunks[-1].pop()
        column = column._replace(ends=True)
        if chunks[-1] and used + pen.tail(column) > room:
            chunks.append([])
        chunks[-1].append((place, column))
    return chunks


def measured(texts: Texts, pen: Pen) -> Measures:
    """What the texts of a sheet take, and in a step what those of another step would."""
    sheet, unlit = texts.sheet, texts.sheet.subject.unlit
    names = [cells(str(one)) if sheet.rank else 0 for one in sheet.selection.columns]
    found = Measures(names, [0] * len(names))
    _measure_texts(found, texts.planes)
    _measure_marks(pen, found, texts.planes, texts.marked)
    _measure_signs(pen, found, texts.how)
    if unlit is not None:
        reserved = [texts.numbers.texts(one) for one in sheet.reserved]
        apart = sheet.differing(sheet.reserved)
        tails = texts.write_differences(reserved, sheet.reserved, apart)
        _measure_texts(found, reserved)
        for mark in unlit.marks:
            # In a step a cell carries one letter at a time.
            marked, room = sheet.marked([mark]), _room(texts, mark)
            tail = max((cells(tails.get(place, "")) for place in marked), default=0)
            _measure_marks(pen, found, reserved, marked, room and room + tail)
        dropped = texts.dropped(sheet.marked(unlit.marks))
        _measure_signs(pen, found, {**sheet.how(unlit.signs), **dropped})
    return found


def _room(texts: Texts, mark: Mark) -> int:
    """What `was → is` takes in the step of one entry."""
    pair = texts.sheet.subject.steps.get(mark.number, ())
    both = zip(*(map(shortened, texts.numbers.texts(one)) for one in pair), strict=True)
    return max((cells(old + texts.signs.arrow + new) for old, new in both), default=0)


def _measure_signs(pen: Pen, found: Measures, how: Mapping[Place, OutcomeSign]) -> None:
    for (_, _, column), sign in how.items():
        found.signs[column] = max(found.signs[column], cells(pen.look.signs.of(sign)))


def _measure_texts(found: Measures, texts: Sequence[Sequence[str]]) -> None:
    count = len(found.widths)
    for one in texts:
        sizes = list(map(len if is_narrow(one) else cells, one))
        for column in range(count):
            found.widths[column] = max(found.widths[column], *sizes[column::count])


def _measure_marks(
    pen: Pen,
    found: Measures,
    texts: Sequence[Sequence[str]],
    marked: Mapping[Place, Sequence[Mark]],
    least: int = 0,
) -> None:
    count = len(found.widths)
    for (plane, row, column), marks in marked.items():
        text = max(cells(texts[plane][row * count + column]), least)
        found.widths[column] = max(found.widths[column], cells(pen.label(marks)) + text)


def is_narrow(texts: Sequence[str]) -> bool:
    """Whether every character takes one cell."""
    joined = "".join(texts)
    return len(joined) == cells(joined)
