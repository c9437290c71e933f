"""Index tuples before there is a layout: slices become text, masks become positions.

A boolean mask stands for the positions of its True cells (NumPy's rule). How many entries it makes
depends on its values, so masks are replaced before the layout is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np

from gscli.base import UsageError, check_rule
from gscli.base.arrays import Array, Arrays
from gscli.base.records import Arguments
from gscli.base.words import format_shape
from gscli.declare import Signature
from gscli.layout.subscripts import (
    Item,
    check_array_count,
    format_subscript,
    item_axes,
    parse_basic_item,
    parse_subscript,
)
from gscli.plan.indices import true_cells

# Inputs by their names, the masks that some of them are from, and attributes.
ExpandedInputs: TypeAlias = tuple[dict[str, Array], Mapping[str, str], Arguments]

ARRAY = Item("i")


def extract_subscript(
    operator: Signature, inputs: Arguments, attrs: Arguments
) -> tuple[Arguments, Arguments]:
    """Slices, None and `...` among the index arrays as the attribute that says where they stand.

    >>> from gscli.frameworks.numpy import getitem
    >>> extract_subscript(getitem, {"a": 1, "indices_0": slice(1, 3), "indices_1": 2}, {})
    ({'a': 1, 'indices_0': 2}, {'subscript': '1:3, i'})
    """
    basic = {name: parse_basic_item(inputs[name]) for name in operator.variadic_inputs(inputs)}
    if not any(basic.values()):
        return inputs, attrs
    subscript = attrs.get("subscript")
    problem = "slices stand in the subscript or among the indices, not in both"
    check_rule(subscript is None, problem, f"subscript = {subscript!r}"[:200], kind=UsageError)
    items = [item or ARRAY for item in basic.values()]
    kept = [inputs[name] for name, item in basic.items() if item is None]
    rest = {name: value for name, value in inputs.items() if name not in basic}
    named = {f"{operator.variadic}_{number}": value for number, value in enumerate(kept)}
    return {**rest, **named}, {**attrs, "subscript": format_subscript(items)}


def expand_masks(operator: Signature, arrays: Arrays, attrs: Arguments) -> ExpandedInputs:
    """Every mask as index arrays, one per axis it covers; the subscript says which they are.

    Those of a mask are called what makes them of it, nonzero(NAME), or nonzero(NAME)[k] for each of
    several axes; other arrays keep their names. A mask must have the sizes of the axes it covers.

    >>> from gscli.frameworks.numpy import add_at
    >>> inputs = {"a": np.zeros(3), "indices_0": np.array([True, False, True]), "b": np.ones(2)}
    >>> arrays, _, attrs = expand_masks(add_at, inputs, {})
    >>> arrays["nonzero(indices_0)"], attrs
    (array([0, 2]), {'subscript': 'm'})
    """
    names = operator.variadic_inputs(arrays)
    data = arrays.get(operator.input_names[0])
    letters = {name: _mask_letter(operator, arrays[name]) for name in names}
    if data is None or not any(letters.values()):
        return dict(arrays), {}, attrs
    subscript = attrs.get("subscript")
    items = parse_subscript(subscript) if isinstance(subscript, str) else (ARRAY,) * len(names)
    check_array_count(items, len(names))
    waiting, every = iter(names), list[tuple[str, Item]]()
    for item in items:
        name = next(waiting) if item.is_array else ""
        letter, rank = letters.get(name), arrays[name].ndim if name else 0
        every.append((name, item if letter is None else Item(letter if rank else "b")))
        every += [("", Item("+"))] * (rank - 1 if letter else 0)
    kinds = [item for _, item in every]
    axes = {name: axis for (name, _), axis in zip(every, item_axes(kinds, data.ndim), strict=True)}
    result, sources = dict[str, Array](), dict[str, str]()
    for name, array in arrays.items():
        if not letters.get(name):
            result[name] = array
            continue
        label = f"nonzero({name})" if array.ndim else name
        for at, part in enumerate(_mask_positions(name, array, data, axes[name])):
            key = label + f"[{at}]" * (array.ndim > 1)
            result[key], sources[key] = part, name
    return result, sources, {**attrs, "subscript": format_subscript(kinds)}


def _mask_letter(operator: Signature, array: Array) -> Literal["m", "u"] | None:
    """What a mask leaves behind in the subscript; None for an array of indices."""
    if array.dtype.kind == "b":
        return "m"
    return "u" if operator.has_byte_masks and array.dtype == np.uint8 else None


def _mask_positions(name: str, mask: Array, data: Array, axis: int) -> tuple[Array, ...]:
    if mask.ndim == 0:
        return (np.zeros(int(bool(mask)), np.int64),)
    covered = data.shape[axis : axis + mask.ndim]
    problem = "mask does not have the sizes of the axes it covers"
    where = f"{name} {mask.dtype} {format_shape(mask.shape)}"
    rest = f"from axis {axis} on the array is {format_shape(data.shape[axis:])}"
    legal = format_shape(covered) if len(covered) == mask.ndim else ""
    check_rule(mask.shape == covered, problem, where, rest, valid=legal)
    return true_cells(mask, mask.shape)
