"""One entry at a time, by the keys n, p, g, a, ? and q; without a terminal all in a row.

No full-screen mode, so that scrollback stays.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

from gscli.traces import Trace
from gscli.views.lines import Drawing, FunctionDrawing, render_text, wrap_paragraph
from gscli.views.look import PLAIN, Line, ViewOptions, make_style_sheet
from gscli.views.picture import make_picture
from gscli.views.terminal.frames import Frames, make_frames, select_steps
from gscli.views.words.formula import Formula, cite_rule

if TYPE_CHECKING:
    from gscli.lab.expectation import OutputDiagnosis

_KEYS = (
    ("n", "next"), ("p", "back"), ("g", "go to entry"), ("a", "all"), ("?", "why"), ("q", "quit"),
)  # fmt: skip
_NEXT = ("n", "N", " ", "\r", "\n", "\x1b[C", "\x1b[B")
_BACK = ("p", "P", "\x7f", "\b", "\x1b[D", "\x1b[A")
_QUIT = ("q", "Q", "", "\x04", "\x1b")
_ENTER, _ERASE = ("\r", "\n"), ("\x7f", "\b")
_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST = 12
_KEY = re.compile(r"\x1b\[[A-Z]|.", re.DOTALL)


def show_steps(
    trace: Trace,
    options: ViewOptions,
    wanted: int | None = None,
    expectation: OutputDiagnosis | None = None,
) -> None:
    """Frame number `wanted`; else by keys on a terminal, and one after the other elsewhere."""
    frames = make_frames(trace, options, expectation)
    if wanted is not None:
        sys.stdout.write(render_text(frames.step(wanted), options))
    elif frames and sys.stdin.isatty() and sys.stdout.isatty():
        from typer import getchar

        run_step_keys(frames, sys.stdout, getchar)
    else:
        for text in _iter_frames(frames, options):
            sys.stdout.write(text)


def _iter_frames(found: Frames, options: ViewOptions) -> Iterator[str]:
    steps = select_steps(found, options)[1:]
    for number in steps:
        yield ("\n" if number > 1 else "") + render_text(found.step(number), options)
    if len(steps) < len(found):
        yield f"\n{len(found) - len(steps):,} more steps: --limit N, --step N\n"


def run_step_keys(frames: Frames, screen: IO[str], keys: Callable[[], str]) -> None:
    """Show frames as the keys ask until q or the end of input."""
    number = 0
    pressed = _split_keys(keys)
    _print_frame(frames, number, screen)
    while (key := next(pressed)) not in _QUIT:
        target = number
        if key in _NEXT:
            target = number + 1
        elif key in _BACK:
            target = number - 1
        elif key in ("g", "G"):
            typed = _read_entry(frames, screen, pressed)
            target = number if typed is None else typed
        elif key in ("a", "A"):
            whole = make_picture(frames.trace, frames.options, diagnosis=frames.diagnosis)
            _print(whole, screen)
            _print_bar(frames, number, screen)
        elif key == "?":
            _print_explanation(frames, screen)
            _print_bar(frames, number, screen)
        if target in range(-1, len(frames)) and target != number:
            number = target
            _print_frame(frames, number, screen)


def _split_keys(keys: Callable[[], str]) -> Iterator[str]:
    """Single keys: a terminal may hand over several that were typed fast. Ends in empty ones."""
    while True:
        try:
            read = keys()
        except EOFError:
            read = ""
        yield from _KEY.findall(read) or [""]


def _print_frame(frames: Frames, number: int, screen: IO[str]) -> None:
    _print(frames.step(number + 1), screen)
    _print_bar(frames, number, screen)


def _print_bar(frames: Frames, number: int, screen: IO[str]) -> None:
    look = make_style_sheet(frames.options)
    line: Line = []
    for key, word in _KEYS:
        line += [(f" {key} ", look.shared), (f" {word}  ", PLAIN)]
    line.append((f"  {number + 1} of {len(frames)}", look.dim))
    _print(FunctionDrawing(lambda _: [[], line, []], frames.options), screen)


def _print(drawn: Drawing, screen: IO[str]) -> None:
    _write(render_text(drawn, drawn.options), screen)


def _write(text: str, screen: IO[str]) -> None:
    screen.write(text)
    screen.flush()  # also what has no end of line yet


def _read_entry(frames: Frames, screen: IO[str], pressed: Iterator[str]) -> int | None:
    """The entry that is typed as a letter or a number, or None."""
    _write(f"entry (a letter, or 1 to {len(frames)}): ", screen)
    typed = ""
    while (key := next(pressed)) not in _ENTER:
        if key in _ERASE:
            typed = typed[:-1]
        elif key in ("", "\x1b", "\x04") or len(typed) >= _LONGEST:
            break
        elif key.isalnum() and key.isascii():
            typed += key
            _write(key, screen)
    _write("\n", screen)
    return parse_entry(typed)


def parse_entry(typed: str) -> int | None:
    """The entry that a letter or a number from 1 means.

    >>> parse_entry("c"), parse_entry("3"), parse_entry("aa"), parse_entry("?")
    (2, 2, 52, None)
    """
    if typed.isdecimal():
        return int(typed) - 1
    if not typed or not typed.isascii() or not typed.isalpha():
        return None
    number = 0
    for letter in typed:
        number = number * len(_ALPHABET) + _ALPHABET.index(letter) + 1
    return number - 1


def _print_explanation(frames: Frames, screen: IO[str]) -> None:
    """The rule at length: formula, legal indices, the operator's own help, the source."""
    options, formula = frames.options, Formula(frames.trace)
    look = make_style_sheet(options)
    doc = frames.trace.operator.doc.splitlines()
    lines: list[Line] = [[], [(formula.equation, look.bold)]]
    for text in (*formula.meaning, "", *doc, "", cite_rule(frames.trace)):
        lines += wrap_paragraph(look.signs.sanitize_line(text), options.width)
    _print(FunctionDrawing(lambda _: lines, options), screen)
