"""`gscli help [TOPIC | COMMAND…]`.

Help on a topic, or on a command as its --help prints it.

Without words: the list of topics. `gscli help man` prints the manual page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from gscli.base import UsageError
from gscli.cli.building import find_close_names, tool
from gscli.cli.completion import complete_names
from gscli.cli.manual import format_manual_page
from gscli.cli.options import Settings, argument, detect_screen
from gscli.cli.prose import rewrap
from gscli.cli.topics import TOPICS, read_topic


@tool("help", "width")
def help(  # noqa: A001  the name of the command
    words: Sequence[str] = argument(
        "[TOPIC | COMMAND...]", "what to tell about", complete_names(TOPICS), ()
    ),
    *,
    settings: Settings,
) -> int:
    width = detect_screen(sys.stdout, width=settings.width).width
    if not words:
        names = max(map(len, TOPICS)) + 2
        sys.stdout.writelines(f"{name:<{names}}{text}\n" for name, text in TOPICS.items())
    elif len(words) == 1 and words[0] in TOPICS:
        sys.stdout.write(
            format_manual_page() if words[0] == "man" else rewrap(read_topic(words[0]), width)
        )
    else:
        sys.stdout.write(_command_help(words) + "\n")
    return 0


def _command_help(words: Sequence[str]) -> str:
    """What `gscli WORDS --help` prints."""
    from gscli.cli.tree import make_root_group

    command: Any = make_root_group()
    context = command.make_context("gscli", [], resilient_parsing=True)
    for number, word in enumerate(words):
        names = command.list_commands(context) if hasattr(command, "list_commands") else []
        below = command.get_command(context, word) if names else None
        if below is None:
            known = names if number else [*TOPICS, *names]
            near = " or ".join(find_close_names(word, known))
            raise UsageError(
                f"no help on {' '.join(words)!r}"[:200],
                hint=f"did you mean {near}?" if near else "gscli help",
            )
        command = below
        context = command.make_context(word, [], parent=context, resilient_parsing=True)
    return str(command.get_help(context))
