"""Index values become addresses, every one of them judged.

From the arrays of a call to its plan: masks and numbers are put in place, the layout is asked for.
How large a result may become is judged from shapes alone, before anything is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from gscli.base import LimitRefused, Notice, UsageError, check_rule
from gscli.base.arrays import (
    MAX_CHUNKED_BYTES,
    Array,
    Arrays,
    as_array,
    dtype_name,
    is_lazy,
    parse_dtype,
)
from gscli.base.records import Arguments
from gscli.base.words import format_shape
from gscli.declare import Signature
from gscli.disk.mapped import RegularFile
from gscli.layout import Layout
from gscli.layout.axes import DtypeError, Tensor
from gscli.plan.plan import Plan

if TYPE_CHECKING:
    from gscli.files import LoadedInput
    from gscli.plan.masks import ExpandedInputs

# Bytes an output may have, or four times the inputs' if that is more, unless the caller says.
DEFAULT_LIMIT = 1 << 30

# Entries that a call may always have, whatever its tensors hold.
MAX_FREE_ENTRIES = 1 << 20

_MAX_AXES = 64
_MAX_BYTES = (1 << 63) - 1

_VALUES_LIMIT = 64
_LAYOUT_CACHE: dict[tuple[object, ...], Layout] = {}
_LAYOUT_CACHE_SIZE = 256
_EXACT_KINDS = frozenset({int, str, bool, type(None)})


class CallInputs:
    """The inputs of a call: arrays by argument name, where each came from, what was changed.

    `attrs`: the attributes, with the subscript that the words and masks make. `file`: the .npy file
    of the first input, open, where a patch may be written into it. `words`, `texts` and `dtype`:
    what was typed for inputs, attributes and their type; no input has a word where one stands for
    all of them.
    """

    words: Mapping[str, str] = MappingProxyType({})
    texts: Mapping[str, str] = MappingProxyType({})
    dtype: str | None = None

    def __init__(
        self,
        arrays: dict[str, Array],
        origins: dict[str, str],
        typed: dict[str, bool],
        attrs: Arguments = MappingProxyType({}),
        file: RegularFile | None = None,
    ) -> None:
        self.arrays, self.origins, self.is_typed, self.attrs = arrays, origins, typed, attrs
        self.file = file
        self.notices: list[Notice] = []

    @classmethod
    def from_loaded(
        cls,
        loaded: Mapping[str, LoadedInput],
        operator: Signature | None = None,
        attrs: Arguments = MappingProxyType({}),
    ) -> CallInputs:
        """The inputs as they were read; the masks of an `operator` that takes them become indices.

        >>> from gscli import files
        >>> inputs = CallInputs.from_loaded({"data": files.load("[1, 2]")})
        >>> inputs.arrays["data"].tolist(), inputs.origins, inputs.is_typed
        ([1, 2], {'data': 'inline'}, {'data': False})
        """
        arrays = {name: item.array for name, item in loaded.items()}
        sources: Mapping[str, str] = {}
        if operator is not None:
            arrays, sources, attrs = expand_inputs(operator, arrays, attrs)
        items = {name: loaded[sources.get(name, name)] for name in arrays}
        origins = {name: item.origin for name, item in items.items()}
        typed = {name: item.is_typed for name, item in items.items()}
        file = next((item.file for item in loaded.values() if item.file is not None), None)
        return cls(arrays, origins, typed, attrs, file)

    @classmethod
    def from_values(
        cls, operator: Signature, values: Arguments, attrs: Arguments,
        *, leave: bool = False, max_bytes: int | None = None,
    ) -> CallInputs:  # fmt: skip
        """The inputs of a caller from Python, whose lists have no type.

        `leave`: data in the chunks of a zarr or Dask array are left there, as a `LazyArray`.

        >>> from gscli.frameworks.onnx import gather
        >>> inputs = CallInputs.from_values(gather, {"data": [7], "indices": np.array([0])}, {})
        >>> inputs.is_typed
        {'data': False, 'indices': True}
        """
        if operator.variadic in values and not operator.variadic_inputs(values):
            values = name_index_arrays(operator, values)
        if operator.variadic is not None and {*map(type, values.values())} != {np.ndarray}:
            from gscli.plan.masks import extract_subscript

            values, attrs = extract_subscript(operator, values, attrs)
        first = operator.input_names[0] if leave else None
        arrays = {
            name: as_input(value, name, leave=name == first, max_bytes=max_bytes)
            for name, value in values.items()
        }
        arrays, sources, attrs = expand_inputs(operator, arrays, attrs)
        typed = {name: hasattr(values[sources.get(name, name)], "dtype") for name in arrays}
        return cls(arrays, dict.fromkeys(arrays, "inline"), typed, attrs)


def name_index_arrays(operator: Signature, values: Arguments) -> Arguments:
    """Each part of a tuple of indices as an input by its own name.

    >>> from gscli.frameworks.numpy import getitem
    >>> name_index_arrays(getitem, {"a": [[7]], "indices": (0, [0])})
    {'a': [[7]], 'indices_0': 0, 'indices_1': [0]}
    """
    rest = dict(values)
    parts = rest.pop(str(operator.variadic))
    if operator.has_byte_masks and isinstance(parts, list):  # PyTorch's tuple of tensors
        parts = tuple(parts) if any(hasattr(part, "dtype") for part in parts) else parts
    named = enumerate(parts if isinstance(parts, tuple) else (parts,))
    return {**rest, **{f"{operator.variadic}_{number}": part for number, part in named}}


def plan_call(
    operator: Signature, inputs: Arguments, attrs: Arguments, *, max_bytes: int | None = None
) -> Plan:
    """The plan of a call from Python whose inputs have the types that the operator takes.

    Slices, masks and numbers are put in their places first.
    """
    call = CallInputs.from_values(operator, inputs, attrs, max_bytes=max_bytes)
    return build_plan(infer_layout(operator, call.arrays, call.attrs), call.arrays, max_bytes)


def expand_inputs(
    operator: Signature, arrays: dict[str, Array], attrs: Arguments
) -> ExpandedInputs:
    """Numbers that are given as arrays become attributes, and masks index arrays."""
    if not operator.scalar_attributes.isdisjoint(arrays):
        arrays, attrs = bind_scalar_arrays(operator, arrays, attrs)
    if operator.variadic is not None and "indices_per_axis" in attrs:  # of recorded cases
        number, counted = len(operator.variadic_inputs(arrays)), attrs["indices_per_axis"]
        if not isinstance(counted, int) or counted != number:
            raise UsageError(f"indices_per_axis is {counted!r}, got {number} arrays"[:200])
        attrs = {key: value for key, value in attrs.items() if key != "indices_per_axis"}
    if operator.variadic is None or {item.dtype.kind for item in arrays.values()}.isdisjoint("bu"):
        return arrays, {}, attrs
    from gscli.plan.masks import expand_masks

    return expand_masks(operator, arrays, attrs)


def as_input(value: object, name: str, *, leave: bool, max_bytes: int | None = None) -> Array:
    """An array of a caller from Python; with `leave`, one in chunks is not read."""
    if leave and type(value) is not np.ndarray and hasattr(value, "chunks"):
        from gscli.files.stores.zarr_store import as_lazy_array

        lazy = as_lazy_array(value, name, MAX_CHUNKED_BYTES if max_bytes is None else max_bytes)
        if lazy is not None:
            return lazy
    return as_array(value, name)


def build_plan(layout: Layout, arrays: Arrays, max_bytes: int | None) -> Plan:
    """The plan of a call whose masks are in place; index values are not checked yet.

    What was left in chunks and is not data of a stream, or not in its type, is read after all.
    Raises LimitRefused where the output would be too large.
    """
    for name, array in arrays.items():
        if is_lazy(array) and not (
            layout.data_name == name and dtype_name(array.dtype) == layout.dtype != "str"
        ):
            arrays = {**arrays, name: array.source.read_all()}
    check_output_size(layout, arrays, max_bytes)
    return Plan(layout, arrays)


def infer_layout(
    operator: Signature,
    arrays: Arrays,
    attrs: Arguments,
    dtype_errors: list[DtypeError] | None = None,
) -> Layout:
    """The layout for these arrays; reads values only of inputs that decide shapes.

    The newest layouts are kept: many calls in a row are alike, and a layout cannot change.
    `dtype_errors` takes the refusals of element types, in place of their being raised.
    """
    kinds = operator.shape_inputs
    decisions = {name: _shape_values(arrays[name], kinds[name]) for name in kinds if name in arrays}
    key = _layout_cache_key(operator, arrays, attrs, decisions)
    layout = _LAYOUT_CACHE.get(key) if key is not None else None
    if layout is None:
        tensors = {}
        for name, array in arrays.items():
            shape, dtype, values = array.shape, dtype_name(array.dtype), decisions.get(name)
            tensors[name] = Tensor(name, shape, dtype, values, dtype_errors)
        layout = operator.infer_layout(tensors, attrs)
        if key is not None and not dtype_errors:
            if len(_LAYOUT_CACHE) >= _LAYOUT_CACHE_SIZE:
                _LAYOUT_CACHE.clear()
            _LAYOUT_CACHE[key] = layout
    return layout


def _layout_cache_key(
    operator: Signature, arrays: Arrays, attrs: Arguments, decisions: Arguments
) -> tuple[object, ...] | None:
    """All that a layout is made from; None where attributes are of types that may compare equal
    and yet mean different things, as 1 and 1.0 or 0.0 and -0.0.
    """
    parts: list[object] = [operator, *decisions.values()]
    for name, array in arrays.items():
        parts += name, array.shape, array.dtype
    for name, value in attrs.items():
        kind = type(value)
        if kind in _EXACT_KINDS:
            parts += name, kind, value
        elif isinstance(value, (tuple, list)) and all(type(item) is int for item in value):
            parts += name, kind, tuple(value)
        else:
            return None
    return tuple(parts)


def bind_scalar_arrays(
    operator: Signature, arrays: Arrays, attrs: Arguments
) -> tuple[dict[str, Array], Arguments]:
    """A number given as an array of rank 0 is the attribute of that name (PyTorch's value)."""
    known = operator.scalar_attributes
    numbers = {name: array for name, array in arrays.items() if name in known}
    for name, array in numbers.items():
        once, where = not array.ndim and name not in attrs, f"{name} {format_shape(array.shape)}"
        check_rule(once, f"{name} takes one number, once", where, kind=UsageError, valid="[]")
    rest = {name: array for name, array in arrays.items() if name not in known}
    return rest, {**attrs} | {name: array.item() for name, array in numbers.items()}


def _shape_values(array: Array, kind: str | None) -> tuple[int, ...] | None:
    if kind == "mask":
        return (int(np.count_nonzero(array)),)
    if array.dtype.kind not in "iu":
        return None
    if kind == "largest" and array.size:
        return (int(array.max()),)
    if kind == "ascending" and array.ndim == 1 and array.size:
        return int(array[-1]), int(bool((array[1:] >= array[:-1]).all()))
    if kind != "values" or array.size > _VALUES_LIMIT:
        return None
    return tuple(array.reshape(-1).tolist())


def check_output_size(layout: Layout, arrays: Arrays, max_bytes: int | None) -> None:
    """Refuse amplification from shapes alone: an output far larger than what was given."""
    if layout.data_name is not None:
        width = arrays[layout.data_name].dtype.itemsize
    else:
        width = 8 if layout.dtype == "str" else parse_dtype(layout.dtype).itemsize
    axes, cells = layout.max_allocated
    limit = DEFAULT_LIMIT if max_bytes is None else min(max_bytes, DEFAULT_LIMIT)
    modest = axes <= _MAX_AXES and width * cells <= limit
    if modest and layout.entry_count <= MAX_FREE_ENTRIES:
        return
    _check_allocatable(layout, width)
    _check_entry_count(layout, arrays)
    needed = width * layout.output_size
    size = sum(array.nbytes for array in arrays.values())
    limit = max(DEFAULT_LIMIT, 4 * size) if max_bytes is None else max_bytes
    problem, legal = "the output would be too large", f"at most {limit:,} bytes"
    about = f"output {layout.dtype} {format_shape(layout.output_shape)}", f"{needed:,} bytes"
    hint = f"--max-bytes {needed}"
    check_rule(needed <= limit, problem, *about, kind=LimitRefused, valid=legal, hint=hint)


def _check_entry_count(layout: Layout, arrays: Arrays) -> None:
    """Every entry is judged and visited: there may not be far more of them than values. Shapes with
    a zero can promise any number of entries, each of which moves nothing.
    """
    values = sum(array.size for array in arrays.values()) + layout.output_size
    fits = layout.entry_count <= max(MAX_FREE_ENTRIES, values)
    problem = "there are more entries than values"
    where = f"{layout.entry_count:,} entries, {values:,} values in and out"
    legal = f"at most {MAX_FREE_ENTRIES:,} entries that move nothing"
    hint = "shorten the axes beside a zero: nothing is moved along them"
    check_rule(fits, problem, where, kind=LimitRefused, valid=legal, hint=hint)


def _check_allocatable(layout: Layout, width: int) -> None:
    """NumPy counts the bytes of a shape without its zeros, and no more than 64 axes."""
    problem = "no array can have the shape of the output"
    legal = f"at most {_MAX_AXES} axes and 2^63 bytes, sizes of zero not counted"
    hint = "shorten the other axes, or take fewer of them"
    for shape in layout.allocated_shapes:
        fits = len(shape) <= _MAX_AXES and width * prod(filter(None, shape)) <= _MAX_BYTES
        where = f"{len(shape)} axes: {format_shape(shape)}"[:200]
        check_rule(fits, problem, where, kind=LimitRefused, valid=legal, hint=hint)
