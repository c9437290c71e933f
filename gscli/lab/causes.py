"""What could have produced an expected answer: other rule sets, and common mistakes, as data.

Each candidate is a phrase and what it would give for the very call. Three tables hold the mistakes:
other rules for the same layout, other inputs or attributes for the same operator, and other orders
of the same entries. Every candidate runs on the shared kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gscli.base.arrays import Array, dtype_named
from gscli.base.errors import GscliError
from gscli.declare.comparisons import Comparison
from gscli.frameworks.execute import execute
from gscli.kernel.reading import gather
from gscli.kernel.reductions import REDUCTIONS, ReductionRule
from gscli.kernel.routes import addresses_of
from gscli.kernel.updates import updates_of
from gscli.kernel.writing import scatter
from gscli.lab.compare import compare
from gscli.layout.axes import Beyond, Negative, Policy, Reduction
from gscli.layout.layout import Layout
from gscli.plan.plan import Plan
from gscli.traces.trace import Trace

Compute: TypeAlias = Callable[[], Array]
Change: TypeAlias = Callable[[Array], Array]

REPLAYED = 1 << 22
"""Updates that are put in another order at most."""

MOST_AXES = 4
"""Axes of a tensor up to which every order of them is tried."""


class Candidate(NamedTuple):
    """A possible cause: the end of "this is what you get when …", and its answer."""

    cause: str
    output: Array


def candidates(trace: Trace) -> Iterator[Candidate]:
    """Every cause that has an answer for this call, rule sets first; refusals are left out."""
    yield from _rule_sets(trace)
    for table in (_other_rules, _other_inputs, _other_orders):
        for cause, compute in table(trace):
            try:
                with np.errstate(all="ignore"):
                    yield Candidate(cause, compute())
            except GscliError:
                continue


# --- other frameworks -------------------------------------------------------------------------


def _rule_sets(trace: Trace) -> Iterator[Candidate]:
    """The answers of `compare` to the same call, where it has words for it."""
    for known, comparison in trace.operator.framework.comparisons:
        if known is not trace.operator or not _expresses(comparison, trace):
            continue
        try:
            found = compare(
                comparison.concept, _neutral(trace, comparison), **_asked(trace, comparison)
            )
        except GscliError:
            continue
        for group in found.groups:
            if group.first.output is not None:
                yield Candidate(
                    f"the rules are those of {', '.join(group.labels)}", group.first.output
                )
        return


def _expresses(comparison: Comparison, trace: Trace) -> bool:
    fixed = all(trace.attributes.get(name) == value for name, value in comparison.fixed.items())
    return fixed and comparison.vectors == "last" and not comparison.from_zeros


def _neutral(trace: Trace, comparison: Comparison) -> dict[str, Array]:
    names = ("data", "indices", "updates")
    return {name: trace.inputs[own] for name, own in zip(names, comparison.inputs, strict=False)}


def _asked(trace: Trace, comparison: Comparison) -> dict[str, Any]:
    """Axis, batch axes and reduction of the call under the neutral names."""
    found: dict[str, Any] = {}
    if comparison.axis:
        found["axis"] = trace.attributes.get(comparison.axis)
    if comparison.axis_input:
        found["axis"] = int(trace.inputs[comparison.axis_input].reshape(-1)[0])
    if comparison.batch_dims:
        found["batch_dims"] = trace.attributes.get(comparison.batch_dims) or 0
    if trace.reduction != "none":
        found["reduction"] = trace.reduction
    return {name: value for name, value in found.items() if value is not None}


# --- other rules for the same addresses ---------------------------------------------------------

_POLICIES = {
    "negative indices are read as 0": (Negative.OUTSIDE, Beyond.CLIP),
    "indices out of range are clipped to the nearest end": (Negative.FROM_END, Beyond.CLIP),
    "indices are wrapped around until they fit": (Negative.OUTSIDE, Beyond.WRAP),
    "entries with a negative index are dropped": (Negative.OUTSIDE, Beyond.SKIP),
    "entries with an index out of range are dropped": (Negative.FROM_END, Beyond.SKIP),
}
"""How index numbers become coordinates."""

_MET: dict[Reduction, str] = {
    "none": "the reduction is missing: updates replace what is there",
    "add": "updates are added",
    "sub": "updates are subtracted",
    "mul": "updates are multiplied",
    "max": "the larger of cell and update is kept",
    "min": "the smaller of cell and update is kept",
    "mean": "updates are averaged",
}
"""How updates meet what is there."""

_HALVES = ("float16", "bfloat16")


def _other_rules(trace: Trace) -> Iterator[tuple[str, Compute]]:
    layout = trace.layout
    for cause, (negative, beyond) in _POLICIES.items():
        yield cause, _under(trace, layout._replace(policy=Policy(negative, beyond)))
    if layout.kind != "scatter":
        return
    for reduction, cause in _MET.items():
        if reduction != layout.reduction:
            yield cause, _under(trace, layout._replace(reduction=reduction, open_order=""))
    if layout.reduction != "none":
        flipped = layout._replace(include_self=not layout.include_self)
        without = "takes no part in" if layout.include_self else "takes part in"
        yield f"data {without} the reduction", _under(trace, flipped)
        if layout.dtype in _HALVES:
            wide = layout._replace(accumulate=None if layout.accumulate else "float32")
            kept = layout.dtype if layout.accumulate else "float32"
            yield f"the reduction is computed in {kept}", _under(trace, wide)
    if layout.data is not None:
        zeros = layout._replace(data=None, fill=0)
        yield "data is ignored and everything starts from 0", _under(trace, zeros)


def _under(trace: Trace, layout: Layout) -> Compute:
    """The same inputs under another layout."""

    def compute() -> Array:
        plan = Plan(layout, trace.inputs).judged()
        data = None if layout.data is None else trace.inputs[layout.data]
        if layout.kind == "gather":
            assert data is not None
            return gather(plan, data.reshape(layout.data_shape))
        return scatter(plan, None if data is None else data.reshape(layout.data_shape))

    return compute


# --- other inputs or attributes for the same operator -------------------------------------------

_INDICES: dict[str, Change] = {
    "indices are counted from 1": lambda array: array - np.ones((), array.dtype),
    "the numbers of each index vector are read in reverse order": lambda array: array[..., ::-1],
    "index vectors lie along the first axis of indices": lambda array: np.moveaxis(array, 0, -1),
    "indices are read in column-major order": lambda array: array.reshape(array.shape, order="F"),
}
_UPDATES: dict[str, Change] = {
    "the first update is used for every entry": lambda array: np.broadcast_to(
        array[:1], array.shape
    ),
    "updates are one entry late": lambda array: np.roll(array, 1, axis=0),
    "updates are one entry early": lambda array: np.roll(array, -1, axis=0),
    "updates are read in column-major order": lambda array: array.reshape(-1, order="F").reshape(
        array.shape
    ),
}

_AXES, _BATCHES = ("axis", "dim"), "batch_dims"


def _other_inputs(trace: Trace) -> Iterator[tuple[str, Compute]]:
    layout, inputs = trace.layout, trace.inputs
    indices = layout.index_inputs[0] if len(layout.index_inputs) == 1 else ""
    updates = layout.updates.name if layout.updates is not None else None
    for name, changes in ((indices, _INDICES), (updates, _UPDATES)):
        if name and inputs[name].ndim and inputs[name].size:
            for cause, change in changes.items():
                yield cause, _with(trace, name, change)
            for order in _transpositions(inputs[name]):
                yield f"{name} is transposed", _with(trace, name, partial(np.transpose, axes=order))
    yield from _other_attributes(trace)
    if layout.dtype == "float64":
        yield "it is computed in float32", _in_single(trace)


def _transpositions(array: Array) -> Iterator[tuple[int, ...]]:
    """Other orders of the axes that keep the shape."""
    if array.ndim > MOST_AXES:
        return
    for order in permutations(range(array.ndim)):
        same = tuple(array.shape[axis] for axis in order) == array.shape
        if order != tuple(range(array.ndim)) and same:
            yield order


def _with(trace: Trace, name: str, change: Change) -> Compute:
    return lambda: execute(
        trace.operator,
        {**trace.inputs, name: np.ascontiguousarray(change(trace.inputs[name]))},
        trace.attributes,
    )[1]


def _other_attributes(trace: Trace) -> Iterator[tuple[str, Compute]]:
    rank = len(trace.layout.data_shape)
    for name in _AXES:
        value = trace.attributes.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            for axis in range(rank):
                if axis != value % max(rank, 1):
                    yield f"{name} is {axis}, not {value}", _attributed(trace, {name: axis})
    if trace.attributes.get(_BATCHES):
        yield f"{_BATCHES} is ignored", _attributed(trace, {_BATCHES: 0})


def _attributed(trace: Trace, changed: Mapping[str, object]) -> Compute:
    return lambda: execute(trace.operator, trace.inputs, {**trace.attributes, **changed})[1]


def _in_single(trace: Trace) -> Compute:
    """All float64 inputs as float32, and the answer as float64."""

    def compute() -> Array:
        inputs = {
            name: array.astype(np.float32) if array.dtype == np.float64 else array
            for name, array in trace.inputs.items()
        }
        return execute(trace.operator, inputs, trace.attributes)[1].astype(np.float64)

    return compute


# --- other orders of the same entries -----------------------------------------------------------


def _other_orders(trace: Trace) -> Iterator[tuple[str, Compute]]:
    layout = trace.layout
    count = layout.entry_count * max(layout.window_size, 1)
    numbers = layout.dtype != "str" and layout.data is not None and count <= REPLAYED
    if layout.kind != "scatter" or not numbers or layout.moves_nothing:
        return
    if layout.reduction == "none":
        yield "the first update of a cell stays, not the last", _ordered(trace, "first")
    elif _in_turn(REDUCTIONS[layout.reduction]) and layout.include_self:
        alone = "of updates to the same cell only the"
        yield f"{alone} last one counts", _ordered(trace, "last")
        yield f"{alone} first one counts", _ordered(trace, "first")
        yield "updates are combined in reverse order", _ordered(trace, "reverse")


def _in_turn(rule: ReductionRule) -> bool:
    """Whether a cell meets its updates one after the other, and nothing else happens to it."""
    return rule.divisor is None and rule.meet is None


def _ordered(trace: Trace, kept: str) -> Compute:
    """The updates met in another way: "first" or "last" of each cell alone, or all in "reverse"."""

    def compute() -> Array:
        layout, plan = trace.layout, trace.plan
        assert layout.data is not None
        addresses, live = addresses_of(plan, 0, layout.entry_count)
        updates = updates_of(plan, 0, layout.entry_count).reshape(addresses.shape)
        flat, values = addresses.reshape(-1), updates.reshape(-1)
        if live is not None:
            flat, values = flat[live.reshape(-1)], values[live.reshape(-1)]
        if kept != "last":
            flat, values = flat[::-1], values[::-1]
        work = dtype_named(layout.accumulate or layout.dtype)
        output = np.array(trace.inputs[layout.data]).astype(work).reshape(-1)
        if layout.reduction == "none":
            output[flat] = values
        else:
            ufunc = REDUCTIONS[layout.reduction].for_types(work, values.dtype)
            if kept == "reverse":
                ufunc.at(output, flat, values)
            else:
                output[flat] = ufunc(output[flat], values)
        return output.astype(dtype_named(layout.dtype)).reshape(layout.output_shape)

    return compute
