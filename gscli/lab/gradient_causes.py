"""What could have produced another gradient: conventions, and common mistakes, as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from gscli.base import DtypeRefused, InputRefused, check_rule
from gscli.base.arrays import Array, Arrays, dtype_name
from gscli.base.records import Arguments
from gscli.frameworks.execute import run_plan
from gscli.gradients.call import Gradients, trace_gradients
from gscli.gradients.conventions import CONVENTIONS
from gscli.lab.causes import iter_modes, iter_policy_mistakes, zero_row
from gscli.lab.difference import Tolerance, compare_tensors, difference_sentences, differing_cells
from gscli.lab.sample import CallVariants, run_candidates
from gscli.layout import Layout
from gscli.layout.axes import CLIP_OUTSIDE, Negative, OutOfBounds
from gscli.plan.plan import Plan
from gscli.traces import Trace, trace_call

Compute: TypeAlias = Callable[[], Arrays]


def find_causes(
    gradients: Gradients, name: str, expected: Array, tolerance: Tolerance
) -> list[str]:
    """Causes that give exactly the expected gradient of one input, as ends of a sentence.

    A cause that gives the very gradients of the call explains nothing and is left out.

    >>> import gscli
    >>> from gscli.gradients.call import trace_gradients
    >>> run = gscli.trace("gather", {"data": [1.0, 2.0], "indices": [1, 1]})
    >>> find_causes(trace_gradients(run), "data", np.array([0.0, 1.0]), Tolerance())
    ['duplicates are not summed: the last one wins']
    """
    run, arrays, own = gradients.trace, gradients.arrays, gradients.arrays[name]

    def is_cause(answer: Arrays) -> bool:
        other = answer.get(name, own)
        is_apart = other.shape == own.shape and differing_cells(other, own, tolerance).any()
        return bool(is_apart) and not differing_cells(other, expected, tolerance).any()

    call, rerun = CallVariants(run, None, run.output.shape), partial(_call_again, gradients, {})
    others = ((f"it is the gradient of {key}", {name: flow}) for key, flow in arrays.items())
    computed = ((key, gradients.compute(rules)) for key, rules in CONVENTIONS.items())
    chosen = ((f"choices are those of --rules {key}", answer) for key, answer in computed)
    mistakes = run_candidates(_iter_causes(gradients, name, expected))
    causes = [cause for cause, answer in mistakes if is_cause(answer)]
    # An option or another input may by chance fit as well as a mistake that explains it.
    rest = () if causes else chain(chosen, iter_modes(call, rerun, run.operator.attributes), others)
    causes += [cause for cause, answer in rest if is_cause(answer)]
    return list(dict.fromkeys(causes))


def _iter_causes(gradients: Gradients, name: str, expected: Array) -> Iterator[tuple[str, Compute]]:
    run, layout, walk = gradients.trace, gradients.trace.layout, gradients.walk()
    yield from _iter_conventions(gradients)
    if run.kind == "gather":
        cause = "duplicates are not summed: the last one wins"
        yield cause, lambda: _of_data(gradients, walk.write(walk.cotangent, "none"))
        own = gradients.arrays[name]
        if (own.shape, name, (0,)) == (layout.data_shape, layout.data_name, layout.column_axes):
            has_flow, keeps = (each.reshape(len(each), -1).any(1) for each in (own, expected))
            for row in np.flatnonzero(has_flow & ~keeps)[:1].tolist():
                cause = f"row {row} of {name} is padding, which is given no gradient"
                yield cause, partial(dict, [(name, zero_row(row, own))])
    if run.is_mean:
        summed = layout._replace(reduction="add")
        yield "it is not divided by how many values met", partial(_with_layout, gradients, summed)
        other = layout._replace(include_self=not layout.include_self)
        part = "takes no part" if layout.include_self else "takes part, and is counted"
        yield f"{layout.data_name or 'the start'} {part}", partial(_with_layout, gradients, other)
    yield "the sign is turned", lambda: {key: -flow for key, flow in gradients.arrays.items()}
    policy, policies = walk.layout.policy, list(iter_policy_mistakes(run))
    if policy.out_of_bounds is OutOfBounds.SKIP or policy.negative is Negative.SKIP:
        policies.insert(0, ("skipped entries keep their cotangent", CLIP_OUTSIDE))
    for cause, mistake in policies:
        yield cause, partial(_with_layout, gradients, layout._replace(policy=mistake))
    lower = {key: run.inputs[key] - 1 for key in layout.index_inputs if key in run.call_inputs}
    yield "indices count from 1", partial(_call_again, gradients, lower, {})


# What a framework may choose otherwise where a gradient is left open, by the cause that it is.
CHOICES: Mapping[str, Mapping[str, Any]] = {
    "ties go to the first": {"ties": "first"},
    "ties go to the last": {"ties": "last"},
    "ties are shared evenly": {"ties": "even"},
    "ties go to all, whole": {"ties": "all"},
    "of several writers the last alone gets it": {"writers": "last"},
    "every one of several writers gets it": {"writers": "all"},
}


def _iter_conventions(gradients: Gradients) -> Iterator[tuple[str, Compute]]:
    """Other choices of which updates and cells share a gradient."""
    run, own = gradients.trace, gradients.convention
    data, is_extreme = run.layout.data_name, run.reduction in ("max", "min")
    is_written = run.kind == "scatter" and run.reduction == "none"
    open_choice = "ties" * is_extreme + "writers" * is_written
    choices = {cause: choice for cause, choice in CHOICES.items() if open_choice in choice}
    choices["padding is given its gradient as any row is"] = {"ignores_padding": False}
    choices["what was dropped is given no gradient"] = {"devices_clipping_reads": ()}
    if is_extreme and data and not run.layout.include_self:
        way = "not counted" if own.counts_absent_data else "counted"
        cause = f"{data} that takes no part is {way} among those that share"
        choices[cause] = {"counts_absent_data": not own.counts_absent_data}
    for cause, choice in choices.items():
        yield cause, partial(gradients.compute, own._replace(**choice))
    if is_written and data:
        cause = f"{data} keeps the gradient of cells that were written"
        yield cause, partial(_of_data, gradients, gradients.cotangent)


def _of_data(gradients: Gradients, flow: Array) -> dict[str, Array]:
    name = str(gradients.trace.layout.data_name)
    source = gradients.trace.inputs[name]
    return {name: flow.reshape(source.shape).astype(source.dtype)}


def _with_layout(gradients: Gradients, layout: Layout) -> dict[str, Array]:
    """The gradients of the call with another layout, which clips where it says so."""
    convention = gradients.convention._replace(drops_clipped_reads=False)
    operator = gradients.trace.operator
    trace = Trace(operator, *run_plan(operator, Plan(layout, gradients.trace.inputs)))
    return Gradients(trace, gradients.cotangent, convention).arrays


def _call_again(gradients: Gradients, inputs: Arrays, attrs: Arguments) -> dict[str, Array]:
    """The gradients of the call with other inputs and attributes, for an output of its shape."""
    run = gradients.trace
    trace = trace_call(run.operator, {**run.call_inputs, **inputs}, {**run.attributes, **attrs})
    again = trace_gradients(trace, gradients.cotangent, gradients.convention.name)
    check_rule(not again.missing, again.missing, kind=InputRefused)
    return again.arrays


class GradientDiagnosis:
    """One gradient held against another; of its cells no entries are told."""

    find_entries = None

    def __init__(
        self, gradients: Gradients, name: str, expected: Array, tolerance: Tolerance
    ) -> None:
        self.name, own = name, gradients.arrays[name]
        problem = f"a gradient is no {dtype_name(expected.dtype)}"
        fits = expected.dtype.kind in "iuf"
        check_rule(fits, problem, "--expect", kind=DtypeRefused, valid="float32 float64")
        array = expected.astype(own.dtype)
        floats = expected if expected.dtype.kind == "f" else array
        tolerance = tolerance._replace(rtol=tolerance.find_rtol(own, floats))
        self.difference = compare_tensors(own, array, tolerance)
        comparable = self.difference.has_same_shape and not self.difference.is_equal
        self.causes = find_causes(gradients, self.name, array, tolerance) if comparable else []

    def describe(self) -> list[str]:
        """Whether they are equal, and what would give the other one."""
        if self.difference.is_equal:
            return [f"as expected: the gradient of {self.name}{self.difference.allowed_text}"]
        lines = difference_sentences(self.difference, f"the expected gradient of {self.name}")
        if self.causes:
            lines.append("the expected gradient is what you get when")
        elif self.difference.has_same_shape:
            lines.append("no convention and no common mistake gives the expected gradient")
        return [*lines, *(f"  {cause}" for cause in self.causes)]

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {**self.difference.to_dict(), "of": self.name, "causes": self.causes}
