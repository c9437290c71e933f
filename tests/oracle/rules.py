"""What every operator shares: refusals, names, what becomes of an index, how two values combine.

Nothing here is clever and nothing is imported from gscli: the oracle is the second opinion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Shape: TypeAlias = tuple[int, ...]
Place: TypeAlias = Callable[[int, int], int | None]
Combine: TypeAlias = Callable[[Any, Any], Any]
Operator: TypeAlias = Callable[..., Array]

OPERATORS: dict[str, Operator] = {}

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
HALVES = ("float16", "bfloat16")
FLOATS = (*HALVES, "float32", "float64")
COMPLEX = ("complex64", "complex128")


class Refused(Exception):
    """The operator refuses its inputs; `kind` is index, shape, dtype or usage."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"{kind}: {why}")
        self.kind = kind


def operator(name: str) -> Callable[[Operator], Operator]:
    """Register a function under `framework.operator`."""

    def register(function: Operator) -> Operator:
        OPERATORS[name] = function
        return function

    return register


def require(truth: object, kind: str, why: str) -> None:
    """Refuse unless `truth`."""
    if not truth:
        raise Refused(kind, why)


def type_of(array: Array) -> str:
    """The dtype's name; strings travel as Python objects and are called str."""
    return "str" if array.dtype.kind == "O" else array.dtype.name


def require_type(array: Array, allowed: tuple[str, ...], what: str) -> None:
    """Refuse a dtype that is not listed."""
    require(type_of(array) in allowed, "dtype", f"{what} is {type_of(array)}, not one of {allowed}")


def axis_within(axis: int, rank: int) -> int:
    """An axis in [-rank, rank-1], counted from the front."""
    require(-rank <= axis < rank, "shape", f"axis {axis} of rank {rank}")
    return axis % rank


# What becomes of an index on an axis of a given size: a row, None (skipped), or a refusal.


def from_start(index: int, size: int) -> int:
    """[0, size-1]."""
    require(0 <= index < size, "index", f"{index} is outside 0..{size - 1}")
    return index


def from_end(index: int, size: int) -> int:
    """[-size, size-1]; a negative index counts from the end."""
    require(-size <= index < size, "index", f"{index} is outside {-size}..{size - 1}")
    return index + size if index < 0 else index


def clamped(index: int, size: int) -> int:
    """The nearest row; a negative index means row 0."""
    require(size > 0, "index", "an empty axis has no nearest row")
    return min(max(index, 0), size - 1)


def modulo(index: int, size: int) -> int:
    """The remainder, never negative."""
    require(size > 0, "index", "an empty axis has no remainder")
    return index % size


def inside_or_skipped(index: int, size: int) -> int | None:
    """[0, size-1], anything else is skipped."""
    return index if 0 <= index < size else None


def wrapped_once(place: Place) -> Place:
    """A negative index gets the size added once; then `place` decides."""

    def chosen(index: int, size: int) -> int | None:
        return place(index + size if index < 0 else index, size)

    return chosen


# How an update meets what is already there: one rounding, in the data's own dtype.


def replace(_old: Any, new: Any) -> Any:
    """The update stays."""
    return new


def add(old: Any, new: Any) -> Any:
    """Integers wrap, booleans OR, strings concatenate."""
    return old + new


def subtract(old: Any, new: Any) -> Any:
    """Integers wrap; booleans XOR (OpenVINO's rule, where NumPy has none)."""
    _refuse_strings(old)
    return old ^ new if isinstance(old, np.bool_) else old - new


def multiply(old: Any, new: Any) -> Any:
    """Integers wrap, booleans AND."""
    _refuse_strings(old)
    return old * new


def largest(old: Any, new: Any) -> Any:
    """NaN on either side stays (NumPy's rule)."""
    _refuse_strings(old)
    return np.maximum(old, new)


def smallest(old: Any, new: Any) -> Any:
    """NaN on either side stays (NumPy's rule)."""
    _refuse_strings(old)
    return np.minimum(old, new)


def greater_wins(old: Any, new: Any) -> Any:
    """The update only if it compares greater: NaN in data stays, NaN in an update is ignored."""
    return max(old, new)


def less_wins(old: Any, new: Any) -> Any:
    """The update only if it compares less: NaN in data stays, NaN in an update is ignored."""
    return min(old, new)


def _refuse_strings(old: Any) -> None:
    require(not isinstance(old, str), "dtype", "this reduction has no meaning for strings")


def zero_of(array: Array) -> Any:
    """0, False or the empty string."""
    return "" if type_of(array) == "str" else array.dtype.type(0)


def lowest_of(array: Array, *, infinite: bool) -> Any:
    """The identity of max."""
    return _extreme(array, "min", -np.inf if infinite else None)


def highest_of(array: Array, *, infinite: bool) -> Any:
    """The identity of min."""
    return _extreme(array, "max", np.inf if infinite else None)


def _extreme(array: Array, name: str, infinity: float | None) -> Any:
    if array.dtype.kind == "b":
        return np.bool_(name == "max")
    if array.dtype.kind in "iu":
        return array.dtype.type(getattr(np.iinfo(array.dtype), name))
    if infinity is not None:
        return array.dtype.type(infinity)
    import ml_dtypes

    limits: Any = ml_dtypes.finfo
    return array.dtype.type(getattr(limits(array.dtype), name))
