"""NumPy: the rules in words that the recorded cases leave uncovered, and what is refused.

NumPy is installed, so it answers itself where it can be trusted to.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Array, assert_same

import gscli
from gscli.base import DtypeRefused, GscliError, IndexRefused, ShapeRefused, UsageError
from gscli.frameworks import find_operator, load_framework
from gscli.layout.axes import Tensor

NUMPY = load_framework("numpy").operators
TABLE = np.array([[10, 20, 30], [40, 50, 60]])
LINE = np.array([10, 20, 30, 40])
UFUNCS = ("add", "subtract", "multiply", "maximum", "minimum")


def put(a: Array, *inputs: Any, **attrs: Any) -> Array:
    return NUMPY["put"](a, *map(np.asarray, inputs), **attrs)


def at(name: str, a: Array, indices: object, b: object) -> Array:
    return NUMPY[f"{name}.at"](a, indices, b)


def expected_at(name: str, a: Array, indices: Any, b: object) -> Array:
    copy = a.copy()
    getattr(np, name).at(copy, indices, b)
    return copy


def test_take_is_a_bare_command() -> None:
    assert find_operator("take").full_name == "numpy.take"
    assert gscli.take([10, 20, 30], [0, -1]).tolist() == [10, 30]


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take_in_every_mode(mode: str, axis: int | None) -> None:
    indices = np.array([[0, 1], [-1, -2]]) if mode == "raise" else np.array([-9, -1, 0, 7])
    found = NUMPY["take"](TABLE, indices, axis=axis, mode=mode)
    assert_same(found, np.take(TABLE, indices, axis=axis, mode=mode))  # type: ignore[call-overload]


def test_wrap_is_a_modulo_and_takes_no_time() -> None:
    far = np.array([2**40 + 1, -(2**40) - 1])
    assert NUMPY["take"](LINE, far, mode="wrap").tolist() == [20, 40]
    assert put(LINE, far, [7, 8], mode="wrap").tolist() == [10, 7, 30, 8]


def test_clip_turns_negative_indexing_off() -> None:
    assert NUMPY["take"](LINE, np.array([-1, -9, 9]), mode="clip").tolist() == [10, 10, 40]
    assert put(LINE, [-1], [7], mode="clip").tolist() == [7, 20, 30, 40]


def test_an_empty_axis_refuses_every_index_in_every_mode() -> None:
    for mode in ("raise", "wrap", "clip"):
        with pytest.raises(IndexRefused, match="axis 0 is empty"):
            NUMPY["take"](np.zeros((0, 2)), np.array([0]), axis=0, mode=mode)
        with pytest.raises(IndexRefused, match="axis 0 is empty"):
            put(np.zeros(0), [0], [1.0], mode=mode)
        nothing = np.zeros(0, np.int64)
        assert NUMPY["take"](np.zeros((0, 2)), nothing, axis=0, mode=mode).shape == (0, 2)


def test_data_of_rank_0_has_one_cell() -> None:
    scalar = np.float32(5)
    assert NUMPY["take"](scalar, np.array([0, -1])).tolist() == [5, 5]
    assert NUMPY["take"](scalar, np.array(0), axis=0).shape == ()
    with pytest.raises(IndexRefused, match="valid: -1 … 0"):
        NUMPY["take"](scalar, np.array([1]))
    with pytest.raises(ShapeRefused, match="axis 1 is out of range"):
        NUMPY["take"](scalar, np.array([0]), axis=1)


def test_a_condition_is_one_axis_of_numbers() -> None:
    compress = NUMPY["compress"]
    for condition in (True, [[True, False]]):
        with pytest.raises(ShapeRefused, match="condition must have one axis"):
            compress(condition, TABLE, axis=0)
    with pytest.raises(DtypeRefused, match="condition cannot be str"):
        compress(["yes", ""], TABLE, axis=0)
    for condition in ([0, -2, 0, 0], [0.0, np.nan], np.array([0, 1j])):
        assert_same(compress(condition, TABLE, axis=0), np.compress(condition, TABLE, axis=0))


@pytest.mark.parametrize("beyond", [True, -3, 1.5, 2j])
def test_a_condition_that_is_true_beyond_the_axis_is_pointed_at(beyond: complex) -> None:
    with pytest.raises(IndexRefused, match=r"condition\[2\] = True; valid: 0 … 1") as caught:
        NUMPY["compress"]([0, 0, beyond, 0, beyond], TABLE, axis=0)
    assert caught.value.problem == "index out of range"
    assert [finding.position for finding in caught.value.findings] == [(2,), (4,)]


def test_index_types_differ_from_function_to_function() -> None:
    flags, unsigned = np.array([True, False]), np.array([1, 0], np.uint64)
    assert NUMPY["take"](LINE, flags).tolist() == [20, 10]
    assert NUMPY["take"](LINE, unsigned).tolist() == [20, 10]
    assert put(LINE, flags, [1, 2]).tolist() == [2, 1, 30, 40]
    assert NUMPY["take_along_axis"](LINE, unsigned).tolist() == [20, 10]
    with pytest.raises(DtypeRefused, match="ind cannot be uint64"):
        put(LINE, unsigned, [1, 2])
    with pytest.raises(DtypeRefused, match="indices must be integers, got bool"):
        NUMPY["take_along_axis"](LINE, flags)
    for name in ("take", "take_along_axis"):
        with pytest.raises(DtypeRefused, match="indices must be integers, got float64"):
            NUMPY[name](LINE, np.array([0.0]))


def test_an_unsigned_index_is_never_read_as_a_negative_one() -> None:
    with pytest.raises(IndexRefused):
        NUMPY["take"](LINE, np.array([2**64 - 1], np.uint64))


def test_along_an_axis_sizes_of_one_stretch_on_both_sides() -> None:
    along = NUMPY["take_along_axis"]
    for arr, indices, axis in (
        (TABLE, [[0]], 1),
        (TABLE, [[1]], 0),
        (TABLE[:1], [[0, 2], [1, 1]], 1),
        (TABLE, [2, -1], None),
    ):
        index = np.array(indices)
        if axis is None:
            index = index.reshape(-1)
        assert_same(along(arr, index, axis=axis), np.take_along_axis(arr, index, axis))
    assert along(TABLE, np.array([[2], [0]])).tolist() == [[30], [40]], "the axis is -1 by default"
    with pytest.raises(ShapeRefused, match="does not fit arr off the axis"):
        along(np.zeros((3, 3)), np.zeros((2, 1), np.int64), axis=1)
    with pytest.raises(ShapeRefused, match="as many axes"):
        along(TABLE, np.array([0]), axis=1)
    with pytest.raises(ShapeRefused, match="without an axis indices have rank 1"):
        along(TABLE, np.array([[0]]), axis=None)


def test_put_repeats_short_values_ignores_long_ones_and_casts() -> None:
    assert put(LINE, [0, 1, 2], [1.75, -1.75]).tolist() == [1, -1, 1, 40]
    assert put(LINE, [3, 0], [1, 2, 3]).tolist() == [2, 20, 30, 1]
    assert put(TABLE, [[5], [-6]], [[7, 8]]).tolist() == [[8, 20, 30], [40, 50, 7]]
    assert put(LINE, [0], [True]).tolist() == [1, 20, 30, 40]


def test_put_of_nothing_looks_at_no_index() -> None:
    assert put(LINE, [99], np.zeros(0)).tolist() == LINE.tolist()
    assert put(LINE, np.zeros((0, 2), np.int64), [1]).tolist() == LINE.tolist()


def test_an_array_of_rank_0_has_one_cell_to_put_into() -> None:
    assert put(np.array(5, np.float32), [0], [9]).item() == 9
    assert put(np.array(5), [0, -1], [7, 8]).item() == 8
    with pytest.raises(IndexRefused):
        put(np.array(5), [1], [9])


def test_an_empty_v_changes_nothing_whatever_its_type() -> None:
    words = np.array(["a", "bc"])
    for empty in (np.zeros(0), np.zeros((2, 0), complex), np.zeros(0, np.bool_)):
        assert put(words, [0], empty).tolist() == ["a", "bc"]
        assert put(LINE, [99], empty).tolist() == LINE.tolist()
    with pytest.raises(DtypeRefused, match="cannot be cast"):
        put(words, [0], [1])


def test_put_along_axis_drops_leading_axes_of_one_and_stretches_values() -> None:
    for indices, values, axis in (
        ([[0]], 9, 1),
        ([[0, 1]], [7.9, 8.9], 1),
        ([[0, 2], [1, 0]], [[[1, 2]]], 1),
        ([[1]], [1, 2, 3], 0),
        ([0, 5], [7, 8], None),
    ):
        index = np.array(indices)
        copy = TABLE.copy()
        np.put_along_axis(copy, index, np.array(values), axis)
        found = NUMPY["put_along_axis"](TABLE, index, np.array(values), axis=axis)
        assert_same(found, copy)
    narrow = NUMPY["put_along_axis"](TABLE[:1], np.array([[0], [1]]), [[7], [8]], axis=1)
    assert narrow.tolist() == [[7, 8, 30]], "two rows of indices, one row of data"
    with pytest.raises(ShapeRefused, match="values does not stretch"):
        NUMPY["put_along_axis"](TABLE, np.array([[0], [1]]), np.zeros((3, 1)), axis=1)
    with pytest.raises(UsageError, match="needs axis"):
        NUMPY["put_along_axis"](TABLE, np.array([[0], [1]]), 1)


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("types", [("int8", "float64"), ("uint8", "int64"), ("float32", "int64"),
                                   ("bool", "int8"), ("bool", "complex64"),
                                   ("complex64", "float64"), ("int64", "uint64")])  # fmt: skip
def test_each_step_runs_in_the_promoted_type(name: str, types: tuple[str, str]) -> None:
    a, b = np.array([1, 0, 1]).astype(types[0]), np.array([1.5, -2.5, 3, -1.5])
    b = np.abs(b).astype(types[1]) if types[1] == "uint64" else b.astype(types[1])
    indices = np.array([0, -1, 0, 1])
    with np.errstate(all="ignore"):
        assert_same(at(name, a, indices, b), expected_at(name, a, indices, b))


def test_a_step_is_not_a_sum_that_is_cut_once() -> None:
    assert at("add", np.array([0]), np.array([0, 0]), [1.5, 1.5]).tolist() == [2]
    exact = np.array([16777216], np.float32)
    assert at("add", exact, np.array([0, 0, 0]), np.ones(3, np.int64)).tolist() == [16777216]


def test_at_counts_every_occurrence_and_broadcasts() -> None:
    grid = (np.array([[0], [1]]), np.array([0, 2, 2]))
    assert_same(at("add", TABLE, grid, 1), expected_at("add", TABLE, grid, 1))
    rows = (np.array([0, -1, 0]),)
    assert_same(
        at("multiply", TABLE, rows, [2, 3, 4]), expected_at("multiply", TABLE, rows, [2, 3, 4])
    )
    assert_same(at("add", TABLE, (), 1), TABLE + 1)
    mask = np.array([True, False])
    assert_same(at("add", TABLE, mask, 1), expected_at("add", TABLE, mask, 1))
    for b in (np.zeros((1, 3, 3)), np.zeros(2)):
        with pytest.raises(ShapeRefused, match="b does not stretch"):
            at("add", TABLE, rows, b)
    with pytest.raises(ShapeRefused, match="more index arrays than axes of a"):
        at("add", LINE, (np.array([0]), np.array([0])), 1)
    with pytest.raises(ShapeRefused, match="do not broadcast together"):
        at("add", TABLE, (np.array([0, 1]), np.array([0, 1, 2])), 1)
    with pytest.raises(ShapeRefused, match="b does not stretch"):
        at("add", np.array(1), (), [5])


ALL = slice(None)


@pytest.mark.parametrize(
    ("subscript", "b", "expected"),
    [
        ((ALL, 0), [[5, 5, 5]], [[6, 2], [8, 4], [10, 6]]),
        ((..., np.array(0)), [[5, 6, 7]], [[6, 2], [9, 4], [12, 6]]),
        ((None, 1, 1), [[5]], [[1, 2], [3, 9], [5, 6]]),
        ((ALL, 0), [[[5, 5, 5]]], None),
        ((ALL, 0), [[5], [5]], None),
        ((0, ALL), [[5, 5]], None),
        ((ALL, [0]), [[[5]]], None),
        (([0, 1],), [[[5, 5]]], None),
    ],
)
def test_b_may_have_an_axis_more_where_numpy_takes_it(
    subscript: Any, b: Any, expected: object
) -> None:
    """As NumPy 2.4 answers; it is not asked here, since it writes beyond its memory meanwhile."""
    a = np.arange(1, 7).reshape(3, 2)
    if expected is not None:
        np.testing.assert_array_equal(at("add", a, subscript, b), expected)
        return
    with pytest.raises(ShapeRefused) as refused:
        at("add", a, subscript, b)
    assert ("crashes" in str(refused.value.details)) == (np.ndim(b) == 3 and subscript == (ALL, 0))


def test_nan_stays_and_complex_compares_by_parts() -> None:
    nan = np.array([np.nan, 1.0], np.float32)
    assert np.isnan(at("maximum", nan, np.array([0, 1]), np.float32([5, np.nan]))).all()
    pair = np.array([1 + 2j, 3 - 1j])
    assert at("maximum", pair, np.array([0, 1]), [1 + 1j, 3 + 5j]).tolist() == [1 + 2j, 3 + 5j]


def test_bool_has_every_ufunc_but_subtract() -> None:
    both, every = np.array([True, False]), np.array([0, 0, 1])
    for name in ("add", "multiply", "maximum", "minimum"):
        b = np.array([True, False, True])
        assert_same(at(name, both, every, b), expected_at(name, both, every, b))
    with pytest.raises(DtypeRefused, match="subtract has no meaning for bool"):
        at("subtract", both, every, True)


def test_small_types_are_numpys_too() -> None:
    half = np.zeros(2, ml_dtypes.bfloat16)
    ones = np.ones(300, ml_dtypes.bfloat16)
    found = at("add", half, np.zeros(300, np.int64), ones)
    assert found.astype(np.float32).tolist() == [256, 0], "rounded after every step"
    assert NUMPY["take"](half.astype(ml_dtypes.float8_e5m2), np.array([1])).shape == (1,)


def test_strings_move_whole_and_never_meet_numbers() -> None:
    words = np.array(["a", "b"])
    assert put(words, [-1], ["longer"]).tolist() == ["a", "longer"]
    for call in (lambda: put(words, [0], [1]), lambda: put(LINE, [0], ["1"])):
        with pytest.raises(DtypeRefused, match="v cannot be cast to a's element type"):
            call()
    assert at("add", words, np.array([0, 0]), "cd").tolist() == ["acdcd", "b"]
    with pytest.raises(DtypeRefused, match="a cannot be str"):
        at("maximum", words, np.array([0]), "c")


def test_imaginary_parts_are_not_dropped_in_silence() -> None:
    for call in (lambda: put(LINE, [0], [1j]), lambda: at("add", LINE, np.array([0]), 1j)):
        with pytest.raises(DtypeRefused, match="cannot be cast to a's element type") as refusal:
            call()
        assert "imaginary" in refusal.value.details[0]


def test_several_values_for_one_cell_have_no_promised_order() -> None:
    assert put(LINE, [0, 0], [1, 2]).tolist()[0] == 2, "the last value seen"
    layout = NUMPY["put"].infer_layout(
        {name: Tensor(name, (2,), "int64") for name in ("a", "ind", "v")}, {}
    )
    assert "does not promise" in layout.unspecified_order


@pytest.mark.parametrize("attrs", [{"mode": "drop"}, {"mode": None}, {"axis": 2}, {"axis": "x"},
                                   {"axis": 0.5}, {"axis": 2**70}, {"axes": 0}])  # fmt: skip
def test_a_bad_attribute_is_refused(attrs: dict[str, object]) -> None:
    with pytest.raises(GscliError):
        gscli.run("numpy.take", {"a": TABLE, "indices": np.array([0])}, attrs)


def test_a_missing_or_a_strange_input_is_named() -> None:
    with pytest.raises(UsageError, match="needs v"):
        gscli.run("numpy.put", {"a": LINE, "ind": np.array([0])})
    with pytest.raises(UsageError, match="no input 'index'"):
        gscli.run("numpy.take", {"a": LINE, "indices": np.array([0]), "index": np.array([0])})
