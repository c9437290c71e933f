"""Shapes and indices for a call of any declared operator, drawn at random but fitting.

How an operator addresses data is read off the layout of its own example: along an axis, cell by
cell, by vectors, between brackets, flat, by segments or by windows. Each of these families is
one function. What does not fit after all is refused by the operator's layout, and drawn again.
"""

from __future__ import annotations

from math import prod

import numpy as np

from gscli.frameworks.operator import Operator
from gscli.layout import Layout
from gscli.runtimes.brackets import brackets, trues
from gscli.runtimes.drafts import Dice, Draft, Family, Roles


def along(roles: Roles, dice: Dice) -> Draft:
    """One number per slice of an axis: Gather, take, index_select, ScatterUpdate."""
    if dice.chance(0.03):
        return _single_cell(roles, dice)
    draft = Draft(dice.shape())
    rank = len(draft.data)
    axis: int | None = dice.random.randrange(-rank, rank)
    if not roles.takes("axis") and not roles.takes("dim"):
        axis = 0
    elif _default_is_none(roles) and dice.chance(0.15):
        axis = None
    if axis is None:
        indices = dice.shape(0, 2)
        draft.indices[roles.indices[0]] = dice.numbers(indices, prod(draft.data))
        return draft
    place = axis % rank
    batch = 0
    if roles.takes("batch_dims") and place and dice.chance(0.4):
        batch = dice.random.randint(1, place)
        draft.attrs["batch_dims"] = batch
    indices = (*draft.data[:batch], *dice.shape(0, 2))
    draft.indices[roles.indices[0]] = dice.numbers(indices, draft.data[place])
    draft.updates = (*draft.data[:place], *indices[batch:], *draft.data[place + 1 :])
    _set_axis(roles, draft, axis)
    return draft


def elements(roles: Roles, dice: Dice) -> Draft:
    """One number per cell, which replaces one coordinate: GatherElements, torch.scatter."""
    if dice.chance(0.03):
        return _single_cell(roles, dice)
    draft = Draft(dice.shape())
    rank = len(draft.data)
    axis = dice.random.randrange(-rank, rank)
    place = axis % rank
    smaller = dice.chance(0.4)
    own = [
        max(dice.size(), 1)
        if at == place
        else dice.random.randint(min(size, 1), size)
        if smaller
        else size
        for at, size in enumerate(draft.data)
    ]
    draft.updates = tuple(own)
    draft.indices[roles.indices[0]] = dice.numbers(draft.updates, draft.data[place])
    _set_axis(roles, draft, axis)
    return draft


def _single_cell(roles: Roles, dice: Dice) -> Draft:
    """Data of rank 0, which some frameworks read as an axis of one cell."""
    shape = dice.one(((), (1,), (2,)))
    draft = Draft((), shape)
    draft.indices[roles.indices[0]] = dice.numbers(shape, 1)
    _set_axis(roles, draft, dice.one((0, -1)))
    return draft


def vectors(roles: Roles, dice: Dice) -> Draft:
    """A vector of numbers per cell or slice: GatherND, ScatterND, tf.scatter_nd."""
    draft = Draft(dice.shape())
    rank, batch = len(draft.data), 0
    if roles.takes("batch_dims") and rank > 1 and dice.chance(0.4):
        batch = dice.random.randint(1, rank - 1)
        draft.attrs["batch_dims"] = batch
    length = dice.random.randint(1, rank - batch)
    grid = (*draft.data[:batch], *dice.shape(0, 2))
    columns = [dice.numbers(grid, draft.data[batch + at]) for at in range(length)]
    indices = np.stack(columns, 0 if roles.vector_first else -1)
    draft.indices[roles.indices[0]] = indices
    draft.updates = (*grid, *draft.data[batch + length :])
    if "shape" in roles.operator.input_names:
        draft.others["shape"] = np.array(draft.data, indices.dtype)
    elif roles.takes("shape"):
        draft.attrs["shape"] = list(draft.data)
    return draft


def flat(roles: Roles, dice: Dice) -> Draft:
    """Numbers of cells in row-major order: put, torch.take."""
    draft = Draft(dice.shape(0))
    indices = dice.shape(0, 2)
    draft.indices[roles.indices[0]] = dice.numbers(indices, prod(draft.data))
    draft.updates = indices
    return draft


def segments(roles: Roles, dice: Dice) -> Draft:
    """Rows of data go to the segment that each names; data is what others call updates."""
    ids = dice.shape(1, 2)
    count = dice.size()
    draft = Draft((), (*ids, *dice.shape(0, 2)), attrs={"num_segments": count})
    draft.indices[roles.indices[0]] = dice.numbers(ids, count)
    return draft


def sorted_segments(roles: Roles, dice: Dice) -> Draft:
    """Ascending segment numbers, a row of data each; the last one tells how many there are."""
    rows = dice.size()
    ids = np.sort(np.abs(dice.numbers((rows,), 4)) % 7)
    if dice.temper == "outside" and dice.chance(0.5):
        ids = ids[::-1] - dice.one((0, 1))
    draft = Draft((), (rows, *dice.shape(0, 2)))
    draft.indices[roles.indices[0]] = ids
    return draft


def batched(roles: Roles, dice: Dice) -> Draft:
    """Numbers for each batch of the leading axes: TensorFlow's batch_gather, MXNet's batch_take."""
    draft = Draft(dice.shape())
    place = dice.random.randrange(len(draft.data))
    own = (*draft.data[:place], *(() if dice.chance(0.3) else (dice.size(),)))
    draft.indices[roles.indices[0]] = dice.numbers(own, draft.data[place])
    return draft


def masked(roles: Roles, dice: Dice) -> Draft:
    """A mask that says which cells take part, in row-major order."""
    draft = Draft(dice.shape(0))
    shape = tuple(1 if dice.chance(0.15) else size for size in draft.data)
    mask = trues(shape[dice.one((0, 0, 0, 1)) :], dice)
    name = next(item.name for item in roles.operator.inputs if item.kind == "mask")
    draft.indices[name] = mask
    draft.updates = (prod(draft.data) + dice.one((0, 0, 2)),)
    return draft


def sequences(roles: Roles, dice: Dice) -> Draft:
    """The newest steps of each sample's sequence go into a cache: TensorScatter."""
    draft = Draft(dice.shape(2))
    rank = len(draft.data)
    axis = dice.random.randrange(1, rank)
    size = draft.data[axis]
    steps = dice.random.randint(min(size, 1), size)
    draft.updates = (*draft.data[:axis], steps, *draft.data[axis + 1 :])
    if dice.chance(0.8):
        draft.others["write_indices"] = dice.numbers(draft.data[:1], size - steps + 1)
    _set_axis(roles, draft, axis - dice.one((0, rank)))
    return draft


def windows(roles: Roles, dice: Dice) -> Draft:
    """Boxes that start at index vectors: StableHLO and jax.lax gather and scatter."""
    gathers = roles.updates is None
    draft = Draft(dice.shape(1, 3))
    rank = len(draft.data)
    box = [dice.random.randint(min(size, 1), size) for size in draft.data]
    gone = [at for at in range(rank) if dice.chance(0.4)]
    for at in gone:
        box[at] = min(draft.data[at], 1)
    mapped = dice.random.sample(range(rank), dice.random.randint(1, rank))
    grid = dice.shape(0, 2)
    columns = [dice.numbers(grid, draft.data[at] - box[at] + 1) for at in mapped]
    vector = len(grid)
    if roles.takes("index_vector_dim"):
        vector = dice.random.randint(0, len(grid))
        draft.attrs["index_vector_dim"] = vector
    draft.indices[roles.indices[0]] = np.stack(columns, vector)
    inside = [box[at] for at in range(rank) if at not in gone]
    places = sorted(dice.random.sample(range(len(grid) + len(inside)), len(inside)))
    sizes = {True: iter(inside), False: iter(grid)}
    draft.updates = tuple(next(sizes[at in places]) for at in range(len(grid) + len(inside)))
    names = (
        ("offset_dims", "collapsed_slice_dims", "start_index_map")
        if gathers
        else ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
    )
    draft.attrs |= dict(zip(names, (places, gone, mapped), strict=True))
    if gathers:
        draft.attrs["slice_sizes"] = box
    return draft


def family_of(operator: Operator, layout: Layout) -> Family:
    """How an operator addresses data, from a layout whose indices have two axes if they may."""
    names = {attribute.name for attribute in operator.attributes}
    kinds = {item.kind for item in operator.inputs}
    addressing = layout.addressing
    counts_axes = bool({"axis", "dim"} & {*names, *operator.input_names})
    by_cell = any(axis.entry is not None for axis in layout.axes)
    is_flat = len(layout.axes) == 1 and len(layout.data_shape) != 1
    choices: tuple[tuple[bool, Family], ...] = (
        (operator.many is not None, brackets),
        ("write_indices" in operator.input_names, sequences),
        ("num_segments" in names, segments),
        (bool(names & {"slice_sizes", "update_window_dims"}), windows),
        ("mask" in kinds, masked),
        ("ascending" in kinds, sorted_segments),
        (any(column.slot is not None for column in addressing.columns), vectors),
        (counts_axes and by_cell, elements),
        (counts_axes, along),
        (is_flat, flat),
        (by_cell and layout.updates is None, batched),
    )
    return next((family for fits, family in choices if fits), along)


def _default_is_none(roles: Roles) -> bool:
    return any(a.name in ("axis", "dim") and a.default is None for a in roles.operator.attributes)


def _set_axis(roles: Roles, draft: Draft, axis: int) -> None:
    if "axis" in roles.operator.input_names:
        draft.others["axis"] = np.array(axis, np.int64)
    elif roles.takes("dim"):
        draft.attrs["dim"] = axis
    elif roles.takes("axis"):
        draft.attrs["axis"] = axis
