"""JAX: the rules in words that the recorded cases leave uncovered, and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Array, assert_same

import gscli
from gscli.base import DtypeRefused, GscliError, IndexRefused, ShapeRefused, UsageError
from gscli.frameworks import load_framework
from gscli.frameworks.jax import promote_dtypes
from gscli.layout.axes import Tensor

JAX = load_framework("jax").operators
ROW = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
BEYOND = np.array([0, -1, 5, -6])
NAN = float("nan")


def at(name: str, x: Any, indices: Any, values: Any = None, **attrs: Any) -> Array:
    """`x.at[indices].name(values)`."""
    extra = () if values is None else (np.asarray(values),)
    return JAX[f"at.{name}"](np.asarray(x), indices, *extra, **attrs)


@pytest.mark.parametrize(
    ("mode", "wrap", "expected"),
    [
        (None, True, [1, 16, 16, 1]),
        ("clip", True, [1, 16, 16, 1]),
        ("promise_in_bounds", True, [1, 16, 16, 1]),
        ("fill", True, [1, 16, NAN, NAN]),
        ("drop", True, [1, 16, NAN, NAN]),
        (None, False, [1, 1, 16, 1]),
        ("clip", False, [1, 1, 16, 1]),
        ("fill", False, [1, NAN, NAN, NAN]),
    ],
)
def test_get_wraps_once_and_then_asks_the_mode(
    mode: str | None, wrap: bool, expected: list[float]
) -> None:
    got = at("get", ROW, BEYOND, mode=mode, wrap_negative_indices=wrap)
    assert_same(got, np.array(expected, np.float64))


@pytest.mark.parametrize(
    ("mode", "wrap", "expected"),
    [
        (None, True, [11, 2, 4, 8, 36]),
        ("fill", True, [11, 2, 4, 8, 36]),
        ("drop", True, [11, 2, 4, 8, 36]),
        ("promise_in_bounds", True, [11, 2, 4, 8, 36]),
        ("clip", True, [51, 2, 4, 8, 66]),
        ("drop", False, [11, 2, 4, 8, 16]),
        ("clip", False, [71, 2, 4, 8, 46]),
    ],
)
def test_updates_out_of_range_are_dropped_or_land_on_the_border(
    mode: str | None, wrap: bool, expected: list[float]
) -> None:
    values = [10.0, 20.0, 30.0, 40.0]
    got = at("add", ROW, BEYOND, values, mode=mode, wrap_negative_indices=wrap)
    assert_same(got, np.array(expected, np.float64))


def test_take_clip_does_not_wrap_but_at_and_take_along_axis_do() -> None:
    last = np.array([-1])
    assert JAX["take"](ROW, last, mode="clip").tolist() == [1]
    assert at("get", ROW, last, mode="clip").tolist() == [16]
    assert JAX["take_along_axis"](ROW, last, mode="clip").tolist() == [16]
    assert JAX["take_along_axis"](ROW, last, mode="promise_in_bounds").tolist() == [1]
    assert JAX["take_along_axis"](
        ROW, last, mode="promise_in_bounds", wrap_negative_indices=True
    ).tolist() == [16]
    assert JAX["take_along_axis"](ROW, last, mode="clip", wrap_negative_indices=False).tolist() == [
        1
    ]


def test_a_fill_value_is_ignored_unless_the_mode_fills() -> None:
    assert at("get", ROW, np.array([9]), fill_value=-5).tolist() == [16]
    assert at("get", ROW, np.array([9]), fill_value=-5, mode="fill").tolist() == [-5]
    assert JAX["take"](ROW, np.array([9]), fill_value=-5, mode="clip").tolist() == [16]


@pytest.mark.parametrize(
    ("dtype", "given", "expected"),
    [
        ("int8", None, -128), ("uint8", None, 255), ("bool", None, True), ("int4", None, -8),
        ("uint4", None, 15), ("int8", 300, 44), ("uint8", -1, 255), ("int8", NAN, 0),
        ("int8", 2.7, 2), ("int8", 1e9, 127), ("bool", 2, True), ("float16", 1e9, float("inf")),
        ("complex64", 2 + 3j, 2 + 3j), ("float32", True, 1.0),
    ],
)  # fmt: skip
def test_fill_values_are_brought_to_the_type_of_data(dtype: str, given: Any, expected: Any) -> None:
    kind = getattr(ml_dtypes, dtype) if dtype in ("int4", "uint4") else dtype
    data = np.zeros(2, kind)
    got = JAX["take"](data, np.array([7]), fill_value=given)
    assert_same(got, np.array([expected]).astype(kind))


@pytest.mark.parametrize("given", ["a", 1 + 2j, 10**30])
def test_fill_values_without_a_meaning_are_refused(given: Any) -> None:
    with pytest.raises(DtypeRefused, match="fill_value has no meaning for float64"):
        JAX["take"](ROW, np.array([7]), fill_value=given)


def test_indices_are_cut_to_32_bits_where_jax_does() -> None:
    far = np.array([2**40, 2**32 + 1, -(2**40), 2 - 2**32, 2**31 + 3])
    assert_same(JAX["take"](ROW, far), np.array([1, 2, NAN, NAN, NAN]))
    assert JAX["take"](ROW, far, mode="clip").tolist() == [16, 16, 1, 1, 16]
    assert JAX["take"](ROW, far, mode="wrap").tolist() == [2, 4, 16, 2, 2]
    assert_same(JAX["take_along_axis"](ROW, far), np.array([1, 2, 1, 4, NAN]))
    assert at("get", ROW, far).tolist() == [1, 2, 16, 16, 1]
    assert at("set", ROW, far[:1], [9.0]).tolist() == [9, 2, 4, 8, 16]
    assert JAX["segment_sum"](np.ones(5), far, num_segments=5).tolist() == [2, 1, 1, 0, 0]
    clamped = gscli.run("jax.lax.gather", *lax_gather(ROW, far))
    assert clamped.tolist() == [16, 16, 1, 1, 16]
    filled = gscli.run("jax.lax.gather", *lax_gather(ROW, far, mode="fill"))
    assert_same(filled, np.array([1, 2, 1, 4, NAN]))


def test_numbers_without_axes_are_cut_as_a_dynamic_slice_does() -> None:
    far = [-(2**32), 2**32 + 1, 2**31 + 5, -(2**63), 2**63 - 1]
    square = np.array([[0, 1, 2], [3, 4, 5]])
    assert [at("get", ROW, np.array(number)).item() for number in far] == [1, 16, 16, 1, 16]
    assert [at("get", square, np.array(number))[0].item() for number in far] == [0, 3, 0, 0, 3]
    column = [JAX["at.get"](square, np.array(n), subscript=":,i")[0].item() for n in far]
    assert column == [0, 1, 0, 0, 2]
    stepped = [JAX["at.get"](square, np.array(n), subscript="::2,i")[0].item() for n in far]
    assert stepped == [2, 1, 0, 2, 0]


def test_unsigned_indices_never_count_from_the_end() -> None:
    high = np.array([2**64 - 1, 2**63, 2**32 + 1], np.uint64)
    assert_same(JAX["take"](ROW, high), np.array([NAN, 1, 2]))
    assert at("get", ROW, high).tolist() == [1, 1, 2]
    assert JAX["take"](ROW, high, mode="clip").tolist() == [16, 16, 16]
    assert_same(JAX["take"](ROW, np.array([255], np.uint8)), np.array([NAN]))


def test_the_size_of_the_axis_must_fit_the_type_of_the_indices() -> None:
    long, small = np.arange(300.0), np.array([-1], np.int8)
    for call in (
        lambda: at("get", long, small),
        lambda: at("set", long, small, [1.0]),
        lambda: JAX["take"](long, small, mode="wrap"),
    ):
        with pytest.raises(DtypeRefused, match="int8 cannot count 300 cells"):
            call()
    assert at("get", long[:127], small).tolist() == [126]
    for sizes, indices in ((128, small), (256, np.array([1], np.uint8))):
        with pytest.raises(DtypeRefused, match=f"cannot count {sizes} cells"):
            JAX["take"](long[:sizes], indices, mode="wrap")
    assert at("get", long, small + 4, wrap_negative_indices=False).tolist() == [3]
    assert at("get", long, np.array([3], np.uint8)).tolist() == [3]
    assert JAX["take"](long, small).tolist() == [299]
    assert JAX["take_along_axis"](long, small).tolist() == [299]


def test_empty_axes() -> None:
    none, one = np.zeros((0, 3)), np.array([0])
    for mode in (None, "fill", "clip", "wrap"):
        with pytest.raises(IndexRefused, match="index into an empty axis"):
            JAX["take"](none, one, axis=0, mode=mode)
    assert JAX["take"](none, one[:0], axis=0).shape == (0, 3)
    assert JAX["take_along_axis"](none, [[0, 1, 2]], axis=0).tolist() == [[0, 0, 0]]
    for mode in (None, "fill"):
        with pytest.raises(IndexRefused, match="index into an empty axis"):
            at("get", none, one, mode=mode)
    assert at("get", np.zeros((0, 0)), one).shape == (1, 0)
    for mode in (None, "clip"):
        assert at("set", none, one, 1.0, mode=mode).shape == (0, 3)
        with pytest.raises(IndexRefused, match="index into an empty axis"):
            at("set", none, np.array(0), 1.0, mode=mode)


def test_the_empty_tuple_names_the_whole_array() -> None:
    assert_same(at("get", ROW, ()), ROW)
    assert at("set", ROW, (), 3.0).tolist() == [3] * 5
    assert at("multiply", np.float32(3), (), np.float32(2)).tolist() == 6


def test_masks_stand_for_their_true_cells() -> None:
    x = np.arange(6.0).reshape(2, 3)
    mask = np.array([[True, False, True], [False, False, True]])
    assert at("get", x, mask).tolist() == [0, 2, 5]
    assert at("add", x, mask, 10.0).tolist() == [[10, 1, 12], [3, 4, 15]]
    assert at("get", x, (np.array([True, True]), np.array([0, 2]))).tolist() == [0, 5]
    assert at("get", x, np.array(True)).shape == (1, 2, 3)
    for wrong in (mask[0], mask[:, :2], mask[..., None]):
        with pytest.raises(ShapeRefused, match="mask does not have the sizes"):
            at("get", x, wrong)


def test_values_stretch_but_never_add_axes() -> None:
    x = np.zeros((3, 4), np.float32)
    one = np.float32([[1]])
    assert at("set", x, np.array([0, 2]), one).sum() == 8
    assert at("set", x, np.array([], np.int64), np.ones((7, 7))).sum() == 0
    for values in (np.ones((1, 2, 4)), np.ones(3), np.ones((3, 4))):
        with pytest.raises(ShapeRefused, match="does not stretch"):
            at("set", x, np.array([0, 2]), values)


@pytest.mark.parametrize(
    ("x", "dtype", "values", "other", "expected"),
    [
        ([100, 2], "int8", [100, 1000], "int64", [-80, 2]),
        ([1, 2**24 + 1], "int32", [1.75, 1.75], "float32", [4, 2**24]),
        ([1, 2], "float32", [1e-9, 1e9], "float64", [1e9, 2]),
        ([1, 2], "float16", [1, 2], "bfloat16", [4, 2]),
        ([1, 0], "bool", [-2, 1], "int32", [0, 0]),
        ([1, 2], "int32", [3e9, 1], "float32", [2**31 - 1, 2]),
    ],
)
def test_updates_run_in_the_common_type_and_come_back(
    x: list[float], dtype: str, values: list[float], other: str, expected: list[float]
) -> None:
    wide = ml_dtypes.bfloat16 if other == "bfloat16" else other
    got = at("add", np.array(x, dtype), np.array([0, 0]), np.array(values, wide))
    assert_same(got, np.array(expected, dtype))


def test_set_saturates_and_drops_imaginary_parts() -> None:
    values = np.array([NAN, np.inf, -np.inf, 2.9], np.float32)
    got = at("set", np.arange(5, dtype=np.int32), np.arange(4), values)
    assert got.tolist() == [0, 2**31 - 1, -(2**31), 2, 4]
    got = at("set", np.float32([1, 2]), np.array([0]), np.complex64([3 + 4j]))
    assert_same(got, np.float32([3, 2]))


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("bool", "int8", "int8"), ("uint8", "int8", "int16"), ("uint32", "int64", "int64"),
        ("uint64", "int8", "float64"), ("int64", "float16", "float16"),
        ("float16", "bfloat16", "float32"), ("int64", "complex64", "complex64"),
        ("float64", "complex64", "complex128"), ("float32", "complex64", "complex64"),
        ("uint16", "uint32", "uint32"),
    ],
)  # fmt: skip
def test_promotion_is_symmetric(left: str, right: str, common: str) -> None:
    first, second = Tensor("x", (), left), Tensor("y", (), right)
    assert promote_dtypes(first, second) == promote_dtypes(second, first) == common


def test_small_types_do_not_mix() -> None:
    small = np.ones(2, ml_dtypes.float8_e4m3fn)
    assert at("add", small, np.array([0, 0]), small).astype(float).tolist() == [3, 1]
    with pytest.raises(DtypeRefused, match="no common element type"):
        at("add", small, np.array([0]), np.float32([1]))


@pytest.mark.parametrize("name", ["at.add", "at.subtract", "at.multiply"])
def test_bool_has_no_arithmetic(name: str) -> None:
    yes = np.array([True])
    with pytest.raises(DtypeRefused, match="no meaning for bool"):
        JAX[name](yes, np.array([0]), yes)


def test_halves_are_rounded_after_every_update() -> None:
    ones, zeros = np.ones(3000, np.float16), np.zeros(3000, np.int64)
    assert at("add", np.zeros(1, np.float16), zeros, ones).tolist() == [2048]
    brain = np.ones(600, ml_dtypes.bfloat16)
    none = np.zeros(1, ml_dtypes.bfloat16)
    assert at("add", none, zeros[:600], brain).astype(float).tolist() == [256]


def test_nan_stays_and_complex_numbers_compare_by_parts() -> None:
    got = at("max", [1.0, NAN, 3.0], np.array([0, 1, 2, 2]), [NAN, 1.0, NAN, 5.0])
    assert np.isnan(got).all()
    assert at("max", [1 + 2j, 3 - 1j], np.array([0, 1]), [1 + 3j, 3 - 2j]).tolist() == [
        1 + 3j,
        3 - 1j,
    ]


@pytest.mark.parametrize(
    ("name", "dtype", "empty"),
    [
        ("sum", "float32", 0), ("prod", "int8", 1), ("max", "float32", -np.inf),
        ("min", "float16", np.inf), ("max", "int8", -128), ("min", "uint8", 255),
        ("max", "bool", False), ("min", "bool", True),
    ],
)  # fmt: skip
def test_segments_without_slices_hold_the_identity(name: str, dtype: str, empty: float) -> None:
    data = np.array([1, 1], dtype)
    got = JAX[f"segment_{name}"](data, np.array([2, -1]), num_segments=4)
    assert_same(got, np.array([empty, empty, 1, empty], dtype))


def test_the_number_of_segments_defaults_to_the_largest_id_and_one() -> None:
    data, ids = np.float64([[1, 2], [3, 4], [5, 6]]), np.array([2, 0, 2], np.uint8)
    assert JAX["segment_sum"](data, ids).tolist() == [[3, 4], [0, 0], [6, 8]]
    assert JAX["segment_sum"](data[:, 0], np.array([-1, -1, -1])).shape == (0,)
    many = np.arange(1000) % 7
    assert JAX["segment_sum"](np.ones(1000), many).shape == (7,)
    for ids in (np.array([-2]), np.array([], np.int64)):
        with pytest.raises(ShapeRefused, match="number of segments"):
            JAX["segment_sum"](np.ones(len(ids)), ids)
    with pytest.raises(ShapeRefused, match="negative"):
        JAX["segment_sum"](np.ones(1), np.array([0]), num_segments=-1)


def test_segments_stretch_data_and_clip() -> None:
    ids = np.array([-1, 9, 1])
    assert JAX["segment_sum"](np.array(2.0), ids, num_segments=3).tolist() == [0, 2, 0]
    clipped = JAX["segment_sum"](np.array([2.0, 5, 7]), ids, num_segments=3, mode="clip")
    assert clipped.tolist() == [2, 7, 5]
    none = JAX["segment_sum"](np.ones(3), ids, num_segments=0, mode="clip")
    assert none.shape == (0,)
    with pytest.raises(ShapeRefused, match="does not stretch"):
        JAX["segment_sum"](np.ones(4), ids, num_segments=3)


def lax_gather(x: Array, starts: Array, size: int = 1, **attrs: Any) -> tuple[Any, Any]:
    """Inputs and attributes of a gather of windows of `size` from a vector."""
    numbers = {
        "offset_dims": [] if size == 1 else [1],
        "collapsed_slice_dims": [0] if size == 1 else [],
        "start_index_map": [0],
        "slice_sizes": [size],
    }
    return {"operand": x, "start_indices": starts[:, None]}, {**numbers, **attrs}


def lax_scatter(x: Array, starts: Array, updates: Array, **attrs: Any) -> tuple[Any, Any]:
    """Inputs and attributes of a scatter of windows into a vector."""
    numbers = {
        "update_window_dims": [1],
        "inserted_window_dims": [],
        "scatter_dims_to_operand_dims": [0],
    }
    inputs = {"operand": x, "scatter_indices": starts[:, None], "updates": updates}
    return inputs, {**numbers, **attrs}


def test_lax_gather_moves_a_slice_inside_or_fills_all_of_it() -> None:
    starts = np.array([-1, 1, 3])
    moved = gscli.run("jax.lax.gather", *lax_gather(ROW, starts, 3))
    assert moved.tolist() == [[1, 2, 4], [2, 4, 8], [4, 8, 16]]
    filled = gscli.run("jax.lax.gather", *lax_gather(ROW, starts, 3, mode="fill", fill_value=0))
    assert filled.tolist() == [[0, 0, 0], [2, 4, 8], [0, 0, 0]]


def test_lax_scatter_drops_a_window_partly_outside_or_moves_it() -> None:
    starts, ones = np.array([-1, 1, 3]), np.ones((3, 3))
    zeros = np.zeros(5)
    dropped = gscli.run("jax.lax.scatter_add", *lax_scatter(zeros, starts, ones))
    assert dropped.tolist() == [0, 1, 1, 1, 0]
    moved = gscli.run("jax.lax.scatter_add", *lax_scatter(zeros, starts, ones, mode="clip"))
    assert moved.tolist() == [1, 2, 3, 2, 1]
    less = gscli.run("jax.lax.scatter_sub", *lax_scatter(ROW, starts[1:2], ones[:1]))
    assert less.tolist() == [1, 1, 3, 7, 16]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slice_sizes": [0]}, "slice_sizes does not fit"),
        ({"slice_sizes": [1, 1]}, "one per axis"),
        ({"start_index_map": [1]}, "the axes of operand"),
        ({"offset_dims": [0]}, "offset_dims does not fit"),
        ({"mode": "wrap"}, "unknown mode"),
        ({"collapsed_slice_dims": "0"}, "whole numbers"),
    ],
)
def test_lax_refuses_dimension_numbers_that_do_not_fit(
    change: dict[str, Any], message: str
) -> None:
    inputs, attrs = lax_gather(ROW, np.array([0]))
    with pytest.raises(GscliError, match=message):
        gscli.run("jax.lax.gather", inputs, attrs | change)


def test_without_an_index_vector_a_slice_may_be_larger_than_operand() -> None:
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes")
    gather = JAX["lax.gather"]
    for size, rows, numbers, shape in (
        (0, (0, 1), ((), (0,), (0,), (1,)), (0,)),
        (2, (0, 1), ((1,), (), (0,), (3,)), (0, 3)),
        (2, (0, 0), ((1,), (), (), (3,)), (0, 3)),
    ):
        attrs = dict(zip(names, numbers, strict=True))
        assert gather(np.zeros(size), np.zeros(rows, int), **attrs).shape == shape
    for rows, collapsed, slice_size in (((0, 1), (0,), 3), ((0, 1), (0,), 0), ((1, 1), (), 3)):
        offsets = () if collapsed else (1,)
        attrs = dict(zip(names, (offsets, collapsed, (0,), (slice_size,)), strict=True))
        with pytest.raises(ShapeRefused, match="slice_sizes does not fit"):
            gather(np.zeros(2), np.zeros(rows, int), **attrs)


def test_lax_vectors_run_along_the_last_axis() -> None:
    inputs, attrs = lax_gather(ROW, np.array([0]))
    with pytest.raises(ShapeRefused, match="rank 0 is not allowed"):
        gscli.run("jax.lax.gather", inputs | {"start_indices": np.array(0)}, attrs)


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "kind", "message"),
    [
        ("take", [ROW, [0.5]], {}, DtypeRefused, "indices must be integers"),
        ("take", [ROW, [True]], {"mode": "clip"}, DtypeRefused, "indices must be integers"),
        ("take", [ROW, [0]], {"mode": "raise"}, UsageError, "unknown mode"),
        ("take", [ROW, [0]], {"axis": 1}, ShapeRefused, "axis 1 is out of range"),
        ("take", [np.array(1.0), [0]], {"axis": 0}, ShapeRefused, "axis 0 is out of range"),
        ("take", [["a"], [0]], {}, DtypeRefused, "a cannot be str"),
        ("take_along_axis", [ROW, [True]], {}, DtypeRefused, "indices must be integers"),
        ("take_along_axis", [ROW, [0]], {"mode": "wrap"}, UsageError, "unknown mode"),
        ("take_along_axis", [ROW, [[0]]], {"axis": None}, ShapeRefused, "rank 1"),
        ("at.get", [ROW, ([0], [0])], {}, ShapeRefused, "more index arrays"),
        ("at.get", [ROW, [0.0]], {}, DtypeRefused, "indices_0 must be integers"),
        ("at.get", [np.ones((2, 2)), ([0, 1], [0, 1, 0])], {}, ShapeRefused, "broadcast"),
        ("segment_sum", [[1], [True]], {}, DtypeRefused, "segment_ids must be integers"),
        ("segment_sum", [[True], [0]], {}, DtypeRefused, "no meaning for bool"),
    ],
)
def test_what_is_refused(
    name: str, inputs: list[Any], attrs: dict[str, Any], kind: type[GscliError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        JAX[name](*inputs, **attrs)


@pytest.mark.parametrize("promise", ["indices_are_sorted", "unique_indices"])
def test_promises_change_no_answer(promise: str) -> None:
    twice = np.array([1, 1, 0])
    plain = at("add", ROW, twice, 1.0)
    assert_same(at("add", ROW, twice, 1.0, **{promise: True}), plain)


def test_power_takes_the_low_bits_of_a_whole_exponent_as_compiled_jax_does() -> None:
    """Recorded from JAX 0.10.2 with x64: 3 ** 64 is 1, 3 ** -1 is 3 ** 63.

    Outside jit a number without axes has other rules: 3 ** 64 wraps, and 3 ** -1 is refused.
    """
    for exponent, raised in ((64, 1), (-1, -3237885987332494933)):
        assert at("power", [3], ([0],), exponent).tolist() == [raised]
    assert at("power", 3, (), 64).item() == 8733086111712066817
    with pytest.raises(gscli.GscliError, match="cannot be raised"):
        at("power", 3, (), -1)
    (finding,) = gscli.check("jax.at.power", {"x": 3, "values": -1})
    assert "cannot be raised" in finding.problem
    assert at("power", 2.0, (), -70).item() == 2.0**-70


def test_a_segment_id_without_axes_needs_a_segment() -> None:
    """JAX 0.10.2: segment_sum(10, -1) is refused, segment_sum([10], [-1]) is empty."""
    with pytest.raises(IndexRefused, match="empty axis"):
        gscli.run("jax.segment_sum", {"data": 10, "segment_ids": -1})
    assert gscli.run("jax.segment_sum", {"data": [10], "segment_ids": [-1]}).tolist() == []
    assert gscli.jax.segment_sum(10, -1, num_segments=2).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        ("inf+1j", "1", "nan+nanj"),
        ("inf+1j", "0", "1"),
        ("inf", "2", "inf"),
        ("inf", "-1", "0"),
        ("-inf", "2", "nan+nanj"),
        ("nan+1j", "1", "nan+nanj"),
        ("1", "nan", "1"),
        ("0", "2", "0"),
        ("0", "1+1j", "nan+nanj"),
        ("0", "-1", "nan+nanj"),
    ],
)
def test_complex_powers_go_by_angle(base: str, exponent: str, expected: str) -> None:
    """Recorded from JAX 0.10: logarithms of infinities leave NaN, and few cases are its own."""
    x, value, answer = (np.array([complex(text)]) for text in (base, exponent, expected))
    raised = JAX["at.power"](x, (np.array([0]),), value)
    assert_same(raised.view(float), answer.view(float))


def test_complex_numbers_are_divided_as_xla_divides_them() -> None:
    """Recorded with JAX 0.10.2: the infinities are those of compilers of C."""
    inf, nan = np.inf, np.nan
    cases: list[tuple[complex, list[complex], complex]] = [
        (-2.5 + 0j, [complex(inf, -2.5)], complex(-0.0, 0)),
        (complex(1, inf), [0j], complex(inf, inf)),
        (complex(nan, -inf), [0j], complex(nan, -inf)),
    ]
    for cell, values, expected in cases:
        inputs = {
            "x": np.array([cell], np.complex64),
            "indices_0": np.zeros(len(values), np.int64),
            "values": np.array(values, np.complex64),
        }
        with np.errstate(all="ignore"):
            assert_same(gscli.run("jax.at.divide", inputs, {}), np.array([expected], np.complex64))


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
def test_whole_numbers_of_4_bits_are_divided_as_float32(dtype: str) -> None:
    """Recorded with JAX 0.10.2."""
    kind = getattr(ml_dtypes, dtype)
    inputs = {"x": np.ones(1, kind), "indices_0": [0], "values": np.array([3], kind)}
    output = gscli.run("jax.at.divide", inputs, {})
    assert_same(output, np.array([1 / 3], np.float32))


def test_an_empty_axis_is_not_called_another() -> None:
    """Laid flat, (2,0) has no cells though axis 0 has two places."""
    with pytest.raises(IndexRefused, match="no cells there"):
        gscli.jax.take(np.zeros((2, 0)), [0])
