"""Which rules of an operator a call puts to the test, in words.

Kinds of differences are told apart by these words, and a pack of cases is measured by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from gscli.base.arrays import Array, Arrays, dtype_name
from gscli.base.records import Arguments
from gscli.frameworks.duplicates import find_duplicate_cells
from gscli.frameworks.operator import Operator
from gscli.layout import Layout
from gscli.layout.axes import Fit
from gscli.layout.subscripts import parse_subscript
from gscli.plan.indices import legal_range
from gscli.plan.plan import Plan

# Types of data that need no word.
USUAL_TYPES = ("float32", "float64", "int32", "int64")

# Words that a pack of cases is measured by, and that tell no kinds of differences apart.
BOUNDARY_RULES = frozenset(("lowest index", "highest index"))


def find_covered_rules(operator: Operator, inputs: Arrays, plan: Plan) -> frozenset[str]:
    """Words for everything unusual about a call; its indices may be out of range.

    >>> import gscli
    >>> run = gscli.trace("gather", {"data": [1, 2, 3], "indices": [-1]})
    >>> sorted(find_covered_rules(run.operator, run.inputs, run.plan))
    ['highest index', 'negative index']
    """
    layout = plan.layout
    attributes = dict(layout.attributes)
    rules = (
        _iter_index_rules(plan), _iter_shape_rules(plan, inputs), _iter_dtype_rules(layout, inputs),
        _iter_attribute_rules(operator, attributes, layout),
        _iter_subscript_rules(operator, attributes, inputs),
    )  # fmt: skip
    return frozenset(chain.from_iterable(rules))


def find_value_words(array: Array) -> Iterator[str]:
    """Words for values that are no small whole numbers; no rule of an operator is about them.

    >>> list(find_value_words(np.array([np.nan, -0.0, 0.5])))
    ['NaN', 'a zero below zero', 'fractions']
    """
    with np.errstate(all="ignore"):
        if array.dtype.kind == "U":
            texts = array.reshape(-1).tolist()
            yield from ["text beyond ASCII"] * (not all(map(str.isascii, texts)))
            yield from ["empty text"] * ("" in texts)
        elif array.dtype.kind in "iu":
            wide = np.asarray(array.astype(np.int32) != array)
            yield from ["values beyond 32 bits"] * bool(wide.any())
        elif array.dtype.kind == "f" or dtype_name(array.dtype) == "bfloat16":
            finite = np.isfinite(array)
            flags = {
                "NaN": np.isnan(array),
                "infinity": np.isinf(array),
                "a zero below zero": (array == 0) & np.signbit(array),
                "values beyond float32": finite & (array.astype(np.float32) != array),
                "fractions": finite & (np.trunc(array) != array),
            }
            yield from (word for word, holds in flags.items() if holds.any())


def _iter_index_rules(plan: Plan) -> Iterator[str]:
    layout = plan.layout
    for numbers, axis_number in zip(plan.columns, layout.column_axes, strict=True):
        axis = layout.axes[axis_number]
        _, high = legal_range(axis, layout.policy)
        rules = {
            "negative index": (numbers < 0) & (numbers >= -axis.size),
            "lowest index": numbers == -axis.size,
            "highest index": ((numbers == high) | (numbers == -1)) & (high > 0),
            "index too large": numbers > high,
            "index too small": numbers < -axis.size,
        }
        yield from (rule for rule, flags in rules.items() if flags.any())


def _iter_shape_rules(plan: Plan, inputs: Arrays) -> Iterator[str]:
    layout, several = plan.layout, find_duplicate_cells(plan)
    entries, rank = layout.addressing.entry_shape, len(layout.data_shape)
    indices = [inputs[name] for name in layout.index_inputs if name in inputs]
    updates = None if layout.updates is None else inputs.get(layout.updates.name or "")
    is_empty, has_entries = 0 in layout.data_shape, bool(layout.entry_count)
    rules = {
        f"duplicates under {layout.reduction}": several is not None and several.any(),
        "no entries": not has_entries,
        "empty data": is_empty,
        "empty slices": has_entries and not is_empty and not layout.window_size,
        "slices": layout.window_size > 1,
        "several numbers in a vector": len(layout.addressing.columns) > 1,
        "rank 4 or more": rank >= 4,  # noqa: PLR2004
        "data of rank 0": not rank,
        "indices of rank 0": any(array.ndim == 0 for array in indices),
        "stretched updates": (
            layout.updates is not None
            and layout.updates.fit is Fit.BROADCAST
            and updates is not None
            and updates.shape != layout.result_shape
        ),
        "indices smaller than data": any(
            axis.entry is not None and entries[axis.entry] < axis.size for axis in layout.axes
        ),
    }
    return (rule for rule, holds in rules.items() if holds)


def _iter_attribute_rules(operator: Operator, values: Arguments, layout: Layout) -> Iterator[str]:
    newest = operator.versions[-1] if operator.versions else None
    for attribute in operator.attributes:
        name, value = attribute.name, values.get(attribute.name)
        if name in ("axis", "dim") and isinstance(value, int):
            yield from ["axis from the end"] * (value < 0)
            yield from ["axis beyond the first"] * bool(value % max(len(layout.data_shape), 1))
        elif name == "opset" and value not in (None, newest):
            yield f"opset {value}"
        elif (name == "batch_dims" or name.endswith("batching_dims")) and value:
            yield "batch axes"
        elif attribute.kind in ("choice", "bool") and value != attribute.default:
            yield f"{name}={str(value).lower() if isinstance(value, bool) else value}"


def _iter_dtype_rules(layout: Layout, inputs: Arrays) -> Iterator[str]:
    if layout.dtype not in USUAL_TYPES:
        yield f"data {layout.dtype}"
    for name in layout.index_inputs:
        if name in inputs and dtype_name(inputs[name].dtype) not in ("int64", "bool"):
            yield f"indices {dtype_name(inputs[name].dtype)}"


def _iter_subscript_rules(operator: Operator, attrs: Arguments, inputs: Arrays) -> Iterator[str]:
    """Masks, and what stands between the brackets beside index arrays."""
    many = operator.variadic_inputs(inputs)
    masks = [item.name for item in operator.inputs if item.kind == "mask"]
    for name in (*many, *masks):
        kind = inputs[name].dtype
        if kind.kind == "b" or (operator.has_byte_masks and kind == np.uint8):
            yield "mask" if inputs[name].ndim else "mask of rank 0"
    for item in parse_subscript(str(attrs.get("subscript") or "")):
        if not item.is_array:
            yield f"{item.kind} in a subscript"
