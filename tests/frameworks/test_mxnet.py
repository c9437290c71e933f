"""MXNet: the rules in words that the recorded cases leave uncovered, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import assert_same

import gscli
from gscli.base import DtypeRefused, GscliError, IndexRefused, ShapeRefused, UsageError
from gscli.frameworks import load_framework
from gscli.layout.axes import Tensor

MXNET = load_framework("mxnet").operators
ROWS = np.array([[0, 1], [2, 3], [4, 5]], np.float32)
LINE = np.array([10, 20, 30], np.float32)
FLOATS = ("float16", "float32", "float64")


def test_vectors_lie_along_the_first_axis() -> None:
    indices = np.array([[0, 2], [1, 0]])
    swapped = gscli.run(
        "tensorflow.gather_nd", {"params": ROWS, "indices": np.moveaxis(indices, 0, -1)}
    )
    assert_same(MXNET["gather_nd"](ROWS, indices), swapped)
    assert MXNET["gather_nd"](ROWS, np.array([[2, 0]])).tolist() == [[4, 5], [0, 1]]


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_fraction_is_judged_and_then_cut(dtype: str) -> None:
    indices = np.array([[1.9, 0.2, -0.5, -2.75, -3.0, 2.0]], dtype)
    assert MXNET["gather_nd"](LINE, indices).tolist() == [20, 10, 30, 10, 10, 30]
    for bad in (2.5, -3.5, np.nan, np.inf, -np.inf):
        with pytest.raises(IndexRefused, match="valid: -3 … 2"):
            MXNET["gather_nd"](LINE, np.array([[bad]], dtype))


def test_a_fraction_that_vanishes_beside_the_size_is_row_zero() -> None:
    assert MXNET["gather_nd"](LINE, np.float32([[-1e-9]])).tolist() == [10]


def test_the_release_before_the_check_refuses_what_it_would_not_have_checked() -> None:
    assert MXNET["gather_nd"](LINE, np.array([[2]]), release="1.6").tolist() == [30]
    assert MXNET["gather_nd"](LINE, np.float32([[2.5]]), release="1.6").tolist() == [30]
    for bad in (-1, 3):
        with pytest.raises(IndexRefused, match=r"MXNet 1\.6 does not check this"):
            MXNET["gather_nd"](LINE, np.array([[bad]]), release="1.6")
    with pytest.raises(UsageError, match=r"valid: 1\.6 1\.9"):
        MXNET["gather_nd"](LINE, np.array([[0]]), release="1.7")


# Vectors, and what MXNet 1.6.0 was seen to read; None where that is no cell that they name.
#
# It read (1,-1) of [[1,2,3],[4,5,6]] as 3, and -1 and 3 of [10,20,30] as numbers from foreign
# memory.
SEEN = {
    (2.5,): [30],
    (2,): [30],
    (1, 2): [6],
    (0, -3): None,
    (1, -1): None,
    (-1,): None,
    (3,): None,
}


@pytest.mark.parametrize("vector", SEEN)
def test_release_1_6_answers_as_mxnet_1_6_0_did(vector: tuple[float, ...]) -> None:
    data = LINE if len(vector) == 1 else np.array([[1, 2, 3], [4, 5, 6]])
    indices = np.array(vector, np.float32)[:, None]
    if SEEN[vector] is None:
        with pytest.raises(IndexRefused, match="reads another cell or foreign memory"):
            MXNET["gather_nd"](data, indices, release="1.6")
    else:
        assert MXNET["gather_nd"](data, indices, release="1.6").tolist() == SEEN[vector]


def test_the_nd_operators_know_neither_scalars_nor_sizes_of_zero() -> None:
    nothing = np.zeros((2, 0), np.int64)
    for name, inputs in {
        "gather_nd": [(ROWS, nothing), (np.zeros((3, 0)), np.array([[1]]))],
        "take": [(LINE, np.array(1)), (np.float32(3), np.array([0])), (LINE, nothing)],
        "pick": [(LINE, np.array(1)), (np.float32(3), np.array([0]))],
    }.items():
        for pair in inputs:
            with pytest.raises(ShapeRefused, match="neither scalars nor sizes of zero"):
                MXNET[name](*pair)
    with pytest.raises(ShapeRefused, match="neither scalars"):
        MXNET["scatter_nd"](np.zeros((0,)), np.zeros((1, 0), np.int64), shape=(3,))
    assert MXNET["np.take"](LINE, np.array(1)).tolist() == 20
    assert MXNET["np.take"](np.float32(3), np.array([0])).tolist() == [3]
    assert MXNET["np.take"](LINE, nothing, axis=0).shape == (2, 0)


@pytest.mark.parametrize("name", ["gather_nd", "scatter_nd"])
def test_the_shape_of_the_vectors(name: str) -> None:
    def call(indices: np.ndarray) -> None:
        if name == "gather_nd":
            MXNET[name](ROWS, indices)
        else:
            MXNET[name](np.zeros(indices.shape[1:] or (1,)), indices, shape=(3, 2))

    with pytest.raises(ShapeRefused, match="rank 2 or more"):
        call(np.array([1]))
    with pytest.raises(ShapeRefused, match="first axis 3 is the vector length"):
        call(np.zeros((3, 1), np.int64))
    with pytest.raises(ShapeRefused, match="more than 10 numbers"):
        call(np.zeros((11, 1), np.int64))


def test_scatter_nd_writes_into_zeros_and_checks_shapes() -> None:
    written = MXNET["scatter_nd"](np.array([True]), np.array([[2]]), shape=(3,))
    assert_same(written, np.array([False, False, True]))
    for bad in ((2, 2), (3,)):
        with pytest.raises(ShapeRefused, match="data has the wrong shape"):
            MXNET["scatter_nd"](np.zeros(bad), np.array([[0, 1]]), shape=(3, 4))
    for shape in ((3, 0), (-1,), (0,)):
        with pytest.raises(ShapeRefused, match="1 or more each"):
            MXNET["scatter_nd"](np.zeros((1, 1)), np.array([[0]]), shape=shape)
    with pytest.raises(UsageError, match="needs shape"):
        MXNET["scatter_nd"](np.zeros(1), np.array([[0]]))


@pytest.mark.parametrize("vector", [(1, -1), (0, 5), (3, 0)])
def test_scatter_nd_refuses_what_mxnet_does_not_check(vector: tuple[int, int]) -> None:
    with pytest.raises(IndexRefused, match="MXNet does not check this and writes"):
        MXNET["scatter_nd"](np.float32([7]), np.array(vector)[:, None], shape=(3, 3))


def test_scatter_nd_cuts_before_it_judges() -> None:
    indices = np.float32([[-0.5, 2.5]])
    assert MXNET["scatter_nd"](np.float32([7, 8]), indices, shape=(3,)).tolist() == [7, 0, 8]


def test_duplicates_of_scatter_nd_are_warned_about() -> None:
    tensors = {"data": Tensor("data", (2,), "int8"), "indices": Tensor("indices", (1, 2), "int8")}
    assert (
        "nondeterministic"
        in MXNET["scatter_nd"].infer_layout(tensors, {"shape": (3,)}).unspecified_order
    )


def test_the_modes_of_take() -> None:
    indices = np.array([-4, -1, 0, 2, 3])
    assert MXNET["take"](LINE, indices).tolist() == [10, 10, 10, 30, 30]
    assert MXNET["take"](LINE, indices, mode="wrap").tolist() == [30, 30, 10, 30, 10]
    for bad in (-1, 3, 2.2, -0.5, np.nan):
        with pytest.raises(IndexRefused, match="valid: 0 … 2"):
            MXNET["take"](LINE, np.array([bad]), mode="raise")
    assert MXNET["take"](LINE, np.array([1.9]), mode="raise").tolist() == [20]
    assert MXNET["take"](LINE, np.float32([-1.5]), mode="wrap").tolist() == [30]
    assert MXNET["take"](LINE, np.array([True, False])).tolist() == [20, 10]
    with pytest.raises(UsageError, match="valid: clip wrap raise"):
        MXNET["take"](LINE, indices, mode="drop")


@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_what_is_no_number_is_no_row(mode: str) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(IndexRefused):
            MXNET["take"](LINE, np.float32([0, bad]), mode=mode)


def test_np_take_refuses_by_default_and_reads_flat() -> None:
    assert MXNET["np.take"](ROWS, np.array([5, 0])).tolist() == [5, 0]
    assert MXNET["np.take"](ROWS, np.array([[9]]), mode="clip").tolist() == [[5]]
    with pytest.raises(IndexRefused, match="valid: 0 … 5"):
        MXNET["np.take"](ROWS, np.array([-1]))
    for mode in ("clip", "wrap", "raise"):
        with pytest.raises(IndexRefused, match="axis 0 is empty"):
            MXNET["np.take"](np.zeros((0, 2)), np.array([0]), axis=0, mode=mode)
    with pytest.raises(ShapeRefused, match="axis 0 is out of range"):
        MXNET["np.take"](np.float32(3), np.array([0]), axis=0)


def test_pick_takes_one_cell_per_position() -> None:
    index = np.array([0, 1, 9])
    kept = index[:, None]
    assert MXNET["pick"](ROWS, index).tolist() == [0, 3, 5]
    assert MXNET["pick"](ROWS, kept).tolist() == [0, 3, 5]
    assert MXNET["pick"](ROWS, index, keepdims=True).tolist() == [[0], [3], [5]]
    assert MXNET["pick"](ROWS, np.array([-1, 4]), axis=0, mode="wrap").tolist() == [4, 3]
    assert MXNET["pick"](LINE, np.array([1.9])).tolist() == [20]
    with pytest.raises(ShapeRefused, match="index has the wrong shape"):
        MXNET["pick"](ROWS, np.array([0, 1]))
    with pytest.raises(ShapeRefused, match="axis 2 is out of range"):
        MXNET["pick"](ROWS, index, axis=2)
    with pytest.raises(UsageError, match="valid: clip wrap"):
        MXNET["pick"](ROWS, index, mode="raise")


def test_the_types_of_the_time() -> None:
    for name in ("gather_nd", "take", "pick"):
        indices = np.zeros((1, 3) if name == "gather_nd" else 3, np.int64)
        for dtype in ("int16", "uint32", "complex64"):
            with pytest.raises(DtypeRefused, match=rf"cannot be {dtype}"):
                MXNET[name](ROWS.astype(dtype), indices)
            with pytest.raises(DtypeRefused, match=rf"cannot be {dtype}"):
                MXNET[name](ROWS, indices.astype(dtype))
    for name in ("gather_nd", "pick"):
        with pytest.raises(DtypeRefused, match="cannot be bool"):
            MXNET[name](ROWS, np.zeros((1, 3) if name == "gather_nd" else 3, np.bool_))


@pytest.mark.parametrize("bad", [{"axis": 2}, {"axis": None}, {"axis": 0.5}, {"mode": 1}])
def test_a_bad_attribute_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(GscliError):
        gscli.run("mxnet.take", {"a": ROWS, "indices": np.array([0])}, bad)
