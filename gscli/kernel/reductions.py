"""The reductions: ufuncs, identities, updates as they take them, what follows, and their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gscli.base import InputRefused
from gscli.base.arrays import Array, Indices
from gscli.base.records import Record
from gscli.layout import Layout
from gscli.layout.axes import Reduction
from gscli.plan.plan import ValidatedPlan

Ufunc = Any
CellFunction = Callable[[Array, Array], Array]


class ReductionRule(Record):
    """A reduction: its ufunc, the one for bool where NumPy has none, and its identity.

    Without a ufunc updates replace what is there. `divisor`: the sums are divided by this of the
    number of values in each. `epilogue`: the updates are combined with each other alone, and what
    they come to meets the data at the end, cell by cell, as `convert` has it.
    """

    ufunc: Ufunc
    bool_ufunc: Ufunc
    number: float = 0
    divisor: Callable[[Array], Array] | None = None
    epilogue: CellFunction | None = None
    convert: CellFunction = lambda cells, values: saturating_cast(values, cells.dtype)

    def identity(self, dtype: np.dtype[Any]) -> Array:
        """The identity in a type: of max -inf, the smallest integer, or False."""
        if dtype.kind == "b":
            return np.asarray(self.number > 0)
        return saturating_cast(np.asarray(self.number), dtype)

    def select_ufunc(self, data: np.dtype[Any], updates: np.dtype[Any]) -> Ufunc:
        """The ufunc for these types; bool with another type is promoted first."""
        return self.bool_ufunc if data.kind == updates.kind == "b" else self.ufunc

    def divide_sums(self, sums: Array, counts: Indices, *, as_c: bool = False) -> Array:
        """Means: integers round toward minus infinity (OpenVINO's text, PyTorch's floor); complex
        ones that are not finite are as TensorFlow's segments have them with `as_c`.
        """
        assert self.divisor is not None
        divisors = self.divisor(counts.astype(sums.dtype))
        divisors[divisors == 0] = 1  # a count that wrapped to 0, as PyTorch has it
        if sums.dtype.kind in "iu":
            return np.floor_divide(sums, divisors)
        divide = divide_as_c if as_c and sums.dtype.kind == "c" else np.divide
        return np.asarray(divide(sums, divisors)).astype(sums.dtype, copy=False)


def divide_cells(cells: Array, divisors: Array) -> Array:
    """True division in the type of the cells, of whole numbers in float32 or float64.

    >>> divide_cells(np.array([10, 1], np.int64), np.array([4, -2], np.int64))
    array([ 2.5, -0.5])
    """
    if cells.dtype.kind == "c":
        return divide_as_c(cells, divisors)
    if cells.dtype.kind in "biu" or "int" in cells.dtype.name:  # those of 4 bits are of kind V
        real = np.float64 if cells.itemsize == np.dtype(np.int64).itemsize else np.float32
        cells, divisors = cells.astype(real), divisors.astype(real)
    return np.asarray(np.divide(cells, divisors))


def divide_as_c(cells: Array, divisors: Array) -> Array:
    """Complex quotients; those that are not finite as compilers of C make them (annex G).

    Where both parts would be NaN, what is infinite or divided by 0 still has its infinities, and
    what is divided by an infinity is 0.

    >>> with np.errstate(all="ignore"):
    ...     divide_as_c(np.array([complex(-np.inf, 1), 1 + 1j]), np.array([1 + 1j, 0]))
    array([-inf+infj,  inf+infj])
    """
    a, b, c, d = parts = cells.real, cells.imag, divisors.real, divisors.imag
    result, norm = np.array(np.divide(cells, divisors)), c * c + d * d
    x, y = (a * c + b * d) / norm, (b * c - a * d) / norm
    infinity, (e, f, g, h) = np.copysign(np.inf, c), [np.copysign(np.isinf(p), p) for p in parts]
    cases = [
        np.isfinite(result), ~np.isnan(x) | ~np.isnan(y), norm == 0,
        np.isinf(cells) & np.isfinite(divisors), np.isinf(divisors) & np.isfinite(cells),
    ]  # fmt: skip
    reals = result.real, x, infinity * a, np.inf * (e * c + f * d), 0 * (a * g + b * h)
    others = result.imag, y, infinity * b, np.inf * (f * c - e * d), 0 * (b * g - a * h)
    result.real, result.imag = np.select(cases, reals, np.nan), np.select(cases, others, np.nan)
    return result


def convert_exponents(cells: Array, exponents: Array) -> Array:
    """Exponents as cells take them: in integer types the low six bits count, sign and all.

    Of a cell without axes all bits count, and a whole exponent below zero is refused.

    >>> convert_exponents(np.array([2, 3, 2]), np.array([5, 64, -1]))
    array([ 5,  0, 63])
    >>> convert_exponents(np.array(3), np.array(64))
    array(64)
    """
    exponents = saturating_cast(exponents, cells.dtype)
    if cells.dtype.kind not in "iu":
        return exponents
    if cells.shape:
        return np.asarray(exponents & 0b111111)  # as in jax.numpy.power of JAX 0.10
    if exponents < 0:
        problem = "a whole number cannot be raised to this"
        raise InputRefused(problem, where=f"exponent = {exponents}", valid="0 or more")
    return exponents


def raise_cells(cells: Array, exponents: Array) -> Array:
    """Powers in the type of the cells; whole ones wrap, and have no exponent below zero.

    >>> raise_cells(np.array([2, 3, 2]), np.array([5, 0, 63]))
    array([                  32,                    1, -9223372036854775808])
    """
    if cells.dtype.kind == "c":
        return _raise_complex(cells, exponents)
    if cells.dtype.kind == "b":
        cells, exponents = cells.astype(np.int32), exponents.astype(np.int32)
    return np.asarray(np.power(cells, exponents))


def _raise_complex(cells: Array, exponents: Array) -> Array:
    """Complex powers as XLA has them: by size and angle, so that infinities come to NaN; its own
    cases are exponent 0, base 1, and base 0 or inf under a real exponent.
    """
    angle, size = np.angle(cells), np.abs(cells)
    turned = exponents.real * angle + exponents.imag * np.log(size)
    length = size**exponents.real * np.exp(-exponents.imag * angle)
    result = np.empty_like(cells)
    result.real, result.imag = length * np.cos(turned), length * np.sin(turned)
    power = np.where(exponents.imag == 0, exponents.real, np.nan)
    result[(cells == 0) & (power > 0)] = 0
    at_infinity = (cells.real == np.inf) & (cells.imag == 0) & np.isfinite(power)
    result[at_infinity] = np.where(power[at_infinity] > 0, np.inf, 0)
    result[(exponents == 0) | (cells == 1)] = 1
    return result


REDUCTIONS: dict[str, ReductionRule] = {
    "none": ReductionRule(None, None),
    "add": ReductionRule(np.add, np.logical_or),
    "sub": ReductionRule(np.subtract, np.logical_xor),
    "mul": ReductionRule(np.multiply, np.logical_and, 1),
    "div": ReductionRule(np.multiply, np.logical_and, 1, None, divide_cells),
    "pow": ReductionRule(np.multiply, np.logical_and, 1, None, raise_cells, convert_exponents),
    "max": ReductionRule(np.maximum, np.logical_or, -np.inf),
    "min": ReductionRule(np.minimum, np.logical_and, np.inf),
    "mean": ReductionRule(np.add, np.logical_or, divisor=np.positive),
    "sqrt_n": ReductionRule(np.add, np.logical_or, divisor=np.sqrt),
}


class ReductionWords(Record):
    """A reduction in words: its sign between numbers and booleans, what an entry does by it.

    One without a sign is written as a function. `moves`: what an update does to a cell or slice;
    `past`: what was done to a slice; `equation`: the assignment of one entry. Of several updates of
    one cell: `repeated` what became of them in the table of rules, `combines` below a picture and
    as the name of a behaviour. `missing` says what else was done where another reduction
    was meant, `first` what updates do before they meet data, which it calls {data}.
    """

    name: str
    sign: str = ""
    boolean: str = ""
    moves: str = ""
    past: str = "{target} becomes the {reduction} of itself and {result}"
    equation: str = "{target} = {reduction}({target}, {update})"
    repeated: str = ""
    combines: str = "updates are combined by {reduction}"
    missing: str = ""
    first: str = ""


REDUCTION_WORDS: dict[Reduction, ReductionWords] = {
    "none": ReductionWords(
        "write", "", "", "{update} is written to that {thing}", "{target} becomes {result}",
        "{target} = {update}", combines="the last one wins",
        missing="the reduction is missing: updates replace what is there",
    ),
    "add": ReductionWords(
        "add", "+", "or", "{update} is added to that {thing}", "{result} is added to {target}",
        "{target} += {update}", repeated="summed",
        combines="updates add up", missing="updates are added",
    ),
    "sub": ReductionWords(
        "subtract", "-", "xor", "{update} is subtracted from that {thing}",
        "{result} is subtracted from {target}", "{target} -= {update}",
        repeated="all subtracted", missing="updates are subtracted",
    ),
    "mul": ReductionWords(
        "multiply", "×", "and", "{update} is multiplied into that {thing}",
        "{result} is multiplied into {target}", "{target} *= {update}",
        repeated="multiplied", missing="updates are multiplied",
    ),
    "div": ReductionWords(
        "divide", "/", "", "{update} divides that {thing}", "{target} is divided by {result}",
        "{target} /= {update}", repeated="divided by all",
        first="Updates of a cell are multiplied first; the product, in {data}'s type, divides it.",
    ),
    "pow": ReductionWords(
        "raise", "^", "", "{update} is the exponent of that {thing}",
        "{target} is raised to the power of {result}", "{target} **= {update}",
        repeated="raised to the product",
        first="Updates of a cell are multiplied first; the product, in {data}'s type, is its "
        "exponent, of which in integer types the low 6 bits count unless {data} has no axes.",
    ),
    "max": ReductionWords(
        "max", "", "or", "that {thing} keeps the larger of itself and {update}",
        repeated="largest kept", missing="the largest is kept",
    ),
    "min": ReductionWords(
        "min", "", "and", "that {thing} keeps the smaller of itself and {update}",
        repeated="smallest kept", missing="the smallest is kept",
    ),
    "mean": ReductionWords(
        "average", moves="that {thing} becomes the mean of {itself}its updates",
        equation="{target} = mean of {own}every {update}", repeated="averaged",
        missing="updates are averaged",
    ),
    "sqrt_n": ReductionWords(
        "sum", moves="that {thing} becomes the sum of its updates over the root of their number",
        past="{result} is added to the sum of {target}",
        equation="{target} = sum of every {update} / sqrt(how many)",
        repeated="summed, over the root of how many",
    ),
}  # fmt: skip


def saturating_cast(array: Array, dtype: np.dtype[Any]) -> Array:
    """Wide results in the data's type: real parts, and floats saturate in integers (NaN is 0).

    >>> saturating_cast(np.array([1.9, 300.0, -7.0, np.nan]), np.dtype(np.uint8))
    array([  1, 255,   0,   0], dtype=uint8)
    """
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    with np.errstate(all="ignore"):
        result = array.astype(dtype, copy=False)
        if dtype.kind in "iu" and array.dtype.kind in "fV":
            limits = np.iinfo(dtype)
            result[array >= float(limits.max)] = limits.max
            result[array <= float(limits.min)] = limits.min
            result[np.isnan(array)] = 0
    return result


def canonical_updates(plan: ValidatedPlan) -> Array:
    """A plan's updates as a view in the shape of its form's result, in their own type."""
    return plan.updates_view().transpose(plan.layout.form.result_axes)


def prepare_updates(layout: Layout, updates: Array, dtype: np.dtype[Any]) -> Array:
    """Updates as they are written or combined: cast, scaled, and the identity for losing NaN."""
    updates = cast_and_scale(layout, updates, dtype)
    compared = layout.reduction in ("max", "min") and updates.dtype.kind not in "biu"
    if layout.written_updates.nan_wins or not compared:
        return updates
    identity = REDUCTIONS[layout.reduction].identity(updates.dtype)
    return np.where(np.isnan(updates), identity, updates)


def cast_and_scale(layout: Layout, updates: Array, dtype: np.dtype[Any]) -> Array:
    """Updates in the working dtype where the operator casts them, times its scale if it has one."""
    cast = layout.written_updates.cast and updates.dtype != dtype
    scale = layout.written_updates.scale
    if not cast and scale is None:
        return updates
    with np.errstate(all="ignore"):
        values = updates.astype(dtype) if cast else updates
        return values if scale is None else values * np.asarray(scale).astype(dtype)
