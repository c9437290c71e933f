"""Calls are made smaller without a new reason coming in, whatever the operator."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from conftest import everyday

from gscli.frameworks import find_operator, operators
from gscli.frameworks.operator import Operator
from gscli.runtimes.generator import generate_cases
from gscli.runtimes.shrinking import shrink_case
from gscli.runtimes.trials import FuzzCase, Mismatch
from gscli.traces import Trace

ANY = Mismatch("value")

SOME = everyday(operators(), operators()[::4])


@pytest.mark.parametrize("operator", SOME, ids=lambda one: one.full_name)
def test_a_smaller_call_meets_no_rule_that_the_larger_did_not(operator: Operator) -> None:
    for trial in islice(generate_cases(operator, 11), 1):
        small = shrink_case(trial, ANY, lambda _: ANY)
        assert small.distinctions <= trial.distinctions
        assert small.cell_count <= trial.cell_count
        assert isinstance(small.expected_result, Trace) == isinstance(trial.expected_result, Trace)


@pytest.mark.parametrize("mismatch", [ANY, Mismatch("crash"), Mismatch("garbage")])
def test_what_matters_is_kept(mismatch: Mismatch) -> None:
    def judge(trial: FuzzCase) -> Mismatch | None:
        return mismatch if np.any(trial.inputs["indices"] == -2) else None

    trial = next(one for one in generate_cases(find_operator("onnx.gather"), 5) if judge(one))
    small = shrink_case(trial, mismatch, judge)
    assert small.inputs["indices"].tolist() in ([-2], -2)
    assert small.cell_count <= 3
    assert small is not trial


def test_nothing_is_changed_where_nothing_smaller_fails() -> None:
    trial = next(generate_cases(find_operator("torch.gather"), 5))
    small = shrink_case(trial, ANY, lambda _: None)
    assert small is trial
