"""One entry at a time: only it is lit, cells that are done keep their new value.

By the keys n, p, g, a, ? and q; without a terminal all in a row. No full-screen mode, so that
scrollback stays.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING

import numpy as np

from gscli.base import UsageError, check_rule
from gscli.base.arrays import Array
from gscli.base.records import cached_property
from gscli.base.words import ALPHABET, format_count
from gscli.traces import Entry, Trace
from gscli.traces.entries import iter_entries
from gscli.views.choices import check_view_options
from gscli.views.lines import Drawing, render_text, wrap_paragraph
from gscli.views.look import PLAIN, Line, ViewOptions, make_style_sheet
from gscli.views.picture import Picture, TraceDrawing
from gscli.views.steps import OutputReplay, views_after
from gscli.views.subject import add_expected
from gscli.views.summary import describe_purpose
from gscli.views.terminal.explain import Explanation
from gscli.views.terminal.legend import render_entries
from gscli.views.words.facts import Describer
from gscli.views.words.formula import Formula, cite_rule, explain_entry

if TYPE_CHECKING:
    from gscli.lab.expectation import OutputDiagnosis

# Entries in the table of a frame, around the one that is lit.
TABLE_ROWS = 12

# Lines that the keys of --step take below a frame.
KEY_LINES = 3

# Entries whose frames keep the same places for everything. Beyond them, room would be kept for
# ever more, and each frame would cost more than the one before.
FRAMES_PER_LAYOUT = 26


class Frames:
    """The frames of a trace, made when they are asked for.

    Cells that no later entry reaches and that differ from an `expectation` show both values.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1, 0]})
    >>> len(Frames(found, ViewOptions()))
    2
    """

    def __init__(
        self, trace: Trace, options: ViewOptions, expectation: OutputDiagnosis | None = None
    ) -> None:
        check_view_options(trace, options)
        self.trace, self.options, self.diagnosis = trace, options, expectation
        self.done = OutputReplay(trace)
        self._entries = trace.entries(FRAMES_PER_LAYOUT)

    def entries(self, count: int) -> Sequence[Entry]:
        """The first entries, at least `count` of them."""
        if count > len(self._entries):
            self._entries = self.trace.entries(max(count, 2 * len(self._entries)))
        return self._entries

    @cached_property
    def last_entry_by_cell(self) -> Array:
        """The number of the last entry that reaches each cell of the output; -1 where none does."""
        gathers = self.trace.kind == "gather"
        numbers = np.full(self.trace.output.shape, -1)
        for entry in iter_entries(self.trace.plan, len(self), replayed=False):
            box = entry.result if gathers else entry.target
            if box is not None:
                numbers[tuple(slice(*span) for span in box)] = entry.number
        return numbers

    def step(self, number: int) -> Drawing:
        """The frame that people call `number`, 0 before the first entry; UsageError beyond."""
        fits, problem = 0 <= number <= len(self), f"there is no step {number}"
        where, legal = format_count(len(self), "entry", "entries"), f"0 … {len(self)}"
        check_rule(fits, problem, where, kind=UsageError, valid=legal)
        return StepFrame(self, number - 1)

    def __len__(self) -> int:
        return self.trace.entry_count


class StepFrame(TraceDrawing):
    """Title, entries and grids with one entry lit, its line, and why."""

    def __init__(self, frames: Frames, number: int) -> None:
        super().__init__(frames.trace, frames.options)
        self._frames, self._number = frames, number

    def _draw_lines(self, width: int) -> list[Line]:
        """On a screen that is too low for it, fewer entries stand in the table."""
        lines = self._render_rows(width, TABLE_ROWS)
        over = len(lines) + KEY_LINES - (self.options.height or len(lines) + KEY_LINES)
        rows = min(TABLE_ROWS, self.trace.entry_count)
        return lines if over <= 0 else self._render_rows(width, max(rows - over - 2, 1))

    def _render_rows(self, width: int, rows: int) -> list[Line]:
        trace, frames, number = self.trace, self._frames, self._number
        entries = frames.entries(number + 1)
        lit = entries[number : number + 1] if number >= 0 else []
        begin = max(number, 0) // FRAMES_PER_LAYOUT * FRAMES_PER_LAYOUT
        drawn = entries[begin : begin + FRAMES_PER_LAYOUT]
        before = frames.done.output_after(entries, begin)
        views = views_after(trace, drawn, number - begin, before, self.options.show)
        if frames.diagnosis is not None:
            views = add_expected(views, frames.diagnosis, frames.last_entry_by_cell > number)
        near = max(min(number - rows // 2, len(entries) - rows), 0)
        shown = entries[near : near + rows]
        drawing, group = self.render_with_table(shown, views, width, highlighted=lit)
        step: Line = [(f"step {number + 1} of {trace.entry_count}", self.look.dim)]
        lines = [*self.render_title(width, step), [], *drawing, []]
        teller = Describer(trace, group.numbers)
        lines += render_entries(teller, lit, width, self.look)
        reasons = [text for entry in lit for text in explain_entry(teller, entry)]
        reason, *more = reasons or [describe_purpose(trace)]
        lines += self.wrap(reason, width, head=[("why  ", self.look.bold)])
        for text in more:
            lines += self.wrap(text, width, self.look.dim, head=[("     ", PLAIN)])
        return lines + self.render_legend("", shown, drawing, width)


# Frames that are printed in a row, unless a limit says otherwise.
STEPPED_ENTRIES = 100


def select_steps(frames: Frames, options: ViewOptions) -> range:
    """The steps of a series, from what there was before: STEPPED_ENTRIES of them, or the limit."""
    return range(min(STEPPED_ENTRIES if options.limit is None else options.limit, len(frames)) + 1)


def show_steps(
    trace: Trace, options: ViewOptions, step: int | None, expectation: OutputDiagnosis | None,
    *, plain: bool = False,
) -> None:  # fmt: skip
    """Frame number `step`; else by keys on a terminal, and one after the other elsewhere.

    With `plain` its sentences, never by keys.
    """
    frames = Frames(trace, options, expectation)
    explanation = Explanation(trace, options, plain=True) if plain else None

    def render(number: int) -> str:
        frame = frames.step(number)
        return explanation.format_step(number) if explanation else render_text(frame, options)

    if step is not None:
        sys.stdout.write(render(step))
    elif not plain and frames and sys.stdin.isatty() and sys.stdout.isatty():
        from typer import getchar

        run_step_keys(frames, sys.stdout, getchar)
    else:
        steps = select_steps(frames, options)[len(frames) > 0 :]  # step 0 where there is no other
        for number in steps:
            sys.stdout.write("\n" * (number > 1) + render(number))
        if len(steps) < len(frames):
            rest = len(frames) - len(steps)
            sys.stdout.write(f"\n{format_count(rest, 'more step')}: --limit N, --step N\n")


_KEYS = (
    ("n", "next"), ("p", "back"), ("g", "go to entry"), ("a", "all"), ("?", "why"), ("q", "quit"),
)  # fmt: skip
_NEXT = ("n", "N", " ", "\r", "\n", "\x1b[C", "\x1b[B")
_BACK = ("p", "P", "\x7f", "\b", "\x1b[D", "\x1b[A")
_QUIT = ("q", "Q", "", "\x04", "\x1b")
_ENTER, _ERASE = ("\r", "\n"), ("\x7f", "\b")
_LONGEST_ENTRY = 12
_KEY = re.compile(r"\x1b\[[A-Z]|.", re.DOTALL)


def run_step_keys(frames: Frames, screen: IO[str], keys: Callable[[], str]) -> None:
    """Show frames as the keys ask until q or the end of input."""
    step, pressed = 1, _split_keys(keys)
    _print_above_keys(frames.step(step), frames, step, screen)
    while (key := next(pressed)) not in _QUIT:
        target = step
        if key in _NEXT:
            target += 1
        elif key in _BACK:
            target -= 1
        elif key in ("g", "G"):
            entry = _read_entry(frames, screen, pressed)
            target = step if entry is None else entry + 1
        elif key in ("a", "A"):
            whole = Picture(frames.trace, frames.options, diagnosis=frames.diagnosis)
            _print_above_keys(whole, frames, step, screen)
        elif key == "?":
            _print_above_keys(_make_rule_drawing(frames), frames, step, screen)
        if target != step and 0 <= target <= len(frames):
            step = target
            _print_above_keys(frames.step(step), frames, step, screen)


def _split_keys(keys: Callable[[], str]) -> Iterator[str]:
    """Single keys: a terminal may hand over several that were typed fast. Ends in empty ones."""
    while True:
        read = ""
        with suppress(EOFError):
            read = keys()
        yield from _KEY.findall(read) or [""]


def _print_above_keys(drawing: Drawing, frames: Frames, step: int, screen: IO[str]) -> None:
    look = make_style_sheet(frames.options)
    line: Line = []
    for key, word in _KEYS:
        line += [(f" {key} ", look.shared), (f" {word}  ", PLAIN)]
    line.append((f"  {step} of {len(frames)}", look.dim))
    for part in (drawing, Drawing(frames.options, lambda _: [[], line, []])):
        _write(render_text(part, part.options), screen)


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
        elif key in ("", "\x1b", "\x04") or len(typed) >= _LONGEST_ENTRY:
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
        number = number * len(ALPHABET) + ALPHABET.index(letter) + 1
    return number - 1


def _make_rule_drawing(frames: Frames) -> Drawing:
    """The rule at length: formula, legal indices, the operator's own help, the source."""
    options, formula = frames.options, Formula(frames.trace)
    look = make_style_sheet(options)
    paragraphs = (" ".join(part.split()) for part in frames.trace.operator.doc.split("\n\n"))
    doc = [text for paragraph in paragraphs for text in ("", paragraph)]
    lines: list[Line] = [[], [(formula.equation, look.bold)]]
    for text in (*formula.meaning, *doc, "", cite_rule(frames.trace)):
        lines += wrap_paragraph(look.signs.sanitize_line(text), options.width)
    return Drawing(options, lambda _: lines)
