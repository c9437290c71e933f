"""A call of each operator that is refused, as tests/golden/refusals.md holds it with its answer."""

from __future__ import annotations

import shlex
from pathlib import Path

import gscli
from gscli.frameworks.operator import Operator

FILE = Path(__file__).parent / "golden/refusals.md"

# How the refusal of an index begins; others are of shapes and types.
BAD_INDEX = ("error: index out of range", "error: negative index")


def refused_command(operator: Operator) -> str:
    """The recorded command that calls this operator; AssertionError where there is none."""
    assert operator.full_name in COMMANDS, (
        f"write a call that {operator.full_name} refuses because of an index, a shape or a type "
        f"into {FILE.name}, as a line '$ {operator.command_line} …'"
    )
    return COMMANDS[operator.full_name]


def _read_commands() -> dict[str, str]:
    """The commands by the operator that they call."""
    lines = FILE.read_text("utf-8").splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ gscli ")]
    words = [(command, shlex.split(command)) for command in commands]
    names = {operator.full_name: operator.command_line.split() for operator in gscli.operators()}
    return {
        name: command
        for name, own in names.items()
        for command, parts in words
        if parts[: len(own)] == own
    }


COMMANDS = _read_commands()
