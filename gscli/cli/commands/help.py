"""`gscli help [TOPIC | COMMAND…]`.

Help on a topic, or on a command as its --help prints it.

Without words: the list of topics. `gscli help man` prints the manual page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from inspect import getdoc
from typing import Any

import gscli
from gscli.base import UsageError
from gscli.base.words import format_columns, join_lines
from gscli.cli.building import format_input_metavars, format_option_help, list_own_options, tool
from gscli.cli.options import (
    SHARED_OPTIONS,
    CommandOption,
    Settings,
    argument,
    complete_names,
    detect_screen,
)
from gscli.cli.topics import EXIT_CODES, TOPICS, read_topic, rewrap
from gscli.cli.tree import SUMMARY, TOOLS, LazyGroup, make_root_group
from gscli.frameworks import NAMES, TITLES, load_framework
from gscli.frameworks.operator import Operator


@tool("help", "width")
def help(  # noqa: A001  the name of the command
    words: Sequence[str] = argument(
        "[TOPIC | COMMAND...]", "what to tell about", complete_names(TOPICS), ()
    ),
    *,
    settings: Settings,
) -> int:
    width = detect_screen(sys.stdout, width=settings.width).width
    if not words:
        sys.stdout.writelines(f"{line}\n" for line in format_columns([*TOPICS.items()]))
    elif [*words] == ["man"]:
        sys.stdout.write(join_lines(_iter_manual_lines()))
    elif len(words) == 1 and words[0] in TOPICS:
        sys.stdout.write(rewrap(read_topic(words[0]), width))
    else:
        sys.stdout.write(_format_command_help(words) + "\n")
    return 0


def _format_command_help(words: Sequence[str]) -> str:
    """What `gscli WORDS --help` prints."""
    command: Any = make_root_group()
    context = command.make_context("gscli", [], resilient_parsing=True)
    for number, word in enumerate(words):
        below, hint = None, "gscli help"
        if isinstance(command, LazyGroup):
            names = [*(() if number else TOPICS), *command.list_commands(context)]
            below, hint = command.get_command(context, word), command.suggest(word, names, hint)
        if below is None:
            raise UsageError(f"no help on {' '.join(words)!r}"[:200], hint=hint)
        command = below
        context = command.make_context(word, [], parent=context, resilient_parsing=True)
    return str(command.get_help(context))


# --- the manual page, made from the declarations and the topics ---------------------------------


def _iter_manual_lines() -> Iterator[str]:
    """The page in roff's man macros."""
    yield f'.TH GSCLI 1 "" "gscli {gscli.__version__}" "User Commands"'
    name = _escape_roff(SUMMARY[:1].lower() + SUMMARY[1:].rstrip("."))
    yield from (".SH NAME", rf"gscli \- {name}")
    yield ".SH SYNOPSIS"
    for line in ("OPERATOR INPUT... [OPTIONS]", "FRAMEWORK OPERATOR INPUT... [OPTIONS]",
                 "TOOL ARGUMENT... [OPTIONS]"):  # fmt: skip
        yield from (".B gscli", _escape_roff(line), ".br")
    yield ".SH INPUTS"
    yield from _iter_verbatim_lines(read_topic("inputs"))
    for name in NAMES:
        yield f".SH {TITLES[name].upper()} OPERATORS"
        yield from _iter_paragraph_lines(getdoc(import_module(f"gscli.frameworks.{name}")) or "")
        for operator in load_framework(name).operators.values():
            yield from _iter_operator_lines(operator)
    yield ".SH TOOLS"
    for name, summary in TOOLS.items():
        yield from (".TP", rf".B gscli {_escape_roff(name)}", _escape_roff(summary))
    yield ".SH OPTIONS OF EVERY OPERATOR"
    for shared in SHARED_OPTIONS.values():
        yield from _iter_option_lines(shared, f"{format_option_help(shared)}.")
    for title, topic in (("JSON", "json"), ("COLOUR", "colors"), ("ENVIRONMENT", "environment")):
        yield f".SH {title}"
        yield from _iter_verbatim_lines(read_topic(topic))
    yield ".SH EXIT STATUS"
    for code, text in EXIT_CODES.items():
        yield from (".TP", f".B {int(code)}", _escape_roff(text))


def _iter_operator_lines(operator: Operator) -> Iterator[str]:
    yield f".SS {_escape_roff(' '.join([operator.command_line, *format_input_metavars(operator)]))}"
    yield from _iter_paragraph_lines(operator.doc)
    for option in list_own_options(operator):
        if not option.is_hidden:
            yield from _iter_option_lines(option, option.help or option.name.removeprefix("attr_"))
    yield from _iter_verbatim_lines(f"{operator.command_line} {operator.example}")


def _iter_option_lines(option: CommandOption, text: str) -> Iterator[str]:
    flags = f"{', '.join(option.flags)} {option.metavar}".rstrip()
    yield from (".TP", f'.B "{_escape_roff(flags)}"', _escape_roff(text))


def _iter_paragraph_lines(text: str) -> Iterator[str]:
    """Lines that end where they do in the source: they hold formulas and lists."""
    for paragraph in text.strip().split("\n\n"):
        if "\n" in paragraph:
            yield from _iter_verbatim_lines(paragraph)
        else:
            yield from (".PP", _escape_roff(paragraph))


def _iter_verbatim_lines(text: str) -> Iterator[str]:
    yield from (".PP", ".nf")
    yield from (_escape_roff(line) for line in text.rstrip().splitlines())
    yield ".fi"


def _escape_roff(text: str) -> str:
    r"""A line as roff reads it: no accidental requests, real hyphens and quotes.

    >>> print(_escape_roff("--axis 'a\\b'"))
    \-\-axis \(aqa\eb\(aq
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    escaped = escaped.replace('"', "\\(dq").replace("^", "\\(ha").replace("~", "\\(ti")
    escaped = re.sub(r"[^\x20-\x7e]", lambda match: f"\\[u{ord(match[0]):04X}]", escaped)
    return re.sub(r"^\.", r"\\&.", escaped)
