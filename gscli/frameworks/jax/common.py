"""What JAX's operators share: element types, promotion, fill values, modes, and the framework."""

from __future__ import annotations

from math import copysign, isfinite, isnan
from typing import Annotated, Literal, TypeAlias

from gscli.base import DtypeRefused
from gscli.base.words import (
    COMPLEX,
    EVERY,
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    SMALL_INTEGERS,
    bits,
    highest,
    lowest,
)
from gscli.declare.attributes import Option
from gscli.frameworks.operator import Framework
from gscli.layout.axes import INT32_MAX, Beyond, Narrow, Number, Reduction, Shape, Tensor, Updates
from gscli.layout.families import described
from gscli.layout.refusals import stretched_updates

FRAMEWORK = Framework("jax", "JAX")

ELEMENTS = tuple(name for name in EVERY if name != "str")
INDICES = INTEGERS
OPEN_ORDER = "JAX does not promise which of several values for one cell stays"

Mode: TypeAlias = Annotated[
    Literal["fill", "drop", "clip", "promise_in_bounds"] | None,
    Option("what an index out of range does; fill and drop are the same"),
]
FillValue: TypeAlias = Annotated[
    Number | None, Option("what mode fill reads out of range; default NaN, lowest, highest, true")
]

READS: dict[str | None, Beyond] = {
    None: Beyond.CLIP, "clip": Beyond.CLIP, "promise_in_bounds": Beyond.CLIP,
    "fill": Beyond.SKIP, "drop": Beyond.SKIP,
}  # fmt: skip
"""Reading out of range; JAX leaves promise_in_bounds open, and XLA on a CPU clamps."""
WRITES: dict[str | None, Beyond] = {
    None: Beyond.SKIP, "fill": Beyond.SKIP, "drop": Beyond.SKIP,
    "promise_in_bounds": Beyond.SKIP, "clip": Beyond.CLIP,
}  # fmt: skip
"""Writing out of range; JAX leaves promise_in_bounds open, and XLA on a CPU drops."""


def narrowed(shape: Shape, when: Narrow) -> Narrow:
    """JAX computes with 32-bit indices wherever every axis of the array has fewer cells.

    >>> narrowed((3, 4), Narrow.LAST), narrowed((2**31,), Narrow.LAST)
    (<Narrow.LAST: 'after a negative index was counted from the end'>, <Narrow.NEVER: 'never'>)
    """
    return when if max(shape, default=0) <= INT32_MAX else Narrow.NEVER


def fill_of(data: Tensor, fill_value: Number | None) -> Number:
    """What a read out of range gives, as a number of data's type; integers wrap, floats are cut.

    >>> fill_of(Tensor("a", (2,), "int8"), None), fill_of(Tensor("a", (2,), "uint8"), -1)
    (-128, 255)
    """
    name = data.dtype
    if fill_value is None:
        return _default_fill(name)
    if name == "bool" and not isinstance(fill_value, str):
        return bool(fill_value)
    number = complex if name in COMPLEX else float
    if not isinstance(fill_value, (int, float, number)) or not _fits_64_bits(fill_value):
        raise DtypeRefused(
            f"fill_value has no meaning for {name}",
            where=f"fill_value = {fill_value!r}"[:200],
            details=(described(data),),
            valid="a number" if name in COMPLEX else "a real number of at most 64 bits",
        )
    if isinstance(fill_value, complex):
        return complex(_limited(fill_value.real, name), _limited(fill_value.imag, name))
    if name in (*INTEGERS, *SMALL_INTEGERS):
        return _wrapped(fill_value, name)
    return _limited(float(fill_value), name)


def _fits_64_bits(value: complex) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def _limited(value: float, name: str) -> float:
    """Infinity for what the float type cannot hold."""
    part = {"complex64": "float32", "complex128": "float64"}.get(name, name)
    largest = highest(part) if part in FLOATS else float("inf")
    return copysign(float("inf"), value) if abs(value) > largest else value


def _default_fill(name: str) -> Number:
    if name in (*INTEGERS, *SMALL_INTEGERS):
        return highest(name) if name.startswith("u") else lowest(name)
    return True if name == "bool" else float("nan")


def _wrapped(value: float, name: str) -> int:
    low, high = int(lowest(name)), int(highest(name))
    if isinstance(value, float):
        if isnan(value):
            return 0
        whole = int(value) if isfinite(value) else low if value < 0 else high
        return min(max(whole, low), high)
    return (value - low) % (high - low + 1) + low


_FLOAT_RANK = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 3}


def promoted(first: Tensor, second: Tensor) -> str:
    """The element type of both, by JAX's own lattice: floats win over integers of any width.

    >>> promoted(Tensor("x", (), "int64"), Tensor("y", (), "float16"))
    'float16'
    """
    left, right = first.dtype, second.dtype
    if left == right:
        return left
    known = ("bool", *NUMBERS)
    if left not in known or right not in known:
        raise DtypeRefused(
            f"{first.name} and {second.name} have no common element type",
            where=f"{described(first)}, {described(second)}",
            hint="small types never mix with others; convert one of them first",
        )
    if "bool" in (left, right):
        return right if left == "bool" else left
    if left in INTEGERS and right in INTEGERS:
        return _promoted_integers(left, right)
    floats = [name for name in (left, right) if name in _FLOAT_RANK]
    if left not in COMPLEX and right not in COMPLEX:
        wide = max(floats, key=_FLOAT_RANK.__getitem__)
        return "float32" if set(floats) == {"float16", "bfloat16"} else wide
    return "complex128" if {"complex128", "float64"} & {left, right} else "complex64"


def _promoted_integers(left: str, right: str) -> str:
    if (left in SIGNED) == (right in SIGNED):
        return max(left, right, key=bits)
    signed, unsigned = (left, right) if left in SIGNED else (right, left)
    if bits(signed) > bits(unsigned):
        return signed
    wanted = 2 * bits(unsigned)
    return f"int{wanted}" if wanted <= bits("int64") else "float64"


def counts_the_axis(indices: Tensor, size: int) -> None:
    """JAX writes the size of the axis in the indices' own type, where it must fit.

    >>> counts_the_axis(Tensor("indices", (3,), "int8"), 127)
    """
    if indices.dtype not in (*INTEGERS, *SMALL_INTEGERS):
        return  # other types are refused as types
    largest = highest(indices.dtype)
    if size > largest:
        raise DtypeRefused(
            f"{indices.name} of {indices.dtype} cannot count {size} cells",
            where=described(indices),
            details=("JAX adds the size of the axis to a negative index, in its own type",),
            valid=f"an axis of at most {largest} cells",
            hint=f"give {indices.name} as int64",
        )


def updates_of(values: Tensor, wanted: Shape) -> Updates:
    """Values stretched to the cells they are for; where there are none, nobody looks at them."""
    if 0 in wanted:
        return Updates(None, value=0)
    return stretched_updates(values, wanted, "entries ++ the axes of a slice")


def has_arithmetic(dtype: str, reduction: Reduction, where: str) -> None:
    """Bool has a smaller and a larger value in JAX, but no sum, difference or product."""
    if dtype == "bool" and reduction not in ("none", "max", "min"):
        raise DtypeRefused(
            f"{reduction} has no meaning for bool", where=where, hint="max is OR, min is AND"
        )
