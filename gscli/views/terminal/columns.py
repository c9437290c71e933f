"""Which columns fit a width, and how wide each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from gscli.base.records import Record
from gscli.traces.trace import How
from gscli.views.look import cells
from gscli.views.numbers import shortened
from gscli.views.sheet import Place
from gscli.views.subject import Mark
from gscli.views.terminal.cells import Column, Pen
from gscli.views.texts import Texts
from gscli.views.window import Window

Chunk: TypeAlias = list[tuple[int, Column]]
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


def fitting(
    window: Window, measures: Measures, pen: Pen, room: int, lines: int, *, alike: bool = True
) -> list[Chunk]:
    """All columns where they fit `lines` of width `room`; else the least important go.

    `alike`: columns may all be as wide as the widest.
    """
    count = len(window.columns)
    if not count:
        return []
    place_of = {one: place for place, one in enumerate(window.columns)}
    order = [place_of[one] for one in window.by_importance]
    wide = measures.alike()
    alike = alike and sum(wide.widths) <= MOST_PADDING * sum(measures.widths)
    even = wide if alike else measures
    chunks = _split(window, range(count), even, pen, room)
    if len(chunks) <= lines and window.all_columns:
        return chunks
    fits, low, high = chunks, 1, count
    while low <= high:
        kept = (low + high) // 2
        chunks = _split(window, sorted(order[:kept]), measures, pen, room)
        if len(chunks) <= lines or kept == 1:
            fits, low = chunks, kept + 1
        else:
            high = kept - 1
    return fits


def _split(
    window: Window, places: Sequence[int], measures: Measures, pen: Pen, room: int
) -> list[Chunk]:
    step = window.allowed[-1].step
    before = window.allowed[-1].start - step
    chunks: list[Chunk] = []
    used = 0
    for place in places:
        at = window.columns[place]
        column = Column(at, measures.widths[place], measures.signs[place], at - before != step)
        size = column.width + column.sign
        if chunks and used + pen.gap(column, first=False) + size <= room:
            used += pen.gap(column, first=False) + size
        else:
            chunks.append([])
            used = pen.gap(column, first=True) + size
        chunks[-1].append((place, column))
        before = at
    if places and before != window.allowed[-1][-1]:
        place, column = chunks[-1].pop()
        column = column._replace(ends=True)
        if chunks[-1] and used + pen.tail(column) > room:
            chunks.append([])
        chunks[-1].append((place, column))
    return chunks


def measured(texts: Texts, pen: Pen) -> Measures:
    """What the texts of a sheet take, and in a step what those of another step would."""
    sheet, unlit = texts.sheet, texts.sheet.subject.unlit
    names = [cells(str(one)) if sheet.rank else 0 for one in sheet.window.columns]
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


def _measure_signs(pen: Pen, found: Measures, how: Mapping[Place, How]) -> None:
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
