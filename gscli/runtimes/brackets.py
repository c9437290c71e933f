"""What stands between the brackets of `x[…]`, drawn at random: arrays, masks, slices, None, `...`.

An item is a pair: the word that a subscript has for it, and the Python object, from which NumPy
itself says which shape the values have. Where a framework's rule is another, the call is refused
and drawn again.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from gscli.base.arrays import Array
from gscli.runtimes.drafts import Dice, Draft, Roles, Shape

Item: TypeAlias = tuple[str, Any]

KINDS = {"array": 45, "slice": 22, "mask": 9, "new": 8, "dots": 8, "end": 8}
"""How often each kind of item is drawn."""


def brackets(roles: Roles, dice: Dice) -> Draft:
    """Index arrays for the leading axes, or a whole subscript where the operator takes one."""
    if roles.takes("subscript") and dice.chance(0.5):
        return _subscript(roles, dice)
    return _arrays(roles, dice)


def _arrays(roles: Roles, dice: Dice) -> Draft:
    """A tuple of index arrays: NumPy's ufunc.at, jax .at, index_put_."""
    draft = Draft(dice.shape())
    grid = dice.shape(0, 2)
    count = dice.random.randint(1, len(draft.data))
    for at in range(count):
        own = tuple(1 if count > 1 and dice.chance(0.15) else size for size in grid)
        draft.indices[f"{roles.operator.many}_{at}"] = dice.numbers(own, draft.data[at])
    shapes = [array.shape for array in draft.indices.values()]
    draft.updates = _stretching((*np.broadcast_shapes(*shapes), *draft.data[count:]), dice)
    return draft


def _subscript(roles: Roles, dice: Dice) -> Draft:
    draft = Draft(dice.shape(0, 3))
    items = _items(roles, draft.data, dice)
    arrays = [value for word, value in items if word == "i"]
    draft.indices = {f"{roles.operator.many}_{at}": array for at, array in enumerate(arrays)}
    draft.attrs["subscript"] = ", ".join(word for word, _ in items)
    draft.updates = _stretching(_shape_of(draft.data, items), dice)
    return draft


def _items(roles: Roles, data: Shape, dice: Dice) -> list[Item]:
    """Items for some of the axes, in order."""
    grid = dice.shape(0, 2)
    items: list[Item] = []
    axis = 0
    while axis < len(data):
        kind = dice.random.choices(list(KINDS), list(KINDS.values()))[0]
        if kind == "end":
            break
        if kind == "array":
            items.append(("i", dice.numbers(_part_of(grid, dice), data[axis])))
            axis += 1
        elif kind == "slice":
            items.append(_slice(data[axis], dice))
            axis += 1
        elif kind == "new":
            items.append(("None", None))
        elif kind == "dots" and ("...", ...) not in items:
            items.append(("...", ...))
            axis = dice.random.randint(axis, len(data))
        elif kind == "mask" and not any(word == "i" for word, _ in items):
            mask = _mask(data[axis:], dice)
            axis += mask.ndim
            items.append(("i", mask.astype(np.uint8) if _bytes(roles, dice) else mask))
            grid = dice.one(((), (1,), (int(mask.sum()),)))
    return items


def _bytes(roles: Roles, dice: Dice) -> bool:
    return roles.operator.byte_masks and dice.chance(0.3)


def _part_of(grid: Shape, dice: Dice) -> Shape:
    """The grid, or a shape that stretches to it; () is a number."""
    return tuple(dice.one((grid, grid, grid, grid[1:], (1,) * len(grid), ())))


def _slice(size: int, dice: Dice) -> Item:
    if dice.chance(0.3):
        return ":", slice(None)
    start, stop = (
        dice.random.randint(-size - 1, size + 1) if dice.chance(0.5) else None for _ in range(2)
    )
    step = dice.one((None, None, None, 1, 2, -1))
    words = ["" if bound is None else str(bound) for bound in (start, stop, step)]
    return ":".join(words[: 2 if step is None else 3]), slice(start, stop, step)


def _mask(sizes: Shape, dice: Dice) -> Array:
    """A mask over the first one or two of these axes, seldom over none."""
    axes = dice.random.choices((0, 1, 2), (1, 6, 3))[0]
    return trues(sizes[:axes], dice)


def trues(shape: Shape, dice: Dice) -> Array:
    """Cells of which more than half are True."""
    cells = [dice.chance(0.6) for _ in range(int(np.prod(shape, dtype=np.int64)))]
    return np.array(cells, np.bool_).reshape(shape)


def _shape_of(data: Shape, items: list[Item]) -> Shape:
    """NumPy's shape of x[…]; () where it refuses."""
    legal = [
        np.zeros_like(value) if isinstance(value, np.ndarray) and value.dtype == np.int64 else value
        for _, value in items
    ]
    key = tuple(
        value.astype(np.bool_) if getattr(value, "dtype", None) == np.uint8 else value
        for value in legal
    )
    try:
        return tuple(np.zeros(data, np.bool_)[key].shape)
    except IndexError:
        return ()


def _stretching(shape: Shape, dice: Dice) -> Shape:
    """Mostly the shape itself, else one that stretches to it."""
    if not dice.chance(0.25):
        return shape
    kept = shape[dice.random.randint(0, len(shape)) :]
    return tuple(1 if dice.chance(0.2) else size for size in kept)
