"""How to draw: what was asked for, signs with and without UTF-8, styles, a chip per entry.

The chips are the Okabe–Ito colours, re-ordered so that the first four stay apart for colour-blind
readers and in grey print. Ink and ground are both set, so a chip looks alike on dark and light;
colour is never the only cue. What a terminal is told for a style is rich's to say.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Literal, TypeAlias

from gscli.base.records import Record
from gscli.base.words import sanitize
from gscli.plan.indices import IndexOutcome, OutcomeSign

Depth: TypeAlias = Literal["truecolor", "256", "16", "none"]
PaletteName: TypeAlias = Literal["okabe", "mono", "16"]

# The width from which planes are oblique sheets in a figure: 600 pixels.
MIN_OBLIQUE_WIDTH = 72

# The smallest width that is honoured.
MIN_WIDTH = 40


class ViewOptions(Record):
    """What the user and the terminal ask for. None: the view decides.

    `color` "none" draws text only, as in a pipe; a terminal with NO_COLOR is palette "mono", which
    keeps bold, dim and reverse. `rows`: rows of one plane. `edge`: border rows and columns kept
    when a tensor is elided. `height`: lines of the screen. `show`: roles or names of tensors.
    `slice`: the part of data and output to look at. `precision`: digits after the point at most.
    `limit`: entries told one by one. `lines`: a comparison as number lines. `figure`: runs of text
    bear their role, for the crosshair and the oblique sheets of a figure. `hints`: options of the
    command line that show more are named.
    """

    width: int = 80
    color: Depth = "truecolor"
    palette: PaletteName = "okabe"
    utf8: bool = True
    full: bool = False
    rows: int | None = None
    edge: int = 1
    height: int | None = None
    show: tuple[str, ...] | None = None
    slice: str | None = None
    precision: int | None = None
    limit: int | None = None
    lines: bool = False
    figure: bool = False
    hints: bool = True


PLANES = 12
ROWS = 20

# Axes that one table shows: the planes of tensors with more have one each.
MATRIX = 2

# Cells of a tensor that one table may always show.
MAX_WHOLE_CELLS = 400


# Lines that a one-dimensional tensor may take before columns are left out.
FLAT_LINES = 4


class Limits(Record):
    """How much may be shown.

    `lines`: tables below each other that the columns of one row may take. `full`: everything.
    `fill`: use the room even where nothing is touched.
    """

    rows: int
    columns: int
    lines: int = 1
    planes: int = PLANES
    edge: int = 2
    full: bool = False
    fill: bool = False


# Characters of a line of prose before it is cut.
LONGEST_LINE = 4000


class Signs(Record):
    """One character or two per meaning."""

    utf8: bool
    bar: str
    across: str
    down: str
    wrapped: str
    clipped: str
    skipped: str
    times: str
    arrow: str
    cut: str
    point: str
    differs: str

    def for_outcome(self, how: OutcomeSign) -> str:
        """The sign of a number that is not its own coordinate."""
        return {"wrapped": self.wrapped, "clipped": self.clipped, "skipped": self.skipped}[how]

    def for_number(self, outcome: IndexOutcome) -> str:
        """The same by what became of the number.

        >>> choose_signs(ViewOptions(utf8=False)).for_number("ignored")
        '!'
        """
        from gscli.plan.outcomes import OUTCOMES

        return self.for_outcome(OUTCOMES[outcome].sign or "skipped")

    def sanitize(self, text: str, limit: int = 200) -> str:
        """Outside text that can neither colour nor steer a terminal, in its character set."""
        shown = sanitize(text, limit)
        if not self.utf8:
            shown = shown.replace("…", self.cut)
            shown = shown.encode("ascii", "backslashreplace").decode("ascii")
        return shown

    def sanitize_line(self, text: str) -> str:
        """The same of a line of prose."""
        return self.sanitize(text, LONGEST_LINE)

    def format_lines(self, texts: Iterable[str]) -> str:
        """Lines of prose, each with its end, none of them broken."""
        return "".join(self.sanitize_line(text) + "\n" for text in texts)

    def truncate(self, text: str, width: int) -> str:
        """Cut to `width` cells, with a mark where something is missing."""
        if cell_len(text) <= width:
            return text
        mark = self.cut if width > len(self.cut) else ""
        return cut_cells(text, max(width - len(mark), 0)).rstrip() + mark


# All characters below U+0300 and the signs themselves take one cell each.
_PLAIN = frozenset(map(chr, range(0x20, 0x300))).union("│⋯⋮↺⊣✗×→…·–−≠")

UTF8 = Signs(True, "│", "⋯", "⋮", "↺", "⊣", "✗", "×", "→", "…", "·", "≠")
_ASCII = Signs(False, "|", "..", ":", "~", "]", "!", "x", "->", "..", ".", "!=")


def choose_signs(options: ViewOptions) -> Signs:
    """The signs that the output can show.

    >>> choose_signs(ViewOptions(utf8=False)).for_outcome("wrapped")
    '~'
    """
    return UTF8 if options.utf8 else _ASCII


def cell_len(text: str) -> int:
    """Width on the screen: East Asian wide characters count two.

    >>> cell_len("ab"), cell_len("日本")
    (2, 4)
    """
    if _PLAIN.issuperset(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut_cells(text: str, width: int) -> str:
    """The first `width` cells, or one less where a wide character would be halved."""
    if _PLAIN.issuperset(text):
        return text[:width]
    from rich.cells import set_cell_size

    return set_cell_size(text, width).rstrip()


def pad_right(text: str, width: int) -> str:
    """Padded on the right to `width` cells."""
    return text + " " * (width - cell_len(text))


def pad_left(text: str, width: int) -> str:
    """Padded on the left to `width` cells."""
    return " " * (width - cell_len(text)) + text


# What a run is in the step that a figure draws: its entry, the heads of its target, its cells, and
# of a gather the cells that they are copied to; the room between two blocks, and the edge between
# the heads of rows and their cells.
Role: TypeAlias = Literal[
    "", "entry", "gradient", "row", "column", "plane", "cell", "result", "lane", "edge"
]  # fmt: skip


class Style(Record):
    """Colours, as rich names both, are `#rrggbb`, or `color(N)` for number N of 256.

    For figures `role` says what the run is, `plane` in which plane it stands. Neither has looks.
    """

    color: str = ""
    bgcolor: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    reverse: bool = False
    role: Role = ""
    plane: str = ""


PLAIN = Style()

# Neighbouring characters of one style.
TextRun: TypeAlias = tuple[str, Style]

Line: TypeAlias = list[TextRun]

_GROUNDS = {
    "truecolor": (
        "#56B4E9", "#D55E00", "#F0E442", "#0072B2", "#CC79A7", "#009E73", "#E69F00", "#870000",
    ),
    "256": tuple(f"color({number})" for number in (74, 166, 221, 25, 175, 36, 178, 88)),
    "16": tuple(f"color({number})" for number in (6, 1, 3, 4, 5, 2, 7, 9)),
}  # fmt: skip

# Of entries in turn, and last of what is skipped.
_INKS = {
    "truecolor": ("#000000",) * 3 + ("#ffffff",) + ("#000000",) * 3 + ("#ffffff",),
    "256": tuple(f"color({number})" for number in (16, 16, 16, 231, 16, 16, 16, 231)),
    "16": tuple(f"color({number})" for number in (0, 15, 0, 15, 15, 0, 0, 15)),
}


class StyleSheet(Record):
    """Styles and signs of one drawing. `bars`: a slice is one unbroken bar, labelled once a row.

    `roles`: styles say what their runs are. `oblique`: planes are drawn as oblique sheets.
    """

    signs: Signs
    chips: tuple[Style, ...] = (PLAIN,)
    values: tuple[Style, ...] = (PLAIN,)
    alarm: Style = PLAIN
    shared: Style = PLAIN
    dim: Style = PLAIN
    bold: Style = PLAIN
    note: Style = PLAIN
    bars: bool = False
    roles: bool = False
    oblique: bool = False

    def chip_style(self, number: int, *, alarm: bool = False) -> Style:
        """Ground and ink of an entry; colours repeat, letters do not. `alarm`: it is skipped."""
        return self.alarm if alarm else self.chips[number % len(self.chips)]

    def value_style(self, number: int, *, alarm: bool = False) -> Style:
        """The same, for the number itself."""
        return self.alarm if alarm else self.values[number % len(self.values)]

    def with_role(self, style: Style, role: Role) -> Style:
        """The style of a run that is something in a step."""
        return style._replace(role=role) if self.roles else style


def make_style_sheet(options: ViewOptions) -> StyleSheet:
    """The look that the options ask for and the terminal can show."""
    look = _choose_styles(options.color, options.palette, choose_signs(options))
    oblique = options.figure and options.width >= MIN_OBLIQUE_WIDTH
    return look._replace(roles=options.figure, oblique=oblique)


@cache
def _choose_styles(color: Depth, name: PaletteName, signs: Signs) -> StyleSheet:
    if color == "none":
        return StyleSheet(signs)
    bold, several = Style(bold=True), Style(bold=True, reverse=True)
    note = Style(dim=True, italic=True)
    mono = StyleSheet(signs, (bold,), (bold,), several, several, Style(dim=True), bold, note)
    if name == "mono":
        return mono
    depth = "16" if name == "16" else color
    chips = tuple(map(Style, _INKS[depth], _GROUNDS[depth]))
    *values, alarm = (chip._replace(bold=True) for chip in chips)
    return mono._replace(chips=chips[:-1], values=tuple(values), alarm=alarm, bars=True)
