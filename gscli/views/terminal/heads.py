"""Letters at the heads of rows and columns: an entry's cell lies where its letters cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gscli.layout.boxes import Box
from gscli.views.sheet import Place, Sheet
from gscli.views.subject import Mark

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
