"""Updates and the cells they are for, one after the other: factors without division, and equals.

So zeros, infinities and NaN are those of the loop, and a product of others is right beside a zero.
"""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.kernel import loops

# Factors of one cell from which they are multiplied along, and not with those of other cells.
MANY_FACTORS = 64

# Updates from which the compiled loops are asked: they are loaded for that alone.
MIN_NATIVE_UPDATES = 1 << 12


def select_equal(cells: Indices, values: Array, kept: Array) -> Indices:
    """The numbers of those values that equal what their cell keeps.

    `cells` (n,) int64, -1 for none, `values` (n,) and `kept` (size,) float64, all of one piece.

    >>> select_equal(np.array([1, 0, -1]), np.array([2.0, 3.0, 5.0]), np.array([3.0, 5.0]))
    array([1])
    """
    if cells.size >= MIN_NATIVE_UPDATES:
        numbers = np.empty(cells.size, np.int64)
        count = loops.call_entries("gscli_select_equal", cells, values, kept, numbers)
        if count is not None:
            return numbers[:count].copy()
    live = np.flatnonzero(cells >= 0)
    return np.asarray(live[values[live] == kept[cells[live]]])


def multiply_in_turn(
    cells: Indices, factors: Array, products: Array, passed: Array, *, back: bool = False
) -> None:
    """Each factor in turn: what its cell holds goes to `passed`, then the cell is multiplied by it.

    On the way `back`, from the last factor, what is passed on is multiplied to what is there.
    `cells` (n,) int64, -1 where a factor has none and passes on 0, `factors` and `passed` (n,) and
    `products` (size,) float64, all of one piece, the last two written.

    >>> products, passed = np.array([1.0, 10.0]), np.empty(3)
    >>> multiply_in_turn(np.array([1, 0, 1]), np.array([2.0, 3.0, 5.0]), products, passed)
    >>> passed, products
    (array([10.,  1., 20.]), array([  3., 100.]))
    """
    if cells.size >= MIN_NATIVE_UPDATES:
        arrays = cells, factors, products, passed
        if loops.call_entries("gscli_multiply", *arrays, back) is not None:
            return
    if back:
        after = np.empty(passed.shape)
        _multiply_with_numpy(cells[::-1], factors[::-1], products, after)
        passed *= after[::-1]
    else:
        _multiply_with_numpy(cells, factors, products, passed)


def _multiply_with_numpy(cells: Indices, factors: Array, products: Array, passed: Array) -> None:
    """The way forward: the first factors of all cells, then their second ones, and so on."""
    order = np.argsort(cells, kind="stable")
    counts = np.bincount(cells + 1, minlength=len(products) + 1)
    passed[order[: counts[0]]] = 0
    begins, counts = np.cumsum(counts)[:-1], counts[1:]
    for cell in np.flatnonzero(counts > MANY_FACTORS).tolist():
        own = order[begins[cell] : begins[cell] + counts[cell]]
        run = np.multiply.accumulate(np.concatenate([products[cell : cell + 1], factors[own]]))
        passed[own], products[cell] = run[:-1], run[-1]
    waiting = np.flatnonzero((counts > 0) & (counts <= MANY_FACTORS))
    for number in range(MANY_FACTORS):
        if not waiting.size:
            break
        each = order[begins[waiting] + number]
        passed[each] = products[waiting]
        products[waiting] *= factors[each]
        waiting = waiting[counts[waiting] > number + 1]
