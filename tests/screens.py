"""Terminal sessions in Markdown: run them, and write down anew what they print.

    python tests/screens.py            every sample and the README
    python tests/screens.py FILE…      only these Markdown files

Afterwards look at the difference: a screen that changed is a change people see.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import copy, copytree
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # as a script, only tests/ is on the path

from gscli.cli.lessons import CLOSING, OPENING, Exchange, sessions, shell_environment  # noqa: E402
from gscli.lab.article_tables import table as article_table  # noqa: E402
from gscli.lab.operator_table import operator_table  # noqa: E402

MARK = "--- end of screen, status"
PLAIN = {
    "COLUMNS": "100", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1",
}  # fmt: skip


@contextmanager
def environment() -> Iterator[dict[str, str]]:
    """A shell in which `gscli` is this checkout, 100 columns wide, without colour."""
    with shell_environment() as variables:
        kept = {name: text for name, text in variables.items() if not name.startswith("GSCLI_")}
        yield {**kept, **PLAIN}


def screens(
    commands: list[str], place: Path, variables: Mapping[str, str]
) -> list[tuple[str, int]]:
    """What each command of one session prints (stdout and stderr as they come), and its status."""
    script = "".join(
        f"{command}\nstatus=$?; echo '{MARK}' $status; (exit $status)\n" for command in commands
    )
    done = subprocess.run(
        ["sh", "-c", script], cwd=place, env=variables, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
    )  # fmt: skip
    parts = re.split(rf"{MARK} (\d+)\n", done.stdout)
    assert len(parts) == 2 * len(commands) + 1, done.stdout
    return list(zip(parts[:-1:2], map(int, parts[1::2]), strict=True))


def trimmed(screen: str) -> str:
    """Without spaces at the ends of lines: editors and Markdown do not keep them."""
    return "".join(line.rstrip() + "\n" for line in screen.splitlines())


def replayed(markdown: str, place: Path, variables: Mapping[str, str]) -> list[list[Exchange]]:
    """The sessions of a text with what they print now; all of them in one folder.

    A command that fails must be followed by `echo $?`: no reader meets a failure unannounced.
    """
    fresh: list[list[Exchange]] = []
    for session in sessions(markdown):
        commands = [one.command for one in session]
        answers = screens(commands, place, variables)
        for command, following, (screen, status) in zip(
            commands, [*commands[1:], ""], answers, strict=True
        ):
            assert status == 0 or following == "echo $?", f"{command}: {status}\n{screen}"
        fresh.append(
            [
                Exchange(one.command, trimmed(screen), one.line)
                for one, (screen, _) in zip(session, answers, strict=True)
            ]
        )
    return fresh


def rewritten(markdown: str, fresh: list[list[Exchange]]) -> str:
    """The text with its console blocks replaced."""
    lines: list[str] = []
    remaining = iter(fresh)
    inside = False
    for line in markdown.splitlines():
        if inside and line == CLOSING:
            inside = False
        if not inside:
            lines.append(line)
        if line == OPENING:
            inside = True
            for exchange in next(remaining):
                lines.append("$ " + exchange.command.replace("\n", "\n> "))
                lines += exchange.screen.splitlines()
    return "\n".join(lines) + "\n"


def work_folder(markdown: Path, parent: Path) -> Path:
    """A copy of what the text's commands need: the sample's folder, or for the README samples/."""
    if markdown == ROOT / "README.md":
        copytree(ROOT / "samples", parent / "samples")
        return parent
    return copytree(markdown.parent, parent / markdown.parent.name)


def pictures(place: Path) -> list[Path]:
    """The pictures in a sample's folder, all of them made by its own commands."""
    return sorted(path for path in place.iterdir() if path.suffix in (".svg", ".html"))


GENERATED: dict[str, Callable[[], str]] = {
    "operators": operator_table,
    "table1": partial(article_table, 1),
    "table2": partial(article_table, 2),
}
"""What stands between `<!-- NAME:start -->` and `<!-- NAME:end -->`."""


def generated(markdown: str) -> str:
    """The text with its generated tables made anew."""
    for name, make in GENERATED.items():
        start, end = f"<!-- {name}:start -->\n", f"<!-- {name}:end -->"
        if start in markdown:
            before, _, rest = markdown.partition(start)
            markdown = before + start + make() + end + rest.partition(end)[2]
    return markdown


def update(markdown: Path) -> bool:
    """Write the text's screens and pictures anew; whether the text changed."""
    text = markdown.read_text(encoding="utf-8")
    with TemporaryDirectory() as folder, environment() as variables:
        place = work_folder(markdown, Path(folder))
        fresh = generated(rewritten(text, replayed(text, place, variables)))
        if fresh != text:
            markdown.write_text(fresh, encoding="utf-8")
        if markdown != ROOT / "README.md":
            for made in pictures(place):
                copy(made, markdown.parent)
    return fresh != text


def main(names: list[str]) -> None:
    """Update the named texts, or all."""
    everything = [*sorted((ROOT / "samples").glob("*/README.md")), ROOT / "README.md"]
    for markdown in [Path(name).resolve() for name in names] or everything:
        print(f"{'changed' if update(markdown) else 'same   '} {markdown.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
