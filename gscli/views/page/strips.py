"""A comparison's number line as drawings: a strip of cells per behaviour, arcs and arrows above.

The drawings are for the eye; the row of the table above each says the same in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gscli.base.records import Record
from gscli.traces import entry_label
from gscli.views.look import UTF8
from gscli.views.markup import escape
from gscli.views.number_line import Behaviour, NumberLine, ResolvedIndex
from gscli.views.page.cells import chip_class

# Pixels from cell to cell, and a cell's width and height.
SLOT, WIDE, HIGH = 46, 40, 30

# Pixels left of the first place, where a letter may begin, and from letter to letter.
MARGIN, BESIDE = 8, 21

# Characters of a value that is drawn above the line.
LONGEST = 13

# Where cells begin, and the height of a strip.
TOP, FOOT = 44, 94

MIDDLE = TOP + HIGH // 2


class BehaviourStrip(Record):
    """One strip; positions are in pixels of its own view box."""

    line: NumberLine
    behaviour: Behaviour

    def render(self) -> str:
        """The name of the behaviour and the `<svg>`."""
        name = escape(self.behaviour.name or self.behaviour.group.first.label)
        # Entries that name one number stand side by side, notes where no other is: `noted` pixels.
        earlier, noted, chips = Counter[int](), set[int](), list[str]()
        places = map(self._place, self.line.places)
        ways = [*places, *self._render_walls(), *self._render_fills(noted)]
        for index in self.behaviour.indices:
            if index.outcome == "unreached":
                continue
            way, chip = self._render_index(index, earlier[index.written], noted)
            ways.append(way)
            chips.append(chip)
            earlier[index.written] += 1
        crowd = max(earlier.values(), default=0) * BESIDE - SLOT  # letters beyond the last place
        width = MARGIN + len(self.line.places) * SLOT + max(0, crowd)
        return (
            f'<b>{name}</b><svg viewBox="{-MARGIN} 0 {width} {FOOT}" width="{width}"'
            f' height="{FOOT}" aria-hidden="true">{"".join(ways + chips)}</svg>'
        )

    def _x(self, place: int) -> int:
        return (place - self.line.places.start) * SLOT + SLOT // 2

    def _place(self, place: int) -> str:
        x, inside = self._x(place), self.line.is_inside(place)
        value = _render_text("value", x, TOP + 20, self.line.values[place]) if inside else ""
        number = _render_text("place", x, FOOT - 4, str(place))
        return _render_cell("cell" if inside else "ghost", x) + value + number

    def _render_walls(self) -> Iterator[str]:
        """Ends of the axis that hold a number back."""
        clipped = {each.coordinate for each in self.behaviour.indices if each.outcome == "clipped"}
        for place in sorted(place for place in clipped if place is not None):
            x = self._x(place) + (SLOT // 2 if place else -SLOT // 2)
            yield f'<path class="wall" d="M{x} {TOP - 6}V{TOP + HIGH + 6}"/>'

    def _render_index(self, index: ResolvedIndex, earlier: int, noted: set[int]) -> tuple[str, str]:
        """The way of one entry, its note where there is room, and its letter, above all ways."""
        colour, outcome = chip_class(index.entry_number, live=True), index.outcome
        x, way = self._x(index.written), ""
        if outcome == "used":
            left = x - WIDE // 2 + 1 + BESIDE * earlier
            chip = _render_chip(index.entry_number, left, TOP - 9, colour)
            return _render_cell(f"hit {colour}", x), chip
        if outcome == "refused":
            way = _render_text("cross", x, TOP - 12, "✗")
        elif outcome == "skipped":
            way = _render_way(f"M{x} {TOP + 4}V{TOP - 14}", f"M{x} {TOP - 21}l-5 8h10z", colour)
        elif index.coordinate is not None:
            end = self._x(index.coordinate)
            if outcome == "wrapped":
                shape = f"M{x} {TOP + 4}C{x} {TOP - 30},{end} {TOP - 30},{end} {TOP - 7}"
                way = _render_way(shape, f"M{end} {TOP - 1}l-5 -8h10z", colour)
                middle, half = (x + end) // 2, len(index.note) * 4
                across = range(middle - half, middle + half)
                if noted.isdisjoint(across):
                    way += _render_text("note", middle, TOP - 30, index.note)
                    noted.update(across)
            else:  # along the line to the wall
                sign = 1 if x < end else -1
                end -= sign * (SLOT // 2 + 2)
                tip = f"M{end} {MIDDLE}l{-sign * 8} -5v10z"
                way = _render_way(f"M{x} {MIDDLE}H{end - sign * 7}", tip, colour)
        return way, _render_chip(index.entry_number, x + 12 * earlier, MIDDLE, colour)

    def _render_fills(self, noted: set[int]) -> Iterator[str]:
        """What skipped numbers lead to, in a box above each; boxes that would meet are one."""
        text = UTF8.truncate(self.behaviour.skip_text, LONGEST)
        half, spans = max(11, len(text) * 4 + 5), list[tuple[int, int]]()
        skipped = {each.written for each in self.behaviour.indices if each.outcome == "skipped"}
        for place in sorted(skipped):
            middle = max(half + 1, min(self._x(place), len(self.line.places) * SLOT - half - 1))
            meets = bool(spans) and spans[-1][1] >= middle - half
            left = spans.pop()[0] if meets else middle - half
            spans.append((left, middle + half))
        for left, right in spans:
            noted.update(range(left, right))
            yield _render_box("filled", left, 1, right - left, 20)
            yield _render_text("note", (left + right) // 2, 15, text)


def _render_box(kind: str, left: int, top: int, width: int, height: int) -> str:
    place = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    return f'<rect class="{kind}" {place} rx="4"/>'


def _render_cell(kind: str, x: int) -> str:
    return _render_box(kind, x - WIDE // 2, TOP, WIDE, HIGH)


def _render_chip(number: int, x: int, y: int, colour: str) -> str:
    box = _render_box(f"chip {colour}", x - 10, y - 10, 20, 20)
    return box + _render_text(f"letter {colour}", x, y + 5, entry_label(number))


def _render_text(kind: str, x: int, y: int, text: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>' if text else ""


def _render_way(shape: str, tip: str, colour: str) -> str:
    """A line in the entry's colour with a dark casing, and its tip."""
    return (
        f'<path class="casing" d="{shape}"/><path class="way {colour}" d="{shape}"/>'
        f'<path class="tip {colour}" d="{tip}"/>'
    )
