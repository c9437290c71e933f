"""A comparison's number line as drawings: a strip of cells per behaviour, arcs and arrows above.

The drawings are for the eye; the table below them says the same in words.
"""

from __future__ import annotations

from collections.abc import Iterator

from gscli.views.markup import escape
from gscli.views.number_line import Behaviour, DuplicateWrite, NumberLine, ResolvedIndex
from gscli.views.page.cells import chip_class, entry_chip
from gscli.views.words.comparison import ComparisonTexts

SLOT, WIDE, HIGH = 46, 40, 30
"""Pixels from cell to cell, and a cell's width and height."""

LONGEST = 12
"""Characters of a value that is drawn above the line."""

TOP, FOOT = 44, 94
"""Where cells begin, and the height of a strip."""


def render_number_line(line: NumberLine, answers: ComparisonTexts) -> str:
    """A `<figure>` with a row per behaviour: its name and rule sets, its strip, its answer."""
    rows = "".join(_row(line, each, answers) for each in line.behaviours)
    return (
        '<figure class="strips"><figcaption>Where each index lands: a line per behaviour. '
        'The table below says the same in words.</figcaption><div class="wide" tabindex="0" '
        f'role="group" aria-label="where each index lands">{rows}</div></figure>'
    )


def _row(line: NumberLine, behaviour: Behaviour, answers: ComparisonTexts) -> str:
    labels = escape(" · ".join(behaviour.group.labels))
    name = escape(behaviour.name or behaviour.group.first.label)
    duplicates = "".join(map(_render_duplicate_write, behaviour.duplicate_writes))
    return (
        f'<div class="strip"><p><b>{name}</b><br><small>{labels}</small></p>'
        f"{_BehaviourStrip(line, behaviour).render()}"
        f'<p class="result">{_render_result(behaviour, answers)}{duplicates}</p></div>'
    )


def _render_duplicate_write(meeting: DuplicateWrite) -> str:
    """Who wins in a cell that several entries write, or what adds up there."""
    chips = "".join(entry_chip(number, spoken=False) for number in meeting.numbers)
    return f'<small class="met">{chips} {escape(meeting.outcome_text)}</small>'


def _render_result(behaviour: Behaviour, answers: ComparisonTexts) -> str:
    """The values that come out, one by one, or the refusal."""
    output = behaviour.group.first.output
    if output is None and behaviour.group.first.error is not None:
        reason = escape(answers.describe_refusal(behaviour.group))
        return f'<b class="refused">✗ error</b> <small>{reason}</small>'
    if output is None or not answers.columns:
        return ""
    texts = answers.numbers.format_column(output.reshape(-1))
    return "".join(
        f'<b class="{chip_class(number, live=True) if answers.is_per_entry else ""}">'
        f"{escape(text)}</b>"
        for number, text in enumerate(texts)
    )


class _BehaviourStrip:
    """One strip; positions are in pixels of its own view box."""

    def __init__(self, line: NumberLine, behaviour: Behaviour) -> None:
        self._line, self._behaviour = line, behaviour

    def render(self) -> str:
        """The `<svg>`."""
        width = len(self._line.places) * SLOT
        parts = [*map(self._place, self._line.places), *self._render_walls()]
        shared: dict[int, int] = {}  # entries that name one number stand side by side
        chips: list[str] = []
        for landing in self._behaviour.indices:
            *drawn, chip = self._render_index(landing, shared.setdefault(landing.written, 0))
            parts += drawn
            chips.append(chip)
            shared[landing.written] += 1
        return (
            f'<svg viewBox="0 0 {width} {FOOT}" width="{width}" height="{FOOT}" '
            f'aria-hidden="true">{"".join(parts + chips)}</svg>'
        )

    def _x(self, place: int) -> int:
        """The middle of a cell."""
        return (place - self._line.places.start) * SLOT + SLOT // 2

    def _place(self, place: int) -> str:
        inside = self._line.is_inside(place)
        x = self._x(place)
        text = self._text(x, TOP + 20, self._line.values[place], "value") if inside else ""
        return (
            f'<rect class="{"cell" if inside else "ghost"}" x="{x - WIDE // 2}" y="{TOP}" '
            f'width="{WIDE}" height="{HIGH}" rx="4"/>{text}'
            + self._text(x, FOOT - 4, str(place), "place")
        )

    def _render_walls(self) -> Iterator[str]:
        """Ends of the axis that hold a number back."""
        clipped = [each for each in self._behaviour.indices if each.outcome == "clipped"]
        for place in sorted({each.coordinate for each in clipped if each.coordinate is not None}):
            x = self._x(place) + (SLOT // 2 if place else -SLOT // 2)
            yield f'<path class="wall" d="M{x} {TOP - 6}V{TOP + HIGH + 6}"/>'

    def _render_index(self, landing: ResolvedIndex, earlier: int) -> list[str]:
        """The way of one entry, and at last its letter, which nothing may cross."""
        colour = chip_class(landing.entry_number, live=True)
        x = self._x(landing.written)
        if landing.outcome == "used" or (
            landing.outcome == "unreached" and self._line.is_inside(landing.written)
        ):
            place = f'x="{x - WIDE // 2}" y="{TOP}" width="{WIDE}" height="{HIGH}" rx="4"'
            chip = self._chip(landing, x - WIDE // 2 + 1 + 21 * earlier, TOP - 9, colour)
            return [f'<rect class="hit {colour}" {place}/>', chip]
        chip = self._chip(landing, x + 12 * earlier, TOP + HIGH // 2, colour)
        if landing.outcome == "wrapped" and landing.coordinate is not None:
            return [self._arc(x, self._x(landing.coordinate), landing.arithmetic, colour), chip]
        if landing.outcome == "clipped" and landing.coordinate is not None:
            return [self._arrow(x, landing, colour), chip]
        if landing.outcome == "skipped":
            return [self._render_fill(x, colour), chip]
        mark = self._text(x, TOP - 12, "✗", "cross") if landing.outcome == "refused" else ""
        return [mark, chip]

    def _arc(self, start: int, end: int, note: str, colour: str) -> str:
        top = TOP - 30
        shape = f"M{start} {TOP + 4}C{start} {top},{end} {top},{end} {TOP - 7}"
        return (
            _render_stroke(shape, colour)
            + f'<path class="tip {colour}" d="M{end} {TOP - 1}l-5 -8h10z"/>'
            + self._text((start + end) // 2, TOP - 30, note, "note")
        )

    def _arrow(self, start: int, landing: ResolvedIndex, colour: str) -> str:
        """Along the line to the wall."""
        assert landing.coordinate is not None
        way = 1 if landing.written < landing.coordinate else -1
        end = self._x(landing.coordinate) - way * (SLOT // 2 + 2)
        middle = TOP + HIGH // 2
        return (
            _render_stroke(f"M{start} {middle}H{end - way * 7}", colour)
            + f'<path class="tip {colour}" d="M{end} {middle}l{-way * 8} -5v10z"/>'
        )

    def _render_fill(self, x: int, colour: str) -> str:
        """Up to the value that stands in for a cell, or to nothing."""
        text = _truncate(self._behaviour.skip_text)
        half = max(11, len(text) * 4 + 5)
        middle = max(half + 1, min(x, len(self._line.places) * SLOT - half - 1))
        return (
            _render_stroke(f"M{x} {TOP + 4}V{TOP - 14}", colour)
            + f'<path class="tip {colour}" d="M{x} {TOP - 21}l-5 8h10z"/>'
            + f'<rect class="filled {colour}" x="{middle - half}" y="1" width="{2 * half}" '
            f'height="20" rx="4"/>' + self._text(middle, 15, text, "note")
        )

    @staticmethod
    def _chip(landing: ResolvedIndex, x: int, y: int, colour: str) -> str:
        return (
            f'<rect class="chip {colour}" x="{x - 10}" y="{y - 10}" width="20" height="20" rx="4"/>'
            f'<text class="letter {colour}" x="{x}" y="{y + 5}">{landing.label}</text>'
        )

    @staticmethod
    def _text(x: int, y: int, text: str, kind: str) -> str:
        return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>' if text else ""


def _truncate(text: str) -> str:
    """A value that fits over two cells.

    >>> _truncate("dropped"), _truncate("-9223372036854775808")
    ('dropped', '-92233720368…')
    """
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _render_stroke(shape: str, colour: str) -> str:
    """A line in the entry's colour with a dark casing."""
    return f'<path class="casing" d="{shape}"/><path class="way {colour}" d="{shape}"/>'
