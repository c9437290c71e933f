"""MXNet: batch_take."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import mxnet as mx
from cases import Call, Operator
from drawing import indices, values


def _draw(rng: random.Random) -> Call:
    sizes = (rng.randint(1, 4), rng.randint(1, 4))
    rows = sizes[0] + int(rng.random() < 0.1)
    dtype = "int32" if rng.random() < 0.9 else "int64"
    chosen = indices(rng, (rows,), sizes[1] + 2, dtype, from_end=True)
    a = values(rng, sizes, rng.choice(("float32", "float64", "int32", "int64", "uint8")))
    return {"a": a, "indices": chosen}, {}


def _run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    del attrs
    a, chosen = (mx.nd.array(array, dtype=array.dtype) for array in inputs.values())
    return mx.nd.batch_take(a, chosen).asnumpy()


OPERATORS = [Operator("batch_take", _draw, _run, mx.__version__)]
