"""`gscli samples [NAME] [--run] [-o FOLDER]`.

List, read, write or run the lessons that come with gscli.

Without a name: the list, or with -o or --run every lesson. With a name: its text, or with -o
its files (FOLDER/NAME), or with --run its commands, in a copy that is thrown away unless -o.
Each ends with an exercise, which --answer solves.
With --json: {"lessons": […]}, each with its name, title, folder, files and commands.

\b
Examples:
  gscli samples onnx-gather-axis-0
  gscli samples onnx-gather-axis-0 --run
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gscli.base import UsageError
from gscli.cli.building import tool
from gscli.cli.completion import complete_lesson
from gscli.cli.options import (
    JSON_OPTION,
    Settings,
    argument,
    detect_screen,
    option,
    print_json,
    print_stderr,
)
from gscli.cli.topics import fenced_width, rewrap_markdown

if TYPE_CHECKING:
    from gscli.cli.lessons import Lesson

NARROWEST_TITLE = 24


@tool("samples", JSON_OPTION, "plain", "color", "palette", "width")
def samples(
    name: str | None = argument(
        "[NAME]", "a lesson, with or without its number", complete_lesson, None
    ),
    run: bool = option("run the lesson's commands"),
    answer: bool = option("tell the answer of the exercise too"),
    output: str | None = option("write the files into FOLDER", "FOLDER", "-o"),
    *,
    settings: Settings,
) -> int:
    from gscli.cli import lessons

    chosen = lessons.list_lessons() if name is None else [lessons.find_lesson(name)]
    if settings.json is not None and run:
        raise UsageError("--json tells of lessons, --run runs them", hint="leave one of them out")
    scratch = TemporaryDirectory(prefix="gscli-samples-") if run and output is None else None
    with scratch or nullcontext(output) as folder:
        places = [
            (lesson, lesson.folder if folder is None else lessons.copy_lesson(lesson, Path(folder)))
            for lesson in chosen
        ]
        if settings.json is not None:
            _print_document(places)
        elif run:
            return _run(places, settings)
        elif output is None and name is not None:
            _print_lesson(chosen[0].format_text(answer=answer), settings.width)
        elif output is None:
            _print_titles(chosen, settings.width)
    return 0


def _print_document(places: Sequence[tuple[Lesson, Path]]) -> None:
    entries = [
        {
            "name": lesson.name,
            "title": lesson.title,
            "folder": str(place),
            "files": sorted(path.name for path in place.iterdir() if path.is_file()),
            "commands": [exchange.command for exchange in lesson.console_commands],
        }
        for lesson, place in places
    ]
    print_json({"lessons": entries})


def _print_titles(chosen: list[Lesson], columns: int | None) -> None:
    """A line per lesson; on a narrow screen the titles stand below the names."""
    names = max(len(lesson.name) for lesson in chosen) + 2
    width = detect_screen(sys.stdout, width=columns).width
    hang = " " * (names if names + NARROWEST_TITLE <= width else 2)
    for lesson in chosen:
        first = f"{lesson.name:{names}}" if len(hang) == names else f"{lesson.name}\n{hang}"
        lines = textwrap.wrap(lesson.title, width - len(hang))
        sys.stdout.write(first + f"\n{hang}".join(lines) + "\n")


def _print_lesson(text: str, columns: int | None) -> None:
    """The text, its prose as wide as the screen; recorded screens keep the width they have."""
    width = detect_screen(sys.stdout, width=columns).width
    sys.stdout.write(rewrap_markdown(text, width))
    widest = fenced_width(text)
    if widest > width and detect_screen(sys.stdout).is_terminal:
        print_stderr(f"note: recorded {widest} columns wide; --run draws for this terminal\n")


def _run(places: list[tuple[Lesson, Path]], settings: Settings) -> int:
    """Run lessons in order; the last status, since a lesson may show a refusal on its way."""
    from gscli.cli import lessons

    status = 0
    with lessons.shell_environment() as environment:
        for lesson, place in places:
            sys.stdout.write(f"# {lesson.title}\n")
            sys.stdout.flush()
            commands = [exchange.command for exchange in lesson.console_commands]
            status = lessons.run_commands(
                commands, place, {**environment, **settings.to_environment()}
            )
            status = status if status >= 0 else 128 - status  # ended by a signal, as shells say it
    return status
