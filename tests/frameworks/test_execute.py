"""Calls from Python: how arguments find their names, and that no call gets another one's layout."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

import gscli
from gscli.frameworks import find_operator
from gscli.frameworks.execute import resolve_dtypes
from gscli.frameworks.numpy import add_at
from gscli.plan import CallInputs, infer_layout

DATA = np.arange(6.0).reshape(3, 2)
ROWS = np.array([[2], [0]])


def test_equal_calls_share_one_layout() -> None:
    operator = find_operator("mxnet.scatter_nd")
    inputs = {"data": np.ones(2), "indices": np.array([[0, 2]])}
    first = infer_layout(operator, inputs, {"shape": (4,)})
    assert infer_layout(operator, inputs, {"shape": (4,)}) is first
    assert infer_layout(operator, inputs, {"shape": (5,)}).output_shape == (5,)


@pytest.mark.parametrize("shape", [(True,), (4.0,), (4.5,), ("4",), (np.int64(4),)])
def test_sizes_that_compare_equal_are_judged_as_what_they_are(shape: tuple[Any, ...]) -> None:
    def answer() -> object:
        try:
            return gscli.mxnet.scatter_nd(np.ones(1), np.array([[0]]), shape=shape).shape
        except gscli.GscliError as error:
            return error.problem

    before = answer()
    for size in (1, 4):
        gscli.mxnet.scatter_nd(np.ones(1), np.array([[0]]), shape=(size,))
    assert answer() == before


def test_types_of_indices_are_told_apart() -> None:
    gscli.gather(DATA, ROWS)
    with pytest.raises(gscli.GscliError, match="indices cannot be int16"):
        gscli.gather(DATA, ROWS.astype(np.int16))


def test_inputs_by_position_and_by_name() -> None:
    new = np.array([[7.0, 8.0], [9.0, 9.0]])
    wanted = np.array([[9.0, 9.0], [2.0, 3.0], [7.0, 8.0]])
    for found in (
        gscli.scatter_nd(DATA, ROWS, new),
        gscli.scatter_nd(DATA, updates=new, indices=ROWS),
        gscli.scatter_nd(data=DATA, updates=new, indices=ROWS, reduction="none"),
    ):
        np.testing.assert_array_equal(found, wanted)
    attrs: dict[str, object] = {"updates": new, "reduction": "none"}
    gscli.scatter_nd(DATA, ROWS, **attrs)
    assert set(attrs) == {"updates", "reduction"}
    with pytest.raises(gscli.GscliError, match="updates given twice"):
        gscli.scatter_nd(DATA, ROWS, new, updates=new)
    with pytest.raises(gscli.GscliError, match="takes 3 inputs, got 4"):
        gscli.scatter_nd(DATA, ROWS, new, new)
    with pytest.raises(gscli.GscliError, match="needs updates"):
        gscli.scatter_nd(DATA, ROWS)


def test_tuples_of_index_arrays_by_position_and_by_name() -> None:
    where = (np.array([0, 2]), np.array([1, 1]))
    for found in (
        add_at(DATA, where, 10.0),
        add_at(DATA, b=10.0, indices=where),
    ):
        np.testing.assert_array_equal(found, [[0, 11], [2, 3], [4, 15]])


def test_updates_of_the_right_shape_are_taken_as_they_are() -> None:
    """Whichever way an operator fits updates; other shapes go that way."""
    whole = np.arange(4.0).reshape(2, 2)
    at = np.array([0, 2])
    np.testing.assert_array_equal(add_at(DATA, at, whole), [[0, 2], [2, 3], [6, 8]])
    np.testing.assert_array_equal(add_at(DATA, at, whole[0]), [[0, 2], [2, 3], [4, 6]])
    np.testing.assert_array_equal(add_at(DATA, at, 1.0), [[1, 2], [2, 3], [5, 6]])


def test_types_of_untyped_inputs_are_asked_for_and_not_found_out_by_errors() -> None:
    raised: list[str] = []

    def watch(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception" and issubclass(argument[0], gscli.GscliError):
            raised.append(f"{frame.f_code.co_name}: {argument[1]}")
        return watch

    arrays = {
        "data": np.array([1.5, 2, 3, 4]),
        "indices": np.array([[3], [1]]),
        "updates": np.array([9, 8]),
    }
    inputs = CallInputs(arrays, dict.fromkeys(arrays, "inline"), dict.fromkeys(arrays, False))
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        resolve_dtypes(find_operator("onnx.scatter_nd"), inputs, strict=False)
    finally:
        sys.settrace(before)
    assert inputs.arrays["updates"].dtype == np.float64
    assert raised == []
