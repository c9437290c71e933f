"""Planted mistakes, each made by plain NumPy, are named by what is told of a wrong answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Array

import gscli
from gscli.cli import run_safely
from gscli.frameworks import find_operator
from gscli.lab import difference as lab_difference
from gscli.lab import expectation
from gscli.lab.causes import _other_orders
from gscli.lab.difference import Tolerance, compare_tensors
from gscli.lab.expectation import OutputDiagnosis

DATA = np.arange(24.0).reshape(4, 6)
ROWS = np.array([[1], [-1], [2], [1]])
NEW = np.arange(100.0, 124).reshape(4, 6)
PAIRS = np.array([[1, 2], [0, 3], [3, 1], [1, 2]])
SQUARE = np.arange(16.0).reshape(4, 4)
AT = np.array([[0, 3, 1, 1], [2, 2, 0, 3], [1, 0, 3, 2], [3, 1, 2, 0]])
BITS = np.array([4.0, 5.0, 6.0, 7.0])


def scattered(
    data: Array, rows: Array, new: Array, met: Callable[[Any, Any], Any] = lambda _, update: update
) -> Array:
    """The sequential loop over entries and rows that are coordinates already."""
    output = data.copy()
    for vector, update in zip(rows, new, strict=True):
        at = tuple(int(number) for number in vector)
        output[at] = met(output[at], update)
    return output


def add(old: Any, update: Any) -> Any:
    return old + update


WRAPPED = np.array([[1], [3], [2], [1]])
CROWDED = np.array([[1], [3], [3], [1]])
# The cells of SQUARE that AT names, the row of each being its own.
ROW_CELLS = np.array([(row, AT[row, at]) for row in range(4) for at in range(4)])
PLANTED: list[tuple[str, str, dict[str, Array], dict[str, Any], Array]] = [
    ("negative indices are read as 0", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {"reduction": "add"},
     scattered(DATA, np.maximum(ROWS, 0), NEW, add)),
    ("entries with a negative index are dropped", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {},
     scattered(DATA, ROWS[[0, 2, 3]], NEW[[0, 2, 3]])),
    ("indices are counted from 1", "onnx.gather",
     {"data": DATA, "indices": np.array([1, 2, 4])}, {"axis": 1}, DATA[:, [0, 1, 3]]),
    ("the first update of a cell stays, not the last", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {},
     scattered(DATA, WRAPPED[::-1], NEW[::-1])),
    ("of updates to the same cell only the last one counts", "onnx.scatter_nd",
     {"data": DATA, "indices": CROWDED, "updates": NEW}, {"reduction": "add"},
     scattered(DATA, CROWDED[2:], NEW[2:], add)),
    ("of updates to the same cell only the first one counts", "onnx.scatter_nd",
     {"data": DATA, "indices": CROWDED, "updates": NEW}, {"reduction": "add"},
     scattered(DATA, CROWDED[:2], NEW[:2], add)),
    ("data is ignored and everything starts from 0", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {},
     scattered(np.zeros_like(DATA), WRAPPED, NEW)),
    ("the reduction is missing: updates replace what is there", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {"reduction": "add"},
     scattered(DATA, WRAPPED, NEW)),
    ("updates are added", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {"reduction": "max"},
     scattered(DATA, WRAPPED, NEW, add)),
    ("updates are multiplied", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {"reduction": "add"},
     scattered(DATA, WRAPPED, NEW, lambda old, update: old * update)),
    ("the largest is kept", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {"reduction": "min"},
     scattered(DATA, WRAPPED, NEW, np.maximum)),
    ("the numbers of each index vector are read in reverse order", "onnx.gather_nd",
     {"data": SQUARE, "indices": PAIRS}, {}, SQUARE[PAIRS[:, 1], PAIRS[:, 0]]),
    ("index vectors lie along the first axis of indices", "onnx.gather_nd",
     {"data": SQUARE, "indices": np.array([[0, 1], [2, 3]])}, {}, SQUARE[[0, 1], [2, 3]]),
    ("axis is 1, not 0", "onnx.gather_elements",
     {"data": SQUARE, "indices": AT}, {"axis": 0}, np.take_along_axis(SQUARE, AT, 1)),
    ("indices is transposed", "onnx.gather_elements",
     {"data": SQUARE, "indices": AT}, {"axis": 0}, np.take_along_axis(SQUARE, AT.T, 0)),
    ("updates is transposed", "onnx.scatter_nd",
     {"data": SQUARE, "indices": np.array([[0], [1], [2], [3]]), "updates": SQUARE + 9}, {},
     (SQUARE + 9).T),
    ("the first update is used for every entry", "onnx.scatter_nd",
     {"data": BITS, "indices": np.array([[3], [0]]), "updates": np.array([8.0, 9.0])}, {},
     np.array([8.0, 5.0, 6.0, 8.0])),
    ("it is called with --batch-dims 0", "openvino.gather",
     {"data": SQUARE, "indices": AT, "axis": np.array(1)}, {"batch_dims": 1, "opset": 8},
     SQUARE[:, AT]),
    ("it is called with --batch-dims 1", "tensorflow.gather",
     {"params": SQUARE, "indices": AT}, {"axis": 1}, np.take_along_axis(SQUARE, AT, 1)),
    ("it is called with --batch-dims 2", "tensorflow.gather_nd",
     {"params": np.arange(24).reshape(2, 3, 4), "indices": np.full((2, 3, 1), 1)},
     {"batch_dims": 1}, np.arange(24).reshape(2, 3, 4)[:, :, 1]),
    ("it is called with --padding-idx 0", "torch.embedding_bag",
     {"input": np.array([[0, 2], [1, 3]]), "weight": SQUARE}, {"mode": "mean"},
     np.array([SQUARE[2], (SQUARE[1] + SQUARE[3]) / 2])),
    ("padding_idx is left out", "torch.embedding_bag",
     {"input": np.array([[2, 1], [1, 3]]), "weight": SQUARE}, {"mode": "mean", "padding_idx": 2},
     np.array([SQUARE[1:3].mean(0), SQUARE[1::2].mean(0)])),
    ("it is called with --ignore-index 0", "torch.nll_loss",
     {"input": SQUARE - 1, "target": np.array([0, 1, 3, 0])}, {"reduction": "none"},
     np.array([0.0, -4.0, -10.0, 0.0])),
    ("it is called with --no-include-self", "torch.scatter_reduce",
     {"input": BITS, "index": np.array([1, 1]), "src": np.array([2.0, 4.0])},
     {"dim": 0, "reduce": "sum"}, np.array([4.0, 6.0, 6.0, 7.0])),
    ("updates are combined in reverse order", "onnx.scatter_nd",
     {"data": np.array([0.0]), "indices": np.array([[0], [0], [0]]),
      "updates": np.array([1.0, 2.0**53, -(2.0**53)])}, {"reduction": "add"}, np.array([1.0])),
    ("updates are one entry late", "onnx.scatter_nd",
     {"data": BITS, "indices": np.array([[0], [2], [3]]), "updates": np.array([1.0, 2.0, 3.0])},
     {}, np.array([3.0, 5.0, 1.0, 2.0])),
    ("indices are read in column-major order", "onnx.gather",
     {"data": BITS, "indices": np.array([[0, 1], [2, 3]])}, {}, BITS[np.array([[0, 2], [1, 3]])]),
    ("axis is 0, not -1", "onnx.gather",
     {"data": SQUARE, "indices": np.array([1, 2, 0, 3])}, {"axis": -1}, SQUARE[[1, 2, 0, 3]]),
    ("axis is 0, not 1", "openvino.gather",
     {"data": SQUARE, "indices": np.array([1, 2, 0, 3]), "axis": np.array(1)}, {"opset": 8},
     SQUARE[[1, 2, 0, 3]]),
    ("the smallest is kept", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW - 110}, {"reduction": "max"},
     scattered(DATA, WRAPPED, NEW - 110, np.minimum)),
    ("it is computed in float16", "onnx.gather",
     {"data": np.array([1 / 3, 2.0], np.float32), "indices": np.array([0, 1])}, {},
     np.array([1 / 3, 2.0], np.float16).astype(np.float32)),
    ("the reduction is computed in float64", "onnx.scatter_nd",
     {"data": np.array([1.0], np.float32), "indices": np.array([[0], [0]]),
      "updates": np.array([4e-8, 4e-8], np.float32)}, {"reduction": "add"},
     np.array([1.0 + 8e-8], np.float32)),
    ("the reduction is computed in float32", "onnx.scatter_nd",
     {"data": np.array([2048.0], np.float16), "indices": np.array([[0], [0]]),
      "updates": np.array([1.0, 1.0], np.float16)}, {"reduction": "add"},
     np.array([2050.0], np.float16)),
    ("it is computed in float32", "onnx.scatter_nd",
     {"data": BITS, "indices": np.array([[1]]), "updates": np.array([1e-9])}, {"reduction": "add"},
     BITS),
    ("indices are wrapped around until they fit", "jax.take",
     {"a": BITS, "indices": np.array([9, -6])}, {"axis": 0, "mode": "clip"}, BITS[[1, 2]]),
    ("indices out of range are clipped to the nearest end", "tensorflow.gather",
     {"params": BITS, "indices": np.array([9, 1])}, {"device": "gpu"}, BITS[[3, 1]]),
    ("nothing was written", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {"reduction": "max"}, DATA),
    ("nothing was written", "tensorflow.scatter_nd",
     {"indices": CROWDED, "updates": NEW, "shape": np.array([4, 6])}, {}, np.zeros((4, 6))),
    ("true and false of mask are swapped", "torch.masked_select",
     {"input": SQUARE, "mask": SQUARE > 9}, {}, SQUARE[SQUARE <= 9]),
    ("true and false of mask are swapped", "torch.masked_scatter",
     {"input": BITS, "mask": BITS > 5, "source": BITS + 10}, {}, np.array([14.0, 15.0, 6.0, 7.0])),
    ("true and false of condition are swapped", "numpy.compress",
     {"condition": np.array([True, False, True, True]), "a": DATA}, {"axis": 0}, DATA[[1]]),
    ("the cell is subtracted from its updates", "tensorflow.tensor_scatter_nd_sub",
     {"tensor": BITS, "indices": np.array([[3], [0]]), "updates": np.array([8.0, 9.0])}, {},
     np.array([9.0 - 4, 5.0, 6.0, 8.0 - 7])),
    ("the last number of each index vector is one too high", "onnx.gather_nd",
     {"data": SQUARE, "indices": PAIRS - [[0, 1]]}, {}, SQUARE[PAIRS[:, 0], PAIRS[:, 1]]),
    ("the last number of each index vector is one too low", "onnx.gather_nd",
     {"data": SQUARE, "indices": PAIRS}, {}, SQUARE[PAIRS[:, 0], PAIRS[:, 1] - 1]),
    ("indices are sorted", "onnx.scatter_nd",
     {"data": BITS, "indices": np.array([[3], [0], [2]]), "updates": np.array([7.0, 8.0, 9.0])},
     {}, np.array([7.0, 5.0, 8.0, 9.0])),
    ("the first indices are used for every entry", "onnx.gather_elements",
     {"data": SQUARE, "indices": AT}, {"axis": 1}, SQUARE[:, AT[0]]),
    ("the first batch of data is used for every batch", "openvino.gather",
     {"data": SQUARE, "indices": AT, "axis": np.array(1)}, {"batch_dims": 1, "opset": 8},
     SQUARE[0][AT]),
    ("indices are cut to int8", "numpy.take",
     {"a": np.arange(300), "indices": np.array([200, 3])}, {}, np.array([244, 3])),
    ("indices are cut to uint8", "onnx.gather",
     {"data": np.arange(300), "indices": np.array([257, 3])}, {}, np.array([1, 3])),
    ("it is computed in int8", "onnx.scatter_nd",
     {"data": np.array([100, 1]), "indices": np.array([[0]]), "updates": np.array([100])},
     {"reduction": "add"}, np.array([-56, 1])),
    ("the result is transposed", "onnx.gather",
     {"data": DATA, "indices": np.array([1, 0])}, {}, DATA[[1, 0]].T),
    ("data is read in column-major order", "onnx.gather",
     {"data": DATA, "indices": np.array([1, 3])}, {},
     DATA.reshape(-1, order="F").reshape(4, 6)[[1, 3]]),
    ("row 0 of data is padding, which is zero", "torch.index_select",
     {"input": DATA + 1, "index": np.array([0, 2])}, {"dim": 0},
     np.array([np.zeros(6), DATA[2] + 1])),
    ("updates have the other sign", "onnx.scatter_nd",
     {"data": DATA, "indices": ROWS, "updates": NEW}, {"reduction": "mul"},
     scattered(DATA, WRAPPED, -NEW, lambda old, update: old * update)),
    ("the first entry is left out", "torch.index_add",
     {"input": BITS, "index": np.array([1, 0, 1]), "source": np.array([1.0, 2.0, 4.0])},
     {"dim": 0}, np.array([6.0, 9.0, 6.0, 7.0])),
    ("the first entry is left out", "torch.index_add",
     {"input": DATA, "index": np.array([1, 0, 3]), "source": NEW[:, :3]}, {"dim": 1},
     scattered(DATA.T, np.array([[0], [3]]), NEW[:, 1:3].T, add).T),
    ("the first update is used for every entry", "torch.index_add",
     {"input": DATA, "index": np.array([1, 0, 3]), "source": NEW[:, :3]}, {"dim": 1},
     scattered(DATA.T, np.array([[1], [0], [3]]), NEW[:, [0, 0, 0]].T, add).T),
    ("updates are one entry early", "torch.index_add",
     {"input": DATA, "index": np.array([1, 0, 3]), "source": NEW[:, :3]}, {"dim": 1},
     scattered(DATA.T, np.array([[1], [0], [3]]), NEW[:, [1, 2, 0]].T, add).T),
    ("the first row of entries is left out", "torch.scatter_add",
     {"input": SQUARE, "index": AT, "src": SQUARE + 9}, {"dim": 1},
     scattered(SQUARE, ROW_CELLS[4:], SQUARE.reshape(-1)[4:] + 9, add)),
    ("the last entry is left out", "torch.scatter_add",
     {"input": SQUARE, "index": AT, "src": SQUARE + 9}, {"dim": 1},
     scattered(SQUARE, ROW_CELLS[:-1], SQUARE.reshape(-1)[:-1] + 9, add)),
    ("the first entry is left out", "tensorflow.unsorted_segment_sum",
     {"data": BITS, "segment_ids": np.array([0, 1, 1, 0])}, {"num_segments": 3},
     np.array([7.0, 11, 0])),
    ("data is transposed", "onnx.gather",
     {"data": DATA, "indices": np.array([1, 3, 2])}, {}, DATA.T[[1, 3, 2]]),
    ("the first row of updates is used for every row of entries", "torch.scatter_add",
     {"input": SQUARE, "index": AT, "src": SQUARE + 9}, {"dim": 1},
     scattered(SQUARE, ROW_CELLS, np.tile(SQUARE[0] + 9, 4), add)),
    ("updates are one row of entries late", "torch.scatter_add",
     {"input": SQUARE, "index": AT, "src": SQUARE + 9}, {"dim": 1},
     scattered(SQUARE, ROW_CELLS, np.roll(SQUARE, 4).reshape(-1) + 9, add)),
    ("the last entry is left out", "onnx.scatter_nd",
     {"data": DATA, "indices": WRAPPED[1:], "updates": NEW[1:]}, {},
     scattered(DATA, WRAPPED[1:3], NEW[1:3])),
    ("axis is 1, not 0", "numpy.compress",
     {"condition": np.array([True, False, True]), "a": DATA}, {"axis": 0}, DATA[:, [0, 2]]),
    ("axis is 0, not none", "numpy.take", {"a": DATA, "indices": AT[0]}, {}, DATA[AT[0]]),
    ("axis is 1, not none", "mxnet.np.take", {"a": DATA, "indices": AT[0]}, {}, DATA[:, AT[0]]),
    ("axis is 0, not none", "numpy.compress",
     {"condition": np.array([True, False, True]), "a": DATA}, {}, DATA[[0, 2]]),
    ("axis is none, not 0", "jax.take",
     {"a": DATA, "indices": AT[0]}, {"axis": 0}, DATA.reshape(-1)[AT[0]]),
    ("dim is 0, not none", "torch.take_along_dim",
     {"input": SQUARE, "indices": AT}, {}, np.take_along_axis(SQUARE, AT, 0)),
    ("it is called with --num-classes 5", "torch.one_hot",
     {"input": AT}, {}, np.eye(5, dtype=int)[AT]),
    ("it is called with --num-classes 4", "torch.one_hot",
     {"input": AT}, {"num_classes": 6}, np.eye(4, dtype=int)[AT]),
    ("it is called with --num-segments 6", "jax.segment_sum",
     {"data": BITS, "segment_ids": np.array([0, 1, 1, 3])}, {}, np.array([4.0, 11, 0, 7, 0, 0])),
    ("it is called with --num-segments 2", "tensorflow.unsorted_segment_max",
     {"data": DATA, "segment_ids": np.array([0, 1, 1, 0])}, {"num_segments": 3},
     np.array([DATA[3], DATA[2]])),
    ("data is read in column-major order", "torch.masked_select",
     {"input": SQUARE, "mask": SQUARE > 9}, {}, SQUARE.T[SQUARE > 9]),
    ("results beyond uint8 stay at its ends", "numpy.subtract_at",
     {"a": np.array([20, 250], np.uint8), "indices_0": np.array([0, 1, 0]),
      "b": np.array([10, 3, 100], np.uint8)}, {}, np.array([0, 247], np.uint8)),
    ("results beyond int8 stay at its ends", "onnx.scatter_elements",
     {"data": np.array([100, -100], np.int8), "indices": np.array([0, 1]),
      "updates": np.array([100, -100], np.int8)}, {"reduction": "add"},
     np.array([127, -128], np.int8)),
    ("means of integers are cut toward zero", "torch.scatter_reduce",
     {"input": np.array([-7, 10, 3]), "index": np.array([0, 0, 1, 2]),
      "src": np.array([-2, -1, 1, -4])}, {"dim": 0, "reduce": "mean"}, np.array([-3, 5, 0])),
    ("means of integers are cut toward zero", "openvino.scatter_elements_update",
     {"data": np.array([-7, 10, 3], np.int32), "indices": np.array([0, 0, 1, 2]),
      "updates": np.array([-2, -1, 1, -4], np.int32), "axis": np.array(0)},
     {"reduction": "mean"}, np.array([-3, 5, 0], np.int32)),
    ("results beyond int64 stay at its ends", "onnx.scatter_elements",
     {"data": np.array([2**63 - 1, 5]), "indices": np.array([0, 1]),
      "updates": np.array([2**63 - 1, 1])}, {"reduction": "add"}, np.array([2**63 - 1, 6])),
    ("results beyond int64 stay at its ends", "onnx.scatter_elements",
     {"data": np.array([2**62, 5]), "indices": np.array([0, 1]),
      "updates": np.array([2**62, 1])}, {"reduction": "add"}, np.array([2**63 - 1, 6])),
    ("empty cells hold -inf", "tensorflow.unsorted_segment_max",
     {"data": BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([4.0, 7.0, -np.inf])),
    ("input is ignored and everything starts from -inf", "torch.scatter_reduce",
     {"input": np.zeros(4), "index": np.array([0, 1, 1]), "src": BITS[:3]},
     {"dim": 0, "reduce": "amax", "include_self": False}, np.array([4.0, 6.0, -np.inf, -np.inf])),
    ("empty cells hold 0", "jax.segment_max",
     {"data": -BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([-4.0, -5.0, 0.0])),
    ("everything starts from 0", "jax.segment_max",
     {"data": BITS - 6, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([0.0, 1.0, 0.0])),
    ("everything starts from 0", "tensorflow.segment_min",
     {"data": BITS, "segment_ids": np.array([0, 2, 2, 2])}, {}, np.zeros(3)),
    ("empty cells hold 0", "torch.segment_reduce",
     {"data": BITS, "lengths": np.array([1, 0, 3])}, {"reduce": "mean"},
     np.array([4.0, 0.0, 6.0])),
    ("updates are added, and data takes no part", "onnx.scatter_elements",
     {"data": np.array([1, 2, 3, 4]), "indices": np.array([1, 1, 0]),
      "updates": np.array([5, 6, 7])}, {}, np.array([7, 11, 3, 4])),
    ("it is called with --padding-idx 3", "torch.embedding_bag",
     {"input": np.array([0, 3, 1, 3, 2]), "weight": np.arange(1.0, 9).reshape(4, 2),
      "offsets": np.array([0, 3])}, {"mode": "mean"}, np.array([[2.0, 3], [5, 6]])),
    ("it is called with --padding-idx 39", "torch.embedding_bag",
     {"input": np.arange(40), "weight": np.arange(80.0).reshape(40, 2),
      "offsets": np.array([0, 20])}, {"mode": "mean"},
     np.array([[19.0, 20], [58.0, 59]])),
    ("empty bags hold -inf", "torch.embedding_bag",
     {"input": np.array([0, 2]), "weight": np.array([[1.0, 2], [3, 4], [5, 6]]),
      "offsets": np.array([0, 0, 2])}, {"mode": "max"},
     np.array([[-np.inf, -np.inf], [5, 6], [-np.inf, -np.inf]])),
    ("updates are averaged, and data takes no part", "onnx.scatter_elements",
     {"data": BITS, "indices": np.array([0, 2, 2]), "updates": np.array([1.0, 2.0, 9.0])},
     {"reduction": "add"}, np.array([1.0, 5.0, 5.5, 7.0])),
    ("updates are averaged, and input takes no part", "torch.scatter",
     {"input": BITS, "index": np.array([0, 2, 2]), "src": np.array([1.0, 2.0, 9.0])},
     {"dim": 0}, np.array([1.0, 5.0, 5.5, 7.0])),
    ("empty cells hold 0", "tensorflow.unsorted_segment_max",
     {"data": -BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([-4.0, -5.0, 0.0])),
    ("everything starts from 0", "jax.segment_max",
     {"data": BITS - 5.5, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([0.0, 1.5, 0.0])),
    ("empty cells hold -3.4028235e+38", "jax.segment_max",
     {"data": BITS.astype(np.float32), "segment_ids": np.array([0, 1, 1, 1])},
     {"num_segments": 3}, np.array([4, 7, np.finfo(np.float32).min], np.float32)),
    ("empty cells hold 0", "tensorflow.unsorted_segment_min",
     {"data": np.array([4, 5]), "segment_ids": np.array([0, 1])}, {"num_segments": 3},
     np.array([4, 5, 0])),
    ("empty cells hold 0", "jax.segment_prod",
     {"data": BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([4.0, 210.0, 0.0])),
    ("input is ignored and empty cells hold 0", "torch.scatter_reduce",
     {"input": BITS, "index": np.array([0, 1, 1]), "src": -BITS[:3]},
     {"dim": 0, "reduce": "amax", "include_self": False}, np.array([-4.0, -5.0, 0.0, 0.0])),
    ("input is ignored and empty cells hold 0", "torch.scatter_reduce",
     {"input": BITS, "index": np.array([0, 1, 1]), "src": BITS[:3]},
     {"dim": 0, "reduce": "mean"}, np.array([4.0, 5.5, 0.0, 0.0])),
    ("input is ignored and everything starts from 0", "torch.scatter_reduce",
     {"input": BITS, "index": np.array([0, 1, 1]), "src": BITS[:3]},
     {"dim": 0, "reduce": "mean"}, np.array([2.0, 11 / 3, 0.0, 0.0])),
    ("empty cells hold nan", "tensorflow.unsorted_segment_mean",
     {"data": BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([4.0, 6.0, np.nan])),
    ("the largest is kept", "jax.segment_sum",
     {"data": -BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([-4.0, -5.0, -np.inf])),
    ("the largest is kept", "tensorflow.unsorted_segment_sum",
     {"data": -BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([-4.0, -5.0, np.finfo(np.float64).min])),
    ("the smallest is kept", "tensorflow.unsorted_segment_max",
     {"data": BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([4.0, 5.0, np.finfo(np.float64).max])),
    ("initial is ignored and empty cells hold -inf", "torch.segment_reduce",
     {"data": BITS, "lengths": np.array([1, 3, 0])}, {"reduce": "max", "initial": 5},
     np.array([4.0, 7.0, -np.inf])),
    ("updates are added", "jax.segment_prod",
     {"data": BITS, "segment_ids": np.array([0, 1, 1, 1])}, {"num_segments": 3},
     np.array([4.0, 18.0, 0.0])),
    ("negative indices count from the end", "jax.segment_sum",
     {"data": BITS, "segment_ids": np.array([0, 1, -1, 1])}, {"num_segments": 3},
     np.array([4.0, 12.0, 6.0])),
]  # fmt: skip


def told(
    name: str, inputs: dict[str, Array], attrs: dict[str, Any], expected: Array
) -> OutputDiagnosis:
    # Exact: a rounding to float32 lies within the tolerance of nothing.
    return OutputDiagnosis(gscli.trace(name, inputs, attrs), expected, "want", Tolerance(0.0))


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted[0])
def test_a_planted_mistake_is_named(planted: tuple[str, str, dict[str, Array], Any, Any]) -> None:
    cause, name, inputs, attrs, expected = planted
    found = told(name, inputs, attrs, expected)
    assert not found.is_equal
    assert cause in [fit.cause for fit in found.causes if fit.is_exact], found.describe()


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted[0])
def test_the_command_names_a_planted_mistake(
    planted: tuple[str, str, dict[str, Array], dict[str, Any], Array],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    cause, name, inputs, attrs, expected = planted
    words = find_operator(name).command_line.split()[1:]
    for key, array in (inputs | {"want": expected}).items():
        np.save(f"{key}.npy", array)
    words += [f"{key}.npy" for key in inputs]
    for key, value in attrs.items():
        flag = key.replace("_", "-")
        words += [f"--no-{flag}"] if value is False else [f"--{flag}", str(value)]
    assert run_safely([*words, "--expect", "want.npy", "--rtol", "0", "--width", "200"]) == 1
    told = capsys.readouterr().out
    assert "the expected answer is what you get when\n" in told
    assert f"\n  {cause}" in told


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted[0])
def test_a_planted_mistake_is_named_on_a_sample_of_a_large_answer(
    planted: tuple[str, str, dict[str, Array], Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gscli.lab.expectation.MAX_FULL_SEARCH_CELLS", 0)
    cause, name, inputs, attrs, expected = planted
    trace = gscli.trace(name, inputs, attrs)
    found = OutputDiagnosis(trace, expected, "want", Tolerance(0.0))
    if trace.output.shape != expected.shape:
        assert found.causes == ()
        return
    assert cause in [fit.cause for fit in found.causes if fit.is_exact], found.describe()
    assert any("causes are tried on" in line for line in found.describe())
    assert found.to_dict()["tried"] == expected.size


WINDOWS = {
    "update_window_dims": (1,), "scatter_dims_to_operand_dims": (0,), "inserted_window_dims": (),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "attrs", "expected", "cause"),
    [
        ("stablehlo.scatter", {"index_vector_dim": 1, "update_computation": "add"},
         [0, 4, 5, 6, 0], "--xla"),
        ("stablehlo.scatter", {"index_vector_dim": 1, "update_computation": "add", "xla": True},
         [2, 7, 5, 6, 7], "--no-xla"),
        ("jax.lax.scatter_add", {}, [1, 6, 15, 14, 9], "--mode clip"),
        ("jax.lax.scatter_add", {"mode": "clip"}, [0, 4, 5, 6, 0],
         "--mode fill"),
    ],
)  # fmt: skip
def test_modes_of_windows_are_causes(
    name: str, attrs: dict[str, Any], expected: list[int], cause: str
) -> None:
    operator = find_operator(name)
    arrays = np.zeros(5, int), np.array([[-1], [1], [4]]), np.arange(1, 10).reshape(3, 3)
    inputs = dict(zip(operator.input_names, arrays, strict=True))
    if operator.variadic is not None:
        inputs = {"inputs": arrays[0], "scatter_indices": arrays[1], "updates": arrays[2]}
    found = told(name, inputs, {**WINDOWS, **attrs}, np.array(expected))
    assert [fit.cause for fit in found.causes] == [f"it is called with {cause}"]


WINDOW_OPTIONS = "--update-window-dims 1 --scatter-dims-to-operand-dims 0 --index-vector-dim 1"


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (f"stablehlo scatter [0,0,0,0] [[-1],[3]] [[1,2],[4,5]] {WINDOW_OPTIONS}", "--xla"),
        ("tensorflow scatter-nd [[7],[8]] [1,2] [4]",
         "--device xla"),
        ("tensorflow unsorted-segment-sum [1,2] [7,8] --num-segments 4",
         "--device xla"),
    ],
)  # fmt: skip
def test_options_that_drop_every_window_are_named_before_mistakes(
    words: str, cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*words.split(), "--expect", "[0,0,0,0]", "--width", "200"])
    lines = [line.partition(" (")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines.index(f"  it is called with {cause}") < lines.index("  nothing was written")


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "expected", "cause"),
    [
        ("torch.embedding_bag", {"input": [[0, 1]], "weight": [[1.0], [2.0]]}, {"mode": "sum"},
         [[1.5]], "--mode mean"),
        ("torch.embedding_bag", {"input": [[0, 1]], "weight": [[1.0], [2.0]]}, {},
         [[2.0]], "--mode max"),
        ("torch.nll_loss", {"input": [[-1.0, -2], [-3, -4]], "target": [0, 1]}, {},
         5.0, "--reduction sum"),
    ],
)  # fmt: skip
def test_another_way_to_reduce_what_is_gathered_is_a_cause(
    name: str, inputs: dict[str, Any], attrs: dict[str, Any], expected: object, cause: str
) -> None:
    arrays = {key: np.array(value) for key, value in inputs.items()}
    found = told(name, arrays, attrs, np.array(expected))
    assert [fit.cause for fit in found.causes] == [f"it is called with {cause}"]


def test_a_factor_that_was_left_out_is_a_cause() -> None:
    inputs = {"input": np.ones(3), "index": np.array([0, 0, 2]), "source": np.array([4.0, 5, 6])}
    found = told("torch.index_add", inputs, {"dim": 0, "alpha": 2}, np.array([10.0, 1, 7]))
    assert [fit.cause for fit in found.causes] == ["it is called with --alpha 1"]


def test_every_exact_fit_is_listed_and_rule_sets_are_among_them() -> None:
    found = told("onnx.gather", {"data": BITS, "indices": np.array([3, -1])}, {}, BITS[[3, 0]])
    causes = [fit.cause for fit in found.causes]
    assert "negative indices are read as 0" in causes
    assert any("NumPy take (clip)" in cause for cause in causes)
    assert all(fit.is_exact for fit in found.causes)
    assert found.differing_entries.names == ("b",)


FROM_END, CLIPPED = "negative indices count from the end", "indices out of range are clipped"
READ_0 = "entries with an index out of range read 0"


@pytest.mark.parametrize(
    ("call", "indices", "expected", "cause"),
    [
        ("torch gather --dim 0", "[-1,0,9]", "[4,4,7]", CLIPPED),
        ("torch gather --dim 0", "[-1,0,9]", "[7,4,7]", f"{FROM_END} and {CLIPPED}"),
        ("torch gather --dim 0", "[-1,0,9]", "[7,4,5]", "indices are wrapped around until"),
        ("torch gather --dim 0", "[-1,0,9]", "[0,4,0]", READ_0),
        ("torch gather --dim 0", "[-1,0,9]", "[7,4,0]", f"{FROM_END} and {READ_0}"),
        ("torch gather --dim 0", "[-1,0,2]", "[4,4,6]", "negative indices are read as 0"),
        ("onnx gather", "[-1,0,9]", "[7,4,7]", CLIPPED),
        ("onnx gather", "[-1,0,9]", "[4,4,7]", f"negative indices are read as 0 and {CLIPPED}"),
        ("jax at-get --mode fill", "[-1,0,9]", "[7,4,7]", CLIPPED),
        ("jax at-get --mode clip", "[-1,0,9]", "[4,4,7]", "negative indices are read as 0"),
    ],
)
def test_a_rule_for_indices_is_told_by_what_it_changes(
    call: str, indices: str, expected: str, cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a call that is refused for all of them nothing is explained that would stay refused."""
    words = [*call.split(), "[4,5,6,7]", indices, "--expect", expected, "--width", "200"]
    assert run_safely(words) in (1, 65)
    causes = capsys.readouterr().out.split("what you get when\n")[1].splitlines()
    found = [line[2:] for line in causes if not line.startswith("  the rules are those of")]
    assert [line[: len(cause)] for line in found] == [cause]


def test_a_refused_call_is_explained_on_a_sample_of_a_large_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gscli.lab.expectation.MAX_FULL_SEARCH_CELLS", 0)
    assert run_safely(["gather", "[4,5,6,7]", "[-1,0,9]", "--expect", "[7,4,7]"]) == 65
    first, _, *causes = capsys.readouterr().out.splitlines()
    assert first.startswith("causes are tried on")
    assert "  indices out of range are clipped to the nearest end" in causes


ZEROS, SOME = np.zeros(3), np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "expected", "wrong"),
    [
        ("torch.scatter_reduce", {"input": ZEROS, "index": [0, 0], "src": SOME},
         {"dim": 0, "reduce": "mean"}, [1.5, 0, 0], "everything starts from"),
        ("torch.scatter_reduce", {"input": ZEROS + 9, "index": [0, 0], "src": -SOME},
         {"dim": 0, "reduce": "amax", "include_self": False}, [-1, 0, 0],
         "everything starts from"),
        ("tensorflow.unsorted_segment_prod", {"data": SOME, "segment_ids": [0, 2]},
         {"num_segments": 3}, [0, 0, 0], "empty cells"),
        ("jax.segment_max", {"data": SOME - 3, "segment_ids": [0, 2]}, {"num_segments": 3},
         [0, 0, 0], "empty cells"),
        ("torch.scatter_reduce", {"input": ZEROS + 9, "index": [0, 0], "src": SOME},
         {"dim": 0, "reduce": "sum", "include_self": False}, [2, 9, 9], "cell and update"),
    ],
)  # fmt: skip
def test_no_cause_is_named_that_gives_something_else(
    name: str, inputs: dict[str, Any], attrs: dict[str, Any], expected: list[float], wrong: str
) -> None:
    """A mean of zeros and updates counts the zeros; what starts from 0 has no maximum below it."""
    arrays = {key: np.array(value) for key, value in inputs.items()}
    causes = [fit.cause for fit in told(name, arrays, attrs, np.array(expected, float)).causes]
    assert causes
    assert not [cause for cause in causes if wrong in cause]


def test_what_explains_a_part_is_told_as_a_part() -> None:
    expected = BITS[[0, 1, 2, 0]]
    expected[3] += 0.5
    inputs = {"data": BITS, "indices": np.array([1, 2, 3, 1])}
    found = told("onnx.gather", inputs, {}, expected)
    assert [(fit.cause, fit.cells, fit.is_exact) for fit in found.causes] == [
        ("indices are counted from 1", 3, False)
    ]
    assert any("its part in 3 differing cells is" in line for line in found.describe())


def test_a_start_of_zero_is_not_told_as_what_empty_cells_hold() -> None:
    inputs = {"data": BITS - 6, "segment_ids": np.array([0, 1, 1, 1])}
    attrs = {"num_segments": 3}
    started = told("jax.segment_max", inputs, attrs, np.array([0.0, 1.0, 0.0]))
    assert [fit.cause for fit in started.causes] == ["everything starts from 0"]
    filled = told("jax.segment_max", inputs, attrs, np.array([-2.0, 1.0, 0.0]))
    assert [fit.cause for fit in filled.causes] == ["empty cells hold 0"]


def test_the_usual_tolerance_is_that_of_the_coarser_type() -> None:
    fine = np.array([1 / 3, 2 / 3])
    for dtype in ("float32", "float16"):
        coarse = fine.astype(dtype)
        for actual, expected in ((fine, coarse), (coarse, fine)):
            difference = compare_tensors(actual, expected)
            assert (difference.differing_count, difference.is_equal) == (0, False)
    whole = np.array([16_777_217])
    for actual, expected in ((whole, whole + np.float32(1)), (whole + np.float32(1), whole)):
        assert compare_tensors(actual, expected).differing_count == 1


def test_indices_that_stand_twice_tell_apart_what_distinct_ones_do_not() -> None:
    counts = []
    for rows in ([0, 4, 2, 1, 3], [0, 4, 2, 0, 3]):
        data, updates = np.arange(20).reshape(5, 4), np.arange(120, 100, -1).reshape(5, 4)
        inputs = {"data": data, "indices": np.array(rows)[:, None], "updates": updates}
        replaced = data.copy()
        replaced[rows] = updates
        found = told("onnx.scatter_nd", inputs, {"reduction": "add"}, replaced)
        counts.append(len(found.causes))
    assert counts == [4, 1]


def test_causes_that_an_example_is_too_small_for_are_told_the_plainest_first() -> None:
    inputs = {"data": np.array([1, 2, 3]), "indices": np.array([0, 1]), "updates": np.array([4, 5])}
    found = told("onnx.scatter_elements", inputs, {}, np.array([5, 4, 3]))
    advice = f"data like arange:4, {OTHER_INPUTS}"
    assert found.describe()[-1] == f"these inputs do not tell these apart; others may: {advice}"
    one = told("onnx.scatter_elements", inputs, {}, np.array([4, 1, 3]))
    assert not any("apart" in line for line in one.describe())
    inputs["data"] += 10
    untouched = told("onnx.scatter_elements", inputs, {}, inputs["data"])
    causes = [fit.cause for fit in untouched.causes]
    assert causes == ["nothing was written", "the largest is kept"]
    rules = told(
        "onnx.gather",
        {"data": np.array([5, 6, 7]), "indices": np.array([2, -1])},
        {},
        np.array([7, 5]),
    )
    assert [fit.is_rule_set for fit in rules.causes] == [True, False]
    assert "apart" not in rules.describe()[-1]


def mistakes_told(
    name: str, inputs: dict[str, Array], attrs: dict[str, Any], expected: Array
) -> tuple[list[str], str]:
    """The causes that are mistakes, and which inputs the last line names, if it does."""
    found = told(name, inputs, attrs, expected)
    causes = [fit.cause for fit in found.causes if not fit.is_rule_set]
    return causes, found.describe()[-1].partition("apart; others may: ")[2]


OTHER_INPUTS = "more entries in no order, some twice, other bad indices, values below zero"
REVERSED = "the numbers of each index vector are read in reverse order"
CUBE = np.arange(27.0).reshape(3, 3, 3)
BOX = np.arange(120.0).reshape(6, 5, 4)
TRIPLES = np.array([[0, 1, 2], [2, 1, 1], [0, 0, 2], [1, 2, 0]])
ALONG_ONE_AXIS = np.array([[0, 3], [2, 2], [1, 0]])


@pytest.mark.parametrize(
    ("name", "inputs", "expected", "cause"),
    [
        ("onnx.gather_nd", {"data": DATA, "indices": PAIRS}, DATA.T[tuple(PAIRS.T)], REVERSED),
        ("tensorflow.gather_nd", {"params": DATA, "indices": PAIRS}, DATA.T[tuple(PAIRS.T)],
         REVERSED),
        ("onnx.gather_nd", {"data": BOX, "indices": TRIPLES}, BOX.T[tuple(TRIPLES.T)], REVERSED),
        ("onnx.gather", {"data": BITS, "indices": ALONG_ONE_AXIS}, BITS[ALONG_ONE_AXIS.T],
         "indices is transposed"),
        ("torch.take", {"input": DATA, "index": ALONG_ONE_AXIS},
         DATA.reshape(-1)[ALONG_ONE_AXIS.T], "index is transposed"),
    ],
)  # fmt: skip
def test_what_is_one_thing_in_every_such_call_is_told_once(
    name: str, inputs: dict[str, Array], expected: Array, cause: str
) -> None:
    """No entries would tell data.T[i, j] from data[j, i]; so nothing is advised."""
    assert mistakes_told(name, inputs, {}, expected) == ([cause], "")


def test_data_turned_otherwise_than_vectors_are_is_told() -> None:
    swapped = CUBE.transpose(1, 0, 2)[tuple(TRIPLES.T)]
    causes, _ = mistakes_told("onnx.gather_nd", {"data": CUBE, "indices": TRIPLES}, {}, swapped)
    assert causes == ["data is transposed, its axes in the order (1, 0, 2)"]
    row = DATA.T[[1, 3]]
    vectors = {"data": DATA, "indices": np.array([[1], [3]])}
    assert mistakes_told("onnx.gather_nd", vectors, {}, row)[0] == ["data is transposed"]
    columns = {"input": DATA, "indices_0": PAIRS[:, 0], "indices_1": PAIRS[:, 1]}
    turned = DATA.T[tuple(PAIRS.T)]
    assert "input is transposed" in mistakes_told("torch.index", columns, {}, turned)[0]


def test_another_operation_may_lie_flat_or_along_any_axis() -> None:
    data, at = np.arange(10).reshape(2, 5) * 1.5, np.array([[0, 2, 1], [3, -1, 4]])
    inputs = {"data": data, "indices": at}
    (flat,) = told("onnx.gather_elements", inputs, {"axis": 1}, np.take(data, at)).causes
    assert flat.cause.startswith("the operation is take, by the rules of NumPy take (raise), ")
    inputs = {"input": data, "index": at}
    (along,) = told("torch.take", inputs, {}, np.take_along_axis(data, at, 1)).causes
    start = "the operation is gather-elements along axis 1, by the rules of ONNX GatherElements-13"
    assert along.cause.startswith(start)


def test_of_orders_that_axes_of_size_1_make_alike_one_is_tried() -> None:
    assert dict(_other_orders(CUBE[:1, :1])) == {
        (2, 1, 0): "is transposed",
        (0, 2, 1): "is transposed, its axes in the order (0, 2, 1)",
    }
    assert len(dict(_other_orders(CUBE))) == 5
    assert not dict(_other_orders(CUBE[0, 0]))
    assert not dict(_other_orders(np.zeros((2,) * 9)))


def test_the_result_of_an_axis_that_no_index_has_may_be_transposed() -> None:
    found = gscli.trace("numpy.getitem", {"a": BITS, "indices": ([0, 2, 1], None)})
    wrong = OutputDiagnosis(found, BITS[None, [0, 2, 1]], "want")
    assert [fit.cause for fit in wrong.causes] == ["the result is transposed"]


MISSING = "the reduction is missing: updates replace what is there"
# What a sum may have been instead, each as a loop over the updates of a cell.
INSTEAD: dict[str, Callable[[float, list[float]], float]] = {
    MISSING: lambda _, news: news[-1],
    "updates are multiplied": lambda old, news: float(np.prod([old or 1.0, *news])),
    "the largest is kept": lambda old, news: max(old, *news),
    "of updates to the same cell only the last one counts": lambda old, news: old + news[-1],
}


def reduced(cause: str, data: Array, at: Array, news: Array) -> Array:
    """What the loop of this name gives, for rows of data."""
    output = data.copy()
    for row in set(at.tolist()):
        for column in np.ndindex(data.shape[1:]):
            there = news[at == row][(slice(None), *column)].tolist()
            output[(row, *column)] = INSTEAD[cause](float(data[(row, *column)]), there)
    return output


def test_an_advice_is_followed_to_its_end_on_data_of_its_rank() -> None:
    inputs, turned = {"data": CUBE, "indices": TRIPLES}, CUBE.T[tuple(TRIPLES.T)]
    told_first = mistakes_told("onnx.gather_nd", inputs, {}, turned)
    column_major = "data is read in column-major order"
    advice = f"data like arange:6x5x4, {OTHER_INPUTS}"
    assert told_first == ([REVERSED, column_major], advice)
    inputs = {"data": BOX, "indices": np.concatenate([TRIPLES, TRIPLES[::-2], TRIPLES[1:2, ::-1]])}
    flat = BOX.reshape(-1, order="F").reshape(BOX.shape)
    for data, cause in ((BOX.T, REVERSED), (flat, column_major)):
        expected = data[tuple(inputs["indices"].T)]
        assert mistakes_told("onnx.gather_nd", inputs, {}, expected) == ([cause], "")


def test_an_advice_is_followed_to_its_end_on_data() -> None:
    cause = "of updates to the same cell only the last one counts"
    inputs = {"data": np.arange(1.0, 4), "indices": np.array([[2], [2]]), "updates": BITS[:2]}
    causes, advice = mistakes_told(
        "onnx.scatter_nd", inputs, {"reduction": "add"}, np.array([1.0, 2, 8])
    )
    assert causes == [cause, "the first entry is left out"]
    assert advice == f"data like arange:4, {OTHER_INPUTS}"
    data, at = np.arange(4.0), np.array([3, 0, 2, 3, 1, 0, 2])
    inputs = {"data": data, "indices": at[:, None], "updates": np.arange(7.0) + 50}
    for expected, named in (
        (reduced(cause, data, at, inputs["updates"]), cause),
        (scattered(data, at[1:, None], inputs["updates"][1:], add), "the first entry is left out"),
    ):
        told_now = mistakes_told("onnx.scatter_nd", inputs, {"reduction": "add"}, expected)
        assert told_now == ([named], "")


def test_an_advice_is_followed_to_its_end_without_data() -> None:
    """Only a call that has data is told to try others."""
    at, news = np.array([1, 1, 3]), np.array([1.0, 2, 3])
    inputs = {"indices": at[:, None], "updates": news, "shape": np.array([5])}
    expected = reduced(MISSING, np.zeros(5), at, news)
    causes, advice = mistakes_told("tensorflow.scatter_nd", inputs, {}, expected)
    assert causes == [*[*INSTEAD][:3], "the first entry is left out"]
    assert advice == OTHER_INPUTS
    at, news = np.array([4, 1, 0, 1, 4, 0]), np.array([3.0, 5, 7, 2, 4, 6])
    inputs = {"indices": at[:, None], "updates": news, "shape": np.array([5])}
    for cause in [*INSTEAD][:3]:
        expected = reduced(cause, np.zeros(5), at, news)
        assert mistakes_told("tensorflow.scatter_nd", inputs, {}, expected) == ([cause], "")


def test_an_output_of_unequal_sizes_tells_turned_vectors_from_a_turned_result() -> None:
    at, news = np.array([[0, 1], [2, 3], [1, 1]]), np.array([1.0, 2, 3])
    inputs = {"indices": at, "updates": news, "shape": np.array([4, 4])}
    expected = np.zeros((4, 4))
    expected[tuple(at[:, ::-1].T)] = news
    causes, advice = mistakes_told("tensorflow.scatter_nd", inputs, {}, expected)
    assert causes == [REVERSED, "the result is transposed"]
    assert advice.startswith("an output of unequal sizes, ")
    inputs["shape"] = np.array([4, 5])
    turned = np.zeros((5, 4))
    turned[tuple(at[:, ::-1].T)] = news
    assert mistakes_told("tensorflow.scatter_nd", inputs, {}, turned) == (
        ["the result is transposed"], "",
    )  # fmt: skip


def test_what_chance_gives_too_is_no_cause() -> None:
    """Of ten zeros three are cells of data as well; moved elsewhere they would fit as often."""
    inputs = {"data": np.zeros(10), "indices": np.arange(10)[:, None], "updates": np.arange(10.0)}
    expected = np.array([5.0, 0, 0, 0, 0, 0, 0, 7, 3, 1])
    assert told("onnx.scatter_nd", inputs, {}, expected).causes == ()


def test_a_small_part_is_no_cause() -> None:
    inputs = {"data": np.arange(10.0), "indices": np.arange(-1, 9)}
    expected = np.append(0.0, np.arange(0.5, 9))
    assert told("onnx.gather", inputs, {}, expected).causes == ()


def test_nothing_is_said_of_negative_indices_where_there_are_none() -> None:
    """A rule that clips is told by what it does with the index that there is."""
    inputs = {"params": BITS, "indices": np.array([9, 1])}
    found = told("tensorflow.gather", inputs, {"device": "gpu"}, BITS[[3, 1]])
    assert not any("negative" in fit.cause for fit in found.causes)


def test_nothing_is_said_of_batches_and_vectors_where_there_are_none() -> None:
    found = told("onnx.gather", {"data": BITS, "indices": np.array([-1])}, {}, BITS[[0]])
    assert "negative indices are read as 0" in [fit.cause for fit in found.causes]
    assert not any("batch" in fit.cause or "vector" in fit.cause for fit in found.causes)


def test_what_nothing_explains_is_said_so() -> None:
    found = told("onnx.gather", {"data": BITS, "indices": np.array([1])}, {}, np.array([0.25]))
    assert found.causes == ()
    assert "no common mistake" in found.describe()[-1]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_rounding_is_no_difference_but_integers_are_exact(dtype: str) -> None:
    expected = np.array([1_000_000, 3], dtype)
    near = expected.copy()
    near[0] = np.nextafter(near[0], 2e6) if dtype != "int64" else near[0] + 1
    trace = gscli.trace("onnx.gather", {"data": near, "indices": np.array([0, 1])})
    assert OutputDiagnosis(trace, expected, "want").is_equal == (dtype != "int64")
    assert OutputDiagnosis(trace, expected, "want", Tolerance(1e-3)).is_equal
    assert OutputDiagnosis(trace, expected, "want", Tolerance(0.0, 2.0)).is_equal


def test_nan_equals_nan_and_infinity_only_itself() -> None:
    data = np.array([np.nan, np.inf, -np.inf])
    trace = gscli.trace("onnx.gather", {"data": data, "indices": np.arange(3)})
    assert OutputDiagnosis(trace, data, "want").is_equal
    assert (
        OutputDiagnosis(trace, np.array([np.nan, np.inf, np.inf]), "w").difference.differing_count
        == 1
    )
    assert (
        OutputDiagnosis(trace, np.array([0.0, np.inf, -np.inf]), "w").difference.differing_count
        == 1
    )


def test_shape_and_type_come_first() -> None:
    trace = gscli.trace("onnx.gather", {"data": BITS, "indices": np.array([1, 2])})
    wide = OutputDiagnosis(trace, BITS[[1, 2]].astype(np.float32), "want")
    assert wide.describe()[0] == "the type is float64, want has float32"
    assert not wide.is_equal
    long = OutputDiagnosis(trace, BITS, "want")
    assert long.describe()[0] == "the shape is [2], want has [4]"
    document = long.to_dict()
    assert (document["shape"], document["different"]) == ([[2], [4]], None)
    table = OutputDiagnosis(trace, BITS[[1, 2], None], "want.csv")
    axes = "a table has two axes always, a .npy file keeps [2]"
    assert table.describe()[0] == f"the shape is [2], want.csv has [2,1]; {axes}"


def test_text_is_compared_as_text() -> None:
    trace = gscli.trace("onnx.gather", {"data": np.array(["a", "bb"]), "indices": np.array([1])})
    assert OutputDiagnosis(trace, np.array(["bb"]), "want").is_equal
    assert OutputDiagnosis(trace, np.array(["b"]), "want").difference.distances == {}


def test_entries_are_named_however_many_there_are() -> None:
    at = np.zeros(3000, np.int64)
    at[2500] = -1
    trace = gscli.trace("onnx.gather", {"data": BITS, "indices": at})
    found = OutputDiagnosis(trace, BITS[np.maximum(at, 0)], "want")
    assert found.differing_entries.total == 1
    assert found.describe()[1] == "reached by 1 of 3,000 entries: 2,500"
    written = gscli.trace(
        "onnx.scatter_nd", {"data": BITS, "indices": at.reshape(-1, 1), "updates": at * 1.0}
    )
    late = OutputDiagnosis(written, np.array([0.0, 5.0, 6.0, 7.0]), "want")
    assert late.describe()[1] == "reached by 1 of 3,000 entries: 2,500"


@pytest.mark.parametrize("kind", ["scatter", "bags"])
def test_all_entries_are_counted_where_more_reach_a_cell_than_are_named(kind: str) -> None:
    at = np.arange(30_000) % 10
    name, attrs = "onnx.scatter_nd", {"reduction": "add"}
    inputs: dict[str, Any] = {"data": np.zeros(10), "indices": at[:, None]}
    inputs["updates"] = np.ones(at.size)
    if kind == "bags":
        name, attrs = "torch.embedding_bag", {"mode": "sum"}
        inputs = {"input": np.zeros_like(at), "weight": np.ones((1, 1))}
        inputs["offsets"] = np.arange(0, at.size, 3000)
    trace = gscli.trace(name, inputs, attrs)
    cells = 0 * trace.output
    cells[2] = 1.0
    found = OutputDiagnosis(trace, np.where(cells, 1.0, trace.output), "want")
    letters = "c, m, w, G, Q, aa, ak, au" if kind == "scatter" else "6,000, 6,001, 6,002, 6,003, "
    assert found.describe()[1].startswith(f"reached by 3,000 of 30,000 entries: {letters}")
    assert found.describe()[1].endswith(" and 2,992 more")
    assert found.find_entries([2]) == found.differing_entries
    assert len(found.to_dict()["entries"]) == expectation.MAX_NAMED_ENTRIES  # type: ignore[arg-type]
    replaced = OutputDiagnosis(trace, np.ones_like(trace.output), "want")
    assert {cause.entries.total for cause in replaced.causes} <= {30_000}


@pytest.mark.parametrize("width", [1, 3])
def test_on_a_sample_it_is_told_what_was_counted_on_everything(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expectation, "MAX_FULL_SEARCH_CELLS", 0)
    table = np.arange(8.0 * width).reshape(8, width) + 1
    at = np.tile([-2, 1, -1], 3000)
    trace = gscli.trace("onnx.gather", {"data": table, "indices": at})
    found = OutputDiagnosis(trace, table[np.maximum(at, 0)], "want")
    _, reach, tried, *_ = found.describe()
    slices = "in 6,000 slices, " * (width > 1)
    assert reach.startswith(f"{slices}reached by 6,000 of 9,000 entries: a, c, ")
    names = found.differing_entries.names
    assert reach.endswith(f" and {6000 - 8:,} more")
    assert len(names) < 6000
    assert found.sampled_cells is not None
    differing = np.count_nonzero(at[found.sampled_cells // width] < 0)
    line = f"causes are tried on {found.sampled_cells.size:,} of the cells"
    assert tried == f"{line}, {differing:,} of which differ"
    assert {cause.cells for cause in found.causes} == {differing}


def test_of_a_sampled_scatter_it_is_told_which_cells_were_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expectation, "MAX_FULL_SEARCH_CELLS", 0)
    at = np.tile(np.arange(3000), 2)
    inputs = {"data": np.zeros(5000), "indices": at[:, None], "updates": np.ones(6000)}
    trace = gscli.trace("onnx.scatter_nd", inputs, {"reduction": "add"})
    found = OutputDiagnosis(trace, np.minimum(trace.output, 1), "want")
    assert found.sampled_cells is not None
    count = np.count_nonzero(found.sampled_cells < 3000)
    start = f"where causes are tried, reached by {2 * count:,} of 6,000 entries: a, b, "
    assert found.describe()[1].startswith(start)
    other = OutputDiagnosis(trace, trace.output + (np.arange(5000) == 4000), "want")
    assert other.describe()[1] == "where causes are tried, reached by none of 6,000 entries"


@pytest.mark.parametrize("shape", [(3,), (9, 1), (2, 9)])
def test_nothing_is_tried_on_cells_of_another_large_shape(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cells that differ are those of the output, which another shape has not."""
    monkeypatch.setattr(expectation, "MAX_FULL_SEARCH_CELLS", 1)
    trace = gscli.trace("onnx.gather", {"data": np.arange(9), "indices": np.arange(9)})
    document = OutputDiagnosis(trace, np.zeros(shape), "want").to_dict()
    assert (document["equal"], document["causes"], document["different"]) == (False, [], None)
    assert "tried" not in document


def test_of_a_refused_call_no_cell_is_said_to_differ(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(expectation, "MAX_FULL_SEARCH_CELLS", 0)
    assert run_safely(["gather", "[4,5,6,7]", "[-1,0,9]", "--expect", "[7,4,7]"]) == 65
    assert capsys.readouterr().out.splitlines()[0] == "causes are tried on 3 of the cells"


@pytest.mark.parametrize(("width", "slices"), [(1, ""), (2, "in 2 slices, ")])
def test_entries_and_slices_of_bags_are_named(width: int, slices: str) -> None:
    trace = gscli.trace(
        "torch.embedding_bag",
        {"input": [0, 1, 2, 3], "weight": np.repeat(BITS, width).reshape(4, width),
         "offsets": [0, 2, 4, 4, 4]},
        {"mode": "sum"},
    )  # fmt: skip
    wrong = trace.output.copy()
    wrong[[1, 4]] = 0.5
    sentence = OutputDiagnosis(trace, wrong, "want").describe()[1]
    assert sentence == f"{slices}reached by 2 of 4 entries: c, d"


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", ["gather", "scatter"])
def test_slices_are_counted_on_answers_of_any_size(
    kind: str, axis: int, monkeypatch: pytest.MonkeyPatch, *, large: bool
) -> None:
    if large:  # causes are tried on some cells alone, and cells are compared in many blocks
        monkeypatch.setattr(expectation, "MAX_FULL_SEARCH_CELLS", 1)
        monkeypatch.setattr(lab_difference, "BLOCK", 7)
    data, indices = np.arange(6.0 * 5 * 4).reshape(6, 5, 4), np.array([3, 0, 2])
    inputs: dict[str, Any] = {"data": data, "indices": indices}
    name, attrs = "openvino.scatter_update", {}
    if kind == "scatter":
        inputs["updates"] = np.take(data, indices, axis) + 1000
        inputs["axis"] = np.array(axis)
    else:
        name, attrs = "onnx.gather", {"axis": axis}
    trace = gscli.trace(name, inputs, attrs)
    rng = np.random.default_rng(axis)
    expected = trace.output + (rng.random(trace.output.shape) < 0.1)
    others = tuple(one for one in range(3) if one != axis)
    count = np.count_nonzero((expected != trace.output).any(axis=others))
    found = OutputDiagnosis(trace, expected, "want", Tolerance(0.0))
    assert found.differing_slice_count == count > 0
    assert f"in {count} slices, " in " ".join(found.describe())
    assert OutputDiagnosis(trace, trace.output, "want").differing_slice_count == 0


def test_data_without_axes_has_no_other_axis() -> None:
    inputs = {"input": np.float32(3), "index": np.int64(0), "src": np.float32(9.5)}
    trace = gscli.trace("torch.scatter_add", inputs, {"dim": 0})
    causes = OutputDiagnosis(trace, np.array(9.5, np.float32), "want").causes
    assert [cause.is_exact for cause in causes] == [True] * 4


SLABS, PICKS = np.arange(30.0).reshape(2, 3, 5), np.array([[4, 0], [1, 1]])


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "expected", "cause"),
    [
        ("onnx.gather", {"data": SLABS, "indices": PICKS}, {"axis": 2},
         np.stack([SLABS[0][:, PICKS[0]], SLABS[1][:, PICKS[1]]]),
         "the operation is gather with batch_dims 1, by the rules of OpenVINO Gather-8"),
        ("onnx.gather_elements", {"data": SQUARE, "indices": AT[:2, :3]}, {"axis": 1},
         SQUARE[:, AT[:2, :3]], "the operation is gather, by the rules of ONNX Gather-13"),
        ("torch.gather", {"input": SQUARE, "index": AT[:2, :3]}, {"dim": 0},
         SQUARE[AT[:2, :3]], "the operation is gather, by the rules of ONNX Gather-13"),
        ("onnx.gather", {"data": SQUARE, "indices": AT}, {"axis": 1},
         np.take_along_axis(SQUARE, AT, 1),
         "the operation is gather-elements, by the rules of ONNX GatherElements-13"),
        ("onnx.gather", {"data": SQUARE, "indices": PAIRS}, {},
         SQUARE[PAIRS[:, 0], PAIRS[:, 1]],
         "the operation is gather-nd, by the rules of ONNX GatherND-13"),
    ],
)  # fmt: skip
def test_another_operation_and_lost_batch_axes_are_named(
    name: str, inputs: dict[str, Array], attrs: dict[str, Any], expected: Array, cause: str
) -> None:
    [fit] = told(name, inputs, attrs, expected).causes
    assert fit.is_exact
    assert fit.cause.startswith(cause)
    assert not told(name, inputs, attrs, expected + 1).causes


@pytest.mark.parametrize(
    ("call", "expected", "rules"),
    [
        ("jax at-get [4,5,6,7] [0,9]", "[4,0]", "OpenVINO Gather-8, TF gather GPU"),
        ("torch index [4,5,6,7] [0,9]", "[4,0]", "TF gather_nd GPU"),
        ("torch index [[4,5],[6,7]] [0,1] [0,9]", "[4,0]", "TF gather_nd GPU"),
        ("mxnet gather-nd [4,5,6,7] [[0,9]]", "[4,0]", "TF gather_nd GPU"),
        ("torch index-put [0,0] [1,1] [2,3]", "[0,5]", "TF scatter_nd CPU (on zeros)"),
        ("jax at-set [0,0] [1,1] [2,3]", "[0,5]", "TF scatter_nd CPU (on zeros)"),
    ],
)
def test_indices_that_lie_elsewhere_have_rule_sets(
    call: str, expected: str, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*call.split(), "--expect", expected, "--width", "200"]) in (1, 65)
    assert f"  the rules are those of {rules}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "expected", "flag"),
    [
        (
            "torch scatter-reduce [10,20] [0,0] [1,3] --dim 0 --reduce sum --no-include-self",
            "[14,20]",
            "--include-self",
        ),
        (
            "torch scatter-reduce [11,20] [0,0] [1,3] --dim 0 --reduce mean --no-include-self",
            "[5,20]",
            "--include-self",
        ),
        (
            "openvino scatter-elements-update [1] [0,0] [1,3] 0 --reduction sum --no-use-init-val",
            "[5]",
            "--use-init-val",
        ),
    ],
)
def test_an_option_that_compare_has_no_word_for_is_named_and_no_rule_set(
    call: str, expected: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rules of PyTorch's scatter_reduce, say, are what was run, and gave another answer."""
    assert run_safely([*call.split(), "--expect", expected, "--width", "300"]) == 1
    causes = capsys.readouterr().out
    assert "the rules are those of" not in causes
    assert f"  it is called with {flag} (" in causes


def test_an_option_that_gives_most_of_the_answer_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As where it gives all of it; the last cell is nobody's."""
    call = "torch scatter-reduce [9,8,7,6,5] [0,0,1,2,3,4] [1,3,4,5,6,7] --dim 0 --reduce sum"
    assert run_safely([*call.split(), "--expect", "[4,4,5,6,-1]", "--width", "300"]) == 1
    causes = capsys.readouterr().out.partition("its part in 4 differing cells is")[2]
    assert "  it is called with --no-include-self (" in causes


@pytest.mark.parametrize(("words", "expected"), [(": [1]", "[[6,7]]"), ("[1] [0]", "[[6,7]]")])
def test_a_subscript_of_more_is_no_other_call_of_compare(
    words: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither is its first array alone what the rows of data are read by."""
    call = ["jax", "at-get", "[[4,5],[6,7]]", *words.split()]
    assert run_safely([*call, "--expect", expected]) == 1
    assert "the rules are those of" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("inputs", "attrs", "named", "left_out"),
    [
        ({"a": DATA, "indices": np.array([0, 2])}, {}, "ONNX Gather-13", "JAX take"),
        (
            {"a": DATA, "indices": np.array([0, -9])},
            {"axis": 0},
            "NumPy take (clip)",
            "JAX take (fill)",
        ),
    ],
)
def test_rule_sets_are_those_of_the_same_call(
    inputs: dict[str, Array], attrs: dict[str, Any], named: str, left_out: str
) -> None:
    """Without an axis jax.take reads data flat; without a mode it fills, as mode=fill does."""
    expected = DATA[np.maximum(inputs["indices"], 0)]
    causes = [fit.cause for fit in told("jax.take", inputs, attrs, expected).causes]
    [labels] = [cause for cause in causes if cause.startswith("the rules are those of")]
    assert named in labels
    assert left_out not in labels


def test_what_is_computed_in_a_type_is_run_in_it() -> None:
    """Its lowest number fills empty segments, and its sums are rounded as the framework does."""
    data = np.array([[1, 2], [3, 4]], np.float32)
    inputs = {"data": data, "segment_ids": np.array([0, 2])}
    empty = np.array([[1, 2], [-np.inf, -np.inf], [3, 4]], np.float32)
    trace = gscli.trace("tensorflow.unsorted_segment_max", inputs, {"num_segments": 3})
    causes = OutputDiagnosis(trace, empty, "want").causes
    assert [fit.cause for fit in causes] == ["empty cells hold -inf"]
    draw = np.random.default_rng(3)
    sums = {
        "input": draw.random((3, 4), np.float32) * 50,
        "index": np.array([2, 0, 2, 2, 1]),
        "source": draw.random((5, 4), np.float32) * 50,
    }
    halves = {
        name: array if name == "index" else array.astype(np.float16) for name, array in sums.items()
    }
    half = gscli.run("torch.index_add", halves, {"dim": 0}).astype(np.float32)
    diagnosis = OutputDiagnosis(gscli.trace("torch.index_add", sums, {"dim": 0}), half, "want")
    assert "it is computed in float16" in [fit.cause for fit in diagnosis.causes if fit.is_exact]
