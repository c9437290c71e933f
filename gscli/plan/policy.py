"""Policies at work: index numbers as written become coordinates, one column at a time."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array, Flags, Indices
from gscli.layout.axes import Axis, Beyond, Narrow, Negative, Policy

_FEW = 16
"""Numbers that Python looks through in less time than one of NumPy's calls takes."""

LARGEST = {np.dtype(code): int(np.iinfo(code).max) for code in "bhilqBHILQ"}
"""The largest number of each type of whole numbers. What an index type lacks here has fractions."""

_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def legal_range(axis: Axis, policy: Policy) -> tuple[int, int]:
    """Smallest and largest index that the axis takes without `Beyond`.

    >>> legal_range(Axis(4, column=0), Policy())
    (-4, 3)
    """
    high = axis.size - axis.span if axis.window is not None else axis.size - 1
    low = -axis.size if policy.negative is Negative.FROM_END else 0
    return low, high


def largest_unsigned(numbers: Array) -> int:
    """The largest of some whole numbers read as unsigned, so that a negative one is very large.

    >>> largest_unsigned(np.array([3, 1])), largest_unsigned(np.array([3, -1], np.int8))
    (3, 255)
    """
    if numbers.size <= _FEW:
        span = 1 << 8 * numbers.itemsize
        few: list[int] = numbers.reshape(-1).tolist()
        return max([number % span for number in few])
    unsigned = numbers if numbers.dtype.kind == "u" else numbers.view(_UNSIGNED[numbers.itemsize])
    return int(np.maximum.reduce(unsigned, axis=None))


def from_end(numbers: Indices, size: int) -> Indices:
    """Numbers of which the negative ones count from the end of an axis; nothing is judged.

    >>> from_end(np.array([-1, 2, -5]), 4)
    array([ 3,  2, -1])
    """
    resolved = numbers >> 63
    resolved &= size
    resolved += numbers
    return resolved


def outside(numbers: Array, axis: Axis, policy: Policy) -> Flags | None:
    """Which numbers must be refused, or None when none can be."""
    if numbers.size == 0:
        return None
    if policy.beyond is not Beyond.RAISE:
        # A window on an empty axis is empty itself: it fits, and nothing is read or written.
        empty = axis.size == 0 and axis.window is None and policy.beyond is not Beyond.SKIP
        if empty or numbers.dtype.kind != "f":
            return np.ones(numbers.shape, np.bool_) if empty else None
        return ~np.isfinite(numbers)  # no nearest row and no remainder
    low, high = legal_range(axis, policy)
    if policy.cut and numbers.dtype.kind == "f":
        numbers = np.trunc(numbers)
    largest = np.maximum.reduce(numbers, axis=None)
    smallest = np.minimum.reduce(numbers, axis=None)
    if policy.negative is Negative.SKIP:
        return None if largest <= high else numbers > high
    if smallest >= low and largest <= high:
        return None
    return ~((numbers >= low) & (numbers <= high))  # so that NaN is outside


def apply_policy(numbers: Array, axis: Axis, policy: Policy) -> tuple[Indices, Flags | None]:
    """Index numbers as coordinates, and which of them are live (None: all).

    Compared in their own type first: uint64 2^64-1 is out of range, never -1.

    >>> apply_policy(np.array([-1, 5, 1]), Axis(3, column=0), Policy(beyond=Beyond.CLIP))
    (array([2, 2, 1]), None)
    """
    if numbers.dtype.kind == "f":
        numbers = _truncated(numbers, axis, policy)
    _, high = legal_range(axis, policy)
    live: Flags | None = None
    if policy.narrow is Narrow.FIRST:
        numbers = numbers.astype(np.int32)
    cut = policy.narrow in (Narrow.LAST, Narrow.UNSIGNED)
    if numbers.dtype == np.uint64 and not cut:
        numbers = _shortened(numbers, axis, policy)
    resolved = numbers.astype(np.int64)
    if policy.negative is Negative.FROM_END and numbers.dtype.kind != "u":
        resolved = from_end(resolved, axis.size)
    elif policy.negative is Negative.SKIP:
        live = numbers >= 0
    if cut:
        kind = np.int32 if policy.narrow is Narrow.LAST else np.uint32
        resolved = resolved.astype(kind).astype(np.int64)
    if policy.beyond is Beyond.WRAP:
        np.remainder(resolved, max(axis.size, 1), out=resolved)
    elif policy.beyond is Beyond.CLIP:
        np.clip(resolved, 0, max(high, 0), out=resolved)
    elif policy.beyond is Beyond.SKIP and (policy.whole or _moves_one_cell(axis)):
        inside = (resolved >= 0) & (resolved <= high)
        live = inside if live is None else live & inside
    return resolved, live


def _moves_one_cell(axis: Axis) -> bool:
    """On this axis no cell of a window can be outside while another one is inside."""
    return axis.window is None or axis.span == 1


def _shortened(numbers: Array, axis: Axis, policy: Policy) -> Array:
    """Numbers of type uint64 brought into the range of int64 without becoming negative."""
    if policy.beyond is Beyond.WRAP:
        return numbers % np.uint64(max(axis.size, 1))
    return np.minimum(numbers, np.uint64(axis.size + 1))


def _truncated(numbers: Array, axis: Axis, policy: Policy) -> Array:
    """Fractional indices (MXNet) are cut; where negatives count from the end, the size is added
    before, in their own type, and the remainder taken after (apache/mxnet#17208).
    """
    from_end = policy.negative is Negative.FROM_END
    bound = float(1 << 62)
    with np.errstate(over="ignore"):
        moved = numbers + axis.size if from_end else numbers
    finite = np.nan_to_num(moved.astype(np.float64), nan=-bound, posinf=bound, neginf=-bound)
    whole: Array = np.clip(finite, -bound, bound).astype(np.int64)
    return whole % max(axis.size, 1) if from_end else whole
