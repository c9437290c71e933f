"""The gathers and scatters of a model, a line each, as `run` and `show` list them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gscli import files
from gscli.base.words import counted, safe
from gscli.lab.model_nodes import ModelNode
from gscli.lab.models import Model


def node_rows(model: Model) -> list[dict[str, Any]]:
    """The gathers and scatters of a model as data."""
    return [_row(model, node) for node in model.family]


def model_nodes(path: str, limit: int | None) -> tuple[str, list[dict[str, Any]]]:
    """What `show` says of a model's nodes: the table, and the same as data."""
    model = Model.read(path, limit or files.MAX_BYTES)
    rows = node_rows(model)
    return node_table(model, rows), rows


def node_table(model: Model, rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows of a listing, one node each: address, operator, attributes, inputs, outputs."""
    count = len(model.nodes)
    verb = "is" if len(rows) == 1 else "are"
    of = f"{len(rows)} of {counted(count, 'node')} {verb} gather or scatter"
    lines = [f"{model.where}: opset {model.opset}, {of}"]
    widths = [max((len(safe(row[key], 60)) for row in rows), default=0) for key in ("node", "op")]
    for row in rows:
        attributes = " ".join(f"{name}={value}" for name, value in row["attrs"].items())
        taken, made = (", ".join(_shown(one) for one in row[key]) for key in ("inputs", "outputs"))
        head = f"{safe(row['node'], 60):<{widths[0]}}  {row['op']:<{widths[1]}}"
        lines.append(f"{head}  {taken} -> {made}" + f"  {safe(attributes, 80)}" * bool(attributes))
    return "".join(f"{line}\n" for line in lines)


def _shown(tensor: Mapping[str, str]) -> str:
    constant = " (constant)" if tensor.get("constant") else ""
    return f"{safe(tensor['name'], 60)} {tensor['type']}{constant}"


def _row(model: Model, node: ModelNode) -> dict[str, Any]:
    """A node as data."""
    return {
        "node": node.address,
        "op": node.op_type,
        "attrs": {name: _plain(value) for name, value in node.attributes.items()},
        "inputs": [
            {
                "name": name,
                "type": model.described(node.graph, name),
                "constant": model.holds(node.graph, name),
            }
            for name in node.inputs
        ],
        "outputs": [
            {"name": name, "type": model.described(node.graph, name)} for name in node.outputs
        ],
    }


def _plain(value: object) -> object:
    known = isinstance(value, (str, int, float)) or (
        isinstance(value, (list, tuple))
        and all(isinstance(one, (str, int, float)) for one in value)
    )
    return value if known else "?"
