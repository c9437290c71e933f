"""Plans: what becomes of index numbers, and what is refused before anything happens."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from conftest import Array

from gscli.base import CannotRead, IndexRefused
from gscli.layout import Layout, gather_layout
from gscli.layout.axes import Axis, Negative, OutOfBounds, Policy, Tensor, Truncation
from gscli.layout.families import address_axis, address_vectors
from gscli.layout.subscripts import SubscriptRules, run_subscript
from gscli.plan.indices import apply_policy, describe_out_of_range, legal_range
from gscli.plan.plan import Plan

SIZES = (0, 1, 3, 127, 300)
EDGES = [0, 1, 2, 3, 126, 127, 128, 255, 299, 300, 2**31, 2**32 + 1, 2**63 - 1, 2**64 - 1]
POLICIES = [
    Policy(negative, beyond, truncation=narrow)
    for negative, beyond, narrow in itertools.product(Negative, OutOfBounds, Truncation)
]


def one_number(number: int, size: int, policy: Policy) -> int | None:
    """What the words of a policy say, for one number that is not refused; None: skipped."""
    if policy.truncation is Truncation.BEFORE_NEGATIVE:
        number = (number + 2**31) % 2**32 - 2**31
    if number < 0 and policy.negative is Negative.SKIP:
        return None
    if number < 0 and policy.negative is Negative.FROM_END:
        number += size
    if policy.truncation is Truncation.AFTER_NEGATIVE:
        number = (number + 2**31) % 2**32 - 2**31
    if policy.truncation is Truncation.UNSIGNED:
        number %= 2**32
    if policy.out_of_bounds is OutOfBounds.WRAP:
        return number % size
    if policy.out_of_bounds is OutOfBounds.CLIP:
        return min(max(number, 0), size - 1)
    return number if 0 <= number < size or policy.out_of_bounds is OutOfBounds.RAISE else None


def numbers_of(dtype: str) -> Array:
    info = np.iinfo(dtype)
    both = [number for edge in EDGES for number in (edge, -edge) if info.min <= number <= info.max]
    return np.array(sorted({*both, int(info.min), int(info.max)}), dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_every_number_becomes_what_the_policy_says(dtype: str) -> None:
    numbers = numbers_of(dtype)
    for policy, size in itertools.product(POLICIES, SIZES):
        axis = Axis(size, column=0)
        refused = describe_out_of_range(numbers, axis, policy)
        kept = numbers if refused is None else numbers[~refused]
        coordinates, live = apply_policy(kept, axis, policy)
        for place, number in enumerate(kept.tolist()):
            expected = one_number(number, size, policy)
            found = int(coordinates[place]) if live is None or live[place] else None
            right = found == expected or (expected is not None and not 0 <= expected < size)
            assert right, f"{number} on {size} under {policy}: {found}, expected {expected}"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
def test_tame_numbers_need_no_policy(dtype: str) -> None:
    for policy, size in itertools.product(POLICIES, SIZES[1:]):
        for number in numbers_of(dtype):
            array = np.array([number])
            plan = Plan(layout_of_rows(size, array, policy), {"indices": array})
            narrow = policy.truncation is not Truncation.NEVER
            highest = min(size - 1, 2**31 - 1 if narrow else number)
            tame = number == int(number) and 0 <= number <= highest
            assert plan.in_bounds[0] == tame, f"{number} on {size} under {policy}"
            if plan.in_bounds[0]:
                assert one_number(int(number), size, policy) == number


def layout_of_rows(size: int, indices: Array, policy: Policy, inner: int = 2) -> Layout:
    data = Tensor("data", (size, inner), "float32")
    found = Tensor("indices", indices.shape, str(indices.dtype))
    return gather_layout(data, address_axis(data, found, 0), policy)


def test_fractions_and_nothing_at_all_are_never_tame() -> None:
    for array, tame in ((np.array([0.0]), False), (np.empty(0), True), (np.empty(0, int), True)):
        assert Plan(layout_of_rows(3, array, Policy()), {"indices": array}).in_bounds == (tame,)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_vectors_may_lie_along_any_axis(dim: int) -> None:
    data = Tensor("data", (5, 6, 7), "float32")
    found = np.moveaxis(np.random.default_rng(0).integers(0, 5, (3, 4, 2)), -1, dim)
    for array in (found, np.ascontiguousarray(found)):
        layout = gather_layout(
            data, address_vectors(data, Tensor("i", array.shape, "int64"), vector_dim=dim), Policy()
        )
        plan = Plan(layout, {"i": array})
        expected = np.moveaxis(array, dim, -1).reshape(-1, 2)
        assert [plan.raw_indices(column, 2, 9).tolist() for column in (0, 1)] == expected[
            2:9
        ].T.tolist()
        assert plan.index_vector(5) == tuple(expected[5])


def test_arrays_of_a_tuple_broadcast() -> None:
    data = Tensor("data", (5, 6), "float32")
    first, second = np.array([[1], [4]]), np.array([0, 5, 2])
    tensors = [Tensor(name, a.shape, "int64") for name, a in (("i", first), ("j", second))]
    plan = Plan(
        gather_layout(data, run_subscript(data, None, tensors, SubscriptRules()), Policy()),
        {"i": first, "j": second},
    )
    assert [plan.index_vector(entry) for entry in range(6)] == [
        (1, 0), (1, 5), (1, 2), (4, 0), (4, 5), (4, 2),
    ]  # fmt: skip
    assert plan.index_position(0, 4) == (1, 0)
    assert plan.index_position(1, 4) == (1,)


def test_the_first_refusals_are_shown_and_all_are_counted() -> None:
    array = np.array([0, 7, -9, 2, 7, 7])
    layout = layout_of_rows(3, array, Policy())
    with pytest.raises(IndexRefused) as caught:
        Plan(layout, {"indices": array}).validate()
    assert caught.value.where == "indices[1] = 7"
    assert caught.value.valid == "-3 … 2"
    assert "… and 1 more" in "\n".join(caught.value.details)
    found, total = Plan(layout, {"indices": array}).find_out_of_bounds(2)
    assert ([finding.entry for finding in found], total) == ([1, 2], 4)


def test_mapped_indices_are_judged_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gscli.disk.mapped.READ_AT_ONCE", 1 << 10)
    numbers = np.zeros(100_000, np.int64)
    numbers[[77_777, 99_999]] = 3
    np.save(tmp_path / "i.npy", numbers)
    mapped = np.load(tmp_path / "i.npy", mmap_mode="r")
    assert Plan(layout_of_rows(4, mapped, Policy()), {"indices": mapped}).in_bounds == (True,)
    found, total = Plan(
        layout_of_rows(3, mapped, Policy()), {"indices": mapped}
    ).find_out_of_bounds()
    assert ([finding.position for finding in found], total) == ([(77_777,), (99_999,)], 2)


def test_legal_ranges_leave_room_for_the_window() -> None:
    axis = Axis(5, column=0, window=0, span=3)
    assert legal_range(axis, Policy()) == (-5, 2)
    assert legal_range(axis, Policy(Negative.OUTSIDE)) == (0, 2)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "int64", "uint64"])
@pytest.mark.parametrize("negative", [Negative.FROM_END, Negative.OUTSIDE])
@pytest.mark.parametrize("numbers", [[[1, 2], [0, 1]], [[1, -1], [0, 2]], [[0, 3], [1, 0]], [[]]])
def test_judging_late_changes_neither_addresses_nor_refusals(
    dtype: str, negative: Negative, numbers: list[list[int]]
) -> None:
    array = np.array(numbers).astype(dtype)  # unsigned, -1 is far out of range
    data = Tensor("data", (2, 3), "float32")
    addressing = address_vectors(data, Tensor("i", array.shape, dtype))
    layout = gather_layout(data, addressing, Policy(negative))
    plan, steps = Plan(layout, {"i": array}), (3, 1)[: array.shape[1]]
    late = plan.validate(lazy=True)
    if plan.find_out_of_bounds()[1]:
        with pytest.raises(IndexRefused) as before:
            plan.validate()
        with pytest.raises(IndexRefused) as on_the_way:
            late.row_addresses(0, len(array), steps)
        assert str(on_the_way.value) == str(before.value)
        return
    judged = plan.validate()
    for few in range(len(array) + 1):
        rows, live = late.row_addresses(0, few, steps)
        assert rows.tolist() == judged.row_addresses(0, few, steps)[0].tolist()
        assert live is None
    assert [part.tolist() for part in late.resolve_range(0, len(array))[0]] == [
        part.tolist() for part in judged.resolve_range(0, len(array))[0]
    ]


@pytest.mark.parametrize("beyond", [OutOfBounds.WRAP, OutOfBounds.CLIP, OutOfBounds.SKIP])
def test_what_skips_wraps_or_moves_nothing_is_judged_before(beyond: OutOfBounds) -> None:
    array, policy = np.array([1.0, np.nan]), Policy(out_of_bounds=beyond)
    with pytest.raises(IndexRefused):
        Plan(layout_of_rows(3, array, policy), {"indices": array}).validate(lazy=True)
    array = np.array([7])
    plan = Plan(layout_of_rows(3, array, Policy(), inner=0), {"indices": array})
    with pytest.raises(IndexRefused):  # no cell moves, and so nobody would meet the number
        plan.validate(lazy=True)


def test_indices_that_change_while_they_are_read_are_told_of_and_never_followed() -> None:
    array = np.array([1, 2])
    plan = Plan(layout_of_rows(3, array, Policy()), {"indices": array}).validate(lazy=True)
    with pytest.raises(CannotRead, match="indices changed while it was read"):
        plan.coordinates(0, np.array([1, 7]))


def test_only_reads_use_numbers_where_they_lie_and_only_those_nobody_else_writes_to(
    tmp_path: Path,
) -> None:
    own = np.array([1, 2])
    np.save(tmp_path / "numbers.npy", own)
    mapped = np.load(tmp_path / "numbers.npy", mmap_mode="r+")
    layout = layout_of_rows(3, own, Policy())
    scatter = layout._replace(kind="scatter")
    for array, kept in ((own, layout), (own[1:], layout), (own, scatter), (mapped, layout)):
        numbers = np.asarray(array)
        plan = Plan(kept, {"indices": numbers}).assume_validated()
        shares = np.shares_memory(plan.coordinates(0, numbers)[0], numbers)
        assert shares == (array is not mapped and kept is layout)


def test_entries_of_several_columns_are_live_where_all_their_numbers_are() -> None:
    array = np.array([[0, 0], [5, 1], [1, 9]])
    data = Tensor("data", (2, 3), "float32")
    addressing = address_vectors(data, Tensor("i", array.shape, "int64"))
    layout = gather_layout(data, addressing, Policy(Negative.OUTSIDE, OutOfBounds.SKIP))
    _, live = Plan(layout, {"i": array}).validate().resolve_range(0, 3)
    assert live is not None
    assert live.tolist() == [True, False, False]
