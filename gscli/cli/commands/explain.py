"""`gscli explain OPERATOR …`."""

from __future__ import annotations

from typing import Any

from gscli.cli.groups import tree
from gscli.cli.options import Settings
from gscli.frameworks.operator import Operator


def build() -> Any:
    """Every operator under explain."""
    return tree(_explain, "explain", "The operator's formula with real numbers, then its entries.")


def _explain(
    operator: Operator, words: list[str], attrs: dict[str, str], settings: Settings
) -> int:
    from gscli.cli.work.operators import explain_operator

    return explain_operator(operator, words, attrs, settings)
