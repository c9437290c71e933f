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

import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from gscli.base import CannotRead, CannotWrite, UsageError, check_rule
from gscli.base.records import Record
from gscli.base.words import format_suggestion, suggest_names
from gscli.cli.building import tool
from gscli.cli.options import (
    JSON_OPTION,
    SHARED_OPTIONS,
    Settings,
    argument,
    complete_names,
    detect_screen,
    option,
    output_option,
    print_json,
    print_stderr,
)
from gscli.cli.topics import FENCE, fenced_width, rewrap_markdown, strip_markdown

NARROWEST_TITLE = 24


def _complete_lesson(incomplete: str) -> list[str]:
    """Lessons by their full names, or without the number where a letter is written."""
    names = [lesson.name for lesson in list_lessons()]
    if incomplete[:1].isalpha():
        names = [name.partition("-")[2] for name in names]
    return complete_names(names)(incomplete)


# Looks of what a lesson's commands print; a text that is read has those it was recorded with.
LOOKS = [
    SHARED_OPTIONS[name]._replace(needs="run", why=f"--{name} is how --run prints")
    for name in ("plain", "color", "palette")
]


@tool("samples", JSON_OPTION, *LOOKS, "width")
def samples(
    name: str | None = argument(
        "[NAME]", "a lesson, with or without its number", _complete_lesson, None
    ),
    run: bool = option(
        "run the lesson's commands", excludes=("json",),
        why="--json tells of lessons, --run runs them",
    ),
    answer: bool = option(
        "tell the answer of the exercise too",
        excludes=("json", "run", "output"), needs="name", why="--answer is for reading a lesson",
    ),
    output: str | None = output_option("write the files into FOLDER", "FOLDER", "-o"),
    *,
    settings: Settings,
) -> int:  # fmt: skip
    chosen = list_lessons() if name is None else [find_lesson(name)]
    first = chosen[0].name.partition("-")[2]
    scratch = TemporaryDirectory(prefix="gscli-samples-") if run and output is None else None
    with scratch or nullcontext(output) as folder:
        places = [
            (lesson, lesson.folder if folder is None else copy_lesson(lesson, Path(folder)))
            for lesson in chosen
        ]
        if settings.json is not None:
            print_json({"lessons": [lesson.to_dict(place) for lesson, place in places]})
        elif run:
            return _run(places, settings)
        elif output is None and name is not None:
            _print_lesson(chosen[0].format_text(answer=answer), settings.width)
            print_stderr(f"its files, to type along: gscli samples {first} -o .\n")
        elif output is None:
            _print_titles(chosen, settings.width)
            print_stderr(f"read one: gscli samples {first}; --run runs it, -o . writes its files\n")
    return 0


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
    """The text, its prose as wide as the screen; recorded screens keep the width they have.

    A terminal shows it without the marks of Markdown, a pipe or file has them.
    """
    screen = detect_screen(sys.stdout, width=columns)
    wrapped = rewrap_markdown(text, screen.width)
    sys.stdout.write(strip_markdown(wrapped) if screen.is_terminal else wrapped)
    widest = fenced_width(text)
    if widest > screen.width and screen.is_terminal:
        print_stderr(f"note: recorded {widest} columns wide; --run draws for this terminal\n")


def _run(places: list[tuple[Lesson, Path]], settings: Settings) -> int:
    """Run lessons in order; the last status, since a lesson may show a refusal on its way."""
    status = 0
    with shell_environment() as environment:
        for lesson, place in places:
            sys.stdout.write(f"# {lesson.title}\n")
            sys.stdout.flush()
            commands = [exchange.command for exchange in lesson.console_commands]
            status = run_commands(commands, place, {**environment, **settings.to_environment()})
            status = status if status >= 0 else 128 - status  # ended by a signal, as shells say it
    return status


# --- the lessons: folders of inputs with a README whose console blocks can be run ---------------
#
# A console block is a terminal session: lines that begin with `$ ` are commands (`> ` continues
# one), what follows each is the screen it prints. At the end stands an exercise, its answer folded
# away. A checkout has `samples/` beside the package, a wheel has it inside.

OPENING = f"{FENCE}console"
SESSION = re.compile(rf"(?ms)^{OPENING}\n(.*?)^{FENCE}$")
COMMAND = re.compile(r"(?m)^\$ (?P<command>.*(?:\n> .*)*)\n(?P<screen>(?:(?!\$ ).*\n)*)")

# What a page of Markdown folds away, and a terminal tells when it is asked.
ANSWER = re.compile(r"(?ms)^<details><summary>Answer</summary>\n\n(.*?)\n</details>\n")


class ConsoleCommand(Record):
    """One command of a session and the screen that follows it; `line` is where it begins."""

    command: str
    screen: str
    line: int


class Lesson(Record):
    """One folder of `samples/`.

    >>> find_lesson("onnx-gather-axis-0").console_commands[0].command
    'gscli gather data.npy indices.json --axis 0'
    """

    folder: Path

    @property
    def name(self) -> str:
        """The folder's name, its number in the story included."""
        return self.folder.name

    @property
    def text(self) -> str:
        """The README, the answer included."""
        return (self.folder / "README.md").read_text(encoding="utf-8")

    @property
    def title(self) -> str:
        """The README's heading."""
        return self.text.partition("\n")[0].lstrip("# ")

    def format_text(self, *, answer: bool) -> str:
        """The README as a terminal shows it, with or without the answer of its exercise."""
        hidden = f"The answer: gscli samples {self.name.partition('-')[2]} --answer\n"
        return ANSWER.sub(lambda match: match[1] if answer else hidden, self.text)

    @property
    def console_commands(self) -> list[ConsoleCommand]:
        """Every command of the README with its screen, without those of the answer."""
        sessions = parse_sessions(self.format_text(answer=False))
        return [exchange for session in sessions for exchange in session]

    def to_dict(self, folder: Path) -> dict[str, object]:
        """The JSON form of the lesson, whose files are in a folder."""
        return {
            "name": self.name, "title": self.title, "folder": str(folder),
            "files": sorted(path.name for path in folder.iterdir() if path.is_file()),
            "commands": [exchange.command for exchange in self.console_commands],
        }  # fmt: skip


def find_lessons_folder() -> Path:
    """Where the lessons are: in the package (a wheel) or beside it (a checkout)."""
    package = Path(__file__).parents[2]
    for place in (package / "samples", package.parent / "samples"):
        if place.is_dir():
            return place
    raise CannotRead("the lessons are not installed", where=str(package / "samples"))


def list_lessons() -> list[Lesson]:
    """Every lesson, in the order of the story."""
    return [Lesson(readme.parent) for readme in sorted(find_lessons_folder().glob("*/README.md"))]


def find_lesson(name: str) -> Lesson:
    """The lesson with that name, number, or name without its number. UsageError."""
    known = {lesson.name: lesson for lesson in list_lessons()}
    title = re.sub(r"^\d\d-", "", name)  # the number may be from before lessons were put in order
    for full, lesson in known.items():
        number, _, rest = full.partition("-")
        if title in (number, number.removeprefix("0"), rest):
            return lesson
    bare = [full.partition("-")[2] for full in known]
    parts = [part for part in bare if f"-{name}-" in f"-{part}-"][:3]
    near = suggest_names(name, [*known, *bare], "gscli samples", count=1)
    raise UsageError(f"there is no lesson {name!r}"[:200], hint=format_suggestion(parts, near))


def parse_sessions(markdown: str) -> list[list[ConsoleCommand]]:
    r"""The console blocks of a text, each a list of commands with their screens.

    >>> parse_sessions("```console\n$ true\n$ echo 1\n1\n```\n")[0][1]
    ConsoleCommand(command='echo 1', screen='1\n', line=3)
    """
    sessions: list[list[ConsoleCommand]] = []
    for session in SESSION.finditer(markdown):
        sessions.append([])
        for match in COMMAND.finditer(markdown, *session.span(1)):
            line = markdown.count("\n", 0, match.start()) + 1
            command = match["command"].replace("\n> ", "\n")
            sessions[-1].append(ConsoleCommand(command, match["screen"], line))
    return sessions


def copy_lesson(lesson: Lesson, parent: Path) -> Path:
    """Put the lesson's files into `parent`/NAME, whole or not at all. CannotWrite.

    A file or folder of that name stays as it is.
    """
    from gscli.disk.system import write_errors

    target = parent / lesson.name
    with write_errors(str(target)):
        parent.mkdir(parents=True, exist_ok=True)
        problem = "the lesson is there already"
        hint = "-o names a folder without it; nothing was changed"
        check_rule(not target.exists(), problem, target, kind=CannotWrite, hint=hint)
        with TemporaryDirectory(prefix=".gscli-", dir=parent) as aside:
            complete = Path(aside) / lesson.name
            shutil.copytree(lesson.folder, complete)
            complete.rename(target)
    return target


@contextmanager
def shell_environment() -> Iterator[dict[str, str]]:
    """Variables for a shell in which `gscli` is this very installation."""
    with TemporaryDirectory(prefix="gscli-") as programs:
        program = Path(programs) / "gscli"
        root = Path(__file__).parents[3]
        script = f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -P -m gscli "$@"\n'
        program.write_text(script, encoding="utf-8")
        program.chmod(0o755)
        yield {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}


def run_commands(commands: Iterable[str], place: Path, environment: Mapping[str, str]) -> int:
    """Run commands in one shell, each shown before its screen; the last exit status."""
    from gscli.disk.processes import run_shell

    script = "".join(
        f"status=$?; printf '$ %s\\n' {shlex.quote(text)}; (exit $status)\n{text}\n"
        for text in commands
    )
    return run_shell(script, place, environment)
