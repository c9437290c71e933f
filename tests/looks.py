"""How a terminal shows a text: which words are bold, dim or in which colour, whatever the codes."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text


def _text(screen: str) -> Text:
    return Text.from_ansi(screen.replace("\r\n", "\n"))


def looks(screen: str) -> list[Style]:
    """The style of every character but line ends."""
    found = _text(screen)
    each = [Style()] * len(found.plain)
    for span in found.spans:
        style = Style.parse(span.style) if isinstance(span.style, str) else span.style
        for place in range(span.start, span.end):
            each[place] += style
    return [style for style, letter in zip(each, found.plain, strict=True) if letter != "\n"]


def bare(screen: str) -> str:
    """The words alone."""
    return _text(screen).plain


def look_of(screen: str, words: str) -> Style:
    """The one style of some words, at the first place where they stand."""
    start = bare(screen).replace("\n", "").index(words)
    (style,) = set(looks(screen)[start : start + len(words)])
    return style


def is_coloured(screen: str) -> bool:
    """Whether any letter or any ground has a colour."""
    return any(style.color or style.bgcolor for style in looks(screen))
