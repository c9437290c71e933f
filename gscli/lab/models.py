"""Nodes of an ONNX model: which of them gscli has, how they are addressed, where their inputs are.

A node is addressed by its name, by the name of an output, or as `Gather#1`: the second Gather of
the graph. Inside the branch of an If or the body of a Loop it stands behind the node and the
attribute that hold it: `y/then_branch/Gather#1`. Its inputs are initializers and constants of the
model, inputs of the model (which a folder `test_data_set_0` beside it may hold), or results of
other nodes, which must be given.
"""

from __future__ import annotations

import base64
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from gscli.base import InputRefused, UsageError, check_rule
from gscli.base.arrays import Arrays, dtype_name
from gscli.base.words import format_count, quote_word, sanitize, suggest_names
from gscli.disk.processes import Child, python_program
from gscli.files.content import open_content
from gscli.files.formats.model import Graph, walk_graphs
from gscli.files.formats.npy import RANK_LIMIT
from gscli.files.formats.tensorproto import TYPES, check_fields, parse_protobuf
from gscli.files.request import MAX_BYTES, list_keys
from gscli.frameworks import load_framework
from gscli.lab.model_nodes import ONNX_DOMAINS, ForeignNode, ModelNode, iter_nodes
from gscli.layout.axes import Tensor

# Bytes of a tensor that may be read as a shape; larger ones are not needed to infer shapes.
SHAPE_BYTES = 1 << 12

INFERENCE_SECONDS = 5
INFERENCE_MEMORY = 1 << 30

_INFERENCE = """
import sys
from base64 import b64decode, b64encode
from onnx.shape_inference import infer_shapes
inferred = infer_shapes(b64decode(sys.stdin.buffer.readline()))
sys.stdout.buffer.write(b64encode(inferred.SerializeToString()) + b"\\n")
"""


class OnnxModel:
    """A parsed model. `where` names it in messages."""

    def __init__(self, message: Any, where: str) -> None:
        self.message, self.where = message, where
        self.graph = message.graph

    @classmethod
    def read(cls, path: str, max_bytes: int | None = None) -> OnnxModel:
        """The model in a file of at most so many bytes; ContentRefused for damage."""
        limit = max_bytes or MAX_BYTES
        with open_content(path, limit) as content:
            return cls(parse_protobuf("ModelProto", content, limit), sanitize(path))

    @property
    def opset(self) -> int:
        """Version of the standard that the model follows."""
        opsets = [own.version for own in self.message.opset_import if own.domain in ONNX_DOMAINS]
        return max(opsets, default=1)

    @cached_property
    def graphs(self) -> tuple[Graph, ...]:
        """The model's own graph, and all inside its nodes."""
        return tuple(walk_graphs(self.graph, self.where))

    @cached_property
    def nodes(self) -> tuple[ModelNode, ...]:
        """All nodes of the graphs, each with an address of its own."""
        return tuple(node for graph in self.graphs for node in iter_nodes(graph, self.opset))

    @cached_property
    def supported_nodes(self) -> tuple[ModelNode, ...]:
        """The nodes that gscli has an operator for."""
        return tuple(node for node in self.nodes if node.is_supported)

    @cached_property
    def _sources(self) -> dict[Graph, dict[str, Any]]:
        """By graph what each of its tensors comes from: values that the model holds, the node that
        computes it, or None for an input.
        """
        sources = {
            graph: dict[str, Any].fromkeys(value.name for value in graph.message.input)
            for graph in self.graphs
        }
        for node in self.nodes:
            sources[node.graph] |= dict.fromkeys(node.outputs, node)
        return {graph: own | dict(graph.iter_tensors()) for graph, own in sources.items()}

    def find_source(self, graph: Graph, tensor: str) -> tuple[Graph, Any]:
        """Whose tensor a node of a graph takes, that graph's or one's around it, and what it comes
        from there; None where it is an input.
        """
        while tensor not in self._sources[graph] and graph.outer is not None:
            graph = graph.outer
        return graph, self._sources[graph].get(tensor)

    def find_values(self, graph: Graph, tensor: str) -> Any | None:
        """The values of a tensor that a graph sees, where the model holds them."""
        _, source = self.find_source(graph, tensor)
        return None if isinstance(source, ModelNode) else source

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs that the model is fed with, in order."""
        sources = self._sources[self.graphs[0]].items()
        return tuple(name for name, source in sources if source is None)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Names of the model's outputs, in order."""
        return tuple(value.name for value in self.graph.output)

    def find_supported_node(self, address: str | None) -> ModelNode:
        """The gather or scatter that a name, an output or `Gather#1` addresses; the only one where
        none is named. UsageError where that is none, or several; ForeignNode for another node.
        """
        called = [*self.supported_nodes]
        if address is not None:
            called = [node for node in self.nodes if address in node.addresses]
            called = [node for node in called if address == node.address] or called
        elif not called:
            raise self.no_supported_node_error()
        shown, listing = sanitize(address or "", 60), f"gscli run {quote_word(self.where)}"
        valid = list_keys(node.address for node in self.supported_nodes)
        if not called:
            names = (name for node in self.nodes for name in (node.address, *node.outputs))
            hint = suggest_names(address or "", [sanitize(name, 60) for name in names], listing)
            raise UsageError(f"{self.where} has no node {shown!r}", valid=valid, hint=hint)
        problem = f"{len(called)} nodes are called {shown!r}"
        if address is None:
            problem = f"the model has {len(called)} gathers and scatters"
        several = list_keys(node.address for node in called)
        hint = f"name one: --node {quote_word(sanitize(called[0].address, 60))}"
        check_rule(len(called) == 1, problem, self.where, kind=UsageError, valid=several, hint=hint)
        problem = f"node {shown!r} is no gather or scatter, but {sanitize(called[0].op_type, 60)}"
        fits, hint = called[0] in self.supported_nodes, f"{listing} lists what can be run"
        check_rule(fits, problem, self.where, kind=ForeignNode, valid=valid, hint=hint)
        return called[0]

    @property
    def functions_note(self) -> str:
        """What is said of functions, whose nodes are none of the model's own."""
        note = "; those inside functions are left out, gscli check judges them"
        return note if self.message.functions else ""

    def no_supported_node_error(self) -> InputRefused:
        """What to say of a model without a gather or scatter."""
        kinds = Counter(node.op_type for node in self.nodes)
        listed = [f"{count} {kind}" for kind, count in kinds.most_common()]
        problem = f"no gather or scatter among {format_count(len(self.nodes), 'node')}"
        problem += self.functions_note
        valid, details = list_keys(load_framework("onnx").operators), (list_keys(listed),)
        return InputRefused(problem, where=self.where, valid=valid, details=details * bool(listed))

    def describe(self, graph: Graph, tensor: str) -> str:
        """Element type and shape of a tensor that a graph sees, where the model tells them.

        Sizes that it leaves open stand as it calls them, unknown ones as `?`.
        """
        owner, source = self.find_source(graph, tensor)
        if source is not None and not isinstance(source, ModelNode):
            return _format_tensor(source.data_type, source.dims)
        value = self._value_infos.get(owner.prefix, {}).get(tensor)
        if value is None or not value.type.HasField("tensor_type"):
            return "?"
        tensor_type = value.type.tensor_type
        sizes = [
            dim.dim_value if dim.HasField("dim_value") else sanitize(dim.dim_param, 20) or "?"
            for dim in tensor_type.shape.dim
        ]
        shape = sizes if tensor_type.HasField("shape") else "?"
        return _format_tensor(tensor_type.elem_type, shape)

    def check_feeds(self, feeds: Arrays) -> None:
        """ShapeRefused for an array of another type or shape than an input of the model has."""
        declared = {value.name: value.type.tensor_type for value in self.graph.input}
        for name, array in feeds.items():
            kind, tensor = declared[name], Tensor(name, array.shape, dtype_name(array.dtype))
            sizes = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in kind.shape.dim]
            fits = len(sizes) == array.ndim or not kind.HasField("shape")
            fits &= all(size in (own, -1) for size, own in zip(sizes, array.shape, strict=False))
            fits &= TYPES.get(kind.elem_type, (tensor.dtype,))[0] == tensor.dtype
            problem, legal = "is not what the model declares", self.describe(self.graphs[0], name)
            check_rule(fits, f"an input {problem}", sanitize(str(tensor), 100), valid=legal)

    def describe_producer(self, graph: Graph, tensor: str) -> str:
        """In words, where a tensor comes from."""
        owner, source = self.find_source(graph, tensor)
        if isinstance(source, ModelNode):
            return f"made by {sanitize(source.address, 60)} ({sanitize(source.op_type, 60)})"
        if source is not None:
            return "held by the model"
        place = "the model" if owner.outer is None else sanitize(owner.prefix[:-1], 60)
        return f"an input of {place}"

    @cached_property
    def _value_infos(self) -> dict[str, dict[str, Any]]:
        """By prefix of a graph what is told of its tensors, by the model and by ONNX's own
        inference of shapes.
        """
        described = [*self.graphs]
        with suppress(Exception):  # a model is refused in many ways, and is asked for help only
            described = [*walk_graphs(infer_shapes(self.message).graph, self.where), *described]
        values: dict[str, dict[str, Any]] = {}
        for shaped in (False, True):  # the last one counts
            for graph in described:
                message = graph.message
                values.setdefault(graph.prefix, {}).update(
                    (value.name, value)
                    for value in (*message.value_info, *message.input, *message.output)
                    if value.type.tensor_type.HasField("shape") or not shaped
                )
        return values


def infer_shapes(message: Any) -> Any:
    """A model, without its larger tensors, with the shapes that ONNX infers.

    Functions may call one another twice as often at every step, and a Gather of a tensor by itself
    doubles its axes: only a process of its own is bounded, whatever a model says.
    """
    slim = type(message).FromString(message.SerializeToString())
    for graph in Graph(slim.graph).iter_graphs():
        for _, tensor in graph.iter_tensors():
            if len(tensor.raw_data) > SHAPE_BYTES:
                tensor.ClearField("raw_data")
    with Child(python_program(sys.executable, _INFERENCE), INFERENCE_MEMORY) as child:
        line = child.exchange(base64.b64encode(slim.SerializeToString()) + b"\n", INFERENCE_SECONDS)
    assert isinstance(line, bytes), line
    data = base64.b64decode(line, validate=True)
    check_fields(data, message.DESCRIPTOR, "the model")
    return type(message).FromString(data)


# What the names of folders with recorded inputs and outputs begin with.
DATA_SET = "test_data_set_"


def list_data_sets(folder: Path) -> list[Path]:
    """The data sets beside a model, in the order of their numbers."""

    def sort_key(data_set: Path) -> tuple[int, str]:
        number = data_set.name.rpartition("_")[2]
        return int(number) if number.isdecimal() else -1, data_set.name

    return sorted(filter(Path.is_dir, folder.glob(f"{DATA_SET}*")), key=sort_key)


def find_recorded_file(
    data_set: Path | None, kind: str, tensor: str, known: Sequence[str]
) -> str | None:
    """The file of a data set that holds an input or output of the model."""
    if data_set is None or tensor not in known:
        return None
    path = data_set / f"{kind}_{known.index(tensor)}.pb"
    return str(path) if path.is_file() else None


def missing_inputs_error(
    model: OnnxModel, node: ModelNode, missing: Mapping[str, str]
) -> UsageError:
    """What to say where inputs of a node are not given: `missing` by the operator's own names."""
    details = []
    for name, tensor in missing.items():
        text = f"{sanitize(tensor, 60)} {model.describe(node.graph, tensor)}"
        details.append(f"{name}: {text}, {model.describe_producer(node.graph, tensor)}")
    words = " ".join(f"{name}=FILE" for name in missing)
    problem = f"{sanitize(node.address, 60)} needs {' and '.join(missing)}"
    hint = f"save the tensors and add {words}, or a file that holds them by name"
    return UsageError(problem, where=model.where, details=tuple(details), hint=hint)


def _format_tensor(code: int, sizes: Sequence[object]) -> str:
    """Element type and shape; one of more axes than any tensor has is as good as unknown."""
    shape = ",".join(map(str, sizes)) if len(sizes) <= RANK_LIMIT else "?"
    return f"{TYPES[code][0] if code in TYPES else '?'} [{shape}]"
