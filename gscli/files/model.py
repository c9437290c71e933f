"""ONNX models (.onnx): the initializers, and the values of Constant nodes, by name."""

from __future__ import annotations

from typing import Any

from gscli.base.errors import ContentRefused
from gscli.base.text import safe
from gscli.files.content import Content
from gscli.files.request import Member, Read, Request, chosen_member
from gscli.files.tensorproto import array_of, parsed


def read(content: Content, request: Request) -> Read:
    """One initializer or constant, named or the only one."""
    tensors = _tensors(content, request.limit)
    name = chosen_member(tensors, request.member, content.name)
    return Read(array_of(tensors[name], f"{content.name}::{safe(name, 60)}", request.limit))


def listing(content: Content, request: Request) -> list[Member]:
    """Every initializer and constant of the graph."""
    return [
        Member.of(array_of(tensor, f"{content.name}::{safe(name, 60)}", request.limit), name)
        for name, tensor in _tensors(content, request.limit).items()
    ]


def _tensors(content: Content, limit: int) -> dict[str, Any]:
    graph = parsed("ModelProto", content, limit).graph
    constants = [
        (node.output[0], attribute.t)
        for node in graph.node
        if node.op_type == "Constant" and len(node.output) == 1
        for attribute in node.attribute
        if attribute.name == "value"
    ]
    tensors: dict[str, Any] = {}
    for given, tensor in [(tensor.name, tensor) for tensor in graph.initializer] + constants:
        # A name that is not UTF-8 arrives as bytes.
        name = given if isinstance(given, str) else given.decode("utf-8", "backslashreplace")
        if name in tensors:
            raise ContentRefused(f"two tensors are called {safe(name, 60)}", where=content.name)
        tensors[name] = tensor
    return tensors
