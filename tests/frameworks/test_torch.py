"""PyTorch: the rules in words that the recorded cases leave uncovered, and what is refused.

The expected values are what PyTorch 2.13 answered on a CPU.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Array, assert_same

import gscli
from gscli.base import DtypeRefused, GscliError, IndexRefused, ShapeRefused, UsageError
from gscli.frameworks import load_framework
from gscli.layout.axes import Tensor

TORCH = load_framework("torch").operators
TABLE = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
LINE = np.array([1, 2, 3], np.float32)
HALVES = ((np.dtype(np.float16), 5000, 2048), (np.dtype(ml_dtypes.bfloat16), 600, 256))
UNSIGNED = ("uint16", "uint32", "uint64")


def run(name: str, *inputs: Any, **attrs: Any) -> Array:
    return TORCH[name](*map(np.asarray, inputs), **attrs)


def zeros(*shape: int) -> Array:
    return np.zeros(shape, np.int64)


@pytest.mark.parametrize(
    "name", ["gather", "scatter_add", "index_select", "index_add", "index_copy", "index_reduce"]
)
def test_most_operators_refuse_negative_indices(name: str) -> None:
    inputs = [LINE, [0, -1], [5.0, 6.0]]
    data = [np.float32(i) if position == 2 else i for position, i in enumerate(inputs)]
    attrs: dict[str, object] = {"dim": 0}
    if name == "index_reduce":
        attrs["reduce"] = "amax"
    count = len(TORCH[name].inputs)
    with pytest.raises(IndexRefused, match="negative index"):
        run(name, *data[:count], **attrs)


def test_four_operators_count_from_the_end() -> None:
    assert run("index_fill", LINE, [-1, -3], dim=0, value=9).tolist() == [9, 2, 9]
    assert run("take", TABLE, [[-1, 0]]).tolist() == [[12, 1]]
    assert run("put_", LINE, [-1], np.float32([9])).tolist() == [1, 2, 9]
    assert TORCH["index_put_"](LINE, np.array([-1]), np.float32(9)).tolist() == [1, 2, 9]
    for bad in (3, -4):
        with pytest.raises(IndexRefused, match="valid: -3 … 2"):
            run("index_fill", LINE, [bad], dim=0, value=9)


def test_take_along_dim_wraps_with_a_dim_and_refuses_without() -> None:
    wrapped = run("take_along_dim", LINE, [-9, 9, -1, 3, -(2**63)], dim=0)
    assert wrapped.tolist() == [1, 1, 3, 1, 2]
    assert run("take_along_dim", TABLE, [[0, 11], [5, 1]]).tolist() == [1, 12, 6, 2]
    for bad in (-1, 12):
        with pytest.raises(IndexRefused, match="valid: 0 … 11"):
            run("take_along_dim", TABLE, [bad])
    assert run("take_along_dim", LINE[None], [[0], [1]], dim=1).tolist() == [[1], [2]]
    with pytest.raises(ShapeRefused, match="as many axes"):
        run("take_along_dim", TABLE, [0], dim=1)
    with pytest.raises(ShapeRefused, match="rank 0 is not allowed"):
        run("take_along_dim", np.float32(5), 0, dim=0)
    with pytest.raises(IndexRefused, match="axis 0 is empty"):
        run("take_along_dim", zeros(0), [0], dim=0)
    with pytest.raises(DtypeRefused, match="indices cannot be int32"):
        run("take_along_dim", LINE, np.zeros(1, np.int32), dim=0)
    assert run("take_along_dim", LINE, np.zeros(1, np.int32)).tolist() == [1]


def test_rank_0_counts_as_one_axis() -> None:
    five = np.float32(5)
    assert run("gather", five, [0, 0, 0], dim=0).tolist() == [5, 5, 5]
    assert run("gather", LINE, 2, dim=-1).shape == ()
    assert run("scatter", five, [0, 0], np.float32([9, 8]), dim=-1).item() == 8
    assert run("scatter", LINE, 1, np.float32([9, 8, 7]), dim=0).tolist() == [1, 9, 3]
    assert run("index_select", five, [0], dim=0).shape == ()
    assert run("index_select", TABLE, 2, dim=0).shape == (1, 4)
    assert run("index_add", five, 0, np.float32(1), dim=0).item() == 6
    assert run("index_copy", five, [0, 0], np.float32([1, 2]), dim=0).item() == 2
    assert run("index_copy", LINE, [1], np.float32(9), dim=0).tolist() == [1, 9, 3]
    for dim in (1, -2):
        with pytest.raises(ShapeRefused, match=r"dim -?[12] is out of range"):
            run("gather", five, [0], dim=dim)
    with pytest.raises(ShapeRefused, match="as many axes"):
        run("gather", five, [[0]], dim=0)
    for index in ([0, 0], zeros(0)):
        with pytest.raises(ShapeRefused, match="rank 0 takes one index"):
            run("index_select", five, index, dim=0)
    for source in (np.float32([1]), np.float32([[1]])):
        with pytest.raises(ShapeRefused, match="source has the wrong shape"):
            run("index_add", five, [0], source, dim=0)
    with pytest.raises(ShapeRefused, match="source has the wrong shape"):
        run("index_add", LINE, [0], np.float32(1), dim=0)


def test_an_index_without_entries_may_have_any_rank_and_type() -> None:
    for empty in (zeros(0), zeros(2, 0, 5), np.zeros((0, 9)), np.zeros(0, np.int16)):
        assert run("gather", TABLE, empty, dim=0).shape == empty.shape
        assert_same(run("scatter", TABLE, empty, np.float32([1, 2]), dim=1), TABLE)
        assert_same(run("scatter_reduce", TABLE, empty, TABLE, dim=1, reduce="mean"), TABLE)
    for unsigned in UNSIGNED:
        data = LINE.astype(unsigned)
        assert_same(run("scatter", data, zeros(0), data, dim=0), data)
        assert run("take", data, zeros(0, 2)).shape == (0, 2)
    with pytest.raises(ShapeRefused, match="dim 2 is out of range"):
        run("gather", TABLE, zeros(0), dim=2)
    with pytest.raises(DtypeRefused, match="src must have input's element type"):
        run("scatter", TABLE, zeros(0), [1], dim=0)
    for name in ("index_select", "take"):
        with pytest.raises(DtypeRefused, match="index must be integers"):
            run(name, LINE, np.zeros(0), **({"dim": 0} if name != "take" else {}))


def test_what_src_has_beyond_the_index_is_not_used() -> None:
    src = np.arange(100, 120, dtype=np.float32).reshape(4, 5)
    found = run("scatter", TABLE, [[3, 0], [1, 1]], src, dim=1)
    assert found.tolist() == [[101, 2, 3, 100], [5, 106, 7, 8], [9, 10, 11, 12]]
    sums = run("scatter_add", TABLE, [[0, 0]], src, dim=1)
    assert sums[0].tolist() == [202, 2, 3, 4], "the index does not stretch over the rows"
    for src_shape, index in (((1, 2), [[0, 1], [0, 1]]), ((4,), [[0, 1]])):
        with pytest.raises(ShapeRefused, match="src does not cover index"):
            run("scatter", TABLE, index, np.zeros(src_shape, np.float32), dim=1)
    with pytest.raises(ShapeRefused, match="index needs as many axes as input"):
        run("scatter", TABLE, [0, 1], TABLE, dim=1)
    with pytest.raises(ShapeRefused, match="index does not fit input off the axis"):
        run("scatter", TABLE, zeros(4, 1), np.zeros((4, 1), np.float32), dim=1)


@pytest.mark.parametrize(
    ("dtype", "value", "written"),
    [
        ("int64", 2.9, 2), ("int8", -2.9, -2), ("uint8", -1, 255), ("uint8", -255, 1),
        ("float32", True, 1), ("bool", 2, True), ("bool", 0.5, True), ("bool", 1j, True),
        ("float16", np.inf, np.inf), ("complex64", 1j, 1j), ("float32", 1 + 0j, 1),
        ("float32", 2**63, 2.0**63),
    ],
)  # fmt: skip
def test_a_value_is_cut_to_the_type(dtype: str, value: complex, written: complex) -> None:
    found = run("scatter", np.zeros(2, dtype), [1], dim=0, value=value)
    assert found.tolist() == [0, written]
    assert found.dtype == dtype


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int8", 300), ("int8", 127.5), ("int8", -128.5), ("int32", np.nan), ("int32", np.inf),
        ("uint8", -1.0), ("uint8", -256), ("float32", 1e300), ("float16", 65504.5),
        ("bfloat16", 1e39), ("float32", 1j), ("complex64", 1e39j), ("float32", 2**64),
        ("float32", -(2**63) - 1), ("int64", 2**63),
    ],
)  # fmt: skip
def test_a_value_that_overflows_is_refused(dtype: str, value: complex) -> None:
    data = np.zeros(2, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    for name in ("scatter", "index_fill"):
        with pytest.raises(DtypeRefused, match=f"value does not fit {dtype}"):
            run(name, data, [1], dim=0, value=value)


def test_index_fill_takes_its_value_as_a_number_or_as_a_tensor_of_rank_0() -> None:
    inputs = {"input": LINE, "index": np.array([1])}
    found = gscli.run("torch.index_fill", {**inputs, "value": np.array(2.5)}, {"dim": 0})
    assert found.tolist() == [1, 2.5, 3]
    with pytest.raises(UsageError, match="value takes one number"):
        gscli.run("torch.index_fill", {**inputs, "value": np.array([2.5])}, {"dim": 0})
    with pytest.raises(UsageError, match="value takes one number"):
        gscli.run("torch.index_fill", {**inputs, "value": np.array(1)}, {"dim": 0, "value": 1})
    for dtype in ("float32", "bool"):
        with pytest.raises(DtypeRefused, match="value does not fit"):
            run("index_fill", np.zeros(2, dtype), [1], dim=0, value=1 + 0j)
    with pytest.raises(UsageError, match="value takes one number"):
        run("index_fill", LINE, [1], dim=0, value="x")


def test_scatter_takes_src_or_value_and_two_reductions() -> None:
    assert run("scatter", LINE, [0, 0], dim=0, value=2, reduce="multiply").tolist() == [4, 2, 3]
    assert run("scatter", LINE, [0, 0], LINE, dim=0, reduce="add").tolist() == [4, 2, 3]
    with pytest.raises(UsageError, match="either src or value"):
        run("scatter", LINE, [0], dim=0)
    with pytest.raises(UsageError, match="either src or value"):
        run("scatter", LINE, [0], LINE, dim=0, value=1)
    for reduce in ("max", "sum", ""):
        with pytest.raises(UsageError, match="unknown reduce"):
            run("scatter", LINE, [0], LINE, dim=0, reduce=reduce)


def test_without_self_a_touched_cell_starts_anew() -> None:
    data, index = np.float32([np.nan, 1, np.nan]), np.array([0, 1, 0])
    updates = np.float32([2, 3, 4])
    expected = {"sum": 6, "prod": 8, "mean": 3, "amax": 4, "amin": 2}
    for reduce, value in expected.items():
        found = run(
            "scatter_reduce", data, index, updates, dim=0, reduce=reduce, include_self=False
        )
        assert found[:2].tolist() == [value, 3]
        assert np.isnan(found[2]), "untouched"
    assert np.isnan(run("scatter_reduce", data, index, updates, dim=0, reduce="amax")[0])


def test_max_and_min_run_undocumented_and_other_names_do_not() -> None:
    for documented, other in (("amax", "max"), ("amin", "min")):
        assert_same(
            run("scatter_reduce", LINE, [0, 0], LINE, dim=0, reduce=documented),
            run("scatter_reduce", LINE, [0, 0], LINE, dim=0, reduce=other),
        )
        with pytest.raises(UsageError, match="unknown reduce"):
            run("index_reduce", LINE, [0], LINE[:1], dim=0, reduce=other)
    for reduce in ("add", "mul", "none"):
        with pytest.raises(UsageError, match="unknown reduce"):
            run("scatter_reduce", LINE, [0], LINE, dim=0, reduce=reduce)
    with pytest.raises(UsageError, match="needs reduce"):
        run("scatter_reduce", LINE, [0], LINE, dim=0)


def test_the_mean_of_integers() -> None:
    mean = {"dim": 0, "reduce": "mean"}
    assert run("scatter_reduce", [1], [0, 0], [4, -2], **mean).tolist() == [1]
    assert run("scatter_reduce", [0], [0, 0], [-3, -4], include_self=False, **mean).tolist() == [-4]
    wrapped = np.array([4, 252], np.uint8)
    assert run("scatter_reduce", np.uint8([1]), [0, 0], wrapped, **mean).tolist() == [0]
    assert run("index_reduce", [-3, 1], [0, 0, 1], [-4, -4, -2], **mean).tolist() == [-4, -1]


def test_the_count_of_a_mean_wraps_like_the_sum() -> None:
    mean = {"dim": 0, "reduce": "mean"}
    ones = np.ones(255, np.int8)
    assert run("scatter_reduce", np.int8([5]), zeros(255), ones, **mean).tolist() == [4]
    alone = run("scatter_reduce", np.int8([5]), zeros(130), ones[:130], include_self=False, **mean)
    assert alone.tolist() == [1]


def test_the_sum_of_a_mean_is_rounded_before_it_is_divided() -> None:
    mean = {"dim": 0, "reduce": "mean", "include_self": False}
    large = np.array([60000, 60000], np.float16)
    assert run("scatter_reduce", large[:1], [0, 0], large, **mean).tolist() == [np.inf]
    steps = np.array([2048, 1, 1], np.float16)
    assert run("index_reduce", steps[:1], [0, 0, 0], steps, **mean).tolist() == [682.5]


@pytest.mark.parametrize(("dtype", "wide", "narrow"), HALVES)
def test_halves_are_wide_in_scatter_and_narrow_elsewhere(
    dtype: np.dtype[Any], wide: int, narrow: int
) -> None:
    start, ones, index = np.zeros(1, dtype), np.ones(wide, dtype), zeros(wide)
    assert run("scatter_add", start, index, ones, dim=0)[0] == wide
    assert run("scatter", start, index, ones, dim=0, reduce="add")[0] == wide
    assert run("scatter_reduce", start, index, ones, dim=0, reduce="sum")[0] == wide
    assert run("index_add", start, index, ones, dim=0)[0] == narrow
    assert run("put_", start, index, ones, accumulate=True)[0] == narrow
    assert TORCH["index_put_"](start, index, ones, accumulate=True)[0] == narrow


@pytest.mark.parametrize(("dtype", "wide", "narrow"), HALVES)
def test_index_add_is_wide_where_it_becomes_scatter_add(
    dtype: np.dtype[Any], wide: int, narrow: int
) -> None:
    index, ones = zeros(wide), np.ones((wide, 2), dtype)
    add = TORCH["index_add"]
    for dim in (0, -2):
        assert add(np.zeros((1, 2), dtype), index, ones, dim=dim)[0, 0] == wide
    assert add(np.zeros((2, 1), dtype), index, ones.T, dim=1)[0, 0] == wide
    middle = np.ones((1, wide, 2), dtype)
    assert add(np.zeros((1, 1, 2), dtype), index, middle, dim=1)[0, 0, 0] == narrow
    assert add(np.zeros((1, 2), dtype), index.astype(np.int32), ones, dim=0)[0, 0] == narrow
    assert add(np.zeros((1, 2), dtype), index, ones, dim=0, alpha=2)[0, 0] == 2 * narrow


def test_alpha_is_cut_to_the_type() -> None:
    whole = np.array([1, 2, 3])
    assert run("index_add", whole, [1, 1], [3, 4], dim=0, alpha=2.0).tolist() == [1, 16, 3]
    assert run("index_add", whole, [1], [3], dim=0, alpha=0.5).tolist() == [1, 2, 3]
    assert run("index_add", [True, False], [1], [True], dim=0, alpha=False).tolist() == [
        True,
        False,
    ]
    with pytest.raises(DtypeRefused, match="alpha does not fit float32"):
        run("index_add", LINE, [1], LINE[:1], dim=0, alpha=1j)
    with pytest.raises(UsageError, match="alpha takes one number"):
        run("index_add", LINE, [1], LINE[:1], dim=0, alpha="a")


def test_index_types_differ_from_operator_to_operator() -> None:
    narrow = np.zeros(1, np.int32)
    for name, attrs in (("index_copy", {}), ("index_fill", {"value": 1}), ("put_", None)):
        inputs = (LINE, narrow) if name == "index_fill" else (LINE, narrow, LINE[:1])
        with pytest.raises(DtypeRefused, match="index cannot be int32"):
            run(name, *inputs, **({} if attrs is None else {"dim": 0, **attrs}))
    with pytest.raises(DtypeRefused, match="index cannot be int32"):
        run("take", LINE, narrow)
    assert run("index_add", LINE, narrow, LINE[:1], dim=0).tolist() == [2, 2, 3]
    for dtype in ("int16", "uint8", "bool", "float32"):
        with pytest.raises(DtypeRefused):
            run("gather", LINE, np.zeros(1, dtype), dim=0)


def test_unsigned_types_are_selected_from_rank_2_on() -> None:
    for dtype in UNSIGNED:
        data = np.arange(6).reshape(3, 2).astype(dtype)
        assert run("index_select", data, [2, 0], dim=0).tolist() == [[4, 5], [0, 1]]
        with pytest.raises(DtypeRefused, match=f"input cannot be {dtype}"):
            run("index_select", data[:, 0], [2, 0], dim=0)
        with pytest.raises(DtypeRefused, match=f"input cannot be {dtype}"):
            run("gather", data, zeros(1, 1), dim=0)
    small = LINE.astype(ml_dtypes.float8_e4m3fn)
    assert run("index_select", small, [2], dim=0).tolist() == [3]
    with pytest.raises(DtypeRefused, match="input cannot be float8_e4m3fn"):
        run("gather", small, [2], dim=0)


INF = float("inf")
COMPLEX_SUMS = [  # operator, shape, type of the index, attributes, what inf + 1j added to 1 + 1j is
    ("index_add", (1,), "int64", {}, "inf+nanj"),
    ("index_add", (2, 1), "int64", {}, "inf+2j"),
    ("index_add", (2, 1), "int32", {}, "inf+nanj"),
    ("index_add", (2, 1), "int64", {"alpha": True}, "inf+nanj"),
    ("index_add", (2, 1), "int64", {"alpha": 2}, "inf+nanj"),
    ("index_reduce", (2, 1), "int64", {"reduce": "mean"}, "nan+nanj"),
]


@pytest.mark.parametrize(("name", "shape", "index", "attrs", "expected"), COMPLEX_SUMS)
def test_infinities_are_multiplied_by_one(
    name: str, shape: tuple[int, ...], index: str, attrs: dict[str, object], expected: str
) -> None:
    """Recorded from PyTorch 2.13."""
    source = np.full((1, *shape[1:]), complex(INF, 1), np.complex64)
    data = np.full(shape, 1 + 1j, np.complex64)
    answer = TORCH[name](data, np.zeros(1, index), source, dim=0, **attrs)
    parts = np.array([complex(expected)], np.complex64).view(np.float32)
    assert_same(answer.reshape(-1)[:1].view(np.float32), parts)


def test_index_reduce_multiplies_unsigned_types_from_rank_2_on() -> None:
    """Seen in PyTorch 2.13.0, which has no other kernel for them."""
    reduce = TORCH["index_reduce"]
    for dtype in UNSIGNED:
        data, source = (
            np.array(rows).astype(dtype) for rows in ([[1, 2], [3, 4]], [[2, 2], [2, 3]])
        )
        output = reduce(data, [0, 1], source, dim=0, reduce="prod")
        assert (output.dtype, output.tolist()) == (np.dtype(dtype), [[2, 4], [6, 12]])
        for changed in ({"reduce": "amax"}, {"reduce": "mean"}, {"include_self": False}):
            with pytest.raises(DtypeRefused, match=f"input cannot be {dtype}"):
                reduce(data, [0, 1], source, **{"dim": 0, "reduce": "prod", **changed})
        with pytest.raises(DtypeRefused, match=f"input cannot be {dtype}"):
            reduce(data[0], [0, 1], source[0], dim=0, reduce="prod")


def test_reductions_without_a_kernel() -> None:
    flags, complexes = np.array([[True]]), np.array([[1j]], np.complex64)
    reduce = TORCH["scatter_reduce"]
    with pytest.raises(DtypeRefused, match="mean has no meaning for bool"):
        reduce(flags, zeros(1, 1), flags, dim=0, reduce="mean")
    with pytest.raises(DtypeRefused, match="max has no meaning for complex64"):
        reduce(complexes, zeros(1, 1), complexes, dim=0, reduce="amax")
    along = TORCH["index_reduce"]
    assert along(flags, zeros(1), flags, dim=0, reduce="amin").tolist() == [[True]]
    assert along(complexes, zeros(1), complexes, dim=0, reduce="prod").tolist() == [[-1]]
    for data in (flags, complexes):
        with pytest.raises(DtypeRefused, match="input cannot be"):
            along(data, zeros(1), data, dim=0, reduce="prod", include_self=False)
        with pytest.raises(DtypeRefused, match="input cannot be"):
            along(data[0], zeros(1), data[0], dim=0, reduce="prod")


def test_slices_fit_exactly() -> None:
    for name, attrs in (
        ("index_add", {}),
        ("index_copy", {}),
        ("index_reduce", {"reduce": "prod"}),
    ):
        for source in (TABLE[:1], TABLE[:2, :1], LINE[:2]):
            with pytest.raises(ShapeRefused, match=r"valid: \[2,4\]"):
                run(name, TABLE, [0, 1], source, dim=0, **attrs)
        with pytest.raises(ShapeRefused, match="index is one list of numbers"):
            run(name, TABLE, [[0, 1]], TABLE[:2], dim=0, **attrs)
        with pytest.raises(DtypeRefused, match="source must have input's element type"):
            run(name, TABLE, [0], TABLE[:1].astype(np.float64), dim=0, **attrs)


def test_put_counts_values_and_does_not_look_at_shapes() -> None:
    found = run("put_", TABLE, [[0, -1]], np.float32([[9], [8]]))
    assert (found[0, 0], found[-1, -1]) == (9, 8)
    with pytest.raises(ShapeRefused, match="2 values for 1 index"):
        run("put_", LINE, [0], LINE[:2])
    with pytest.raises(IndexRefused, match="axis 0 is empty"):
        run("put_", np.zeros(0, np.float32), [0], LINE[:1])


def test_index_put_follows_numpy() -> None:
    put = TORCH["index_put_"]
    grid = (np.array([[0], [2]]), np.array([1, 3]))
    copy = TABLE.copy()
    copy[grid] = [[5, 6], [7, 8]]
    assert_same(put(TABLE, grid, np.float32([[5, 6], [7, 8]])), copy)
    assert put(LINE, np.array([[0, 1], [2, 0]]), np.float32([9, 8])).tolist() == [8, 8, 9]
    mask = np.array([[True, False], [False, True]])
    square = np.float32([[1, 2], [3, 4]])
    assert put(square, mask, np.float32([8, 9])).tolist() == [[8, 2], [3, 9]]
    assert put(LINE, np.array([0, 0]), LINE[:2], accumulate=True).tolist() == [4, 2, 3]
    with pytest.raises(ShapeRefused, match="values does not stretch"):
        put(LINE, np.array([0]), np.float32([[9]]))
    with pytest.raises(ShapeRefused, match="more index arrays"):
        put(np.float32(5), np.array([0]), np.float32([9]))
    with pytest.raises(ShapeRefused, match="needs an index array"):
        put(LINE, (), LINE)
    with pytest.raises(DtypeRefused, match="values must have self's element type"):
        put(LINE, np.array([0]), np.float64(9))
    with pytest.raises(DtypeRefused, match="indices_0 cannot be int8"):
        put(LINE, np.array([0], np.int8), np.float32(9))


def test_several_writers_of_a_cell_are_left_open() -> None:
    tensors = {
        "input": Tensor("input", (3,), "float32"),
        "index": Tensor("index", (2,), "int64"),
        "src": Tensor("src", (2,), "float32"),
    }
    scatter = TORCH["scatter"]
    assert "arbitrary" in scatter.infer_layout(tensors, {"dim": 0}).unspecified_order
    assert not scatter.infer_layout(tensors, {"dim": 0, "reduce": "add"}).unspecified_order
    assert run("scatter", LINE, [0, 0], LINE, dim=0).tolist() == [2, 2, 3], "the last, here"


@pytest.mark.parametrize("attrs", [{}, {"dim": None}, {"dim": "x"}, {"dim": 0.5}, {"dim": 2},
                                   {"dim": -2**70}, {"axis": 0}])  # fmt: skip
def test_a_bad_dim_is_refused(attrs: dict[str, object]) -> None:
    with pytest.raises(GscliError):
        gscli.run("torch.gather", {"input": LINE, "index": np.array([0])}, attrs)


@pytest.mark.parametrize(
    ("sizes", "last"),
    [
        ({"kernel_size": 2}, 4),
        ({"kernel_size": 2, "stride": 3}, 5),
        ({"kernel_size": 4, "padding": 1}, 6),
        ({"kernel_size": (4, 4), "padding": 1}, 6),
        ({"kernel_size": (2, 2), "stride": 2}, 4),
    ],
)
def test_a_number_is_the_size_of_every_pooled_axis(sizes: dict[str, object], last: int) -> None:
    inputs = {"input": [[[1.0, 2.0]]], "indices": [[[0, 3]]]}
    assert gscli.run("torch.max_unpool2d", inputs, sizes).shape == (1, 2, last)
    with pytest.raises(UsageError, match="kernel_size"):
        gscli.run("torch.max_unpool2d", inputs, {"kernel_size": [2]})


def test_what_is_legal_of_shapes_that_stretch_is_not_what_was_refused() -> None:
    """Sizes of 1 alone are none of more axes."""
    with pytest.raises(ShapeRefused, match="rank 0 … 1"):
        run("masked_scatter", [1, 2], [[True, True]], [1, 2])
    with pytest.raises(ShapeRefused, match="rank 0 … 1"):
        run("index_put_", [1, 2], [0, 1], [[7, 8]])
