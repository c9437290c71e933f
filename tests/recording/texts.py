"""Texts that are recorded: what help offers, and every operator's refusal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from refused import refused_command

import gscli
from gscli.cli.building import format_input_metavars, list_own_options
from gscli.cli.tree import TOOLS
from gscli.frameworks.operator import Operator
from gscli.lab.article_tables import format_article_table
from recording.sessions import Place, run_here, trimmed

# Where an operator's help goes on with what all operators share.
SHARED_HEADINGS = "\n\nResult:\n"


def screen(*words: str, columns: int = 80) -> str:
    """What a command prints on stdout, without colour; it must succeed."""
    done = run_here(words, Place(columns=columns))
    assert done.status == 0, done.screen
    return done.screen


def help_of_everything() -> dict[str, bytes]:
    """The help of tools as it is printed; of operators, what they take (their words are code)."""
    return {
        "tests/golden/help/tools.txt": _tools().encode(),
        "tests/golden/help/operators.txt": "".join(map(_structure, gscli.operators())).encode(),
    }


def _structure(operator: Operator) -> str:
    """The usage line and a line per option: flags, type, default, choices."""
    lines = [" ".join([operator.command_line, *format_input_metavars(operator)])]
    for attribute, option in zip(operator.attributes, list_own_options(operator), strict=False):
        since = attribute.option.choices_since
        choices = [
            f"{one or '-'}{f' (from {since[one]})' if one in since else ''}"
            for one in attribute.choices
        ]
        kind = ", ".join(choices) or option.metavar
        default = "" if attribute.is_required else f" = {attribute.default}"
        lines.append(f"  {', '.join(option.flags)}  {kind}{default}".rstrip())
    return "\n".join(lines) + "\n"


def _tools() -> str:
    """The root's help, a framework's, every tool's, and the options that operators share."""
    parts = [screen("--help"), screen("tf", "--help")]
    parts += [screen(name, "--help") for name in TOOLS]
    parts.append(SHARED_HEADINGS[2:] + screen("scatter-nd", "--help").partition(SHARED_HEADINGS)[2])
    return "\n".join(parts)


def article_tables() -> dict[str, bytes]:
    """The two tables of the article, computed."""
    text = "\n".join(
        [
            "# The tables of the article, computed\n",
            format_article_table(1),
            format_article_table(2),
        ]
    )
    return {"tests/golden/article_tables.md": text.encode()}


REFUSALS = """\
# A refused call of every operator

What a person reads when inputs are refused; the exit status follows. Each message says what, where,
the legal range and how to go on. `python tests/record.py refusals` runs the commands anew.
"""


def refusals() -> dict[str, bytes]:
    """One session per framework: a refused call of every operator and its exit status."""
    return {"tests/golden/refusals.md": "".join(_refusals()).encode()}


def _refusals() -> Iterator[str]:
    yield REFUSALS
    titled = ""
    for operator in gscli.operators():
        title = operator.framework.title
        if title != titled:
            yield ("```\n" if titled else "") + f"\n## {title}\n\n```console\n"
            titled = title
        command = refused_command(operator)
        done = run_here(shlex.split(command)[1:], Place())
        yield f"$ {command}\n{trimmed(done.screen)}$ echo $?\n{done.status}\n"
    yield "```\n"
