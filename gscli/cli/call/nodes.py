"""`gscli run MODEL.onnx …`: the nodes of a model, and one of them with given inputs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gscli import files
from gscli.base import ContentRefused, UsageError
from gscli.base.records import Record
from gscli.base.words import counted, safe
from gscli.cli.call import is_container, run_operator
from gscli.cli.options import Settings, print_document, tell
from gscli.lab.model_nodes import ModelNode
from gscli.lab.models import Model, data_set_of, lacking, recorded
from gscli.lab.node_tests import DATA_SET, MODEL

_TOGETHER = (".npz", ".safetensors", ".h5")
_NAMED = re.compile(r"([^=/\\]+)=(.+)", re.DOTALL)
"""`indices=idx.npy`: which input a word is for."""


class NodePlace(Record):
    """A model's file, the node that `::` names behind it, and the data set that was named."""

    path: str
    node: str | None = None
    data_set: Path | None = None


def place_of(word: str) -> NodePlace | None:
    """The model that a word names: a file, a folder that holds one, or a data set beside one."""
    path, mark, node = word.partition("::")
    if path.lower().endswith(".onnx"):
        return NodePlace(path, node if mark else None)
    folder = Path(word)
    if _is_file(folder / MODEL):
        return NodePlace(str(folder / MODEL))
    if folder.name.startswith(DATA_SET) and _is_file(folder.parent / MODEL):
        return NodePlace(str(folder.parent / MODEL), None, folder)
    return None


def list_nodes(place: NodePlace, settings: Settings) -> int:
    """A line for each gather and scatter of a model, with the shapes that it tells."""
    model = _model(place, settings)
    if not model.family:
        raise model.nothing_here()
    rows = node_rows(model)
    if settings.json is not None:
        document = {"model": place.path, "opset": model.opset, "nodes": rows}
        print_document(document)
    elif not settings.quiet:
        sys.stdout.write(node_table(model, rows))
        first = safe(model.family[0].address, 60)
        tell(f"run one of them: gscli run {model.where} --node {first}\n")
    return 0


def run_node(place: NodePlace, node: str | None, words: Sequence[str], settings: Settings) -> int:
    """Run one node with given inputs, those of a data set, and what the model itself holds."""
    model = _model(place, settings)
    if node is not None and place.node is not None:
        raise UsageError("the node is named twice", where=f"::{place.node} and --node {node}"[:200])
    wanted = place.node if node is None else node
    chosen = model.only() if wanted is None else model.family_node(wanted)
    operator = chosen.operator
    names = [item.name for item in operator.inputs]
    if len(chosen.inputs) > len(names):
        raise ContentRefused(
            f"{safe(chosen.address, 60)} has {len(chosen.inputs)} inputs, {chosen.op_type} takes "
            f"{len(names)}", where=model.where,
        )  # fmt: skip
    tensors = {name: one for name, one in zip(names, chosen.inputs, strict=False) if one}
    data_sets = [word for word in words if Path(word).name.startswith(DATA_SET)]
    data_set = Path(data_sets[-1]) if data_sets else place.data_set
    data_set = data_set or data_set_of(Path(place.path).parent)
    others = [word for word in words if word not in data_sets]
    found = _inputs(place, model, chosen, tensors, others, data_set, settings)
    missing = {name: tensor for name, tensor in tensors.items() if name not in found}
    if missing:
        raise lacking(model, chosen, missing)
    if settings.expect is None and not others:
        known = () if chosen.graph.outer else model.outputs
        expected = recorded(data_set, "output", chosen.outputs[0], known)
        settings = settings._replace(expect=expected)
    texts = _texts(chosen, model.opset)
    settings = settings._replace(extra=found)
    return run_operator(operator, [], texts, settings)


def _model(place: NodePlace, settings: Settings) -> Model:
    return Model.read(place.path, settings.max_bytes or files.MAX_BYTES)


def _texts(node: ModelNode, opset: int) -> dict[str, str]:
    """The node's attributes as words of a command line, the model's opset among them."""
    known = {attribute.name for attribute in node.operator.attributes}
    texts: dict[str, str] = {}
    for name, value in node.attributes.items():
        if name not in known or not isinstance(value, (str, int)):
            raise ContentRefused(
                f"{node.op_type} has no attribute {safe(name, 60)} of this kind",
                where=safe(node.address, 60),
                valid=" ".join(sorted(known - {"opset"})),
            )
        texts[name] = str(value)
    return texts | {"opset": str(opset)}


def _inputs(
    place: NodePlace,
    model: Model,
    node: ModelNode,
    tensors: Mapping[str, str],
    words: Sequence[str],
    data_set: Path | None,
    settings: Settings,
) -> dict[str, str]:
    """A word for each input of the operator that is given or known.

    `tensors`: names in the model by the operator's own. Words count in this order: NAME=FILE, a
    file that holds tensors by name, and files in order for what the model does not hold.
    """
    found: dict[str, str] = {}
    unnamed = list[str]()
    for word in words:
        named = _NAMED.fullmatch(word)
        argument = _argument(named[1], tensors) if named else None
        if named and argument:
            found[argument] = named[2]
        else:
            unnamed.append(word)
    if len(unnamed) == 1 and is_container(unnamed[0], _TOGETHER):
        found = _by_name(unnamed.pop(), tensors, settings) | found
    open_ones = [name for name in tensors if name not in found]
    fed = [name for name in open_ones if not model.holds(node.graph, tensors[name])]
    takers = open_ones if len(unnamed) == len(open_ones) else fed
    if len(unnamed) > len(takers):
        raise UsageError(
            f"{len(unnamed)} inputs for {len(takers)} that the model does not hold",
            valid=" ".join(f"{name}=FILE" for name in tensors),
        )
    found |= dict(zip(takers, unnamed, strict=False))
    for name in (one for one in tensors if one not in found):
        source = _known(place, model, node, tensors[name], data_set)
        if source is not None:
            found[name] = source
    return found


def _known(
    place: NodePlace, model: Model, node: ModelNode, tensor: str, data_set: Path | None
) -> str | None:
    """The word for a tensor whose values the model's file or a data set holds."""
    owner, held = model.find(node.graph, tensor)
    if held is not None:
        return f"{place.path}::{owner.prefix}{tensor}"
    return recorded(data_set, "input", tensor, () if owner.outer else model.inputs)


def _argument(word: str, tensors: Mapping[str, str]) -> str | None:
    """The input that is called so, by the operator or in the model."""
    by_tensor = {tensor: name for name, tensor in tensors.items()}
    return word if word in tensors else by_tensor.get(word)


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)


def _by_name(word: str, tensors: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Members of a container, or files of a folder, that are called as a tensor or an input."""
    if Path(word).is_dir():
        stems = {path.stem: str(path) for path in sorted(Path(word).iterdir()) if path.is_file()}
    else:
        limit = settings.max_bytes
        stems = {one.name: f"{word}::{one.name}" for one in files.members(word, max_bytes=limit)}
    found = {
        name: stems[key]
        for name, tensor in tensors.items()
        for key in (name, tensor)  # the model's own name counts where both are there
        if key in stems
    }
    if not found:
        raise UsageError(
            f"{word} holds none of the node's inputs",
            where=", ".join(safe(name, 60) for name in list(stems)[:12]),
            valid=" ".join(f"{name} or {safe(tensor, 60)}" for name, tensor in tensors.items()),
        )
    return found


# --- a line for each gather and scatter of a model ---------------------------------------------


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
