"""`gscli rules [FRAMEWORK [OP]]`."""

from __future__ import annotations

import json as json_text
import sys
from typing import Annotated, Any

import typer

from gscli.cli.building import tool
from gscli.declare import Operator
from gscli.errors import UsageError
from gscli.frameworks import framework, operators
from gscli.terminal import ColorChoice


def build() -> Any:  # noqa: ANN401  typer's command classes are private
    """The command."""
    return tool(rules, "rules")


def rules(
    name: Annotated[str | None, typer.Argument(metavar="[FRAMEWORK", help="its operators")] = None,
    operator: Annotated[str | None, typer.Argument(metavar="[OPERATOR]]", help="only it")] = None,
    json: Annotated[str | None, typer.Option(help="print JSON", metavar="")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="print a Markdown table")] = False,
    table: Annotated[
        int | None, typer.Option(help="a table of the comparison article: 1 or 2", metavar="N")
    ] = None,
    width: Annotated[int | None, typer.Option(help="columns to draw in", metavar="N")] = None,
    color: Annotated[str, typer.Option(help="auto, always or never", metavar="WHEN")] = "auto",
) -> int:
    """What operators do with negative, bad and duplicate indices.

    Every answer is computed by running the operator's own example with one index changed.
    """
    from gscli import rules as computing  # noqa: PLC0415

    if table is not None:
        from gscli.article_tables import table as article_table  # noqa: PLC0415

        if table not in (1, 2):
            raise UsageError("there is no such table", where=f"--table {table}", valid="1 2")
        sys.stdout.write(article_table(table))
        return 0
    found = computing.rules(_chosen(name, operator))
    if json is not None:
        sys.stdout.write(json_text.dumps(computing.document(found)) + "\n")
    elif markdown:
        sys.stdout.write(computing.markdown(found))
    else:
        _draw(found, width, color)
    return 0


def _draw(found: Any, width: int | None, color: str) -> None:  # noqa: ANN401  rules are heavy
    from gscli.app.drawing import view_options  # noqa: PLC0415
    from gscli.options import Settings  # noqa: PLC0415
    from gscli.views.lines import render  # noqa: PLC0415
    from gscli.views.rules import RulesView  # noqa: PLC0415

    chosen: ColorChoice = "always" if color == "always" else "never" if color == "never" else "auto"
    options = view_options(Settings(width=width, color=chosen))
    sys.stdout.write(render(RulesView(found, options), options))


def _chosen(name: str | None, operator: str | None) -> list[Operator]:
    if name is None:
        return operators()
    table = framework(name).operators
    if operator is None:
        return list(table.values())
    for known in table.values():
        if operator in (known.name, known.command):
            return [known]
    raise UsageError(
        f"{name} has no operator {operator!r}"[:200],
        valid=" ".join(known.command for known in table.values()),
    )
