"""How a drawing looks: styles of text, a chip per entry, signs. Colour is never the only cue.

The chips are the Okabe–Ito colours, re-ordered so that the first four stay apart for colour-blind
readers and in grey print. Ink and ground are both set, so a chip looks alike on dark and light.
What a terminal is told for a style is rich's to say.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias

from gscli.base.records import Record
from gscli.views.options import OBLIQUE, Depth, PaletteName, ViewOptions
from gscli.views.signs import Signs, signs_of

Role: TypeAlias = Literal["", "entry", "row", "column", "cell", "result"]
"""What a run is in the step that a figure draws: its entry, the heads of its target, its cells, and
of a gather the cells that they are copied to.
"""


class Style(Record):
    """Colours are `#rrggbb`, or `color(N)` for number N of the terminal's table of 256.

    For figures `role` says what the run is, `sheet` in which plane it stands. Neither has looks.
    """

    ink: str = ""
    ground: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    reverse: bool = False
    role: Role = ""
    sheet: str = ""


PLAIN = Style()

Run: TypeAlias = tuple[str, Style]
"""Neighbouring characters of one style."""

Line: TypeAlias = list[Run]

_GROUNDS = {
    "truecolor": ("#56B4E9", "#D55E00", "#F0E442", "#0072B2", "#CC79A7", "#009E73", "#E69F00"),
    "256": tuple(f"color({number})" for number in (74, 166, 221, 25, 175, 36, 178)),
    "16": tuple(f"color({number})" for number in (6, 1, 3, 4, 5, 2, 7)),
}
_INKS = {
    "truecolor": ("#000000",) * 3 + ("#ffffff",) + ("#000000",) * 3,
    "256": tuple(f"color({number})" for number in (16, 16, 16, 231, 16, 16, 16)),
    "16": tuple(f"color({number})" for number in (0, 15, 0, 15, 15, 0, 0)),
}
_ALARM = {
    "truecolor": ("#ffffff", "#870000"),
    "256": ("color(231)", "color(88)"),
    "16": ("color(15)", "color(9)"),
}


class Look(Record):
    """Styles and signs of one drawing. `bars`: a slice is one unbroken bar, labelled once a row.

    `roles`: styles say what their runs are. `oblique`: planes are drawn as oblique sheets.
    """

    chips: tuple[Style, ...]
    values: tuple[Style, ...]
    alarm: Style
    several: Style
    dim: Style
    bold: Style
    note: Style
    signs: Signs
    bars: bool = True
    roles: bool = False
    oblique: bool = False

    def chip(self, number: int) -> Style:
        """Ground and ink of an entry; colours repeat, letters do not."""
        return self.chips[number % len(self.chips)]

    def value(self, number: int) -> Style:
        """The same, for the number itself."""
        return self.values[number % len(self.values)]

    def as_role(self, style: Style, role: Role) -> Style:
        """The style of a run that is something in a step."""
        return style._replace(role=role) if self.roles else style


def look_of(options: ViewOptions) -> Look:
    """The look that the options ask for and the terminal can show."""
    found = _look(options.color, options.palette, signs_of(options))
    oblique = options.figure and options.width >= OBLIQUE
    return found._replace(roles=options.figure, oblique=oblique)


@cache
def _look(color: Depth, name: PaletteName, signs: Signs) -> Look:
    if color == "none":
        return Look((PLAIN,), (PLAIN,), PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, signs, bars=False)
    dim, bold, note = Style(dim=True), Style(bold=True), Style(dim=True, italic=True)
    several = Style(bold=True, reverse=True)
    if name == "mono":
        return Look((bold,), (bold,), several, several, dim, bold, note, signs, bars=False)
    depth = "16" if name == "16" else color
    pairs = list(zip(_INKS[depth], _GROUNDS[depth], strict=True))
    ink, ground = _ALARM[depth]
    return Look(
        tuple(Style(ink, ground) for ink, ground in pairs),
        tuple(Style(ink, ground, bold=True) for ink, ground in pairs),
        Style(ink, ground, bold=True),
        several,
        dim,
        bold,
        note,
        signs,
    )
