"""Typer with the project's settings: parameters, options and commands from declarations."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from gscli.base import UsageError
from gscli.base.records import Record
from gscli.cli.options import SHARED, Settings, Shared
from gscli.declare.attributes import Attribute
from gscli.frameworks.operator import Operator

HELP_NAMES = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

COMPLETION_VARIABLE = "_GSCLI_COMPLETE"
"""Set by the completion scripts of the shells; the words are in other variables then."""

Parameter: TypeAlias = inspect.Parameter | TyperOption | TyperArgument

Complete: TypeAlias = Callable[[str], list[str]]
"""What a shell offers for a word that is not complete."""


Action: TypeAlias = Callable[..., int]
"""What a command does with an operator, the input words, attributes as words, and the options.

Its `parameters`, where it has some, are options of its own, which it takes by name.
"""

IN_PLACE = ("in_place", "message")
"""Options that only an operator with data to change has use for; others take and refuse them."""

SHORT = {"axis": "-a", "reduction": "-r"}
_METAVARS = {"int": "INT", "ints": "INTS", "float": "NUMBER", "number": "NUMBER"}


class Typed(Record):
    """What was typed: the operator, a word for each input, and attributes as words.

    No input has a word of its own where one stands for all of them, an archive or a folder.
    """

    operator: Operator
    words: Mapping[str, str]
    texts: Mapping[str, str]


class Command(TyperCommand):
    """A command whose help lists options under headings, its own before the shared ones."""

    inputs: tuple[str, ...] = ()
    """Inputs in the usage line, under the framework's own names."""

    def invoke(self, ctx: Any) -> Any:
        """Options that stand before the command count where it was not given its own."""
        before: dict[str, object] = ctx.find_root().obj or {}
        for name, value in before.items():
            source = ctx.get_parameter_source(name)
            if name in ctx.params and source is not None and source.name != "COMMANDLINE":
                ctx.params[name] = value
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        options, *arguments = super().collect_usage_pieces(ctx)
        return [*(self.inputs or (word.strip("{}") for word in arguments)), options]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        headings: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                heading = getattr(parameter, "rich_help_panel", None) or kind
                headings.setdefault(heading, []).append(record)
        next(reversed(headings.values())).append(headings["Options"].pop())  # --help, at the end
        for heading, rows in headings.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def application(**settings: Any) -> typer.Typer:
    """A Typer with the project's settings: plain help, no boxed tracebacks."""
    return typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP_NAMES,
        **{"add_completion": False, **settings},
    )


def command_of(
    name: str, function: Callable[..., int], parameters: Sequence[Parameter], **settings: Any
) -> Any:
    """The command of a function that takes some parameters by name.

    typer makes what is declared as it likes it; parameters that are made already keep their places,
    and where nothing else is declared typer has nothing to read.
    """
    settings = {"cls": Command, "context_settings": HELP_NAMES, **settings}
    declared = [one for one in parameters if isinstance(one, inspect.Parameter)]
    if not declared:
        kind, text = settings.pop("cls"), inspect.cleandoc(settings.pop("help"))
        made = {"callback": function, "params": list(parameters), "help": text}
        return kind(name, **made, **settings, rich_markup_mode=None)
    app = application()
    app.command(name, **settings)(signed(function, declared))
    found: Any = typer.main.get_command(app)
    taken = iter(found.params)
    found.params = [next(taken) if one in declared else one for one in parameters]
    return found


def signed(
    function: Callable[..., int], parameters: Sequence[inspect.Parameter]
) -> Callable[..., int]:
    """A function that does the same, with the signature that typer reads."""

    def command(**arguments: Any) -> int:
        return function(**arguments)

    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    command.__annotations__ = {found.name: found.annotation for found in parameters}
    return command


def option(
    name: str,
    *flags: str,
    kind: Callable[[str], Any] = str,
    complete: Complete | None = None,
    **settings: Any,
) -> TyperOption:
    """An option, made at once: what typer does to a declaration takes four times as long."""
    offered = None if complete is None else lambda _context, _words, word: complete(word)
    return TyperOption(
        param_decls=[name, *flags], is_flag=kind is bool, type=None if kind is bool else kind,
        autocompletion=offered, **settings,
    )  # fmt: skip


def words_argument() -> TyperArgument:
    """Every positional word; which input it is, is decided when all are known."""
    return TyperArgument(
        param_decls=["words"], nargs=-1, hidden=True,
        autocompletion=lambda _context, _words, word: complete_file(word),
    )  # fmt: skip


def complete_file(incomplete: str) -> list[str]:
    """Files that an input may be."""
    from gscli.cli.completion import files_for

    return files_for(incomplete)


def completed(choices: Sequence[str], special: str = "") -> Complete | None:
    """What completes one of some names, or what is `special`; None where no shell asks for it.

    typer looks at the signature of each such function, which takes a tenth of a small run.
    """
    if not os.environ.get(COMPLETION_VARIABLE):
        return None
    from gscli.cli.completion import SPECIAL, one_of

    return SPECIAL.get(special) or (one_of(choices) if choices else None)


def shared_option(shared: Shared, *, hidden: bool = False) -> TyperOption:
    """A shared option; help and completion leave a hidden one out."""
    return option(
        shared.name,
        *shared.flags,
        kind=bool if shared.kind is bool else _parser(shared),
        default=shared.default,
        help=shared_help(shared),
        hidden=hidden,
        metavar=shared.metavar or ("" if shared.name in STANDING_ALONE else None),
        envvar=shared.environment or None,
        show_envvar=bool(shared.environment),
        complete=completed(shared.choices, shared.name),
        rich_help_panel=shared.heading,
    )


STANDING_ALONE = ("json", "in_place")
"""Shared options with choices that need not be given; their help says what they mean."""


def shared_help(shared: Shared) -> str:
    """Help of a shared option, its choices behind it."""
    if not shared.choices or shared.name in STANDING_ALONE:
        return shared.help
    default = f" (default {shared.default})" if shared.default is not None else ""
    return f"{shared.help}: {' '.join(shared.choices)}{default}"


def _parser(shared: Shared) -> Callable[[str], Any]:
    if shared.kind is int:
        return lambda text: _whole_number(shared.name, text)
    if shared.choices:
        return lambda text: chosen(shared.name, text, shared.choices)
    return shared.kind


def _whole_number(name: str, value: str | int) -> int:
    text = str(value)  # the parser converts defaults too
    if not (text.isascii() and text.isdigit() and len(text) <= 9):  # noqa: PLR2004  of digits
        raise UsageError(
            f"{name} takes a whole number", where=f"--{name} {text}"[:100], valid="0, 1, 2, …"
        )
    return int(text)


def chosen(name: str, text: str, choices: Sequence[str]) -> str:
    """`text` where it is one of the choices; UsageError with the nearest one.

    >>> chosen("color", "never", ("auto", "never"))
    'never'
    """
    if text in choices:
        return text
    near = get_close_matches(text.lower(), choices, 1, 0.5)
    raise UsageError(
        f"unknown {name}: {text!r}"[:200],
        valid=" ".join(choices),
        hint=f"did you mean {near[0]}?" if near else "",
    )


def close_names(name: str, known: Sequence[str]) -> Iterator[str]:
    """Known names near a wrong one: those that it begins, then up to three that are spelt like it.

    >>> list(close_names("scatter", ["gather", "scatter-nd", "scatter-update"]))
    ['scatter-nd', 'scatter-update']
    """
    longer = [one for one in known if name and one.startswith(f"{name}-")]
    yield from longer or get_close_matches(name, known, 3, 0.65)


def operator_command(operator: Operator, action: Action, path: str) -> Any:
    """The command; `path` are the words before the operator's in its examples."""
    command = type("OperatorCommand", (Command,), {"inputs": input_words(operator)})
    run, parameters = _function(operator, action), _parameters(operator, action)
    help_text = _help_text(operator, path)
    return command_of(operator.command, run, parameters, cls=command, help=help_text)


def input_words(operator: Operator) -> tuple[str, ...]:
    """The inputs as a usage line shows them.

    >>> from gscli.frameworks import find
    >>> input_words(find("onnx.scatter_nd"))
    ('DATA', 'INDICES', 'UPDATES')
    """
    return tuple(
        f"{item.name.upper()}..." if item.kind == "many"
        else f"[{item.name.upper()}]" if item.optional
        else item.name.upper()
        for item in operator.inputs
    )  # fmt: skip


def _function(operator: Operator, action: Action) -> Callable[..., int]:
    """What the command does with its words and options, each attribute and input a word."""
    own = [parameter.name for parameter in getattr(action, "parameters", ())]

    def run(words: tuple[str, ...] = (), **options: Any) -> int:
        alone = {name: options.pop(name) for name in own}
        texts, named = _taken(options, "attr_"), _taken(options, "input_")
        return action(operator, list(words), texts, Settings(**options, extra=named), **alone)

    return run


def _taken(options: dict[str, Any], prefix: str) -> dict[str, str]:
    """The options whose names begin so, taken out, and the texts of those that were given."""
    taken = {name: options.pop(name) for name in list(options) if name.startswith(prefix)}
    return {
        name.removeprefix(prefix): str(value).lower() if isinstance(value, bool) else value
        for name, value in taken.items()
        if value is not None
    }


def _parameters(operator: Operator, action: Action) -> list[Parameter]:
    """The words, an option for each attribute and input, the action's own, and the shared ones."""
    attributes = {attribute.name for attribute in operator.attributes}
    hidden = () if operator.changes_data else IN_PLACE
    return [
        words_argument(),
        *map(_attribute_option, operator.attributes),
        *(
            _input_option(item.name)
            for item in operator.inputs
            if item.kind != "many" and item.name not in attributes
        ),
        *getattr(action, "parameters", ()),
        *(
            shared_option(shared, hidden=shared.name in hidden)
            for shared in shared_options_of(operator)
        ),
    ]


def shared_options_of(operator: Operator) -> list[Shared]:
    """The shared options, but those whose flag the operator needs for an attribute of its own."""
    own = {attribute.name for attribute in operator.attributes}
    return [shared for name, shared in SHARED.items() if name not in own]


def attribute_flags(attribute: Attribute) -> tuple[str, ...]:
    """The flags of an attribute: `-a`, `--axis`; a switch has both ways in one."""
    flag = attribute.name.replace("_", "-")
    if attribute.kind == "bool":
        return (f"--{flag}/--no-{flag}",)
    return (SHORT[attribute.name], f"--{flag}") if attribute.name in SHORT else (f"--{flag}",)


def attribute_metavar(attribute: Attribute) -> str | None:
    """What stands for the value in help; None for a switch."""
    return None if attribute.kind == "bool" else _METAVARS.get(attribute.kind, "NAME")


def _attribute_option(attribute: Attribute) -> TyperOption:
    return option(
        f"attr_{attribute.name}",
        *attribute_flags(attribute),
        kind=bool if attribute.kind == "bool" else str,
        help=attribute_help(attribute),
        metavar=attribute_metavar(attribute),
        complete=completed(attribute.choices),
    )


def attribute_help(attribute: Attribute) -> str:
    """Help of an attribute: what it means, its choices, what brought it, its default."""
    declared, parts = attribute.option, []
    if declared.help:
        parts.append(declared.help)
    if attribute.choices:
        since = declared.choices_since
        parts.append(
            ": " * bool(parts)
            + " ".join(
                (choice or "''") + (f" (from {since[choice]})" if choice in since else "")
                for choice in attribute.choices
            )
        )
    if declared.since is not None and not declared.choices_since:
        parts.append(f" (from opset {declared.since})")
    if attribute.required:
        parts.append(" (required)")
    default = attribute.default
    if not attribute.required and default not in (None, ""):
        parts.append(f" (default {str(default).lower()})")
    return "".join(parts)


def _input_option(name: str) -> TyperOption:
    """Every input also goes by its name: `--indices FILE`."""
    flag = name.lower().rstrip("_").replace("_", "-")
    return option(f"input_{name}", f"--{flag}", hidden=True)


def _help_text(operator: Operator, path: str) -> str:
    """Help: the docstring, then two runnable examples."""
    paragraphs = [
        part if "\n" not in part else "\b\n" + part for part in operator.doc.split("\n\n")
    ]
    bare = operator.command_line.removeprefix("gscli ")
    verbs = dict.fromkeys((path.removeprefix("gscli").strip(), "explain"))
    lines = [f"  gscli {verb}{' ' * bool(verb)}{bare} {operator.example}" for verb in verbs]
    return "\n\n".join([*paragraphs, "\n".join(["\b\nExamples:", *lines])])
