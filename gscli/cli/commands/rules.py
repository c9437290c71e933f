"""`gscli rules [FRAMEWORK [OP]]`.

What operators do with negative, bad and duplicate indices.

Every answer is computed by running the operator's own example with one index changed.

\b
Examples:
  gscli rules torch
  gscli rules onnx scatter-nd --json
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

from gscli.base import UsageError
from gscli.cli.building import close_names, tool
from gscli.cli.completion import one_of, operators_for
from gscli.cli.options import DOCUMENT, Argument, Settings, SharedOption, print_document
from gscli.cli.tree import dashed
from gscli.frameworks import ALIASES, NAMES, framework, operators
from gscli.frameworks.operator import Operator


@tool("rules", DOCUMENT, "color", "palette", "width", "debug")
def rules(
    name: Annotated[
        str | None,
        Argument("[FRAMEWORK", "its operators", one_of((*NAMES, *ALIASES))),
    ] = None,
    operator: Annotated[
        str | None,
        Argument("[OPERATOR]]", "only it", operators_for, follows="name"),
    ] = None,
    markdown: Annotated[bool, SharedOption("print a Markdown table")] = False,
    table: Annotated[
        int | None, SharedOption("a table of the comparison article: 1 or 2", "N")
    ] = None,
    *,
    settings: Settings,
) -> int:
    from gscli.lab import rules as computing

    if table is not None:
        from gscli.lab.article_tables import table as article_table

        if table not in (1, 2):
            raise UsageError("there is no such table", where=f"--table {table}", valid="1 2")
        sys.stdout.write(article_table(table))
        return 0
    found = computing.rules(_chosen(name, operator))
    if settings.json is not None:
        print_document(computing.document(found))
    elif markdown:
        sys.stdout.write(computing.markdown(found))
    else:
        _draw(found, settings)
    return 0


def _draw(found: Any, settings: Settings) -> None:
    from gscli.cli.options import view_options
    from gscli.views.lines import render
    from gscli.views.terminal.rules import RulesView

    options = view_options(settings)
    sys.stdout.write(render(RulesView(found, options), options))


def _chosen(name: str | None, operator: str | None) -> list[Operator]:
    if name is None:
        return operators()
    everywhere = [known for known in operators() if known.command == dashed(name)]
    if operator is None and everywhere:
        return everywhere
    table = framework(name).operators
    if operator is None:
        return list(table.values())
    commands = {known.command: known for known in table.values()}
    if dashed(operator) in commands:
        return [commands[dashed(operator)]]
    near = " or ".join(close_names(dashed(operator), list(commands)))
    raise UsageError(
        f"{name} has no operator {operator!r}"[:200],
        valid=" ".join(commands),
        hint=f"did you mean {near}?" if near else f"gscli rules {name}",
    )
