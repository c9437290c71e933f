"""Boolean masks in index tuples, and the names of index tuples."""

from __future__ import annotations

import numpy as np
import pytest

import gscli
from gscli.base import GscliError, ShapeRefused, UsageError
from gscli.declare import variadic_names
from gscli.frameworks import find_operator
from gscli.plan.masks import expand_masks

AT = find_operator("numpy.add.at")
GRID = np.arange(6).reshape(2, 3)
MASK = np.array([[True, False, True], [False, True, False]])


def test_a_mask_becomes_one_array_per_axis_and_the_rest_keeps_its_names() -> None:
    cube = np.zeros((2, 3, 4))
    inputs = {"a": cube, "indices_0": MASK, "indices_1": np.array([3, 2, 1]), "b": np.ones(3)}
    arrays, sources, attrs = expand_masks(AT, inputs, {})
    assert attrs == {"subscript": "m, +, i"}
    assert {name: array.tolist() for name, array in arrays.items() if name[0] in "in"} == {
        "nonzero(indices_0)[0]": [0, 0, 1], "nonzero(indices_0)[1]": [0, 2, 1],
        "indices_1": [3, 2, 1],
    }  # fmt: skip
    assert sources == dict.fromkeys(["nonzero(indices_0)[0]", "nonzero(indices_0)[1]"], "indices_0")
    assert list(arrays) == ["a", *sources, "indices_1", "b"]
    inputs["indices_1"][0] = 9
    with pytest.raises(GscliError, match="out of range") as caught:
        gscli.run("numpy.add.at", inputs)
    assert caught.value.where == "indices_1[0] = 9"


def test_inputs_without_masks_are_left_alone() -> None:
    inputs = {"a": GRID, "indices_3": np.array([0]), "b": np.array([1])}
    arrays, sources, attrs = expand_masks(AT, inputs, {})
    assert arrays == inputs
    assert attrs == {}
    assert sources == {}
    gather = find_operator("onnx.gather")
    assert expand_masks(gather, {"data": GRID, "indices": MASK}, {})[0]["indices"] is MASK


def test_a_mask_may_follow_an_index_array() -> None:
    got = gscli.run(
        "numpy.add.at",
        {"a": GRID, "indices_0": [0, 1], "indices_1": [True, False, True], "b": 100},
        {"indices_per_axis": 2},
    )
    assert got.tolist() == [[100, 1, 2], [3, 4, 105]]


@pytest.mark.parametrize(
    ("masks", "where"),
    [
        ([MASK[:, :2]], "indices_0 bool [2,2]"),
        ([MASK[0]], "indices_0 bool [3]"),
        ([MASK[..., None]], "indices_0 bool [2,3,1]"),
        ([MASK[:, 0], MASK], "indices_1 bool [2,3]"),
    ],
)
def test_a_mask_has_the_sizes_of_the_axes_it_covers(masks: list[np.ndarray], where: str) -> None:
    inputs = {"a": GRID, "b": 1} | {f"indices_{i}": mask for i, mask in enumerate(masks)}
    with pytest.raises(ShapeRefused, match="mask does not have the sizes") as caught:
        gscli.run("numpy.add.at", inputs)
    assert caught.value.where == where


@pytest.mark.parametrize("name", ["indices_", "indices_x", "indices_-1", "indices_1_2"])
def test_other_names_are_no_index_arrays(name: str) -> None:
    assert variadic_names("indices", (name,)) == ()
    with pytest.raises(UsageError, match="has no input"):
        gscli.run("numpy.add.at", {"a": [1], name: [0], "b": [1]})


@pytest.mark.parametrize("other", [[0], [True, False, True]])
def test_more_arrays_than_a_subscript_has_letters_are_refused(other: list[int]) -> None:
    inputs = {"a": [1, 2, 3], "indices_0": [True, False, True], "indices_1": other}
    with pytest.raises(UsageError, match="differ in number; 1 array in 'i', got 2"):
        gscli.run("numpy.getitem", inputs, {"subscript": "i"})


def test_the_recorded_number_of_index_arrays_is_checked() -> None:
    with pytest.raises(GscliError, match="indices_per_axis is 2, got 1 arrays"):
        gscli.run("numpy.add.at", {"a": [1], "indices_0": [0], "b": [1]}, {"indices_per_axis": 2})
