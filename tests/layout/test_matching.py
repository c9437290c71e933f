"""Matching: every recorded layout is matched by what its family builds, and by nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from gscli.layout.axes import Tensor
from gscli.layout.families import address_axis, address_elements, address_flat, address_vectors
from gscli.layout.matching import (
    find_dimension_numbers,
    match_along_axis,
    match_elements,
    match_vectors,
    match_windows,
)
from gscli.layout.subscripts import SubscriptRules, run_subscript

CUBE = Tensor("data", (2, 3, 4), "int8")


def spec(*shape: int) -> Tensor:
    return Tensor("indices", shape, "int64")


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_slices_on_an_axis_are_matched_whoever_built_them(axis: int) -> None:
    form = match_along_axis(address_axis(CUBE, spec(5, 6), axis), (5, 6))
    assert form is not None
    assert (form.axis, form.batch) == (axis, 0)
    assert match_elements(address_axis(CUBE, spec(5, 6), axis), (5, 6)) is None
    subscript = ", ".join([":"] * axis + ["i"])
    form = match_along_axis(run_subscript(CUBE, subscript, [spec(5, 6)], SubscriptRules()), (5, 6))
    assert form is not None
    assert form.axis == axis


def test_arrays_that_stand_apart_are_no_slices_on_an_axis() -> None:
    apart = run_subscript(CUBE, "i, :, i", [spec(5), spec(5)], SubscriptRules())
    matchers = (match_along_axis, match_elements, match_vectors, match_windows)
    assert [matcher(apart, (5,)) for matcher in matchers] == [None] * 4


def test_vectors_are_matched_on_any_axis_and_behind_batches() -> None:
    form = match_vectors(address_vectors(CUBE, spec(2, 5, 2), 1), (2, 5, 2))
    assert form is not None
    assert (form.batch, form.vector_dim) == (1, 2)
    form = match_vectors(address_vectors(CUBE, spec(2, 5), vector_dim=0), (2, 5))
    assert form is not None
    assert form.vector_dim == 0


def test_smaller_indices_have_no_dimension_numbers() -> None:
    """A batching dimension has one size; elements may stop earlier."""
    assert find_dimension_numbers(address_elements(CUBE, spec(2, 3, 9), 2), (2, 3, 9))
    smaller = address_elements(CUBE, spec(1, 3, 9), 2)
    assert find_dimension_numbers(smaller, (1, 3, 9)) is None
    assert match_elements(smaller, (1, 3, 9))


def test_stretched_elements_have_neither_form() -> None:
    stretched = address_elements(CUBE, spec(2, 1, 9), 2, stretch=True)
    assert match_elements(stretched, (2, 1, 9)) is None
    assert find_dimension_numbers(stretched, (2, 1, 9)) is None


def test_empty_vectors_have_dimension_numbers() -> None:
    numbers = find_dimension_numbers(address_vectors(CUBE, spec(5, 0)), (5, 0))
    assert numbers is not None
    assert (numbers.offset, numbers.index_map, numbers.index_vector_dim) == ((1, 2, 3), (), 1)


def test_numbers_say_the_addressing_that_they_were_read_off() -> None:
    rng = np.random.default_rng(6)
    for _ in range(200):
        shape = tuple(int(size) for size in rng.integers(1, 4, 3))
        data, axis = Tensor("data", shape, "int8"), int(rng.integers(3))
        batch = int(rng.integers(axis + 1))
        indices = spec(*shape[:batch], *(int(size) for size in rng.integers(1, 4, 2)))
        addressing = address_axis(data, indices, axis, batch)
        numbers = find_dimension_numbers(addressing, indices.shape)
        assert numbers is not None
        spans = [part.span for part in addressing.axes]
        assert numbers.address(data, indices, spans) == addressing
    assert find_dimension_numbers(address_flat(spec(4), spec(2)), (2,))
