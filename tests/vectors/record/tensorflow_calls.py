"""TensorFlow on a CPU: segments, variables, batch_gather, and what is empty."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from cases import Call, Operator
from drawing import indices, shape, stretching, values

REAL = ("float32", "int64", "float64", "int32", "uint8")
INDICES = ("int32", "int64")
Run = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]


def _tensors(inputs: Mapping[str, Any]) -> list[Any]:
    return [tf.constant(array) for array in inputs.values()]


def _ascending(types: tuple[str, ...]) -> Callable[[random.Random], Call]:
    def draw(rng: random.Random) -> Call:
        rows = rng.randint(0, 6)
        data = np.nan_to_num(values(rng, (rows, *shape(rng, 0, 2)), rng.choice(types)), posinf=1)
        ids = np.array([rng.randint(0, 4) for _ in range(rows)], rng.choice(INDICES))
        ids = np.sort(ids) if rng.random() < 0.9 else ids
        if rng.random() < 0.05:
            ids = ids - 1
        if rng.random() < 0.05:
            ids = ids[:-1]
        return {"data": data, "segment_ids": ids}, {}

    return draw


def _unsorted(rng: random.Random) -> Call:
    rows, count = rng.randint(0, 5), rng.randint(1, 4)
    data = values(rng, (rows, *shape(rng, 0, 1)), rng.choice(REAL))
    types = ("int16", *INDICES, "int16")
    ids = indices(rng, (rows,), count, rng.choice(types), from_end=False)
    return {"data": data, "segment_ids": ids}, {"num_segments": count}


def _segment(name: str) -> Run:
    return lambda inputs, attrs: getattr(tf.math, name)(*_tensors(inputs), **attrs).numpy()


def _written(
    names: tuple[str, str, str], types: tuple[str, ...]
) -> Callable[[random.Random], Call]:
    """A tensor, index vectors and updates; often with nothing in them."""

    def draw(rng: random.Random) -> Call:
        sizes, dtype = shape(rng, 1), rng.choice(types)
        if rng.random() < 0.2:
            sizes = tuple(rng.choice((0, size)) for size in sizes)
        length = rng.randint(1, len(sizes))
        grid = rng.choice(((), (1,), (2,), (2, 2), (0,)))
        grid = grid or (1,)  # of single vectors variables write what lies behind them, too
        drawn = [indices(rng, grid, size, "int64", from_end=False) for size in sizes[:length]]
        vectors = np.stack(drawn, -1).astype(rng.choice(INDICES))
        result = (*grid, *sizes[length:])
        fits = result if rng.random() < 0.85 else stretching(rng, result)
        data, updates = (values(rng, s, dtype) for s in (sizes, fits))
        return dict(zip(names, (data, vectors, updates), strict=True)), {}

    return draw


def _variable(method: str) -> Run:
    def run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        del attrs
        ref, vectors, updates = _tensors(inputs)
        variable = tf.Variable(ref)
        name = f"ResourceScatterNd{method.title()}"
        getattr(tf.raw_ops, name)(ref=variable.handle, indices=vectors, updates=updates)
        return variable.numpy()

    return run


def _copied(name: str) -> Run:
    return lambda inputs, attrs: getattr(tf, name)(*_tensors(inputs), **attrs).numpy()


def _batch_gather(rng: random.Random) -> Call:
    sizes = shape(rng, 1)
    batch = rng.randint(0, len(sizes) - 1)
    own = (*sizes[:batch], rng.randint(1, 3))
    drawn = np.array([rng.randrange(sizes[batch]) for _ in range(int(np.prod(own)))])
    own = own if rng.random() < 0.9 else (*own[:-1], own[-1] + 7)[::-1]
    chosen = np.resize(drawn, own).astype(rng.choice(INDICES))
    return {"params": values(rng, sizes, rng.choice(REAL)), "indices": chosen}, {}


def _batched(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    del attrs
    return tf.compat.v1.batch_gather(*_tensors(inputs)).numpy()


VARIABLE, TENSOR = ("ref", "indices", "updates"), ("tensor", "indices", "updates")
METHODS = (("update", (*REAL, "bool")), ("add", REAL), ("sub", REAL), ("max", REAL), ("min", REAL))
OPERATORS = [
    *(
        Operator(f"segment_{name}", _ascending(types), _segment(f"segment_{name}"), tf.__version__)
        for name, types in (
            *((name, REAL) for name in ("sum", "prod", "max", "min")),
            ("mean", ("float32", "float64")),
        )
    ),
    *(
        Operator(f"unsorted_segment_{name}", _unsorted, _segment(f"unsorted_segment_{name}"),
                 tf.__version__)
        for name in ("sum", "mean", "prod", "sqrt_n")
    ),
    *(
        Operator(f"scatter_nd_{name}", _written(VARIABLE, types), _variable(name), tf.__version__)
        for name, types in METHODS
    ),
    *(
        Operator(f"tensor_scatter_nd_{name}", _written(TENSOR, types),
                 _copied(f"tensor_scatter_nd_{name}"), tf.__version__)
        for name, types in METHODS[:2]
    ),
    Operator("batch_gather", _batch_gather, _batched, tf.__version__),
]  # fmt: skip
