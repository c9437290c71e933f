"""The order in which rows stand in a file or in chunks, found by a stable sort."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Indices


def stable_order(keys: Indices, limit: int) -> Indices:
    """The stable sorting order of whole numbers 0 … limit-1, by 16 bits at a time.

    >>> stable_order(np.array([2, 0, 2, 1]), 3)
    array([1, 3, 0, 2])
    """
    order: Indices = np.argsort(keys.astype(np.uint16), kind="stable")
    shift = 16
    while limit > 1 << shift:
        digits = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
        shift += 16
    return order
