"""One node of an ONNX model: how it is addressed, and which operator it is here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from gscli.base import ContentRefused, check_rule
from gscli.base.records import Record
from gscli.base.words import sanitize
from gscli.files.content import import_extra
from gscli.files.formats.model import Graph
from gscli.frameworks import load_framework
from gscli.frameworks.operator import Operator
from gscli.lab.calls import to_gscli_name

# Names of the domain whose operators the ONNX standard defines.
ONNX_DOMAINS = ("", "ai.onnx")


class ForeignNode(ContentRefused):
    """A sound model or node that gscli has no operator for."""


class ModelNode(Record):
    """One node: how it is addressed, the message that holds it, and the graph that it stands in.

    A node is a call: of its `operator`, on the inputs that `tensors` names, with `call_attributes`.
    `opset`: the version of the standard that its model follows.
    """

    address: str
    message: Any
    graph: Graph
    ordinal: int
    opset: int

    @property
    def op_type(self) -> str:
        """Name of the operator in the standard."""
        return str(self.message.op_type)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the tensors that the node takes; empty where an optional one is left out."""
        return tuple(self.message.input)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the tensors it makes."""
        return tuple(self.message.output)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Everything that it may be addressed by, with and without the graph that it is in."""
        own = (self.message.name, *self.outputs, f"{self.op_type}#{self.ordinal}")
        return (*own, *(self.graph.prefix + name for name in own)) if self.graph.outer else own

    @property
    def operator(self) -> Operator:
        """Its operator here; ForeignNode where there is none."""
        if self.message.domain not in ONNX_DOMAINS:
            domain = sanitize(self.message.domain, 60)
            raise ForeignNode(f"{sanitize(self.op_type, 60)} is of the domain {domain}")
        name = to_gscli_name("onnx", self.op_type).removeprefix("onnx.")
        operator = load_framework("onnx").operators.get(name)
        if operator is None:
            raise ForeignNode(f"gscli has no operator {sanitize(self.op_type, 60)}")
        return operator

    @property
    def is_supported(self) -> bool:
        """Whether gscli has an operator for it."""
        with suppress(ForeignNode):
            return bool(self.operator)
        return False

    @property
    def attributes(self) -> dict[str, object]:
        """Its attributes by name; ContentRefused for one without a value, or twice there."""
        helper = import_extra("onnx.helper", "onnx")
        values: dict[str, object] = {}
        for item in self.message.attribute:
            name = sanitize(item.name, 60)
            if item.name in values:
                raise ContentRefused(f"the attribute {name} stands twice")
            try:
                value = helper.get_attribute_value(item)
            except ValueError:  # a reference into a function around it, or a type yet to come
                raise ContentRefused(f"the attribute {name} has no value") from None
            values[item.name] = value.decode("utf-8", "replace") if type(value) is bytes else value
        return values

    @property
    def call_attributes(self) -> dict[str, object]:
        """The same, and the opset, which is an attribute of a call."""
        return {**self.attributes, "opset": self.opset}

    @property
    def tensors(self) -> dict[str, str]:
        """Names of the tensors that it takes by the operator's own names of its inputs.

        ContentRefused for more than the operator has.
        """
        names = self.operator.input_names
        own, legal = f"{sanitize(self.address, 60)} has {len(self.inputs)} inputs", " ".join(names)
        problem = f"{own}, {self.op_type} takes {len(names)}"
        check_rule(len(self.inputs) <= len(names), problem, kind=ContentRefused, valid=legal)
        return {name: value for name, value in zip(names, self.inputs, strict=False) if value}


def iter_nodes(graph: Graph, opset: int) -> Iterator[ModelNode]:
    """The nodes of one graph: by name, where another has it too by output, or by number."""
    names = Counter(node.name for node in graph.message.node)
    seen = Counter[str]()
    for node in graph.message.node:
        number = seen[node.op_type]
        seen[node.op_type] += 1
        own = node.name if names[node.name] == 1 else ""
        address = own or next(iter(node.output), "") or f"{node.op_type}#{number}"
        yield ModelNode(graph.prefix + address, node, graph, number, opset)
