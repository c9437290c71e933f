"""The command line, built lazily from the declarations. Light: neither numpy nor rich nor pydantic.

`gscli OPERATOR …` and `gscli FRAMEWORK OPERATOR …` run; `gscli explain …` and `gscli check …` take
the same words. Only the command that is named is built; help lists come from the declarations.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import gscli
from gscli.declare import Attribute, Operator
from gscli.errors import ExitCode, UsageError
from gscli.frameworks import ALIASES, BARE, NAMES, framework
from gscli.options import SHARED, Settings, Shared

Action = Callable[[Operator, list[str], dict[str, str], Settings], int]

HELP_NAMES = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

TOOLS: dict[str, str] = {
    "compare": "The same inputs under every framework's rules, side by side.",
    "rules": "What each operator does with negative, bad and duplicate indices.",
    "explain": "The formula and one line per entry, in words.",
    "check": "Every finding about some inputs, not only the first.",
    "verify": "Run recorded cases and compare with their answers.",
    "run": "Run ONNX node-test folders and compare with their outputs.",
    "batch": "Run one job per line of a JSON Lines file.",
    "show": "List what a file holds, or print a tensor.",
    "convert": "Copy a tensor from one format to another.",
    "page": "Put several recorded runs into one teaching page.",
    "samples": "List, write or run the lessons that come with gscli.",
    "help": "Topics: exit-codes, inputs, colors; man prints the manual page.",
}
"""Commands besides the operators; each is `command` (or `group`) of gscli.commands.NAME."""


def command_line(arguments: list[str]) -> int:
    """Parse and run; the exit code of the command. Errors propagate."""
    command = typer.main.get_command(_root())
    result = command.main(
        _with_values(arguments) or ["--help"], prog_name="gscli", standalone_mode=False
    )
    code = result if isinstance(result, int) else 0
    return code if arguments else ExitCode.USAGE


_WITHOUT_VALUE = {"--step": "all", "--json": "document"}
"""Options that may stand alone, and what they mean then."""


def _with_values(arguments: list[str]) -> list[str]:
    """`--step` and `--json` take an optional value; typer knows only options that always do.

    >>> _with_values(["--json", "x", "--step", "3"]), _with_values(["--step"])
    (['--json=document', 'x', '--step', '3'], ['--step=all'])
    """
    words: list[str] = []
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        alone = word in _WITHOUT_VALUE and not (word == "--step" and following.isdigit())
        words.append(f"{word}={_WITHOUT_VALUE[word]}" if alone else word)
    return words


class OperatorCommand(TyperCommand):
    """A command whose inputs are shown under the framework's own names."""

    inputs: tuple[str, ...] = ()

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  typer's private context
        return [*self.inputs, "[OPTIONS]"]


class LazyGroup(TyperGroup):
    """A group that knows names and summaries, and builds a command when it is named."""

    def summaries(self) -> dict[str, str]:
        """Command name -> one-line help."""
        return {}

    def build(self, name: str) -> Any:  # noqa: ANN401  typer's command classes are private
        """The command called `name`."""
        raise NotImplementedError

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002
        return list(self.summaries())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        names = self.summaries()
        known = ALIASES.get(cmd_name, cmd_name)
        if known in names:
            return self.build(known)
        if ctx.resilient_parsing:
            return None
        raise _unknown_command(cmd_name, [*names, *ALIASES], ctx.command_path)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        for title, rows in self.sections():
            with formatter.section(title):
                formatter.write_dl(rows)

    def sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Titles and rows of the command list in help."""
        yield "Commands", list(self.summaries().items())


class FrameworkGroup(LazyGroup):
    """The operators of one framework under one action."""

    framework_name = "onnx"
    action: Action

    def summaries(self) -> dict[str, str]:
        return {
            operator.command: operator.summary
            for operator in framework(self.framework_name).operators.values()
        }

    def build(self, name: str) -> Any:  # noqa: ANN401
        found = {op.command: op for op in framework(self.framework_name).operators.values()}
        return _operator_command(found[name], type(self).action)


class TreeGroup(LazyGroup):
    """Bare operators and frameworks under one action: what explain and check offer."""

    action: Action

    def bare(self) -> dict[str, Operator]:
        """The top-level operators."""
        return {
            operator.command: operator
            for name in BARE
            for operator in framework(name).operators.values()
            if operator.bare
        }

    def summaries(self) -> dict[str, str]:
        return {
            **{name: operator.summary for name, operator in self.bare().items()},
            **{name: f"{_title(name)} operators under their own names." for name in NAMES},
        }

    def build(self, name: str) -> Any:  # noqa: ANN401
        if name in NAMES:
            return framework_group(name, type(self).action)
        return _operator_command(self.bare()[name], type(self).action)

    def sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        rows = self.summaries()
        yield "Operators (ONNX rules)", [row for row in rows.items() if row[0] in self.bare()]
        yield "Frameworks", [row for row in rows.items() if row[0] in NAMES]


class RootGroup(TreeGroup):
    """Everything."""

    @staticmethod
    def action(
        operator: Operator, words: list[str], attrs: dict[str, str], settings: Settings
    ) -> int:
        """Run the operator and show what it did."""
        from gscli.app import run_operator  # noqa: PLC0415  numpy, only when something runs

        return run_operator(operator, words, attrs, settings)

    def summaries(self) -> dict[str, str]:
        return {**super().summaries(), **TOOLS}

    def build(self, name: str) -> Any:  # noqa: ANN401
        if name in TOOLS:
            return import_module(f"gscli.commands.{name}").build()
        return super().build(name)

    def sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        yield from super().sections()
        yield "Tools", list(TOOLS.items())


def application(**settings: Any) -> typer.Typer:  # noqa: ANN401  typer's own keywords
    """A Typer with the project's settings: plain help, no boxed tracebacks."""
    return typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP_NAMES,
        **{"add_completion": False, **settings},
    )


def tool(function: Callable[..., int], name: str, **settings: Any) -> Any:  # noqa: ANN401
    """A single tool command as typer builds it; the function's docstring is its help."""
    app = application()
    app.command(name, context_settings=HELP_NAMES, **settings)(function)
    return typer.main.get_command(app)


def tree(action: Action, name: str, help_text: str) -> Any:  # noqa: ANN401
    """A group with every operator under another action (explain, check)."""
    group = type("Tree", (TreeGroup,), {"action": staticmethod(action)})
    app = application(cls=group, name=name, help=help_text, no_args_is_help=True)
    app.callback()(lambda: None)
    return typer.main.get_command(app)


def framework_group(name: str, action: Action) -> Any:  # noqa: ANN401
    """The operators of a framework as a group."""
    attributes = {"action": staticmethod(action), "framework_name": name}
    group = type("Operators", (FrameworkGroup,), attributes)
    doc = inspect.getdoc(import_module(f"gscli.frameworks.{name}")) or ""
    app = application(
        cls=group, name=name, help=doc.replace("\n\n", "\n\n\b\n"), no_args_is_help=True
    )
    app.callback()(lambda: None)
    return typer.main.get_command(app)


def _root() -> typer.Typer:
    app = application(cls=RootGroup, add_completion=True)

    @app.callback()
    def root(
        version: Annotated[
            bool,
            typer.Option("--version", callback=_print_version, is_eager=True, help="Print it."),
        ] = False,
    ) -> None:
        """The laboratory for gather and scatter: exact rules of every framework, in a picture.

        Inputs are files (.npy .npz .json .csv .pb .safetensors .h5, FILE::NAME), - for stdin,
        inline JSON '[[0],[2]]', or arange:3x4 and zeros:4x3:float32.
        """

    return app


def _print_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"gscli {gscli.__version__}\n")
        raise typer.Exit


def _title(name: str) -> str:
    titles = {"onnx": "ONNX", "openvino": "OpenVINO", "numpy": "NumPy", "tensorflow": "TensorFlow",
              "mxnet": "MXNet", "caffe2": "Caffe2", "torch": "PyTorch", "jax": "JAX",
              "stablehlo": "StableHLO"}  # fmt: skip
    return titles[name]


def _unknown_command(name: str, known: list[str], path: str) -> UsageError:
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(name, known, 3, 0.5)
    return UsageError(
        f"no such command {name!r}"[:200],
        hint=f"did you mean {' or '.join(near)}?" if near else f"{path} --help",
    )


def _operator_command(operator: Operator, action: Action) -> Any:  # noqa: ANN401
    names = tuple(
        f"{item.name.upper()}..." if item.kind == "many"
        else f"[{item.name.upper()}]" if item.optional
        else item.name.upper()
        for item in operator.inputs
    )  # fmt: skip
    command = type("Command", (OperatorCommand,), {"inputs": names})
    app = application()
    app.command(operator.command, cls=command, context_settings=HELP_NAMES,
                help=_help_text(operator))(_function(operator, action))  # fmt: skip
    return typer.main.get_command(app)


def _function(operator: Operator, action: Action) -> Callable[..., int]:
    """The function that Typer sees: one variadic argument and an option per attribute."""
    attributes = {attribute.name: attribute for attribute in operator.attributes}
    inputs = [item.name for item in operator.inputs if item.kind != "many"]

    def run(words: list[str] | None = None, **options: Any) -> int:  # noqa: ANN401
        attrs = {name: _text(options.pop(f"attr_{name}")) for name in attributes}
        named = {name: options.pop(f"input_{name}") for name in inputs if name not in attributes}
        settings = Settings(
            **options, extra={name: text for name, text in named.items() if text is not None}
        )
        given = {name: text for name, text in attrs.items() if text is not None}
        for name, attribute in attributes.items():
            if attribute.option.shell_default is not None:
                given.setdefault(name, str(attribute.option.shell_default).lower())
        return action(operator, words or [], given, settings)

    parameters = [
        inspect.Parameter(
            "words", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None,
            annotation=Annotated[list[str] | None, typer.Argument(hidden=True)],
        ),
        *(_attribute_parameter(attribute) for attribute in attributes.values()),
        *(_input_parameter(name) for name in inputs if name not in attributes),
        *(_shared_parameter(shared) for shared in SHARED if shared.name not in _taken(operator)),
    ]  # fmt: skip
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _text(value: bool | str | None) -> str | None:
    return str(value).lower() if isinstance(value, bool) else value


def _taken(operator: Operator) -> set[str]:
    """Shared options whose flag the operator needs for an attribute or input of its own."""
    own = {attribute.name for attribute in operator.attributes}
    return {shared.name for shared in SHARED if shared.name in own}


_SHORT = {"axis": "-a", "reduction": "-r"}


def _attribute_parameter(attribute: Attribute) -> inspect.Parameter:
    flag = attribute.name.replace("_", "-")
    words: list[str] = [f"--{flag}"]
    if attribute.kind == "bool":
        words = [f"--{flag}/--no-{flag}"]
    elif attribute.name in _SHORT:
        words.insert(0, _SHORT[attribute.name])
    kind: Any = bool | None if attribute.kind == "bool" else str | None
    metavar = {"int": "INT", "ints": "INTS", "float": "NUMBER", "number": "NUMBER"}.get(
        attribute.kind, "NAME"
    )
    choices = attribute.choices
    option = typer.Option(
        *words,
        help=_option_help(attribute),
        show_default=False,
        metavar=None if attribute.kind == "bool" else metavar,
        autocompletion=(lambda: list(choices)) if choices else None,
    )
    return inspect.Parameter(
        f"attr_{attribute.name}", inspect.Parameter.KEYWORD_ONLY, default=None,
        annotation=Annotated[kind, option],
    )  # fmt: skip


def _option_help(attribute: Attribute) -> str:
    option, parts = attribute.option, []
    if option.help:
        parts.append(option.help)
    if attribute.choices:
        since = option.choices_since
        parts.append(
            ": " * bool(parts)
            + " ".join(
                (choice or "''") + (f" (from {since[choice]})" if choice in since else "")
                for choice in attribute.choices
            )
        )
    if option.since is not None and not option.choices_since:
        parts.append(f" (from opset {option.since})")
    if attribute.required:
        parts.append(" (required)")
    default = attribute.default if option.shell_default is None else option.shell_default
    if not attribute.required and default not in (None, ""):
        parts.append(f" (default {str(default).lower()})")
    return "".join(parts)


def _input_parameter(name: str) -> inspect.Parameter:
    option = typer.Option(f"--{name.lower().rstrip('_').replace('_', '-')}", hidden=True)
    return inspect.Parameter(
        f"input_{name}", inspect.Parameter.KEYWORD_ONLY, default=None,
        annotation=Annotated[str | None, option],
    )  # fmt: skip


def _shared_parameter(shared: Shared) -> inspect.Parameter:
    choices = shared.choices
    option = typer.Option(
        *shared.flags,
        help=shared.help,
        metavar=shared.metavar or None,
        show_default=False,
        envvar=shared.environment or None,
        show_envvar=bool(shared.environment),
        autocompletion=(lambda: list(choices)) if choices else None,
        callback=_choice_check(shared) if choices and shared.name != "format" else None,
    )
    kind: Any = bool if shared.kind is bool else shared.kind | None
    return inspect.Parameter(
        shared.name, inspect.Parameter.KEYWORD_ONLY, default=shared.default,
        annotation=Annotated[kind, option],
    )  # fmt: skip


def _choice_check(shared: Shared) -> Callable[[str | None], str | None]:
    def check(value: str | None) -> str | None:
        if value is not None and value not in shared.choices:
            raise UsageError(
                f"unknown {shared.name}: {value!r}"[:200], valid=" ".join(shared.choices)
            )
        return value

    return check


def shared_options(*names: str) -> list[inspect.Parameter]:
    """Parameters of some shared options, for tools that take them too."""
    return [_shared_parameter(shared) for shared in SHARED if shared.name in names]


def _help_text(operator: Operator) -> str:
    """Help: the docstring, then two runnable examples."""
    paragraphs = [
        part if "\n" not in part else "\b\n" + part for part in operator.doc.split("\n\n")
    ]
    bare = operator.command_line.removeprefix("gscli ")
    lines = [f"  gscli {verb}{bare} {operator.example}" for verb in ("", "explain ")]
    examples = "\n".join(["\b\nExamples:", *lines])
    return "\n\n".join([*paragraphs, examples])
