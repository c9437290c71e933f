"""Shapes and indices for a call of any declared operator, drawn at random but fitting.

How an operator addresses data is read off a layout of its own: along an axis, cell by cell, by
vectors, between brackets or by windows. Each of these families is one function, which draws shapes;
the addressing that `gscli.layout.families` makes of them says which numbers are legal and which
shape updates have. What does not fit after all is refused by the operator's layout and drawn again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TypeAlias

import numpy as np

from gscli.layout.axes import Addressing, Shape, Tensor
from gscli.layout.families import (
    GATHER_NAMES,
    SCATTER_NAMES,
    DimensionNumbers,
    address_axis,
    address_elements,
    address_flat,
    address_own_place,
    address_vectors,
    without_axis,
)
from gscli.runtimes.brackets import draw_bools, draw_subscript_call
from gscli.runtimes.drafts import CallSpec, Rng, Roles

SpecGenerator: TypeAlias = Callable[[Roles, Rng], CallSpec]


def _fill(
    roles: Roles, dice: Rng, data: Shape, addressing: Addressing, **attrs: object
) -> CallSpec:
    """A call that addresses data so: numbers for each column, and updates where it has some.

    Of `attrs` it has those that the operator has.
    """
    axes = {axis.column: axis for axis in addressing.axes}
    columns = [
        dice.draw_indices(addressing.entry_shape, axes[at].size - axes[at].span + 1)
        for at in range(len(addressing.columns))
    ]
    dim = addressing.columns[0].vector_dim
    indices = columns[0] if dim is None else np.stack(columns, dim)
    own = {name: value for name, value in attrs.items() if roles.has_parameter(name)}
    return CallSpec(data, addressing.result_shape, {roles.index_name: indices}, own)


def _tensor(shape: Shape) -> Tensor:
    return Tensor("", shape, "int64")


def draw_take(roles: Roles, dice: Rng) -> CallSpec:
    """One number per slice of an axis, or per cell of data laid flat: Gather, put, segment_sum.

    Operators that are told of no axis take the first one, or one behind batch axes.
    """
    attribute = roles.operator.attribute("axis")
    may_be_flat = attribute is not None and attribute.default is None
    is_flat = len(roles.layout.axes) < len(roles.layout.data_shape) and not roles.has_axis
    if is_flat or (may_be_flat and dice.draw_bool(0.15)):
        data = dice.draw_shape(0)
        return _fill(roles, dice, data, address_flat(_tensor(data), _tensor(dice.draw_shape(0, 2))))
    if dice.draw_bool(0.03):
        return _draw_rank_0(roles, dice)
    has_rows = roles.is_by_cell and len(roles.layout.addressing.entry_shape) == 1  # batch_take
    data = dice.draw_shape(2, 2) if has_rows else dice.draw_shape()
    has_any = not has_rows and (roles.has_axis or roles.is_by_cell)
    axis = dice.draw_axis(data) if has_any else int(has_rows)
    place = axis % len(data)
    batch = place if roles.is_by_cell else 0
    if roles.has_parameter("batch_dims") and place and dice.draw_bool(0.4):
        batch = dice.random.randint(1, place)
    grid = dice.draw_shape(0, 0 if has_rows else 2 - roles.is_by_cell)
    indices = _tensor((*data[:batch], *grid))
    counts = {"batch_dims": batch, "num_segments": data[place], "num_classes": data[place]}
    addressing = address_axis(_tensor(data), indices, place, batch)
    return _set_axis(roles, _fill(roles, dice, data, addressing, **counts), axis)


def draw_elements(roles: Roles, dice: Rng) -> CallSpec:
    """One number per cell, which replaces one coordinate: GatherElements, torch.scatter."""
    if dice.draw_bool(0.03):
        return _draw_rank_0(roles, dice)
    data = dice.draw_shape()
    axis, smaller = dice.draw_axis(data), dice.draw_bool(0.4)
    own = [dice.random.randint(min(size, 1), size) if smaller else size for size in data]
    own[axis] = max(dice.draw_size(), 1)
    addressing = address_elements(_tensor(data), _tensor(tuple(own)), axis % len(data))
    return _set_axis(roles, _fill(roles, dice, data, addressing), axis)


def _draw_rank_0(roles: Roles, dice: Rng) -> CallSpec:
    """Data of rank 0, which some frameworks read as an axis of one cell."""
    indices = _tensor(dice.choose(((), (1,), (2,))))
    draft = _fill(roles, dice, (), address_flat(_tensor(()), indices))
    return _set_axis(roles, draft, dice.choose((0, -1)))


def draw_vectors(roles: Roles, dice: Rng) -> CallSpec:
    """A vector of numbers per cell or slice: GatherND, ScatterND, tf.scatter_nd."""
    data, attrs = dice.draw_shape(), dict[str, object]()
    rank, batch = len(data), 0
    if roles.has_parameter("batch_dims") and rank > 1 and dice.draw_bool(0.4):
        batch = attrs["batch_dims"] = dice.random.randint(1, rank - 1)
    length = dice.random.randint(1, rank - batch)
    grid = (*data[:batch], *dice.draw_shape(0, 2))
    is_first = roles.layout.addressing.columns[0].vector_dim == 0
    indices = _tensor((length, *grid) if is_first else (*grid, length))
    addressing = address_vectors(_tensor(data), indices, batch, vector_dim=0 if is_first else -1)
    return _set_parameter(roles, _fill(roles, dice, data, addressing, **attrs), "shape", list(data))


def draw_sorted_segments(roles: Roles, dice: Rng) -> CallSpec:
    """Ascending segment numbers, a row of data each; the last one tells how many there are."""
    rows = dice.draw_size()
    ids = np.sort(np.abs(dice.draw_indices((rows,), 4)) % 7)
    if dice.index_mode == "outside" and dice.draw_bool(0.5):
        ids = ids[::-1] - dice.choose((0, 1))
    return CallSpec((), (rows, *dice.draw_shape(0, 2)), {roles.index_name: ids})


def draw_segments(roles: Roles, dice: Rng) -> CallSpec:
    """Segments of an axis, by their lengths or by where they begin: segment_reduce."""
    draft = CallSpec((), dice.draw_shape(1, 3))
    axis, outside = dice.random.randrange(len(draft.updates)), dice.index_mode == "outside"
    size, has_offsets = draft.updates[axis], dice.draw_bool(0.4)
    grid = (*draft.updates[:axis], dice.random.randint(2, 4))
    offsets = np.sort(np.abs(dice.draw_indices(grid, size + 1)) % (size + 1))
    offsets[..., :1] = 0
    draft.attrs["unsafe"] = not outside and dice.draw_bool(0.2)
    if not (draft.attrs["unsafe"] or has_offsets):
        offsets[..., -1:] = size
    lengths = np.diff(offsets)
    if has_offsets:
        draft.indices["offsets"] = offsets[..., ::-1] if outside else offsets
    else:
        lengths[..., :1] += dice.choose((-1, 1)) * outside
        draft.indices["lengths"] = lengths
    return _set_axis(roles, draft, axis)


def draw_bags(_roles: Roles, dice: Rng) -> CallSpec:
    """Rows of a table in bags, a row each or told by offsets: embedding_bag."""
    draft = CallSpec((dice.random.randint(1, 4), dice.random.randint(1, 3)))
    has_offsets = dice.draw_bool(0.6)
    shape = tuple(dice.random.randint(1, 4) for _ in range(2 - has_offsets))
    draft.indices["input"] = dice.draw_indices(shape, draft.data[0])
    draft.attrs |= {"include_last_offset": False, "padding_idx": dice.choose((None, None, 0, -1))}
    if has_offsets:
        starts = np.sort(np.abs(dice.draw_indices((dice.random.randint(1, 3),), shape[0] + 1)))
        starts[0] = 0
        draft.indices["offsets"] = starts % (shape[0] + 1)
    return draft


def draw_losses(_roles: Roles, dice: Rng) -> CallSpec:
    """A class at each position off the axis of classes: nll_loss."""
    data = dice.draw_shape(1, 4)
    axis = min(len(data) - 1, 1)
    target = dice.draw_indices(without_axis(data, axis), data[axis])
    return CallSpec(data, (), {"target": target}, {"ignore_index": dice.choose((-100, 0, -1))})


def draw_masked(roles: Roles, dice: Rng) -> CallSpec:
    """A mask that says which cells take part, in row-major order."""
    data = dice.draw_shape(0)
    shape = tuple(1 if dice.draw_bool(0.15) else size for size in data)
    mask = draw_bools(shape[dice.choose((0, 0, 0, 1)) :], dice)
    return CallSpec(data, (prod(data) + dice.choose((0, 0, 2)),), {_name_mask(roles): mask})


def draw_compressed(roles: Roles, dice: Rng) -> CallSpec:
    """A mask of one axis, or of data laid flat, which may be shorter or longer: compress."""
    draft = CallSpec(dice.draw_shape(0 if dice.draw_bool(0.03) else 1))
    size = prod(draft.data)
    if draft.data and dice.draw_bool(0.85):
        axis = dice.draw_axis(draft.data)
        _set_axis(roles, draft, axis)
        size = draft.data[axis]
    condition = draw_bools((max(size + dice.choose((-1, 0, 0, 0, 2)), 0),), dice)
    if dice.index_mode != "outside":
        condition[size:] = False
    draft.indices[_name_mask(roles)] = condition
    return draft


def _name_mask(roles: Roles) -> str:
    return next(item.name for item in roles.operator.inputs if item.kind == "mask")


def draw_sequences(roles: Roles, dice: Rng) -> CallSpec:
    """The newest steps of each sample's sequence go into a cache: TensorScatter."""
    draft = CallSpec(dice.draw_shape(2))
    rank = len(draft.data)
    axis = dice.random.randrange(1, rank)
    size = draft.data[axis]
    steps = dice.random.randint(min(size, 1), size)
    draft.updates = (*draft.data[:axis], steps, *draft.data[axis + 1 :])
    if dice.draw_bool(0.8):
        draft.other_inputs["write_indices"] = dice.draw_indices(draft.data[:1], size - steps + 1)
    return _set_axis(roles, draft, axis - dice.choose((0, rank)))


# Attributes of dimension numbers, and which of them each is.
DIMENSION_ORDER = {
    name: at for names in (GATHER_NAMES, SCATTER_NAMES) for at, name in enumerate(names)
}


def draw_windows(roles: Roles, dice: Rng) -> CallSpec:
    """Boxes that start at index vectors: StableHLO and jax.lax gather and scatter."""
    data = dice.draw_shape(1, 3)
    rank = len(data)
    box = [dice.random.randint(min(size, 1), size) for size in data]
    batching = (dice.random.randrange(rank),) if rank > 1 and dice.draw_bool(0.25) else ()
    free = [at for at in range(rank) if at not in batching]
    gone = tuple(at for at in free if dice.draw_bool(0.4))
    for at in (*gone, *batching):
        box[at] = min(data[at], 1)
    mapped = tuple(dice.random.sample(free, dice.random.randint(1, len(free))))
    grid = dice.draw_shape(0, 2)
    partners = [dice.random.randint(0, len(grid)) for _ in batching]
    for at, partner in zip(batching, partners, strict=True):
        grid = (*grid[:partner], data[at], *grid[partner:])
    is_free = roles.has_parameter("index_vector_dim")
    vector = dice.random.randint(0, len(grid)) if is_free else len(grid)
    inside = len(free) - len(gone)
    offset = tuple(sorted(dice.random.sample(range(len(grid) + inside), inside)))
    own = DIMENSION_ORDER.keys() & roles.operator.attributes_by_name
    numbers = DimensionNumbers(
        offset, gone, batching, tuple(at + (at >= vector) for at in partners), mapped, vector,
        tuple(sorted(own, key=DIMENSION_ORDER.__getitem__)),
    )  # fmt: skip
    indices = _tensor((*grid[:vector], len(mapped), *grid[vector:]))
    attrs: dict[str, object] = {
        name: [*dims] for name, dims in numbers.lists.items() if dims or "batching" not in name
    }
    attrs |= {"index_vector_dim": vector, "slice_sizes": box}
    return _fill(roles, dice, data, numbers.address(_tensor(data), indices, box), **attrs)


def draw_single_window(roles: Roles, dice: Rng) -> CallSpec:
    """One window over all axes, which starts at one vector: jax.lax.dynamic_slice."""
    data = dice.draw_shape(1, 3)
    box = [dice.random.randint(min(size, 1), size) for size in data]
    every = tuple(range(len(data)))
    numbers = DimensionNumbers(every, (), (), (), every, 0)
    addressing = numbers.address(_tensor(data), _tensor((len(data),)), box)
    return _fill(roles, dice, data, addressing, slice_sizes=box)


def draw_unpooled(roles: Roles, dice: Rng) -> CallSpec:
    """Numbers of cells of planes that a pooling made half as long: max_unpool2d."""
    rank = len(roles.layout.data_shape) - len(roles.layout.axes) + 1
    planes = tuple(max(size, 1) for size in dice.draw_shape(1, 2))
    pooled = tuple(dice.random.randint(1, 2) for _ in range(rank))
    cells = prod(2 * size for size in pooled)
    addressing = address_own_place(_tensor((*planes, *pooled)), len(planes), cells)
    return _fill(roles, dice, (), addressing, kernel_size=[2] * rank)


def choose_generator(roles: Roles) -> SpecGenerator:
    """The family of an operator, by what it declares and how its layout addresses data."""
    operator = roles.operator
    names = {*operator.input_names, *operator.attributes_by_name}
    kinds = {item.kind for item in operator.inputs}
    columns = roles.layout.addressing.columns
    choices: tuple[tuple[bool, SpecGenerator], ...] = (
        (operator.variadic is not None, draw_subscript_call),
        ("write_indices" in names, draw_sequences),
        ("allow_negative_indices" in names, draw_single_window),
        ("kernel_size" in names, draw_unpooled),
        ("lengths" in names, draw_segments),
        ("include_last_offset" in names, draw_bags),
        ("ignore_index" in names, draw_losses),
        (bool(names & {"slice_sizes", "update_window_dims"}), draw_windows),
        ("mask" in kinds and roles.has_axis, draw_compressed),
        ("mask" in kinds, draw_masked),
        ("ascending" in kinds, draw_sorted_segments),
        (any(column.component is not None for column in columns), draw_vectors),
        (roles.has_axis and roles.is_by_cell, draw_elements),
    )
    return next((family for fits, family in choices if fits), draw_take)


def _set_axis(roles: Roles, draft: CallSpec, axis: int) -> CallSpec:
    attribute = roles.operator.attribute("axis")
    return _set_parameter(roles, draft, "axis" if attribute is None else attribute.name, axis)


def _set_parameter(roles: Roles, draft: CallSpec, name: str, value: int | list[int]) -> CallSpec:
    """The call with an input or attribute of this name, where the operator has it."""
    if name in roles.operator.input_names:
        draft.other_inputs[name] = np.array(value, np.int64)
    elif roles.has_parameter(name):
        draft.attrs[name] = value
    return draft
