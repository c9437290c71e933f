"""The command line, built lazily from the declarations. Light: neither numpy nor rich nor pydantic.

`gscli OPERATOR …` and `gscli FRAMEWORK OPERATOR …` run; `gscli explain …` and `gscli check …` take
the same words. Only the command that is named is built; help lists come from the declarations.

    building.py   typer with the project's settings; parameters and options from declarations
    operators.py  the command of one operator
    groups.py     groups of commands that are built when they are named
    root.py       gscli itself
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from gscli.base.errors import ExitCode


def command_line(arguments: Sequence[str]) -> int:
    """Parse and run; the exit code of the command. Errors propagate."""
    import typer

    from gscli.cli.building import COMPLETION_VARIABLE
    from gscli.cli.root import root_command
    from gscli.cli.words import with_values

    command = root_command()
    if os.environ.get(COMPLETION_VARIABLE):
        with suppress(KeyError):  # no shell set it: there are no words to complete
            command.main(args=[], prog_name="gscli", standalone_mode=False)
    try:
        with command.make_context("gscli", with_values(arguments)) as context:
            result = command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    return result if isinstance(result, int) else ExitCode.DONE
