"""`gscli check OPERATOR …`."""

from __future__ import annotations

from typing import Any

from gscli.cli.options import Settings
from gscli.cli.tree import tree
from gscli.frameworks.operator import Operator


def check() -> Any:
    """Every operator under check."""
    return tree(
        _check,
        "check",
        "Every finding about some inputs: bad indices, duplicates, shapes, types. "
        "Exit status 1 when there is any.",
    )


def _check(operator: Operator, words: list[str], attrs: dict[str, str], settings: Settings) -> int:
    from gscli.cli.work.check import check_operator

    return check_operator(operator, words, attrs, settings)
