"""`gscli` itself: operators, frameworks, tools."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import typer

import gscli
from gscli.cli.building import application, option, shared_parameter, signed
from gscli.cli.groups import TreeGroup
from gscli.cli.options import SHARED, Settings
from gscli.declare.comparisons import CONCEPTS
from gscli.frameworks import ALIASES, NAMES, bare_operators, framework
from gscli.frameworks.operator import Operator

TOOLS: dict[str, str] = {
    "compare": "The same inputs under every framework's rules, side by side.",
    "rules": "What each operator does with negative, bad and duplicate indices.",
    "explain": "The formula and one line per entry, in words.",
    "check": "Every finding about some inputs, not only the first.",
    "verify": "Run recorded cases and compare with their answers.",
    "fuzz": "Random calls put to an installed runtime; what differs is made small.",
    "cases": "Write test cases that cover each rule, for a CI that cannot call gscli.",
    "runtimes": "Which runtimes can be asked, what is installed, and their adapters.",
    "diff": "Hold two tensors against each other, cell by cell.",
    "run": "Run ONNX node tests, or a node of a model with inputs from files.",
    "batch": "Run one job per line of a JSON Lines file.",
    "show": "List what a file holds, or print a tensor.",
    "convert": "Copy a tensor from one format to another.",
    "undo": "Put back the rows that a direct patch, cut short, has changed.",
    "page": "Put several recorded runs into one teaching page.",
    "samples": "List, write or run the lessons that come with gscli.",
    "help": "Topics: exit-codes, inputs, colors and more; man prints the manual page.",
}
"""Commands besides the operators; each is NAME of gscli.cli.commands.NAME, made when named."""

SUMMARY = "The laboratory for gather and scatter: exact rules of every framework, in a picture."

HELP = f"""{SUMMARY}

Inputs are files (.npy .npz .json .csv .pb .onnx .safetensors .h5, FILE::NAME), - for stdin,
inline JSON '[[0],[2]]', or arange:3x4 and zeros:4x3:float32.

\b
Examples:
  gscli scatter-nd '[1,2,3,4]' '[[3],[1]]' '[9,8]'
  gscli compare gather '[10,20,30]' '[0,-1,7]'
"""


class RootGroup(TreeGroup):
    """Everything."""

    path = "gscli"

    @staticmethod
    def action(
        operator: Operator, words: list[str], attrs: dict[str, str], settings: Settings
    ) -> int:
        """Run the operator and show what it did."""
        from gscli.cli.work.operators import run_operator

        return run_operator(operator, words, attrs, settings)

    def summaries(self) -> dict[str, str]:
        return {**super().summaries(), **TOOLS}

    def build(self, name: str) -> Any:
        if name in TOOLS:
            found = getattr(import_module(f"gscli.cli.commands.{name}"), name)
            return found() if inspect.isfunction(found) else found
        return super().build(name)

    def sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        yield from super().sections()
        yield "Tools", list(TOOLS.items())


def root_command() -> Any:
    """The command that holds all others."""
    app = application(cls=RootGroup, add_completion=True, help=HELP, no_args_is_help=True)
    app.callback()(signed(_remember, _root_parameters()))
    return typer.main.get_command(app)


SCREEN = [shared for shared in SHARED.values() if shared.heading == "Screen"]
"""Options that may also stand before the command, which takes them as its defaults."""


def _root_parameters() -> list[inspect.Parameter]:
    context = inspect.Parameter.POSITIONAL_OR_KEYWORD
    version = typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    return [
        inspect.Parameter("context", context, annotation=typer.Context),
        *map(shared_parameter, SCREEN),
        option("version", bool, version, default=False),
    ]


def _remember(context: typer.Context, **options: Any) -> int:
    """Keep the options that were given before the command, for `Command.invoke`."""
    context.obj = {
        shared.name: options[shared.name]
        for shared in SCREEN
        if options[shared.name] != shared.default
    }
    return 0


def _print_version(asked: bool) -> None:
    if asked:
        from gscli.kernel.loops import way

        sys.stdout.write(f"gscli {gscli.__version__} ({way()})\n")
        raise typer.Exit


def command_path(words: Sequence[str]) -> str:
    """The command that some words call, as far as its names go.

    >>> command_path(["--color", "never", "torch", "scatter-add", "[1]"])
    'gscli torch scatter-add'
    """
    everywhere = {*NAMES, *ALIASES, *(operator.command for operator in bare_operators())}
    known, found = {*TOOLS, *everywhere}, ["gscli"]
    for word in words:
        if word not in known:
            continue
        found.append(word)
        if word in NAMES or word in ALIASES:
            known = {operator.command for operator in framework(word).operators.values()}
        elif word in ("explain", "check", "compare"):
            known = {*CONCEPTS} if word == "compare" else everywhere
        else:
            break
    return " ".join(found)
