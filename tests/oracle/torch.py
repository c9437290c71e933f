"""PyTorch 2.13 on the CPU: rank 0 counts as rank 1, negatives are refused where not said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import families
from .rules import (
    COMPLEX,
    FLOATS,
    HALVES,
    SIGNED,
    Array,
    Combine,
    Place,
    add,
    axis_within,
    from_end,
    from_start,
    largest,
    modulo,
    multiply,
    operator,
    replace,
    require,
    require_type,
    smallest,
    type_of,
)
from .subscripts import Subscript, arrays_of, tokens

INDICES = ("int32", "int64")
LONG = ("int64",)
DATA = ("bool", "uint8", *SIGNED, *FLOATS, *COMPLEX)
WIDER = ("uint16", "uint32", "uint64")
REDUCTIONS: dict[str, Combine] = {
    "sum": add,
    "prod": multiply,
    "mean": add,
    "amax": largest,
    "amin": smallest,
    "max": largest,
    "min": smallest,
}


def _at_least_1d(array: Array) -> Array:
    return array.reshape(1) if array.ndim == 0 else array


def _elements(input: Array, dim: int, index: Array) -> tuple[Array, Array, int]:  # noqa: A002
    """Data and index of equal rank, and the axis; off the axis the index may only be smaller."""
    require_type(input, DATA, "input")
    require_type(index, INDICES, "index")
    data, index = _at_least_1d(input), _at_least_1d(index)
    axis = axis_within(dim, data.ndim)
    if index.size > 0:
        require(data.ndim == index.ndim, "shape", "input and index differ in rank")
        for d in range(data.ndim):
            fits = d == axis or index.shape[d] <= data.shape[d]
            require(fits, "shape", f"index is larger than input on axis {d}")
    return data, index, axis


@operator("torch.gather")
def gather(input: Array, dim: int, index: Array) -> Array:  # noqa: A002
    """`out[p] = input[p with p[dim] := index[p]]`; an empty index may have any rank."""
    data, positions, axis = _elements(input, dim, index)
    if positions.size == 0:
        return np.empty(index.shape, input.dtype)
    gathered = families.gather_elements(data, positions, axis, from_start)
    return gathered.reshape(index.shape)


def _scatter(
    input: Array,  # noqa: A002
    dim: int,
    index: Array,
    src: Array,
    reduce: str,
    *,
    keep: bool = True,
) -> Array:
    data, positions, axis = _elements(input, dim, index)
    require(input.dtype == src.dtype, "dtype", "src has another dtype than input")
    if positions.size == 0:
        return input.copy()
    source = _at_least_1d(src)
    require(source.ndim == positions.ndim, "shape", "src and index differ in rank")
    for d in range(source.ndim):
        fits = positions.shape[d] <= source.shape[d]
        require(fits, "shape", f"index is larger than src on axis {d}")
    writes = families.writes_elements(data, positions, source, axis, from_start)
    return _reduced(data, writes, reduce, keep=keep, wide=True).reshape(input.shape)


def _reduced(
    data: Array, writes: list[families.Write], reduce: str, *, keep: bool, wide: bool
) -> Array:
    """Halves accumulate in float32 where torch has a wide accumulator, and round once."""
    start = data
    if wide and type_of(data) in HALVES:
        start = data.astype(np.float32)
        writes = [(target, np.float32(value)) for target, value in writes]
    combine = replace if reduce == "none" else REDUCTIONS[reduce]
    total = families.apply(start, writes, combine, keep_initial=keep).astype(data.dtype)
    if reduce != "mean":
        return total
    return families.divided(total, families.counts(data, writes, keep_initial=keep))


def _scalar(value: Any, data: Array) -> Array:
    return np.asarray(value).astype(data.dtype)


@operator("torch.scatter")
def scatter(
    input: Array,  # noqa: A002
    dim: int,
    index: Array,
    src: Array | None = None,
    value: float | None = None,
    reduce: str | None = None,
) -> Array:
    """Either src or a scalar value; reduce is add or multiply."""
    require((src is None) != (value is None), "usage", "either src or value")
    names = {None: "none", "add": "sum", "multiply": "prod"}
    require(reduce in names, "usage", f"reduce {reduce!r}")
    if src is None:
        src = np.broadcast_to(_scalar(value, input), index.shape)
    return _scatter(input, dim, index, src, names[reduce])


@operator("torch.scatter_add")
def scatter_add(input: Array, dim: int, index: Array, src: Array) -> Array:  # noqa: A002
    """Every occurrence counts."""
    return _scatter(input, dim, index, src, "sum")


def _allowed(data: Array, reduce: str) -> None:
    name = type_of(data)
    require(not (reduce == "mean" and name == "bool"), "dtype", "no mean of bool")
    ordered = reduce in ("amax", "amin", "max", "min")
    require(not (ordered and name in COMPLEX), "dtype", "complex numbers have no order")


@operator("torch.scatter_reduce")
def scatter_reduce(
    input: Array,  # noqa: A002
    dim: int,
    index: Array,
    src: Array,
    reduce: str,
    include_self: bool = True,
) -> Array:
    """Without include_self a touched cell starts from the identity."""
    require(reduce in REDUCTIONS, "usage", f"reduce {reduce!r}")
    _allowed(input, reduce)
    return _scatter(input, dim, index, src, reduce, keep=include_self)


def _slices(
    input: Array,  # noqa: A002
    dim: int,
    index: Array,
    source: Array | None = None,
    allowed: tuple[str, ...] = INDICES,
) -> tuple[Array, int, Array]:
    """Data, axis and a rank-1 index; a source has data's shape with len(index) on the axis."""
    require_type(index, allowed, "index")
    require(index.ndim <= 1, "shape", "index is not a vector")
    data, axis = _at_least_1d(input), axis_within(dim, max(input.ndim, 1))
    index = _at_least_1d(index)
    if source is not None:
        require(source.dtype == input.dtype, "dtype", "source has another dtype than input")
        shape = (*data.shape[:axis], index.size, *data.shape[axis + 1 :])
        require(_at_least_1d(source).shape == shape, "shape", f"source is not {shape}")
    return data, axis, index


def _write_slices(
    input: Array,  # noqa: A002
    dim: int,
    index: Array,
    source: Array,
    reduce: str,
    *,
    keep: bool = True,
) -> Array:
    if reduce == "none":
        data, axis, index = _slices(input, dim, index, source, LONG)
    else:
        require(source.ndim == input.ndim, "shape", "source and input differ in rank")
        data, axis, index = _slices(input, dim, index, source)
    writes = families.writes_along(data, index, _at_least_1d(source), axis, from_start)
    return _reduced(data, writes, reduce, keep=keep, wide=False).reshape(input.shape)


@operator("torch.index_select")
def index_select(input: Array, dim: int, index: Array) -> Array:  # noqa: A002
    """Whole slices; a rank-0 index keeps the axis with size 1."""
    require_type(input, (*DATA, *WIDER) if input.ndim > 1 else DATA, "input")
    data, axis, index = _slices(input, dim, index)
    require(input.ndim > 0 or index.size == 1, "shape", "a scalar takes one index")
    selected = families.gather_along(data, index, axis, from_start)
    return selected.reshape(()) if input.ndim == 0 and selected.size == 1 else selected


@operator("torch.index_add")
def index_add(
    input: Array,  # noqa: A002
    dim: int,
    index: Array,
    source: Array,
    alpha: float = 1,
) -> Array:
    """`input[index] += alpha * source`, each step in the data's own dtype."""
    scaled = source if alpha == 1 else multiply(_scalar(alpha, source), source)
    return _write_slices(input, dim, index, scaled, "sum")


@operator("torch.index_copy")
def index_copy(input: Array, dim: int, index: Array, source: Array) -> Array:  # noqa: A002
    """Whole slices written."""
    return _write_slices(input, dim, index, source, "none")


@operator("torch.index_reduce")
def index_reduce(
    input: Array,  # noqa: A002
    dim: int,
    index: Array,
    source: Array,
    reduce: str,
    include_self: bool = True,
) -> Array:
    """prod, mean, amax or amin; the sum is index_add."""
    require(reduce in ("prod", "mean", "amax", "amin"), "usage", f"reduce {reduce!r}")
    _allowed(input, reduce)
    return _write_slices(input, dim, index, source, reduce, keep=include_self)


@operator("torch.index_fill")
def index_fill(
    input: Array,  # noqa: A002
    dim: int,
    index: Array,
    value: Any,
) -> Array:
    """One value into whole slices; the one slice operator that counts from the end."""
    data, axis, index = _slices(input, dim, index, allowed=LONG)
    shape = (*data.shape[:axis], index.size, *data.shape[axis + 1 :])
    require(np.asarray(value).ndim == 0, "shape", "value is not a scalar")
    updates = np.broadcast_to(_scalar(value, input), shape)
    writes = families.writes_along(data, index, updates, axis, from_end)
    return families.apply(data, writes, replace).reshape(input.shape)


@operator("torch.take")
def take(input: Array, index: Array) -> Array:  # noqa: A002
    """Flat positions, from the end too."""
    require_type(index, LONG, "index")
    return families.gather_along(input.reshape(-1), index, 0, from_end)


@operator("torch.put_")
def put_(
    self: Array,
    index: Array,
    source: Array,
    accumulate: bool = False,
) -> Array:
    """Flat positions; as many values as positions."""
    require_type(index, LONG, "index")
    require(self.dtype == source.dtype, "dtype", "source has another dtype than self")
    require(index.size == source.size, "shape", "index and source differ in size")
    flat = self.reshape(-1)
    writes = families.writes_along(flat, index.reshape(-1), source.reshape(-1), 0, from_end)
    return families.apply(flat, writes, add if accumulate else replace).reshape(self.shape)


def _indexed(
    x: Array, subscript: str | None, indices: dict[str, Array], count: int | None
) -> Subscript:
    columns = arrays_of(indices, count)
    for column in columns:
        numbers = ("int8", "int16") if column.ndim == 0 else ()
        require_type(column, ("bool", "uint8", *INDICES, *numbers), "indices")
    found = tokens(subscript, columns)
    return Subscript(x.shape, found, from_end, masks="bytes", numbers_first=True, backward=False)


@operator("torch.index")
def index(
    input: Array,  # noqa: A002
    subscript: str | None = None,
    indices_per_axis: int | None = None,
    **indices: Array,
) -> Array:
    """`input[…]`: numbers take their axis away first, and a mask may be of uint8."""
    require_type(input, (*DATA, *WIDER), "input")
    return _indexed(input, subscript, indices, indices_per_axis).read(input)


@operator("torch.index_put_")
def index_put_(
    self: Array,
    values: Array,
    accumulate: bool = False,
    subscript: str | None = None,
    indices_per_axis: int | None = None,
    **indices: Array,
) -> Array:
    """`self[…] = values`; one mask and one value fill, which a mask of uint8 does not."""
    require(self.dtype == values.dtype, "dtype", "values have another dtype than self")
    found = _indexed(self, subscript, indices, indices_per_axis)
    (first, *others) = indices.values() if indices else [np.zeros(1)]
    if not others and values.size == 1 and not accumulate:
        require(type_of(first) != "uint8", "dtype", "only masks of bool are filled")
        values = values.reshape(()) if type_of(first) == "bool" else values
    return families.apply(self, found.writes(values), add if accumulate else replace)


@operator("torch.take_along_dim")
def take_along_dim(
    input: Array,  # noqa: A002
    indices: Array,
    dim: int | None = None,
) -> Array:
    """Both sides stretch; with dim every index is taken modulo the size, without it none is."""
    require_type(indices, LONG, "indices")
    if dim is None:
        return families.gather_elements(input.reshape(-1), indices.reshape(-1), 0, from_start)
    require(input.ndim == indices.ndim, "shape", "input and indices differ in rank")
    axis = axis_within(dim, input.ndim)
    data, positions = families.stretch_off_axis(input, indices, axis)
    place: Place = modulo
    return families.gather_elements(data, positions, axis, place)


def _stretched_mask(input: Array, mask: Array) -> Array:  # noqa: A002
    require_type(mask, ("bool",), "mask")
    return families.stretch(mask, families.broadcast([input.shape, mask.shape]))


@operator("torch.masked_select")
def masked_select(input: Array, mask: Array) -> Array:  # noqa: A002
    """The cells under True, one after the other."""
    chosen = _stretched_mask(input, mask)
    data = families.stretch(input, chosen.shape)
    cells = [data[p] for p in np.ndindex(chosen.shape) if chosen[p]]
    return np.array(cells, input.dtype)


@operator("torch.masked_scatter")
def masked_scatter(input: Array, mask: Array, source: Array) -> Array:  # noqa: A002
    """The values of source into the cells under True; the mask alone stretches."""
    chosen = _stretched_mask(input, mask)
    require(input.dtype == source.dtype, "dtype", "source has another dtype")
    require(chosen.shape == input.shape, "shape", "mask is larger than input")
    output, values = input.copy(), list(source.reshape(-1))
    for p in np.ndindex(chosen.shape):
        if chosen[p]:
            require(bool(values), "shape", "source is too short")
            output[p] = values.pop(0)
    return output


@operator("torch.embedding")
def embedding(input: Array, weight: Array, padding_idx: int | None = None) -> Array:  # noqa: A002
    """The rows of a table; the padding row is a row like any other."""
    require_type(input, INDICES, "input")
    require_type(weight, (*DATA, *WIDER), "weight")
    require(weight.ndim == 2, "shape", "weight is no table")
    if padding_idx is not None:
        require(-len(weight) <= padding_idx < len(weight), "usage", "padding_idx is no row")
    output = np.empty((*input.shape, weight.shape[1]), weight.dtype)
    for p in np.ndindex(input.shape):
        output[p] = weight[from_start(int(input[p]), len(weight))]
    return output


@operator("torch.one_hot")
def one_hot(input: Array, num_classes: int = -1) -> Array:  # noqa: A002
    """1 at the class, 0 elsewhere; the classes are counted where nobody says how many."""
    require_type(input, LONG, "input")
    least = 1 if input.size == 0 else -1
    require(num_classes >= least, "usage", "the number of classes is not known")
    classes = input.max() + 1 if num_classes == -1 else num_classes
    output = np.zeros((*input.shape, max(classes, 1)), np.int64)
    for p in np.ndindex(input.shape):
        output[(*p, from_start(int(input[p]), classes))] = 1
    return output


def _max_unpool(rank: int) -> Callable[..., Array]:
    def max_unpool(
        input: Array,  # noqa: A002
        indices: Array,
        kernel_size: list[int] | int | None = None,
        stride: list[int] | int | None = None,
        padding: list[int] | int | None = None,
        output_size: list[int] | None = None,
    ) -> Array:
        require_type(input, FLOATS, "input")
        require_type(indices, LONG, "indices")
        require(input.ndim in (rank + 1, rank + 2), "shape", "input is not pooled")
        require(0 not in input.shape[-rank - 1 :], "shape", "only the batch may be empty")
        require(indices.shape == input.shape, "shape", "indices and input differ in shape")
        asked = output_size
        if asked is not None:
            asked = asked[2:] if len(asked) == rank + 2 else asked
            require(len(asked) == rank, "usage", "output_size")
        sizes = asked
        if kernel_size is not None:
            every = (kernel_size, kernel_size if stride in (None, []) else stride, padding or 0)
            kernel, steps, before = ([s] * rank if isinstance(s, int) else s for s in every)
            require(len(kernel) == len(steps) == len(before) == rank, "usage", "sizes")
            require(min(steps) > 0, "usage", "stride")
            sizes = []
            for d in range(rank):
                pools = input.shape[d - rank]
                sizes.append((pools - 1) * steps[d] - 2 * before[d] + kernel[d])
                if asked is not None:
                    near = sizes[d] - steps[d] < asked[d] < sizes[d] + steps[d]
                    require(near, "usage", "output_size")
                    sizes[d] = asked[d]
        require(sizes is not None and min(sizes) >= 0, "usage", "the size of output")
        output = np.zeros((*input.shape[:-rank], *sizes), input.dtype)
        for p in np.ndindex(input.shape):
            plane = output[p[:-rank]].reshape(-1)
            plane[from_start(int(indices[p]), plane.size)] = input[p]
        return output

    return max_unpool


for pooled in (1, 2, 3):
    operator(f"torch.max_unpool{pooled}d")(_max_unpool(pooled))


@operator("torch.segment_reduce")
def segment_reduce(
    data: Array,
    reduce: str,
    lengths: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Array:
    """Each segment alone, cell after cell."""
    parts = lengths if offsets is None else offsets
    require(parts is not None and reduce in REDUCTIONS, "usage", "no segments, or no reduction")
    require_type(data, FLOATS, "data")
    require_type(parts, INDICES, "parts")
    axis = axis_within(axis, data.ndim)
    require(parts.shape[:-1] == data.shape[:axis], "shape", "other axes before the segments")
    fits = parts.ndim == axis + 1 and parts.shape[-1] > 0 and (parts.size or parts is offsets)
    require(fits, "shape", "no list of segments")
    count = parts.shape[-1] - (parts is offsets)
    output = np.empty((*data.shape[:axis], count, *data.shape[axis + 1 :]), data.dtype)
    starts = {"sum": 0, "mean": 0, "prod": 1, "max": -np.inf, "amax": -np.inf}
    start = data.dtype.type(starts.get(reduce, np.inf) if initial is None else initial)
    for row in np.ndindex(parts.shape[:-1]):
        ends = [int(number) for number in parts[row]]
        if parts is lengths:
            require(min(ends) >= 0, "index", "a negative length")
            whole = sum(ends) == data.shape[axis]
            require(whole or unsafe, "index", "lengths do not add up")
            ends = [sum(ends[:n]) for n in range(count + 1)]
        require(ends == sorted(ends) and ends[0] >= 0, "index", "offsets do not ascend")
        require(ends[-1] <= data.shape[axis], "index", "a segment behind the end")
        for n in range(count):
            for rest in np.ndindex(data.shape[axis + 1 :]):
                value, total = start, ends[n + 1] - ends[n]
                for at in range(ends[n], ends[n + 1]):
                    value = data.dtype.type(REDUCTIONS[reduce](value, data[(*row, at, *rest)]))
                if reduce == "mean" and total:
                    value = value / data.dtype.type(total)
                elif reduce == "mean" and initial is None:
                    value = np.nan
                output[(*row, n, *rest)] = value
    return output


@operator("torch.embedding_bag")
def embedding_bag(
    input: Array,  # noqa: A002
    weight: Array,
    offsets: Array | None = None,
    per_sample_weights: Array | None = None,
    mode: str = "mean",
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Array:
    """The rows of each bag, one after the other, in float32 where they are halves."""
    require(mode in ("sum", "mean", "max"), "usage", "mode")
    require_type(input, INDICES, "input")
    require_type(weight, FLOATS, "weight")
    require(weight.ndim == 2, "shape", "weight is no table")
    size = len(weight)
    if padding_idx is not None:
        require(-size <= padding_idx < size, "usage", "padding_idx is no row")
        padding_idx %= size
    require((input.ndim, offsets is None) in ((1, False), (2, True)), "shape", "no list of bags")
    factors = np.ones(input.shape)
    if per_sample_weights is not None:
        require(mode == "sum", "usage", "weights are for sums")
        require(per_sample_weights.dtype == weight.dtype, "dtype", "another type than weight")
        require(per_sample_weights.shape == input.shape, "shape", "a weight for each number")
        factors = per_sample_weights
    if offsets is None:
        require(input.shape[1], "shape", "empty bags")
        ends = [input.shape[1] * n for n in range(len(input) + 1)]
    else:
        require_type(offsets, INDICES, "offsets")
        require(offsets.ndim == 1, "shape", "offsets are a list")
        require(offsets.size or not include_last_offset, "shape", "no last offset")
        ends = [int(number) for number in offsets]
        fits = ends == sorted(ends) and ends[:1] in ([], [0]) and max(ends, default=0) <= len(input)
        require(fits, "index", "offsets do not fit")
        ended = not include_last_offset or len(ends) == 1 or ends[-1] == len(input)
        require(ended, "index", "the last offset is no end")
        ends += [] if include_last_offset or not ends else [len(input)]
    numbers, factors = input.reshape(-1), factors.reshape(-1)
    rows = [None if n == padding_idx else from_start(int(n), size) for n in numbers]
    wide = np.float32 if type_of(weight) in HALVES else weight.dtype.type
    output = np.zeros((max(len(ends) - 1, 0), weight.shape[1]), weight.dtype)
    for bag, column in np.ndindex(output.shape):
        kept = [at for at in range(ends[bag], ends[bag + 1]) if rows[at] is not None]
        values = [wide(weight[rows[at], column]) * wide(factors[at]) for at in kept]
        if values:
            total = values[0]
            for value in values[1:]:
                total = wide(REDUCTIONS[mode](total, value))
            output[bag, column] = total / wide(len(values)) if mode == "mean" else total
    return output


@operator("torch.nll_loss")
def nll_loss(
    input: Array,  # noqa: A002
    target: Array,
    weight: Array | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Array:
    """A loss for each target, one after the other."""
    require(reduction in ("none", "mean", "sum"), "usage", "reduction")
    require_type(input, FLOATS, "input")
    require(input.ndim > 0, "shape", "no classes")
    require_type(target, (*LONG, "uint8") if input.ndim <= 2 else LONG, "target")
    axis = min(input.ndim - 1, 1)
    classes, grid = input.shape[axis], input.shape[:axis] + input.shape[axis + 1 :]
    fits = target.shape == grid or (input.ndim == 1 and target.shape == (1,))
    require(fits, "shape", "target has other axes")
    if weight is not None:
        require(weight.dtype == input.dtype, "dtype", "another type than input")
        require(weight.shape == (classes,), "shape", "a weight for each class")
    wide = np.float32 if type_of(input) in HALVES else input.dtype.type
    losses, total, weights = np.zeros(grid, input.dtype), wide(0), wide(0)
    for p in np.ndindex(grid):
        number = int(target[p] if target.shape == grid else target[0])
        if number == ignore_index:
            continue
        row = from_start(number, classes)
        factor = wide(1 if weight is None else weight[row])
        loss = -wide(input[(*p[:axis], row, *p[axis:])]) * factor
        losses[p], total, weights = loss, total + loss, weights + factor
    if reduction == "none":
        return losses
    return np.asarray(total / weights if reduction == "mean" else total, input.dtype)
