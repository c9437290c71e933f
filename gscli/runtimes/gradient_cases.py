"""Calls whose gradients are asked for, too: what the rules give, and how an answer differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gscli.base import GscliError, UsageError
from gscli.base.arrays import Array
from gscli.base.records import Arguments
from gscli.frameworks.operator import Operator
from gscli.gradients.call import Gradients, trace_gradients, value_inputs
from gscli.lab.gradient_causes import CHOICES
from gscli.lab.gradient_comparison import find_differing_gradient
from gscli.plan.plan import Plan
from gscli.runtimes.generator import MAX_REJECTIONS, generate_cases
from gscli.runtimes.protocol import Reply
from gscli.runtimes.trials import FuzzCase, Mismatch
from gscli.traces import Trace

MAX_COTANGENT = 5

# Values of data and updates: several are often the largest of a cell, and one factor is 0.
TIED_VALUES = (2.0, -1.0, 2.0, 0.0, -1.0, 3.0, 1.0)


@dataclass(frozen=True, eq=False)
class GradientCase(FuzzCase):
    """A call on float64 with a cotangent, and lazily its gradients."""

    def run(self) -> Trace:
        """The rules' answer; GscliError where they refuse, or the output has no gradient."""
        trace = super().run()
        trace_gradients(trace)
        return trace

    @cached_property
    def cotangent(self) -> Array | None:
        """Whole numbers from 1 in the shape of the output, which has no refusal."""
        expected = self.expected_result
        if isinstance(expected, GscliError):
            return None
        numbers = np.arange(expected.output.size) % MAX_COTANGENT + 1
        return numbers.astype(expected.output.dtype).reshape(expected.output.shape)

    @cached_property
    def gradients(self) -> Gradients:
        """By the framework's convention, data that takes no part not counted."""
        own = self._framework_gradients
        convention = own.convention._replace(counts_absent_data=False)
        return Gradients(own.trace, own.cotangent, convention)

    @cached_property
    def _framework_gradients(self) -> Gradients:
        """As the framework gives them, for which `gscli grad` answers."""
        assert isinstance(self.expected_result, Trace)
        return trace_gradients(self.expected_result, self.cotangent)

    @property
    def command(self) -> str:
        """The command that shows the rules' gradients."""
        call = super().command.removeprefix("gscli ")
        if self.cotangent is None:
            return f"gscli grad {call}"
        flow = str(self.cotangent.tolist()).replace(" ", "")
        differs = find_differing_gradient(self._framework_gradients.arrays, self.gradients.arrays)
        return f"gscli grad {call} --cotangent '{flow}'{' --rules loop' if differs else ''}"

    def expected_tensors(self) -> dict[str, Array]:
        """The output and the gradients."""
        own = {f"gradient of {name}": array for name, array in self.gradients.arrays.items()}
        return {**super().expected_tensors(), **own}

    def find_gradient_mismatch(self, answer: Reply) -> Mismatch | None:
        """What is wrong with the gradients of an answer; inputs without one are left out."""
        theirs = {name: flow for name, flow in (answer.gradients or {}).items() if flow is not None}
        own = self.gradients
        wrong = find_differing_gradient(own.arrays, theirs)
        if wrong is None:
            return None
        for choice in CHOICES.values():
            other = own.compute(own.convention._replace(**choice))
            if find_differing_gradient(other, theirs) is None:
                return Mismatch("tie" if "ties" in choice else "writer", wrong)
        return Mismatch("gradient", wrong)


def generate_gradient_cases(
    operator: Operator, seed: int, fixed: Arguments | None = None, calls_per_shape: int = 1
) -> Iterator[GradientCase]:
    """Endless calls on float64; the same seed gives the same calls. UsageError where an operator
    has no gradient in any of the first ones.

    >>> from gscli.frameworks import find_operator
    >>> case = next(generate_gradient_cases(find_operator("onnx.gather"), 7))
    >>> case.inputs["data"].dtype
    dtype('float64')
    """
    in_vain = 0
    for drawn in generate_cases(operator, seed, fixed, calls_per_shape):
        in_vain += 1
        if in_vain > MAX_REJECTIONS:
            raise UsageError(f"no random calls of {operator.full_name} have gradients")
        if not isinstance(drawn.expected_result, Trace):
            continue
        plan = drawn.expected_result.plan
        if _breaks_promise(drawn, plan):
            continue
        values = value_inputs(plan.layout, plan.inputs)
        inputs = {
            name: np.resize(TIED_VALUES, array.shape) if name in values else array
            for name, array in drawn.inputs.items()
        }
        case = GradientCase(operator, inputs, drawn.attrs)
        if isinstance(case.expected_result, Trace):
            in_vain = 0
            yield case


def _breaks_promise(case: FuzzCase, plan: Plan) -> bool:
    """Whether JAX was promised indices to write in range, and some are not: then all is open."""
    writes = case.operator.framework.name == "jax" and plan.layout.kind == "scatter"
    return writes and case.attrs.get("mode") == "promise_in_bounds" and not all(plan.in_bounds)
