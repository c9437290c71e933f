"""What commands that ask a runtime share: their options, and starting one that may judge."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from gscli.base import UsageError
from gscli.base.records import Record

if TYPE_CHECKING:
    from gscli.cli.options import Settings
    from gscli.frameworks.operator import Operator
    from gscli.runtimes.process import RuntimeProcess


def _complete(incomplete: str) -> list[str]:
    from gscli.runtimes.catalogue import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]


On: TypeAlias = Annotated[
    str,
    typer.Option(
        "--on",
        help="the runtime: NAME, NAME:VARIANT, MODULE:CLASS or a quoted command",
        metavar="R",
        show_default=False,
        autocompletion=_complete,
    ),
]
"""`--on R`."""

Python: TypeAlias = Annotated[
    str | None,
    typer.Option("--python", help="interpreter that has the runtime", metavar="PATH"),
]
"""`--python PATH`."""


def seconds(least: float) -> Callable[[float], float]:
    """Checks a number of seconds, which neither nan nor inf is: a limit has to come some time."""

    def check(value: float) -> float:
        if least <= value <= LONGEST:
            return value
        raise UsageError(f"{value:g} is no number of seconds", valid=f"{least:g} … {LONGEST:,}")

    return check


LONGEST = 10_000_000

Patience: TypeAlias = Annotated[
    float,
    typer.Option("--patience", help="seconds a call may take (default 20)", metavar="SECONDS",
                 show_default=False, callback=seconds(0.05)),
]  # fmt: skip
"""`--patience SECONDS`."""

PATIENCE = 20.0


class Asked(Record):
    """The runtime that a command is to ask: what `--on`, `--python` and `--patience` say."""

    on: str = ""
    python: str | None = None
    patience: float = PATIENCE


def runtime_parameters() -> list[inspect.Parameter]:
    """The three options, for a command whose signature is put together."""
    kinds = {"on": On, "python": Python, "patience": Patience}
    defaults = Asked()
    return [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=getattr(defaults, name), annotation=kind
        )
        for name, kind in kinds.items()
    ]


def are_lines(output: str) -> bool:
    """Whether cases are written as lines of JSON, not as a folder of node tests."""
    return output.endswith(".jsonl") or output == "-"


def one_document(output: str | None, settings: Settings) -> None:
    """UsageError where cases and the document of --json would both go to standard output."""
    if output == "-" and settings.json is not None:
        raise UsageError("-o - and --json both take standard output", hint="-o FILE.jsonl")


@contextmanager
def judging(
    wish: str, python: str | None, patience: float, names: Sequence[str] = ()
) -> Iterator[tuple[RuntimeProcess, list[Operator]]]:
    """A started runtime that passed its self-test, and those of the operators that it answers."""
    from gscli.runtimes.catalogue import command_for
    from gscli.runtimes.operator_names import answered, operators_named
    from gscli.runtimes.process import RuntimeProcess
    from gscli.runtimes.selftest import self_test

    for name in names:
        operators_named(name)  # a wrong name is told before anything is started
    with RuntimeProcess(command_for(wish, python), patience=patience) as runtime:
        operators = answered(runtime.start(), names)
        self_test(runtime, operators)
        yield runtime, operators
