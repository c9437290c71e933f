"""The topics of `gscli help`: texts beside this module, and lists made from declarations. Light."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from textwrap import fill, wrap

from gscli.base import ExitCode
from gscli.cli.building import format_option_help
from gscli.cli.options import SHARED_OPTIONS
from gscli.frameworks import ALIASES, NAMES, load_framework

# Every topic and its one-line summary, in the order of the list.
TOPICS = {
    "exit-codes": "what the exit status means",
    "inputs": "files, pipes, inline arrays, generators",
    "zarr": "stores of chunks, Dask, Icechunk",
    "signs": "letters, signs and colours of the pictures",
    "colors": "colour, palettes, width, plain text",
    "frameworks": "whose operators there are, and under which names",
    "json": "documents in and out, errors as data",
    "porting": "a wrong answer: where, and whose rule would give it",
    "python": "operators, traces and pictures in Python and notebooks",
    "watch": "your own program, every index judged",
    "code": "the same call in other frameworks, exact or not",
    "differences": "what surprises who comes from another framework",
    "runtimes": "asking installed runtimes, and how to write an adapter",
    "findings": "what released runtimes answered, and how to see it",
    "environment": "variables that set defaults",
    "completion": "words and files completed by the shell",
    "changes": "what is new in this version",
    "man": "the manual page: gscli help man | man -l -",
}

EXIT_CODES: dict[ExitCode, str] = {
    ExitCode.SUCCESS: "done, warnings allowed",
    ExitCode.CHECK_FAILED: "the answer is no: answers differ, a case or a line of batch fails, "
    "check or --strict finds",
    ExitCode.USAGE: "the command itself is wrong",
    ExitCode.INVALID_DATA: "the inputs are refused: index, shape, element type, size, content",
    ExitCode.UNREADABLE: "an input cannot be read, a package is missing, no runtime starts, "
    "or --check runs nothing",
    ExitCode.INTERNAL_ERROR: "a bug in gscli",
    ExitCode.UNWRITABLE: "the output cannot be written; the old one is unharmed",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C",
    ExitCode.BROKEN_PIPE: "the reader of a pipe went away",
}


def read_topic(name: str) -> str:
    """The text of a topic; the manual page is made elsewhere, of these among others.

    >>> read_topic("exit-codes").splitlines()[0]
    '  0  done, warnings allowed'
    """
    return _GENERATED_TOPICS[name]() if name in _GENERATED_TOPICS else _read_file(f"{name}.txt")


def _read_file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _format_environment() -> str:
    lines = [
        f"{shared.environment:<18}{shared.flags[-1]}: {format_option_help(shared)}\n"
        for shared in SHARED_OPTIONS.values()
        if shared.has_variable
    ]
    return (
        "".join(lines) + "\nAlso NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM and COLUMNS, and\n"
        "GSCLI_CODECS (gscli help zarr).\n"
        "\nGSCLI_LOOPS=plain computes through NumPy where `gscli --version` names compiled loops;\n"
        "avx2 or portable lets these do with what any such processor has. No bit of a result\n"
        "changes, only the time.\n"
    )


def _format_frameworks() -> str:
    aliases = {name: alias for alias, name in ALIASES.items()}
    lines = []
    for name in NAMES:
        commands = [operator.command for operator in load_framework(name).operators.values()]
        alias = f" (or {aliases[name]})" if name in aliases else ""
        lines.append(f"{name}{alias}: {' '.join(commands)}\n")
    return "\n".join(lines)


def _read_code_text() -> str:
    """The text, with the releases that lines were run in."""
    from gscli.runtimes.catalogue import TESTED_RELEASES

    releases = ", ".join(f"{title} {version}" for title, version in TESTED_RELEASES.values())
    ran = fill(f"Lines for recorded cases of the operators were run in {releases}.", 100)
    return f"{_read_file('code.txt')}{ran}\n"


# Topics that are made from declarations or from data.
_GENERATED_TOPICS: dict[str, Callable[[], str]] = {
    "exit-codes": lambda: "".join(f"{code:3d}  {text}\n" for code, text in EXIT_CODES.items()),
    "frameworks": _format_frameworks, "environment": _format_environment,
    "code": _read_code_text,
}  # fmt: skip


# --- texts that were written 100 columns wide, on narrower screens ------------------------------

FENCE = "```"

# What stands before the second column of a list's line.
_COLUMN = re.compile(r"\s*\S(?:.*?\S)?\s{2,}(?=\S)")


def rewrap(text: str, width: int) -> str:
    r"""The text with no line wider than `width`; what fits stays as it is written.

    Lines of prose that follow each other are one paragraph. A line that is indented, or has
    columns, is continued below its last column.

    >>> print(rewrap("Some words of prose\nin two lines.\n\n  a.npy   numbers of a file\n", 20))
    Some words of prose
    in two lines.
    <BLANKLINE>
      a.npy   numbers of
              a file
    <BLANKLINE>
    """
    return "\n".join(_rewrap_lines(text.split("\n"), width))


def rewrap_markdown(text: str, width: int) -> str:
    """The same for Markdown; what stands between fences stays as it is, for it was recorded."""
    return "".join(part if part.startswith(FENCE) else rewrap(part, width) for part in _split(text))


def strip_markdown(text: str) -> str:
    r"""The text as a terminal shows it: without the marks of headings, code and strong words.

    >>> print(strip_markdown("# A title\n`gather` is **read**:\n```console\n$ ls `a`\n```\n"))
    A title
    gather is read:
    $ ls `a`
    <BLANKLINE>
    """
    return "".join(
        re.sub(rf"(?m)^{FENCE}.*\n?", "", part)
        if part.startswith(FENCE)
        else re.sub(r"(?m)^#+ |`|\*\*", "", part).removeprefix("\n")
        for part in _split(text)
    )


def _split(text: str) -> list[str]:
    """Prose and fenced screens in turn."""
    return re.split(rf"(?ms)(^{FENCE}.*?^{FENCE}$)", text)


def fenced_width(text: str) -> int:
    """Columns of the widest line between fences."""
    lines = (line for fenced in _split(text)[1::2] for line in fenced.split("\n"))
    return max(map(len, lines), default=0)


def _rewrap_lines(lines: list[str], width: int) -> Iterator[str]:
    for prose, group in groupby(lines, _is_prose):
        paragraph = list(group)
        if prose and any(len(line) > width for line in paragraph):
            yield from _wrap_text(" ".join(paragraph), width, "")
        else:
            yield from (part for line in paragraph for part in _wrap_list_item(line, width))


def _is_prose(line: str) -> bool:
    return bool(line) and not line[0].isspace() and line[0] not in "#|!" and "  " not in line


def _wrap_list_item(line: str, width: int) -> list[str]:
    before = _COLUMN.match(line)
    hang = before.end() if before else len(line) - len(line.lstrip()) + 2
    return _wrap_text(line, width, " " * min(hang, width * 2 // 3)) if len(line) > width else [line]


def _wrap_text(text: str, width: int, indent: str) -> list[str]:
    """`wrap`, but blanks inside of a line stay."""
    return wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
        replace_whitespace=False,
    )  # fmt: skip
