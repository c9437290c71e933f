"""An operator's own call, for the target that it comes from: data in place of a function each.

What stands here spells a call with the framework's own argument names. Operators that are not here
are written by the steps of their target, which find the same operation again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import filter as filter_names
from math import prod

from gscli.base.records import Arguments
from gscli.codegen.analysis import CallAnalysis
from gscli.frameworks.operator import Operator
from gscli.layout.families import GATHER_NAMES, SCATTER_NAMES
from gscli.layout.subscripts import parse_subscript

# How a framework's own operators are called, or with which attribute given; the first that fits
# counts.
CALL_TEMPLATES: Mapping[str, str] = {
    **dict.fromkeys(("numpy.take*", "numpy.compress"), "np.{path}({inputs}{attrs})"),
    "numpy.put*": "output = data.copy()\nnp.{path}(output, {others}{attrs})",
    "numpy.getitem": "data[{subscript}]",
    "numpy.setitem": "output = data.copy()\noutput[{subscript}] = updates",
    "numpy.*.at": "output = data.copy()\nnp.{path}(output, np.s_[{subscript}], updates)",
    "torch.index": "data[{subscript}]",
    "torch.index_put_ accumulate": "data.index_put(({subscript},), updates, accumulate=True)",
    "torch.index_put_": "output = data.clone()\noutput[{subscript}] = updates",
    "torch.put_": "data.clone().put_(indices, updates{attrs})",
    **dict.fromkeys(
        ("torch.embedding", "torch.one_hot", "torch.max_unpool?d"),
        "torch.nn.functional.{path}({inputs}{attrs})",
    ),
    **dict.fromkeys(
        ("torch.embedding_bag", "torch.nll_loss"), "torch.nn.functional.{path}({named}{attrs})"
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
    # The function has no such argument.
    "tensorflow.tensor_scatter_nd_update bad_indices_policy":
        "tf.raw_ops.TensorScatterUpdate({named}{attrs})",
    "tensorflow.scatter_nd_*":
        "output = tf.Variable(data)\noutput.{path}(indices, updates)\noutput = output.value()",
    "tensorflow.scatter_nd": "tf.scatter_nd(indices, updates, {shape}{attrs})",
    "tensorflow.batch_gather": "tf.compat.v1.batch_gather(data, indices)",
    "tensorflow.*segment_*": "tf.math.{path}({inputs}{attrs})",
    "tensorflow.*": "tf.{path}({named}{attrs})",
}  # fmt: skip

# Attributes that gscli has and the call has not.
NON_CALL_ATTRIBUTES = ("opset", "device", "subscript", "validate_indices", "release")


def write_own_call(analysis: CallAnalysis, target: str) -> list[str] | None:
    """The lines of the operator's own call, or None where the target is not its framework."""
    if analysis.operator.framework_name != target or not _is_expressible(analysis):
        return None
    facts = dict(analysis.layout.attributes), analysis.layout.output_shape
    call = format_own_call(analysis.operator, analysis.variables, *facts)
    is_at, shape = analysis.operator.full_name.endswith(".at"), analysis.layout.result_shape
    if call and is_at and 1 < analysis.values[-1].size < prod(shape):
        # NumPy 2.4 reads past values that ufunc.at stretches itself.
        call.insert(0, f"updates = np.broadcast_to(updates, {shape})")
    return call


def format_own_call(
    operator: Operator, variables: Mapping[str, str], values: Arguments, shape: Sequence[int]
) -> list[str] | None:  # fmt: skip
    """The lines of an operator's own call; None where it has none, or has no name for a mask.

    `variables` are the names of its inputs in the lines: data, indices, updates, by its own names.
    """
    attrs, name = _list_given_attributes(operator, values), operator.full_name
    calls = [name, *map(f"{name} {{}}".format, attrs)]
    fitting = (text for key, text in CALL_TEMPLATES.items() if filter_names(calls, key))
    template = next(fitting, None)
    if template is None or ("updates" in template and "updates" not in variables.values()):
        return None  # nothing is written
    words = values.get("subscript")
    indices = [variable for variable in variables.values() if variable.startswith("indices")]
    subscript = _format_subscript(None if words is None else str(words), indices)
    if "{subscript}" in template:
        # PyTorch's index_put takes arrays alone, and at least one.
        is_plain = bool(indices) and not set(str(words or "")) - set("i, ")
        if subscript is None or ("accumulate" in attrs and not is_plain):
            return None
    inputs = [item.name for item in operator.inputs if item.name in variables]
    names = [variables[name] for name in inputs]
    words_by_name = {name: f"{name}={value!r}" for name, value in attrs.items()}
    # JAX has them in an object of their own.
    numbers = [words_by_name.pop(name) for name in attrs if name in GATHER_NAMES + SCATTER_NAMES]
    text = template.format(
        path=operator.name,
        name=operator.name.removeprefix("at."),
        inputs=", ".join(names),
        others=", ".join(names[1:]),
        named=", ".join(map("{}={}".format, inputs, names)),
        attrs="".join(f", {word}" for word in words_by_name.values()),
        numbers=", ".join(numbers),
        shape=list(shape),
        subscript=subscript,
    ).replace("(, ", "(")
    return text.split("\n") if "\n" in text else [f"output = {text}"]


def _is_expressible(analysis: CallAnalysis) -> bool:
    """Whether the call means on every device what it means here, and text keeps its width."""
    operator, attrs = analysis.operator, dict(analysis.layout.attributes)
    text = analysis.layout.dtype == "str" and operator.framework_name == "numpy"
    # What is empty is not read, and has no name in lines.
    tensors = {item.name for item in operator.inputs if item.kind not in ("values", "many")}
    unnamed = tensors & {*analysis.plan.inputs} - {*analysis.variables}
    if attrs.get("kernel_size", 0) is None:
        return False  # gscli can do without it, the call cannot
    on_cpu = attrs.get("device", "cpu") == "cpu"
    return on_cpu and not (text and analysis.layout.kind == "scatter") and not unnamed


def _list_given_attributes(operator: Operator, values: Arguments) -> dict[str, object]:
    """The attributes that were given otherwise than by default, as the framework takes them."""
    return {
        item.name: values.get(item.name, item.default)
        for item in operator.attributes
        if item.name not in NON_CALL_ATTRIBUTES
        and (item.is_required or values.get(item.name, item.default) != item.default)
    }


def _format_subscript(subscript: str | None, index_variables: Sequence[str]) -> str | None:
    """What stands between the brackets, with the names of the index arrays; None for odd masks."""
    if subscript is None:
        return ", ".join(index_variables) or "()"
    names, items = iter(index_variables), parse_subscript(subscript)
    parts = [next(names, None) if item.is_array else str(item) for item in items]
    # A mask of no dimension has no name, nor a mask without a True cell, which addresses nothing.
    if None in parts or any(item.kind == "b" for item in items):
        return None
    return ", ".join(map(str, parts)) or "()"
