"""The command of one operator, from its declaration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from typer.core import TyperOption

from gscli.cli.building import (
    Command,
    Parameter,
    command_of,
    completed,
    option,
    shared_option,
    words_argument,
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
