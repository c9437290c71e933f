"""One entry at a time: only it is lit, cells that are done keep their new value.

No full-screen mode, so that scrollback stays; without a terminal the frames follow each other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gscli.base.errors import UsageError
from gscli.base.text import counted
from gscli.traces.trace import Trace
from gscli.views.lines import render
from gscli.views.options import ViewOptions
from gscli.views.terminal.frames import Frame, Frames
from gscli.views.terminal.group import check_requests
from gscli.views.terminal.keys import interact

if TYPE_CHECKING:
    from gscli.lab.expectation import Expectation

STEPPED_ENTRIES = 100
"""Frames that are printed in a row, unless a limit says otherwise."""


def frames(trace: Trace, options: ViewOptions, expectation: Expectation | None = None) -> Frames:
    """One renderable per entry.

    >>> from gscli.traces.trace import trace
    >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1, 0]})
    >>> len(frames(found, ViewOptions()))
    2
    """
    check_requests(trace, options)
    return Frames(trace, options, expectation)


def show_steps(
    trace: Trace,
    options: ViewOptions,
    wanted: int | None = None,
    expectation: Expectation | None = None,
) -> None:
    """Frame number `wanted`; else by keys on a terminal, and one after the other elsewhere."""
    found = frames(trace, options, expectation)
    if wanted is not None:
        sys.stdout.write(render(frame_number(found, wanted), options))
    elif found and sys.stdin.isatty() and sys.stdout.isatty():
        from typer import getchar

        interact(found, sys.stdout, getchar)
    else:
        for text in _in_a_row(found, options):
            sys.stdout.write(text)


def frame_number(found: Frames, wanted: int) -> Frame:
    """The frame that people call `wanted`, 0 before the first; UsageError beyond."""
    if not 0 <= wanted <= len(found):
        raise UsageError(
            f"there is no step {wanted}",
            where=counted(len(found), "entry", "entries"),
            valid=f"0 … {len(found)}",
        )
    return found.step(wanted)


def listed_steps(found: Frames, options: ViewOptions) -> range:
    """The steps of a series, from what there was before: STEPPED_ENTRIES of them, or the limit."""
    limit = STEPPED_ENTRIES if options.limit is None else options.limit
    return range(min(limit, len(found)) + 1)


def _in_a_row(found: Frames, options: ViewOptions) -> Iterator[str]:
    limit = STEPPED_ENTRIES if options.limit is None else options.limit
    for number in range(min(limit, len(found))):
        yield ("\n" if number else "") + render(found[number], options)
    rest = len(found) - limit
    if rest > 0:
        yield f"\n{rest:,} more steps: --limit N, --step N\n"
