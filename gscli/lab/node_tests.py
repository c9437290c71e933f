"""Official ONNX node tests: folders with `model.onnx` and `test_data_set_*/input_*.pb`.

A folder whose model is no single gather or scatter is not run: it says nothing about gscli.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from gscli import files
from gscli.base import CannotRead, ContentRefused, GscliError, check_rule
from gscli.base.records import Record
from gscli.base.words import format_count, sanitize
from gscli.disk.mapped import read_errors
from gscli.frameworks.execute import execute
from gscli.lab.difference import describe_difference
from gscli.lab.model_nodes import ForeignNode, ModelNode
from gscli.lab.models import DATA_SET, OnnxModel, list_data_sets

MODEL = "model.onnx"
MODEL_LIMIT = 64 << 20


class NodeTestResult(Record):
    """One data set of one folder; `problem` is empty when the output was right.

    `skipped` says why a folder was not run; it has one outcome then, without a data set.
    """

    folder: str
    data_set: str
    problem: str = ""
    skipped: str = ""

    @property
    def status(self) -> Literal["passed", "failed", "skipped"]:
        """What is counted."""
        return "skipped" if self.skipped else "failed" if self.problem else "passed"

    def to_dict(self) -> dict[str, str]:
        """The JSON form."""
        document = {"folder": self.folder, "data_set": self.data_set, "status": self.status}
        return {**document, "problem": self.problem or self.skipped}


def find_test_folders(paths: list[str]) -> list[Path]:
    """Folders that hold a model: the ones named, or those one level below them, sorted.

    A model.onnx may be named in place of its folder, and one data set of a folder alone.
    """
    folders: list[Path] = []
    for text in paths:
        path = Path(text)
        with read_errors(sanitize(text)):
            if path.name == MODEL and path.is_file():
                path = path.parent
            alone = path.name.startswith(DATA_SET) and (path.parent / MODEL).is_file()
            if alone or (path / MODEL).is_file():
                folders.append(path)
                continue
            below = sorted(model.parent for model in path.glob(f"*/{MODEL}"))
        where, hint = sanitize(text), "name a node-test folder, or a folder of them"
        check_rule(bool(below), f"no {MODEL} here", where, kind=CannotRead, hint=hint)
        folders += below
    return folders


def run_folder(folder: Path) -> Iterator[NodeTestResult]:
    """Run every data set of a folder, or the data set that is named itself.

    A refusal is an outcome, not an error.
    """
    chosen = None if (folder / MODEL).is_file() else folder
    folder = folder if chosen is None else folder.parent
    name = sanitize(str(folder))
    try:
        node = read_test_node(folder / MODEL)
        sets = [chosen] if chosen else list_data_sets(folder)
    except ForeignNode as reason:
        yield NodeTestResult(name, "", skipped=reason.problem)
        return
    except GscliError as error:
        yield NodeTestResult(name, "", str(error))
        return
    if not sets:
        yield NodeTestResult(name, "", "no test_data_set_* folder")
    for data_set in sets:
        try:
            recorded = _load_tensor(data_set / "output_0.pb", "output")
            answer = execute(node.operator, load_inputs(node, data_set), node.call_attributes)[1]
            problem = describe_difference(answer, recorded)
        except GscliError as error:
            problem = str(error)
        yield NodeTestResult(name, sanitize(data_set.name), problem)


def load_inputs(node: ModelNode, data_set: Path) -> dict[str, NDArray[Any]]:
    """The inputs that a data set holds, by the operator's own names."""
    return {
        name: _load_tensor(data_set / f"input_{number}.pb", name)
        for number, name in enumerate(node.tensors)
    }


def _load_tensor(path: Path, name: str) -> NDArray[Any]:
    with read_errors(sanitize(str(path))):
        if path.is_fifo():  # nobody may ever write into it
            raise CannotRead("a pipe is no tensor of a node test", where=sanitize(str(path)))
    return files.load(str(path), name=name).array


def is_node_test(path: str) -> bool:
    """Whether a file is the model of a node test: one node, with a data set beside it.

    So are those of which a test's outcome tells more: a damaged one, and one node of another kind.
    """
    if Path(path).name != MODEL:
        return False
    try:
        model = OnnxModel.read(path)
    except ContentRefused:
        return True
    is_tested = len(model.nodes) == 1 and bool(list_data_sets(Path(path).parent))
    return len(model.graph.node) == 1 and (is_tested or not model.supported_nodes)


def read_test_node(path: Path) -> ModelNode:
    """The node of a one-node model. ContentRefused for damage; needs the onnx package.

    ForeignNode for several nodes, another domain, or an operator that is no gather or scatter.
    """
    model = OnnxModel.read(str(path), MODEL_LIMIT)
    problem = f"the model has {format_count(len(model.graph.node), 'node')}, a node test has one"
    check_rule(len(model.graph.node) == 1, problem, kind=ForeignNode)
    node, *_ = model.nodes
    _ = node.operator
    return node
