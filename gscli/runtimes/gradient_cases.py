"""Random calls whose gradients are asked for, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gscli.base.records import Arguments
from gscli.frameworks.operator import Operator
from gscli.gradients.call import value_inputs
from gscli.runtimes.generator import MAX_REJECTIONS, generate_cases
from gscli.runtimes.trials import FuzzCase
from gscli.traces import Trace

# Values of data and updates: several are often the largest of a cell, and one factor is 0.
TIED_VALUES = (2.0, -1.0, 2.0, 0.0, -1.0, 3.0, 1.0)


def generate_gradient_cases(
    operator: Operator, seed: int, fixed: Arguments | None = None, calls_per_shape: int = 1
) -> Iterator[FuzzCase]:
    """Endless calls on float64; the same seed gives the same calls. None where an operator has no
    gradient in any of the first ones.

    >>> from gscli.frameworks import find_operator
    >>> case = next(generate_gradient_cases(find_operator("onnx.gather"), 7))
    >>> case.inputs["data"].dtype
    dtype('float64')
    """
    in_vain = 0
    for drawn in generate_cases(operator, seed, fixed, calls_per_shape):
        in_vain += 1
        if in_vain > MAX_REJECTIONS:
            return
        if not isinstance(drawn.expected_result, Trace):
            continue
        plan = drawn.expected_result.plan
        writes = operator.framework.name == "jax" and plan.layout.kind == "scatter"
        if writes and drawn.attrs.get("mode") == "promise_in_bounds" and not all(plan.in_bounds):
            continue  # JAX was promised indices in range, and all is open where some are not
        values = value_inputs(plan.layout, plan.inputs)
        inputs = {
            name: np.resize(TIED_VALUES, array.shape) if name in values else array
            for name, array in drawn.inputs.items()
        }
        case = replace(drawn, inputs=inputs, has_gradients=True)
        if isinstance(case.expected_result, Trace):
            in_vain = 0
            yield case
