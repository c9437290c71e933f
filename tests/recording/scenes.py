"""Runs whose pictures are recorded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gscli.traces import Trace, trace
from gscli.views.look import ViewOptions

F4 = np.float32

ROLES = ("data", "indices", "updates", "output")
PLAIN = ViewOptions(color="none")
WIDE = ViewOptions(width=120, color="none")
COLOR = ViewOptions()
COLOR_WIDE = ViewOptions(width=120)
NARROW = ViewOptions(width=40, color="none", utf8=False)
MONO = ViewOptions(palette="mono")


def duplicates() -> Trace:
    vectors = [[0, 1], [2, 2], [0, 1], [-1, 0], [5, 0], [0, 1], [0, 1]]
    updates = np.array([10, 20, 30, 40, 50, 60, 0.5], F4)
    indices = tuple(np.array(column) for column in zip(*vectors, strict=True))
    inputs = {"x": np.ones((4, 3), F4), "indices_0": indices[0], "indices_1": indices[1]}
    return trace("jax.at.add", {**inputs, "values": updates})


def sheets() -> Trace:
    rising = np.array([1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1]).reshape(4, 4)
    data = np.stack([rising, rising, rising[::-1], rising[::-1]])
    updates = np.stack([np.full((4, 4), 5), np.full((4, 4), 1)]) + np.arange(4)[:, None]
    return trace("onnx.scatter_nd", {"data": data, "indices": [[0], [2]], "updates": updates})


def big() -> Trace:
    values = ((np.arange(512_000) * 7919 % 20_011 - 10_000) / 10_000).astype(F4)
    return trace(
        "onnx.scatter_nd",
        {
            "data": values.reshape(1000, 512),
            "indices": [[3, 17], [412, 300], [413, 301], [999, -1]],
            "updates": np.array([99.5, -3.25, 7, 1000], F4),
        },
    )


def hostile() -> Trace:
    data = np.array([["héllo", "日本語"], ["[red]x", "a\x1b[31mb\u202e"]])
    return trace(
        "onnx.scatter_elements",
        {"data": data, "indices": [[0, 1]], "updates": [["a very long string", "z"]]},
        {"reduction": "add"},
    )


def outside(*, xla: bool = False) -> Trace:
    """Windows of 2×3 into 3×4: one inside, one over a corner, one over an edge, one beyond."""
    return trace(
        "stablehlo.scatter",
        {
            "inputs": np.zeros((3, 4), np.int64),
            "scatter_indices": np.array([[0, 0], [2, 2], [-1, 1], [5, 0]]),
            "updates": np.arange(1, 25).reshape(4, 2, 3),
        },
        {
            "update_window_dims": (1, 2),
            "scatter_dims_to_operand_dims": (0, 1),
            "index_vector_dim": 1,
            "update_computation": "add",
            "xla": xla,
        },
    )


SCENES: dict[str, Callable[[], Trace]] = {
    "duplicates": duplicates,
    "sheets": sheets,
    "outside": outside,
    "big": big,
    "hostile": hostile,
    "negative": lambda: trace(
        "onnx.gather_elements",
        {"data": np.arange(1, 10).reshape(3, 3), "indices": [[1, -1, 0], [2, 0, -2]]},
    ),
    "last_wins": lambda: trace(
        "onnx.scatter_nd",
        {"data": np.zeros(4, F4), "indices": [[1], [3], [1]], "updates": np.array([1, 2, 3], F4)},
    ),
    "batches": lambda: trace(
        "onnx.gather_nd",
        {"data": np.arange(24).reshape(2, 3, 4), "indices": [[[0], [2]], [[1], [-1]]]},
        {"batch_dims": 1},
    ),
    "clipped": lambda: trace(
        "mxnet.take",
        {"a": np.arange(12, dtype=F4).reshape(4, 3), "indices": np.array([0, -1, 9, 2])},
    ),
    "filled": lambda: trace(
        "jax.take", {"a": np.array([10, 20, 30, 40], np.int32), "indices": np.array([0, -1, 9])}
    ),
    "five_axes": lambda: trace(
        "onnx.scatter_nd",
        {
            "data": np.zeros((4, 5, 6, 2, 3), np.int8),
            "indices": [[0, 1, 2], [3, 4, 5]],
            "updates": np.arange(12, dtype=np.int8).reshape(2, 2, 3),
        },
    ),
    "long_row": lambda: trace(
        "onnx.gather", {"data": np.arange(100) * 3, "indices": np.arange(60) % 7 * 10}
    ),
    "mean": lambda: trace(
        "torch.scatter_reduce",
        {"input": np.zeros(3), "index": np.array([0, 0, 1]), "src": np.array([1.0, 2, 4])},
        {"dim": 0, "reduce": "mean", "include_self": False},
    ),
    "window": lambda: trace(
        "stablehlo.gather",
        {"operand": np.arange(20).reshape(4, 5), "start_indices": np.array([[0, 1], [3, 3]])},
        {
            "offset_dims": [1, 2],
            "collapsed_slice_dims": [],
            "operand_batching_dims": [],
            "start_indices_batching_dims": [],
            "start_index_map": [0, 1],
            "index_vector_dim": 1,
            "slice_sizes": [2, 3],
        },
    ),
    "scalar": lambda: trace("onnx.gather", {"data": [1.5, 2.5], "indices": np.array(1)}),
    "nothing": lambda: trace(
        "onnx.gather", {"data": np.zeros((3, 2)), "indices": np.zeros(0, np.int64)}
    ),
}
