"""The manual page, made from the declarations and the topics of help. Light."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc

import gscli
from gscli.cli.building import (
    attribute_flags,
    attribute_help,
    attribute_metavar,
    format_option_help,
    input_words,
)
from gscli.cli.options import SHARED, SharedOption
from gscli.cli.topics import EXIT_CODES, topic
from gscli.cli.tree import SUMMARY, TITLES, TOOLS
from gscli.frameworks import NAMES, framework
from gscli.frameworks.operator import Operator


def manual_page() -> str:
    """The page in roff's man macros."""
    return "\n".join(_manual_lines()) + "\n"


def _manual_lines() -> Iterator[str]:
    yield f'.TH GSCLI 1 "" "gscli {gscli.__version__}" "User Commands"'
    yield from (".SH NAME", rf"gscli \- {_roff(SUMMARY[:1].lower() + SUMMARY[1:].rstrip('.'))}")
    yield ".SH SYNOPSIS"
    for line in ("OPERATOR INPUT... [OPTIONS]", "FRAMEWORK OPERATOR INPUT... [OPTIONS]",
                 "TOOL ARGUMENT... [OPTIONS]"):  # fmt: skip
        yield from (".B gscli", _roff(line), ".br")
    yield ".SH INPUTS"
    yield from _verbatim(topic("inputs"))
    for name in NAMES:
        yield f".SH {TITLES[name].upper()} OPERATORS"
        doc = getdoc(import_module(f"gscli.frameworks.{name}"))
        yield from _paragraphs(doc or "")
        for operator in framework(name).operators.values():
            yield from _operator(operator)
    yield ".SH TOOLS"
    for tool, summary in TOOLS.items():
        yield from (".TP", rf".B gscli {_roff(tool)}", _roff(summary))
    yield ".SH OPTIONS OF EVERY OPERATOR"
    for shared in SHARED.values():
        yield from (".TP", _bold(_flags(shared)), _roff(f"{format_option_help(shared)}."))
    yield ".SH JSON"
    yield from _verbatim(topic("json"))
    yield ".SH COLOUR"
    yield from _verbatim(topic("colors"))
    yield ".SH ENVIRONMENT"
    yield from _verbatim(topic("environment"))
    yield ".SH EXIT STATUS"
    for code, text in EXIT_CODES.items():
        yield from (".TP", f".B {int(code)}", _roff(text))


def _operator(operator: Operator) -> Iterator[str]:
    yield f".SS {_roff(' '.join([operator.command_line, *input_words(operator)]))}"
    yield from _paragraphs(operator.doc)
    for attribute in operator.attributes:
        flags = ", ".join(attribute_flags(attribute))
        metavar = attribute_metavar(attribute)
        yield from (".TP", _bold(f"{flags} {metavar}" if metavar else flags))
        yield _roff(attribute_help(attribute) or attribute.name)
    yield from _verbatim(f"{operator.command_line} {operator.example}")


def _flags(shared: SharedOption) -> str:
    return f"{', '.join(shared.flags)} {shared.metavar}".rstrip()


def _bold(text: str) -> str:
    return f'.B "{_roff(text)}"'


def _paragraphs(text: str) -> Iterator[str]:
    """Lines that end where they do in the source: they hold formulas and lists."""
    for paragraph in text.strip().split("\n\n"):
        if "\n" in paragraph:
            yield from _verbatim(paragraph)
        else:
            yield from (".PP", _roff(paragraph))


def _verbatim(text: str) -> Iterator[str]:
    yield from (".PP", ".nf")
    yield from (_roff(line) for line in text.rstrip().splitlines())
    yield ".fi"


def _roff(text: str) -> str:
    r"""A line as roff reads it: no accidental requests, real hyphens and quotes.

    >>> print(_roff("--axis 'a\\b'"))
    \-\-axis \(aqa\eb\(aq
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    escaped = escaped.replace('"', "\\(dq").replace("^", "\\(ha").replace("~", "\\(ti")
    escaped = re.sub(r"[^\x20-\x7e]", lambda found: f"\\[u{ord(found[0]):04X}]", escaped)
    return re.sub(r"^\.", r"\\&.", escaped)
