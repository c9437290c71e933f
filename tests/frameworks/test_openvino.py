"""OpenVINO: the rules in words that the recorded cases leave uncovered, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import Array, assert_same

import gscli
from gscli.base import DtypeRefused, GscliError, IndexRefused, ShapeRefused, UsageError
from gscli.frameworks import find_operator, load_framework
from gscli.layout.axes import Tensor

OPENVINO = load_framework("openvino").operators
TABLE = np.array([[1, 2, 3], [4, 5, 6]])
LINE = np.array([10, 20, 30])


def run(name: str, *inputs: Any, **attrs: Any) -> Array:
    return OPENVINO[name](*map(np.asarray, inputs), **attrs)


def test_scatter_update_is_a_bare_command() -> None:
    assert find_operator("scatter_update").full_name == "openvino.scatter_update"
    assert gscli.scatter_update(LINE, [2], [7], 0).tolist() == [10, 20, 7]


def test_the_axis_is_an_input_of_one_number() -> None:
    for axis in (1, [1], [-1], np.uint8(1), np.array([-1], np.int8)):
        assert run("scatter_update", TABLE, 0, [7, 8], axis).tolist() == [[7, 2, 3], [8, 5, 6]]
    with pytest.raises(ShapeRefused, match="axis must be one number"):
        run("scatter_update", TABLE, 0, [7, 8], [0, 1])
    with pytest.raises(ShapeRefused, match="axis 2 is out of range"):
        run("scatter_update", TABLE, 0, [7, 8], 2)
    with pytest.raises(DtypeRefused, match="axis must be integers"):
        run("scatter_update", TABLE, 0, [7, 8], 1.0)
    with pytest.raises(UsageError, match="needs axis"):
        gscli.run("openvino.gather", {"data": TABLE, "indices": np.array([0])})


def test_scatter_update_of_the_reference_page() -> None:
    data = np.array([[-1, 1, -1, 3, 4], [-1, 6, -1, 8, 9], [-1, 11, 1, 13, 14]], np.float32)
    updates = np.array([[1, 1], [1, 1], [1, 2]], np.float32)
    found = run("scatter_update", data, np.array([0, 2]), updates, [1])
    assert found.tolist() == [[1, 1, 1, 3, 4], [1, 6, 1, 8, 9], [1, 11, 2, 13, 14]]


def test_scatter_update_takes_indices_of_any_rank() -> None:
    grid = run("scatter_update", LINE, [[2, 0]], [[7, 8]], 0)
    assert grid.tolist() == [8, 20, 7]
    assert run("scatter_update", LINE, 1, 9, 0).tolist() == [10, 9, 30]
    with pytest.raises(ShapeRefused, match=r"valid: \[2,1,2\]"):
        run("scatter_update", TABLE, [[0, 1]], [[7, 8]], 1)
    for bad in (-1, 3):
        with pytest.raises(IndexRefused, match="valid: 0 … 2"):
            run("scatter_update", LINE, [bad], [7], 0)
    with pytest.raises(DtypeRefused, match="data cannot be str"):
        run("scatter_update", ["a"], [0], ["b"], 0)
    with pytest.raises(DtypeRefused, match="updates must have data's element type"):
        run("scatter_update", LINE, [0], [1.0], 0)


@pytest.mark.parametrize("opset", [1, 7])
def test_gather_before_8_refuses_what_its_text_does_not_allow(opset: int) -> None:
    for bad in (-1, 3):
        with pytest.raises(IndexRefused, match="valid: 0 … 2"):
            run("gather", LINE, [0, bad], 0, opset=opset)


def test_gather_8_counts_from_the_end_and_reads_zero_outside() -> None:
    assert run("gather", LINE, [3, -3, -4, -1, 99], 0).tolist() == [0, 10, 0, 30, 0]
    assert run("gather", np.array([True]), [0, 1], 0).tolist() == [True, False]
    assert run("gather", np.array(["a"]), [0, 1], 0).tolist() == ["a", ""]
    assert run("gather", np.zeros((0, 2)), [0], 0).tolist() == [[0, 0]]


def test_batches_of_gather() -> None:
    indices = [[0, 0, 2], [2, 0, 0]]
    assert run("gather", TABLE, indices, 1, batch_dims=1).tolist() == [[1, 1, 3], [6, 4, 4]]
    assert_same(
        run("gather", TABLE, indices, 1, batch_dims=-1),
        run("gather", TABLE, indices, 1, batch_dims=1),
    )
    assert run("gather", TABLE, [2, 0], 1, batch_dims=1).tolist() == [3, 4]
    for batch_dims in (3, -3):
        with pytest.raises(ShapeRefused, match="batch_dims is out of range"):
            run("gather", TABLE, indices, 1, batch_dims=batch_dims)
    with pytest.raises(ShapeRefused, match="batch_dims is out of range"):
        run("gather", TABLE, indices, 0, batch_dims=1)
    with pytest.raises(ShapeRefused, match="batch axes differ"):
        run("gather", TABLE, [[0]], 1, batch_dims=1)
    with pytest.raises(UsageError, match="batch_dims needs opset 7"):
        run("gather", TABLE, indices, 1, batch_dims=0, opset=1)


def test_gather_elements_has_equal_sizes_off_the_axis() -> None:
    assert run("gather_elements", TABLE, [[1, 0, 1]], axis=0).tolist() == [[4, 2, 6]]
    with pytest.raises(ShapeRefused, match="off the axis"):
        run("gather_elements", TABLE, [[1, 0]], axis=0)
    with pytest.raises(IndexRefused, match="negative index"):
        run("gather_elements", TABLE, [[1, 0, -1]], axis=0)
    with pytest.raises(DtypeRefused, match="indices cannot be int16"):
        run("gather_elements", TABLE, np.zeros((1, 3), np.int16), axis=0)
    with pytest.raises(UsageError, match="needs axis"):
        run("gather_elements", TABLE, [[1, 0, 1]])


def test_gather_nd_5_flattens_its_batches() -> None:
    data = np.arange(24).reshape(2, 3, 4)
    indices = np.array([[[[1]], [[0]], [[2]]], [[[0]], [[2]], [[2]]]])
    new = run("gather_nd", data, indices, batch_dims=2, opset=8)
    old = run("gather_nd", data, indices, batch_dims=2, opset=5)
    assert new.shape == (2, 3, 1)
    assert_same(old, new.reshape(6, 1))
    assert run("gather_nd", data, indices, batch_dims=1, opset=5).shape == (2, 3, 1, 4)


def test_gather_nd_says_what_the_plugin_would_have_read() -> None:
    assert run("gather_nd", TABLE, [[-1, -3]]).tolist() == [4]
    with pytest.raises(IndexRefused, match="out of range"):
        run("gather_nd", TABLE, [[2]])
    with pytest.raises(IndexRefused, match="negative index"):
        run("gather_nd", TABLE, [[-1]], opset=5)
    for data, indices, batch_dims in ((TABLE, [[0]], 1), (TABLE, [[0]], 2), (TABLE, 0, 0)):
        with pytest.raises(ShapeRefused):
            run("gather_nd", data, indices, batch_dims=batch_dims)


PLUGIN_NOTES: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("gather_nd", [TABLE, [[0, 5]]], {}, "from another cell or memory outside data"),
    ("scatter_elements_update", [TABLE, [[-5]], [[9]], 1], {}, "to another cell or outside data"),
    ("gather_elements", [LINE, [-1]], {"axis": 0}, "the CPU plugin counts -s … -1 from the end"),
    ("scatter_update", [LINE, [3], [9], 0], {}, "integers of 16 bits or more on one axis"),
]


@pytest.mark.parametrize(("name", "inputs", "attrs", "note"), PLUGIN_NOTES)
def test_refusals_say_no_more_of_the_plugin_than_was_seen(
    name: str, inputs: list[Any], attrs: dict[str, Any], note: str
) -> None:
    """One thread fills nothing, -5 of the second of two rows is a cell of the first."""
    with pytest.raises(IndexRefused) as caught:
        run(name, *inputs, **attrs)
    assert note in caught.value.hint
    assert "refuses what lies beyond" not in caught.value.hint


def test_scatter_elements_update_3_is_narrower_than_12() -> None:
    longer = ([0, 1, 2, 0], [1, 2, 3, 4])
    assert run("scatter_elements_update", LINE, *longer, 0).tolist() == [4, 2, 3]
    with pytest.raises(ShapeRefused, match="axis 0: indices has 4, data has 3"):
        run("scatter_elements_update", LINE, *longer, 0, opset=3)
    with pytest.raises(IndexRefused, match="valid: 0 … 2"):
        run("scatter_elements_update", LINE, [-1], [9], 0, opset=3)
    for attrs in ({"reduction": "none"}, {"use_init_val": True}):
        with pytest.raises(UsageError, match="needs opset 12"):
            run("scatter_elements_update", LINE, [0], [9], 0, opset=3, **attrs)
    with pytest.raises(IndexRefused, match="what lies below is written to another cell"):
        run("scatter_elements_update", LINE, [-4], [9], 0)


def test_reductions_of_the_reference_page() -> None:
    data, indices, updates = [2, 3, 4, 6], [1, 0, 0, -2, -1, 2], [10, 20, 30, 40, 70, 60]
    with_data = run("scatter_elements_update", data, indices, updates, 0, reduction="sum")
    assert with_data.tolist() == [52, 13, 104, 76]
    without = run(
        "scatter_elements_update", data, indices, updates, 0, reduction="sum", use_init_val=False
    )
    assert without.tolist() == [50, 10, 100, 70]
    untouched = run(
        "scatter_elements_update", data, [0], [1], 0, reduction="max", use_init_val=False
    )
    assert untouched.tolist() == [1, 3, 4, 6]


def test_the_mean_of_integers_rounds_toward_minus_infinity() -> None:
    mean = {"reduction": "mean", "use_init_val": False}
    assert run("scatter_elements_update", [0], [0, 0, 0], [-3, -3, -2], 0, **mean).tolist() == [-3]
    wrapped = np.array([120, 120, 120], np.int8)
    found = run("scatter_elements_update", np.int8([0]), [0, 0, 0], wrapped, 0, **mean)
    assert found.tolist() == [34], "the sum wraps in int8 first"
    with pytest.raises(DtypeRefused, match="mean has no meaning for bool"):
        run("scatter_elements_update", [True], [0], [True], 0, reduction="mean")


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        ("sum", [False, True, True, True]),
        ("sub", [False, True, True, False]),
        ("prod", [False, False, False, True]),
        ("min", [False, False, False, True]),
        ("max", [False, True, True, True]),
    ],
)
def test_bool_is_logic(reduction: str, expected: list[bool]) -> None:
    data, updates = np.array([False, False, True, True]), np.array([False, True, False, True])
    vectors = np.arange(4)[:, None]
    assert (
        run("scatter_nd_update", data, vectors, updates, reduction=reduction).tolist() == expected
    )


def test_names_of_reductions_are_the_operators_own() -> None:
    for name, bad in (("scatter_elements_update", "sub"), ("scatter_nd_update", "mean")):
        for reduction in (bad, "add", "SUM", ""):
            with pytest.raises(UsageError, match="unknown reduction"):
                OPENVINO[name].bind_attributes({"reduction": reduction})
    with pytest.raises(UsageError, match="did you mean sum"):
        OPENVINO["scatter_nd_update"].bind_attributes({"reduction": "add"})


def test_scatter_nd_update_of_the_reference_page_corrected() -> None:
    vectors, updates = [[0], [2], [-3], [-3], [0]], [10, 20, 30, 40, 50]
    expected = {
        "none": [50, 40, 20, 4],
        "sum": [61, 72, 23, 4],
        "sub": [-59, -68, -17, 4],
        "prod": [500, 2400, 60, 4],
    }
    for reduction, answer in expected.items():
        found = run("scatter_nd_update", [1, 2, 3, 4], vectors, updates, reduction=reduction)
        assert found.tolist() == answer
    with pytest.raises(ShapeRefused, match="longer than data has axes"):
        run("scatter_nd_update", [1, 2, 3, 4], [0, 2, -3, -3, 0], updates)


def test_one_element_will_do_where_updates_have_rank_0() -> None:
    for nine in (9, [9], [[9]]):
        assert run("scatter_nd_update", LINE, [1], nine).tolist() == [10, 9, 30]
    with pytest.raises(ShapeRefused, match="updates has the wrong shape"):
        run("scatter_nd_update", LINE, [1], [9, 9])
    with pytest.raises(ShapeRefused, match=r"valid: \[1,3\]"):
        run("scatter_nd_update", TABLE, [[1]], [9])


def test_versions_of_scatter_nd_update() -> None:
    with pytest.raises(IndexRefused, match="negative index"):
        run("scatter_nd_update", LINE, [[-1]], [9], opset=3)
    with pytest.raises(UsageError, match="reduction needs opset 15"):
        run("scatter_nd_update", LINE, [[0]], [9], opset=14, reduction="sum")
    with pytest.raises(DtypeRefused, match="indices cannot be uint8"):
        run("scatter_nd_update", LINE, np.array([[0]], np.uint8), [9])
    for inputs in ((np.array(5), [[0]], [9]), (LINE, 0, 9)):
        with pytest.raises(ShapeRefused, match="rank 0 is not allowed"):
            run("scatter_nd_update", *inputs)


def test_wide_types_stay_wide() -> None:
    big = np.array([2**53 + 1, -(2**62)])
    assert_same(run("gather", big, [0, 1], 0), big)
    assert run("scatter_nd_update", big, [[0]], [1], reduction="sum")[0] == 2**53 + 2
    assert run("scatter_update", np.array([1e300]), [0], np.array([-1e300]), 0)[0] == -1e300


def test_numbers_only_where_the_text_says_so() -> None:
    for name, inputs in (
        ("scatter_nd_update", (["a"], [[0]], ["b"])),
        ("scatter_elements_update", (["a"], [0], ["b"], 0)),
        ("gather", (np.array([1j]), [0], 0)),
        ("gather_nd", (np.array([1j]), [[0]])),
    ):
        with pytest.raises(DtypeRefused, match="data cannot be"):
            run(name, *inputs)


def test_duplicates_leave_the_order_open() -> None:
    layout = OPENVINO["scatter_update"].infer_layout(
        {
            "data": Tensor("data", (3,), "int64"),
            "indices": Tensor("indices", (2,), "int64"),
            "updates": Tensor("updates", (2,), "int64"),
            "axis": Tensor("axis", (), "int64", (0,)),
        },
        {},
    )
    assert "undefined" in layout.unspecified_order
    assert run("scatter_update", LINE, [0, 0], [7, 8], 0).tolist() == [8, 20, 30]


@pytest.mark.parametrize("attrs", [{"opset": 0}, {"opset": "x"}, {"batch_dims": 0.5},
                                   {"batch_dims": 2**70}, {"axis": 0}])  # fmt: skip
def test_a_bad_attribute_is_refused(attrs: dict[str, object]) -> None:
    with pytest.raises(GscliError):
        gscli.run(
            "openvino.gather",
            {"data": LINE, "indices": np.array([0]), "axis": np.array(0)},
            {"opset": 8, **attrs} if "axis" not in attrs else attrs,
        )
