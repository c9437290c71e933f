"""The lessons in `samples/`: folders of inputs with a README whose console blocks can be run.

A console block is a terminal session: lines that begin with `$ ` are commands (`> ` continues one),
what follows each is the screen it prints. At the end stands an exercise, its answer folded away.
A checkout has `samples/` beside the package, a wheel has it inside.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gscli.base import CannotRead, CannotWrite, UsageError
from gscli.base.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

OPENING, CLOSING = "```console", "```"
ANSWER = re.compile(r"(?ms)^<details><summary>Answer</summary>\n\n(.*?)\n</details>\n")
"""What a page of Markdown folds away, and a terminal tells when it is asked."""


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


def find_lessons_folder() -> Path:
    """Where the lessons are: in the package (a wheel) or beside it (a checkout)."""
    package = Path(__file__).parents[1]
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
    for full, lesson in known.items():
        number, _, rest = full.partition("-")
        if name in (full, number, rest):
            return lesson
    if name[:2].isdigit() and name[2:3] == "-":  # a name from before lessons were put in order
        return find_lesson(name[3:])
    near = get_close_matches(name, [*known, *(full.partition("-")[2] for full in known)], 1, 0.6)
    raise UsageError(
        f"there is no lesson {name!r}"[:200],
        hint=f"did you mean {near[0]}?" if near else "gscli samples",
    )


def parse_sessions(markdown: str) -> list[list[ConsoleCommand]]:
    r"""The console blocks of a text, each a list of commands with their screens.

    >>> parse_sessions("```console\n$ true\n$ echo 1\n1\n```\n")[0][1]
    ConsoleCommand(command='echo 1', screen='1\n', line=3)
    """
    sessions: list[list[ConsoleCommand]] = []
    inside = False
    for number, line in enumerate(markdown.splitlines(), 1):
        if not inside:
            inside = line == OPENING
            if inside:
                sessions.append([])
        elif line == CLOSING:
            inside = False
        else:
            _add_line(sessions[-1], line, number)
    return sessions


def _add_line(session: list[ConsoleCommand], line: str, number: int) -> None:
    if line.startswith("$ "):
        session.append(ConsoleCommand(line[2:], "", number))
        return
    last = session.pop()
    if line.startswith("> ") and not last.screen:
        session.append(ConsoleCommand(f"{last.command}\n{line[2:]}", "", last.line))
    else:
        session.append(ConsoleCommand(last.command, last.screen + line + "\n", last.line))


def copy_lesson(lesson: Lesson, parent: Path) -> Path:
    """Put the lesson's files into `parent`/NAME, whole or not at all. CannotWrite.

    A file or folder of that name stays as it is.
    """
    from gscli.disk.system import write_errors

    target = parent / lesson.name
    with write_errors(str(target)):
        parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            raise CannotWrite(
                "the lesson is there already",
                where=str(target),
                hint="-o names a folder without it; nothing was changed",
            )
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
        root = Path(__file__).parents[2]
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -P -m gscli "$@"\n',
            encoding="utf-8",
        )
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
