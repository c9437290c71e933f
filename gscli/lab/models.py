"""Nodes of an ONNX model: which of them gscli has, how they are addressed, where their inputs are.

A node is addressed by its name, by the name of an output, or as `Gather#1`: the second Gather of
the graph. Its inputs are initializers and constants of the model, inputs of the model (which a
folder `test_data_set_0` beside it may hold), or results of other nodes, which must be given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from gscli.base.errors import ContentRefused, InputRefused, UsageError
from gscli.base.records import Record
from gscli.base.text import counted, safe
from gscli.files.content import open_content
from gscli.files.extras import extra
from gscli.files.tensorproto import TYPES, parsed
from gscli.frameworks import framework
from gscli.frameworks.operator import Operator
from gscli.lab.cases import operator_name

OWN_DOMAINS = ("", "ai.onnx")
"""Names of the domain whose operators the ONNX standard defines."""


class NotOurs(ContentRefused):
    """A sound model or node that gscli has no operator for."""


class ModelNode(Record):
    """One node: how it is addressed, and the message that holds it."""

    address: str
    message: Any

    @property
    def op_type(self) -> str:
        """Name of the operator in the standard."""
        return str(self.message.op_type)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the tensors it takes; empty for one that is left out."""
        return tuple(map(_text, self.message.input))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the tensors it makes."""
        return tuple(map(_text, self.message.output))

    @property
    def operator(self) -> Operator:
        """Its operator here; NotOurs where there is none."""
        return operator_of(self.op_type, self.message.domain)

    @property
    def attributes(self) -> dict[str, object]:
        """Its attributes as the operator takes them; ContentRefused for what no operator has."""
        return attributes_of(self.message)


class Model:
    """A parsed model. `where` names it in messages."""

    def __init__(self, message: Any, where: str) -> None:  # noqa: ANN401  a protobuf message
        self.message, self.where = message, where
        self.graph = message.graph

    @classmethod
    def read(cls, path: str, limit: int) -> Model:
        """The model in a file of at most `limit` bytes; ContentRefused for damage."""
        with open_content(path, limit) as content:
            return cls(parsed("ModelProto", content, limit), safe(path))

    @property
    def opset(self) -> int:
        """Version of the standard that the model follows."""
        found = [one.version for one in self.message.opset_import if one.domain in OWN_DOMAINS]
        return max(found, default=1)

    @cached_property
    def nodes(self) -> tuple[ModelNode, ...]:
        """All nodes of the graph, each with an address of its own."""
        names = Counter(node.name for node in self.graph.node)
        seen = Counter[str]()
        found = []
        for node in self.graph.node:
            numbered = f"{node.op_type}#{seen[node.op_type]}"
            seen[node.op_type] += 1
            output = _text(node.output[0]) if node.output else ""
            own = node.name if names[node.name] == 1 else ""
            found.append(ModelNode(own or output or numbered, node))
        return tuple(found)

    @cached_property
    def family(self) -> tuple[ModelNode, ...]:
        """The nodes that gscli has an operator for."""
        return tuple(node for node in self.nodes if _is_ours(node.message))

    @cached_property
    def constants(self) -> dict[str, Any]:
        """Tensors whose values the model holds, by name."""
        held = {_text(one.name): one for one in self.graph.initializer}
        for node in self.graph.node:
            if node.op_type == "Constant" and len(node.output) == 1:
                values = (one.t for one in node.attribute if one.name == "value")
                held |= {_text(node.output[0]): tensor for tensor in values}
        return held

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs that the model is fed with, in order."""
        return tuple(
            name for one in self.graph.input if (name := _text(one.name)) not in self.constants
        )

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Names of the model's outputs, in order."""
        return tuple(_text(one.name) for one in self.graph.output)

    def node(self, address: str) -> ModelNode:
        """The node that a name, an output or `Gather#1` addresses; UsageError for none."""
        counts = Counter[str]()
        for node in self.nodes:
            numbered = f"{node.op_type}#{counts[node.op_type]}"
            counts[node.op_type] += 1
            if address in (node.address, numbered, *node.outputs):
                return node
        called = [node.address for node in self.nodes if node.message.name == address]
        if called:
            raise UsageError(
                f"{len(called)} nodes are called {safe(address, 60)!r}",
                where=self.where,
                valid=_some([safe(one, 60) for one in called]),
            )
        known = [name for node in self.nodes for name in (node.address, *node.outputs)]
        near = [safe(one, 60) for one in get_close_matches(address, known, 3)]
        raise UsageError(
            f"{self.where} has no node {safe(address, 60)!r}",
            valid=_some([safe(node.address, 60) for node in self.family]),
            hint=f"did you mean {' or '.join(near)}?" if near else f"gscli run {self.where}",
        )

    def family_node(self, address: str) -> ModelNode:
        """The same, of the gathers and scatters; NotOurs for another node."""
        node = self.node(address)
        if node not in self.family:
            raise NotOurs(
                f"node {safe(address, 60)!r} is a {safe(node.op_type, 60)}, no gather or scatter",
                where=self.where,
                valid=_some([safe(one.address, 60) for one in self.family]),
                hint=f"gscli run {self.where} lists what can be run",
            )
        return node

    def only(self) -> ModelNode:
        """The one node that gscli has an operator for; UsageError where there are more."""
        if not self.family:
            raise self.nothing_here()
        if len(self.family) > 1:
            raise UsageError(
                f"{self.where} has {len(self.family)} gathers and scatters",
                valid=_some([safe(node.address, 60) for node in self.family]),
                hint=f"name one: --node {safe(self.family[0].address, 60)}",
            )
        return self.family[0]

    def nothing_here(self) -> InputRefused:
        """What to say of a model without a gather or scatter."""
        kinds = Counter(safe(node.op_type, 40) for node in self.nodes)
        listed = [f"{count} {kind}" for kind, count in kinds.most_common()]
        return InputRefused(
            f"no gather or scatter among {counted(len(self.nodes), 'node')}",
            where=self.where,
            valid=_some(list(framework("onnx").operators)),
            details=(_some(listed),) if listed else (),
        )

    def described(self, tensor: str) -> str:
        """Element type and shape of a tensor where the model tells them.

        Sizes that it leaves open stand as it calls them, unknown ones as `?`.
        """
        held = self.constants.get(tensor)
        if held is not None:
            return f"{_type_name(held.data_type)} [{','.join(map(str, held.dims))}]"
        value = self._values.get(tensor)
        if value is None or not value.type.HasField("tensor_type"):
            return "?"
        told = value.type.tensor_type
        if not told.HasField("shape"):
            return f"{_type_name(told.elem_type)} [?]"
        sizes = [
            str(dim.dim_value) if dim.HasField("dim_value") else safe(dim.dim_param, 20) or "?"
            for dim in told.shape.dim
        ]
        return f"{_type_name(told.elem_type)} [{','.join(sizes)}]"

    def maker(self, tensor: str) -> ModelNode | None:
        """The node that computes a tensor."""
        return next((node for node in self.nodes if tensor in node.outputs), None)

    @cached_property
    def _values(self) -> dict[str, Any]:
        """What is told of tensors, by the model and by ONNX's own inference of shapes."""
        graph = self.graph
        told = [*graph.value_info, *graph.input, *graph.output]
        with suppress(Exception):  # it refuses models in many ways, and is asked for help only
            inferred = extra("onnx.shape_inference", "onnx").infer_shapes(self.message).graph
            told = [*inferred.value_info, *inferred.output, *told]
        shaped = [one for one in told if one.type.tensor_type.HasField("shape")]
        return {_text(value.name): value for value in (*told, *shaped)}


def operator_of(op_type: str, domain: str) -> Operator:
    """The operator of a node; NotOurs where gscli has none."""
    if domain not in OWN_DOMAINS:
        raise NotOurs(f"{safe(op_type, 60)} is of the domain {safe(domain, 60)}")
    found = framework("onnx").operators.get(operator_name("onnx", op_type).removeprefix("onnx."))
    if found is None:
        raise NotOurs(f"gscli has no operator {safe(op_type, 60)}")
    return found


def attributes_of(node: Any) -> dict[str, object]:  # noqa: ANN401  a protobuf message
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


def data_set_of(folder: Path) -> Path | None:
    """The first `test_data_set_…` beside a model."""
    found = (one for one in folder.glob("test_data_set_*") if one.is_dir())
    return min(found, key=number_of, default=None)


def number_of(data_set: Path) -> tuple[int, str]:
    """What orders data sets: their numbers."""
    number = data_set.name.rpartition("_")[2]
    return int(number) if number.isdecimal() else -1, data_set.name


def recorded(data_set: Path | None, kind: str, tensor: str, known: Sequence[str]) -> str | None:
    """The file of a data set that holds an input or output of the model."""
    if data_set is None or tensor not in known:
        return None
    path = data_set / f"{kind}_{known.index(tensor)}.pb"
    return str(path) if path.is_file() else None


def lacking(model: Model, node: ModelNode, missing: Mapping[str, str]) -> UsageError:
    """What to say where inputs of a node are not given: `missing` by the operator's own names."""
    details = []
    for name, tensor in missing.items():
        maker = model.maker(tensor)
        source = "an input of the model" if maker is None else f"made by {safe(maker.address, 60)}"
        details.append(f"{name}: {safe(tensor, 60)} {model.described(tensor)}, {source}")
    words = " ".join(f"{name}=FILE" for name in missing)
    return UsageError(
        f"{safe(node.address, 60)} needs {' and '.join(missing)}",
        where=model.where,
        details=tuple(details),
        hint=f"save the tensors and add {words}, or a file that holds them by name",
    )


def _is_ours(message: Any) -> bool:  # noqa: ANN401  a protobuf message
    try:
        operator_of(message.op_type, message.domain)
    except NotOurs:
        return False
    return True


def _text(name: str | bytes) -> str:
    """A name; one that is not UTF-8 arrives as bytes."""
    return name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")


def _type_name(code: int) -> str:
    return TYPES[code][0] if code in TYPES else "?"


_LISTED = 12


def _some(names: Sequence[str]) -> str:
    more = f" … and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
