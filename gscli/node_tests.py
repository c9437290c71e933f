"""Official ONNX node tests: folders with `model.onnx` and `test_data_set_*/input_*.pb`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gscli import files
from gscli.cases import difference, operator_name
from gscli.errors import CannotRead, ContentRefused, GscliError
from gscli.execute import execute
from gscli.formats.content import open_content
from gscli.formats.extras import extra
from gscli.formats.tensorproto import parsed
from gscli.frameworks import find
from gscli.text import safe

MODEL = "model.onnx"
MODEL_LIMIT = 64 << 20


@dataclass(frozen=True)
class Node:
    """The one node of a test model: its operator, attributes and the model's opset."""

    op_type: str
    attrs: dict[str, object]
    opset: int
    inputs: int


@dataclass(frozen=True)
class Outcome:
    """One data set of one folder; `problem` is empty when the output was right."""

    folder: str
    data_set: str
    problem: str = ""

    def to_dict(self) -> dict[str, str]:
        """The JSON form."""
        return {"folder": self.folder, "data_set": self.data_set, "problem": self.problem}


def folders_below(paths: list[str]) -> list[Path]:
    """Folders that hold a model: the ones named, or those one level below them, sorted."""
    found: list[Path] = []
    for text in paths:
        path = Path(text)
        if (path / MODEL).is_file():
            found.append(path)
            continue
        below = sorted(model.parent for model in path.glob(f"*/{MODEL}"))
        if not below:
            raise CannotRead(
                f"no {MODEL} here",
                where=safe(text),
                hint="name a node-test folder, or a folder of them",
            )
        found += below
    return found


def run_folder(folder: Path) -> Iterator[Outcome]:
    """Run every data set of one folder; a refusal is an outcome, not an error."""
    name = safe(str(folder))
    try:
        node = read_node(folder / MODEL)
        sets = sorted(folder.glob("test_data_set_*"), key=_number)
    except GscliError as error:
        yield Outcome(name, "", str(error))
        return
    if not sets:
        yield Outcome(name, "", "no test_data_set_* folder")
    for data_set in sets:
        try:
            problem = _judge(node, data_set)
        except GscliError as error:
            problem = str(error)
        yield Outcome(name, safe(data_set.name), problem)


def _number(data_set: Path) -> tuple[int, str]:
    number = data_set.name.rpartition("_")[2]
    return int(number) if number.isdecimal() else -1, data_set.name


def _judge(node: Node, data_set: Path) -> str:
    operator = find(operator_name("onnx", node.op_type))
    names = [item.name for item in operator.inputs]
    if node.inputs != len(names):
        raise ContentRefused(f"{node.op_type} has {node.inputs} inputs", valid=" ".join(names))
    inputs = {
        name: files.load(str(data_set / f"input_{number}.pb"), name=name).array
        for number, name in enumerate(names)
    }
    recorded = files.load(str(data_set / "output_0.pb"), name="output").array
    answer = execute(operator, inputs, {**node.attrs, "opset": node.opset}).output
    return difference(answer, recorded)


def read_node(path: Path) -> Node:
    """The node of a one-node model. ContentRefused for anything else; needs the onnx package."""
    with open_content(str(path), MODEL_LIMIT) as content:
        model = parsed("ModelProto", content, MODEL_LIMIT)
    if len(model.graph.node) != 1:
        raise ContentRefused(
            f"the model has {len(model.graph.node)} nodes, a node test has one",
            where=safe(str(path)),
        )
    node = model.graph.node[0]
    opsets = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    return Node(node.op_type, _attributes(node), max(opsets, default=1), len(node.input))


def _attributes(node: Any) -> dict[str, object]:  # noqa: ANN401  a protobuf message
    helper = extra("onnx.helper", "onnx")
    values = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    return {
        name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        for name, value in values.items()
    }
