"""What stands between the brackets of `x[…]`, drawn at random: arrays, masks, slices, None, `...`.

An item is a pair: the word that a subscript has for it, and the Python object, from which NumPy
itself says which shape the values have. Where a framework's rule is another, the call is refused
and drawn again.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np

from gscli.base.arrays import Array
from gscli.layout.axes import Shape
from gscli.runtimes.drafts import CallSpec, Rng, Roles

Item: TypeAlias = tuple[str, Any]

# How often each kind of item is drawn.
ITEM_WEIGHTS = {"array": 45, "slice": 22, "mask": 9, "new": 8, "dots": 8, "end": 8}


def draw_subscript_call(roles: Roles, dice: Rng) -> CallSpec:
    """Index arrays for the leading axes, or a whole subscript where the operator takes one."""
    has_subscript = roles.has_parameter("subscript") and dice.draw_bool(0.5)
    draft = CallSpec(dice.draw_shape(0, 3) if has_subscript else dice.draw_shape())
    items = (_draw_items if has_subscript else _draw_arrays)(roles, draft.data, dice)
    arrays = [value for word, value in items if word == "i"]
    draft.indices = {f"{roles.operator.variadic}_{at}": array for at, array in enumerate(arrays)}
    if has_subscript:
        draft.attrs["subscript"] = ", ".join(word for word, _ in items)
    draft.updates = _draw_update_shape(_indexed_shape(draft.data, items), dice)
    return draft


def _draw_arrays(_roles: Roles, data: Shape, dice: Rng) -> list[Item]:
    """Index arrays for the leading axes: NumPy's ufunc.at, jax .at, index_put_."""
    grid, count = dice.draw_shape(0, 2), dice.random.randint(1, len(data))
    shapes = [
        tuple(1 if count > 1 and dice.draw_bool(0.15) else size for size in grid)
        for _ in range(count)
    ]
    return [("i", dice.draw_indices(own, size)) for own, size in zip(shapes, data, strict=False)]


def _draw_items(roles: Roles, data: Shape, dice: Rng) -> list[Item]:
    """Items for some of the axes, in order."""
    grid = dice.draw_shape(0, 2)
    items: list[Item] = []
    axis = 0
    while axis < len(data):
        kind = dice.choose_weighted(ITEM_WEIGHTS)
        if kind == "end":
            break
        if kind == "array":
            shape = dice.choose((grid, grid, grid, grid[1:], (1,) * len(grid), ()))
            items.append(("i", dice.draw_indices(tuple(shape), data[axis])))
            axis += 1
        elif kind == "slice":
            items.append(_draw_slice(data[axis], dice))
            axis += 1
        elif kind == "new":
            items.append(("None", None))
        elif kind == "dots" and ("...", ...) not in items:
            items.append(("...", ...))
            axis = dice.random.randint(axis, len(data))
        elif kind == "mask" and not any(word == "i" for word, _ in items):
            count = dice.random.choices((0, 1, 2), (1, 6, 3))[0]
            mask = draw_bools(data[axis : axis + count], dice)
            axis += mask.ndim
            is_byte = roles.operator.has_byte_masks and dice.draw_bool(0.3)
            items.append(("i", mask.astype(np.uint8) if is_byte else mask))
            grid = dice.choose(((), (1,), (int(mask.sum()),)))
    return items


def _draw_slice(size: int, dice: Rng) -> Item:
    if dice.draw_bool(0.3):
        return ":", slice(None)
    start, stop = (
        dice.random.randint(-size - 1, size + 1) if dice.draw_bool(0.5) else None for _ in range(2)
    )
    step = dice.choose((None, None, None, 1, 2, -1))
    words = ["" if bound is None else str(bound) for bound in (start, stop, step)]
    return ":".join(words[: 2 if step is None else 3]), slice(start, stop, step)


def draw_bools(shape: Shape, dice: Rng) -> Array:
    """Cells of which more than half are True."""
    cells = [dice.draw_bool(0.6) for _ in range(int(np.prod(shape, dtype=np.int64)))]
    return np.array(cells, np.bool_).reshape(shape)


def _indexed_shape(data: Shape, items: list[Item]) -> Shape:
    """NumPy's shape of x[…]; () where it refuses."""
    arrays = [value for _, value in items if isinstance(value, np.ndarray)]
    legal = (np.zeros_like(a) if a.dtype == np.int64 else a.astype(np.bool_) for a in arrays)
    key = tuple(next(legal) if word == "i" else value for word, value in items)
    with suppress(IndexError):
        return tuple(np.zeros(data, np.bool_)[key].shape)
    return ()


def _draw_update_shape(shape: Shape, dice: Rng) -> Shape:
    """Mostly the shape itself, else one that stretches to it."""
    if not dice.draw_bool(0.4):
        return shape
    kept = shape[dice.random.randint(0, len(shape)) :]
    return tuple(1 if dice.draw_bool(0.2) else size for size in kept)
