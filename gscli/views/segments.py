"""Finished lines as rich has them: segments, each with its style."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import rich.style
from rich.segment import Segment

from gscli.views.look import Line, Style


@cache
def rich_style(style: Style) -> rich.style.Style:
    """The same style as rich has it."""
    return rich.style.Style(
        color=style.ink or None,
        bgcolor=style.ground or None,
        bold=style.bold or None,
        dim=style.dim or None,
        italic=style.italic or None,
        reverse=style.reverse or None,
    )


def segments(lines: Iterable[Line]) -> Iterator[Segment]:
    """Finished lines, each with its end."""
    for line in lines:
        for text, style in line:
            yield Segment(text, rich_style(style))
        yield Segment.line()
