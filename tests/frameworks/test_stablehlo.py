"""StableHLO: the specification's rules and XLA's, and the other operators as cases of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from conftest import Array, assert_same

import gscli
from gscli.base import DtypeRefused, GscliError, ShapeRefused, UsageError

CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def gather(operand: Any, start_indices: Any, **attrs: Any) -> Array:
    """StableHLO gather on arrays."""
    inputs = {"operand": np.asarray(operand), "start_indices": np.asarray(start_indices)}
    return gscli.run("stablehlo.gather", inputs, attrs)


def scatter(inputs: Any, scatter_indices: Any, updates: Any, **attrs: Any) -> Array:
    """StableHLO scatter on arrays."""
    arrays = {
        "inputs": np.asarray(inputs),
        "scatter_indices": np.asarray(scatter_indices),
        "updates": np.asarray(updates),
    }
    return gscli.run("stablehlo.scatter", arrays, attrs)


WINDOWS = {
    "update_window_dims": [1],
    "scatter_dims_to_operand_dims": [0],
    "index_vector_dim": 1,
    "update_computation": "add",
}


def test_a_window_partly_outside_is_judged_cell_by_cell_or_whole() -> None:
    updates = np.array([[1, 2, 3], [10, 20, 30], [100, 200, 300]])
    starts = [[-1], [1], [3]]
    cells = scatter(np.zeros(5, int), starts, updates, **WINDOWS, xla=False)
    assert cells.tolist() == [2, 13, 20, 130, 200]
    whole = scatter(np.zeros(5, int), starts, updates, **WINDOWS, xla=True)
    assert whole.tolist() == [0, 10, 20, 30, 0]


def test_a_window_may_leave_on_two_axes_and_far_away() -> None:
    numbers = {
        "update_window_dims": [1, 2],
        "scatter_dims_to_operand_dims": [0, 1],
        "index_vector_dim": 1,
        "xla": False,
    }
    starts = [[-1, 2], [2**62, 0], [-(2**63), 1]]
    got = scatter(np.zeros((2, 3), int), starts, np.ones((3, 2, 2), int), **numbers)
    assert got.tolist() == [[0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("set", 3), ("add", 14), ("sub", 4), ("mul", 54), ("max", 9), ("min", 2)],
)
def test_update_computations(name: str, expected: int) -> None:
    got = scatter(
        [9], [[0], [0]], [2, 3], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0],
        index_vector_dim=1, update_computation=name,
    )  # fmt: skip
    assert got.tolist() == [expected]


@pytest.mark.parametrize(
    ("name", "expected"), [("add", True), ("mul", False), ("max", True), ("min", False)]
)
def test_bool_computes_with_or_and_and(name: str, expected: bool) -> None:
    numbers = {"inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0]}
    got = scatter([True], [0], False, **numbers, update_computation=name)
    assert got.tolist() == [expected]
    with pytest.raises(DtypeRefused, match="inputs cannot be bool"):
        scatter([True], [0], False, **numbers, update_computation="sub")


def test_vectors_may_run_along_any_axis_or_be_single_numbers() -> None:
    numbers = {"offset_dims": [1], "collapsed_slice_dims": [0, 1], "slice_sizes": [1, 1, 4]}
    vectors = np.array([[0, 2], [1, 0], [1, 1]])
    rows = CUBE[tuple(vectors.T)]
    last = gather(CUBE, vectors, start_index_map=[0, 1], index_vector_dim=1, **numbers)
    first = gather(CUBE, vectors.T, start_index_map=[0, 1], index_vector_dim=0, **numbers)
    swapped = gather(CUBE, vectors[:, ::-1], start_index_map=[1, 0], index_vector_dim=1, **numbers)
    assert_same(last, rows)
    assert_same(first, rows)
    assert_same(swapped, rows)
    single = gather(
        CUBE, np.array(1), offset_dims=[0, 1], collapsed_slice_dims=[0], start_index_map=[0],
        index_vector_dim=0, slice_sizes=[1, 3, 4],
    )  # fmt: skip
    assert_same(single, CUBE[1])


def test_starts_are_moved_before_the_offset_is_added() -> None:
    got = gather(
        np.arange(6), [[-9], [2], [9]], offset_dims=[1], start_index_map=[0], index_vector_dim=1,
        slice_sizes=[4],
    )  # fmt: skip
    assert got.tolist() == [[0, 1, 2, 3], [2, 3, 4, 5], [2, 3, 4, 5]]


def test_empty_vectors_address_the_first_window() -> None:
    got = gather(
        CUBE, np.zeros((2, 0), int), offset_dims=[1, 2, 3], index_vector_dim=1,
        slice_sizes=[1, 2, 1],
    )  # fmt: skip
    assert got.ravel().tolist() == [0, 4, 0, 4]
    numbers = {"inserted_window_dims": [0], "index_vector_dim": 1, "update_computation": "add"}
    summed = scatter(np.zeros(3), np.zeros((3, 0), int), np.array([1.0, 10, 100]), **numbers)
    assert summed.tolist() == [111, 0, 0]


def test_slices_of_size_zero() -> None:
    empty = gather(
        np.zeros((0, 3)), [[5]], offset_dims=[1, 2], start_index_map=[0], index_vector_dim=1,
        slice_sizes=[0, 3],
    )  # fmt: skip
    assert empty.shape == (1, 0, 3)
    with pytest.raises(ShapeRefused, match="collapsed_slice_dims does not fit"):
        gather(
            np.zeros((0, 3)), [[0]], offset_dims=[1], collapsed_slice_dims=[0],
            start_index_map=[0], index_vector_dim=1, slice_sizes=[0, 3],
        )  # fmt: skip


def test_take_along_one_axis_is_a_case_of_it() -> None:
    indices = np.array([[2, 0], [1, 1]])
    got = gather(
        CUBE, indices, offset_dims=[0, 3], collapsed_slice_dims=[1], start_index_map=[1],
        index_vector_dim=2, slice_sizes=[2, 1, 4],
    )  # fmt: skip
    assert_same(got, gscli.onnx.gather(CUBE, indices, axis=1))


def test_gather_elements_is_a_case_of_it() -> None:
    indices = np.array([[[2, 0, 1, 1]], [[0, 0, 2, 1]]])
    got = gather(
        CUBE, indices, collapsed_slice_dims=[1], operand_batching_dims=[0, 2],
        start_indices_batching_dims=[0, 2], start_index_map=[1], index_vector_dim=3,
        slice_sizes=[1, 1, 1],
    )  # fmt: skip
    assert_same(got, gscli.onnx.gather_elements(CUBE, indices, axis=1))


def test_gather_nd_with_batches_is_a_case_of_it() -> None:
    indices = np.array([[[2], [0]], [[1], [1]]])
    got = gather(
        CUBE, indices, offset_dims=[2], collapsed_slice_dims=[1], operand_batching_dims=[0],
        start_indices_batching_dims=[0], start_index_map=[1], index_vector_dim=2,
        slice_sizes=[1, 1, 4],
    )  # fmt: skip
    assert_same(got, gscli.onnx.gather_nd(CUBE, indices, batch_dims=1))


def test_gather_with_batch_dims_is_a_case_of_it() -> None:
    indices = np.array([[3, 0, 1], [1, 1, 2]])
    got = gather(
        CUBE, indices, offset_dims=[1], collapsed_slice_dims=[2], operand_batching_dims=[0],
        start_indices_batching_dims=[0], start_index_map=[2], index_vector_dim=2,
        slice_sizes=[1, 3, 1],
    )  # fmt: skip
    assert_same(got, gscli.tensorflow.gather(CUBE, indices, axis=2, batch_dims=1))


def test_vectors_on_the_first_axis_are_mxnets() -> None:
    indices = np.array([[1, 0], [2, 2]])
    got = gather(
        CUBE, indices, offset_dims=[1], collapsed_slice_dims=[0, 1], start_index_map=[0, 1],
        index_vector_dim=0, slice_sizes=[1, 1, 4],
    )  # fmt: skip
    assert_same(got, gscli.mxnet.gather_nd(CUBE, indices))


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter_nd_is_a_case_of_it(reduction: str) -> None:
    indices = np.array([[0, 2], [1, 0]])
    updates = np.float32([[5, 6, 7, 8], [1, 2, 3, 4]])
    got = scatter(
        CUBE, indices, updates, update_window_dims=[1], inserted_window_dims=[0, 1],
        scatter_dims_to_operand_dims=[0, 1], index_vector_dim=1,
        update_computation="set" if reduction == "none" else reduction,
    )  # fmt: skip
    assert_same(got, gscli.onnx.scatter_nd(CUBE, indices, updates, reduction=reduction))


def test_scatter_elements_is_a_case_of_it() -> None:
    indices = np.array([[[2, 0, 1, 1]], [[0, 0, 2, 1]]])
    updates = np.float32(indices) * 100
    got = scatter(
        CUBE, indices, updates, inserted_window_dims=[1], input_batching_dims=[0, 2],
        scatter_indices_batching_dims=[0, 2], scatter_dims_to_operand_dims=[1],
        index_vector_dim=3, update_computation="add",
    )  # fmt: skip
    assert_same(got, gscli.onnx.scatter_elements(CUBE, indices, updates, axis=1, reduction="add"))


GOOD = {
    "offset_dims": [1],
    "collapsed_slice_dims": [0, 1],
    "start_index_map": [0, 1],
    "index_vector_dim": 1,
    "slice_sizes": [1, 1, 4],
}


@pytest.mark.parametrize(
    ("change", "where", "valid"),
    [
        ({"index_vector_dim": 3}, "index_vector_dim = 3", "0 … 2"),
        ({"index_vector_dim": -1}, "index_vector_dim = -1", "0 … 2"),
        ({"start_index_map": [0]}, "start_index_map = [0]", "2 numbers, one per number of a"),
        ({"start_index_map": [0, 0]}, "start_index_map = [0,0]", "numbers that do not repeat"),
        ({"start_index_map": [0, 3]}, "start_index_map = [0,3]", "0 … 2, the axes of operand"),
        ({"offset_dims": [2]}, "offset_dims = [2]", "0 … 1, the axes of the result"),
        ({"offset_dims": []}, "offset_dims = []", "1 number: 3 axes without"),
        ({"collapsed_slice_dims": [1, 0]}, "collapsed_slice_dims = [1,0]", "ascending numbers"),
        ({"collapsed_slice_dims": [0, 0]}, "collapsed_slice_dims = [0,0]", "do not repeat"),
        ({"slice_sizes": [1, 2, 4]}, "slice_sizes[1] = 2", "0 … 1"),
        ({"slice_sizes": [1, 1, 5]}, "slice_sizes[2] = 5", "0 … 4"),
        ({"slice_sizes": [1, 1, -1]}, "slice_sizes[2] = -1", "0 … 4"),
        ({"slice_sizes": [1, 1]}, "slice_sizes = [1,1]", "3 sizes, one per axis"),
        (
            {"operand_batching_dims": [0], "start_indices_batching_dims": [0]},
            "collapsed_slice_dims = [0,1]", "axes outside operand_batching_dims [0]",
        ),
        ({"start_indices_batching_dims": [0]}, "start_indices_batching_dims = [0]", "0 numbers"),
        (
            {"start_indices_batching_dims": [1]}, "start_indices_batching_dims = [1]",
            "axes other than index_vector_dim 1",
        ),
        ({"start_indices_batching_dims": [2]}, "start_indices_batching_dims = [2]", "0 … 1"),
    ],
)  # fmt: skip
def test_constraints_name_the_numbers_that_clash(
    change: dict[str, Any], where: str, valid: str
) -> None:
    vectors = np.array([[0, 2], [1, 0], [1, 1]])
    assert gather(CUBE, vectors, **GOOD).shape == (3, 4)
    with pytest.raises(ShapeRefused) as caught:
        gather(CUBE, vectors, **GOOD | change)
    assert caught.value.where == where
    assert valid in caught.value.valid


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        (np.ones((2, 4)), "the window is larger than inputs"),
        (np.ones((3, 3)), "updates has the wrong shape"),
        (np.ones(2), "updates has the wrong number of axes"),
        (np.ones((2, 3), np.float32), "updates must have inputs' element type"),
    ],
)
def test_updates_must_fit(updates: Array, message: str) -> None:
    with pytest.raises(GscliError, match=message):
        scatter(np.zeros(3), [[0], [1]], updates, **WINDOWS)


def test_batch_sizes_must_agree() -> None:
    with pytest.raises(ShapeRefused, match="batch axes differ"):
        gather(
            CUBE, np.zeros((3, 1), int), offset_dims=[1], collapsed_slice_dims=[1],
            operand_batching_dims=[0], start_indices_batching_dims=[0], start_index_map=[1],
            index_vector_dim=1, slice_sizes=[1, 1, 4],
        )  # fmt: skip


def test_batching_axes_walk_alone_and_one_by_one() -> None:
    numbers = {
        "offset_dims": [1], "collapsed_slice_dims": [1], "operand_batching_dims": [0],
        "start_indices_batching_dims": [0], "start_index_map": [1], "index_vector_dim": 1,
        "slice_sizes": [1, 1, 4],
    }  # fmt: skip
    assert_same(gather(CUBE, [[2], [0]], **numbers), CUBE[[0, 1], [2, 0]])
    with pytest.raises(ShapeRefused, match=r"slice_sizes\[0\] = 2"):
        gather(CUBE, [[2], [0]], **numbers | {"slice_sizes": [2, 1, 4]})
    with pytest.raises(ShapeRefused, match=r"axes outside operand_batching_dims \[0\]"):
        gather(CUBE, [[2], [0]], **numbers | {"start_index_map": [0]})


def test_strings_and_unknown_computations_are_refused() -> None:
    with pytest.raises(DtypeRefused, match="operand cannot be str"):
        gather(["a"], [0], collapsed_slice_dims=[0], start_index_map=[0], slice_sizes=[1])
    with pytest.raises(UsageError, match="unknown update_computation"):
        scatter([1], [[0]], [1], **WINDOWS | {"update_computation": "mean"})


def test_the_specifications_rule_is_the_default_everywhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Python, the shell and a batch job give what the help says: cells outside are left out."""
    from gscli.cli import run_safely

    starts, updates = np.array([[-2], [1], [4]]), np.arange(1, 10).reshape(3, 3)
    assert scatter(np.zeros(5, int), starts, updates, **WINDOWS).tolist() == [3, 4, 5, 6, 7]
    texts = ["[0,0,0,0,0]", "[[-2],[1],[4]]", "[[1,2,3],[4,5,6],[7,8,9]]"]
    flags = [f"--{name.replace('_', '-')}={_text(value)}" for name, value in WINDOWS.items()]
    assert run_safely(["stablehlo", "scatter", *texts, *flags, "--json=output"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == [3, 4, 5, 6, 7]


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
