"""Finished lines: what every view yields, as a rich renderable, as text and as SVG.

Neighbouring runs of one style become one segment, which draws ten thousand cells a hundred times
faster than `rich.table`; nothing is ever wrapped or read as markup.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO
from textwrap import wrap
from typing import IO, Literal, TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme

from gscli.views.options import NARROWEST, ViewOptions
from gscli.views.palette import PLAIN
from gscli.views.signs import cells, signs_of

Run: TypeAlias = tuple[str, Style]
Line: TypeAlias = list[Run]

_SYSTEMS: dict[str, Literal["truecolor", "256", "standard"] | None] = {
    "truecolor": "truecolor", "256": "256", "16": "standard", "none": None,
}  # fmt: skip
# Dark ground with light ink; the chips bring their own colours.
_THEME = TerminalTheme(
    (18, 19, 25),
    (226, 228, 233),
    [(18, 19, 25), (204, 36, 29), (0, 158, 115), (230, 159, 0),
     (86, 180, 233), (204, 121, 167), (0, 160, 160), (226, 228, 233)],
    [(120, 124, 133), (240, 80, 70), (60, 200, 150), (240, 228, 66),
     (130, 200, 240), (225, 150, 195), (80, 200, 200), (255, 255, 255)],
)  # fmt: skip
_HELD = Style(bold=False)
"""Keeps the empty last line that gives the picture its lower border."""
_FONTS = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"


def line_width(line: Line) -> int:
    """Width of a line in cells."""
    return cells("".join([text for text, _ in line]))


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Text in lines of at most `width`, never broken inside `k = 0 … 3`.

    >>> wrapped("for i = 0 … 3", 10)
    ['for', 'i = 0 … 3']
    """
    glued = text.replace(" = ", "\u00a0=\u00a0").replace(" … ", "\u00a0…\u00a0")
    glued = glued if max(map(len, glued.split(" "))) <= width else text
    parts = wrap(glued, width, subsequent_indent=indent, break_on_hyphens=False)
    return [part.replace("\u00a0", " ") for part in parts] or [""]


class Drawn(ABC):
    """Something that draws itself as finished lines at any width."""

    def __init__(self, options: ViewOptions) -> None:
        self.options = replace(options, width=max(options.width, NARROWEST))

    @abstractmethod
    def draw(self, width: int) -> list[Line]:
        """The lines, none wider than `width`."""

    def lines(self, width: int | None = None) -> list[Line]:
        """Merged lines without trailing blanks; a line that would be too wide is cut."""
        wanted = min(width or self.options.width, self.options.width)
        cut = signs_of(self.options).cut
        return [_clean(line, wanted, cut) for line in self.draw(wanted)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines(options.max_width):
            for text, style in line:
                yield Segment(text, style)
            yield Segment.line()

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widest = max(map(line_width, self.lines(options.max_width)), default=0)
        return Measurement(widest, widest)


class Lines(Drawn):
    """Lines that are finished already."""

    def __init__(self, lines: Sequence[Line], options: ViewOptions) -> None:
        super().__init__(options)
        self._lines = list(lines)

    def draw(self, width: int) -> list[Line]:
        """The lines as they are; cut by `lines` where `width` is smaller than they."""
        del width
        return self._lines


def _clean(line: Line, width: int, cut: str) -> Line:
    runs = list(_merged(line))
    while runs and runs[-1][1] == PLAIN and not runs[-1][0].strip(" "):
        runs.pop()
    if runs and runs[-1][1] == PLAIN:
        runs[-1] = (runs[-1][0].rstrip(" "), PLAIN)
    return runs if line_width(runs) <= width else _cut(runs, width, cut)


def _merged(line: Line) -> Iterator[Run]:
    texts: list[str] = []
    current = PLAIN
    for text, style in line:
        if not text:
            continue
        if style is not current and style != current:
            if texts:
                yield "".join(texts), current
            texts, current = [], style
        texts.append(text)
    if texts:
        yield "".join(texts), current


def _cut(runs: list[Run], width: int, cut: str) -> Line:
    room = width - len(cut)
    kept: Line = []
    for text, style in runs:
        taken = ""
        for character in text:
            if cells(taken + character) > room:
                return [*kept, (taken + cut, style)]
            taken += character
        kept.append((taken, style))
        room -= cells(taken)
    return kept


def render(renderable: RenderableType, options: ViewOptions) -> str:
    """The text that goes to a terminal or a pipe, escape sequences as `options.color` says."""
    system = _SYSTEMS[options.color]
    if isinstance(renderable, Drawn) and system is None:
        return "".join("".join(text for text, _ in line) + "\n" for line in renderable.lines())
    text = StringIO()
    _console(options.width, system, text).print(renderable, end="")
    return text.getvalue()


def terminal(options: ViewOptions, file: IO[str]) -> Console:
    """A console that writes to `file` just as `render` would."""
    return _console(options.width, _SYSTEMS[options.color], file)


def to_svg(renderable: RenderableType, options: ViewOptions, title: str) -> str:
    """A self-contained picture of the screen: no web font, nothing loaded from elsewhere."""
    if isinstance(renderable, Drawn):
        # Drawn once at the width asked for; the picture is as wide as its longest line.
        lines = renderable.lines()
        renderable = Lines([*lines, [(" ", _HELD)]], options)
        width = max(map(line_width, lines), default=0)
    else:
        width = options.width
    console = _console(max(width, len(title) + 12, NARROWEST), "truecolor", record=True)
    console.print(renderable, end="")
    svg = console.export_svg(title=title, theme=_THEME, code_format=_SVG)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _console(
    width: int,
    system: Literal["truecolor", "256", "standard"] | None,
    file: IO[str] | None = None,
    *,
    record: bool = False,
) -> Console:
    """A console that asks neither the environment nor a terminal."""
    return Console(
        file=file or StringIO(),
        width=width,
        color_system=system,
        force_terminal=True,
        no_color=False,
        legacy_windows=False,
        record=record,
        highlight=False,
        _environ={},
    )


def _template() -> str:
    """The frame that rich draws, without the font server and the page that it names."""
    template = str(inspect.signature(Console.export_svg).parameters["code_format"].default)
    template = re.sub(r"<!--.*?-->", "", template, flags=re.DOTALL)
    template = re.sub(r"@font-face \{\{.*?\}\}", "", template, flags=re.DOTALL)
    template = template.replace("Fira Code, monospace", _FONTS)
    return template.replace("font-family: arial", "font-family: sans-serif")


_SVG = _template()
