"""A finding of `fuzz` as a script in the runtime's own words, and as a text for its makers.

Neither needs gscli. Where `--code` writes an operator's own call, the script has these lines, and
models of ONNX and OpenVINO are built as the call says; else it is the adapter with its request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from gscli.base import GscliError
from gscli.base.arrays import dtype_name
from gscli.base.words import sanitize
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.own import write_own_call
from gscli.codegen.preamble import PreambleWriter, format_literal
from gscli.codegen.render import load_language
from gscli.disk.system import write_errors
from gscli.lab.calls import dump_call
from gscli.plan.plan import ValidatedPlan
from gscli.runtimes.catalogue import NAMES, bundle_adapter
from gscli.runtimes.findings import Cause, FuzzFinding, FuzzReport
from gscli.runtimes.packs import case_to_record
from gscli.runtimes.reports import format_values
from gscli.runtimes.trials import MISMATCH_WORDS, FuzzCase

DOCUMENTATION = {
    "onnx.*": "https://onnx.ai/onnx/operators/onnx__{wire}.html",
    "numpy.*item": "https://numpy.org/doc/stable/user/basics.indexing.html",
    "numpy.*.at": "https://numpy.org/doc/stable/reference/generated/numpy.ufunc.at.html",
    "numpy.*": "https://numpy.org/doc/stable/reference/generated/numpy.{name}.html",
    "torch.*_": "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.{name}.html",
    "torch.*": "https://docs.pytorch.org/docs/stable/generated/torch.{name}.html",
    "jax.at.*": "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
    "jax.lax.*": "https://docs.jax.dev/en/latest/_autosummary/jax.{name}.html",
    "jax.segment_*": "https://docs.jax.dev/en/latest/_autosummary/jax.ops.{name}.html",
    "jax.*": "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.{name}.html",
    "tensorflow.*": "https://www.tensorflow.org/api_docs/python/tf/{name}",
    "stablehlo.*": "https://openxla.org/stablehlo/spec#{name}",
    "openvino.*": "https://docs.openvino.ai",
}
"""Where the rules of an operator are written; the first name that fits counts."""

ONNX_RUNS = {
    "onnxruntime": "import onnxruntime\n"
    "session = onnxruntime.InferenceSession(model.SerializeToString())\n"
    "output = session.run(None, arrays)[0]",
    "onnx": "from onnx.reference import ReferenceEvaluator\n"
    "output = ReferenceEvaluator(model).run(None, arrays)[0]",
}
"""How a model of ONNX is run on arrays by name."""

ONNX_MODEL = """\
import onnx
from onnx import helper
def describe(name, array):
    kind = onnx.TensorProto.STRING
    if array.dtype != object:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)
node = helper.make_node("{op}", [*arrays], ["output"], **{attrs})
infos = [describe(name, array) for name, array in arrays.items()]
kind = infos[0].type.tensor_type.elem_type
result = helper.make_tensor_value_info("output", kind, None)
graph = helper.make_graph([node], "one_node", infos, [result])
opsets = [helper.make_opsetid("", {opset})]
model = helper.make_model(graph, opset_imports=opsets, ir_version=9)"""

OPENVINO_RUN = """\
import openvino as ov
from openvino import opset{opset} as ops
axis = arrays.pop("axis", None)
nodes = [ops.parameter(list(array.shape), array.dtype) for array in arrays.values()]
inputs = nodes if axis is None else [*nodes, ops.constant(axis)]
model = ov.Model([ops.{name}(*inputs, **{attrs})], nodes)
settings = {{"INFERENCE_PRECISION_HINT": "f32"}}
output = ov.compile_model(model, "CPU", settings)([*arrays.values()])[0]"""

MAX_SCRIPT_LINES = 60
"""Lines of a script that its text has in it; what has more is an adapter."""

ADAPTER_END = 'if __name__ == "__main__":'


def write_script(case: FuzzCase, on: str, expected: str) -> str:
    """A script that prints what is expected and what the runtime `on` gives; "" for a command.

    >>> import numpy as np
    >>> from gscli.frameworks import find_operator
    >>> inputs = {"a": np.array([1, 2]), "indices": np.array([-1])}
    >>> case = FuzzCase(find_operator("numpy.take"), inputs, {})
    >>> print(write_script(case, "numpy", "[2]"), end="")
    import numpy as np
    data = np.array([1, 2], np.int64)
    indices = np.array([-1], np.int64)
    print('expected:', '[2]', flush=True)
    output = np.take(data, indices)
    print("seen:    ", output.tolist(), output.dtype, output.shape)
    """
    name, _, variant = on.partition(":")
    if name not in NAMES:
        return ""
    expectation = f"print('expected:', {expected!r}, flush=True)"
    lines = None if variant else _write_own_lines(case, name, expectation)
    if lines is None:
        return _write_adapter(case, name, variant, expectation)
    text = "output" if name == "tensorflow" else "output.tolist(), output.dtype, output.shape"
    return "\n".join([*lines, f'print("seen:    ", {text})', ""])


def _write_own_lines(case: FuzzCase, name: str, expectation: str) -> list[str] | None:
    """The call as a user of the framework writes it; None where that is not known."""
    kinds = {dtype_name(array.dtype) for array in case.inputs.values()}
    if case.plan is None or case.cotangent is not None:
        return None
    if name in ONNX_RUNS or name == "openvino":
        if "bfloat16" in kinds or (name == "openvino" and "str" in kinds):
            return None
        call = dump_call(case.operator, case.inputs, case.attrs)
        numpy = load_language("numpy")
        arrays = ", ".join(
            f"{key!r}: {format_literal(case.inputs[key], numpy)}" for key in case.inputs
        )
        own = {"op": call["op"], "opset": call["opset"], "attrs": call["attrs"]}
        if name == "openvino":  # ScatterNDUpdate-3 is in the Python module of opset 4
            own |= {"opset": 4} if (own["op"], own["opset"]) == ("ScatterNDUpdate", 3) else {}
            body = OPENVINO_RUN.format(**own, name=case.operator.name)
        else:
            body = f"{ONNX_MODEL.format(**own)}\n{ONNX_RUNS[name]}"
        return ["import numpy as np", f"arrays = {{{arrays}}}", expectation, body]
    # What is refused for an index has a plan, too: it is enough for the operator's own call.
    analysis = CallAnalysis(case.operator, cast(ValidatedPlan, case.plan))
    try:
        own_call = write_own_call(analysis, name)
        if own_call is None or analysis.has_mask:
            return None
        preamble = PreambleWriter(analysis, {}).write(load_language(name), own_call)
    except GscliError:
        return None
    return [*preamble, expectation, *own_call]


def _write_adapter(case: FuzzCase, name: str, variant: str, expectation: str) -> str:
    """The runtime's adapter, which imports nothing of gscli, with the request in it."""
    request: dict[str, Any] = {"id": 1, **dump_call(case.operator, case.inputs, case.attrs)}
    if case.cotangent is not None:
        request["cotangent"] = case_to_record(case, 1)["cotangent"]
    return "\n".join([
        bundle_adapter(name).partition(ADAPTER_END)[0].rstrip(), "", "", ADAPTER_END,
        f"    {expectation}",
        "    sys.modules.update(dict.fromkeys(REPORTERS))",
        f"    print('seen:    ', _answer(start({variant!r}), json.loads({json.dumps(request)!r})))",
        "",
    ])  # fmt: skip


def format_expected(finding: FuzzFinding) -> str:
    """What the rules give, or how they refuse."""
    expected = finding.case.expected_result
    if isinstance(expected, GscliError):
        return f"a refusal: {expected}"
    tensors = finding.case.expected_tensors().items()
    return "; ".join(
        f"{name}{' ' if name else ''}{format_values(array)} {dtype_name(array.dtype)}"
        for name, array in tensors
    )


def format_markdown(cause: Cause, title: str, script: str) -> str:
    """A text that can be filed: versions, the call, what is seen and expected, the rule."""
    finding = cause.findings[0]
    case, reply = finding.case, finding.reply
    operator = case.operator
    seen = reply.text or reply.status
    if reply.output is not None:
        seen = f"{format_values(reply.output)} {dtype_name(reply.output.dtype)}"
    wire = dump_call(operator, case.inputs, case.attrs)["op"]
    pattern = next(key for key in DOCUMENTATION if fnmatchcase(operator.full_name, key))
    link = DOCUMENTATION[pattern].format(name=operator.name, wire=wire)
    rules = ", ".join(sorted(case.distinctions)) or "a plain call"
    after = f" after {finding.calls_before:,} other calls" if finding.calls_before else ""
    own = [f"The text leaves this open: {case.open_text}.", ""] if case.open_text else []
    runs = ["```python", script.rstrip(), "```"] if script else []
    if len(script.splitlines()) > MAX_SCRIPT_LINES:
        runs = ["The script beside this text shows it."]
    return "\n".join([
        f"# {operator.full_name}: {MISMATCH_WORDS[finding.mismatch.kind]}", "",
        f"Version: {title}. Met: {rules}{after}.", "", *runs, "",
        f"Expected: `{sanitize(format_expected(finding), 2000)}`", "",
        f"Seen: `{sanitize(seen, 2000)}`", "", *own,
        f"The rule ({link}):", "", *(f"> {line}".rstrip() for line in operator.doc.splitlines()),
        "", "The case, and others of the same cause, as lines that `gscli verify` reads:", "",
        "```json", *(json.dumps(case_to_record(other.case, number))
                     for number, other in enumerate(cause.findings, 1)), "```", "",
    ])  # fmt: skip


class ReportFolder:
    """A script and a text for each cause, written as they come."""

    def __init__(self, folder: str, on: str) -> None:
        self._folder, self._on = Path(folder), on
        self._written: dict[str, str] = {}

    def update(self, report: FuzzReport) -> None:
        """Write what is new and remove what another finding covers by now. CannotWrite."""
        files = dict(self._iter_files(report))
        with write_errors(str(self._folder)):
            self._folder.mkdir(parents=True, exist_ok=True)
            for name in self._written.keys() - files.keys():
                (self._folder / name).unlink(missing_ok=True)
            for name, text in files.items():
                if self._written.get(name) != text:
                    (self._folder / name).write_text(text, "utf-8")
        self._written = files

    def _iter_files(self, report: FuzzReport) -> Iterator[tuple[str, str]]:
        for cause in report.causes:
            finding = cause.findings[0]
            name = re.sub(r"[^A-Za-z0-9]+", "-", finding.signature)[:120]
            script = write_script(finding.case, self._on, format_expected(finding))
            if script:
                yield f"{name}.py", script
            yield f"{name}.md", format_markdown(cause, report.hello.title, script)
