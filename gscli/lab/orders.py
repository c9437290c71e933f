"""A call's variants: run as a whole or at some cells alone, and with entries in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from gscli.base.arrays import Array, Indices, parse_dtype
from gscli.base.records import Record
from gscli.declare import Signature
from gscli.kernel.reductions import REDUCTIONS, entry_updates, working_dtype
from gscli.kernel.walks import cell_addresses
from gscli.lab.sample import restrict_scatter, run_at_cells, run_whole
from gscli.plan import plan_call
from gscli.plan.plan import ValidatedPlan
from gscli.traces import Trace

DeferredRun: TypeAlias = Callable[[], Array]
"""Runs a variant."""


class CallVariants(Record):
    """The call whose variants are run, as a whole or at some flat `cells` of its output alone."""

    trace: Trace
    cells: Indices | None = None

    def output_of(self, plan: ValidatedPlan) -> Array:
        """What a variant gives; InputRefused where it has no such cells."""
        if self.cells is None:
            return run_whole(plan)
        return run_at_cells(plan, self.cells, self.trace.output.size)

    def run(
        self, operator: Signature, inputs: Mapping[str, object], attrs: Mapping[str, object]
    ) -> tuple[ValidatedPlan, Array]:
        """A variant's plan and what it gives."""
        plan = plan_call(operator, inputs, attrs).validate()
        return plan, self.output_of(plan)

    def reaching_scatter(self) -> ValidatedPlan:
        """The scatter itself, or as much of it as reaches the cells."""
        plan = self.trace.plan
        return plan if self.cells is None else restrict_scatter(plan, self.cells)


MAX_REORDERED_UPDATES = 1 << 22
"""Updates that are put in another order at most."""


def order_mistakes(call: CallVariants) -> Iterator[tuple[str, DeferredRun]]:
    """Each mistake in the order of entries, and what runs it."""
    layout = call.trace.layout
    count = layout.entry_count * max(layout.window_size, 1)
    few = call.cells is not None or count <= MAX_REORDERED_UPDATES
    numbers = layout.dtype != "str" and layout.data_name is not None and few
    if layout.kind != "scatter" or not numbers or layout.is_noop:
        return
    rule = REDUCTIONS.get(layout.reduction)
    if rule is None:
        yield "the first update of a cell stays, not the last", _run_in_order(call, "first")
    # A cell meets its updates one after the other, and nothing else happens to it.
    elif rule.divisor is None and rule.epilogue is None and layout.include_self:
        alone = "of updates to the same cell only the"
        yield f"{alone} last one counts", _run_in_order(call, "last")
        yield f"{alone} first one counts", _run_in_order(call, "first")
        yield "updates are combined in reverse order", _run_in_order(call, "reverse")


def _run_in_order(call: CallVariants, kept: str) -> DeferredRun:
    """The updates met in another way: "first" or "last" of each cell alone, or all in "reverse"."""

    def compute() -> Array:
        plan = call.reaching_scatter()
        layout = plan.layout
        assert layout.data_name is not None
        addresses, live = cell_addresses(plan, 0, layout.entry_count)
        updates = entry_updates(plan, 0, layout.entry_count).reshape(addresses.shape)
        flat, values = addresses.reshape(-1), updates.reshape(-1)
        if live is not None:
            flat, values = flat[live.reshape(-1)], values[live.reshape(-1)]
        if kept != "last":
            flat, values = flat[::-1], values[::-1]
        work = working_dtype(layout)
        output = np.array(plan.inputs[layout.data_name]).astype(work).reshape(-1)
        if layout.reduction == "none":
            output[flat] = values
        else:
            ufunc = REDUCTIONS[layout.reduction].select_ufunc(work, values.dtype)
            if kept == "reverse":
                ufunc.at(output, flat, values)
            else:
                output[flat] = ufunc(output[flat], values)
        return output.astype(parse_dtype(layout.dtype)).reshape(layout.output_shape)

    return compute
