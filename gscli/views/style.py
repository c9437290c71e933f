"""How a run of text looks, and the escape sequences that make a terminal show it so."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeAlias

_BRIGHT = 8
_NAMED = 16


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


def painted(text: str, style: Style) -> str:
    r"""Text between the codes of its style; text in no style stays as it is.

    >>> painted("a:", Style("#000000", "color(74)", bold=True))
    '\x1b[1;38;2;0;0;0;48;5;74ma:\x1b[0m'
    """
    codes = _codes(style)
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


@cache
def _codes(style: Style) -> str:
    """The parameters of ECMA-48's SGR: 1 bold, 2 dim, 3 italic, 7 reverse, 38 ink, 48 ground."""
    switches = {"1": style.bold, "2": style.dim, "3": style.italic, "7": style.reverse}
    codes = [code for code, on in switches.items() if on]
    codes += _color(style.ink, 30) if style.ink else []
    codes += _color(style.ground, 40) if style.ground else []
    return ";".join(codes)


def _color(name: str, base: int) -> list[str]:
    """A colour as ink (base 30) or ground (base 40); the first 16 have codes of their own."""
    if name.startswith("#"):
        return [str(base + 8), "2", *(str(int(name[at : at + 2], 16)) for at in (1, 3, 5))]
    number = int(name.removeprefix("color(").removesuffix(")"))
    if number >= _NAMED:
        return [str(base + 8), "5", str(number)]
    return [str(base + number if number < _BRIGHT else base + 60 + number - _BRIGHT)]
