"""`gscli run MODEL.onnx …`: the nodes of a model, and one of them with given inputs."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from gscli import files
from gscli.base import ContentRefused, UsageError, check_name, check_rule
from gscli.base.records import Record
from gscli.base.words import format_columns, format_count, join_lines, quote_word, sanitize
from gscli.cli.call import CONTAINER_SUFFIXES, Call, find_container, run_operator
from gscli.cli.options import Settings, print_report, print_stderr, refuse_flags
from gscli.files.request import list_keys
from gscli.lab.model_nodes import ModelNode
from gscli.lab.models import (
    DATA_SET,
    OnnxModel,
    find_recorded_file,
    list_data_sets,
    missing_inputs_error,
)
from gscli.lab.node_tests import MODEL


class ModelReference(Record):
    """A model's file, the node that `::` names behind it, and the data set that was named."""

    path: str
    node: str | None = None
    data_set: Path | None = None


def parse_model_reference(word: str) -> ModelReference | None:
    """The model that a word names: a file, a folder that holds one, or a data set beside one."""
    path, mark, node = word.partition("::")
    if path.lower().endswith(".onnx"):
        return ModelReference(path, node if mark else None)
    folder = Path(word)
    if os.path.isfile(folder / MODEL):
        return ModelReference(str(folder / MODEL))
    if folder.name.startswith(DATA_SET) and os.path.isfile(folder.parent / MODEL):
        return ModelReference(str(folder.parent / MODEL), None, folder)
    return None


def list_nodes(place: ModelReference, settings: Settings) -> int:
    """A line for each gather and scatter of a model, with the shapes that it tells."""
    model = OnnxModel.read(place.path, settings.max_bytes)
    if not model.supported_nodes:
        raise model.no_supported_node_error()
    table, rows = describe_nodes(model)
    document = {"model": place.path, "opset": model.opset, "nodes": rows}
    print_report(settings, lambda: document, lambda: table)
    if settings.json is None and not settings.quiet:
        first = quote_word(sanitize(model.supported_nodes[0].address, 60))
        print_stderr(f"run one of them: gscli run {quote_word(model.where)} --node {first}\n")
    return 0


def run_node(
    place: ModelReference, node: str | None, words: Sequence[str], settings: Settings
) -> int:
    """Run one node with given inputs, those of a data set, and what the model itself holds."""
    model = OnnxModel.read(place.path, settings.max_bytes)
    refuse_flags(["--node"] * (None not in (node, place.node)), "the node is named twice")
    chosen = model.find_supported_node(place.node if node is None else node)
    tensors = chosen.tensors
    data_sets = [word for word in words if Path(word).name.startswith(DATA_SET)]
    data_set = Path(data_sets[-1]) if data_sets else place.data_set
    data_set = data_set or next(iter(list_data_sets(Path(place.path).parent)), None)
    others = [word for word in words if word not in data_sets]
    constants, sources = dict[str, str](), dict[str, str]()
    for name, tensor in tensors.items():
        owner, _ = model.find_source(chosen.graph, tensor)
        known = () if owner.outer else model.inputs
        if model.find_values(chosen.graph, tensor) is not None:
            constants[name] = f"{place.path}::{owner.prefix}{tensor}"
        elif recorded := find_recorded_file(data_set, "input", tensor, known):
            sources[name] = recorded
    sources |= constants | _assign_words(tensors, constants, others, settings)
    missing = {name: tensor for name, tensor in tensors.items() if name not in sources}
    if missing:
        raise missing_inputs_error(model, chosen, missing)
    if settings.expect is None and not others:
        known = () if chosen.graph.outer else model.outputs
        expected = find_recorded_file(data_set, "output", chosen.outputs[0], known)
        settings = settings._replace(expect=expected)
    return run_operator(Call(chosen.operator, (), sources, _format_attributes(chosen), settings))


def _format_attributes(node: ModelNode) -> dict[str, str]:
    """The node's attributes as words of a command line, the model's opset among them."""
    known = node.operator.attributes_by_name
    texts: dict[str, str] = {}
    for name, value in node.call_attributes.items():
        fits = name in known and isinstance(value, (str, int))
        problem = f"{node.op_type} has no attribute {sanitize(name, 60)} of this kind"
        where, legal = sanitize(node.address, 60), " ".join(sorted(known.keys() - {"opset"}))
        check_rule(fits, problem, where, kind=ContentRefused, valid=legal)
        texts[name] = str(value)
    return texts


def _assign_words(
    tensors: Mapping[str, str], constants: Collection[str], words: Sequence[str], settings: Settings
) -> dict[str, str]:
    """Which input of the operator each word is for.

    `tensors`: names in the model by the operator's own; `constants`: those that the model holds.
    Words count in this order: NAME=FILE, a file that holds tensors by name, and files in order for
    what the model does not hold.
    """
    by_any_name = {tensor: name for name, tensor in tensors.items()} | {n: n for n in tensors}
    sources, unnamed = split_words(words, by_any_name)
    if find_container(unnamed, (*CONTAINER_SUFFIXES, ".h5")):
        sources = _match_members(unnamed.pop(), tensors, settings) | sources
    open_ones = [name for name in tensors if name not in sources]
    fed = [name for name in open_ones if name not in constants]
    takers = open_ones if len(unnamed) == len(open_ones) else fed
    inputs = format_count(len(unnamed), "input")
    problem = f"{inputs} for {len(takers)} that the model does not hold"
    legal = " ".join(f"{name}=FILE" for name in tensors)
    check_rule(len(unnamed) <= len(takers), problem, kind=UsageError, valid=legal)
    return sources | dict(zip(takers, unnamed, strict=False))


def split_words(words: Sequence[str], names: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """What stands behind NAME=, by what the name stands for, and the words without a name.

    UsageError for a name that is none, where no file is called so.
    """
    sources, unnamed = dict[str, str](), list[str]()
    for word in words:
        name, mark, source = word.partition("=")
        if mark and (name in names or (name.isidentifier() and not os.path.exists(word))):
            known = (sanitize(each, 60) for each in names)
            check_name(sanitize(name, 60), known, f"there is no input {name!r}")
            sources[names[name]] = source
        else:
            unnamed.append(word)
    return sources, unnamed


def _match_members(word: str, tensors: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Members of a container, or files of a folder, that are called as a tensor or an input."""
    parts = files.list_sources(word, settings.max_bytes)
    # The model's own name counts where both are there.
    pairs = [(name, key) for name, tensor in tensors.items() for key in (name, tensor)]
    sources = {name: parts[key].text for name, key in pairs if key in parts}
    problem, where = f"{word} holds none of the node's inputs", list_keys(parts)
    legal = " ".join(f"{name} or {sanitize(tensor, 60)}" for name, tensor in tensors.items())
    check_rule(bool(sources), problem, where, kind=UsageError, valid=legal)
    return sources


# --- a line for each gather and scatter of a model ---------------------------------------------


def describe_nodes(model: OnnxModel) -> tuple[str, list[dict[str, Any]]]:
    """The gathers and scatters of a model: a table with a line for each, and the same as data."""
    rows = [_node_to_dict(model, node) for node in model.supported_nodes]
    verb = "is" if len(rows) == 1 else "are"
    of = f"{len(rows)} of {format_count(len(model.nodes), 'node')} {verb} gather or scatter"
    texts = []
    for row in rows:
        attributes = " ".join(f"{name}={value}" for name, value in row["attrs"].items())
        inputs, outputs = (map(_format_tensor, row[key]) for key in ("inputs", "outputs"))
        flow = f"{', '.join(inputs)} -> {', '.join(outputs)}  {sanitize(attributes, 80)}"
        texts.append((sanitize(row["node"], 60), row["op"], flow))
    head = f"{model.where}: opset {model.opset}, {of}{model.functions_note}"
    return join_lines([head, *format_columns(texts)]), rows


def _format_tensor(tensor: Mapping[str, str]) -> str:
    constant = " (constant)" if tensor.get("constant") else ""
    return f"{sanitize(tensor['name'], 60)} {tensor['type']}{constant}"


def _node_to_dict(model: OnnxModel, node: ModelNode) -> dict[str, Any]:
    def describe(name: str) -> dict[str, str]:
        return {"name": name, "type": model.describe(node.graph, name)}

    constant = {name: model.find_values(node.graph, name) is not None for name in node.inputs}
    inputs = [{**describe(name), "constant": constant[name]} for name in node.inputs]
    return {
        "node": node.address, "op": node.op_type,
        "attrs": {name: _shorten_value(value) for name, value in node.attributes.items()},
        "inputs": inputs, "outputs": [*map(describe, node.outputs)],
    }  # fmt: skip


def _shorten_value(value: object) -> object:
    items = value if isinstance(value, (list, tuple)) else [value]
    return value if all(isinstance(item, (str, int, float)) for item in items) else "?"
