"""The command of a function, its options from the signature and its help from its module.

Every command besides the operators is such a function, in `gscli.cli.commands`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import typer

from gscli.cli.building import command_of, complete_file, shared_option
from gscli.cli.options import SHARED, Settings, Shared


def tool(name: str, *shared: Shared | str) -> Callable[[Callable[..., int]], Any]:
    """Makes a function the command `name`; its module's docstring is the help, but the first line.

    The options in `shared` come as the function's keyword `settings`.
    """
    declared = [SHARED[one] if isinstance(one, str) else one for one in shared]
    headed = [
        one._replace(heading="Options") if one.heading == "Result" else one for one in declared
    ]

    def build(function: Callable[..., int]) -> Any:
        def run(**arguments: Any) -> int:
            given = {one.name: arguments.pop(one.name) for one in declared}
            if shared:
                arguments["settings"] = Settings(**given)
            return function(**arguments)

        text = (sys.modules[function.__module__].__doc__ or "").partition("\n\n")[2].rstrip()
        own = inspect.signature(function, eval_str=True).parameters.values()
        kept = [parameter for parameter in own if parameter.name != "settings"]
        return command_of(name, run, [*kept, *map(shared_option, headed)], help=text)

    return build


def files_argument(metavar: str, help_text: str) -> Any:
    """A word, or words, that name files."""
    return typer.Argument(metavar=metavar, help=help_text, autocompletion=complete_file)
