"""The tree of commands: groups that build a command when it is named, and `gscli` itself."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import typer
from typer.core import TyperGroup, TyperOption

import gscli
from gscli.base import ExitCode, UsageError, check_rule
from gscli.base.words import format_suggestion, suggest_names
from gscli.cli.building import (
    HELP_NAMES,
    HintedCommand,
    OperatorAction,
    make_operator_command,
    make_parameter,
)
from gscli.cli.options import COMPLETION_VARIABLE, SHARED_OPTIONS, SHOW_COMPLETION
from gscli.frameworks import (
    ALIASES,
    NAMES,
    TITLES,
    bare_operators,
    load_framework,
    operators,
    to_kebab_case,
)
from gscli.frameworks.operator import Operator

# From so many letters on the beginning of names is taken for them, else whole words of it.
MIN_PREFIX = 5

# Titles of help's lists of commands, and each list: command name -> one-line help.
Sections: TypeAlias = Callable[[], Mapping[str, Mapping[str, str]]]


class LazyGroup(HintedCommand, TyperGroup):
    """A group whose commands are imported when they are needed.

    Named alone it prints its help and leaves with status 2. `build` makes the command of a name,
    None where there is none; nothing else is looked at.
    """

    def __init__(
        self, name: str, help_text: str, sections: Sections, build: Callable[[str], Any],
        params: Sequence[Any] = (),
    ) -> None:  # fmt: skip
        super().__init__(
            name=name, help=inspect.cleandoc(help_text), context_settings=HELP_NAMES,
            rich_markup_mode=None, params=[*params],
        )  # fmt: skip
        self.sections, self.build = sections, build

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            sys.stdout.write(ctx.get_help() + "\n")
            raise typer.Exit(ExitCode.USAGE)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [name for rows in self.sections().values() for name in rows]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = self.build(ALIASES.get(cmd_name, cmd_name))
        if command is not None or ctx.resilient_parsing:
            return command
        ends = "OPERATOR … --" + cmd_name if self.has_option(f"--{cmd_name}", ctx) else "--help"
        hint = self.suggest(cmd_name, self.list_commands(ctx), f"{ctx.command_path} {ends}")
        raise UsageError(f"no such command {cmd_name!r}"[:200], hint=hint)

    def has_option(self, option: str, ctx: Any) -> bool:
        """Whether an operator here has this option; tools, behind them, load too much."""
        commands = (self.get_command(ctx, name) for name in next(iter(self.sections().values())))
        return any(option in item.opts for command in commands for item in command.params)

    def suggest(self, cmd_name: str, names: Sequence[str], otherwise: str) -> str:
        """A hint at commands that a wrong name may mean, here or of a framework."""
        meant = to_kebab_case(cmd_name)
        known = [*names, *(alias for alias, name in ALIASES.items() if name in names)]
        head, _, tail = cmd_name.partition(".")
        full = f"{ALIASES.get(head, head)}.{tail}"
        begin = meant if len(meant) >= MIN_PREFIX else f"{meant}-"
        longer = [name for name in names if name.startswith(begin)]
        named = [meant] if meant in names else longer + [
            f"{operator.framework_name} {operator.command}" for operator in operators()
            if operator.framework_name in names
            and (operator.command == meant or operator.full_name == full)
        ]  # fmt: skip
        return format_suggestion(named, suggest_names(meant, known, otherwise, similarity=0.72))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        for title, rows in self.sections().items():
            with formatter.section(title):
                formatter.write_dl([*rows.items()])


def _list_operators() -> dict[str, dict[str, str]]:
    titled = {name: f"{TITLES[name]} operators under their own names." for name in NAMES}
    return {"Operators (ONNX rules)": _summarize(bare_operators()), "Frameworks": titled}


def make_operator_group(
    action: OperatorAction, name: str, help_text: str, unused: Collection[str] = (),
    kind: type[LazyGroup] = LazyGroup,
) -> LazyGroup:  # fmt: skip
    """A group with every operator under another action (explain, check, grad).

    `unused`: shared options that the action has no use for. `kind`: a group that has more commands.
    """
    build = partial(_build_command, action, f"gscli {name}", unused)
    return kind(name, help_text, _list_operators, build)


def _build_command(
    action: OperatorAction, path: str, unused: Collection[str], name: str, framework: str = ""
) -> Any:
    """A bare operator's command or a framework's group, of a `framework` one of its operators.

    None of another name.
    """
    known = load_framework(framework).operators.values() if framework else bare_operators()
    if not framework and name in NAMES:
        doc = inspect.getdoc(import_module(f"gscli.frameworks.{name}")) or ""
        build = partial(_build_command, action, path, unused, framework=name)
        return LazyGroup(
            name, doc.replace("\n\n", "\n\n\b\n"),
            lambda: {"Commands": _summarize(load_framework(name).operators.values())}, build,
        )  # fmt: skip
    operator = next((entry for entry in known if entry.command == name), None)
    return operator and make_operator_command(operator, action, path, unused)


def _summarize(known: Iterable[Operator]) -> dict[str, str]:
    return {operator.command: operator.summary for operator in known}


# Commands besides the operators; each is NAME of gscli.cli.commands.NAME, made when named.
TOOLS: dict[str, str] = {
    "compare": "The same inputs under every framework's rules, side by side.",
    "rules": "What each operator does with negative, bad and duplicate indices.",
    "explain": "The formula and one line per entry, in words.",
    "grad": "What flows back: gradients, and who is given them at ties and duplicates.",
    "check": "Every finding about some inputs, not only the first.",
    "watch": "Run a PyTorch or JAX program and name bad indices at its own lines.",
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

SUMMARY = "The laboratory for gather and scatter: exact rules of every framework, in a picture."

HELP = f"""{SUMMARY}

Inputs are files (.npy .npz .json .csv .pb .onnx .safetensors .h5 .zarr, FILE::NAME), - for stdin,
inline JSON '[[0],[2]]', or arange:3x4 and zeros:4x3:float32.

\b
Examples:
  gscli scatter-nd '[1,2,3,4]' '[[3],[1]]' '[9,8]'
  gscli compare gather '[10,20,30]' '[0,-1,7]'
"""


def _run(call: Any) -> int:
    from gscli.cli.call import run_operator

    return run_operator(call)


def make_root_group() -> LazyGroup:
    """Everything."""

    def build(name: str) -> Any:
        if name not in TOOLS:
            return _build_command(_run, "gscli", (), name)
        return getattr(import_module(f"gscli.cli.commands.{name}"), name)

    version = TyperOption(
        param_decls=["version", "--version"], is_flag=True, is_eager=True, expose_value=False,
        callback=_print_version, help="Print it.",
    )  # fmt: skip
    install, _ = typer.main.get_install_completion_arguments()
    show = make_parameter(SHOW_COMPLETION)
    show.callback, show.expose_value, show.is_eager = _print_completion, False, True
    before = [make_parameter(SHARED_OPTIONS[name]) for name in GLOBAL_OPTIONS]
    params = [*before, version, install, show]
    return LazyGroup("gscli", HELP, lambda: {**_list_operators(), "Tools": TOOLS}, build, params)


# Options that may also stand before the command, which takes them as its defaults.
GLOBAL_OPTIONS = [name for name, entry in SHARED_OPTIONS.items() if entry.heading == "Screen"]


ZSH_LAST_LINE = "compdef _gscli_completion gscli"
ZSH_AUTOLOADED = """\
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _gscli_completion "$@"  # the first completion, which reads this from a folder of fpath
else
  compdef _gscli_completion gscli
fi"""


def _print_completion(_context: Any, _option: object, shell: Any) -> None:
    """The script of a shell by name."""
    if shell is None:
        return
    from shellingham import ShellDetectionFailure, detect_shell
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    with suppress(ShellDetectionFailure):
        shell = detect_shell()[0] if shell == SHOW_COMPLETION.alone else shell
    _, *known = SHOW_COMPLETION.choices
    problem, legal = "the current shell is not known", " ".join(known)
    check_rule(shell in known, problem, "--show-completion", kind=UsageError, valid=legal)
    script = get_completion_script(prog_name="gscli", complete_var=COMPLETION_VARIABLE, shell=shell)
    sys.stdout.write(script.replace(ZSH_LAST_LINE, ZSH_AUTOLOADED) + "\n")
    raise typer.Exit


def _print_version(_context: typer.Context, _option: object, value: bool) -> None:
    if value:
        from gscli.kernel.loops import backend_name

        sys.stdout.write(f"gscli {gscli.__version__} ({backend_name()})\n")
        raise typer.Exit
