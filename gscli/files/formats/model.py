"""ONNX models (.onnx): the initializers, and the values of Constant nodes, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gscli.files.content import Content, check_limit
from gscli.files.formats.tensorproto import parse_protobuf, to_array
from gscli.files.request import (
    NAMES_LIMIT,
    LoadedInput,
    Member,
    ReadRequest,
    check_single_name,
    choose_member,
    member_place,
)


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """One initializer or constant, named or the only one."""
    tensors = _find_tensors(content, request.limit)
    name = choose_member(tensors, request.member, content.name)
    return LoadedInput(to_array(tensors[name], member_place(content.name, name), request.limit))


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
            label = node.output[0] if node.output else f"{node.op_type}#{number}"
            for attribute in node.attribute:
                name = f"{self.prefix}{label}/{attribute.name}"
                inside = [(f"{name}/", attribute.g)] if attribute.HasField("g") else []
                inside += [(f"{name}.{at}/", child) for at, child in enumerate(attribute.graphs)]
                for prefix, graph in inside:
                    yield from Graph(graph, prefix, self).iter_graphs()

    def iter_tensors(self) -> Iterator[tuple[str, Any]]:
        """The tensors whose values it holds itself: initializers, and values of Constant nodes."""
        yield from ((tensor.name, tensor) for tensor in self.message.initializer)
        for node in self.message.node:
            if node.op_type == "Constant" and len(node.output) == 1:
                for attribute in node.attribute:
                    if attribute.name == "value":
                        yield node.output[0], attribute.t


def walk_graphs(message: Any, where: str) -> Iterator[Graph]:
    """A graph and all inside its nodes. LimitRefused where the names of what is in them, each
    with those of all that is around it, would be too long together.
    """
    length = 0
    for graph in Graph(message).iter_graphs():
        length += len(graph.prefix) * (1 + len(graph.message.node) + len(graph.message.initializer))
        check_limit(length, NAMES_LIMIT, where, "the text of all names", unit="characters")
        yield graph


def _find_tensors(content: Content, limit: int) -> dict[str, Any]:
    tensors: dict[str, Any] = {}
    for graph in walk_graphs(parse_protobuf("ModelProto", content, limit).graph, content.name):
        for own, tensor in graph.iter_tensors():
            name = graph.prefix + own
            check_single_name(name not in tensors, "tensors", name, content.name)
            tensors[name] = tensor
    return tensors
