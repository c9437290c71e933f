"""How to draw: width, colours, signs and what to leave out. The app fills it in."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gscli.base.records import Record

Depth: TypeAlias = Literal["truecolor", "256", "16", "none"]
PaletteName: TypeAlias = Literal["okabe", "mono", "16"]

OBLIQUE = 72
"""The width from which planes are oblique sheets in a figure: 600 pixels."""

NARROWEST = 40
"""The smallest width that is honoured."""


class ViewOptions(Record):
    """What the user and the terminal ask for. None: the view decides.

    `color` "none" draws text only, as in a pipe; a terminal with NO_COLOR is palette "mono", which
    keeps bold, dim and reverse. `rows`: rows of one plane. `edge`: border rows and columns kept
    when a tensor is elided. `height`: lines of the screen. `show`: roles or names of tensors.
    `slice`: the part of data and output to look at. `precision`: digits after the point at most.
    `limit`: entries told one by one. `figure`: runs of text bear their role, for the crosshair and
    the oblique sheets of a figure.
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
    figure: bool = False
