"""What `gscli help` tells: topics, and the manual page made from the declarations. Light."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import getdoc

import gscli
from gscli.base.errors import ExitCode
from gscli.cli.building import shared_help
from gscli.cli.groups import TITLES
from gscli.cli.operators import attribute_flags, attribute_help, attribute_metavar, input_words
from gscli.cli.options import SHARED, Shared
from gscli.cli.root import SUMMARY, TOOLS
from gscli.frameworks import ALIASES, NAMES, framework
from gscli.frameworks.operator import Operator

EXIT_CODES: dict[ExitCode, str] = {
    ExitCode.DONE: "done, warnings allowed",
    ExitCode.NO: "the answer is no: compare differs, verify or run fails, check or --strict finds",
    ExitCode.USAGE: "the command itself is wrong",
    ExitCode.REFUSED: "the operator refuses the inputs: index, shape, element type, content",
    ExitCode.UNREADABLE: "an input cannot be read",
    ExitCode.BUG: "a bug in gscli",
    ExitCode.UNWRITABLE: "the output cannot be written; the old one is unharmed",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C",
    ExitCode.CLOSED: "the reader of a pipe went away",
}

INPUTS = """\
An input is one of

  data.npy              a file: .npy .npz .json .csv .tsv .pb .onnx .safetensors .h5
  weights.npz::name     one tensor of a file that holds several
  -                     standard input: .npy, .npz or JSON, told by its first bytes
  '[[0,1],[2,-1]]'      JSON, nested or {"dtype": …, "shape": …, "data": …}
  arange:3x4            also zeros:4x3:float32, ones:, full:3x4:7, rand:3x4:seed=1

Inputs come in the framework's order, or by name: --indices idx.npy. One .npz, .safetensors or
folder may stand for all of them, matched by argument name. A word that begins with - needs --
before it: gscli gather data.npy -- -1.

JSON and CSV carry no element types: whole numbers are int64, others float64, and updates take the
type of data. --dtype converts data and updates without loss; indices stay integers. It also names
the type of opaque elements, as in .npy files of bfloat16.

Documents that --json prints are inputs again.
"""

COLORS = """\
A picture has colours on a terminal and none in a pipe; nothing else differs. Every mark is also a
letter or a sign, so that nothing is lost without colour. What decides, the first that is there:

  --color always|never  or GSCLI_COLOR
  NO_COLOR              not empty: no colours
  FORCE_COLOR, CLICOLOR_FORCE   colours also in a pipe
  TERM=dumb             no colours
  a terminal            colours

--palette okabe (safe for colour-blind eyes, the default), mono (bold and reverse), 16 (the colours
of the terminal's own theme). --plain, or GSCLI_PLAIN=1, prints sentences for screen readers. The
width is --width, GSCLI_WIDTH, the terminal's own, COLUMNS, or 120.
"""

JSON = """\
--json prints one document: schema, op, framework, opset, attrs, inputs, output, entry_count,
entries and warnings; each entry has its id, at (its place), index (its vector), cell, status (ok,
wrap, clip or skip), update (its place in updates; a gather has result, its place in output), and
where values change old and new; dropped counts updates that fall outside with a part of a window.
Above 10,000 entries they are only counted, unless --limit says how many to list. --json=output
prints the output alone, {"dtype", "shape", "data"}.

What is warned about on standard error is also in warnings, each with the keys of an error below;
so it is in the rows of compare, and in a line of gscli batch where there is any.

nan and infinities are strings, complex numbers pairs, integers beyond 2^53 decimal strings.

check, compare, convert, rules, run, samples, show and verify have --json too.

With --json an error is {"error": {"code", "kind", "problem", "where", "details", "valid", "hint"}}
on standard error. In gscli batch it takes the place of the result.
"""

COMPLETION = """\
For the shell you are in:

  gscli --install-completion

Or put the script where your shell looks for it:

  _GSCLI_COMPLETE=source_bash gscli \\
      > ~/.local/share/bash-completion/completions/gscli
  _GSCLI_COMPLETE=source_zsh gscli > "${fpath[1]}/_gscli"
  _GSCLI_COMPLETE=source_fish gscli > ~/.config/fish/completions/gscli.fish

It knows commands, operators, options and their choices, element types, lessons, and files of the
suffixes gscli reads.
"""


def topics() -> dict[str, tuple[str, Callable[[], str]]]:
    """Topic -> its one-line summary and its text."""
    return {
        "exit-codes": ("what the exit status means", exit_codes),
        "inputs": ("files, pipes, inline arrays, generators", lambda: INPUTS),
        "colors": ("colour, palettes, width, plain text", lambda: COLORS),
        "frameworks": ("whose operators there are, and under which names", frameworks),
        "json": ("documents in and out, errors as data", lambda: JSON),
        "environment": ("variables that set defaults", environment),
        "completion": ("words and files completed by the shell", lambda: COMPLETION),
        "man": ("the manual page: gscli help man | man -l -", manual_page),
    }


def exit_codes() -> str:
    """The exit codes, a line each.

    >>> exit_codes().splitlines()[0]
    '  0  done, warnings allowed'
    """
    return "".join(f"{code:3d}  {text}\n" for code, text in EXIT_CODES.items())


def environment() -> str:
    """The variables that gscli reads."""
    rows = [(shared.environment, shared) for shared in SHARED.values() if shared.variable]
    lines = [f"{name:<18}{shared.flags[-1]}: {shared_help(shared)}\n" for name, shared in rows]
    return "".join(lines) + "\nAlso NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM and COLUMNS.\n"


def frameworks() -> str:
    """Each framework and its commands."""
    aliases = {name: alias for alias, name in ALIASES.items()}
    lines = []
    for name in NAMES:
        commands = [operator.command for operator in framework(name).operators.values()]
        alias = f" (or {aliases[name]})" if name in aliases else ""
        lines.append(f"{name}{alias}: {' '.join(commands)}\n")
    return "\n".join(lines)


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
    yield from _verbatim(INPUTS)
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
        yield from (".TP", _bold(_flags(shared)), _roff(f"{shared_help(shared)}."))
    yield ".SH JSON"
    yield from _paragraphs(JSON)
    yield ".SH COLOUR"
    yield from _verbatim(COLORS)
    yield ".SH ENVIRONMENT"
    yield from _verbatim(environment())
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


def _flags(shared: Shared) -> str:
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
