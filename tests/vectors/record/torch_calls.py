"""PyTorch: x[…], index_put_ with subscripts, what masks choose, and torch.nn.functional."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from cases import Call, Operator
from drawing import TYPES, arrays_of, brackets, indices, key_of, shape, stretching, values

VERSION = torch.__version__.partition("+")[0]
INTEGERS = ("int64", "int64", "int32")

# Where int32 is refused.
LONG = (*INTEGERS, *["int64"] * 9)


def _brackets(rng: random.Random) -> tuple[Any, str, list[Any]]:
    sizes, dtype = shape(rng, 1), rng.choice(TYPES)
    subscript, arrays = brackets(rng, sizes, INTEGERS, backward=rng.random() < 0.05)
    masks = [array for array in arrays if array.dtype == np.bool_ and array.ndim]
    if masks and rng.random() < 0.3:
        chosen = {id(mask) for mask in masks}
        arrays = [a.astype(np.uint8) if id(a) in chosen else a for a in arrays]
    return values(rng, sizes, dtype), subscript, arrays


def _shape(data: Any, subscript: str, arrays: list[Any]) -> tuple[int, ...] | None:
    try:
        return tuple(torch.zeros(data.shape)[_key(subscript, arrays)].shape)
    except (IndexError, ValueError, RuntimeError):
        return None


def _key(subscript: str, arrays: list[Any]) -> tuple[Any, ...]:
    return key_of(subscript, [torch.from_numpy(np.asarray(array)) for array in arrays])


def _index(rng: random.Random) -> Call | None:
    data, subscript, arrays = _brackets(rng)
    result = _shape(data, subscript, arrays)
    if result is not None and 0 in result:
        return None  # PyTorch then looks at no index
    inputs = {"input": data, **{f"indices_{n}": array for n, array in enumerate(arrays)}}
    return inputs, {"subscript": subscript}


def _index_put(rng: random.Random) -> Call | None:
    data, subscript, arrays = _brackets(rng)
    result = _shape(data, subscript, arrays)
    if not arrays or any(array.dtype == np.bool_ and array.ndim == 0 for array in arrays):
        return None  # index_put_ counts a mask without axes as an index, x[…] = values does not
    if result is not None and 0 in result:
        return None
    inputs = {"self": data, **{f"indices_{n}": array for n, array in enumerate(arrays)}}
    filled = any(array.dtype in (np.bool_, np.uint8) for array in arrays)
    kept = data.dtype.name if filled or rng.random() < 0.9 else rng.choice(TYPES)
    inputs["values"] = values(rng, stretching(rng, result), kept)
    return inputs, {"subscript": subscript, "accumulate": rng.random() < 0.3}


def _put(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    """Basic items make a view first, and the tensors are index_put_'s tuple: as x[…] = values."""
    data, key = torch.tensor(inputs["self"]), _key(attrs["subscript"], arrays_of(inputs))
    updates = torch.tensor(inputs["values"])
    if all(isinstance(item, torch.Tensor) for item in key):
        return data.index_put_(key, updates, accumulate=attrs["accumulate"])
    if attrs["accumulate"]:
        added = torch.arange(data.numel()).reshape(data.shape)[key]
        return data.put_(added, updates.expand(added.shape), accumulate=True)
    if data.dtype != updates.dtype:
        raise TypeError("index_put_ takes values of its own type")
    if updates.numel() > 1 or updates.dim() > added_rank(data, key):
        updates = updates.expand(data[key].shape)
    data[key] = updates
    return data


def added_rank(data: Any, key: tuple[Any, ...]) -> int:
    """How many axes data[key] has."""
    return int(data[key].dim())


def _masked(rng: random.Random, *, source: bool) -> Call:
    sizes, dtype = shape(rng), rng.choice(TYPES)
    chosen = stretching(rng, sizes)
    chosen = chosen if not source or len(chosen) <= len(sizes) else sizes  # input stays as it is
    mask = np.array([rng.random() < 0.6 for _ in range(int(np.prod(chosen, dtype=int)))])
    mask = mask.astype("bool").reshape(chosen)
    inputs = {"input": values(rng, sizes, dtype), "mask": mask}
    if rng.random() < 0.05:
        inputs["mask"] = mask.astype(np.uint8)
    if source:
        kept = dtype if rng.random() < 0.9 else rng.choice(TYPES)
        inputs["source"] = values(rng, shape(rng, 1), kept)
        if rng.random() < 0.6:
            inputs["source"] = values(rng, (int(np.prod(sizes, dtype=int)) * 4,), kept)
    return inputs, {}


def _get(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    return torch.tensor(inputs["input"])[_key(attrs["subscript"], arrays_of(inputs))].numpy()


def _select(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    del attrs
    return torch.masked_select(*map(torch.tensor, inputs.values())).numpy()


def _scatter(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    del attrs
    return torch.masked_scatter(*map(torch.tensor, inputs.values())).numpy()


def _embedding(rng: random.Random) -> Call:
    rows, rank = rng.randint(1, 4), 2 if rng.random() < 0.95 else 3
    weight = values(rng, (rows, *shape(rng, 1, 1), 2)[:rank], rng.choice(TYPES))
    numbers = indices(rng, shape(rng), rows, rng.choice(INTEGERS), from_end=False)
    padding = rng.choice((None, None, -rows, rows - 1, rows))
    return {"input": numbers, "weight": weight}, {"padding_idx": padding}


def _classes(rng: random.Random) -> Call:
    count = rng.randint(1, 4)
    numbers = indices(rng, shape(rng), count, rng.choice(LONG), from_end=False)
    numbers = numbers if rng.random() < 0.9 else numbers.reshape(-1)[:0]
    return {"input": numbers}, {"num_classes": rng.choice((count, count, -1, 0, -2))}


def _pooled(rng: random.Random, rank: int) -> Call | None:
    sizes = tuple(rng.randint(1, 2) for _ in range(rank + rng.choice((1, 1, 2))))
    kernel = [rng.choice((2, 2, 3)) for _ in range(rank)]
    steps = rng.choice((None, None, [1] * rank, [2] * rank))
    padding = rng.choice(([0] * rank, [0] * rank, [1] * rank))
    pools = zip(sizes[-rank:], kernel, steps or kernel, padding, strict=True)
    cells = [(size - 1) * step + length - 2 * before for size, length, step, before in pools]
    attrs: dict[str, Any] = {"kernel_size": kernel, "stride": steps, "padding": padding}
    attrs["output_size"] = rng.choice((None, None, cells, [size + 1 for size in cells]))
    cells = attrs["output_size"] or cells
    if 0 in cells:
        return None  # PyTorch then looks at no index
    drawn = indices(rng, sizes, max(int(np.prod(cells)), 1), rng.choice(LONG), from_end=False)
    # Several values for one cell are stored in no promised order.
    numbers = np.unique(drawn)[: drawn.size]
    numbers = numbers if numbers.size == drawn.size else np.arange(drawn.size, dtype=drawn.dtype)
    dtype = rng.choice(("float32", "float64", "float32", "int64"))
    return {"input": values(rng, sizes, dtype), "indices": numbers.reshape(sizes)}, attrs


def _segments(rng: random.Random) -> Call:
    """PyTorch reads behind data where segments end there, of which nothing is recorded."""
    sizes = shape(rng, 1)
    axis, count = rng.randrange(len(sizes)), rng.randint(1, 3)
    lead, size, unsafe = sizes[:axis], sizes[axis], rng.random() < 0.15
    ends = np.array([rng.randint(0, size) for _ in range(int(np.prod(lead, dtype=int)) * count)])
    ends = np.sort(ends.reshape(*lead, count).astype("int64"))
    inputs = {"data": values(rng, sizes, rng.choice((*["float32"] * 3, "float64", "int64")))}
    name = rng.choice(("lengths", "lengths", "offsets"))
    if name == "lengths":
        ends[..., -1:] = ends[..., -1:] if unsafe else size - int(rng.random() < 0.25)
        ends = np.diff(ends, prepend=-int(not unsafe and rng.random() < 0.1))
    elif rng.random() < 0.25:
        ends = ends[..., ::-1].copy()
    inputs[name] = ends.astype(rng.choice((*INTEGERS, *INTEGERS, *INTEGERS, "int16")))
    attrs = {"reduce": rng.choice(("sum", "mean", "max", "min", "prod")), "axis": axis}
    attrs |= {"unsafe": unsafe, "initial": rng.choice((None, None, None, 2, -1.5))}
    return inputs, attrs


def _bags(rng: random.Random) -> Call:
    """PyTorch reads and writes anywhere where offsets descend or end before the numbers do, and for
    numbers outside but in sums of float32.
    """
    rows, mode = rng.randint(1, 4), rng.choice(("sum", "mean", "max"))
    sizes = (rng.randint(1, 5),) if rng.random() < 0.6 else (rng.randint(1, 3), rng.randint(1, 3))
    dtype = rng.choice((*["float32"] * 4, "float64", "int64"))
    inputs = {
        "input": indices(rng, sizes, rows, rng.choice(INTEGERS), from_end=False),
        "weight": values(rng, (rows, rng.randint(1, 3)), dtype),
    }
    if mode == "max" or dtype != "float32":
        inputs["input"] = inputs["input"] % rows
    attrs: dict[str, Any] = {"mode": mode, "include_last_offset": False}
    if len(sizes) == 1 or rng.random() < 0.05:
        starts = np.sort([rng.randint(0, sizes[0]) for _ in range(rng.randint(1, 3))])
        starts[0] = int(rng.random() < 0.1)
        attrs["include_last_offset"] = len(starts) > 1 and rng.random() < 0.3
        starts[-1] = sizes[0] if attrs["include_last_offset"] else starts[-1]
        inputs["offsets"] = starts.astype(rng.choice(INTEGERS))
    if rng.random() < (0.5 if mode == "sum" else 0.03):
        inputs["per_sample_weights"] = values(rng, sizes, dtype)
    attrs["padding_idx"] = rng.choice((None, None, None, -rows, rows - 1, rows))
    return inputs, attrs


def _losses(rng: random.Random) -> Call:
    classes, rank = rng.randint(1, 4), rng.randint(1, 4)
    grid = tuple(rng.randint(1, 3) for _ in range(rank - 1))
    sizes = (*grid[:1], classes, *grid[1:])
    dtype = rng.choice((*["float32"] * 3, "float64", "int64"))
    target = indices(rng, grid, classes, rng.choice((*LONG, "uint8")), from_end=False)
    ignored = rng.choice((None, 0, 7))
    inputs = {"input": values(rng, sizes, dtype), "target": target}
    if rng.random() < 0.5:
        drawn = values(rng, (classes + int(rng.random() < 0.03),), dtype)
        inputs["weight"] = np.abs(drawn) + 1
    attrs: dict[str, Any] = {"reduction": rng.choice(("none", "sum", "mean"))}
    return inputs, attrs if ignored is None else {**attrs, "ignore_index": ignored}


def _function(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Any]:
    """A function of torch.nn.functional, on tensors in its order."""

    def run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        function = getattr(torch.nn.functional, name)
        return function(*map(torch.tensor, inputs.values()), **attrs).numpy()

    return run


def _named(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Any]:
    """The same on tensors by their names, of torch too."""

    def run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        function = getattr(torch.nn.functional, name, None) or getattr(torch, name)
        tensors = {key: torch.tensor(array) for key, array in inputs.items()}
        return function(**tensors, **attrs).numpy()

    return run


OPERATORS = [
    Operator("index", _index, _get, VERSION),
    Operator("index_put_", _index_put, lambda i, a: _put(i, a).numpy(), VERSION),
    Operator("masked_select", lambda rng: _masked(rng, source=False), _select, VERSION),
    Operator("masked_scatter", lambda rng: _masked(rng, source=True), _scatter, VERSION),
    Operator("embedding", _embedding, _function("embedding"), VERSION),
    Operator("one_hot", _classes, _function("one_hot"), VERSION),
    *(
        Operator(f"max_unpool{n}d", partial(_pooled, rank=n), _function(f"max_unpool{n}d"), VERSION)
        for n in (1, 2, 3)
    ),
    Operator("embedding_bag", _bags, _named("embedding_bag"), VERSION),
    Operator("nll_loss", _losses, _named("nll_loss"), VERSION),
    Operator("segment_reduce", _segments, _named("segment_reduce"), VERSION),
]
