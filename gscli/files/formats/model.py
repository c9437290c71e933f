"""ONNX models (.onnx): the initializers, and the values of Constant nodes, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gscli.files.content import Content, check_limit
from gscli.files.formats.npy import RANK_LIMIT
from gscli.files.formats.tensorproto import parse_protobuf, to_array
from gscli.files.request import (
    NAMES_LIMIT,
    Member,
    ReadRequest,
    ReadResult,
    choose_member,
    member_place,
    same_name_error,
)

MAX_CALL_DEPTH = 32
"""Functions of a model that call one another."""

ADDED_AXES = 1000
"""Axes that the nodes of a model may add to a tensor one after the other."""

STEPS_LIMIT = 100_000
"""Nodes of a model, counted as often as functions call them, whose shapes are inferred."""


def read(content: Content, request: ReadRequest) -> ReadResult:
    """One initializer or constant, named or the only one."""
    tensors = _find_tensors(content, request.limit)
    name = choose_member(tensors, request.member, content.name)
    return ReadResult(to_array(tensors[name], member_place(content.name, name), request.limit))


def listing(content: Content, request: ReadRequest) -> list[Member]:
    """Every initializer and constant of the graph, and of the graphs inside its nodes."""
    return [
        Member.of(to_array(tensor, member_place(content.name, name), request.limit), name)
        for name, tensor in _find_tensors(content, request.limit).items()
    ]


@dataclass(eq=False)
class Graph:
    """A graph of a model: its own, or one inside a node such as If, Loop and Scan.

    What is inside sees the tensors of the graphs around it. `prefix` stands before the names of
    what is in it, for branches may use the same ones: `y/then_branch/` is in the node that makes y.
    """

    message: Any
    prefix: str = ""
    outer: Graph | None = None

    def iter_graphs(self) -> Iterator[Graph]:
        """The graph itself, and all inside its nodes."""
        yield self
        for number, node in enumerate(self.message.node):
            label = decode_name(node.output[0]) if node.output else f"{node.op_type}#{number}"
            for attribute in node.attribute:
                name = f"{self.prefix}{label}/{attribute.name}"
                inside = [(f"{name}/", attribute.g)] if attribute.HasField("g") else []
                inside += [(f"{name}.{at}/", child) for at, child in enumerate(attribute.graphs)]
                for prefix, graph in inside:
                    yield from Graph(graph, prefix, self).iter_graphs()

    def iter_tensors(self) -> Iterator[tuple[str, Any]]:
        """The tensors whose values it holds itself: initializers, and values of Constant nodes."""
        for tensor in self.message.initializer:
            yield decode_name(tensor.name), tensor
        for node in self.message.node:
            if node.op_type == "Constant" and len(node.output) == 1:
                for attribute in node.attribute:
                    if attribute.name == "value":
                        yield decode_name(node.output[0]), attribute.t


def walk_graphs(message: Any, where: str) -> Iterator[Graph]:
    """A graph and all inside its nodes. LimitRefused where the names of what is in them, each
    with those of all that is around it, would be too long together.
    """
    length = 0
    for graph in Graph(message).iter_graphs():
        length += len(graph.prefix) * (1 + len(graph.message.node) + len(graph.message.initializer))
        check_limit(length, NAMES_LIMIT, where, "the text of all names", unit="characters")
        yield graph


def is_quickly_inferred(message: Any) -> bool:
    """Whether ONNX's inference of shapes takes time and memory in proportion to the model.

    It goes through a function as often as that is called, and calls may double from one function
    to the next; and each node hands all axes of its tensors on.
    """
    graphs = list(Graph(message.graph).iter_graphs())
    steps = {(function.domain, function.name): 0 for function in message.functions}
    calls = [node for graph in graphs for node in graph.message.node]
    if sum(len(function.node) for function in message.functions) > STEPS_LIMIT:
        return False
    for _ in range(MAX_CALL_DEPTH):
        before = dict(steps)
        for function in message.functions:
            steps[function.domain, function.name] = _count_steps(function.node, before)
        if steps == before:
            break
    else:
        return False
    axes = max((len(item.dims) for graph in graphs for _, item in graph.iter_tensors()), default=0)
    for graph in graphs:
        for value in (*graph.message.input, *graph.message.value_info, *graph.message.output):
            axes = max(axes, len(value.type.tensor_type.shape.dim))
    bodies = [*(item.message.node for item in graphs), *(item.node for item in message.functions)]
    few = all(_are_axes_few(body) for body in bodies)
    return few and axes <= RANK_LIMIT and _count_steps(calls, steps) <= STEPS_LIMIT


def _are_axes_few(nodes: Iterable[Any]) -> bool:
    """Whether no chain of nodes adds axes without end: a Gather of a tensor by itself doubles them,
    so that thirty nodes would take all memory. Counted are those beyond what a model states.
    """
    added: dict[str, int] = {}
    for node in nodes:
        counts = [added.get(name, 1) for name in node.input]
        count = sum(counts) if node.op_type in {"Gather", "GatherND"} else max(counts, default=1)
        if count > ADDED_AXES:
            return False
        if node.op_type in {"Shape", "Size"}:
            count = 1
        added.update(dict.fromkeys(node.output, count + (node.op_type == "Unsqueeze")))
    return True


def _count_steps(nodes: Iterable[Any], steps: Mapping[tuple[str, str], int]) -> int:
    """Nodes that inference goes through: each one, and those of the functions they call."""
    return sum(1 + steps.get((node.domain, node.op_type), 0) for node in nodes)


def decode_name(name: str | bytes) -> str:
    """A name in a model; one that is not UTF-8 arrives as bytes."""
    return name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")


def _find_tensors(content: Content, limit: int) -> dict[str, Any]:
    tensors: dict[str, Any] = {}
    for graph in walk_graphs(parse_protobuf("ModelProto", content, limit).graph, content.name):
        for own, tensor in graph.iter_tensors():
            name = graph.prefix + own
            if name in tensors:
                raise same_name_error("tensors", name, content.name)
            tensors[name] = tensor
    return tensors
