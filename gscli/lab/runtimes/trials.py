"""One call that is put to a runtime, and what the rules say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gscli.base import GscliError, IndexRefused
from gscli.base.records import Record
from gscli.files.arrays import Array
from gscli.frameworks.execute import execute
from gscli.frameworks.operator import Operator
from gscli.lab.cases import Case, reproduction
from gscli.lab.runtimes.coverage import BORDERS, rules_met
from gscli.plan import planned
from gscli.plan.plan import Plan

RESULT_LIMIT = 1 << 26


class Result(Record):
    """What the rules give: the judged plan and the output."""

    plan: Plan
    output: Array


@dataclass(frozen=True, eq=False)
class Trial:
    """A call, and lazily what the rules make of it."""

    operator: Operator
    inputs: Mapping[str, Array]
    attrs: Mapping[str, object]

    @cached_property
    def expected(self) -> Result | GscliError:
        """The rules' answer, or their refusal."""
        try:
            return Result(*execute(self.operator, self.inputs, self.attrs, max_bytes=RESULT_LIMIT))
        except GscliError as error:
            return error

    @property
    def refused_for_an_index(self) -> bool:
        """Whether the rules refuse the call because of an index out of range."""
        return isinstance(self.expected, IndexRefused)

    @cached_property
    def plan(self) -> Plan | None:
        """The plan, of a call with bad indices too; None where shapes or types are refused."""
        if isinstance(self.expected, Result):
            return self.expected.plan
        try:
            return planned(self.operator, self.inputs, self.attrs, max_bytes=RESULT_LIMIT)
        except GscliError:
            return None

    @cached_property
    def rules(self) -> frozenset[str]:
        """Words for the rules that the call puts to the test."""
        if self.plan is None:
            return frozenset(("refused shapes or types",))
        return rules_met(self.operator, self.attrs, self.inputs, self.plan)

    @cached_property
    def traits(self) -> frozenset[str]:
        """The rules that tell one kind of difference from another."""
        return self.rules - BORDERS

    @property
    def unchecked(self) -> bool:
        """Whether the framework itself promises nothing here, though gscli refuses."""
        return (
            self.refused_for_an_index
            and self.plan is not None
            and bool(self.plan.layout.policy.note)
        )

    @property
    def numbers(self) -> int:
        """How many numbers the inputs hold."""
        return sum(array.size for array in self.inputs.values())

    @property
    def command(self) -> str:
        """The command that shows the rules' answer."""
        return reproduction(
            Case("", self.operator.full_name, self.inputs, self.attrs, "open", None)
        )

    def changed(
        self,
        inputs: Mapping[str, Array] | None = None,
        attrs: Mapping[str, object] | None = None,
    ) -> Trial:
        """The same call with other inputs or attributes."""
        return replace(
            self,
            inputs=self.inputs if inputs is None else inputs,
            attrs=self.attrs if attrs is None else attrs,
        )
