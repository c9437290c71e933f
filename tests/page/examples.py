"""Runs that the tests of the page look at."""

from __future__ import annotations

import numpy as np

from gscli import trace
from gscli.traces import Trace


def added() -> Trace:
    """Cell (0,1) is hit by a and c, d counts from the end."""
    return trace(
        "onnx.scatter_nd",
        {
            "data": np.ones((4, 3), np.float32),
            "indices": [[0, 1], [2, 2], [0, 1], [-1, 0]],
            "updates": np.array([10, 20, 30, 40], np.float32),
        },
        {"reduction": "add"},
    )


def dropped() -> Trace:
    """Entry b is out of range."""
    return trace(
        "tensorflow.tensor_scatter_nd_update",
        {"tensor": [1, 2, 3], "indices": [[0], [5]], "updates": [10, 20]},
        {"bad_indices_policy": "IGNORE"},
    )


def gathered() -> Trace:
    """Rows, the middle one of data unread."""
    return trace("onnx.gather", {"data": [[1, 2], [3, 4], [5, 6]], "indices": [2, 0, -1]})


def clipped() -> Trace:
    """The first index is below zero, the last beyond the end."""
    return trace("numpy.take", {"a": [10, 20, 30], "indices": [-1, 1, 9]}, {"mode": "clip"})


def sliced() -> Trace:
    """Two planes of four."""
    return trace(
        "onnx.scatter_nd",
        {
            "data": np.arange(64).reshape(4, 4, 4),
            "indices": [[0], [2]],
            "updates": 100 + np.arange(32).reshape(2, 4, 4),
        },
    )


def averaged() -> Trace:
    """Means, with the value of data among the terms."""
    return trace(
        "openvino.scatter_elements_update",
        {"data": [1.0, 2.0, 3.0], "indices": [0, 0, 2], "updates": [2.0, 6.0, 5.0], "axis": 0},
        {"reduction": "mean"},
    )


HOSTILE = (
    "</script><script>stolen=1</script>",
    "<img src=x onerror=stolen=1>",
    "é\u2028\x1b[31m\x00",
)


def hostile() -> Trace:
    """Strings that would like to be markup."""
    return trace(
        "onnx.scatter_elements",
        {"data": [list(HOSTILE)], "indices": [[1]], "updates": [["&amp;\"'<b>"]]},
        {"axis": 1},
    )


def large() -> Trace:
    """A hundred million cells, four of them read."""
    data = np.zeros((10_000, 10_000), np.int8)
    return trace("onnx.gather_nd", {"data": data, "indices": [[3, 7], [4120, 100], [9999, 9999]]})


EXAMPLES = {
    made.__name__: made for made in (added, dropped, gathered, clipped, sliced, averaged, hostile)
}
