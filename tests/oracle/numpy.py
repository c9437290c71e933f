"""NumPy: take, put, the along-axis pair and the ufunc.at family."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import families
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
    from_end,
    largest,
    modulo,
    multiply,
    operator,
    replace,
    require,
    require_type,
    smallest,
    type_of,
)
from .subscripts import Subscript, arrays_of, tokens, without_ones

SAFE = tuple(name for name in INTEGERS if name != "uint64")
MODES: dict[str, Place] = {"raise": from_end, "wrap": modulo, "clip": clamped}


def _mode(mode: str) -> Place:
    require(mode in MODES, "usage", f"unknown mode {mode!r}")
    return MODES[mode]


@operator("numpy.take")
def take(a: Array, indices: Array, axis: int | None = None, mode: str = "raise") -> Array:
    """`axis=None` reads the flattened array."""
    require_type(indices, ("bool", *INTEGERS), "indices")
    place = _mode(mode)
    if axis is None or a.ndim == 0:
        axis, a = axis_within(axis or 0, 1), a.reshape(-1)
    return families.gather_along(a, indices, axis_within(axis, a.ndim), place)


@operator("numpy.compress")
def compress(condition: Array, a: Array, axis: int | None = None) -> Array:
    """The slices at the places of one axis where the condition is not 0."""
    require(type_of(condition) != "str" and condition.ndim == 1, "shape", "one axis of numbers")
    places = [place for place, truth in enumerate(condition) if truth]
    return take(a, np.array(places, np.int64), axis=axis)


def _along_axis(arr: Array, indices: Array, axis: int | None) -> tuple[Array, Array, int]:
    """Data, indices and axis with the off-axis dimensions stretched to one shape."""
    require_type(indices, INTEGERS, "indices")
    if axis is None:
        require(indices.ndim == 1, "shape", "axis None wants rank-1 indices")
        arr, axis = arr.reshape(-1), 0
    require(arr.ndim == indices.ndim, "shape", "arr and indices differ in rank")
    a = axis_within(axis, arr.ndim)
    return (*families.stretch_off_axis(arr, indices, a), a)


@operator("numpy.take_along_axis")
def take_along_axis(arr: Array, indices: Array, axis: int | None = -1) -> Array:
    """Size-1 dimensions off the axis stretch on both sides."""
    data, index, a = _along_axis(arr, indices, axis)
    return families.gather_elements(data, index, a, from_end)


@operator("numpy.put")
def put(a: Array, ind: Array, v: Array, mode: str = "raise") -> Array:
    """Flat positions; v repeats when short, its tail is ignored, empty v changes nothing."""
    require_type(ind, ("bool", *SAFE), "ind")
    place, flat = _mode(mode), a.reshape(-1)
    require(a.size > 0 or ind.size == 0, "index", "nothing to put into an empty array")
    if v.size == 0:
        return a.copy()
    rows = [place(int(index), flat.size) for index in ind.flat]
    values = v.astype(a.dtype).reshape(-1)
    writes: list[families.Write] = [
        ((row,), values[k % v.size]) for k, row in enumerate(rows) if row is not None
    ]
    return families.apply(flat, writes, replace).reshape(a.shape)


@operator("numpy.put_along_axis")
def put_along_axis(arr: Array, indices: Array, values: Array, axis: int | None) -> Array:
    """Values stretch to the stretched indices; where arr has size 1, all of them go to cell 0."""
    data, index, a = _along_axis(arr, indices, axis)
    updates = families.stretch(values.astype(arr.dtype), index.shape)
    shape = arr.shape if axis is not None else data.shape
    writes = [
        (tuple(0 if size == 1 else at for at, size in zip(target, shape, strict=True)), value)
        for target, value in families.writes_elements(data, index, updates, a, from_end)
    ]
    return families.apply(arr.reshape(shape), writes, replace).reshape(arr.shape)


def _indexed(
    a: Array, subscript: str | None, indices: dict[str, Array], count: int | None
) -> Subscript:
    columns = arrays_of(indices, count)
    for column in columns:
        require_type(column, ("bool", *INTEGERS), "indices")
    return Subscript(a.shape, tokens(subscript, columns), from_end, dots_part=True)


@operator("numpy.getitem")
def getitem(
    a: Array,
    subscript: str | None = None,
    indices_per_axis: int | None = None,
    **indices: Array,
) -> Array:
    """`a[…]`."""
    return _indexed(a, subscript, indices, indices_per_axis).read(a)


@operator("numpy.setitem")
def setitem(
    a: Array,
    values: Array,
    subscript: str | None = None,
    indices_per_axis: int | None = None,
    **indices: Array,
) -> Array:
    """`a[…] = values`, which loses leading axes of size 1 and takes a's type."""
    found = _indexed(a, subscript, indices, indices_per_axis)
    if values.size:
        both = (type_of(a), type_of(values))
        require((both[0] == "str") == (both[1] == "str"), "dtype", f"{both[1]} into {both[0]}")
        lossy = both[1] in COMPLEX and both[0] not in (*COMPLEX, "bool")
        require(not lossy, "dtype", f"{both[1]} into {both[0]}")
    arrays = list(indices.values())
    alone = len(arrays) == 1 and subscript in (None, "i") and arrays[0].dtype.kind == "b"
    own = alone and arrays[0].ndim == a.ndim > 0
    require(not own or values.ndim <= 1, "shape", "values for a mask of a's own shape")
    updates = without_ones(values.astype(a.dtype), len(found.shape))
    return families.apply(a, found.writes(updates), replace)


def _at(combine: Combine, refused: tuple[str, ...] = (), *, texts: bool = False) -> Operator:
    def at(
        a: Array,
        b: Array,
        subscript: str | None = None,
        indices_per_axis: int | None = None,
        **indices: Array,
    ) -> Array:
        both = (type_of(a), type_of(b))
        require(not (both[0] in refused and both[1] in refused), "dtype", f"not for {both[0]}")
        lossy = both[1] in COMPLEX and both[0] not in (*COMPLEX, "bool")
        joined = texts and both == ("str", "str")
        require((joined or "str" not in both) and not lossy, "dtype", f"{both[1]} into {both[0]}")
        found = _indexed(a, subscript, indices, indices_per_axis)
        return families.apply(a, found.writes(b), _cast(combine, a))

    return at


def _cast(combine: Combine, a: Array) -> Combine:
    """One step in the promoted dtype, then cast back into a's, fractions cut."""

    def step(old: Any, new: Any) -> Any:
        combined = combine(old, new)
        return combined if isinstance(old, str) else np.asarray(combined).astype(a.dtype)[()]

    return step


operator("numpy.add.at")(_at(add, texts=True))
operator("numpy.subtract.at")(_at(lambda old, new: old - new, refused=("bool",)))
operator("numpy.multiply.at")(_at(multiply))
operator("numpy.maximum.at")(_at(largest))
operator("numpy.minimum.at")(_at(smallest))
