"""Shapes of the four families on every small shape, against formulas written down anew."""

from __future__ import annotations

from itertools import product

import pytest

from gscli.base import ShapeRefused
from gscli.layout.axes import Shape, Tensor
from gscli.layout.families import (
    address_axis,
    address_elements,
    address_flat,
    address_vectors,
    broadcast_shapes,
    normalize_axis,
)
from gscli.layout.subscripts import SubscriptRules, run_subscript

SHAPES = [shape for rank in range(4) for shape in product((0, 1, 3), repeat=rank)]
DATA = [shape for shape in SHAPES if shape]


def tensor(name: str, shape: Shape) -> Tensor:
    return Tensor(name, shape, "int64")


@pytest.mark.parametrize("shape", DATA)
def test_along_axis_replaces_one_axis(shape: Shape) -> None:
    for axis, indices in product(range(len(shape)), [(), (2,), (2, 1)]):
        found = address_axis(tensor("d", shape), tensor("i", indices), axis)
        assert found.result_shape == shape[:axis] + indices + shape[axis + 1 :]
        assert sorted(found.result_axes) == list(range(len(found.result_axes)))


def test_along_axis_shares_batches() -> None:
    found = address_axis(tensor("d", (2, 3, 4)), tensor("i", (2, 5)), 2, 1)
    assert found.result_shape == (2, 3, 5)
    assert found.axes[0].entry == 0
    with pytest.raises(ShapeRefused, match="batch axes differ"):
        address_axis(tensor("d", (2, 3)), tensor("i", (1, 5)), 1, 1)


@pytest.mark.parametrize("shape", DATA)
def test_elements_take_the_shape_of_the_indices(shape: Shape) -> None:
    for axis in range(len(shape)):
        longer = tuple(7 if d == axis else size for d, size in enumerate(shape))
        found = address_elements(tensor("d", shape), tensor("i", longer), axis)
        assert found.result_shape == longer
        assert found.axes[axis].column == 0
        assert all(one.entry == d for d, one in enumerate(found.axes) if d != axis)


def test_elements_off_the_axis() -> None:
    data = tensor("d", (3, 4))
    assert address_elements(data, tensor("i", (2, 4)), 1).result_shape == (2, 4)
    with pytest.raises(ShapeRefused, match="does not fit"):
        address_elements(data, tensor("i", (4, 4)), 1)
    with pytest.raises(ShapeRefused, match="as many axes"):
        address_elements(data, tensor("i", (4,)), 1)
    stretched = address_elements(data, tensor("i", (1, 2)), 1, stretch=True)
    assert stretched.result_shape == (3, 2)
    assert address_elements(
        tensor("d", (1, 4)), tensor("i", (5, 2)), 1, stretch=True
    ).result_shape == (
        5,
        2,
    )
    with pytest.raises(ShapeRefused):
        address_elements(data, tensor("i", (2, 2)), 1, stretch=True)


@pytest.mark.parametrize("shape", DATA)
def test_vectors_name_leading_axes(shape: Shape) -> None:
    for length in range(len(shape) + 1):
        found = address_vectors(tensor("d", shape), tensor("i", (5, length)))
        assert found.result_shape == (5, *shape[length:])
        first = address_vectors(tensor("d", shape), tensor("i", (length, 5)), vector_dim=0)
        assert first.result_shape == found.result_shape
        assert first.axes == found.axes
    with pytest.raises(ShapeRefused, match="longer than d has axes"):
        address_vectors(tensor("d", shape), tensor("i", (5, len(shape) + 1)))


def test_numbers_in_place_of_vectors_of_one_number_are_told_so() -> None:
    with pytest.raises(ShapeRefused) as refusal:
        address_vectors(tensor("d", (4,)), tensor("i", (2,)))
    cure = "for 2 vectors of one number i would be [2,1], in Python i[:,None]; "
    assert refusal.value.hint.startswith(cure)
    assert "to add, gscli numpy add-at take them as they are" in refusal.value.hint
    assert refusal.value.details == (str(tensor("d", (4,))),)
    with pytest.raises(ShapeRefused) as refusal:
        address_vectors(tensor("d", (4, 4)), tensor("i", (4, 2)), 1)
    assert refusal.value.details[1:] == ("batch_dims 1",)


def test_index_tuples_broadcast() -> None:
    arrays = [tensor("i", (3, 1)), tensor("j", (2,))]
    assert run_subscript(tensor("d", (4, 5, 6)), None, arrays, SubscriptRules()).result_shape == (
        3,
        2,
        6,
    )
    with pytest.raises(ShapeRefused, match="more index arrays"):
        run_subscript(tensor("d", (4,)), None, arrays, SubscriptRules())
    with pytest.raises(ShapeRefused, match="do not broadcast"):
        run_subscript(
            tensor("d", (4, 5)), None, [tensor("i", (3,)), tensor("j", (2,))], SubscriptRules()
        )


def test_small_parts() -> None:
    assert address_flat(tensor("d", (2, 3)), tensor("i", (5, 1))).axes[0].size == 6
    assert broadcast_shapes([(2, 1), (1, 3), ()], ["a", "b", "c"]) == (2, 3)
    assert [normalize_axis(axis, 3) for axis in range(-3, 3)] == [0, 1, 2, 0, 1, 2]
    for axis in (-4, 3):
        with pytest.raises(ShapeRefused) as caught:
            normalize_axis(axis, 3)
        assert caught.value.valid == "-3 … 2"
    with pytest.raises(ShapeRefused) as caught:
        normalize_axis(0, 0)
    assert "none" in caught.value.valid
