"""TensorFlow: the rules in words that the recorded cases leave uncovered, and what is refused."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_same

import gscli
from gscli.base import (
    DtypeRefused,
    GscliError,
    IndexRefused,
    LimitRefused,
    ShapeRefused,
    UsageError,
)
from gscli.cli import run_safely
from gscli.frameworks import load_framework
from gscli.layout.axes import Tensor

TF = load_framework("tensorflow").operators
ROWS = np.array([[1, 2, 3], [4, 5, 6]])
NUMBERS = np.array([10.0, 20.0, 30.0], np.float32)
BAD = np.array([0, -1, 9], np.int32)


def i32(values: object) -> np.ndarray:
    return np.array(values, np.int32)


def empty(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def test_a_bad_index_reads_what_the_device_says() -> None:
    assert_same(TF["gather"](NUMBERS, BAD, device="gpu"), np.float32([10, 0, 0]))
    assert_same(TF["gather"](NUMBERS, BAD, device="xla"), np.float32([10, 10, 30]))
    assert_same(TF["gather_nd"](NUMBERS, BAD[:, None], device="gpu"), np.float32([10, 0, 0]))
    assert_same(TF["gather_nd"](NUMBERS, BAD[:, None], device="xla"), np.float32([10, 10, 30]))
    for name in ("gather", "gather_nd"):
        with pytest.raises(IndexRefused):
            TF[name](NUMBERS, BAD if name == "gather" else BAD[:, None])


@pytest.mark.parametrize("device", ["gpu", "xla", "xla_cpu"])
def test_a_bad_index_drops_its_update_off_the_cpu(device: str) -> None:
    vectors, updates = BAD[:, None], np.float32([1, 2, 3])
    written = TF["scatter_nd"](vectors, updates, i32([3]), device=device)
    assert_same(written, np.float32([1, 0, 0]))
    kept = TF["tensor_scatter_nd_sub"](NUMBERS, vectors, updates, device=device)
    assert_same(kept, np.float32([9, 20, 30]))
    summed = TF["unsorted_segment_sum"](updates, BAD, num_segments=2, device=device)
    assert_same(summed, np.float32([1, 0]))


def test_xla_clamps_every_coordinate_and_not_the_flat_address() -> None:
    picked = TF["gather_nd"](ROWS, i32([[0, 5], [-1, 1], [9, 9]]), device="xla")
    assert picked.tolist() == [3, 2, 6]


def test_a_word_chooses_between_refusing_and_skipping_on_cpu_and_gpu() -> None:
    vectors = BAD[:, None]
    for word in ("", "DEFAULT"):
        assert TF["gather_nd"](NUMBERS, vectors, bad_indices_policy=word, device="gpu")[1] == 0
    ignored = TF["gather_nd"](NUMBERS, vectors, bad_indices_policy="IGNORE")
    assert_same(ignored, np.float32([10, 0, 0]))
    with pytest.raises(IndexRefused):
        TF["gather_nd"](NUMBERS, vectors, bad_indices_policy="ERROR")
    with pytest.raises(UsageError, match="a GPU cannot refuse a bad index"):
        TF["gather_nd"](NUMBERS, vectors, bad_indices_policy="ERROR", device="gpu")
    with pytest.raises(UsageError, match="valid: '' DEFAULT ERROR IGNORE"):
        TF["scatter_nd"](vectors, NUMBERS, i32([3]), bad_indices_policy="ignore")
    written = TF["tensor_scatter_nd_update"](NUMBERS, vectors, NUMBERS, bad_indices_policy="IGNORE")
    assert_same(written, NUMBERS)


@pytest.mark.parametrize(
    ("data", "fill"), [(np.array(["a", "b"]), ""), (np.array([True, True]), False)]
)
def test_skipped_reads_give_the_zero_of_the_type(data: np.ndarray, fill: object) -> None:
    assert TF["gather_nd"](data, i32([[7]]), bad_indices_policy="IGNORE")[0].item() == fill


@pytest.mark.parametrize("device", ["gpu", "xla", "xla_cpu"])
def test_strings_run_on_the_cpu_alone(device: str) -> None:
    words, at = np.array(["a", "b"]), i32([[1]])
    calls = [
        ("gather", (words, at)),
        ("gather_nd", (words, at)),
        ("scatter_nd", (at, words[:1], i32([2]))),
        ("tensor_scatter_nd_update", (words, at, words[:1])),
    ]
    for name, inputs in calls:
        TF[name](*inputs)
        with pytest.raises(DtypeRefused, match="cannot be str"):
            TF[name](*inputs, device=device)


def test_axis_zero_written_out_forgets_the_batch() -> None:
    indices = i32([[0, 1], [1, 1]])
    assert TF["gather"](ROWS, indices, axis=0, batch_dims=1).shape == (2, 2, 3)
    assert TF["gather"](ROWS, indices, axis=0, batch_dims=99).shape == (2, 2, 3)
    with pytest.raises(ShapeRefused, match="batch_dims is beyond the axis"):
        TF["gather"](ROWS, indices, axis=-2, batch_dims=1)
    assert TF["gather"](ROWS, indices, axis=1, batch_dims=1).tolist() == [[1, 2], [5, 5]]


def test_no_axis_means_batch_dims_as_written() -> None:
    indices = i32([[0, 1], [1, 1]])
    assert_same(
        TF["gather"](ROWS, indices, batch_dims=-1),
        TF["gather"](ROWS, indices, batch_dims=1, axis=-1),
    )


def test_batch_dims_of_gather_reach_the_whole_rank_of_indices() -> None:
    assert TF["gather"](ROWS, i32([1, 0]), axis=1, batch_dims=1).tolist() == [2, 4]
    for batch_dims in (2, -2):
        with pytest.raises(ShapeRefused, match="valid: -1 … 1"):
            TF["gather"](ROWS, i32([1, 0]), axis=1, batch_dims=batch_dims)
    with pytest.raises(ShapeRefused, match="batch axes differ"):
        TF["gather"](ROWS, i32([[0], [1], [2]]), batch_dims=1)


def test_batch_gather_speaks_of_no_option_that_it_does_not_have() -> None:
    with pytest.raises(ShapeRefused, match="batch axes differ") as differing:
        TF["batch_gather"](ROWS, i32([[0], [1], [2]]))
    with pytest.raises(ShapeRefused, match="indices has more axes than params") as longer:
        TF["batch_gather"](ROWS[0], i32([[0]]))
    for refusal in (differing, longer):
        assert "batch_dims" not in str(refusal.value)


def test_gather_looks_at_no_index_of_an_empty_result() -> None:
    assert TF["gather"](empty(3, 0), i32([5, -1])).shape == (2, 0)
    assert TF["gather"](empty(0, 3), i32([9]), axis=1).shape == (0, 1)
    with pytest.raises(IndexRefused, match="axis 0 is empty"):
        TF["gather"](empty(0, 2), i32([0]))
    assert_same(TF["gather"](empty(0, 2), i32([0]), device="gpu"), empty(1, 2))
    with pytest.raises(IndexRefused):
        TF["gather"](empty(0, 2), i32([0]), device="xla")


def test_gather_nd_asks_nothing_of_empty_params() -> None:
    for word in ("", "IGNORE"):
        with pytest.raises(IndexRefused, match="params is empty"):
            TF["gather_nd"](empty(3, 0), i32([[2]]), bad_indices_policy=word)
    assert TF["gather_nd"](empty(3, 0), np.zeros((0, 1), np.int32)).shape == (0, 0)


def test_an_empty_vector_copies_all_of_params() -> None:
    assert TF["gather_nd"](ROWS, np.zeros((2, 0), np.int32)).tolist() == [ROWS.tolist()] * 2


def test_vectors_have_at_most_seven_numbers_batch_included() -> None:
    wide = np.arange(2).reshape((1,) * 7 + (2,))
    seven, eight = np.zeros((1, 7), np.int32), np.zeros((1, 8), np.int32)
    assert TF["gather_nd"](wide, seven).tolist() == [[0, 1]]
    with pytest.raises(ShapeRefused, match="more than 7 numbers"):
        TF["gather_nd"](wide, eight)
    with pytest.raises(ShapeRefused, match="more than 7 numbers"):
        TF["gather_nd"](wide, seven, batch_dims=1)
    with pytest.raises(ShapeRefused, match="more than 7 numbers"):
        TF["scatter_nd"](eight, np.array([5]), i32([1] * 8))


def test_batches_of_gather_nd() -> None:
    assert TF["gather_nd"](ROWS, i32([[2], [0]]), batch_dims=1).tolist() == [3, 4]
    for batch_dims in (-1, 2):
        with pytest.raises(ShapeRefused, match="valid: 0 … 1"):
            TF["gather_nd"](ROWS, i32([[2], [0]]), batch_dims=batch_dims)


def test_sums_take_the_type_of_updates() -> None:
    vectors, shape = i32([[0], [0]]), i32([1])

    def total(values: np.ndarray) -> object:
        return TF["scatter_nd"](vectors, values, shape)[0].item()

    assert total(np.array([100, 100], np.int8)) == -56
    assert total(np.array([200, 100], np.uint8)) == 44
    assert total(np.array([True, True])) is True
    assert total(np.array(["left", "right"])) == "leftright"
    assert total(np.array([60000, 60000], np.float16)) == np.inf


@pytest.mark.parametrize("name", ["scatter_nd", "tensor_scatter_nd_update"])
def test_scatter_takes_no_single_vector_and_no_scalar(name: str) -> None:
    def scatter(indices: object, updates: object) -> None:
        vectors, values = i32(indices), np.float32(updates)
        if name == "scatter_nd":
            TF[name](vectors, values, i32([3]))
        else:
            TF[name](NUMBERS, vectors, values)

    with pytest.raises(ShapeRefused, match="TensorFlow takes no single vector"):
        scatter([1], 7.0)
    with pytest.raises(ShapeRefused, match="rank 0 is not allowed"):
        scatter(1, 7.0)
    with pytest.raises(ShapeRefused, match="updates has the wrong shape"):
        scatter([[0], [2]], 7.0)
    with pytest.raises(ShapeRefused, match="index vectors are empty"):
        scatter(np.zeros((0, 0)), np.zeros((0, 3)))


def test_nothing_is_written_into_an_empty_tensor() -> None:
    with pytest.raises(ShapeRefused, match="output is empty"):
        TF["scatter_nd"](i32([[1]]), empty(1, 0), i32([3, 0]))
    none = np.zeros((0, 1), np.int32)
    assert TF["scatter_nd"](none, empty(0, 0), i32([3, 0])).shape == (3, 0)
    assert TF["tensor_scatter_nd_add"](empty(0), none, empty(0)).shape == (0,)


def test_the_shape_of_scatter_nd() -> None:
    vectors, updates = i32([[0]]), np.float32([1])
    with pytest.raises(DtypeRefused, match="shape must have the type of indices"):
        TF["scatter_nd"](vectors, updates, np.array([3], np.int64))
    for shape in ([[3]], 3):
        with pytest.raises(ShapeRefused, match="shape must be a vector"):
            TF["scatter_nd"](vectors, updates, i32(shape))
    with pytest.raises(ShapeRefused, match="0 or more"):
        TF["scatter_nd"](vectors, updates, i32([-3]))
    with pytest.raises(LimitRefused):
        TF["scatter_nd"](vectors.astype(np.int64), updates, np.array([10**13]))
    with pytest.raises(UsageError, match=r"tensorflow\.scatter_nd needs shape"):
        gscli.run("tensorflow.scatter_nd", {"indices": vectors, "updates": updates})


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("tensor_scatter_nd_update", ()),
        ("tensor_scatter_nd_add", ("bool", "str")),
        ("tensor_scatter_nd_sub", ("bool", "str")),
        ("tensor_scatter_nd_max", ("bool", "str", "complex64")),
        ("tensor_scatter_nd_min", ("bool", "str", "complex64")),
    ],
)
def test_types_of_the_tensor_family(name: str, refused: tuple[str, ...]) -> None:
    for dtype in ("bool", "int8", "uint64", "float16", "bfloat16", "complex64", "str"):
        kind = {"bfloat16": ml_dtypes.bfloat16, "str": np.str_}.get(dtype, dtype)
        data = np.array([1, 1]).astype(kind)
        if dtype in refused:
            with pytest.raises(DtypeRefused, match=f"tensor cannot be {dtype}"):
                TF[name](data, i32([[1]]), data[:1])
        else:
            assert TF[name](data, i32([[1]]), data[:1]).dtype.kind == data.dtype.kind


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_an_update_must_compare_beyond_to_win(dtype: str) -> None:
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    tensor = np.array([1, np.nan, 3, -np.inf, np.inf]).astype(kind)
    updates = np.array([np.nan, 1, np.inf, np.nan, np.nan]).astype(kind)
    vectors = i32([[0], [1], [2], [3], [4]])
    largest = TF["tensor_scatter_nd_max"](tensor, vectors, updates)
    assert_same(largest, np.array([1, np.nan, np.inf, -np.inf, np.inf]).astype(kind))
    smallest = TF["tensor_scatter_nd_min"](tensor, vectors, updates)
    assert_same(smallest, np.array([1, np.nan, 3, -np.inf, np.inf]).astype(kind))
    compiled = TF["tensor_scatter_nd_max"](tensor, vectors, updates, device="xla")
    assert_same(compiled, largest)


def test_the_types_of_indices_differ_between_the_families() -> None:
    short = np.array([[1]], np.int16)
    assert TF["gather"](NUMBERS, short).shape == (1, 1)
    assert TF["gather_nd"](NUMBERS, short).shape == (1,)
    with pytest.raises(DtypeRefused, match=r"indices cannot be int16; .* valid: int32 int64"):
        TF["scatter_nd"](short, NUMBERS[:1], np.array([3], np.int16))
    with pytest.raises(DtypeRefused, match="indices cannot be uint16"):
        TF["tensor_scatter_nd_update"](NUMBERS, short.astype(np.uint16), NUMBERS[:1])
    with pytest.raises(DtypeRefused, match="indices must be integers"):
        TF["gather"](NUMBERS, np.array([True]))
    ids = np.array([0, 0, 0], np.int16)
    assert TF["unsorted_segment_sum"](NUMBERS, ids, num_segments=1).shape == (1,)
    assert TF["unsorted_segment_mean"](NUMBERS, ids, num_segments=1).shape == (1,)
    for name in ("prod", "max", "min"):
        with pytest.raises(DtypeRefused, match="segment_ids cannot be int16"):
            TF[f"unsorted_segment_{name}"](NUMBERS, ids, num_segments=1)


def test_an_empty_tensor_takes_indices_and_updates_without_a_number() -> None:
    for shape in ((0,), (2, 0), (0, 1)):
        indices, updates = np.zeros(shape, np.int32), empty(*shape[:1], *[0] * (shape == (2, 0)))
        assert TF["scatter_nd"](indices, updates, i32([0])).shape == (0,)
        for name in ("update", "add", "sub", "max", "min"):
            assert TF[f"tensor_scatter_nd_{name}"](empty(0), indices, updates).shape == (0,)
    with pytest.raises(ShapeRefused, match="output is empty"):
        TF["scatter_nd"](np.zeros((2, 0), np.int32), empty(2, 3), i32([0]))
    with pytest.raises(ShapeRefused, match="rank 1 is not allowed"):
        TF["scatter_nd"](np.zeros(0, np.int32), empty(0), i32([3]))


def test_a_negative_segment_is_dropped_and_a_large_one_refused() -> None:
    ids = i32([-7, 1, 1])
    assert TF["unsorted_segment_sum"](NUMBERS, ids, num_segments=2).tolist() == [0, 50]
    with pytest.raises(IndexRefused, match=r"segment_ids\[1\] = 1"):
        TF["unsorted_segment_sum"](NUMBERS, ids, num_segments=1)
    assert TF["unsorted_segment_sum"](empty(3, 0), i32([0, 9, 9]), num_segments=2).shape == (2, 0)
    with pytest.raises(ShapeRefused, match="num_segments is negative"):
        TF["unsorted_segment_sum"](NUMBERS, ids, num_segments=-1)


@pytest.mark.parametrize(
    ("name", "dtype", "value"),
    [
        ("sum", "float32", 0.0),
        ("prod", "int8", 1),
        ("mean", "float16", 0.0),
        ("max", "float64", -1.7976931348623157e308),
        ("max", "uint16", 0),
        ("min", "float32", 3.4028234663852886e38),
        ("min", "int16", 32767),
    ],
)
def test_an_empty_segment_holds_a_finite_number(name: str, dtype: str, value: float) -> None:
    data = np.array([5], dtype)
    found = TF[f"unsorted_segment_{name}"](data, i32([1]), num_segments=2)
    assert found[0].item() == value
    assert found.dtype == data.dtype


def test_infinities_do_not_pass_the_finite_start() -> None:
    data = np.float32([-np.inf])
    lowest = TF["unsorted_segment_max"](data, i32([0]), num_segments=1)
    assert lowest[0] == np.finfo(np.float32).min


def test_the_mean_of_integers_is_a_quotient_of_their_sum() -> None:
    ids = i32([0, 0, 1])
    wrapped = TF["unsorted_segment_mean"](np.array([100, 101, 7], np.int8), ids, num_segments=2)
    assert_same(wrapped, np.float32([-27.5, 7]))
    exact = TF["unsorted_segment_mean"](np.array([1, 2, 7], np.int64), ids, num_segments=3)
    assert_same(exact, np.array([1.5, 7, 0]))
    with pytest.raises(DtypeRefused, match="data cannot be complex64"):
        TF["unsorted_segment_mean"](np.array([1j], np.complex64), i32([0]), num_segments=1)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max"])
def test_a_refused_segment_far_below_zero_is_drawn(name: str, tmp_path: Path) -> None:
    words = ["tf", f"segment-{name}", "[1.5,2.5]", f"[{-(2**63)},1]"]
    assert run_safely([*words, "--svg", str(tmp_path / "refused.svg")]) == 65


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_a_segment_of_one_row_is_that_row(name: str, tmp_path: Path) -> None:
    """As TensorFlow 2.21.0 copies it: 0 + -0.0 would be 0.0, and 1 * inf+0i is inf+nani."""
    run = TF[f"segment_{name}"]
    inf = np.inf
    lone = np.array([complex(inf, 0), complex(-0.0, -0.0), complex(1, inf), complex(2, 0)])
    assert_same(run(lone, i32([0, 1, 2, 3])), lone)
    assert_same(
        run(np.repeat(lone[:, None], 9, 1), i32([0, 1, 2, 3])), np.repeat(lone[:, None], 9, 1)
    )
    pairs = np.array([-0.0, -0.0, -0.0, 5], np.float32)
    assert_same(run(pairs, i32([0, 1, 1, 3]))[:2], np.array([-0.0, 0], np.float32))
    trace = gscli.trace(f"tensorflow.segment_{name}", {"data": lone, "segment_ids": [0, 1, 2, 3]})
    first = next(iter(trace.entries(1))).change
    assert first is not None
    assert_same(first.new.reshape(1), lone[:1])
    np.save(tmp_path / "data.npy", lone)
    np.save(tmp_path / "ids.npy", i32([0, 1, 2, 3]))
    words = [str(tmp_path / "data.npy"), str(tmp_path / "ids.npy")]
    assert run_safely(["tf", f"segment-{name}", *words, "-o", str(tmp_path / "out.npy")]) == 0
    assert_same(np.load(tmp_path / "out.npy"), lone)


def test_segments_of_more_axes() -> None:
    data = np.arange(8).reshape(2, 2, 2)
    found = TF["unsorted_segment_max"](data, i32([[0, 1], [1, 0]]), num_segments=2)
    assert found.tolist() == [[6, 7], [4, 5]]
    with pytest.raises(ShapeRefused, match="data does not start with the shape of segment_ids"):
        TF["unsorted_segment_max"](data, i32([0, 1, 1]), num_segments=2)
    with pytest.raises(ShapeRefused, match="data does not start"):
        TF["unsorted_segment_max"](NUMBERS, i32([[0]]), num_segments=2)


def test_the_last_update_stays_and_only_the_cpu_promises_it() -> None:
    operator = TF["tensor_scatter_nd_update"]
    vectors, updates = i32([[1], [1]]), np.float32([7, 8])
    assert operator(NUMBERS, vectors, updates).tolist() == [10, 8, 30]
    tensors = {
        "tensor": Tensor("tensor", (3,), "float32"),
        "indices": Tensor("indices", (2, 1), "int32"),
        "updates": Tensor("updates", (2,), "float32"),
    }
    assert not operator.infer_layout(tensors, {}).unspecified_order
    assert "on the CPU only" in operator.infer_layout(tensors, {"device": "gpu"}).unspecified_order


@pytest.mark.parametrize("bad", [{"axis": 2}, {"axis": -3}, {"axis": "x"}, {"axes": 0}])
def test_a_bad_axis_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(GscliError):
        gscli.run("tensorflow.gather", {"params": ROWS, "indices": i32([0])}, bad)


def test_a_result_that_no_array_can_hold_is_refused() -> None:
    with pytest.raises(LimitRefused, match="79 axes"):
        TF["gather"](np.zeros((1,) * 40), np.zeros((1,) * 40, np.int32))
    wide = np.zeros((0, 10**13), np.int8)
    with pytest.raises(LimitRefused, match="no array can have the shape"):
        TF["gather"](wide, wide.astype(np.int32), axis=0)


def test_means_of_complex_segments_keep_infinities() -> None:
    """Recorded with TensorFlow 2.21: the sum is divided as compilers of C divide it."""
    inf, nan = np.inf, np.nan
    cases: list[tuple[list[complex], complex]] = [
        ([complex(inf, -2.5), complex(-2.5, inf)], complex(inf, inf)),
        ([complex(inf, 0), complex(nan, -inf), complex(-inf, 0)], complex(nan, -inf)),
        ([0j, complex(0, inf)], complex(nan, inf)),
    ]
    for rows, expected in cases:
        inputs = {"data": np.array(rows, np.complex64), "segment_ids": np.zeros(len(rows), int)}
        found = gscli.run("tensorflow.segment_mean", inputs, {})
        assert_same(found, np.array([expected], np.complex64))
