"""One entry at a time: only it is lit, cells that are done keep their new value.

No full-screen mode, so that scrollback stays; without a terminal the frames follow each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import overload

from rich.console import Console

from gscli.errors import UsageError
from gscli.tracing import Entry, Trace
from gscli.views.flow import flow
from gscli.views.group import check_requests, draw_group
from gscli.views.legend import legend
from gscli.views.lines import Drawn, Line, render, terminal
from gscli.views.options import ViewOptions
from gscli.views.palette import PLAIN, palette_of
from gscli.views.picture import GAP, title_line
from gscli.views.progress import subjects_after
from gscli.views.keys import interact
from gscli.views.reasons import why
from gscli.views.signs import signs_of
from gscli.views.statements import Teller

STEPPED_ENTRIES = 100
"""Frames that are printed in a row, unless a limit says otherwise."""

class Frame(Drawn):
    """The run after one of its entries."""

    def __init__(self, frames: Frames, number: int) -> None:
        super().__init__(frames.options)
        self._frames = frames
        self._number = number

    def draw(self, width: int) -> list[Line]:
        """Title, tensors with one entry lit, its line, and why."""
        frames, options = self._frames, self.options
        trace, entries = frames.trace, frames.entries(self._number + 1)
        palette, signs = palette_of(options), signs_of(options)
        entry = entries[self._number]
        found = subjects_after(trace, entries, self._number, options.show)
        group = draw_group(found, options, width)
        step = f"   step {self._number + 1} of {trace.entry_count}"
        lines = [[*title_line(trace, palette), (step, palette.dim)], []]
        lines += [*flow(group.blocks, width, GAP), []]
        teller = Teller(trace, group.numbers, signs)
        lines += [*legend([teller.statement(entry)], width, palette, signs), []]
        head = "why  "
        for number, text in enumerate(why(teller, entry)):
            for part in wrap(text, width - len(head), break_on_hyphens=False):
                lines.append([(head, palette.bold), (part, palette.dim if number else PLAIN)])
                head = " " * len(head)
        return lines


class Frames(Sequence[Frame]):
    """The frames of a trace, made when they are asked for."""

    def __init__(self, trace: Trace, options: ViewOptions) -> None:
        self.trace = trace
        self.options = options
        self._entries = trace.entries(STEPPED_ENTRIES)

    def entries(self, count: int) -> Sequence[Entry]:
        """The first entries, at least `count` of them."""
        if count > len(self._entries):
            self._entries = self.trace.entries(max(count, 2 * len(self._entries)))
        return self._entries

    def __len__(self) -> int:
        return self.trace.entry_count

    @overload
    def __getitem__(self, number: int) -> Frame: ...
    @overload
    def __getitem__(self, number: slice) -> list[Frame]: ...
    def __getitem__(self, number: int | slice) -> Frame | list[Frame]:
        if isinstance(number, slice):
            return [Frame(self, one) for one in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return Frame(self, number % len(self))


def frames(trace: Trace, options: ViewOptions) -> Frames:
    """One renderable per entry.

    >>> from gscli.tracing import trace
    >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1, 0]})
    >>> len(frames(found, ViewOptions()))
    2
    """
    check_requests(trace, options)
    return Frames(trace, options)


def show_steps(trace: Trace, options: ViewOptions, wanted: int | None = None) -> None:
    """Frame number `wanted`; else by keys on a terminal, and one after the other elsewhere."""
    found = frames(trace, options)
    if wanted is not None:
        sys.stdout.write(render(frame_number(found, wanted), options))
    elif found and sys.stdin.isatty() and sys.stdout.isatty():
        from typer import getchar  # noqa: PLC0415  only where there are keys

        interactive(trace, options, terminal(options, sys.stdout), getchar)
    else:
        for text in _in_a_row(found, options):
            sys.stdout.write(text)


def interactive(
    trace: Trace, options: ViewOptions, console: Console, keys: Callable[[], str]
) -> None:
    """Frames by single keys: `keys` returns the next one pressed. Ends with q or end of input."""
    found = frames(trace, options)
    if found:
        interact(found, console, keys)


def frame_number(found: Frames, wanted: int) -> Frame:
    """The frame that people call number `wanted`, from 1; UsageError beyond."""
    if not 1 <= wanted <= len(found):
        raise UsageError(
            f"there is no step {wanted}",
            where=f"{len(found)} entries",
            valid=f"1 … {len(found)}" if found else "none",
        )
    return found[wanted - 1]


def _in_a_row(found: Frames, options: ViewOptions) -> Iterator[str]:
    limit = STEPPED_ENTRIES if options.limit is None else options.limit
    for number in range(min(limit, len(found))):
        yield ("\n" if number else "") + render(found[number], options)
    rest = len(found) - limit
    if rest > 0:
        yield f"\n{rest:,} more steps: --limit N, --step N\n"
