"""The tree of commands: groups that build a command when it is named, and `gscli` itself."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup, TyperOption

import gscli
from gscli.base import ExitCode, UsageError
from gscli.cli.building import (
    HELP_NAMES,
    OperatorAction,
    find_close_names,
    make_operator_command,
    make_parameter,
)
from gscli.cli.options import SHARED_OPTIONS, Settings
from gscli.frameworks import ALIASES, NAMES, bare_operators, load_framework
from gscli.frameworks.operator import Operator


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are needed.

    Named alone it prints its help and leaves with status 2.
    """

    def __init__(self, name: str, help_text: str, **settings: Any) -> None:
        super().__init__(
            name=name, help=inspect.cleandoc(help_text), context_settings=HELP_NAMES,
            rich_markup_mode=None, **settings,
        )  # fmt: skip

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            sys.stdout.write(ctx.get_help() + "\n")
            raise typer.Exit(ExitCode.USAGE)
        return super().parse_args(ctx, args)

    def command_summaries(self) -> dict[str, str]:
        """Command name -> one-line help."""
        return {}

    def build_command(self, name: str) -> Any:
        """The command called `name`, None where there is none. Nothing else is looked at."""
        raise NotImplementedError

    def help_sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Titles and rows of the command list in help."""
        yield "Commands", list(self.command_summaries().items())

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.command_summaries())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = self.build_command(ALIASES.get(cmd_name, cmd_name))
        if command is not None or ctx.resilient_parsing:
            return command
        names, meant = self.command_summaries(), to_kebab_case(cmd_name)
        known = [*names, *self._aliases(names)]
        near = meant if meant in known else " or ".join(find_close_names(meant, known))
        raise UsageError(
            f"no such command {cmd_name!r}"[:200],
            hint=f"did you mean {near}?" if near else f"{ctx.command_path} --help",
        )

    @staticmethod
    def _aliases(names: dict[str, str]) -> list[str]:
        return [alias for alias, name in ALIASES.items() if name in names]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        for title, rows in self.help_sections():
            with formatter.section(title):
                formatter.write_dl(rows)


def to_kebab_case(name: str) -> str:
    """A name as the command line writes it, however documents and code do.

    >>> (
    ...     to_kebab_case("ScatterND"),
    ...     to_kebab_case("GatherElements"),
    ...     to_kebab_case("index_add_"),
    ...     to_kebab_case("add.at"),
    ... )
    ('scatter-nd', 'gather-elements', 'index-add', 'add-at')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[_.\s-]+", "-", parted).strip("-").lower()


class FrameworkGroup(LazyGroup):
    """The operators of one framework under one action."""

    def __init__(self, name: str, action: OperatorAction, path: str) -> None:
        doc = inspect.getdoc(import_module(f"gscli.frameworks.{name}")) or ""
        super().__init__(name, doc.replace("\n\n", "\n\n\b\n"))
        self.framework_name, self.action, self.path = name, action, path

    def command_summaries(self) -> dict[str, str]:
        return {name: operator.summary for name, operator in self._operators().items()}

    def build_command(self, name: str) -> Any:
        operator = self._operators().get(name)
        return operator and make_operator_command(operator, self.action, self.path)

    def _operators(self) -> dict[str, Operator]:
        operators = load_framework(self.framework_name).operators.values()
        return {operator.command: operator for operator in operators}


class TreeGroup(LazyGroup):
    """Bare operators and frameworks under one action: what explain and check offer."""

    def __init__(
        self, name: str, help_text: str, action: OperatorAction, path: str, **more: Any
    ) -> None:
        super().__init__(name, help_text, **more)
        self.action, self.path = action, path

    def command_summaries(self) -> dict[str, str]:
        return dict([*_bare_rows(), *_framework_rows()])

    def build_command(self, name: str) -> Any:
        if name in NAMES:
            return FrameworkGroup(name, self.action, self.path)
        operator = next((entry for entry in bare_operators() if entry.command == name), None)
        return operator and make_operator_command(operator, self.action, self.path)

    def help_sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        yield "Operators (ONNX rules)", _bare_rows()
        yield "Frameworks", _framework_rows()


def _bare_rows() -> list[tuple[str, str]]:
    return [(operator.command, operator.summary) for operator in bare_operators()]


def _framework_rows() -> list[tuple[str, str]]:
    return [(name, f"{TITLES[name]} operators under their own names.") for name in NAMES]


TITLES = {
    "onnx": "ONNX", "openvino": "OpenVINO", "numpy": "NumPy", "tensorflow": "TensorFlow",
    "mxnet": "MXNet", "caffe2": "Caffe2", "torch": "PyTorch", "jax": "JAX",
    "stablehlo": "StableHLO",
}  # fmt: skip
"""`Framework.title`, without importing nine modules for a list of commands."""


def make_operator_group(action: OperatorAction, name: str, help_text: str) -> TreeGroup:
    """A group with every operator under another action (explain, check)."""
    return TreeGroup(name, help_text, action, f"gscli {name}")


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

Inputs are files (.npy .npz .json .csv .pb .onnx .safetensors .h5 .zarr, FILE::NAME), - for stdin,
inline JSON '[[0],[2]]', or arange:3x4 and zeros:4x3:float32.

\b
Examples:
  gscli scatter-nd '[1,2,3,4]' '[[3],[1]]' '[9,8]'
  gscli compare gather '[10,20,30]' '[0,-1,7]'
"""


def _run(operator: Operator, words: list[str], attrs: dict[str, str], settings: Settings) -> int:
    """Run the operator and show what it did."""
    from gscli.cli.call import run_operator

    return run_operator(operator, words, attrs, settings)


class RootGroup(TreeGroup):
    """Everything."""

    def __init__(self) -> None:
        version = TyperOption(
            param_decls=["version", "--version"], is_flag=True, is_eager=True, expose_value=False,
            callback=_print_version, help="Print it.",
        )  # fmt: skip
        completion = typer.main.get_install_completion_arguments()
        params = [*map(make_parameter, GLOBAL_OPTIONS), version, *completion]
        super().__init__("gscli", HELP, _run, "gscli", params=params)

    def invoke(self, ctx: Any) -> Any:
        """Keep the options that stand before the command, for `Command.invoke`."""
        values = {option.name: ctx.params[option.name] for option in GLOBAL_OPTIONS}
        ctx.obj = {
            name: value for name, value in values.items() if value != SHARED_OPTIONS[name].default
        }
        return super().invoke(ctx)

    def command_summaries(self) -> dict[str, str]:
        return {**super().command_summaries(), **TOOLS}

    def build_command(self, name: str) -> Any:
        if name in TOOLS:
            command = getattr(import_module(f"gscli.cli.commands.{name}"), name)
            return command() if inspect.isfunction(command) else command
        return super().build_command(name)

    def help_sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        yield from super().help_sections()
        yield "Tools", list(TOOLS.items())


GLOBAL_OPTIONS = [option for option in SHARED_OPTIONS.values() if option.heading == "Screen"]
"""Options that may also stand before the command, which takes them as its defaults."""


def _print_version(_context: typer.Context, _option: object, value: bool) -> None:
    if value:
        from gscli.kernel.loops import backend_name

        sys.stdout.write(f"gscli {gscli.__version__} ({backend_name()})\n")
        raise typer.Exit


def find_command_path(words: Sequence[str]) -> str:
    """The command that some words call, as far as its names go.

    >>> find_command_path(["--color", "never", "torch", "scatter-add", "[1]"])
    'gscli torch scatter-add'
    """
    everywhere = {*NAMES, *ALIASES, *(operator.command for operator in bare_operators())}
    known, path = {*TOOLS, *everywhere}, ["gscli"]
    for word in words:
        if word not in known:
            continue
        path.append(word)
        if word in NAMES or word in ALIASES:
            known = {operator.command for operator in load_framework(word).operators.values()}
        elif word == "compare":
            from gscli.lab.concepts import CONCEPTS

            known = {*CONCEPTS}
        elif word in ("explain", "check"):
            known = everywhere
        else:
            break
    return " ".join(path)
