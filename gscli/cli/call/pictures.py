"""Pictures of a run where they were asked for; the views are imported here, when one is drawn."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gscli.base import UsageError
from gscli.cli.options import Settings, make_view_options
from gscli.traces import Trace

if TYPE_CHECKING:
    from gscli.lab.expectation import OutputDiagnosis
    from gscli.views.look import ViewOptions


def render_files(
    trace: Trace, settings: Settings, expectation: OutputDiagnosis | None = None
) -> dict[str, str]:
    """The texts of the pictures that go to files, by file name."""
    texts: dict[str, str] = {}
    options = make_view_options(settings, is_for_file=True)
    if settings.svg is not None:
        texts |= _render_svgs(trace, settings, options, expectation)
    if settings.html is not None:
        from gscli.views.page import render_page

        texts[settings.html] = render_page(
            [trace], quiz=settings.quiz, options=options, diagnosis=expectation
        )
    return texts


def _render_svgs(
    trace: Trace, settings: Settings, options: ViewOptions, expectation: OutputDiagnosis | None
) -> dict[str, str]:
    """The picture as SVG, or with --step one figure or a series `name-0.svg`, `name-1.svg`, …"""
    from gscli.views.figure import render_svg
    from gscli.views.picture import make_picture
    from gscli.views.summary import describe_purpose
    from gscli.views.terminal.frames import make_frames, select_steps

    path, title, text = str(settings.svg), trace.operator.command_line, describe_purpose(trace)
    options = options._replace(figure=True)
    if settings.step is None:
        whole = make_picture(trace, options, diagnosis=expectation)
        return {path: render_svg(whole, title, text, settings.theme)}
    steps = make_frames(trace, options, expectation)
    if settings.step != "all":
        number = _parse_step(settings.step)
        frame = steps.step(number)
        return {path: render_svg(frame, f"{title}, step {number}", text, settings.theme)}
    if path == "-":
        raise UsageError("a series of figures does not fit stdout", hint="--svg FILE, or --step N")
    root, ending = os.path.splitext(path)
    return {
        f"{root}-{number}{ending}": render_svg(
            steps.step(number), f"{title}, step {number}", text, settings.theme
        )
        for number in select_steps(steps, options)
    }


def render_explanation(trace: Trace, settings: Settings) -> str:
    """The formula and a line per entry."""
    from gscli.views.lines import render_text
    from gscli.views.terminal.explain import make_explanation

    options = make_view_options(settings)
    explanation = make_explanation(trace, options, plain=settings.plain, limit=settings.limit)
    return explanation if isinstance(explanation, str) else render_text(explanation, options)


def show_steps(
    trace: Trace, settings: Settings, expectation: OutputDiagnosis | None = None
) -> None:
    """One entry after the other, by keys on a terminal."""
    from gscli.views.terminal.keys import show_steps

    number = None if settings.step in (None, "all") else _parse_step(str(settings.step))
    show_steps(trace, make_view_options(settings), number, expectation)


def _parse_step(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise UsageError(
            "step takes a number", where=f"--step {text}"[:100], valid="1, 2, … or all"
        )
    return int(text)


def save_text(path: str, text: str) -> None:
    """Write text to a file, replaced as a whole, or to stdout for `-`."""
    if path == "-":
        sys.stdout.write(text)
        return
    from gscli.disk.atomic import open_atomic

    with open_atomic(path) as target:
        target.write(text.encode("utf-8", "backslashreplace"))
