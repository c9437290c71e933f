"""Drawings as SVG pictures, which rich makes of their segments."""

from __future__ import annotations

import inspect
import re
from io import StringIO

import rich.style
from rich.console import Console
from rich.segment import Segment, Segments
from rich.terminal_theme import TerminalTheme

from gscli.views.lines import Drawn, line_width
from gscli.views.options import NARROWEST
from gscli.views.segments import segments

# Dark ground with light ink; the chips bring their own colours.
_THEME = TerminalTheme(
    (18, 19, 25),
    (226, 228, 233),
    [(18, 19, 25), (204, 36, 29), (0, 158, 115), (230, 159, 0),
     (86, 180, 233), (204, 121, 167), (0, 160, 160), (226, 228, 233)],
    [(120, 124, 133), (240, 80, 70), (60, 200, 150), (240, 228, 66),
     (130, 200, 240), (225, 150, 195), (80, 200, 200), (255, 255, 255)],
)  # fmt: skip
_FONTS = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
_LAST = Segment(" ", rich.style.Style(bold=False))
"""Holds an empty last line, which gives the picture its lower border."""


def to_svg(drawn: Drawn, title: str) -> str:
    """A self-contained picture of the screen: no web font, nothing loaded from elsewhere.

    Drawn once at the width asked for; the picture is as wide as its longest line.
    """
    lines = drawn.lines()
    width = max(map(line_width, lines), default=0)
    console = _console(max(width, len(title) + 12, NARROWEST))
    console.print(Segments([*segments(lines), _LAST, Segment.line()]), end="")
    svg = console.export_svg(title=title, theme=_THEME, code_format=_template())
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _console(width: int) -> Console:
    """A recording console that asks neither the environment nor a terminal."""
    return Console(
        file=StringIO(),
        width=width,
        color_system="truecolor",
        force_terminal=True,
        no_color=False,
        legacy_windows=False,
        record=True,
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
