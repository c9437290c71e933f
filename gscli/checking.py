"""Everything there is to say against some inputs, not only the first thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gscli.declare import Operator
from gscli.errors import GscliError
from gscli.execute import Run, layout_of, shape_limit
from gscli.families import show_shape
from gscli.layout import Beyond, Negative
from gscli.plan import BLOCK, Finding, Plan
from gscli.tracing import Trace, label_of

Array = NDArray[Any]

LISTED = 50
"""Bad indices and groups of duplicates that are listed one by one."""


@dataclass(frozen=True)
class Remark:
    """One finding: what kind, where, and the legal range or the way on."""

    kind: Literal["index", "duplicate", "negative", "inputs"]
    problem: str
    where: str = ""
    valid: str = ""
    hint: str = ""

    def text(self) -> str:
        """One line.

        >>> Remark("index", "index out of range", "indices[0] = 9", "-3 … 2").text()
        'indices[0] = 9: index out of range, legal -3 … 2'
        """
        line = f"{self.where}: {self.problem}" if self.where else self.problem
        line += f", legal {self.valid}" if self.valid else ""
        return line + (f" ({self.hint})" if self.hint else "")

    def to_dict(self) -> dict[str, str]:
        """The JSON form."""
        return {
            "kind": self.kind,
            "problem": self.problem,
            "where": self.where,
            "valid": self.valid,
            "hint": self.hint,
        }


def remarks(
    operator: Operator, arrays: Mapping[str, Array], attrs: Mapping[str, object]
) -> Iterator[Remark]:
    """Every remark about a call; nothing is computed but what the remarks need.

    >>> from gscli.frameworks import find
    >>> [one.where for one in remarks(find("gather"), {"data": np.arange(2),
    ...                                                "indices": np.array([0, 5, -9])}, {})]
    ['indices[1] = 5', 'indices[2] = -9']
    """
    try:
        layout = layout_of(operator, arrays, attrs)
        shape_limit(layout, arrays, None)
    except GscliError as error:
        yield Remark("inputs", error.problem, error.where, error.valid, error.hint)
        return
    plan = Plan(layout, arrays)
    found, total = plan.findings(LISTED)
    yield from (_bad_index(one) for one in found)
    if total > len(found):
        yield Remark("index", f"{total - len(found)} more indices out of range")
    yield from _negatives(plan)
    if total == 0 and layout.kind == "scatter" and layout.open_order:
        yield from _duplicates(Trace(Run(operator, arrays, plan, np.empty(0))), layout.open_order)


def _bad_index(one: Finding) -> Remark:
    where = f"{one.source}{show_shape(one.position)} = {one.value}"
    return Remark("index", "index out of range", where, one.legal)


def _duplicates(trace: Trace, reason: str) -> Iterator[Remark]:
    groups, count = trace.duplicates(LISTED)
    for group in groups:
        names = ", ".join(f"{label_of(number)} (entry {number})" for number in group[:4])
        more = f" and {len(group) - 4} more" if len(group) > 4 else ""  # noqa: PLR2004  as many as are named
        yield Remark("duplicate", f"entries {names}{more} write the same cell", hint=reason)
    if count > len(groups):
        yield Remark("duplicate", f"{count - len(groups)} more cells written more than once")


def _negatives(plan: Plan) -> Iterator[Remark]:
    """Indices that count from the end here and are refused elsewhere."""
    policy = plan.layout.policy
    if policy.negative is not Negative.FROM_END or policy.beyond is Beyond.WRAP:
        return
    count, first = 0, None
    for column in range(len(plan.layout.column_axes)):
        for start in range(0, plan.layout.entry_count, BLOCK):
            below = np.flatnonzero(plan.raw(column, start, start + BLOCK) < 0)
            count += below.size
            if below.size and first is None:
                first = (column, start + int(below[0]))
    if first is not None:
        source = plan.layout.addressing.columns[first[0]].source
        place = show_shape(plan.index_position(*first))
        yield Remark(
            "negative",
            f"{count} negative {'index counts' if count == 1 else 'indices count'} from the end",
            f"{source}{place}",
            hint="TensorFlow, PyTorch gather and OpenVINO refuse them: gscli compare",
        )
