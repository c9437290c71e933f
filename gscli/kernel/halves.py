"""Sums of float16 in float32, with the bits of float16.

NumPy converts every float16 to float32 and back for each addition, one number at a time. Here
whole blocks stay float32 and only round: the sum of two halves is exact enough in float32 that
rounding it once more to 11 bits gives what float16 arithmetic gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.plan.plan import Array

LARGEST = 65504.0
_LOST_BITS = np.uint32(13)
"""Bits of a float32's fraction that a float16 does not have."""
_SIGN_AND_NUMBER = np.int32(-(1 << 31) | ((1 << 28) - (1 << 13)))
"""Where sign, exponent and fraction of a float16 stand after its sign was drawn out to 32 bits and
all was shifted by the lost bits: three copies of the sign lie between."""
_OTHER_BIAS = np.float32(2.0 ** (127 - 15))
"""Exponents of float32 and float16 count from different numbers."""


def singles(array: Array) -> Array:
    """The float32 of each finite float16, several times faster than NumPy converts them.

    Infinity and NaN become numbers above LARGEST.

    >>> singles(np.array([1.5, -0.0, 6e-8], np.float16)).tolist()
    [1.5, -0.0, 5.960464477539063e-08]
    """
    bits = array.view(np.int16).astype(np.int32)
    np.left_shift(bits, _LOST_BITS.astype(np.int32), out=bits)
    np.bitwise_and(bits, _SIGN_AND_NUMBER, out=bits)
    numbers: Array = bits.view(np.float32)
    np.multiply(numbers, _OTHER_BIAS, out=numbers)
    return numbers


def takes(dtype: np.dtype[Any], ufunc: Any) -> bool:  # noqa: ANN401  numpy's ufuncs
    """Whether `summed` may be asked."""
    return dtype == np.float16 and ufunc in (np.add, np.subtract)


def summed(stack: Array, ufunc: Any) -> Array | None:  # noqa: ANN401  numpy's ufuncs
    """`ufunc.reduce(stack, axis=0)` for add and subtract; None where a sum may overflow float16.

    >>> summed(np.array([[1.0, 2048.0], [0.5, 1.0], [0.25, 1.0]], np.float16), np.add).tolist()
    [1.75, 2048.0]
    """
    numbers = singles(stack)
    largest = max(numbers.max(initial=0), -numbers.min(initial=0))
    if largest * len(stack) > LARGEST:
        return None
    total: Array = numbers[0]
    bits, ties = total.view(np.uint32), np.empty(total.shape, np.uint32)
    for update in numbers[1:]:
        ufunc(total, update, out=total)
        # To nearest, ties to even: add just under half of the last bit kept, and that bit.
        np.right_shift(bits, _LOST_BITS, out=ties)
        np.bitwise_and(ties, np.uint32(1), out=ties)
        np.add(ties, np.uint32((1 << 12) - 1), out=ties)
        np.add(bits, ties, out=bits)
        np.bitwise_and(bits, np.uint32(0xFFFFE000), out=bits)
    halves: Array = total.astype(np.float16)
    return halves
