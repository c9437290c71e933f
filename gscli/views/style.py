"""How a run of text looks; what a terminal is told for it is rich's to say."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Style(NamedTuple):
    """Colours are `#rrggbb`, or `color(N)` for number N of the terminal's table of 256."""

    ink: str = ""
    ground: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    reverse: bool = False


PLAIN = Style()

Run: TypeAlias = tuple[str, Style]
"""Neighbouring characters of one style."""

Line: TypeAlias = list[Run]
