"""One node of an ONNX model: how it is addressed, and which operator it is here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from gscli.base import ContentRefused
from gscli.base.records import Record
from gscli.base.words import safe
from gscli.files.extras import extra
from gscli.files.formats.model import Graph, name_of
from gscli.frameworks import framework
from gscli.frameworks.operator import Operator
from gscli.lab.cases import operator_name

OWN_DOMAINS = ("", "ai.onnx")
"""Names of the domain whose operators the ONNX standard defines."""


class NotOurs(ContentRefused):
    """A sound model or node that gscli has no operator for."""


class ModelNode(Record):
    """One node: how it is addressed, the message that holds it, and the graph that it stands in."""

    address: str
    message: Any
    graph: Graph
    number: int

    @property
    def op_type(self) -> str:
        """Name of the operator in the standard."""
        return str(self.message.op_type)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the tensors that the node takes; empty where an optional one is left out."""
        return tuple(map(name_of, self.message.input))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the tensors it makes."""
        return tuple(map(name_of, self.message.output))

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that it may be addressed by, with and without the graph that it is in."""
        own = (name_of(self.message.name), *self.outputs, f"{self.op_type}#{self.number}")
        return (*own, *(self.graph.prefix + name for name in own)) if self.graph.outer else own

    @property
    def operator(self) -> Operator:
        """Its operator here; NotOurs where there is none."""
        return operator_of(self.op_type, self.message.domain)

    @property
    def attributes(self) -> dict[str, object]:
        """Its attributes as the operator takes them; ContentRefused for what no operator has."""
        return attributes_of(self.message)


def nodes_of(graph: Graph) -> Iterator[ModelNode]:
    """The nodes of one graph: by name, where another has it too by output, or by number."""
    names = Counter(name_of(node.name) for node in graph.message.node)
    seen = Counter[str]()
    for node in graph.message.node:
        number = seen[node.op_type]
        seen[node.op_type] += 1
        output = name_of(node.output[0]) if node.output else ""
        name = name_of(node.name)
        own = name if names[name] == 1 else ""
        address = own or output or f"{node.op_type}#{number}"
        yield ModelNode(graph.prefix + address, node, graph, number)


def operator_of(op_type: str, domain: str) -> Operator:
    """The operator of a node; NotOurs where gscli has none."""
    if domain not in OWN_DOMAINS:
        raise NotOurs(f"{safe(op_type, 60)} is of the domain {safe(domain, 60)}")
    found = framework("onnx").operators.get(operator_name("onnx", op_type).removeprefix("onnx."))
    if found is None:
        raise NotOurs(f"gscli has no operator {safe(op_type, 60)}")
    return found


def attributes_of(node: Any) -> dict[str, object]:
    """The attributes of a node by name; ContentRefused for one without a value, or twice there."""
    helper = extra("onnx.helper", "onnx")
    values: dict[str, object] = {}
    for item in node.attribute:
        if item.name in values:
            raise ContentRefused(f"the attribute {safe(item.name, 60)} stands twice")
        try:
            values[item.name] = helper.get_attribute_value(item)
        except ValueError:  # a reference into a function around the node, or a type yet to come
            raise ContentRefused(f"the attribute {safe(item.name, 60)} has no value") from None
    return {
        name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        for name, value in values.items()
    }


def is_ours(message: Any) -> bool:
    """Whether gscli has an operator for a node."""
    try:
        operator_of(message.op_type, message.domain)
    except NotOurs:
        return False
    return True
