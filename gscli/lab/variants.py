"""A call whose variants are run, as a whole or at some cells of its output alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from gscli.base.arrays import Array, Indices
from gscli.base.records import Record
from gscli.declare.signature import Signature
from gscli.lab.sample import values_at, whole, written_at
from gscli.plan.inputs import planned
from gscli.plan.plan import JudgedPlan
from gscli.traces.trace import Trace

Compute: TypeAlias = Callable[[], Array]
"""Runs a variant."""


class Variants(Record):
    """The call whose variants are run, as a whole or at some flat `cells` of its output alone."""

    trace: Trace
    cells: Indices | None = None

    def output(self, plan: JudgedPlan) -> Array:
        """What a variant gives; InputRefused where it has no such cells."""
        if self.cells is None:
            return whole(plan)
        return values_at(plan, self.cells, self.trace.output.size)

    def run(
        self, operator: Signature, inputs: Mapping[str, object], attrs: Mapping[str, object]
    ) -> tuple[JudgedPlan, Array]:
        """A variant's plan and what it gives."""
        plan = planned(operator, inputs, attrs).judged()
        return plan, self.output(plan)

    def written(self) -> JudgedPlan:
        """The scatter itself, or as much of it as reaches the cells."""
        plan = self.trace.plan
        return plan if self.cells is None else written_at(plan, self.cells)
