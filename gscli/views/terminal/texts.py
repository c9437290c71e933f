"""What stands in the cells of a sheet, `was → is` and `is ≠ expected` too, and how wide it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gscli.base.arrays import Array, Flags
from gscli.traces.trace import How
from gscli.views.numbers import NumberFormat, shortened
from gscli.views.sheet import Place, Sheet
from gscli.views.signs import cells
from gscli.views.subject import Mark
from gscli.views.terminal.cells import Pen
from gscli.views.terminal.columns import Measures

_WIDEST = 40
"""Characters of a value that is written with all its digits."""


class Texts:
    """The texts of one sheet, a list per plane in row-major order (`planes`).

    `marked` and `how`: marks and signs by place. `wrong`: the ends of texts that tell what a cell
    should hold.
    """

    def __init__(self, sheet: Sheet, numbers: NumberFormat) -> None:
        self.sheet, self.signs, self._numbers = sheet, numbers.signs, numbers
        subject = sheet.subject
        self.marked = sheet.marked(subject.marks)
        self.how = {**sheet.how(subject.signs), **self._dropped(self.marked)}
        self.planes = [self._texts(number) for number in range(len(sheet.blocks))]
        self._mark_changes()
        self.wrong = self._write_differences(self.planes, sheet.blocks, sheet.apart)

    @property
    def wide(self) -> bool:
        """Whether some character takes two cells."""
        return not all(map(_narrow, self.planes))

    def measures(self, pen: Pen) -> Measures:
        """Width of letters and number, and of the sign, per candidate column."""
        window, unlit = self.sheet.window, self.sheet.subject.unlit
        count = len(window.columns)
        names = [cells(str(one)) if self.sheet.rank else 0 for one in window.columns]
        found = Measures(names, [0] * count)
        _measure_texts(found, self.planes)
        _measure_marks(pen, found, self.planes, self.marked)
        self._measure_signs(found, self.how)
        if unlit is not None:
            texts = [self._numbers.texts(one) for one in self.sheet.reserved]
            apart = self.sheet.differing(self.sheet.reserved)
            tails = self._write_differences(texts, self.sheet.reserved, apart)
            _measure_texts(found, texts)
            for mark in unlit.marks:
                # In a step a cell carries one letter at a time.
                marked = self.sheet.marked([mark])
                room = self._room(mark) and self._room(mark) + max(
                    (cells(tails.get(place, "")) for place in marked), default=0
                )
                _measure_marks(pen, found, texts, marked, room)
            dropped = self._dropped(self.sheet.marked(unlit.marks))
            self._measure_signs(found, {**self.sheet.how(unlit.signs), **dropped})
        return found

    def _dropped(self, marked: Mapping[Place, Sequence[Mark]]) -> dict[Place, How]:
        """Updates that no entry writes anywhere."""
        if self.sheet.subject.role != "updates":
            return {}
        return {
            place: "skipped" for place, marks in marked.items() if all(mark.alarm for mark in marks)
        }

    def _room(self, mark: Mark) -> int:
        """What `was → is` takes in the step of one entry."""
        pair = self.sheet.subject.steps.get(mark.number)
        if pair is None:
            return 0
        olds, news = (map(shortened, self._numbers.texts(one)) for one in pair)
        pairs = zip(olds, news, strict=True)
        return max((cells(old + self.signs.arrow + new) for old, new in pairs), default=0)

    def _mark_changes(self) -> None:
        """Marked cells that changed are written `was → is`."""
        count = len(self.sheet.window.columns)
        olds = [self._numbers.texts(one) for one in self.sheet.before]
        for (plane, row, column), marks in self.marked.items() if olds else ():
            number = row * count + column
            before, after = olds[plane][number], self.planes[plane][number]
            if before != after and not all(mark.alarm for mark in marks):
                was = shortened(before)
                self.planes[plane][number] = f"{was}{self.signs.arrow}{shortened(after)}"

    def _write_differences(
        self, planes: Sequence[list[str]], blocks: Sequence[Array], apart: Sequence[Flags]
    ) -> dict[Place, str]:
        """Write cells that differ from the expectation as `is≠expected`; the ends of texts."""
        count, found = len(self.sheet.window.columns), dict[Place, str]()
        for plane, (wanted, flags) in enumerate(zip(self.sheet.expected, apart, strict=True)):
            texts = self._numbers.texts(wanted)
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

    def _measure_signs(self, found: Measures, how: Mapping[Place, How]) -> None:
        for (_, _, column), sign in how.items():
            found.signs[column] = max(found.signs[column], cells(self.signs.of(sign)))

    def _texts(self, number: int) -> list[str]:
        texts = self._numbers.texts(self.sheet.blocks[number])
        if not self.sheet.subject.blank:
            return texts
        known = self.sheet.known[number].reshape(-1).tolist()
        return [text if sure else self.signs.point for text, sure in zip(texts, known, strict=True)]


def _measure_texts(found: Measures, texts: Sequence[Sequence[str]]) -> None:
    count = len(found.widths)
    for one in texts:
        sizes = list(map(len, one)) if _narrow(one) else list(map(cells, one))
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
        size = cells(pen.label(marks)) + text
        found.widths[column] = max(found.widths[column], size)


def _narrow(texts: Sequence[str]) -> bool:
    """Whether every character takes one cell."""
    joined = "".join(texts)
    return len(joined) == cells(joined)
