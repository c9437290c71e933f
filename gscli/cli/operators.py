"""The command of one operator, from its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import typer

from gscli.cli.building import (
    HELP_NAMES,
    Command,
    application,
    completed,
    option,
    shared_parameter,
    signed,
    words_parameter,
)
from gscli.cli.options import SHARED, Settings, Shared
from gscli.frameworks.operator import Attribute, Operator

Action: TypeAlias = Callable[..., int]
"""What a command does with an operator, the input words, attributes as words, and the options.

Its `parameters`, where it has some, are options of its own, which it takes by name.
"""

IN_PLACE = ("in_place", "message")
"""Options that only an operator with data to change has use for; others take and refuse them."""

SHORT = {"axis": "-a", "reduction": "-r"}
_METAVARS = {"int": "INT", "ints": "INTS", "float": "NUMBER", "number": "NUMBER"}


def operator_command(operator: Operator, action: Action, path: str) -> Any:
    """The command; `path` are the words before the operator's in its examples."""
    command = type("OperatorCommand", (Command,), {"inputs": input_words(operator)})
    app = application()
    app.command(operator.command, cls=command, context_settings=HELP_NAMES,
                help=_help_text(operator, path))(_function(operator, action))  # fmt: skip
    return typer.main.get_command(app)


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
    """The function that typer sees: every input a word, an option per attribute."""
    attributes = {attribute.name: attribute for attribute in operator.attributes}
    inputs = [
        item.name for item in operator.inputs if item.kind != "many" and item.name not in attributes
    ]

    own: tuple[inspect.Parameter, ...] = getattr(action, "parameters", ())

    def run(words: list[str] | None = None, **options: Any) -> int:
        alone = {parameter.name: options.pop(parameter.name) for parameter in own}
        given = {name: _text(options.pop(f"attr_{name}")) for name in attributes}
        named = {name: options.pop(f"input_{name}") for name in inputs}
        settings = Settings(
            **options, extra={name: text for name, text in named.items() if text is not None}
        )
        texts = {name: text for name, text in given.items() if text is not None}
        return action(operator, words or [], texts, settings, **alone)

    hidden = () if operator.changes_data else IN_PLACE
    parameters = [
        words_parameter(),
        *(_attribute_parameter(attribute) for attribute in attributes.values()),
        *(_input_parameter(name) for name in inputs),
        *own,
        *(
            shared_parameter(shared, hidden=shared.name in hidden)
            for shared in shared_options_of(operator)
        ),
    ]
    return signed(run, parameters)


def shared_options_of(operator: Operator) -> list[Shared]:
    """The shared options, but those whose flag the operator needs for an attribute of its own."""
    own = {attribute.name for attribute in operator.attributes}
    return [shared for name, shared in SHARED.items() if name not in own]


def _text(value: bool | str | None) -> str | None:
    return str(value).lower() if isinstance(value, bool) else value


def attribute_flags(attribute: Attribute) -> tuple[str, ...]:
    """The flags of an attribute: `-a`, `--axis`; a switch has both ways in one."""
    flag = attribute.name.replace("_", "-")
    if attribute.kind == "bool":
        return (f"--{flag}/--no-{flag}",)
    return (SHORT[attribute.name], f"--{flag}") if attribute.name in SHORT else (f"--{flag}",)


def attribute_metavar(attribute: Attribute) -> str | None:
    """What stands for the value in help; None for a switch."""
    return None if attribute.kind == "bool" else _METAVARS.get(attribute.kind, "NAME")


def _attribute_parameter(attribute: Attribute) -> Any:
    declared = typer.Option(
        *attribute_flags(attribute),
        help=attribute_help(attribute),
        show_default=False,
        metavar=attribute_metavar(attribute),
        autocompletion=completed(attribute.choices),
    )
    kind: Any = bool | None if attribute.kind == "bool" else str | None
    return option(f"attr_{attribute.name}", kind, declared)


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


def _input_parameter(name: str) -> Any:
    """Every input also goes by its name: `--indices FILE`."""
    flag = name.lower().rstrip("_").replace("_", "-")
    return option(f"input_{name}", str | None, typer.Option(f"--{flag}", hidden=True))


def _help_text(operator: Operator, path: str) -> str:
    """Help: the docstring, then two runnable examples."""
    paragraphs = [
        part if "\n" not in part else "\b\n" + part for part in operator.doc.split("\n\n")
    ]
    bare = operator.command_line.removeprefix("gscli ")
    verbs = dict.fromkeys((path.removeprefix("gscli").strip(), "explain"))
    lines = [f"  gscli {verb}{' ' * bool(verb)}{bare} {operator.example}" for verb in verbs]
    return "\n\n".join([*paragraphs, "\n".join(["\b\nExamples:", *lines])])
