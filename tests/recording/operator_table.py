"""The README's table of operators, made from the declarations."""

from __future__ import annotations

from gscli.frameworks import NAMES, load_framework
from gscli.frameworks.operator import Operator
from gscli.lab.examples import build_probe


def operator_table() -> str:
    """A Markdown table: a row per framework, its gathers, its scatters, their versions.

    >>> operator_table().splitlines()[2]
    '| ONNX `onnx` | gather 1 11 13, gather-elements 11 13, gather-nd 11 12 13 | scatter 9, scatter-elements 11 13 16 18, scatter-nd 11 13 16 18, tensor-scatter 24 |'
    """  # noqa: E501  a row is one line
    rows = ["| Framework | Gathers | Scatters |", "| --- | --- | --- |"]
    for name in NAMES:
        found = list(load_framework(name).operators.values())
        gathers = [operator for operator in found if kind(operator) == "gather"]
        scatters = [operator for operator in found if operator not in gathers]
        title = load_framework(name).title
        rows.append(f"| {title} `{name}` | {_listed(gathers)} | {_listed(scatters)} |")
    return "\n".join(rows) + "\n"


def kind(operator: Operator) -> str:
    """`gather` or `scatter`, as the layout of its own example says."""
    probe = build_probe(operator, {})
    assert probe is not None, f"the example of {operator.full_name} is refused"
    return probe.layout.kind


def _listed(operators: list[Operator]) -> str:
    return ", ".join(
        " ".join([operator.command, *map(str, operator.versions)]) for operator in operators
    )
