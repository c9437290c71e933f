"""JAX 0.10: jnp.take, take_along_axis, at[], segment_*, and lax.gather and lax.scatter*."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import families, windows
from .rules import (
    COMPLEX,
    INTEGERS,
    Array,
    Combine,
    Operator,
    Place,
    add,
    axis_within,
    clamped,
    highest_of,
    inside_or_skipped,
    largest,
    lowest_of,
    modulo,
    multiply,
    operator,
    replace,
    require,
    require_type,
    smallest,
    subtract,
    type_of,
    wrapped_once,
    zero_of,
)
from .stablehlo import fitted, fitting_or_skipped
from .subscripts import Subscript, arrays_of, tokens


def _fill(data: Array, fill_value: Any) -> Any:
    """The default: NaN, the lowest signed, the highest unsigned integer, True."""
    if fill_value is not None:
        return np.asarray(fill_value).astype(data.dtype)[()]
    if type_of(data) in COMPLEX:
        return data.dtype.type(complex(np.nan, 0))
    if data.dtype.kind in "iu":
        signed = data.dtype.kind == "i"
        return lowest_of(data, infinite=False) if signed else highest_of(data, infinite=False)
    return data.dtype.type(True) if data.dtype.kind == "b" else data.dtype.type(np.nan)


def _narrowed(index: int, size: int) -> int | None:
    """jnp.take's fill narrows the wrapped index to 32 bits: 2**40 reads row 0."""
    return inside_or_skipped((index + 2**31) % 2**32 - 2**31, size)


@operator("jax.take")
def take(
    a: Array,
    indices: Array,
    axis: int | None = None,
    mode: str | None = None,
    fill_value: Any = None,
) -> Array:
    """fill wraps once and then fills; clip does not wrap."""
    places: dict[str | None, Place] = {
        None: wrapped_once(_narrowed),
        "fill": wrapped_once(_narrowed),
        "clip": clamped,
        "wrap": modulo,
    }
    require(mode in places, "usage", f"mode {mode!r}")
    require_type(indices, ("bool", *INTEGERS), "indices")
    data = a.reshape(-1) if axis is None else a
    along = axis_within(axis or 0, data.ndim)
    empty = data.shape[along] == 0 and indices.size > 0
    require(not empty, "index", "a non-empty take from an empty axis")
    return families.gather_along(data, indices, along, places[mode], fill=_fill(a, fill_value))


@operator("jax.take_along_axis")
def take_along_axis(
    arr: Array,
    indices: Array,
    axis: int | None = -1,
    mode: str | None = None,
    fill_value: Any = None,
) -> Array:
    """clip wraps once and clamps; promise_in_bounds clamps without wrapping."""
    places: dict[str | None, Place] = {
        None: wrapped_once(inside_or_skipped),
        "fill": wrapped_once(inside_or_skipped),
        "clip": wrapped_once(clamped),
        "promise_in_bounds": clamped,
    }
    require(mode in places, "usage", f"mode {mode!r}")
    require_type(indices, INTEGERS, "indices")
    if axis is None:
        require(indices.ndim == 1, "shape", "axis None wants rank-1 indices")
        arr, axis = arr.reshape(-1), 0
    require(arr.ndim == indices.ndim, "shape", "indices and arr differ in rank")
    along = axis_within(axis, arr.ndim)
    data, positions = families.stretch_off_axis(arr, indices, along)
    fill = _fill(arr, fill_value)
    return families.gather_elements(data, positions, along, places[mode], fill=fill)


def _indexed(
    x: Array, subscript: str | None, indices: dict[str, Array], count: int | None, place: Place
) -> Subscript:
    columns = arrays_of(indices, count)
    for column in columns:
        require_type(column, ("bool", *INTEGERS), "indices")
    return Subscript(x.shape, tokens(subscript, columns), place, dots_part=True)


def _at_place(places: dict[str | None, Place], mode: str | None, *, wrap: bool) -> Place:
    require(mode in places, "usage", f"mode {mode!r}")
    return wrapped_once(places[mode]) if wrap else places[mode]


@operator("jax.at.get")
def at_get(
    x: Array,
    subscript: str | None = None,
    indices_per_axis: int | None = None,
    mode: str | None = None,
    wrap_negative_indices: bool = True,
    fill_value: Any = None,
    **indices: Array,
) -> Array:
    """Negatives wrap once; then the default clamps and fill fills."""
    places: dict[str | None, Place] = {
        None: clamped,
        "clip": clamped,
        "promise_in_bounds": clamped,
        "fill": inside_or_skipped,
        "drop": inside_or_skipped,
    }
    place = _at_place(places, mode, wrap=wrap_negative_indices)
    found = _indexed(x, subscript, indices, indices_per_axis, place)
    return found.read(x, _fill(x, fill_value))


def _at(combine: Combine, refused: tuple[str, ...] = ()) -> Operator:
    def at(
        x: Array,
        values: Array,
        subscript: str | None = None,
        indices_per_axis: int | None = None,
        mode: str | None = None,
        wrap_negative_indices: bool = True,
        **indices: Array,
    ) -> Array:
        places: dict[str | None, Place] = dict.fromkeys(
            (None, "fill", "drop", "promise_in_bounds"), inside_or_skipped
        )
        place = _at_place(places | {"clip": clamped}, mode, wrap=wrap_negative_indices)
        both = {type_of(x), type_of(values)}
        require(not both <= {*refused}, "dtype", f"not for {type_of(x)}")
        found = _indexed(x, subscript, indices, indices_per_axis, place)
        wide = _promoted(x.dtype, values.dtype)
        written = families.apply(x.astype(wide), found.writes(values.astype(wide)), combine)
        return _converted(written, x.dtype)

    return at


def _promoted(own: Any, other: Any) -> Any:
    """The type that both are computed in: a float's own beside whole numbers."""
    whole = [kind for kind in (own, other) if kind.kind in "biu"]
    if len(whole) == 1:
        return own if other in whole else other
    return own if own == other else np.result_type(own, other)


def _converted(array: Array, dtype: Any) -> Array:
    """Back in x's type, where floats are cut and end at the limits of whole numbers."""
    if array.dtype.kind != "f" or dtype.kind not in "iu":
        return array.astype(dtype)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    ends = {-math.inf: low, math.inf: high}
    numbers = [
        0
        if math.isnan(cell)
        else ends[cell]
        if math.isinf(cell)
        else min(max(int(cell), low), high)
        for cell in map(float, array.flat)
    ]
    return np.array(numbers, dtype).reshape(array.shape)


operator("jax.at.set")(_at(replace))
operator("jax.at.add")(_at(add, refused=("bool",)))
operator("jax.at.subtract")(_at(subtract, refused=("bool",)))
operator("jax.at.multiply")(_at(multiply, refused=("bool",)))


def _product(meet: Callable[[Array, Array], Array]) -> Operator:
    """x meets the product of the values for each cell: ones that are multiplied, in x's type."""
    multiplied = _at(multiply, refused=("bool",))

    def at(x: Array, values: Array, **rest: Any) -> Array:
        return meet(x, multiplied(np.ones_like(x), values, **rest))

    return at


def _quotient(cells: Array, divisors: Array) -> Array:
    """True division: whole numbers as float32, those of 64 bits as float64."""
    kind = cells.dtype.kind
    real = np.float64 if kind in "iu" and cells.dtype.itemsize == 8 else np.float32
    whole = kind in "biu"
    output = np.zeros(cells.shape, real if whole else cells.dtype)
    for place in np.ndindex(cells.shape):
        one, other = cells[place], divisors[place]
        output[place] = real(one) / real(other) if whole else one / other
    return output


def _power(cells: Array, exponents: Array) -> Array:
    """Whole exponents have 6 bits, whatever their sign; all else is the type's own power.

    Of a cell without axes all their bits count, and one below zero is refused.
    """
    whole = cells.dtype.kind in "biu"
    limit = 64 if cells.ndim else 2**64
    require(cells.ndim or not whole or exponents >= 0, "value", "a whole power below zero")
    output = np.zeros(cells.shape, np.int32 if cells.dtype.kind == "b" else cells.dtype)
    for place in np.ndindex(cells.shape):
        if whole:
            bits = 8 * output.dtype.itemsize
            number = pow(int(cells[place]), int(exponents[place]) % limit, 2**bits)
            output[place] = np.array(number, f"u{bits // 8}").view(output.dtype)
        else:
            output[place] = cells[place] ** exponents[place]
    return output


operator("jax.at.divide")(_product(_quotient))
operator("jax.at.power")(_product(_power))
operator("jax.at.min")(_at(smallest))
operator("jax.at.max")(_at(largest))


def _segment(combine: Combine, identity: Operator) -> Operator:
    def segment(
        data: Array,
        segment_ids: Array,
        num_segments: int | None = None,
        mode: str | None = None,
    ) -> Array:
        require_type(segment_ids, INTEGERS, "segment_ids")
        arithmetic = combine in (add, multiply)
        require(not (arithmetic and type_of(data) == "bool"), "dtype", "no arithmetic of bool")
        if num_segments is None:
            num_segments = max((int(i) for i in segment_ids.flat), default=-1) + 1
        require(num_segments >= 0, "shape", "a negative number of segments")
        require(segment_ids.ndim == 1, "shape", "segment_ids are not a vector")
        require(segment_ids.shape == data.shape[:1], "shape", "data and segment_ids differ")
        output = np.full((num_segments, *data.shape[1:]), identity(data), data.dtype)
        vectors = segment_ids[:, None]
        place: Place = clamped if mode == "clip" else inside_or_skipped
        writes = families.writes_vectors(output, vectors, data, place)
        return families.apply(output, writes, combine)

    return segment


operator("jax.segment_sum")(_segment(add, zero_of))
operator("jax.segment_prod")(_segment(multiply, lambda data: data.dtype.type(1)))
operator("jax.segment_max")(_segment(largest, lambda data: lowest_of(data, infinite=True)))
operator("jax.segment_min")(_segment(smallest, lambda data: highest_of(data, infinite=True)))


@operator("jax.lax.gather")
def lax_gather(
    operand: Array,
    start_indices: Array,
    offset_dims: list[int],
    collapsed_slice_dims: list[int],
    start_index_map: list[int],
    slice_sizes: list[int],
    operand_batching_dims: list[int] | None = None,
    start_indices_batching_dims: list[int] | None = None,
    mode: str | None = None,
    fill_value: Any = None,
) -> Array:
    """The vector is the last index dimension; fill fills a whole slice."""
    judges: dict[str | None, windows.Judge] = {
        None: fitted,
        "clip": fitted,
        "promise_in_bounds": fitted,
        "fill": fitting_or_skipped,
        "drop": fitting_or_skipped,
    }
    require(mode in judges, "usage", f"mode {mode!r}")
    require(start_indices.ndim >= 1, "shape", "start_indices have rank 0")
    dims = windows.Dimensions(
        offset_dims,
        collapsed_slice_dims,
        operand_batching_dims or [],
        start_indices_batching_dims or [],
        start_index_map,
        start_indices.ndim - 1,
    )
    fill = _fill(operand, fill_value)
    judge = judges[mode]
    return windows.gather(operand, start_indices, dims, slice_sizes, judge, fill, jax=True)


def _lax_scatter(combine: Combine) -> Operator:
    def scatter(
        operand: Array,
        scatter_indices: Array,
        updates: Array,
        update_window_dims: list[int],
        inserted_window_dims: list[int],
        scatter_dims_to_operand_dims: list[int],
        operand_batching_dims: list[int] | None = None,
        scatter_indices_batching_dims: list[int] | None = None,
        mode: str | None = None,
    ) -> Array:
        judges: dict[str | None, windows.Judge] = dict.fromkeys(
            (None, "fill", "drop", "promise_in_bounds"), fitting_or_skipped
        )
        judges["clip"] = fitted
        require(mode in judges, "usage", f"mode {mode!r}")
        require(operand.dtype == updates.dtype, "dtype", "updates have another dtype")
        require(scatter_indices.ndim >= 1, "shape", "scatter_indices have rank 0")
        dims = windows.Dimensions(
            update_window_dims,
            inserted_window_dims,
            operand_batching_dims or [],
            scatter_indices_batching_dims or [],
            scatter_dims_to_operand_dims,
            scatter_indices.ndim - 1,
        )
        writes = windows.scatter_writes(
            operand, scatter_indices, updates, dims, judges[mode], whole=True
        )
        return families.apply(operand, list(writes), combine)

    return scatter


operator("jax.lax.scatter")(_lax_scatter(replace))
operator("jax.lax.scatter_add")(_lax_scatter(add))
operator("jax.lax.scatter_sub")(_lax_scatter(subtract))
operator("jax.lax.scatter_mul")(_lax_scatter(multiply))
operator("jax.lax.scatter_min")(_lax_scatter(smallest))
operator("jax.lax.scatter_max")(_lax_scatter(largest))


def _begins(data: Array, starts: Array, sizes: list[int], *, from_end: bool) -> list[int]:
    """Where a window of these sizes begins, moved so that it fits."""
    require_type(starts, INTEGERS, "start_indices")
    require(starts.shape == (data.ndim,), "shape", "one number per axis")
    begins = []
    for number, size, length in zip(starts.tolist(), data.shape, sizes, strict=True):
        counted = number + size if from_end and number < 0 else number
        begins.append(clamped(counted, size - length + 1))
    return begins


@operator("jax.lax.dynamic_slice")
def dynamic_slice(
    operand: Array,
    start_indices: Array,
    slice_sizes: list[int],
    allow_negative_indices: bool = True,
) -> Array:
    """One window, which always fits."""
    require(len(slice_sizes) == operand.ndim, "shape", "one size per axis")
    fits = all(0 <= n <= size for n, size in zip(slice_sizes, operand.shape, strict=True))
    require(fits, "shape", "the slice is larger than operand")
    begins = _begins(operand, start_indices, slice_sizes, from_end=allow_negative_indices)
    output = np.empty(slice_sizes, operand.dtype)
    for p in np.ndindex(*slice_sizes):
        output[p] = operand[tuple(a + b for a, b in zip(p, begins, strict=True))]
    return output


@operator("jax.lax.dynamic_update_slice")
def dynamic_update_slice(
    operand: Array, update: Array, start_indices: Array, allow_negative_indices: bool = True
) -> Array:
    """One window written, which always fits."""
    require(operand.dtype == update.dtype, "dtype", "update has another dtype")
    require(update.ndim == operand.ndim, "shape", "update has other axes")
    sizes = zip(update.shape, operand.shape, strict=True)
    require(all(n <= size for n, size in sizes), "shape", "update is larger than operand")
    begins = _begins(operand, start_indices, list(update.shape), from_end=allow_negative_indices)
    output = operand.copy()
    for p in np.ndindex(update.shape):
        output[tuple(a + b for a, b in zip(p, begins, strict=True))] = update[p]
    return output
