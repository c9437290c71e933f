"""Terminal sessions in Markdown: run them, and write down anew what they print.

A command that is `gscli` and nothing else runs in this process, and so does one whose output others
filter; loops and other programs run in a shell, whose `gscli` asks for a fork of a process that has
imported everything already. All print the same bytes as a process of its own.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import NamedTuple

import forks
import shell

from gscli.cli.commands.samples import OPENING, ConsoleCommand, parse_sessions, shell_environment
from gscli.cli.topics import FENCE
from recording.operator_table import operator_table

ROOT = Path(__file__).parents[2]
PATIENCE = 120
PLAIN = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1"}

# What a shell would read as more than words, outside of single quotes.
NEEDS_A_SHELL = re.compile(r"[|&;<>$`\n*?\\]|\\$")

# One command and the programs, none of them gscli, that read what it prints.
FILTERED = re.compile(r"((?:[^'|;]|'[^']*')+)\|((?:(?!gscli).)+)")


class Done(NamedTuple):
    """What a command printed (stdout and stderr as they came) and its exit status."""

    screen: str
    status: int


@dataclass(frozen=True)
class Place:
    """Where commands run: a folder and the variables, 100 columns wide without colour."""

    folder: Path = ROOT
    columns: int = 100
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def environment(self) -> dict[str, str]:
        """The variables without those that steer gscli."""
        kept = {name: text for name, text in self.variables.items() if not _steers(name)}
        return {**kept, **PLAIN, "COLUMNS": str(self.columns)}


def _steers(name: str) -> bool:
    return name.startswith(("GSCLI_", "_GSCLI")) or name in ("FORCE_COLOR", "CLICOLOR_FORCE")


@contextmanager
def place_in(folder: Path) -> Iterator[Place]:
    """A folder with a shell in which `gscli` is this checkout, in a fork."""
    with shell_environment() as variables:
        forks.program(Path(variables["PATH"].partition(os.pathsep)[0]))
        yield Place(folder, variables=variables)


def run_here(words: Sequence[str], place: Place) -> Done:
    """Run `gscli WORDS` where everything is imported already."""
    status, screen, _ = shell.call(
        words, cwd=place.folder, environment=place.environment(), together=True
    )
    return Done(screen.decode(), status)


def run_in_shell(command: str, before: int, place: Place, stdin: bytes = b"") -> Done:
    """Run a command in a shell where `$?` is `before`."""
    done = subprocess.run(
        ["sh", "-c", f"(exit {before})\n{command}"], cwd=place.folder, env=place.environment(),
        check=False, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=PATIENCE,
    )  # fmt: skip
    return Done(done.stdout.decode(), done.returncode)


def run_filtered(words: Sequence[str], filters: str, place: Place) -> Done:
    """Run `gscli WORDS | FILTERS`; what it complains of stands before."""
    _, out, err = shell.call(words, cwd=place.folder, environment=place.environment())
    done = run_in_shell(filters, 0, place, out)
    return Done(err.decode() + done.screen, done.status)


def ran(commands: list[str], place: Place) -> list[Done]:
    """Every command of a session, one after the other."""
    found: list[Done] = []
    for command in commands:
        before = found[-1].status if found else 0
        if command.startswith("cd "):
            place = replace(place, folder=place.folder / command[3:])
            found.append(Done("", 0))
            continue
        found.append(_run_command(command, before, place))
    return found


def _run_command(command: str, before: int, place: Place) -> Done:
    if command == "echo $?":
        return Done(f"{before}\n", 0)
    joined = command.replace("\\\n", " ")
    if joined.endswith("; echo $?"):
        done = _run_command(joined.removesuffix("; echo $?"), before, place)
        return Done(f"{done.screen}{done.status}\n", 0)
    piped = FILTERED.fullmatch(joined)
    alone = piped[1] if piped else joined
    if not alone.startswith("gscli ") or NEEDS_A_SHELL.search(re.sub(r"'[^']*'", "", alone)):
        return run_in_shell(command, before, place)
    words = shlex.split(alone)[1:]
    return run_filtered(words, piped[2], place) if piped else run_here(words, place)


def trimmed(screen: str) -> str:
    """Without spaces at the ends of lines: editors and Markdown do not keep them."""
    return "".join(line.rstrip() + "\n" for line in screen.splitlines())


def replayed(markdown: str, place: Place) -> list[list[ConsoleCommand]]:
    """The sessions of a text with what they print now; all of them in one folder.

    A command that fails must be followed by `echo $?`: no reader meets a failure unannounced.
    """
    fresh: list[list[ConsoleCommand]] = []
    for session in parse_sessions(markdown):
        commands = [one.command for one in session]
        answers = ran(commands, place)
        for command, following, done in zip(commands, [*commands[1:], ""], answers, strict=True):
            announced = done.status == 0 or following == "echo $?"
            assert announced, f"{command}: {done.status}\n{done.screen}"
        fresh.append(
            [
                ConsoleCommand(one.command, trimmed(done.screen), one.line)
                for one, done in zip(session, answers, strict=True)
            ]
        )
    return fresh


def rewritten(markdown: str, fresh: list[list[ConsoleCommand]]) -> str:
    """The text with its console blocks replaced."""
    lines: list[str] = []
    remaining = iter(fresh)
    inside = False
    for line in markdown.splitlines():
        if inside and line == FENCE:
            inside = False
        if not inside:
            lines.append(line)
        if line == OPENING:
            inside = True
            for exchange in next(remaining):
                lines.append("$ " + exchange.command.replace("\n", "\n> "))
                lines += exchange.screen.splitlines()
    return "\n".join(lines) + "\n"


# What stands between `<!-- NAME:start -->` and `<!-- NAME:end -->`.
GENERATED: dict[str, Callable[[], str]] = {"operators": operator_table}


def generated(markdown: str) -> str:
    """The text with its generated tables made anew."""
    for name, make in GENERATED.items():
        start, end = f"<!-- {name}:start -->\n", f"<!-- {name}:end -->"
        if start in markdown:
            before, _, rest = markdown.partition(start)
            markdown = before + start + make() + end + rest.partition(end)[2]
    return markdown


def replay_file(markdown: Path) -> dict[str, bytes]:
    """The text as it should be, and the files beside a lesson's as its commands leave them."""
    text = markdown.read_text(encoding="utf-8")
    lesson = markdown.parent.parent == ROOT / "samples"
    with TemporaryDirectory() as folder, place_in(Path(folder)) as place:
        if lesson:
            copytree(markdown.parent, folder, dirs_exist_ok=True)
        else:
            copytree(ROOT / "samples", Path(folder) / "samples")
        fresh = generated(rewritten(text, replayed(text, place)))
        beside = markdown.parent.rglob("*") if lesson else ()
        kept = [path for path in beside if path.is_file() and path != markdown]
        made = {path: Path(folder, path.relative_to(markdown.parent)).read_bytes() for path in kept}
    made[markdown] = fresh.encode()
    return {str(path.relative_to(ROOT)): content for path, content in made.items()}
