"""An operator's own call, for the target that it comes from: data in place of a function each.

What stands here spells a call with the framework's own argument names. Operators that are not here
are written by the steps of their target, which find the same operation again.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from gscli.codegen.meaning import CallAnalysis
from gscli.layout.subscripts import parse_subscript

KEYWORDS = "{function}({named}{attrs})"
POSITIONAL = "{function}({inputs}{attrs})"

CALL_TEMPLATES: Mapping[str, str] = {
    "numpy.take": POSITIONAL,
    "numpy.take_along_axis": POSITIONAL,
    "numpy.put": "{copy}\nnp.put({rest}{attrs})",
    "numpy.put_along_axis": "{copy}\nnp.put_along_axis({rest}{attrs})",
    "numpy.getitem": "data[{subscript}]",
    "numpy.setitem": "{copy}\noutput[{subscript}] = updates",
    "numpy.*.at": "{copy}\n{function}(output, {tuple}, updates)",
    "torch.index": "data[{subscript}]",
    "torch.index_put_": "{clone}\noutput[{subscript}] = updates",
    "torch.put_": "data.clone().put_(indices, updates{attrs})",
    "torch.*": KEYWORDS,
    "jax.at.get": "data.at[{subscript}].get({rest_attrs})",
    "jax.at.*": "data.at[{subscript}].{method}(updates{attrs})",
    "jax.lax.gather": "jax.lax.gather(data, indices, {numbers}{attrs})",
    "jax.lax.*": "{function}(data, indices, updates, {numbers}{attrs})",
    "jax.segment_*": "jax.ops.{name}({inputs}{attrs})",
    "jax.*": POSITIONAL,
    "tensorflow.scatter_nd_*":
        "output = tf.Variable(data)\noutput.{name}(indices, updates)\noutput = output.value()",
    "tensorflow.scatter_nd": "tf.scatter_nd(indices, updates, {shape}{attrs})",
    "tensorflow.batch_gather": "tf.compat.v1.batch_gather(data, indices)",
    "tensorflow.unsorted_segment_*": "tf.math.{name}({inputs}{attrs})",
    "tensorflow.segment_*": "tf.math.{name}({inputs})",
    "tensorflow.*": KEYWORDS,
}  # fmt: skip
"""How a framework's own operators are called; the first name that fits counts."""

PREFIXES = {"numpy": "np", "torch": "torch", "jax": "jnp", "tensorflow": "tf"}

DIMENSION_NUMBER_NAMES = (
    "offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
    "start_indices_batching_dims", "update_window_dims", "inserted_window_dims",
    "scatter_dims_to_operand_dims", "scatter_indices_batching_dims",
)  # fmt: skip
"""Attributes that are the dimension numbers of jax.lax."""

INDEX_NAMES = ("indices", "start_indices", "scatter_indices", "index", "ind", "segment_ids")
"""What frameworks call an input that holds index numbers."""

NON_CALL_ATTRIBUTES = ("opset", "device", "subscript", "validate_indices", "release")
"""Attributes that gscli has and the call has not."""


def write_own_call(meaning: CallAnalysis, target: str) -> list[str] | None:
    """The lines of the operator's own call, or None where the target is not its framework."""
    operator = meaning.operator
    fitting = (
        CALL_TEMPLATES[key] for key in CALL_TEMPLATES if fnmatchcase(operator.full_name, key)
    )
    template = next(fitting, None)
    if operator.framework_name != target or template is None or not _is_expressible(meaning):
        return None
    if not meaning.variables_by_input and any(item.name in INDEX_NAMES for item in operator.inputs):
        return None  # empty index vectors: nothing is read of them
    if "updates" in template and "updates" not in meaning.arrays_by_variable:
        return None  # nothing is written
    facts = _template_fields(meaning)
    if "{subscript}" in template or "{tuple}" in template:
        if facts["subscript"] is None:
            return None
        if "accumulate=True" in str(facts["attrs"]):
            template = "data.index_put(({subscript},), updates, accumulate=True)"
            if set(str(get_subscript(meaning))) - set("i, "):
                return None
    text = template.format(**facts)
    return text.split("\n") if "\n" in text else [f"output = {text}"]


def _is_expressible(meaning: CallAnalysis) -> bool:
    """Whether the call means on every device what it means here, and text keeps its width."""
    attrs = dict(meaning.layout.attributes)
    text = meaning.layout.dtype == "str" and meaning.operator.framework_name == "numpy"
    made = meaning.masks and meaning.operator.name not in ("masked_select", "masked_scatter")
    device = attrs.get("device", "cpu")
    return device == "cpu" and not (text and meaning.layout.kind == "scatter") and not made


def get_subscript(meaning: CallAnalysis) -> object:
    """The subscript attribute."""
    return dict(meaning.layout.attributes).get("subscript") or ""


def _template_fields(meaning: CallAnalysis) -> dict[str, object]:
    operator, layout = meaning.operator, meaning.layout
    variables = meaning.variables
    present = [item.name for item in operator.inputs if item.name in variables]
    attrs = _given_attributes(meaning)
    numbers = {name: attrs.pop(name) for name in list(attrs) if name in DIMENSION_NUMBER_NAMES}
    words = [f"{name}={value!r}" for name, value in attrs.items()]
    prefix = PREFIXES.get(operator.framework_name, "")
    rank_1 = operator.name.startswith("lax.")
    kind = "Gather" if operator.name == "lax.gather" else "Scatter"
    listed = ", ".join(f"{name}={value!r}" for name, value in numbers.items())
    subscript = _format_subscript(meaning)
    return {
        "function": f"jax.{operator.name}" if rank_1 else f"{prefix}.{operator.name}",
        "name": operator.name,
        "method": operator.name.removeprefix("at."),
        "inputs": ", ".join(variables[name] for name in present),
        "named": ", ".join(f"{name}={variables[name]}" for name in present),
        "rest": ", ".join(["output", *(variables[name] for name in present[1:])]),
        "attrs": "".join(f", {word}" for word in words),
        "rest_attrs": ", ".join(words),
        "numbers": f"jax.lax.{kind}DimensionNumbers({listed})",
        "copy": "output = data.copy()",
        "clone": "output = data.clone()",
        "shape": list(layout.output_shape),
        "subscript": subscript,
        "tuple": f"np.s_[{subscript}]",
    }


def _given_attributes(meaning: CallAnalysis) -> dict[str, object]:
    """The attributes that were given otherwise than by default, as the framework takes them."""
    values = dict(meaning.layout.attributes)
    return {
        item.name: values.get(item.name)
        for item in meaning.operator.attributes
        if item.name not in NON_CALL_ATTRIBUTES
        and (item.is_required or values.get(item.name) != item.default)
    }


def _format_subscript(meaning: CallAnalysis) -> str | None:
    """What stands between the brackets, with the names of the index arrays; None for odd masks."""
    names = iter(meaning.variables_by_input.values())
    subscript = dict(meaning.layout.attributes).get("subscript")
    if subscript is None:
        listed = ", ".join(names)
        return listed or "()"
    parts = []
    for item in parse_subscript(str(subscript)):
        if item.kind == "b":
            return None
        part = next(names, None) if item.is_array else str(item)
        if part is None:  # a mask without a True cell addresses nothing, and has no name
            return None
        parts.append(part)
    return ", ".join(parts) or "()"
