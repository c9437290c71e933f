"""What becomes of an index number is decided in one place, and everybody says the same of it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import gscli
from gscli.base import IndexRefused
from gscli.layout.axes import Negative, OutOfBounds, Policy
from gscli.plan.outcomes import OUTCOMES, count_outcomes, outcome_of
from gscli.plan.plan import Plan
from gscli.traces.check import check

POLICIES = [Policy(negative, beyond) for negative, beyond in product(Negative, OutOfBounds)]


def seen(policy: Policy, number: int) -> str | None:
    """What is counted for one number on an axis of three cells."""
    trace = gscli.trace("gather", {"data": np.arange(3), "indices": [0]})
    inputs = {**trace.inputs, "indices": np.array([number])}
    plan = Plan(trace.layout._replace(policy=policy), inputs)
    try:
        counts = count_outcomes(plan.validate(), 1).counts
    except IndexRefused:
        return "refused"
    return next(iter(counts), None)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_policy_does_to_numbers_what_its_outcome_says(policy: Policy) -> None:
    assert seen(policy, 7) == outcome_of(policy)
    assert seen(policy, -1) == outcome_of(policy, negative=True)
    assert seen(policy, 2) is None


def test_a_number_below_zero_is_called_so_by_all_who_tell_of_it() -> None:
    inputs = {"data": [1, 2], "segment_ids": [-1, 0]}
    attrs = {"num_segments": 2}
    trace = gscli.trace("tensorflow.unsorted_segment_sum", inputs, attrs)
    assert [one.outcome for one in trace.entries()[0].adjustments] == ["below"]
    (notice,) = trace.warnings
    assert notice.problem == "1 index is below zero and is dropped"
    assert (
        "is below zero and is dropped"
        in check("tensorflow.unsorted_segment_sum", inputs, attrs)[0].text()
    )


@pytest.mark.parametrize(("number", "means"), [(1.5, 1), (-0.5, 2), (-1.5, 1)])
def test_a_fraction_is_told_as_such_in_pictures_and_warnings(number: float, means: int) -> None:
    inputs = {"data": [1, 2, 3], "indices": [[number]]}
    trace = gscli.trace("mxnet.gather_nd", inputs, {"release": "1.9"})
    (index,) = trace.entries()[0].adjustments
    assert (index.outcome, index.coordinate) == ("cut", means)
    assert count_outcomes(trace.plan, 1).counts == {"cut": 1}


@pytest.mark.parametrize(("name", "inputs"), [
    ("jax.at.get", ("x", "indices_0")), ("jax.take", ("a", "indices")),
    ("jax.segment_sum", ("data", "segment_ids")),
])  # fmt: skip
def test_a_number_that_is_cut_to_32_bits_is_told_as_such(
    name: str, inputs: tuple[str, str]
) -> None:
    """2**32 + 1 names row 1 of 3; its remainder is 2, and it was not at the end."""
    low = -(2**63) if "segment" in name else 0
    arrays = {inputs[0]: np.arange(3.0), inputs[1]: np.array([low, 2**32 + 1, 2**31 - 1])}
    run = gscli.trace(name, arrays, {"num_segments": 3} if "segment" in name else {})
    counts = count_outcomes(run.plan, 3)
    *before, told = counts.examples["narrowed"]
    assert len(before) == (low < 0)
    assert told.change(run.plan.layout) == "is cut to 32 bits and means 1"
    assert told.format(OUTCOMES["narrowed"].remark, place="cell 1").endswith("32 bits: cell 1")
