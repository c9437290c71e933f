"""Programs under watch and what was printed of them, in Markdown: torch.md, jax.md, numpy.md.

    PYTHON tests/watch/screens.py torch      run them with a Python that has torch, write them anew

A section is a heading, why the program is there, the program, and a console block: the command,
what came to stdout and stderr, and the exit status. Afterwards read `git diff`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from gscli.watch.program import ProgramOptions, run_program  # noqa: E402

SECTION = re.compile(
    r"^## (?P<name>.+?)\n.*?```python\n(?P<program>.*?)```\n+"
    r"```console\n\$ python -m gscli watch (?P<words>.*?); echo \$\?\n(?P<screen>.*?)```",
    re.DOTALL | re.MULTILINE,
)
OPTIONS = {
    "--numpy": {"numpy": True}, "--strict": {"strict": True}, "--keep-going": {"keep_going": True},
    "--save case.npz": {"save": "case.npz"},
}  # fmt: skip


class Session(NamedTuple):
    """A program of a page, the words of its command, and its screen."""

    name: str
    program: str
    words: str
    screen: str


def read_sessions(page: str) -> dict[str, Session]:
    """The sections of `page`.md that hold a program, by heading."""
    text = (ROOT / "tests" / "watch" / f"{page}.md").read_text(encoding="utf-8")
    return {found["name"]: Session(**found.groupdict()) for found in SECTION.finditer(text)}


def replay(session: Session, folder: Path, *, forks: bool = True) -> str:
    """What the program prints under watch, and its status; in a fork, which has the framework."""
    (folder / "program.py").write_text(session.program, encoding="utf-8")
    if not forks:
        run = subprocess.run(
            [sys.executable, "-m", "gscli", "watch", *session.words.split()],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
        )  # fmt: skip
        return f"{run.stdout}{run.returncode}\n"
    options = dict[str, object]()
    for words, values in OPTIONS.items():
        options |= values if words in session.words else {}
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        run_in_child(folder, ProgramOptions(**options))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"{(folder / 'screen').read_text(encoding='utf-8')}{status}\n"


def run_in_child(folder: Path, options: ProgramOptions) -> None:
    """Run program.py of a folder as `gscli watch` does, and end."""
    status = 70
    try:
        os.chdir(folder)
        screen = os.open("screen", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(screen, 1)
        os.dup2(screen, 2)
        sys.stdout = os.fdopen(1, "w", 1, "utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, "utf-8", closefd=False)
        status = run_program(options, ["program.py"])
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 1
    except BaseException:  # noqa: BLE001  the parent prints what stands on the screen
        traceback.print_exc()
    finally:
        os._exit(status)


def list_commands(screen: str) -> list[list[str]]:
    """The commands that a screen hints at, as words: what looks at a saved case."""
    paragraphs = (" ".join(part.split()) for part in screen.split("\n\n"))
    hints = (paragraph.partition(" help: ")[2] for paragraph in paragraphs)
    return [
        shlex.split(part)[1:]
        for hint in hints
        for part in hint.split("; ")
        if part.startswith("gscli ")
    ]


def try_command(words: list[str]) -> None:
    """Run what a hint names, and what else takes the saved call; a bad index stays refused."""
    from gscli.cli import run_safely

    refused, words = words[0] == "check", words[words[0] == "check" :]
    status = 65 if refused else 0
    assert run_safely(["check", *words]) == 1, words
    if not {"masked-scatter", "segment-reduce", "case.npz::offsets"}.isdisjoint(words):
        # A count, or where a segment begins: no entry is to blame.
        return
    assert run_safely([*words, "--svg", "call.svg", "--html", "call.html"]) == status, words
    assert ("refused" in Path("call.svg").read_text(encoding="utf-8")) == refused
    assert Path("call.html").exists()
    assert run_safely([*words, "--step", "1"]) == status
    assert run_safely(["explain", *words, "--code", "all"]) == 0
    assert run_safely([*words, "-o", "output.npy"]) == status
    assert run_safely([*words, "--expect", "zeros:1" if refused else "output.npy"]) == status


def record(page: str) -> Iterator[str]:
    """Write the screens of a page anew; the names of those that changed."""
    path = ROOT / "tests" / "watch" / f"{page}.md"
    for session in read_sessions(page).values():
        with tempfile.TemporaryDirectory() as folder:
            screen = replay(session, Path(folder), forks=page != "jax")
        if screen != session.screen:
            head = f"$ python -m gscli watch {session.words}; echo $?\n"
            before, heading, rest = path.read_text(encoding="utf-8").partition(
                f"## {session.name}\n"
            )
            text = before + heading + rest.replace(head + session.screen, head + screen, 1)
            path.write_text(text, encoding="utf-8")
            yield session.name


if __name__ == "__main__":
    for page in sys.argv[1:]:
        if page == "torch":
            import torch

            torch.set_num_threads(1)  # threads of a pool are gone in a fork
        print(*record(page), sep="\n")
