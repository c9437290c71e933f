"""What becomes of a run: pictures where they are asked for, and the output held against another.

The views are imported here, when one is drawn.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gscli import files
from gscli.base import UsageError
from gscli.cli.options import Settings, make_value_error, make_view_options

if TYPE_CHECKING:
    from gscli.lab.causes import EntryNames
    from gscli.lab.difference import TensorDifference, Tolerance
    from gscli.lab.expectation import OutputDiagnosis
    from gscli.lab.gradient_causes import GradientDiagnosis
    from gscli.traces import Trace


def render_html(run: Any, settings: Settings, diagnosis: Any = None, *, quiz: bool = False) -> str:
    """A page of one run or comparison."""
    from gscli.views.page import render_page

    options = make_view_options(settings, is_for_file=True)
    return render_page([run], quiz=quiz, options=options, diagnosis=diagnosis)


def render_svgs(
    trace: Trace, settings: Settings, expectation: OutputDiagnosis | None
) -> dict[str, str]:
    """The picture as SVG, or with --step one figure or a series `name-0.svg`, `name-1.svg`, …"""
    from gscli.views.figure import render_series, render_svg
    from gscli.views.picture import Picture
    from gscli.views.summary import describe_purpose
    from gscli.views.terminal.frames import Frames, select_steps

    path, title, text = str(settings.svg), f"gscli {trace.title}", describe_purpose(trace)
    options = make_view_options(settings, is_for_file=True)._replace(figure=True)
    if settings.step is None:
        whole = Picture(trace, options, diagnosis=expectation)
        return {path: render_svg(whole, title, text, settings.theme)}
    frames, (root, ending) = Frames(trace, options, expectation), os.path.splitext(path)
    if settings.step != "all":
        steps = {path: parse_step(settings.step)}
    elif path == "-":
        raise UsageError("a series of figures does not fit stdout", hint="--svg FILE, or --step N")
    else:
        steps = {f"{root}-{step}{ending}": step for step in select_steps(frames, options)}
    drawings = {f"{title}, step {step}": frames.step(step) for step in steps.values()}
    return dict(zip(steps, render_series(drawings, text, settings.theme), strict=True))


def render_explanation(trace: Trace, settings: Settings) -> str:
    """The formula and a line per entry."""
    from gscli.views.lines import render_text
    from gscli.views.terminal.explain import Explanation

    options = make_view_options(settings)
    explanation = Explanation(trace, options, plain=settings.plain)
    return explanation.format_plain() if settings.plain else render_text(explanation, options)


def parse_step(text: str) -> int:
    """The number of one step, from 1."""
    if not (text.isascii() and text.isdigit()):
        raise make_value_error("step", text, "a number", "1, 2, … or all")
    return int(text)


def save_text(path: str, text: str) -> None:
    """Write text to a file, replaced as a whole, or to stdout for `-`."""
    if path == "-":
        sys.stdout.write(text)
        return
    from gscli.disk.atomic import open_atomic

    with open_atomic(path) as target:
        target.write(text.encode("utf-8", "backslashreplace"))


# --- the output held against the one that is expected ------------------------------------------


# The expected answer; an untyped one takes the result's type.
Expected: TypeAlias = "tuple[files.LoadedInput, Tolerance]"


def make_tolerance(settings: Settings) -> Tolerance:
    """The differences that `--rtol` and `--atol` allow, and as many listed as `--limit` says."""
    from gscli.lab.difference import MAX_LISTED, Tolerance

    listed = MAX_LISTED if settings.limit is None else settings.limit
    return Tolerance(settings.rtol, settings.atol or 0.0, listed)


def report_difference(
    diagnosis: OutputDiagnosis | GradientDiagnosis, settings: Settings, *,
    below: bool, shown_count: int = 0,
) -> int:  # fmt: skip
    """Print it below the picture, in quiet the sentences alone; 1 where the answers differ.

    `shown_count`: differing cells that the picture shows; where it is all, no table lists them.
    """
    difference = diagnosis.difference
    if settings.is_screen_used:
        sentences, find_entries = diagnosis.describe(), diagnosis.find_entries
        text = render_difference(difference, sentences, settings, find_entries, shown_count)
        sys.stdout.write("\n" * below + text)
    elif settings.is_verdict_alone:
        from gscli.views.lines import wrap_lines

        lines, width = diagnosis.describe(), make_view_options(settings).width
        sys.stdout.write(wrap_lines(lines, width, "    "))
    return int(not difference.is_equal)


def render_difference(
    difference: TensorDifference, sentences: Sequence[str], settings: Settings,
    find_entries: Callable[[Sequence[int]], EntryNames] | None = None, shown_count: int = 0,
) -> str:  # fmt: skip
    """The sentences, and the cells that differ in a table or in sentences of their own."""
    from gscli.views.lines import render_text, wrap_lines
    from gscli.views.terminal.tables import DifferenceTable

    options = make_view_options(settings)
    table = DifferenceTable(difference, options, find_entries)
    if settings.plain:
        return wrap_lines([sentences[0], *table.describe(), *sentences[1:]], options.width)
    listed = shown_count < difference.differing_count
    return render_text(table.make_drawing(sentences, listed=listed), options)
