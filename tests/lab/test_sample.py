"""Values at some cells are those of the whole result, for every recorded call."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import FRAMEWORKS, arguments, assert_same, load_cases, operator_name

import gscli
from gscli.base import GscliError, InputRefused
from gscli.base.arrays import unequal_cells
from gscli.frameworks import find_operator
from gscli.frameworks.execute import execute
from gscli.frameworks.operator import Operator
from gscli.lab.difference import Tolerance
from gscli.lab.examples import build_probe
from gscli.lab.expectation import OutputDiagnosis
from gscli.lab.sample import CallVariants, run_at_cells
from gscli.traces import Trace, trace_call

# Of so many recorded cases one is tried.
EVERY, HELD = 8, 58


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_values_at_some_cells_are_those_of_the_whole_result(framework: str) -> None:
    rng = np.random.default_rng(5)
    tried = 0
    for case in load_cases(framework)[::EVERY]:
        try:
            plan, output = execute(find_operator(operator_name(case)), *arguments(case))
        except GscliError:
            continue
        if not output.size:
            continue
        cells = np.unique(rng.integers(0, output.size, rng.integers(1, output.size + 1)))
        found = run_at_cells(plan, cells)
        assert not unequal_cells(found, output.reshape(-1)[cells]).any(), case["id"]
        tried += 1
    assert tried > 5


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_any_recorded_call_can_be_held_against_an_answer(framework: str) -> None:
    tried = 0
    for case in load_cases(framework)[::HELD]:
        try:
            operator = find_operator(operator_name(case))
            plan, output = execute(operator, *arguments(case))
        except GscliError:
            continue
        if not output.size:
            continue
        expected = output.copy()
        expected.reshape(-1)[-1:] = output.reshape(-1)[:1]
        found = OutputDiagnosis(Trace(operator, plan, output), expected, "want", Tolerance(0.0))
        assert found.describe()
        assert found.to_dict()["equal"] is (found.difference.differing_count == 0)
        moves = plan.layout.window_size != 1 and found.difference.differing_count > 0
        assert (found.differing_slice_count > 0) == moves, case["id"]
        tried += 1
    assert tried


@pytest.mark.parametrize("operator", gscli.operators(), ids=lambda operator: operator.full_name)
def test_every_operators_call_can_be_made_again(operator: Operator) -> None:
    """Causes that change an input or an attribute are tried so; what is refused is never named."""
    probe = build_probe(operator, {})
    assert probe is not None
    run = trace_call(operator, probe.inputs, probe.attrs)
    assert_same(CallVariants(run, None, run.output.shape).with_attributes({}), run.output)


def test_a_result_of_another_shape_has_no_such_cells() -> None:
    run = gscli.trace("gather", {"data": np.arange(4), "indices": np.arange(2)}, {})
    for cells in (None, np.arange(2)):
        call = CallVariants(run, cells, (3,))
        with pytest.raises(InputRefused, match="another shape"):
            call.with_attributes({})
