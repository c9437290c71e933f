"""Caffe2: the rules in words that the recorded cases leave uncovered, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import assert_same

import gscli
from gscli.base import DtypeRefused, GscliError, IndexRefused, ShapeRefused
from gscli.cli import run_safely
from gscli.frameworks import load_framework
from gscli.layout.axes import Tensor

CAFFE2 = load_framework("caffe2").operators
ROWS = np.array([[0, 1], [2, 3], [4, 5]], np.float32)
LAST = np.array([-1])


def test_a_negative_index_depends_on_how_the_axis_is_written() -> None:
    for attrs in ({}, {"axis": 0}, {"axis": -2, "wrap_indices": True}):
        assert CAFFE2["gather"](ROWS, LAST, **attrs).tolist() == [[4, 5]]
    for attrs in ({"axis": -2}, {"axis": 1}, {"axis": 0, "wrap_indices": False}):
        with pytest.raises(IndexRefused, match="negative index"):
            CAFFE2["gather"](ROWS, LAST, **attrs)
    for bad in (-4, 3):
        with pytest.raises(IndexRefused, match="valid: -3 … 2"):
            CAFFE2["gather"](ROWS, np.array([bad]))


def test_an_empty_axis_gives_the_shape_of_data() -> None:
    empty = np.zeros((0, 2), np.float32)
    assert_same(CAFFE2["gather"](empty, np.array([[9, -9]])), empty)
    assert_same(CAFFE2["gather"](empty.T, np.array(4), axis=1), empty.T)


def test_no_index_of_an_empty_result_is_looked_at() -> None:
    assert CAFFE2["gather"](np.zeros((3, 0)), np.array([7])).shape == (1, 0)
    assert CAFFE2["gather"](np.zeros((0, 3)), np.array([7]), axis=1).shape == (0, 1)
    with pytest.raises(DtypeRefused, match="INDICES must be integers"):
        CAFFE2["gather"](np.zeros((3, 0)), np.array([0.0]))


@pytest.mark.parametrize(("options", "legal"), [([], "-3 … 2"), (["--no-wrap-indices"], "0 … 2")])
def test_what_is_legal_is_the_same_where_slices_are_empty(
    options: list[str], legal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = '{"dtype":"float32","shape":[3,0],"data":[]}'
    assert run_safely(["explain", "caffe2", "gather", data, "[0,-1,7]", *options]) == 0
    assert f"Legal: {legal} on axis 0;" in capsys.readouterr().out


def test_match_outer_shares_the_axes_before_the_axis() -> None:
    data = np.arange(12).reshape(2, 3, 2)
    picked = CAFFE2["gather"](data, np.array([[2], [0]]), axis=1, match_outer=True)
    assert picked.tolist() == [[[4, 5]], [[6, 7]]]
    assert CAFFE2["gather"](ROWS, np.array([1, 0, 1]), axis=1, match_outer=True).tolist() == [
        1, 2, 5,
    ]  # fmt: skip
    for indices, attrs in (([1], {}), ([0, 1], {"axis": -2})):
        with pytest.raises(ShapeRefused, match="match_outer needs axes before the axis"):
            CAFFE2["gather"](ROWS, np.array(indices), match_outer=True, **attrs)
    with pytest.raises(ShapeRefused, match="match_outer needs axes"):
        CAFFE2["gather"](ROWS, np.array(0), axis=1, match_outer=True)
    with pytest.raises(ShapeRefused, match="batch axes differ"):
        CAFFE2["gather"](ROWS, np.array([[0]]), axis=1, match_outer=True)


def test_the_axis_of_scatter_is_one_unless_written() -> None:
    written = CAFFE2["scatter"](ROWS, np.array([[1]]), np.float32([[9]]))
    assert written.tolist() == [[0, 9], [2, 3], [4, 5]]
    assert CAFFE2["scatter"](ROWS, np.array([[2]]), np.float32([[9]]), axis=0)[2, 0] == 9
    with pytest.raises(ShapeRefused, match="axis 1 is out of range"):
        CAFFE2["scatter"](ROWS[0], np.array([1]), np.float32([9]))


def test_scatter_refuses_every_bad_number_wherever_it_stands() -> None:
    for bad in (-1, 2):
        indices = np.array([[0], [bad]])
        with pytest.raises(IndexRefused, match="valid: 0 … 1"):
            CAFFE2["scatter"](ROWS, indices, np.float32([[8], [9]]))


def test_scatter_refuses_shapes_that_lead_caffe2_astray() -> None:
    cube = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    indices = np.zeros((2, 1, 1), np.int64)
    with pytest.raises(ShapeRefused, match="smaller than DATA behind another axis"):
        CAFFE2["scatter"](cube, indices, np.zeros((2, 1, 1), np.float32), axis=2)
    leading = np.zeros((1, 2, 2), np.int64)
    assert CAFFE2["scatter"](cube, leading, np.float32([[[9, 9], [8, 8]]])).shape == cube.shape
    with pytest.raises(ShapeRefused, match="UPDATES has the wrong shape"):
        CAFFE2["scatter"](ROWS, np.array([[0, 1]]), np.float32([[9]]))
    with pytest.raises(ShapeRefused, match="off the axis"):
        CAFFE2["scatter"](ROWS, np.zeros((4, 1), np.int64), np.zeros((4, 1), np.float32))
    with pytest.raises(DtypeRefused, match="UPDATES must have DATA's element type"):
        CAFFE2["scatter"](ROWS, np.array([[0]]), np.array([[9]]))


def test_scatter_assign_counts_values_only() -> None:
    slices = np.arange(10, 14, dtype=np.float32)
    for shape in ((4,), (2, 2), (4, 1, 1)):
        for indices in ([2, 0], [[2], [0]]):
            written = CAFFE2["scatter_assign"](ROWS, np.array(indices), slices.reshape(shape))
            assert written.tolist() == [[12, 13], [2, 3], [10, 11]]
    assert CAFFE2["scatter_assign"](ROWS, np.array(1), slices[:2])[1].tolist() == [10, 11]
    with pytest.raises(ShapeRefused, match="valid: 4 values in any shape"):
        CAFFE2["scatter_assign"](ROWS, np.array([2, 0]), slices[:3])
    with pytest.raises(ShapeRefused, match="rank 0 is not allowed"):
        CAFFE2["scatter_assign"](np.float32(1), np.array([0]), np.float32([1]))


@pytest.mark.parametrize("bad", [-1, 3, 2**40])
def test_scatter_assign_refuses_what_caffe2_does_not_check(bad: int) -> None:
    with pytest.raises(IndexRefused, match="Caffe2 does not check this"):
        CAFFE2["scatter_assign"](ROWS, np.array([bad]), ROWS[:1])


@pytest.mark.parametrize("dtype", ["int8", "bool", "str", "uint16"])
def test_scatter_assign_has_kernels_for_few_types(dtype: str) -> None:
    data = ROWS.astype(np.str_ if dtype == "str" else dtype)
    with pytest.raises(DtypeRefused, match=f"DATA cannot be {dtype}"):
        CAFFE2["scatter_assign"](data, np.array([0]), data[:1])
    assert CAFFE2["gather"](data, np.array([0])).shape == (1, 2)


def test_duplicates_are_warned_about() -> None:
    tensors = {
        "DATA": Tensor("DATA", (3,), "int32"),
        "INDICES": Tensor("INDICES", (2,), "int32"),
    }
    assign = CAFFE2["scatter_assign"].infer_layout(
        tensors | {"SLICES": Tensor("SLICES", (2,), "int32")}, {}
    )
    assert "arbitrary" in assign.unspecified_order
    scatter = CAFFE2["scatter"].infer_layout(
        tensors | {"UPDATES": Tensor("UPDATES", (2,), "int32")}, {"axis": 0}
    )
    assert "does not document" in scatter.unspecified_order


@pytest.mark.parametrize("name", ["gather", "scatter", "scatter_assign"])
def test_indices_are_of_two_types(name: str) -> None:
    operator = CAFFE2[name]
    inputs = [ROWS, np.zeros((1, 1), np.int16), np.zeros((1, 1), np.float32)]
    with pytest.raises(DtypeRefused, match="INDICES cannot be int16"):
        operator(*inputs[: len(operator.inputs)])


@pytest.mark.parametrize("bad", [{"axis": 2}, {"axis": -3}, {"wrap_indices": "yes"}, {"Axis": 0}])
def test_a_bad_attribute_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(GscliError):
        gscli.run("caffe2.gather", {"DATA": ROWS, "INDICES": np.array([0])}, bad)
