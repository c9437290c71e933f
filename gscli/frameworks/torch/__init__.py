"""PyTorch 2.13, on the CPU: x[…], gather, the scatter, index and masked families, take and put_.

Where there is a dim, rank 0 counts as rank 1, except in take_along_dim. Only x[…], index_fill,
take, put_ and index_put_ count negative indices from the end; take_along_dim takes them modulo the
size of dim; the others refuse them, but nll_loss its ignore_index. On a GPU a bad index stops the
process (a device-side assert) instead of being named. Indices are judged even when every slice is
empty, where some of PyTorch's operators do not look at them.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import isfinite
from typing import Annotated, TypeAlias

from gscli.base import DtypeRefused, ShapeRefused, UsageError
from gscli.base.words import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    dtype_max,
    dtype_min,
    real_part,
)
from gscli.declare.attributes import AxisOption
from gscli.frameworks.operator import Framework
from gscli.layout import scatter_layout
from gscli.layout.axes import RAISE_OUTSIDE, Addressing, Number, Reduction, Tensor
from gscli.layout.families import address_elements, address_flat, normalize_axis
from gscli.layout.refusals import check_dtypes, check_reduction

FRAMEWORK = Framework("torch", "PyTorch")

OPEN_ORDER = "PyTorch lets an arbitrary one of several writers of a cell win"

REAL = ("uint8", *SIGNED, *FLOATS)
DATA = ("bool", *REAL, *COMPLEX)

# What some operators copy or multiply, and the others do not take.
WIDE_UNSIGNED = UNSIGNED[1:]
FLOAT8 = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")

# The layout of a scatter whose indices are 0 … s-1, as most of the operators want them.
scatter_strictly = partial(scatter_layout, policy=RAISE_OUTSIDE, open_order=OPEN_ORDER)

Dim: TypeAlias = Annotated[int, AxisOption("axis of input that the indices address, -r … r-1")]


def atleast_1d(tensor: Tensor) -> Tensor:
    """Rank 0 counts as one axis of size 1.

    >>> atleast_1d(Tensor("input", (), "float32")).shape
    (1,)
    """
    return tensor._replace(shape=tensor.shape or (1,))


def address_cells(data: Tensor, dim: int, index: Tensor) -> Addressing:
    """The addressing of gather and the scatter operators: each index replaces one coordinate.

    An index without entries may have any shape and type, and data any type: where it does not fit
    data, that is addressed flat.

    >>> index = Tensor("index", (1, 0), "int64")
    >>> address_cells(Tensor("input", (3, 4), "bool"), 1, index).axes[1].column
    0
    """
    axis = normalize_axis(dim, max(data.rank, 1), name="dim", of=data.name)
    if 0 in index.shape:
        with suppress(ShapeRefused):
            return address_elements(atleast_1d(data), index, axis)
        return address_flat(data, index)
    check_dtypes(data, DATA, index)
    return address_elements(atleast_1d(data), atleast_1d(index), axis)


def check_kernel_exists(data: Tensor, reduction: Reduction) -> None:
    """Refuse the mean of bool and the order of complex numbers."""
    ordered = ("max", "min") if data.dtype == "bool" else ()
    check_reduction(data, reduction, "PyTorch has no kernel for it", ordered)


def cast_scalar(name: str, value: Number, dtype: str) -> Number:
    """A Python number as a value of `dtype`: fractions are cut off, overflow is refused.

    >>> cast_scalar("value", 2.9, "int32"), cast_scalar("value", -1, "uint8")
    (2, -1)
    """
    where = f"{name} = {value!r}"[:200]
    if isinstance(value, str):
        raise UsageError(f"{name} takes one number", where=where, valid="true, 2, 0.5, 1+2j")
    if dtype == "bool":
        return bool(value)
    if isinstance(value, complex) and dtype not in COMPLEX and value.imag == 0:
        value = value.real
    part, lost = real_part(dtype), isinstance(value, complex) and dtype not in COMPLEX
    if isinstance(value, complex):
        parts, legal = [value.real, value.imag], "a real number" if lost else f"parts of {part}"
    else:
        parts, legal = [value], f"{dtype_min(part)} … {dtype_max(part)}"
    if lost or not all(_is_representable(number, part) for number in parts):
        raise DtypeRefused(f"{name} does not fit {dtype}", where=where, valid=legal)
    if isinstance(value, complex):
        return value
    return int(value) if dtype in INTEGERS else float(value)


def _is_representable(value: float, dtype: str) -> bool:
    """Negative whole numbers wrap in unsigned types, negative fractions do not."""
    high = dtype_max(dtype)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:  # what one of PyTorch's scalars holds
            return False
    elif not isfinite(value):
        return dtype in FLOATS
    if dtype in UNSIGNED and isinstance(value, int):
        return abs(value) <= high
    return dtype_min(dtype) <= value <= high
