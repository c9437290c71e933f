"""What stands in the cells of a sheet, `was → is` and `is ≠ expected` too, and at its heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gscli.base.arrays import Array, Flags
from gscli.base.records import Record, cached_property
from gscli.layout.axes import Box
from gscli.traces.trace import How
from gscli.views.numbers import NumberFormat, shortened
from gscli.views.sheet import Place, Sheet
from gscli.views.subject import Mark

_WIDEST = 40
"""Characters of a value that is written with all its digits."""


class Touch(Record):
    """A cell that is drawn with more than its text: marks, what became of an index number.

    `tail`: the end of its text that tells what it should hold.
    """

    marks: Sequence[Mark] = ()
    how: How | None = None
    tail: str = ""


class Texts:
    """The texts of one sheet, a list per plane in row-major order (`planes`).

    `marked` and `how`: marks and signs by place. `wrong`: the ends of texts that tell what a cell
    should hold.
    """

    def __init__(self, sheet: Sheet, numbers: NumberFormat) -> None:
        self.sheet, self.signs, self.numbers = sheet, numbers.signs, numbers
        subject = sheet.subject
        self.marked = sheet.marked(subject.marks)
        self.how = {**sheet.how(subject.signs), **self.dropped(self.marked)}
        self.planes = [self._texts(number) for number in range(len(sheet.blocks))]
        self._mark_changes()
        self.wrong = self.write_differences(self.planes, sheet.blocks, sheet.apart)

    @cached_property
    def rows(self) -> dict[tuple[int, int], dict[int, Touch]]:
        """What is drawn with more than its text, by plane and row, then by column."""
        found: dict[tuple[int, int], dict[int, Touch]] = {}
        for place in (*self.marked, *(self.wrong.keys() - self.marked.keys())):
            plane, row, column = place
            touch = Touch(
                self.marked.get(place, ()), self.how.get(place), self.wrong.get(place, "")
            )
            found.setdefault((plane, row), {})[column] = touch
        return found

    def dropped(self, marked: Mapping[Place, Sequence[Mark]]) -> dict[Place, How]:
        """Updates that no entry writes anywhere."""
        if self.sheet.subject.role != "updates":
            return {}
        return {
            place: "skipped" for place, marks in marked.items() if all(mark.alarm for mark in marks)
        }

    def _mark_changes(self) -> None:
        """Marked cells that changed are written `was → is`."""
        count = len(self.sheet.window.columns)
        olds = [self.numbers.texts(one) for one in self.sheet.before]
        for (plane, row, column), marks in self.marked.items() if olds else ():
            number = row * count + column
            before, after = olds[plane][number], self.planes[plane][number]
            if before != after and not all(mark.alarm for mark in marks):
                was = shortened(before)
                self.planes[plane][number] = f"{was}{self.signs.arrow}{shortened(after)}"

    def write_differences(
        self, planes: Sequence[list[str]], blocks: Sequence[Array], apart: Sequence[Flags]
    ) -> dict[Place, str]:
        """Write cells that differ from the expectation as `is≠expected`; the ends of texts."""
        count, found = len(self.sheet.window.columns), dict[Place, str]()
        for plane, (wanted, flags) in enumerate(zip(self.sheet.expected, apart, strict=True)):
            texts = self.numbers.texts(wanted)
            held = blocks[plane].reshape(-1)
            for number in np.flatnonzero(flags).tolist():
                text, expected = (shortened(one[number]) for one in (planes[plane], texts))
                if text.rpartition(self.signs.arrow)[2] == expected:  # all digits tell them apart
                    text, expected = (
                        self._exactly(one) for one in (held[number], wanted.flat[number])
                    )
                tail = self.signs.differs + expected
                planes[plane][number] = text + tail
                found[plane, *divmod(number, count)] = tail
        return found

    def _exactly(self, value: object) -> str:
        return self.signs.text(str(value), _WIDEST)

    def _texts(self, number: int) -> list[str]:
        texts = self.numbers.texts(self.sheet.blocks[number])
        if not self.sheet.subject.blank:
            return texts
        known = self.sheet.known[number].reshape(-1).tolist()
        return [text if sure else self.signs.point for text, sure in zip(texts, known, strict=True)]


MOST = 3
"""Letters at one head; where some head would need more, no head of that side has any."""

_MATRIX = 2


class Heads:
    """Marks by (plane, column), by (plane, row), and of whole planes.

    A slice that takes a whole row stands at the head of that row only.
    """

    def __init__(self, sheet: Sheet, marked: Mapping[Place, Sequence[Mark]]) -> None:
        self.columns: dict[tuple[int, int], list[Mark]] = {}
        self.rows: dict[tuple[int, int], list[Mark]] = {}
        self.planes: dict[int, list[Mark]] = {}
        if sheet.rank < _MATRIX:
            return
        shape = sheet.subject.array.shape
        for (plane, row, column), marks in marked.items():
            for mark in marks:
                wide, high = _whole(mark.box, shape, -1), _whole(mark.box, shape, -2)
                if wide and high:
                    _add(self.planes.setdefault(plane, []), mark)
                if not wide:
                    _add(self.columns.setdefault((plane, column), []), mark)
                if not high:
                    _add(self.rows.setdefault((plane, row), []), mark)
        for marks in (*self.columns.values(), *self.rows.values(), *self.planes.values()):
            marks.sort(key=lambda mark: mark.number)
        if any(len(marks) > MOST for marks in self.columns.values()):
            self.columns = {}
        if any(len(marks) > MOST for marks in self.rows.values()):
            self.rows = {}


def _whole(box: Box, shape: tuple[int, ...], axis: int) -> bool:
    return box[axis] == (0, shape[axis])


def _add(marks: list[Mark], mark: Mark) -> None:
    if mark not in marks:
        marks.append(mark)
