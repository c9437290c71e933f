"""ONNX: the rules in words that the recorded cases leave uncovered, and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Array, assert_same

import gscli
from gscli.base import DtypeRefused, IndexRefused, ShapeRefused, UsageError
from gscli.frameworks import find_operator, load_framework

ONNX = load_framework("onnx").operators
TABLE = np.array([[1, 2, 3], [4, 5, 6]])
LINE = np.array([10, 20, 30])


def run(name: str, *inputs: Any, **attrs: Any) -> Array:
    return ONNX[name](*map(np.asarray, inputs), **attrs)


def test_bare_names_are_the_newest_version() -> None:
    versions = {
        "gather": 13,
        "gather_elements": 13,
        "gather_nd": 13,
        "scatter_elements": 18,
        "scatter_nd": 18,
    }
    for name, version in versions.items():
        assert find_operator(name) is ONNX[name]
        assert ONNX[name].resolve_version(None) == version
    with pytest.raises(UsageError, match="unknown operator 'scatter'"):
        find_operator("scatter")


@pytest.mark.parametrize(
    ("name", "opset", "version"),
    [
        ("gather", 10, 1), ("gather", 12, 11), ("gather", 21, 13),
        ("gather_nd", 12, 12), ("scatter_nd", 17, 16), ("scatter_elements", 15, 13),
    ],
)  # fmt: skip
def test_the_opset_of_a_model_finds_the_version_in_force(
    name: str, opset: int, version: int
) -> None:
    assert ONNX[name].resolve_version(opset) == version


def test_what_an_opset_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="batch_dims needs opset 12"):
        run("gather_nd", TABLE, [[0, 0]], batch_dims=1, opset=11)
    with pytest.raises(UsageError, match="reduction needs opset 16"):
        run("scatter_nd", LINE, [[0]], [1], reduction="add", opset=13)
    with pytest.raises(UsageError, match="needs opset 11"):
        run("gather_elements", LINE, [0], opset=10)
    half = np.array([1], ml_dtypes.bfloat16)
    with pytest.raises(DtypeRefused, match="data cannot be bfloat16") as caught:
        run("gather", half, [0], opset=11)
    assert caught.value.hint == "opset 13 takes it"
    assert run("gather", half, [0], opset=13).dtype == half.dtype


def test_scatter_ended_with_opset_10() -> None:
    assert run("scatter", LINE, [-1], [7]).tolist() == [10, 20, 7]
    with pytest.raises(UsageError, match="scatter needs opset 9; opset 8; valid: 9 … 10"):
        run("scatter", LINE, [0], [7], opset=8)
    with pytest.raises(UsageError, match="scatter ended with opset 10") as caught:
        run("scatter", LINE, [0], [7], opset=11)
    assert "scatter-elements" in caught.value.hint


def test_gather_takes_indices_of_any_rank() -> None:
    assert run("gather", LINE, -1).tolist() == 30
    assert run("gather", TABLE, [[[0, -1]]], axis=1).tolist() == [[[[1, 3]]], [[[4, 6]]]]
    assert run("gather", TABLE, np.empty((2, 0), np.int64)).shape == (2, 0, 3)


@pytest.mark.parametrize("name", ["gather", "gather_elements", "gather_nd"])
@pytest.mark.parametrize("bad", [3, -4])
def test_one_beyond_either_end_is_out_of_range(name: str, bad: int) -> None:
    indices = [[bad]] if name == "gather_nd" else [bad]
    with pytest.raises(IndexRefused, match=r"index out of range; .*valid: -3 … 2"):
        run(name, LINE, indices)


def test_no_operator_takes_data_or_vectors_of_rank_0() -> None:
    for name in ("gather", "gather_elements"):
        with pytest.raises(ShapeRefused, match=r"rank 0 is not allowed; data int64 \[\]"):
            run(name, 5, [0])
    with pytest.raises(ShapeRefused, match=r"rank 0 is not allowed; indices int64 \[\]"):
        run("gather_nd", LINE, 0)
    with pytest.raises(ShapeRefused, match=r"rank 0 is not allowed; indices int64 \[\]"):
        run("scatter_nd", LINE, 0, 5)


def test_index_types_are_those_of_the_text() -> None:
    assert run("gather", LINE, np.array([1], np.int32)).tolist() == [20]
    with pytest.raises(DtypeRefused, match="indices cannot be int32"):
        run("gather_nd", LINE, np.array([[1]], np.int32))
    with pytest.raises(DtypeRefused, match="indices must be integers, got float64"):
        run("scatter_elements", LINE, [0.0], [1])


def test_indices_may_be_smaller_than_data_off_the_axis_but_not_larger() -> None:
    assert run("gather_elements", TABLE, [[1, 0]]).tolist() == [[4, 2]]
    with pytest.raises(ShapeRefused, match="does not fit data off the axis"):
        run("gather_elements", TABLE, [[0, 0, 0, 0]])
    with pytest.raises(ShapeRefused, match="needs as many axes") as caught:
        run("gather_elements", TABLE, [0])
    assert "whole slices: gather" in caught.value.hint


def test_batch_dims_stop_before_the_smaller_rank() -> None:
    indices = [[[0]], [[1]]]
    assert run("gather_nd", TABLE, [[2], [0]], batch_dims=1).tolist() == [3, 4]
    for batch_dims in (-1, 2):
        with pytest.raises(ShapeRefused, match=r"batch_dims is out of range.*valid: 0 … 1"):
            run("gather_nd", TABLE, indices, batch_dims=batch_dims)
    with pytest.raises(ShapeRefused, match="batch axes differ"):
        run("gather_nd", TABLE, [[0], [1], [2]], batch_dims=1)


def test_vectors_have_one_to_as_many_numbers_as_data_has_axes() -> None:
    assert run("gather_nd", TABLE, [1, 2]).tolist() == 6
    with pytest.raises(ShapeRefused, match=r"index vectors are empty.*vector length 1 … 2"):
        run("gather_nd", TABLE, np.empty((2, 0), np.int64))
    with pytest.raises(ShapeRefused, match=r"longer than data has axes.*valid: at most 2 numbers"):
        run("gather_nd", TABLE, [[0, 0, 0]])


def test_updates_of_another_shape_or_type_are_refused_not_stretched() -> None:
    with pytest.raises(
        ShapeRefused, match=r"updates has the wrong shape.*valid: \[2,3\]"
    ) as caught:
        run("scatter_nd", TABLE, [[0], [1]], [7, 8])
    assert "each vector has 1 of 2 numbers" in caught.value.hint
    for rows in ([0, 1, 1], [1, 0]):
        with pytest.raises(ShapeRefused) as caught:
            run("scatter_nd", TABLE, rows, [[7, 8, 9]] * len(rows))
        assert f"indices would be [{len(rows)},1], in Python indices[:,None]" in caught.value.hint
    with pytest.raises(ShapeRefused, match=r"valid: \[1,2\]"):
        run("scatter_elements", TABLE, [[0, 1]], [[7]])
    with pytest.raises(DtypeRefused, match="updates must have data's element type"):
        run("scatter_nd", LINE, [[0]], [1.5])


def test_the_last_of_several_updates_stays_and_reductions_count_all() -> None:
    indices, updates = [0, 0, -3], [1, 2, 4]
    expected = {"none": 4, "add": 17, "mul": 80, "max": 10, "min": 1}
    for reduction, value in expected.items():
        found = run("scatter_elements", LINE, indices, updates, reduction=reduction)
        assert found.tolist() == [value, 20, 30]


def test_reductions_of_bool_and_text_follow_their_meaning() -> None:
    flags = np.array([False, True])
    assert run("scatter_nd", flags, [[0], [1]], [True, False], reduction="add").tolist() == [
        True, True,
    ]  # fmt: skip
    assert run("scatter_nd", flags, [[0], [1]], [True, False], reduction="mul").tolist() == [
        False, False,
    ]  # fmt: skip
    words = np.array(["a", "b"])
    assert run("scatter_nd", words, [[0], [0]], ["x", "yz"], reduction="add").tolist() == [
        "axyz", "b",
    ]  # fmt: skip
    for data, reduction in ((flags, "max"), (words, "mul"), (np.array([1j]), "min")):
        with pytest.raises(DtypeRefused, match=f"{reduction} has no meaning for"):
            run("scatter_nd", data, [[0]], data[:1], reduction=reduction)


def test_nan_stays_under_max_and_min() -> None:
    data = np.array([np.nan, 1.0])
    for reduction in ("max", "min"):
        found = run("scatter_elements", data, [0, 1], [5.0, np.nan], reduction=reduction)
        assert_same(found, np.array([np.nan, np.nan]))


def test_halves_are_rounded_after_every_update() -> None:
    data = np.array([2048], np.float16)
    ones = np.ones(4, np.float16)
    found = gscli.scatter_elements(data, [0, 0, 0, 0], ones, reduction="add")
    assert found.tolist() == [2048]


def test_updates_longer_than_a_cache_are_told_that_they_may_be_shorter() -> None:
    inputs = {"past_cache": np.zeros((2, 3)), "update": np.zeros((2, 4))}
    with pytest.raises(ShapeRefused) as refusal:
        gscli.run("onnx.tensor_scatter", inputs, {"axis": 1})
    wanted = "wanted = past_cache.shape, or shorter on axis 1"
    assert any(line.endswith(wanted) for line in refusal.value.details)
