"""`gscli rules [FRAMEWORK [OP]]`.

What operators do with negative, bad and duplicate indices.

Every answer is read from the plan by which the operator's own example runs. Behind
"itself" stands what the framework itself does in place of that. gscli rules gather has the
operators that are called so; gscli compare has one operation under all its names, for your indices.

The columns of --grad: who is given the gradient among values that equal a maximum (ties), and of
those that set one cell (several writers). Where a maximum is NaN, the NaN among the values are
given it as in a tie (holds), or all are given NaN (spreads) or 0; segments are operators without
data to begin with. Data that takes no part in a maximum and equals it counts among those that
share, or not. – is of frameworks without maxima. Last stand reductions and operators of which some
calls, or all, have no gradient there, or none of updates.

\b
Examples:
  gscli rules torch
  gscli rules onnx scatter-nd --json
  gscli rules --grad
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gscli.cli.building import tool
from gscli.cli.completion import complete_operator, complete_operator_name
from gscli.cli.options import (
    JSON_OPTION,
    Settings,
    argument,
    make_view_options,
    option,
    print_report,
)
from gscli.frameworks import find_operators, iter_called, join_operator_names, operators
from gscli.frameworks.operator import Operator


@tool("rules", JSON_OPTION, "color", "palette", "width", "debug")
def rules(
    name: str | None = argument("[FRAMEWORK", "its operators", complete_operator_name, None),
    operator: str | None = argument(
        "[OPERATOR]]", "only it", complete_operator, None, follows="name"
    ),
    markdown: bool = option(
        "print a Markdown table", excludes=("json",), why="--markdown is a format of its own"
    ),
    gradients: bool = option(
        "what frameworks choose where a gradient is open", flag="--grad",
        excludes=("table",), why="--grad is a whole table, of gradients",
    ),
    table: int | None = option(
        "a table of the comparison article", "N", minimum=1, maximum=2,
        excludes=("json", "name", "operator"), why="--table is a whole one, as Markdown",
    ),
    *,
    settings: Settings,
) -> int:  # fmt: skip
    from gscli.lab import rules as computing

    if table is not None:
        from gscli.lab.article_tables import format_article_table

        sys.stdout.write(format_article_table(table))
        return 0
    words = [*filter(None, (name, operator))]
    if not gradients:
        rows = computing.compute_rules(_select_operators(words))
        heads, cells = computing.HEADS, [[rule.label, *rule.behaviours] for rule in rows]
        document: object = computing.rules_to_dicts(rows)
    else:
        from gscli.gradients.conventions import OWN_CONVENTIONS
        from gscli.views.words.gradient_words import CONVENTION_HEADS, describe_convention

        names = {"loop", *(each.framework.name for each in _select_operators(words))}
        conventions = {name: each for name, each in OWN_CONVENTIONS.items() if name in names}
        heads, cells = CONVENTION_HEADS, [*map(describe_convention, conventions.values())]
        document = {name: convention._asdict() for name, convention in conventions.items()}

    def make_text() -> str:
        if markdown:
            marked = [[f"`{label}`", *answers] for label, *answers in cells]
            return computing.format_markdown_table(heads, marked)
        from gscli.views.lines import render_text
        from gscli.views.terminal.tables import make_rules_drawing

        options = make_view_options(settings)
        return render_text(make_rules_drawing(heads, cells, options), options)

    print_report(settings, lambda: document, make_text)
    return 0


def _select_operators(words: Sequence[str]) -> list[Operator]:
    """All operators, a framework's, those of one name in every framework, or single ones."""
    called = iter_called(words[0], operators()) if len(words) == 1 else ()
    names = join_operator_names(words)
    return [*called] or [each for name in names for each in find_operators(name)] or operators()
