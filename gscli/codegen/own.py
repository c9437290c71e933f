"""An operator's own call, for the target that it comes from: data in place of a function each.

What stands here spells a call with the framework's own argument names. Operators that are not here
are written by the steps of their target, which find the same operation again.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from gscli.codegen.analysis import CallAnalysis
from gscli.layout.families import GATHER_NAMES, SCATTER_NAMES
from gscli.layout.subscripts import parse_subscript

CALL_TEMPLATES: Mapping[str, str] = {
    "numpy.take": "np.{path}({inputs}{attrs})",
    "numpy.take_along_axis": "np.{path}({inputs}{attrs})",
    "numpy.put": "output = data.copy()\nnp.put(output, {others}{attrs})",
    "numpy.put_along_axis": "output = data.copy()\nnp.put_along_axis(output, {others}{attrs})",
    "numpy.getitem": "data[{subscript}]",
    "numpy.setitem": "output = data.copy()\noutput[{subscript}] = updates",
    "numpy.*.at": "output = data.copy()\nnp.{path}(output, np.s_[{subscript}], updates)",
    "torch.index": "data[{subscript}]",
    "torch.index_put_": "output = data.clone()\noutput[{subscript}] = updates",
    "torch.put_": "data.clone().put_(indices, updates{attrs})",
    **dict.fromkeys(
        ("torch.embedding", "torch.one_hot", "torch.max_unpool?d"),
        "torch.nn.functional.{path}({inputs}{attrs})",
    ),
    "torch.*": "torch.{path}({named}{attrs})",
    "jax.at.get": "data.at[{subscript}].get({attrs})",
    "jax.at.*": "data.at[{subscript}].{name}(updates{attrs})",
    "jax.lax.dynamic_*": "jax.{path}({inputs}{attrs})",
    "jax.lax.gather":
        "jax.{path}({inputs}, jax.lax.GatherDimensionNumbers({numbers}){attrs})",
    "jax.lax.*": "jax.{path}({inputs}, jax.lax.ScatterDimensionNumbers({numbers}){attrs})",
    "jax.segment_*": "jax.ops.{path}({inputs}{attrs})",
    "jax.*": "jnp.{path}({inputs}{attrs})",
    "tensorflow.scatter_nd_*":
        "output = tf.Variable(data)\noutput.{path}(indices, updates)\noutput = output.value()",
    "tensorflow.scatter_nd": "tf.scatter_nd(indices, updates, {shape}{attrs})",
    "tensorflow.batch_gather": "tf.compat.v1.batch_gather(data, indices)",
    "tensorflow.unsorted_segment_*": "tf.math.{path}({inputs}{attrs})",
    "tensorflow.segment_*": "tf.math.{path}({inputs})",
    "tensorflow.*": "tf.{path}({named}{attrs})",
}  # fmt: skip
"""How a framework's own operators are called; the first name that fits counts."""

INDEX_NAMES = ("indices", "start_indices", "scatter_indices", "index", "ind", "segment_ids")
"""What frameworks call an input that holds index numbers."""

CALL_ATTRIBUTES = ("kernel_size",)
"""Attributes that gscli can do without, and the call cannot."""

NON_CALL_ATTRIBUTES = ("opset", "device", "subscript", "validate_indices", "release")
"""Attributes that gscli has and the call has not."""


def write_own_call(analysis: CallAnalysis, target: str) -> list[str] | None:
    """The lines of the operator's own call, or None where the target is not its framework."""
    operator, attrs = analysis.operator, _given_attributes(analysis)
    fitting = (text for key, text in CALL_TEMPLATES.items() if fnmatchcase(operator.full_name, key))
    template = next(fitting, None)
    if operator.framework_name != target or template is None or not _is_expressible(analysis):
        return None
    if "updates" in template and "updates" not in analysis.arrays_by_variable:
        return None  # nothing is written
    subscript = _format_subscript(analysis)
    if "{subscript}" in template:
        if subscript is None:
            return None
        if attrs.get("accumulate"):
            template = "data.index_put(({subscript},), updates, accumulate=True)"
            if set(analysis.subscript or "") - set("i, "):
                return None
    inputs = [item.name for item in operator.inputs if item.name in analysis.variables]
    variables = [analysis.variables[name] for name in inputs]
    words = {name: f"{name}={value!r}" for name, value in attrs.items()}
    numbers = [words.pop(name) for name in attrs if name in (*GATHER_NAMES, *SCATTER_NAMES)]
    text = template.format(
        path=operator.name,
        name=operator.name.removeprefix("at."),
        inputs=", ".join(variables),
        others=", ".join(variables[1:]),
        named=", ".join(map("{}={}".format, inputs, variables)),
        attrs="".join(f", {word}" for word in words.values()),
        numbers=", ".join(numbers),
        shape=list(analysis.layout.output_shape),
        subscript=subscript,
    ).replace("(, ", "(")
    return text.split("\n") if "\n" in text else [f"output = {text}"]


def _is_expressible(analysis: CallAnalysis) -> bool:
    """Whether the call means on every device what it means here, and text keeps its width."""
    operator, attrs = analysis.operator, dict(analysis.layout.attributes)
    text = analysis.layout.dtype == "str" and operator.framework_name == "numpy"
    made = analysis.masks and operator.name not in ("masked_select", "masked_scatter")
    # Nothing is read of index vectors that are empty.
    empty = not analysis.variables_by_input and any(
        item.name in INDEX_NAMES for item in operator.inputs
    )
    if any(attrs.get(name, 0) is None for name in CALL_ATTRIBUTES):
        return False
    on_cpu = attrs.get("device", "cpu") == "cpu"
    return on_cpu and not (text and analysis.layout.kind == "scatter") and not made and not empty


def _given_attributes(analysis: CallAnalysis) -> dict[str, object]:
    """The attributes that were given otherwise than by default, as the framework takes them."""
    values = dict(analysis.layout.attributes)
    return {
        item.name: values.get(item.name)
        for item in analysis.operator.attributes
        if item.name not in NON_CALL_ATTRIBUTES
        and (item.is_required or values.get(item.name) != item.default)
    }


def _format_subscript(analysis: CallAnalysis) -> str | None:
    """What stands between the brackets, with the names of the index arrays; None for odd masks."""
    names = iter(analysis.variables_by_input.values())
    if analysis.subscript is None:
        return ", ".join(names) or "()"
    items = parse_subscript(analysis.subscript)
    parts = [next(names, None) if item.is_array else str(item) for item in items]
    # A mask of no dimension has no name, nor a mask without a True cell, which addresses nothing.
    if None in parts or any(item.kind == "b" for item in items):
        return None
    return ", ".join(map(str, parts)) or "()"
