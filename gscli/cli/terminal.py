"""What the terminal (or pipe) on the other end takes: colour, width, character set."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Literal, TypeAlias

from gscli.base.records import Record
from gscli.cli import value_of

ColorChoice: TypeAlias = Literal["auto", "always", "never"]

PIPE_WIDTH = 120
NARROWEST = 20
LONGEST_WIDTH = 6
"""Digits of a width."""


class Screen(Record):
    """One output stream as the pictures see it. `depth`: how many colours it can show.

    `mono`: a terminal without colours by wish (NO_COLOR); bold, dim and reverse stay.
    """

    color: bool
    width: int
    height: int | None
    utf8: bool
    is_terminal: bool
    depth: Literal["truecolor", "256", "16"] = "truecolor"
    mono: bool = False


def screen(stream: IO[str], color: ColorChoice = "auto", width: int | None = None) -> Screen:
    """Judge a stream: `--color` wins, then NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM, isatty."""
    is_terminal = _is_terminal(stream)
    columns, height = PIPE_WIDTH, None
    if is_terminal:
        size = shutil.get_terminal_size((80, 24))
        columns, height = size.columns, size.lines
    else:
        columns = _columns(os.environ.get("COLUMNS", "")) or PIPE_WIDTH
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
    return Screen(
        _wants_color(color, is_terminal),
        max(width if width is not None else columns, NARROWEST),
        height,
        encoding.startswith("utf"),
        is_terminal,
        _depth(),
        mono=color == "auto" and bool(os.environ.get("NO_COLOR")) and _shows_styles(is_terminal),
    )


def standard_error(arguments: Sequence[str]) -> Screen:
    """Stderr when no option is parsed yet: `--color` and `--width` are looked up in the words."""
    words = {
        name: value_of(f"--{name}", arguments) or os.environ.get(f"GSCLI_{name.upper()}", "")
        for name in ("color", "width")
    }
    choice: ColorChoice = "auto"
    if words["color"] in ("always", "never"):
        choice = "always" if words["color"] == "always" else "never"
    return screen(sys.stderr, choice, _columns(words["width"]))


def _columns(text: str) -> int | None:
    """A width as somebody wrote it; None for what is none. Python refuses very long numbers."""
    return int(text) if text.isdecimal() and len(text) <= LONGEST_WIDTH else None


def tell(text: str) -> None:
    """Write to stderr; where nobody can hear it, nothing is lost and nothing fails."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def print_document(document: object) -> None:
    """One JSON document, on one line of stdout."""
    import json

    sys.stdout.write(json.dumps(document) + "\n")


def _is_terminal(stream: IO[str]) -> bool:
    try:
        return stream.isatty()
    except ValueError:
        return False


def _wants_color(choice: ColorChoice, is_terminal: bool) -> bool:
    environment = os.environ
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return _shows_styles(is_terminal)


def _shows_styles(is_terminal: bool) -> bool:
    return is_terminal and os.environ.get("TERM") not in ("dumb", "unknown")


def _depth() -> Literal["truecolor", "256", "16"]:
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "truecolor"
    term = os.environ.get("TERM", "")
    if "256" in term or not term or os.environ.get("FORCE_COLOR"):
        return "256" if "256" in term else "truecolor"
    return "16"
