"""A call's variants: run as a whole or at some cells alone, and with entries in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from gscli.base.arrays import Array, Indices, dtype_named
from gscli.base.records import Record
from gscli.declare import Signature
from gscli.kernel.reductions import REDUCTIONS, ReductionRule, updates_of
from gscli.kernel.walks import addresses_of
from gscli.lab.sample import values_at, whole, written_at
from gscli.plan import plan_call
from gscli.plan.plan import ValidatedPlan
from gscli.traces import Trace

Compute: TypeAlias = Callable[[], Array]
"""Runs a variant."""


class Variants(Record):
    """The call whose variants are run, as a whole or at some flat `cells` of its output alone."""

    trace: Trace
    cells: Indices | None = None

    def output(self, plan: ValidatedPlan) -> Array:
        """What a variant gives; InputRefused where it has no such cells."""
        if self.cells is None:
            return whole(plan)
        return values_at(plan, self.cells, self.trace.output.size)

    def run(
        self, operator: Signature, inputs: Mapping[str, object], attrs: Mapping[str, object]
    ) -> tuple[ValidatedPlan, Array]:
        """A variant's plan and what it gives."""
        plan = plan_call(operator, inputs, attrs).validate()
        return plan, self.output(plan)

    def written(self) -> ValidatedPlan:
        """The scatter itself, or as much of it as reaches the cells."""
        plan = self.trace.plan
        return plan if self.cells is None else written_at(plan, self.cells)


REPLAYED = 1 << 22
"""Updates that are put in another order at most."""


def other_orders(call: Variants) -> Iterator[tuple[str, Compute]]:
    """Each mistake in the order of entries, and what runs it."""
    layout = call.trace.layout
    count = layout.entry_count * max(layout.window_size, 1)
    few = call.cells is not None or count <= REPLAYED
    numbers = layout.dtype != "str" and layout.data is not None and few
    if layout.kind != "scatter" or not numbers or layout.moves_nothing:
        return
    if layout.reduction == "none":
        yield "the first update of a cell stays, not the last", _ordered(call, "first")
    elif _in_turn(REDUCTIONS[layout.reduction]) and layout.include_self:
        alone = "of updates to the same cell only the"
        yield f"{alone} last one counts", _ordered(call, "last")
        yield f"{alone} first one counts", _ordered(call, "first")
        yield "updates are combined in reverse order", _ordered(call, "reverse")


def _in_turn(rule: ReductionRule) -> bool:
    """Whether a cell meets its updates one after the other, and nothing else happens to it."""
    return rule.divisor is None and rule.meet is None


def _ordered(call: Variants, kept: str) -> Compute:
    """The updates met in another way: "first" or "last" of each cell alone, or all in "reverse"."""

    def compute() -> Array:
        plan = call.written()
        layout = plan.layout
        assert layout.data is not None
        addresses, live = addresses_of(plan, 0, layout.entry_count)
        updates = updates_of(plan, 0, layout.entry_count).reshape(addresses.shape)
        flat, values = addresses.reshape(-1), updates.reshape(-1)
        if live is not None:
            flat, values = flat[live.reshape(-1)], values[live.reshape(-1)]
        if kept != "last":
            flat, values = flat[::-1], values[::-1]
        work = dtype_named(layout.accumulate or layout.dtype)
        output = np.array(plan.inputs[layout.data]).astype(work).reshape(-1)
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
