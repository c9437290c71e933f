"""Sums of float16 in float32, with the bits of float16.

NumPy converts every float16 to float32 and back for each addition, one number at a time. Here
whole blocks stay float32 and only round: the sum of two halves is exact enough in float32 that
rounding it once more to 11 bits gives what float16 arithmetic gives.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gscli.plan import Array

LARGEST = 65504.0
_LOST_BITS = np.uint32(13)
"""Bits of a float32's fraction that a float16 does not have."""


@cache
def _as_singles() -> Array:
    """The float32 of every float16, by its bits: looking it up is faster than converting."""
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def summed(stack: Array, ufunc: Any) -> Array | None:  # noqa: ANN401  numpy's ufuncs
    """`ufunc.reduce(stack, axis=0)` for add and subtract; None where a sum may overflow float16.

    >>> summed(np.array([[1.0, 2048.0], [0.5, 1.0], [0.25, 1.0]], np.float16), np.add).tolist()
    [1.75, 2048.0]
    """
    singles = _as_singles().take(stack.view(np.uint16))
    largest = max(singles.max(initial=0), -singles.min(initial=0))
    if not largest * len(stack) <= LARGEST:  # NaN among them, too
        return None
    total: Array = singles[0]
    bits, ties = total.view(np.uint32), np.empty(total.shape, np.uint32)
    for update in singles[1:]:
        ufunc(total, update, out=total)
        # To nearest, ties to even: add just under half of the last bit kept, and that bit.
        np.right_shift(bits, _LOST_BITS, out=ties)
        np.bitwise_and(ties, np.uint32(1), out=ties)
        np.add(ties, np.uint32((1 << 12) - 1), out=ties)
        np.add(bits, ties, out=bits)
        np.bitwise_and(bits, np.uint32(0xFFFFE000), out=bits)
    halves: Array = total.astype(np.float16)
    return halves
