"""JAX 0.10: jax.numpy.take and take_along_axis, x.at[…], jax.ops.segment_* and jax.lax.

No index is refused for its value alone: compiled code cannot raise. One out of range reads a fill
value, drops its update or is moved to the border, as `mode` says where there is one. Where XLA is
free, the answer is that of XLA on a CPU. 64-bit types are on; JAX alone has them off: --dtype int32
or float32 gives the answers it has then, for indices that 32 bits hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign, isfinite, isnan
from typing import Annotated, Literal, TypeAlias

from gscli.base import DtypeRefused, IndexRefused, check_rule
from gscli.base.words import ALL_INTEGERS, COMPLEX, FLOATS, dtype_max, dtype_min, real_part
from gscli.declare.attributes import Option
from gscli.frameworks.operator import Framework
from gscli.layout.axes import (
    INT32_MAX,
    Negative,
    Number,
    OutOfBounds,
    Policy,
    Reduction,
    Shape,
    Tensor,
    Truncation,
    Updates,
)
from gscli.layout.refusals import broadcast_updates

FRAMEWORK = Framework("jax", "JAX")

UNSPECIFIED_ORDER = "JAX does not promise which of several values for one cell stays"

Mode: TypeAlias = Annotated[
    Literal["fill", "drop", "clip", "promise_in_bounds"] | None,
    Option("what an index out of range does; fill and drop are the same"),
]
FillValue: TypeAlias = Annotated[
    Number | None, Option("what mode fill reads out of range; default NaN, lowest, highest, true")
]

_DROPS: dict[str | None, OutOfBounds] = dict.fromkeys(("fill", "drop"), OutOfBounds.SKIP)
_DEFAULTS = (None, "promise_in_bounds")

# Reading out of range; JAX leaves promise_in_bounds open, and XLA on a CPU clamps.
READ_MODES = _DROPS | dict.fromkeys((*_DEFAULTS, "clip"), OutOfBounds.CLIP)

# Writing out of range; JAX leaves promise_in_bounds open, and XLA on a CPU drops.
WRITE_MODES = _DROPS | dict.fromkeys(_DEFAULTS, OutOfBounds.SKIP) | {"clip": OutOfBounds.CLIP}


def index_policy(
    shape: Shape, out_of_bounds: OutOfBounds, *, wraps: bool = False,
    when: Truncation | None = None,
) -> Policy:  # fmt: skip
    """The policy for an array of this shape; `wraps`: negative indices count from the end.

    JAX computes with 32-bit indices wherever every axis of the array has fewer cells; `when` it
    cuts them: where nothing is said, where those outside are left out, last.

    >>> index_policy((3, 4), OutOfBounds.SKIP).truncation
    <Truncation.AFTER_NEGATIVE: 'after a negative index was counted from the end'>
    >>> index_policy((2**31,), OutOfBounds.SKIP).truncation
    <Truncation.NEVER: 'never'>
    """
    negative = Negative.FROM_END if wraps else Negative.OUTSIDE
    last = Truncation.AFTER_NEGATIVE if out_of_bounds is OutOfBounds.SKIP else Truncation.NEVER
    cut = when or last if max(shape, default=0) <= INT32_MAX else Truncation.NEVER
    return Policy(negative, out_of_bounds, truncation=cut)


def resolve_fill_value(data: Tensor, fill_value: Number | None) -> Number:
    """What a read out of range gives, as a number of data's type; integers wrap, floats are cut.

    >>> (
    ...     resolve_fill_value(Tensor("a", (2,), "int8"), None),
    ...     resolve_fill_value(Tensor("a", (2,), "uint8"), -1),
    ... )
    (-128, 255)
    """
    name = data.dtype
    if fill_value is None and name in ALL_INTEGERS:
        return dtype_max(name) if name.startswith("u") else dtype_min(name)
    if fill_value is None:
        return True if name == "bool" else float("nan")
    if name == "bool" and not isinstance(fill_value, str):
        return bool(fill_value)
    number = complex if name in COMPLEX else float
    too_large = isinstance(fill_value, int) and not -(2**63) <= fill_value < 2**64
    if too_large or not isinstance(fill_value, (int, float, number)):
        problem = f"fill_value has no meaning for {name}"
        where = f"fill_value = {fill_value!r}"[:200]
        legal = "a number" if name in COMPLEX else "a real number of at most 64 bits"
        raise DtypeRefused(problem, where=where, details=(str(data),), valid=legal)
    if isinstance(fill_value, complex):
        parts = fill_value.real, fill_value.imag
        return complex(*(_overflow_to_infinity(part, name) for part in parts))
    if name in ALL_INTEGERS:
        return _wrap_integer(fill_value, name)
    return _overflow_to_infinity(float(fill_value), name)


def _overflow_to_infinity(value: float, name: str) -> float:
    """Infinity for what the float type cannot hold."""
    part = real_part(name)
    largest = dtype_max(part) if part in FLOATS else float("inf")
    return copysign(float("inf"), value) if abs(value) > largest else value


def _wrap_integer(value: float, name: str) -> int:
    low, high = int(dtype_min(name)), int(dtype_max(name))
    if isinstance(value, float):
        if isnan(value):
            return 0
        whole = int(value) if isfinite(value) else low if value < 0 else high
        return min(max(whole, low), high)
    return (value - low) % (high - low + 1) + low


# JAX's lattice of element types: what stands next above each; "float" is any type of them.
_ABOVE: Mapping[str, tuple[str, ...]] = {
    "bool": ("uint8", "int8"), "uint8": ("uint16", "int16"), "uint16": ("uint32", "int32"),
    "uint32": ("uint64", "int64"), "uint64": ("float",), "int8": ("int16",), "int16": ("int32",),
    "int32": ("int64",), "int64": ("float",), "float": ("float16", "bfloat16"),
    "float16": ("float32",), "bfloat16": ("float32",), "float32": ("float64", "complex64"),
    "float64": ("complex128",), "complex64": ("complex128",), "complex128": (),
}  # fmt: skip


def promote_dtypes(first: Tensor, second: Tensor) -> str:
    """The element type of both, by JAX's own lattice: floats win over integers of any width.

    >>> promote_dtypes(Tensor("x", (), "int64"), Tensor("y", (), "float16"))
    'float16'
    """
    if first.dtype == second.dtype:
        return first.dtype
    problem = f"{first.name} and {second.name} have no common element type"
    are_known = {first.dtype, second.dtype} <= _ABOVE.keys()
    hint = "small types never mix with others; convert one of them first"
    name = second.name if second.dtype in _ABOVE else first.name
    check_rule(are_known, problem, f"{first}, {second}", kind=DtypeRefused, hint=hint, name=name)
    common = _list_above(first.dtype) & _list_above(second.dtype)
    lowest = next(name for name in common if common <= _list_above(name))
    return "float64" if lowest == "float" else lowest


def _list_above(name: str) -> set[str]:
    """A type and all that can hold its numbers."""
    return {name}.union(*map(_list_above, _ABOVE[name]))


def check_axis_size_fits(indices: Tensor, size: int) -> None:
    """JAX writes the size of the axis in the indices' own type, where it must fit.

    >>> check_axis_size_fits(Tensor("indices", (3,), "int8"), 127)
    """
    if indices.dtype not in ALL_INTEGERS:
        return  # other types are refused as types
    largest = dtype_max(indices.dtype)
    problem = f"{indices.name} of {indices.dtype} cannot count {size} cells"
    detail = "JAX writes the size of the axis in the type of the indices"
    legal, hint = f"an axis of at most {largest} cells", f"give {indices.name} as int64"
    check_rule(size <= largest, problem, indices, detail, kind=DtypeRefused, valid=legal, hint=hint)


def broadcast_values(values: Tensor, shape: Shape) -> Updates:
    """Values stretched to the cells they are for; where there are none, nobody looks at them."""
    if 0 in shape:
        return Updates(None, value=0)
    return broadcast_updates(values, shape, "entries ++ the axes of a slice")


def check_axis_filled(holds: bool, a: Tensor, where: str | Tensor, valid: str) -> None:
    """Refuse an index into an axis of length 0."""
    check_rule(holds, "index into an empty axis", where, a, kind=IndexRefused, valid=valid)


def check_bool_arithmetic(dtype: str, reduction: Reduction, where: str) -> None:
    """Bool has a smaller and a larger value in JAX, but no sum, difference or product."""
    has_meaning = dtype != "bool" or reduction in ("none", "max", "min")
    problem, hint = f"{reduction} has no meaning for bool", "max is OR, min is AND"
    check_rule(has_meaning, problem, where, kind=DtypeRefused, hint=hint)
