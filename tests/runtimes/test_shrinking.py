"""Calls are made smaller without a new reason coming in, whatever the operator."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from conftest import everyday

from gscli.frameworks import find, operators
from gscli.frameworks.operator import Operator
from gscli.runtimes.generator import trials
from gscli.runtimes.shrinking import shrunk
from gscli.runtimes.trials import Mismatch, Result, Trial

ANY = Mismatch("value")

SOME = everyday(operators(), operators()[::4])


@pytest.mark.parametrize("operator", SOME, ids=lambda one: one.full_name)
def test_a_smaller_call_meets_no_rule_that_the_larger_did_not(operator: Operator) -> None:
    for trial in islice(trials(operator, 11), 1):
        small, _ = shrunk(trial, ANY, lambda _: ANY)
        assert small.traits <= trial.traits
        assert small.numbers <= trial.numbers
        assert isinstance(small.expected, Result) == isinstance(trial.expected, Result)


def test_what_matters_is_kept() -> None:
    def judge(trial: Trial) -> Mismatch | None:
        return ANY if np.any(trial.inputs["indices"] == -2) else None

    trial = next(one for one in trials(find("onnx.gather"), 5) if judge(one))
    small, asked = shrunk(trial, ANY, judge)
    assert small.inputs["indices"].tolist() in ([-2], -2)
    assert small.numbers <= 3
    assert asked > 0


def test_nothing_is_changed_where_nothing_smaller_fails() -> None:
    trial = next(trials(find("torch.gather"), 5))
    small, _ = shrunk(trial, ANY, lambda _: None)
    assert small is trial
