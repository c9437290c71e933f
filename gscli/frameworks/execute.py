"""Operator + arrays -> plan and output. What the command line, Python callers and cases all use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from gscli import kernel
from gscli.base.arrays import as_array, dtype_name, dtype_named
from gscli.base.errors import LimitRefused, UsageError
from gscli.base.text import show_shape
from gscli.files import mapped
from gscli.frameworks import find
from gscli.frameworks.operator import Operator, numbered
from gscli.layout.axes import Tensor
from gscli.layout.layout import Layout
from gscli.plan.masks import without_masks
from gscli.plan.plan import Plan

Array = NDArray[Any]

DEFAULT_LIMIT = 1 << 30
"""Bytes an output may have, or four times the inputs' if that is more, unless the caller says."""

_VALUES_LIMIT = 64
_LAYOUTS: dict[tuple[object, ...], Layout] = {}
_LAYOUTS_KEPT = 256
_EXACT_KINDS = frozenset({int, str, bool, type(None)})
_MOST_AXES = 64
_MOST_BYTES = (1 << 63) - 1


@dataclass(frozen=True)
class Run:
    """One finished call: the operator, its inputs by name, the plan and the output."""

    operator: Operator
    inputs: Mapping[str, Array]
    plan: Plan
    output: Array

    @property
    def layout(self) -> Layout:
        """The layout that the plan resolves."""
        return self.plan.layout


def run(
    name: str,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object] | None = None,
    *,
    max_bytes: int | None = None,
) -> Array:
    """Run `framework.operator` on arrays by argument name; only GscliError leaves.

    >>> run("onnx.scatter_nd", {"data": [1, 2, 3], "indices": [[0]], "updates": [9]})
    array([9, 2, 3])
    """
    return execute(named(name, inputs, attrs), inputs, attrs or {}, max_bytes=max_bytes).output


def named(name: object, inputs: object, attrs: object) -> Operator:
    """The operator of a call from Python, whose arguments may be anything."""
    if not isinstance(name, str):
        raise UsageError("the operator is named by a string", where=f"{name!r}"[:200])
    for what, value in (("inputs", inputs), ("attrs", {} if attrs is None else attrs)):
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise UsageError(f"{what} must map names to values", where=f"{value!r}"[:200])
    return find(name)


def call(operator: Operator, inputs: Sequence[object], attrs: Mapping[str, object]) -> Array:
    """The Python callable of an operator: inputs by position, or by name among the keywords."""
    names, many = operator.input_names, operator.many
    if len(inputs) > len(names):
        raise UsageError(
            f"{operator.full_name} takes {len(names)} inputs, got {len(inputs)}",
            valid=" ".join(names),
        )
    named = dict(zip(names, inputs, strict=False))
    if len(inputs) < len(names) and attrs:
        named.update({name: attrs[name] for name in names[len(inputs) :] if name in attrs})
        attrs = {name: value for name, value in attrs.items() if name not in named}
    if many in named:
        group = named.pop(many)
        parts = group if isinstance(group, tuple) else (group,)
        named.update({f"{many}_{i}": part for i, part in enumerate(parts)})
    present = {key: value for key, value in named.items() if value is not None}
    return _computed(operator, present, attrs, None)[2]


def execute(
    operator: Operator,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object],
    *,
    max_bytes: int | None = None,
    overlay: bool = False,
) -> Run:
    """Judge, plan and run one call. Raises GscliError alone.

    With `overlay`, the output of a scatter into a large mapped file has the file's own pages where
    nothing is written: for callers that are done with it before the file changes.
    """
    return Run(operator, *_computed(operator, inputs, attrs, max_bytes, overlay=overlay))


def _computed(
    operator: Operator,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object],
    max_bytes: int | None,
    *,
    overlay: bool = False,
) -> tuple[Mapping[str, Array], Plan, Array]:
    try:
        arrays, plan = planned(operator, inputs, attrs, max_bytes=max_bytes)
        return arrays, plan, _output(arrays, plan, overlay=overlay)
    except MemoryError as error:
        raise LimitRefused(
            "not enough memory for this",
            where=operator.full_name,
            hint="use .npy files and -o, which are streamed",
        ) from error


def _output(arrays: Mapping[str, Array], plan: Plan, *, overlay: bool) -> Array:
    layout = plan.layout
    data = arrays[layout.data] if layout.data is not None else None
    if data is not None and layout.data_shape != data.shape:
        data = data.reshape(layout.data_shape)
    if layout.kind == "gather":
        assert data is not None
        return kernel.gather(plan, data)
    base = mapped.overlay(data) if overlay and data is not None else None
    return kernel.scatter(plan, data, base=base)


def planned(
    operator: Operator,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object],
    *,
    max_bytes: int | None = None,
) -> tuple[Mapping[str, Array], Plan]:
    """The inputs that count and the plan for them; shapes are judged, index values not yet."""
    given = {name: as_array(value, name) for name, value in inputs.items()}
    attrs = without_count(operator, given, attrs)
    arrays, attrs = without_numbers(operator, given, attrs)
    if operator.many is not None:
        arrays, _ = without_masks(operator, arrays)
    layout = layout_of(operator, arrays, attrs)
    shape_limit(layout, arrays, max_bytes)
    return arrays, Plan(layout, arrays)


def layout_of(
    operator: Operator, arrays: Mapping[str, Array], attrs: Mapping[str, object]
) -> Layout:
    """The layout for these arrays; reads values only of inputs that decide shapes.

    The newest layouts are kept: many calls in a row are alike, and a layout cannot change.
    """
    kinds = operator.deciding_inputs
    decisions = {name: _values(arrays[name], kinds[name]) for name in kinds if name in arrays}
    key = _key(operator, arrays, attrs, decisions)
    layout = _LAYOUTS.get(key) if key is not None else None
    if layout is None:
        tensors = {
            name: Tensor(name, array.shape, dtype_name(array.dtype), decisions.get(name))
            for name, array in arrays.items()
        }
        layout = operator.layout(tensors, attrs)
        if key is not None:
            if len(_LAYOUTS) >= _LAYOUTS_KEPT:
                _LAYOUTS.clear()
            _LAYOUTS[key] = layout
    return layout


def _key(
    operator: Operator,
    arrays: Mapping[str, Array],
    attrs: Mapping[str, object],
    decisions: Mapping[str, object],
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


def without_count(
    operator: Operator, arrays: Mapping[str, object], attrs: Mapping[str, object]
) -> Mapping[str, object]:
    """Drop `indices_per_axis` of recorded cases after checking it against the arrays given."""
    many = operator.many
    if many is None or "indices_per_axis" not in attrs:
        return attrs
    given, counted = len(numbered(many, arrays)), attrs["indices_per_axis"]
    if not isinstance(counted, int) or counted != given:
        raise UsageError(f"indices_per_axis is {counted!r}, got {given} arrays"[:200])
    return {key: value for key, value in attrs.items() if key != "indices_per_axis"}


def without_numbers(
    operator: Operator, arrays: Mapping[str, Array], attrs: Mapping[str, object]
) -> tuple[Mapping[str, Array], Mapping[str, object]]:
    """A number given as an array of rank 0 is the attribute of that name (PyTorch's value)."""
    known = operator.numbers
    if known.isdisjoint(arrays):
        return arrays, attrs
    numbers = {name: array for name, array in arrays.items() if name in known}
    for name, array in numbers.items():
        if array.ndim or name in attrs:
            raise UsageError(
                f"{name} takes one number, once",
                where=f"{name} {show_shape(array.shape)}",
                valid="[]",
            )
    rest = {name: array for name, array in arrays.items() if name not in known}
    return rest, {**attrs, **{name: array.item() for name, array in numbers.items()}}


def _values(array: Array, kind: str | None) -> tuple[int, ...] | None:
    if array.dtype.kind not in "iu":
        return None
    if kind == "largest" and array.size:
        return (int(array.max()),)
    if kind != "values" or array.size > _VALUES_LIMIT:
        return None
    return tuple(array.reshape(-1).tolist())


def shape_limit(layout: Layout, arrays: Mapping[str, Array], max_bytes: int | None) -> None:
    """Refuse amplification from shapes alone: an output far larger than what was given."""
    first = arrays[layout.data] if layout.data is not None else None
    width = first.dtype.itemsize if first is not None else _width(layout.dtype)
    _representable(layout, width)
    needed = width * layout.output_size
    if max_bytes is None and needed <= DEFAULT_LIMIT:
        return
    given = sum(array.nbytes for array in arrays.values())
    limit = max(DEFAULT_LIMIT, 4 * given) if max_bytes is None else max_bytes
    if needed > limit:
        raise LimitRefused(
            "the output would be too large",
            where=f"output {layout.dtype} {show_shape(layout.output_shape)}",
            details=(f"{needed:,} bytes",),
            valid=f"at most {limit:,} bytes",
            hint=f"--max-bytes {needed}",
        )


def _representable(layout: Layout, width: int) -> None:
    """NumPy counts the bytes of a shape without its zeros, and no more than 64 axes."""
    for shape, cells in layout.made_shapes:
        if len(shape) > _MOST_AXES or width * cells > _MOST_BYTES:
            raise LimitRefused(
                "no array can have the shape of the output",
                where=f"{len(shape)} axes: {show_shape(shape)}"[:200],
                valid=f"at most {_MOST_AXES} axes and 2^63 bytes, sizes of zero not counted",
            )


def _width(dtype: str) -> int:
    return 8 if dtype == "str" else dtype_named(dtype).itemsize
