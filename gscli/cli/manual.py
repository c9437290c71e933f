"""The manual page, made from the declarations and the topics of help. Light."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc

import gscli
from gscli.cli.building import format_input_metavars, format_option_help, list_own_options
from gscli.cli.options import SHARED_OPTIONS, CommandOption
from gscli.cli.topics import EXIT_CODES, read_topic
from gscli.cli.tree import SUMMARY, TITLES, TOOLS
from gscli.frameworks import NAMES, load_framework
from gscli.frameworks.operator import Operator


def format_manual_page() -> str:
    """The page in roff's man macros."""
    return "\n".join(_manual_lines()) + "\n"


def _manual_lines() -> Iterator[str]:
    yield f'.TH GSCLI 1 "" "gscli {gscli.__version__}" "User Commands"'
    yield from (
        ".SH NAME",
        rf"gscli \- {_escape_roff(SUMMARY[:1].lower() + SUMMARY[1:].rstrip('.'))}",
    )
    yield ".SH SYNOPSIS"
    for line in ("OPERATOR INPUT... [OPTIONS]", "FRAMEWORK OPERATOR INPUT... [OPTIONS]",
                 "TOOL ARGUMENT... [OPTIONS]"):  # fmt: skip
        yield from (".B gscli", _escape_roff(line), ".br")
    yield ".SH INPUTS"
    yield from _verbatim_lines(read_topic("inputs"))
    for name in NAMES:
        yield f".SH {TITLES[name].upper()} OPERATORS"
        doc = getdoc(import_module(f"gscli.frameworks.{name}"))
        yield from _paragraph_lines(doc or "")
        for operator in load_framework(name).operators.values():
            yield from _operator_lines(operator)
    yield ".SH TOOLS"
    for tool, summary in TOOLS.items():
        yield from (".TP", rf".B gscli {_escape_roff(tool)}", _escape_roff(summary))
    yield ".SH OPTIONS OF EVERY OPERATOR"
    for shared in SHARED_OPTIONS.values():
        yield from (
            ".TP",
            _format_bold(_format_flags(shared)),
            _escape_roff(f"{format_option_help(shared)}."),
        )
    yield ".SH JSON"
    yield from _verbatim_lines(read_topic("json"))
    yield ".SH COLOUR"
    yield from _verbatim_lines(read_topic("colors"))
    yield ".SH ENVIRONMENT"
    yield from _verbatim_lines(read_topic("environment"))
    yield ".SH EXIT STATUS"
    for code, text in EXIT_CODES.items():
        yield from (".TP", f".B {int(code)}", _escape_roff(text))


def _operator_lines(operator: Operator) -> Iterator[str]:
    yield f".SS {_escape_roff(' '.join([operator.command_line, *format_input_metavars(operator)]))}"
    yield from _paragraph_lines(operator.doc)
    for option in list_own_options(operator):
        if not option.is_hidden:
            yield from (".TP", _format_bold(_format_flags(option)))
            yield _escape_roff(option.help or option.name.removeprefix("attr_"))
    yield from _verbatim_lines(f"{operator.command_line} {operator.example}")


def _format_flags(shared: CommandOption) -> str:
    return f"{', '.join(shared.flags)} {shared.metavar}".rstrip()


def _format_bold(text: str) -> str:
    return f'.B "{_escape_roff(text)}"'


def _paragraph_lines(text: str) -> Iterator[str]:
    """Lines that end where they do in the source: they hold formulas and lists."""
    for paragraph in text.strip().split("\n\n"):
        if "\n" in paragraph:
            yield from _verbatim_lines(paragraph)
        else:
            yield from (".PP", _escape_roff(paragraph))


def _verbatim_lines(text: str) -> Iterator[str]:
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
