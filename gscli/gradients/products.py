"""The factors of cells, one after the other and without division.

So zeros, infinities and NaN are those of the loop, and a product of others is right beside a zero.
"""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array, Indices

MANY_FACTORS = 64
"""Factors of one cell from which they are multiplied along, and not with those of other cells."""


def prefix_products(cells: Indices, factors: Array, start: Array) -> tuple[Array, Array]:
    """What stood in its cell before each factor, and what each cell holds after all of them.

    `cells` and `factors` (n,) are in the order of the loop, `start` (size,) is what cells hold
    before. Both results are float64.

    >>> prefix_products(np.array([1, 0, 1]), np.array([2.0, 3.0, 5.0]), np.array([1.0, 10.0]))
    (array([10.,  1., 20.]), array([  3., 100.]))
    """
    before, product = np.empty(len(factors)), np.array(start, np.float64)
    order = np.argsort(cells, kind="stable")
    counts = np.bincount(cells, minlength=len(product))
    begins = np.cumsum(counts) - counts
    for cell in np.flatnonzero(counts > MANY_FACTORS).tolist():
        own = order[begins[cell] : begins[cell] + counts[cell]]
        run = np.multiply.accumulate(np.concatenate([product[cell : cell + 1], factors[own]]))
        before[own], product[cell] = run[:-1], run[-1]
    waiting = np.flatnonzero((counts > 0) & (counts <= MANY_FACTORS))
    for number in range(MANY_FACTORS):
        if not waiting.size:
            break
        each = order[begins[waiting] + number]
        before[each] = product[waiting]
        product[waiting] *= factors[each]
        waiting = waiting[counts[waiting] > number + 1]
    return before, product
