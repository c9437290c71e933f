"""Operators as a user names them for a runtime: `onnx.scatter-nd`, `scatter-nd`, or all of `tf`."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base import UsageError
from gscli.base.words import sanitize, suggest_names
from gscli.frameworks import ALIASES, NAMES, load_framework, operators
from gscli.frameworks.operator import Operator
from gscli.runtimes.protocol import Hello


def find_operators(name: str) -> list[Operator]:
    """The operators that a word stands for.

    >>> [one.full_name for one in find_operators("numpy.add-at")]
    ['numpy.add.at']
    >>> [one.full_name for one in find_operators("scatter_nd")], len(find_operators("onnx"))
    (['onnx.scatter_nd'], 7)
    """
    framework = ALIASES.get(name, name)
    if framework in NAMES:
        return list(load_framework(framework).operators.values())
    first, _, rest = name.partition(".")
    owner = ALIASES.get(first, first)
    for operator in load_framework(owner).operators.values() if owner in NAMES else operators():
        own = rest if owner in NAMES else name
        if own in (operator.name, operator.command) or own.replace("_", "-") == (operator.command):
            return [operator]
    known = [f"{operator.framework.name}.{operator.command}" for operator in operators()]
    raise UsageError(
        f"no operator called {sanitize(name, 60)!r}",
        valid="FRAMEWORK.OPERATOR, a bare operator, or a framework for all of its operators",
        hint=suggest_names(name, [*known, *NAMES], "gscli rules lists them all"),
    )


def select_supported(hello: Hello, names: Sequence[str]) -> list[Operator]:
    """The operators that are asked for and that a runtime answers; without names all it has."""
    chosen = list(dict.fromkeys(op for name in names for op in find_operators(name)))
    if not names:
        chosen = [operator for operator in operators() if operator.full_name in hello.ops]
    answerable = [operator for operator in chosen if operator.full_name in hello.ops]
    if not answerable:
        listed = ", ".join(operator.full_name for operator in chosen) or "any operator of gscli"
        raise UsageError(
            f"{hello.title} does not answer {listed}"[:200], valid=" ".join(sorted(hello.ops))[:600]
        )
    return answerable
