"""A finding of `fuzz` as a script in the runtime's own words, and as a text for its makers.

Neither needs gscli. A framework is called as `--code` writes an operator's own call, a runtime of
models gets a model of one node; how each is run stands in a table.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from gscli.base import GscliError
from gscli.base.arrays import Arrays, dtype_name
from gscli.base.words import format_count, join_lines, sanitize
from gscli.codegen.analysis import name_indices
from gscli.codegen.own import format_own_call
from gscli.codegen.preamble import format_literal, list_imports
from gscli.codegen.render import load_language
from gscli.codegen.stablehlo_language import write_module_run
from gscli.disk.system import write_errors
from gscli.lab.calls import dump_call
from gscli.runtimes.catalogue import NAMES, load_shared_module
from gscli.runtimes.findings import Cause, FuzzFinding, FuzzReport
from gscli.runtimes.generator import infer_roles
from gscli.runtimes.packs import case_to_record
from gscli.runtimes.protocol import Reply
from gscli.runtimes.reports import format_values
from gscli.runtimes.trials import FuzzCase

# Where the rules of an operator are written; the first name that fits counts.
DOCUMENTATION = {
    "onnx.*": "https://onnx.ai/onnx/operators/onnx__{wire}.html",
    "numpy.*item": "https://numpy.org/doc/stable/user/basics.indexing.html",
    "numpy.*.at": "https://numpy.org/doc/stable/reference/generated/numpy.ufunc.at.html",
    "numpy.*": "https://numpy.org/doc/stable/reference/generated/numpy.{name}.html",
    **dict.fromkeys(
        ("torch.embedding*", "torch.one_hot", "torch.nll_loss", "torch.max_unpool?d"),
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.{name}.html",
    ),
    "torch.index": "https://docs.pytorch.org/docs/stable/tensors.html",
    "torch.segment_reduce": "https://docs.pytorch.org/docs/stable/tensors.html",  # has no page
    "torch.*": "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.{name}.html",
    "jax.at.*": "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
    "jax.lax.*": "https://docs.jax.dev/en/latest/_autosummary/jax.{name}.html",
    "jax.segment_*": "https://docs.jax.dev/en/latest/_autosummary/jax.ops.{name}.html",
    "jax.*": "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.{name}.html",
    "tensorflow.scatter_nd_*": "https://www.tensorflow.org/api_docs/python/tf/compat/v1/{name}",
    "tensorflow.batch_gather": "https://www.tensorflow.org/api_docs/python/tf/compat/v1/{name}",
    "tensorflow.*segment_*": "https://www.tensorflow.org/api_docs/python/tf/math/{name}",
    "tensorflow.*": "https://www.tensorflow.org/api_docs/python/tf/{name}",
    "stablehlo.*": "https://openxla.org/stablehlo/spec#{name}",
    "openvino.*": "https://docs.openvino.ai",
    "mxnet.*": "https://mxnet.apache.org/versions/1.9.1/api/python/docs/api/",
    "caffe2.*": "https://caffe2.ai/docs/operators-catalogue.html",
}

# What a variant makes of a function; the first name that fits counts.
WRAPPERS = {
    "torch:compile": "call = torch.compile(call, dynamic=False)",
    "torch:?*": '{names}, = [array.to("{variant}") for array in ({names},)]',
    "jax:jit": "call = jax.jit(call)",
    "jax:op-by-op": 'jax.config.update("jax_disable_jit", True)',
    "tensorflow:xla": "call = tf.function(call, jit_compile=True)",
}

# The output of a function and what flows back through it to its inputs of fractions.
GRADIENTS = {
    "torch": """\
leaves = [array.requires_grad_() for array in ({leaves},)]
output = call({names})
gradients = torch.autograd.grad(output, leaves, cotangent, allow_unused=True)""",
    "jax": """\
output, walk_back = jax.vjp(lambda {leaves}: call({names}), {leaves})
gradients = walk_back(cotangent)""",
    "tensorflow": """\
with tf.GradientTape() as tape:
    tape.watch([{leaves}])
    output = call({names})
gradients = tape.gradient(output, [{leaves}], cotangent)""",
}

OPENVINO_RUN = """\
import openvino as ov
from openvino import opset{opset} as ops
axis = arrays.pop("axis", None)
nodes = [ops.parameter(list(array.shape), array.dtype) for array in arrays.values()]
inputs = nodes if axis is None else [*nodes, ops.constant(axis)]
model = ov.Model([ops.{name}(*inputs, **{attrs})], nodes)
settings = {{"INFERENCE_PRECISION_HINT": "f32"}}
output = ov.compile_model(model, "{variant}", settings)([*arrays.values()])[0]"""

SHOW_OUTPUT = 'print("seen:    ", output.tolist(), output.dtype, output.shape)'
SHOW_TENSORS = 'print("seen:    ", output)'


def write_script(case: FuzzCase, on: str, expected: str) -> str:
    """A script that prints what is expected and what the runtime `on` gives.

    "" for a command, and for a call that cannot be said in the runtime's words.

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
    is_model = case.operator.framework_name in ("onnx", "openvino", "stablehlo")
    lines = (_write_model_run if is_model else _write_own_run)(case, name, variant, expectation)
    language = load_language("numpy" if is_model and name != "stablehlo" else name)
    return join_lines([*list_imports(language, lines), *lines] if lines else [])


def _write_model_run(case: FuzzCase, name: str, variant: str, expectation: str) -> list[str]:
    """A model of one node, or a function that does the same, on arrays by name."""
    call = dump_call(case.operator, case.inputs, case.attrs)
    kinds = [dtype_name(array.dtype) for array in case.inputs.values()]
    numpy = load_language("numpy")
    if name == "stablehlo":
        models = load_shared_module("stablehlo_models")
        if variant or {*kinds} - models.TYPES.keys():
            return []
        text = models.module(call["op"], [*case.inputs.values()], call["attrs"]).split("\n")
        shape = (-1,) if case.plan is None else case.plan.layout.output_shape
        body = write_module_run(text, "*arrays.values()", kinds, kinds[0], shape)
    elif name == "openvino":
        if {"bfloat16", "str"} & {*kinds}:
            return []
        # ScatterNDUpdate-3 is in the Python module of opset 4.
        fields = {**call, "variant": variant or "CPU", "name": case.operator.name}
        fields |= {"opset": 4} if (call["op"], call["opset"]) == ("ScatterNDUpdate", 3) else {}
        body = [OPENVINO_RUN.format(**fields)]
    else:
        wire = call["op"], call["opset"], case.inputs, call["attrs"]
        body = [load_shared_module("onnx_models").format_run(name, variant, *wire)]
    inputs = case.inputs.items()
    arrays = ", ".join(f"{key!r}: {format_literal(array, numpy)}" for key, array in inputs)
    return [f"arrays = {{{arrays}}}", expectation, *body, SHOW_OUTPUT]


def _write_own_run(case: FuzzCase, name: str, variant: str, expectation: str) -> list[str]:
    """The call as a user of the framework writes it, its inputs named data, indices and updates."""
    variables = _name_inputs(case)
    values = {key: tuple(value) if isinstance(value, list) else value
              for key, value in case.attrs.items()}  # fmt: skip
    shape = case.inputs["shape"].tolist() if "shape" in case.inputs else ()
    call = format_own_call(case.operator, variables, values, shape)
    if call is None or (variant == "xla" and "tf.Variable" in "".join(call)):
        return []
    language = load_language(name)
    arrays = {word: case.inputs[key] for key, word in variables.items()}
    leaves = ", ".join(word for word, array in arrays.items() if array.dtype.kind in "fV")
    # A mask decides shapes: what is compiled has it for a constant.
    kept = {word for word, array in arrays.items() if array.dtype.kind != "b"} | {"data", "updates"}
    names = ", ".join(word for word in arrays if word in kept)
    show = SHOW_TENSORS if name == "tensorflow" else SHOW_OUTPUT
    if variant or case.cotangent is not None:
        *body, last = call
        body += [last, "return output"] if body else [last.replace("output = ", "return ", 1)]
        wrappers = (text for key, text in WRAPPERS.items() if fnmatchcase(f"{name}:{variant}", key))
        run = "output = call({names})" if case.cotangent is None else GRADIENTS[name]
        call = [f"def call({names}):", *(f"    {line}" for line in body)]
        for template in (*[*wrappers][:1], run):
            call.append(template.format(names=names, leaves=leaves, variant=variant))
    if case.cotangent is not None:
        arrays["cotangent"] = case.cotangent
        show = f'{SHOW_TENSORS}\nprint("gradients of {leaves}:", *gradients)'
    loads = [f"{key} = {format_literal(array, language)}" for key, array in arrays.items()]
    return [*loads, expectation, *call, show]


def _name_inputs(case: FuzzCase) -> dict[str, str]:
    """The names in the lines of all inputs but a shape, by what they are in a plain call."""
    roles = infer_roles(case.operator)
    known = {"mask": "mask", roles.layout.data_name: "data", roles.updates: "updates"}
    words = name_indices([name for name in case.inputs if name not in (*known, "shape")])
    return {name: known.get(name) or words[name] for name in case.inputs if name != "shape"}


def format_expected(finding: FuzzFinding) -> str:
    """What the rules give, or how they refuse; of a recorded case what its record has."""
    expected, record = finding.case.expected_result, finding.case.record
    if record is not None and record.expect != "output":
        return {"error": "a refusal", "open": "an answer or a refusal"}[record.expect]
    if record is not None:
        flows = record.gradients if finding.case.has_gradients else None
        return _format_tensors(Reply("output", record.output, gradients=flows).tensors)
    if isinstance(expected, GscliError):
        return f"a refusal: {expected}"
    return _format_tensors(finding.case.expected_tensors())


def _format_tensors(tensors: Arrays) -> str:
    return "; ".join(
        f"{name}{' ' if name else ''}{format_values(array)} {dtype_name(array.dtype)}"
        for name, array in tensors.items()
    )


def format_markdown(cause: Cause, title: str, script: str) -> str:
    """A text that can be filed: versions, the call, what is seen and expected, the rule."""
    finding = cause.findings[0]
    case, reply = finding.case, finding.reply
    operator = case.operator
    seen = reply.text or _format_tensors(reply.tensors) or reply.status
    wire = dump_call(operator, case.inputs, case.attrs)["op"]
    link = next(url for key, url in DOCUMENTATION.items() if fnmatchcase(operator.full_name, key))
    rules = ", ".join(sorted(case.distinctions)) or "a plain call"
    calls = format_count(finding.calls_before, "other call")
    after = f" after {calls}" if finding.calls_before else ""
    own = [f"The text leaves this open: {case.open_text}.", ""] if case.open_text else []
    runs = ["```python", script.rstrip(), "```", ""] if script else []
    return "\n".join([
        f"# {operator.full_name}: {finding.meaning}", "",
        f"Version: {title}. Met: {rules}{after}.", "", *runs,
        f"Expected: `{sanitize(format_expected(finding), 2000)}`", "",
        f"Seen: `{sanitize(seen, 2000)}`", "", *own,
        f"The rule ({link.format(name=operator.name, wire=wire)}):", "",
        *(f"> {line}".rstrip() for line in operator.doc.splitlines()),
        "", "The case, and others of the same cause, as lines that `gscli verify` reads:", "",
        "```json", *(json.dumps(case_to_record(other.case, number))
                     for number, other in enumerate(cause.findings, 1)), "```", "",
    ])  # fmt: skip


class ReportFolder:
    """A text for each cause, and a script where `write_script` has one, written as they come."""

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
            for name, text in files.items() - self._written.items():
                (self._folder / name).write_text(text, "utf-8")
        self._written = files

    def _iter_files(self, report: FuzzReport) -> Iterator[tuple[str, str]]:
        counts = Counter[str]()
        for cause in report.causes:
            finding = cause.findings[0]
            name = re.sub(r"[^A-Za-z0-9]+", "-", finding.signature)[:120]
            counts[name] += 1  # a refusal and a value may meet the same rules
            name += f"-{counts[name]}" if counts[name] > 1 else ""
            facts = finding.case, self._on, format_expected(finding)
            script = "" if finding.mismatch.kind == "sequence" else write_script(*facts)
            if script:  # no call alone shows a sequence
                yield f"{name}.py", script
            yield f"{name}.md", format_markdown(cause, report.hello.title, script)
