"""How a run of text looks; what a terminal is told for it is rich's to say."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gscli.base.records import Record

Role: TypeAlias = Literal["", "entry", "row", "column", "cell"]
"""What a run is in the step that a figure draws: its entry, the heads of its target, its cells."""


class Style(Record):
    """Colours are `#rrggbb`, or `color(N)` for number N of the terminal's table of 256.

    `role` says what the run is, for figures of a step; it has no looks.
    """

    ink: str = ""
    ground: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    reverse: bool = False
    role: Role = ""


PLAIN = Style()

Run: TypeAlias = tuple[str, Style]
"""Neighbouring characters of one style."""

Line: TypeAlias = list[Run]
