"""Whole ONNX models: every gather and scatter of a run judged, the first bad node named.

Without a runtime `onnx.reference` runs the model, with the rules in the place of each gather and
scatter, in branches, loop bodies and functions too. A runtime is asked, in a process of its own,
for what each node of the main graph takes and gives; its answer is held against the rules.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gscli.base import GscliError, InputRefused, Notice, UsageError, check_rule, translate_errors
from gscli.base.arrays import Array, Arrays, as_array, dtype_name, parse_dtype
from gscli.base.records import group_pairs
from gscli.base.words import format_shape, quote_word, sanitize
from gscli.disk.processes import Child, Failure, make_start_error, python_program
from gscli.files.content import import_extra
from gscli.files.formats.tensorproto import TYPES, check_is_inside
from gscli.frameworks.execute import execute
from gscli.lab.difference import describe_difference
from gscli.lab.model_nodes import ModelNode
from gscli.lab.models import OnnxModel
from gscli.traces.check import FindingKind, iter_findings
from gscli.watch.findings import Report, WatchKind

# Findings of one kind that are named at a node.
LISTED = 3

# Seconds that a runtime has for one run of a model.
PATIENCE = 600.0

# How onnxruntime and NumPy refuse bfloat16 on the way in and out.
_NO_ARRAY = re.compile("TypeError: data type '.*' not understood|.* corresponding Numpy type ")

_ASK = """
import json, os, sys
import numpy as np
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what the runtime prints is no answer
runtime, folder = sys.argv[1:]
if runtime == "onnx":
    from onnx.reference import ReferenceEvaluator
else:
    import onnxruntime
print(file=answers, flush=True)
names, kinds = json.load(open(folder + "/names.json"))
try:
    feeds = dict(np.load(folder + "/feeds.npz"))
    feeds |= {name: feeds[name].view(kind) for name, kind in kinds.items()}
    if runtime == "onnx":
        values = ReferenceEvaluator(folder + "/model.onnx").run(names, feeds)
    else:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(
            folder + "/model.onnx", options, providers=["CPUExecutionProvider"])
        values = session.run(names, feeds)
except Exception as error:
    print((type(error).__name__ + ": " + str(error)).replace("\\n", " "), file=answers)
    sys.exit()
values = [item.astype(str) if item.dtype == object else item for item in map(np.asarray, values)]
keys = [f"{value.dtype.name} {at}" for at, value in enumerate(values)]
np.savez(folder + "/values.npz", **dict(zip(keys, values)))
print(file=answers)
"""


class RuntimeStopped(InputRefused):
    """A runtime that did not come to the end of a model; its own words are the details."""


class ModelWatch(Report):
    """What a run of a model does."""

    def __init__(self, model: OnnxModel) -> None:
        super().__init__()
        self.model = _inline_functions(model)
        self._listed = {node.address for node in model.supported_nodes}
        self.inner_only = False  # the nodes of the main graph have been judged
        self._runs = Counter[str]()
        self._nodes = {
            (node.op_type, node.message.name, *node.outputs): node for node in self.model.nodes
        }

    def judge(self, message: Any, values: Sequence[Array | None]) -> Array | None:
        """The rules' answer of a node; None where it is refused, which is then a finding."""
        known = self._nodes.get((message.op_type, message.name, *message.output))
        address = message.name or next(iter(message.output), "")
        node = known or ModelNode(address, message, self.model.graphs[0], 0, self.model.opset)
        pairs = zip(node.operator.input_names, values, strict=False)
        inputs = {name: as_array(value, name) for name, value in pairs if value is not None}
        address, attrs = node.address, node.call_attributes
        self._runs[address] += 1
        is_counted = known is None or node.graph.outer is not None or not self.inner_only
        if is_counted:
            self.calls[message.op_type] += 1
            self.indices += sum(inputs[name].size for name in inputs if name.endswith("indices"))
        label = f"{sanitize(address, 60)} ({message.op_type}, opset {node.opset})"
        label += f", run {self._runs[address]}" if self._runs[address] > 1 else ""
        try:
            _, answer = execute(node.operator, inputs, attrs)
        except GscliError as error:
            details = self._describe_inputs(message, known, inputs)
            items = (
                item.partition(": gscli check")[0] if isinstance(item, str) else item
                for item in error.detail_items  # check has no file of these indices to list
            )
            error.detail_items = (*details, *items)
            error.where = sanitize(f"{self.model.where}: {label}: {error.where}", 600)
            listing = f"gscli run {quote_word(self.model.where)} lists the gathers and scatters"
            own = "functions of the model stand in the places of their calls, with new names"
            error.hint = listing if address in self._listed else own
            self.add("index", error)
            return None
        findings = iter_findings(node.operator, inputs, attrs, LISTED) if is_counted else ()
        texts = group_pairs((finding.kind, finding.text()[:300]) for finding in findings)
        kinds: dict[FindingKind, WatchKind] = {"duplicate": "lost", "open": "open"}
        for kind in filter(texts.get, kinds):
            self.note(kinds[kind], label, *texts[kind])
        return answer

    def note(self, kind: WatchKind, label: str, problem: str, *details: str) -> None:
        """A warning at a node."""
        self.add(kind, Notice(problem, where=f"{self.model.where}: {label}", details=details))

    def _describe_inputs(
        self, message: Any, node: ModelNode | None, inputs: Arrays
    ) -> Iterator[str]:
        for tensor, (name, array) in zip(filter(None, message.input), inputs.items(), strict=False):
            maker = "" if node is None else f", {self.model.describe_producer(node.graph, tensor)}"
            kind = f"{dtype_name(array.dtype)} {format_shape(array.shape)}"
            yield f"{name} is {sanitize(tensor, 60)!r} {kind}{maker}"


class _BadNode(Exception):
    """Ends a run whose node was refused; the finding has been noted."""


def watch_model(
    model: OnnxModel, feeds: Arrays, runtime: str = "", python: str = sys.executable
) -> ModelWatch:
    """Run a model and judge its gathers and scatters.

    Raises UsageError for inputs that are not the model's, ShapeRefused for those of other types or
    shapes, and RuntimeStopped where nothing of ours is the cause. Without a `runtime` the rules
    answer; else its answers are held against them.
    """
    problem = "the inputs are not those of the model"
    legal = ", ".join(sanitize(name, 60) for name in model.inputs)
    where = ", ".join(sanitize(name, 60) for name in feeds) or "none"
    check_rule({*feeds} == {*model.inputs}, problem, where, kind=UsageError, valid=legal)
    model.check_feeds(feeds)
    for tensor in model.message.graph.initializer:
        check_is_inside(tensor, model.where)
    watch = ModelWatch(model)
    if not runtime:
        _run_rules(watch, feeds)
        return watch
    stop = _ask_nodes(watch, feeds, runtime, python)
    inner = sum(node.graph.outer is not None for node in watch.model.supported_nodes)
    if inner and not watch.has_bad_index:
        watch.inner_only, watched = True, sum(watch.calls.values())
        try:
            _run_rules(watch, feeds)
            reason = "answer inside a branch or loop|answers inside branches or loops"
            inner = sum(watch.calls.values()) - watched  # not of a branch that is not taken
        except RuntimeStopped:
            reason = "node inside a branch or loop|nodes inside branches or loops"
        watch.unjudged += Counter({reason: inner})  # where there is any
    if stop is not None and not watch.has_bad_index:
        raise stop
    return watch


def _inline_functions(model: OnnxModel) -> OnnxModel:
    """The model with the bodies of its functions in the places of their calls."""
    if not model.message.functions:
        return model
    inline = import_extra("onnx.inliner", "onnx").inline_local_functions
    with translate_errors(lambda error: _make_stop("onnx.inliner", str(error), model)):
        return OnnxModel(inline(model.message), model.where)


def _run_rules(watch: ModelWatch, feeds: Arrays) -> None:
    evaluator = import_extra("onnx.reference", "onnx").ReferenceEvaluator
    base = import_extra("onnx.reference.op_run", "onnx").OpRun
    loop = import_extra("onnx.reference.ops.op_loop", "onnx").Loop

    def run(self: Any, *values: Any, **_attributes: Any) -> tuple[Array]:
        answer = watch.judge(self.onnx_node, values)
        if answer is None:
            raise _BadNode
        return (answer,)

    names = {node.op_type for node in watch.model.supported_nodes}
    hooks = [type(name, (base,), {"op_domain": "", "_run": run}) for name in sorted(names)]
    hooks.append(type("Loop", (loop,), {"op_domain": "", "_run": _run_loop}))
    try:
        with (
            np.errstate(all="ignore"),
            translate_errors(lambda error: _make_stop("onnx.reference", str(error), watch.model)),
        ):
            evaluator(watch.model.message, new_ops=hooks).run(None, dict(feeds))
    except RuntimeStopped as error:
        if not isinstance(error.__cause__, _BadNode):
            raise


def _run_loop(
    self: Any, trips: Any, go: Any, *carried: Any, context: Arrays, attributes: Any = None, **_: Any
) -> tuple[Any, ...]:
    """The reference's own runs nothing where no condition is given, and joins rows that the
    standard stacks.
    """
    rows: list[Sequence[Any]] = []
    go = np.array(True) if go is None else go
    while go and (trips is None or len(rows) < trips):
        values = (np.array(len(rows)), go, *carried)
        feeds = {**context, **dict(zip(self.body.input_names, values, strict=True))}
        go, *answers = self._run_body(feeds, attributes=attributes)
        carried, row = tuple(answers[: len(carried)]), answers[len(carried) :]
        rows.append(row)
    scanned = enumerate(self.body.output_types[1 + len(carried) :])
    return (*carried, *(_stack_rows([row[at] for row in rows], kind) for at, kind in scanned))


def _stack_rows(rows: Sequence[Array], kind: Any) -> Array:
    """Rows along a new axis; of none an array of the type and sizes that the body declares."""
    sizes, code = [dim.dim_value for dim in kind.tensor_type.shape.dim], kind.tensor_type.elem_type
    return np.stack(rows) if rows else np.empty((0, *sizes), parse_dtype(TYPES[code][0]))


def _make_stop(runtime: str, text: str, model: OnnxModel) -> RuntimeStopped:
    lines = text.strip().splitlines() or ["it said nothing"]
    problem = f"{runtime} does not run this model"
    hint = f"each gather and scatter runs alone: gscli run {quote_word(model.where)}"
    if runtime == "onnx.reference":
        hint = f"onnxruntime may run it: --on onnxruntime; {hint}"
    elif _NO_ARRAY.match(text):
        problem = f"{runtime} has no arrays for Python of a type in this model"
        hint = "without --on the rules run it"
    return RuntimeStopped(problem, where=model.where, details=tuple(lines[-3:]), hint=hint)


def _ask_nodes(watch: ModelWatch, feeds: Arrays, runtime: str, python: str) -> InputRefused | None:
    """Hold the answers of the main graph's nodes against the rules; returns what stopped them."""
    nodes = [node for node in watch.model.supported_nodes if node.graph.outer is None]
    names = [name for node in nodes for name in (*node.inputs, *node.outputs) if name]
    ask = partial(_ask_runtime, watch.model, feeds, runtime, python)
    try:
        tensors, stop = ask(names), None
    except RuntimeStopped as error:
        tensors, stop = {}, error
    for node in nodes:
        if stop is not None:  # what is before this node still runs
            try:
                tensors = ask([name for name in node.inputs if name])
            except RuntimeStopped:
                break
        values = [tensors[name] if name else None for name in node.inputs]
        answer = watch.judge(node.message, values)
        if answer is None:
            break
        if stop is None:
            problem = describe_difference(tensors[node.outputs[0]], answer, noun="by the rules")
            if problem:
                watch.note("answer", sanitize(node.address, 60), f"{runtime}: {problem}")
    return stop


def _ask_runtime(
    model: OnnxModel, feeds: Arrays, runtime: str, python: str, names: Sequence[str]
) -> dict[str, Array]:
    """The values of tensors of the main graph, of which a runtime makes those that nobody knows.

    Only the nodes run that they need. RuntimeStopped where the runtime does not come so far.
    """
    to_array = import_extra("onnx.numpy_helper", "onnx").to_array
    initializers = dict(model.graphs[0].iter_tensors())
    known = {name: to_array(initializers[name]) for name in names if name in initializers}
    known |= {name: feeds[name] for name in names if name in feeds}
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if not unknown:
        return known
    message = _cut_model(model.message, unknown)
    inputs = {value.name for value in message.graph.input}
    with TemporaryDirectory() as folder:
        Path(folder, "model.onnx").write_bytes(message.SerializeToString())
        own = {name: array for name, array in feeds.items() if name in inputs}
        # An .npz does not know of bfloat16 and the like.
        kinds = {name: array.dtype.name for name, array in own.items() if array.dtype.kind == "V"}
        Path(folder, "names.json").write_text(json.dumps([unknown, kinds]), encoding="utf-8")
        np.savez(f"{folder}/feeds.npz", **own)  # type: ignore[arg-type]  # names of tensors
        try:
            with Child(python_program(python, _ASK, runtime, folder)) as child:
                start = child.exchange(b"", PATIENCE)
                if isinstance(start, Failure):
                    raise make_start_error(start.text)
                line = child.exchange(b"", PATIENCE)
        except OSError as error:
            raise make_start_error(f"{python}: {error.strerror}"[-300:]) from None
        text = line.text if isinstance(line, Failure) else line.decode("utf-8", "replace")
        if text:
            raise _make_stop(runtime, text, model)
        with np.load(f"{folder}/values.npz") as archive:
            for name, (key, value) in zip(unknown, archive.items(), strict=True):
                is_opaque = value.dtype.kind == "V"
                known[name] = value.view(parse_dtype(key.split()[0])) if is_opaque else value
    return known


def _cut_model(message: Any, outputs: Sequence[str]) -> Any:
    """A model that makes these tensors of its main graph, with the nodes that they need."""
    cut = type(message).FromString(message.SerializeToString())
    needed, kept = set(outputs), []
    for node in reversed(message.graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(_iter_names_read(node))
    for field, items in (
        (cut.graph.node, kept[::-1]),
        (cut.graph.input, [value for value in message.graph.input if value.name in needed]),
    ):
        del field[:]
        field.extend(items)
    del cut.graph.output[:]
    for name in outputs:
        cut.graph.output.add().name = name
    return cut


def _iter_names_read(node: Any) -> Iterator[str]:
    """What a node reads: its inputs, and all that the graphs inside it name."""
    yield from node.input
    for item in node.attribute:
        for graph in [*([item.g] if item.HasField("g") else []), *item.graphs]:
            yield from (value.name for value in graph.output)
            for inner in graph.node:
                yield from _iter_names_read(inner)
