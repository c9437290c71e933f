"""The gradients of one call under every framework's conventions: groups of equal rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from gscli.base import GscliError
from gscli.base.arrays import Array, Arrays
from gscli.base.records import Record
from gscli.files.formats.jsonarray import MOST_VALUES, dump_arrays
from gscli.gradients.call import Gradients, check_cotangent, trace_gradients
from gscli.gradients.conventions import LOOP, Convention
from gscli.lab.answers import ComparisonResult, RuleSetResult, UnsupportedRuleSet, group_alike
from gscli.lab.cases import GRADIENT_TOLERANCE
from gscli.lab.difference import compare_tensors, differing_cells
from gscli.layout.axes import Reduction
from gscli.traces import Trace

# Names the JSON form.
SCHEMA = "gscli-compare-gradients/1"

# What the inputs with gradients are called here, whatever an operator calls them.
ROLES = ("data", "updates")


class GradientRow(Record):
    """What one rule set or runtime gives: gradients by role, or why there are none.

    `roles`: the inputs that the operator has. `source`: from which they were taken, None for a
    runtime's own. `missing`: why the framework itself has not all of these gradients; "" where it
    has.
    """

    label: str
    operator: str
    source: Gradients | None
    gradients: Arrays
    refusal: str = ""
    from_runtime: bool = False
    missing: str = ""
    roles: frozenset[str] = frozenset()

    @property
    def convention(self) -> Convention | None:
        """By which choices the gradients are given."""
        return None if self.source is None else self.source.convention


class GradientComparison(Record):
    """Rows that give the same gradients are one group; the first group is the reference.

    It is what was asked for first, or that of the specification's loop, where a row goes by it.
    `kind`: a gather, or how an update meets its cell. `unsupported`: rule sets that have no way to
    say the call, and for which nobody asked.
    """

    concept: str
    kind: Reduction | Literal["gather"]
    groups: tuple[tuple[GradientRow, ...], ...]
    refusals: tuple[GradientRow, ...]
    unsupported: tuple[UnsupportedRuleSet, ...] = ()

    @property
    def agree(self) -> bool:
        """Whether all rows give the same gradients."""
        return len(self.groups) == 1 and not self.refusals

    @staticmethod
    def merge_gradients(group: Sequence[GradientRow]) -> dict[str, Array]:
        """Those of a group by role, each of the first row that has it."""
        merged = {role: array for row in reversed(group) for role, array in row.gradients.items()}
        return {role: merged[role] for role in ROLES if role in merged}

    def find_differing(self, group: Sequence[GradientRow], role: str) -> Array | None:
        """Which cells differ from the reference's; None where there is nothing to compare with."""
        own, base = (self.merge_gradients(rows).get(role) for rows in (group, self.groups[0]))
        if own is None or base is None or own.shape != base.shape:
            return None
        return differing_cells(own, base, GRADIENT_TOLERANCE)

    def to_dict(self) -> dict[str, object]:
        """The JSON form, schema SCHEMA."""
        rows = [
            {
                "label": row.label, "operator": row.operator, "group": number,
                "convention": None if row.convention is None else row.convention.name,
                "gradients": dump_arrays(row.gradients, MOST_VALUES), "missing": row.missing,
            }
            for number, group in enumerate(self.groups)
            for row in group
        ]  # fmt: skip
        refused = [
            {"label": row.label, "operator": row.operator, "error": row.refusal}
            for row in self.refusals
        ]
        return {
            "schema": SCHEMA, "concept": self.concept, "agree": self.agree,
            "results": len(self.groups), "rows": rows, "refusals": refused,
            "unsaid": [{"label": row.label, "reason": row.reason} for row in self.unsupported],
        }  # fmt: skip


def compare_gradients(
    comparing: ComparisonResult, others: Iterable[GradientRow] = (), cotangent: Array | None = None
) -> GradientComparison:
    """The gradients of every answer of a comparison, and rows that stand beside them.

    `cotangent`: in the shape of the output, ones where there is none.

    >>> import numpy as np
    >>> from gscli.lab.compare import compare
    >>> answers = compare("gather", {"data": np.ones(2), "indices": [1, 1]})
    >>> compare_gradients(answers).agree
    True
    """
    base = None if cotangent is None or comparing.reference is None else comparing.reference.output
    if cotangent is not None and base is not None:
        check_cotangent(cotangent, base.shape)
    rows = [*(_differentiate(row, cotangent) for row in comparing.rows), *others]
    rows += [
        GradientRow(row.label, next(iter(row.operators), ""), None, {}, row.reason)
        for row in comparing.unsupported
        if row.is_requested
    ]
    refusals = tuple(row for row in rows if row.refusal)
    # Rows that have no data at all stand with the first that give the same to updates.
    answered = [(number, row) for number, row in enumerate(rows) if not row.refusal]
    answered.sort(key=lambda item: -len(item[1].roles))
    alike = group_alike(answered, lambda one, other: _has_same_gradients(one[1], other[1]))
    groups = [[row for _, row in group] for group in sorted(map(sorted, alike))]
    if not comparing.is_ordered:
        groups.sort(key=lambda group: not any(row.convention == LOOP for row in group))
    traces = [row.trace for row in comparing.rows if row.trace is not None]
    kind = traces[0].reduction if traces and traces[0].kind == "scatter" else "gather"
    unasked = (row for row in comparing.unsupported if not row.is_requested)
    # What gives the same answer there may give other gradients: nothing is told of it.
    silent = tuple(row._replace(equivalent="") for row in unasked)
    return GradientComparison(comparing.concept, kind, tuple(map(tuple, groups)), refusals, silent)


def _differentiate(row: RuleSetResult, cotangent: Array | None) -> GradientRow:
    name = row.operator.full_name
    try:
        if row.trace is None:
            raise row.error or GscliError("no answer")
        gradients = trace_gradients(row.trace, make_cotangent(row.trace, cotangent))
    except GscliError as error:
        return GradientRow(row.label, name, None, {}, str(error.problem))
    arrays = rename_to_roles(row.trace, gradients.arrays)
    roles = find_roles(row.trace)
    return GradientRow(row.label, name, gradients, arrays, "", False, gradients.missing, roles)


@np.errstate(all="ignore")
def make_cotangent(trace: Trace, cotangent: Array | None) -> Array:
    """What flows back into an output, in its type; ones where there is no cotangent."""
    ones = np.ones_like(trace.output)
    return ones if cotangent is None else cotangent.astype(ones.dtype)


def find_roles(trace: Trace) -> frozenset[str]:
    """Which of data and updates an operator has."""
    pairs = zip(ROLES, trace.layout.value_names, strict=True)
    return frozenset(role for role, name in pairs if name)


def rename_to_roles(trace: Trace, gradients: Mapping[str, Array | None]) -> dict[str, Array]:
    """Gradients by what their inputs are, data or updates, in place of an operator's own names."""
    names = zip(ROLES, trace.layout.value_names, strict=True)
    pairs = ((role, gradients.get(name)) for role, name in names if name)
    return {role: array for role, array in pairs if array is not None}


def _has_same_gradients(first: GradientRow, second: GradientRow) -> bool:
    """Whether both give the same to the inputs that both operators have."""
    mine, theirs = first.gradients, second.gradients
    lacks_alike = all((role in mine) == (role in theirs) for role in first.roles & second.roles)
    return lacks_alike and find_differing_gradient(theirs, mine) is None


def find_differing_gradient(own: Arrays, theirs: Arrays) -> str | None:
    """The first name of `own` under which both have a gradient, and not the same one.

    >>> import numpy as np
    >>> own, other = dict.fromkeys("abcdefgh", np.ones(1)), dict.fromkeys("hgfedcb", np.zeros(1))
    >>> find_differing_gradient(own, other)
    'b'
    """
    for name in [each for each in own if each in theirs]:
        if not compare_tensors(theirs[name], own[name], GRADIENT_TOLERANCE).is_equal:
            return name
    return None
