"""Answers of several rule sets to one call: rows, groups of equal rows, and how they differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from gscli.base import GscliError, IndexRefused
from gscli.base.arrays import Array, Arrays, unequal_cells
from gscli.base.records import Arguments, Record, cached_property, former_names, group_pairs
from gscli.base.words import format_count
from gscli.files.formats.jsonarray import MOST_VALUES, dump_arrays, dump_json
from gscli.frameworks.execute import prepare_values
from gscli.frameworks.operator import ConceptCall, ConceptName, Operator
from gscli.traces import MAX_JSON_CELLS, Trace

# Names the JSON form of a comparison.
SCHEMA = "gscli-compare/1"

# Entries that tell rows with equal answers apart.
_MAX_COMPARED_ENTRIES = 200


@former_names(answered="runtime_output", indices="indices_name", way="index_outcomes")
@dataclass(frozen=True)
class RuleSetResult:
    """What one rule set answers: a trace, or a refusal; or what a runtime itself answered.

    `from_runtime`: it is the runtime that answers or refuses, and not its rules; these are in
    `rule`, where they are known. `roles`: what each of the operator's own names is to the concept.
    """

    label: str
    operator: Operator
    inputs: Arrays
    attrs: Arguments
    indices_name: str
    trace: Trace | None = None
    error: GscliError | None = None
    runtime_output: Array | None = None
    from_runtime: bool = False
    rule: RuleSetResult | None = None
    roles: dict[str, str] = field(default_factory=dict)

    @property
    def output(self) -> Array | None:
        """The answer, None when refused."""
        return self.runtime_output if self.trace is None else self.trace.output

    def with_runtime_answer(
        self, runtime: str, output: Array | None, error: GscliError | None
    ) -> RuleSetResult:
        """The row of a runtime that was asked the same."""
        return replace(
            self, label=f"{runtime}: {self.label}", trace=None, error=error, runtime_output=output,
            from_runtime=True, rule=self,
        )  # fmt: skip

    @property
    def entry(self) -> int | None:
        """Number of the entry that a refusal is about, if it is about one."""
        return self.error.entry if isinstance(self.error, IndexRefused) else None

    def find_refused_entries(self) -> set[int]:
        """Every entry that the rules refuse; of a runtime the one that it names."""
        if self.entry is None or self.from_runtime:
            return set() if self.entry is None else {self.entry}
        plan = prepare_values(self.operator, self.inputs, self.attrs)
        return {finding.entry for finding in plan.find_out_of_bounds()[0]}

    def has_same_result(self, other: RuleSetResult) -> bool:
        """Same output to the bit, or a refusal about the same entry, or in the same words."""
        mine, theirs = self.output, other.output
        if mine is None or theirs is None:
            return mine is theirs and self._refusal_key(other) == other._refusal_key(self)
        is_alike = (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        return mine is theirs or (is_alike and not unequal_cells(mine, theirs).any())

    @cached_property
    def index_outcomes(self) -> object:
        """What becomes of the numbers on the way to the answer; of a runtime's, by its own rules.

        None where these answer otherwise, or are not known.
        """
        if self.trace is None:
            rule = self.rule
            return rule.index_outcomes if rule and self.has_same_result(rule) else None
        outcomes = (
            (entry.number, index.slot, index.sign, index.coordinate)
            for entry in self.trace.entries(_MAX_COMPARED_ENTRIES)
            for index in entry.adjustments
        )
        return self.trace.reduction, self.trace.is_mean, tuple(outcomes)

    def _refusal_key(self, other: RuleSetResult) -> tuple[str, int | None]:
        """What is equal in refusals that are alike, where one says `dim` and the other `axis`."""
        if isinstance(self.error, IndexRefused):
            return "index", self.entry
        problem, roles = "" if self.error is None else self.error.problem, other.roles | self.roles
        return re.sub(r"\w+", lambda word: roles.get(word[0], word[0]), problem), None


@former_names(ways="outcome_groups")
@dataclass(frozen=True)
class ResultGroup:
    """Rows that answer alike; the values of the first are those of all."""

    rows: tuple[RuleSetResult, ...]

    @cached_property
    def outcome_groups(self) -> tuple[ResultGroup, ...]:
        """The rows parted by how they come to the answer, so that the first explains all.

        With three cells, 5 is cell 2 where numbers wrap around (5 mod 3) and where they are
        clipped. A runtime's own answer stands with the way of its rules.
        """
        groups = group_pairs((row.index_outcomes, row) for row in self.rows)
        return tuple(ResultGroup(tuple(rows)) for rows in groups.values())

    @property
    def first(self) -> RuleSetResult:
        """The row whose values and reasons are shown."""
        return self.rows[0]

    @cached_property
    def refused_entries(self) -> set[int]:
        """The entries that every row refuses, also those behind the one at which a run ends."""
        return set.intersection(*(row.find_refused_entries() for row in self.rows))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of all rows."""
        return tuple(row.label for row in self.rows)


@former_names(asked="is_requested")
class UnsupportedRuleSet(Record):
    """A rule set that has no way to say the call: why, and whether it was asked for.

    `equivalent`: what gives the same there, beside the `operators`, by their full names, that do
    not.
    """

    label: str
    reason: str
    is_requested: bool
    equivalent: str = ""
    operators: tuple[str, ...] = ()

    @property
    def operator_names(self) -> str:
        """Its label, of a whole framework that has an equivalent with the operators behind it."""
        is_framework = bool(self.equivalent) and " " not in self.label  # "ONNX", "ONNX Gather-13"
        names = [name.partition(".")[2] for name in self.operators]
        return f"{self.label} {' and '.join(names * is_framework)}".rstrip()

    @staticmethod
    def format_reasons(rows: Sequence[UnsupportedRuleSet]) -> list[str]:
        """A sentence without its full stop for each reason.

        >>> UnsupportedRuleSet.format_reasons(
        ...     [
        ...         UnsupportedRuleSet("A", "no axis=1", True),
        ...         UnsupportedRuleSet("B", "no axis=1", True),
        ...     ]
        ... )
        ['No row for A, B: no axis=1']
        """
        labels = group_pairs((row.reason, row.operator_names) for row in rows)
        lines = [f"No row for {', '.join(names)}: {why}" for why, names in labels.items()]
        shown = {row.label.partition(" ")[0]: row.equivalent for row in rows if row.equivalent}
        return [*lines, *(f"The same in {title}: {text}" for title, text in shown.items())]


@former_names(
    differs="differing_mask",
    refusals="refusal_count",
    results="result_count",
    unsaid="unsupported",
    ways="outcome_groups",
)
@dataclass(frozen=True, repr=False)
class ComparisonResult:
    """All answers to one call; differences are counted against the `reference`.

    `unsupported`: rule sets without a way to say the call. They answer nothing, and one that was
    asked for does not agree. `only` and `opsets`: what was asked for. `typed`: inputs with an
    element type of their own.
    """

    concept: ConceptName
    inputs: Arrays
    call: ConceptCall
    groups: tuple[ResultGroup, ...]
    unsupported: tuple[UnsupportedRuleSet, ...] = ()
    only: tuple[str, ...] = ()
    opsets: tuple[int, ...] = ()
    typed: Mapping[str, bool] = field(default_factory=dict)

    def __repr__(self) -> str:
        outputs = format_count(self.result_count, "different output")
        refusing = format_count(self.refusal_count, "rule set")
        return f"<Comparison of {self.concept}: {outputs}, refused by {refusing}>"

    @property
    def is_ordered(self) -> bool:
        """Whether the first row is what was asked for first."""
        return bool(self.only or self.opsets)

    @cached_property
    def answers(self) -> list[ResultGroup]:
        """The groups that answer, what the others are compared with first.

        That is what was asked for first, or the most common answer.
        """
        answers = [group for group in self.groups if group.first.output is not None]
        if self.is_ordered and self.groups[0].first.output is not None:
            return answers
        return sorted(answers, key=lambda group: -len(group.rows))

    @property
    def reference(self) -> RuleSetResult | None:
        """What the others are compared with; None where all refuse."""
        return self.answers[0].first if self.answers else None

    @cached_property
    def outcome_groups(self) -> tuple[ResultGroup, ...]:
        """The groups, each parted by how its rows come to their answer."""
        return tuple(way for group in self.groups for way in group.outcome_groups)

    @property
    def rows(self) -> list[RuleSetResult]:
        """Every answer, group by group."""
        return [row for group in self.groups for row in group.rows]

    @property
    def agree(self) -> bool:
        """True when every rule set gives the same answer, and all that were asked for give one,
        or refuse as a runtime does.
        """
        missing = [row for row in self.unsupported if row.is_requested]
        may_refuse = any(row.from_runtime for row in self.rows) or not self.only
        return len(self.groups) == 1 and not missing and bool(self.answers or may_refuse)

    @property
    def result_count(self) -> int:
        """How many different outputs there are."""
        return sum(group.first.output is not None for group in self.groups)

    @property
    def refusal_count(self) -> int:
        """How many rule sets refuse."""
        return sum(len(group.rows) for group in self.groups if group.first.output is None)

    def differing_mask(self, group: ResultGroup) -> Array | None:
        """Which output cells differ from the reference's, None where they cannot be compared."""
        output, base = group.first.output, None if self.reference is None else self.reference.output
        if output is None or base is None or output.shape != base.shape:
            return None
        return unequal_cells(output, base)


Item = TypeVar("Item")


def group_alike(items: Iterable[Item], is_alike: Callable[[Item, Item], bool]) -> list[list[Item]]:
    """Items that are like the first of a group as one group, in the order of these.

    >>> group_alike([3, 8, 5], lambda first, other: first % 2 == other % 2)
    [[3, 5], [8]]
    """
    groups = list[list[Item]]()
    for item in items:
        home = next((group for group in groups if is_alike(group[0], item)), list[Item]())
        if not home:
            groups.append(home)
        home.append(item)
    return groups


def group_equal_results(results: Iterable[RuleSetResult]) -> tuple[ResultGroup, ...]:
    """Rows that answer alike as one group, in the order of their first rows."""
    groups = group_alike(results, RuleSetResult.has_same_result)
    return tuple(ResultGroup(tuple(group)) for group in groups)


def comparison_to_dict(comparing: ComparisonResult) -> dict[str, object]:
    """The JSON form, schema SCHEMA; it says all that is needed to compare again."""
    call = comparing.call
    pairs = [(group, row) for group in comparing.groups for row in group.rows]
    return {
        "schema": SCHEMA,
        "concept": comparing.concept,
        "as": list(comparing.only),
        **({"opsets": list(comparing.opsets)} if comparing.opsets else {}),
        "call": {"axis": call.axis, "batch_dims": call.batch_dims, "reduction": call.reduction},
        "inputs": dump_arrays(comparing.inputs, MAX_JSON_CELLS),
        "typed": [name for name in comparing.inputs if comparing.typed.get(name, True)],
        "agree": comparing.agree,
        "results": comparing.result_count,
        "refusals": comparing.refusal_count,
        "reference": None if comparing.reference is None else comparing.reference.label,
        "rows": [_result_to_dict(comparing, *pair) for pair in pairs],
        "unsaid": [
            {
                "label": row.label,
                "reason": row.reason,
                "asked": row.is_requested,
                "equivalent": row.equivalent or None,
            }
            for row in comparing.unsupported
        ],
    }


def _result_to_dict(
    comparing: ComparisonResult, group: ResultGroup, row: RuleSetResult
) -> dict[str, object]:
    entry: dict[str, object] = {
        "label": row.label,
        "operator": row.operator.full_name,
        "attrs": {name: value for name, value in row.attrs.items() if value is not None},
        "group": comparing.groups.index(group),
        **({"runtime": True} if row.from_runtime else {}),
    }
    if row.output is None:
        entry["error"] = row.error.to_dict() if row.error else None
        return entry
    entry["output"] = dump_json(row.output, MOST_VALUES)
    flags = comparing.differing_mask(group)
    listed = None if flags is None or flags.sum() > MOST_VALUES else np.argwhere(flags)
    entry["differs"] = None if listed is None else listed.tolist()
    entry["warnings"] = [notice.to_dict() for notice in (row.trace.warnings if row.trace else ())]
    return entry
