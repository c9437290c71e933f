"""ONNX models (.onnx): the initializers, and the values of Constant nodes, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gscli.base import ContentRefused
from gscli.base.words import safe
from gscli.files.content import Content
from gscli.files.formats.tensorproto import array_of, parsed
from gscli.files.request import Member, Read, Request, chosen_member


def read(content: Content, request: Request) -> Read:
    """One initializer or constant, named or the only one."""
    tensors = _tensors(content, request.limit)
    name = chosen_member(tensors, request.member, content.name)
    return Read(array_of(tensors[name], f"{content.name}::{safe(name, 60)}", request.limit))


def listing(content: Content, request: Request) -> list[Member]:
    """Every initializer and constant of the graph, and of the graphs inside its nodes."""
    return [
        Member.of(array_of(tensor, f"{content.name}::{safe(name, 60)}", request.limit), name)
        for name, tensor in _tensors(content, request.limit).items()
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

    def walk(self) -> Iterator[Graph]:
        """The graph itself, and all inside its nodes."""
        yield self
        for number, node in enumerate(self.message.node):
            label = name_of(node.output[0]) if node.output else f"{node.op_type}#{number}"
            for attribute in node.attribute:
                name = f"{self.prefix}{label}/{attribute.name}"
                inside = [(f"{name}/", attribute.g)] if attribute.HasField("g") else []
                inside += [(f"{name}.{at}/", one) for at, one in enumerate(attribute.graphs)]
                for prefix, graph in inside:
                    yield from Graph(graph, prefix, self).walk()

    def tensors(self) -> Iterator[tuple[str, Any]]:
        """The tensors whose values it holds itself: initializers, and values of Constant nodes."""
        for tensor in self.message.initializer:
            yield name_of(tensor.name), tensor
        for node in self.message.node:
            if node.op_type == "Constant" and len(node.output) == 1:
                for attribute in node.attribute:
                    if attribute.name == "value":
                        yield name_of(node.output[0]), attribute.t


def name_of(given: str | bytes) -> str:
    """A name in a model; one that is not UTF-8 arrives as bytes."""
    return given if isinstance(given, str) else given.decode("utf-8", "backslashreplace")


def _tensors(content: Content, limit: int) -> dict[str, Any]:
    tensors: dict[str, Any] = {}
    for graph in Graph(parsed("ModelProto", content, limit).graph).walk():
        for own, tensor in graph.tensors():
            name = graph.prefix + own
            if name in tensors:
                raise ContentRefused(f"two tensors are called {safe(name, 60)}", where=content.name)
            tensors[name] = tensor
    return tensors
