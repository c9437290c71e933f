"""Everything there is to say against some inputs, not only the first thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from gscli.base.arrays import Array
from gscli.base.errors import (
    ExactShapeRefused,
    Finding,
    GscliError,
    IndexTypeRefused,
    UpdatesTypeRefused,
    UsageError,
)
from gscli.base.text import show_shape
from gscli.files.element_types import dtype_named
from gscli.frameworks.operator import Operator
from gscli.layout.axes import Beyond, Negative
from gscli.layout.layout import Layout
from gscli.plan.inputs import layout_of
from gscli.plan.limits import shape_limit
from gscli.plan.plan import BLOCK, JudgedPlan, Plan
from gscli.traces.duplicates import duplicate_writers, windows_overlap
from gscli.traces.entries import label_of

Kind: TypeAlias = Literal["index", "duplicate", "negative", "inputs"]

LISTED = 50
"""Bad indices and groups of duplicates that are listed one by one, unless a limit says."""


@dataclass(frozen=True)
class Remark:
    """One finding: what kind, where, and the legal range or the way on.

    `count` is how many findings it stands for: one, or those that are not listed. `error`: the
    refusal that it tells, if it is one.
    """

    kind: Kind
    problem: str
    where: str = ""
    valid: str = ""
    hint: str = ""
    count: int = 1
    error: GscliError | None = field(default=None, repr=False, compare=False)

    def text(self) -> str:
        """One line.

        >>> Remark("index", "index out of range", "indices[0] = 9", "-3 … 2").text()
        'indices[0] = 9: index out of range, legal -3 … 2'
        """
        line = f"{self.where}: {self.problem}" if self.where else self.problem
        line += f", legal {self.valid}" if self.valid else ""
        return line + (f" ({self.hint})" if self.hint else "")

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "kind": self.kind,
            "problem": self.problem,
            "where": self.where,
            "valid": self.valid,
            "hint": self.hint,
            "count": self.count,
        }


def remarks(
    operator: Operator,
    arrays: Mapping[str, Array],
    attrs: Mapping[str, object],
    listed: int = LISTED,
) -> Iterator[Remark]:
    """Every remark about a call; nothing is computed but what the remarks need.

    Of each kind `listed` are told one by one. Raises UsageError for attributes nobody takes.

    >>> from gscli.frameworks import find
    >>> [one.where for one in remarks(find("gather"), {"data": np.arange(2),
    ...                                                "indices": np.array([0, 5, 9])}, {})]
    ['indices[1] = 5', 'indices[2] = 9']
    """
    given = dict(arrays)
    layout = None
    for _ in range(3 * len(given)):
        try:
            layout = layout_of(operator, given, attrs)
            shape_limit(layout, given, None)
            break
        except UsageError:
            raise
        except GscliError as error:
            yield from _refusals(error, given, listed)
            if not _mended(error, given):
                return
    if layout is not None:
        yield from _value_remarks(layout, given, listed)


def _refusals(error: GscliError, arrays: Mapping[str, Array], listed: int) -> Iterator[Remark]:
    """A refusal from types and shapes; fractions among indices one by one."""
    if isinstance(error, IndexTypeRefused) and len(_fractions(arrays[error.name])):
        array = arrays[error.name]
        places = [tuple(int(number) for number in place) for place in _fractions(array)]
        for at in places[:listed]:
            where = f"{error.name}{show_shape(at)} = {array[at]}"
            yield Remark("index", "not a whole number", where)
        yield from _more("index", "not whole numbers", len(places) - listed)
    else:
        yield Remark("inputs", error.problem, error.where, error.valid, error.hint, error=error)


def _more(kind: Kind, what: str, count: int) -> Iterator[Remark]:
    if count > 0:
        yield Remark(kind, f"{count} more {what}", count=count)


def _fractions(array: Array) -> Array:
    if array.dtype.kind != "f":
        return np.empty((0, array.ndim), np.int64)
    with np.errstate(invalid="ignore"):
        return np.argwhere(array != np.floor(array))


def _mended(error: GscliError, arrays: dict[str, Array]) -> bool:
    """Put something in the place of the refused input that lets the rest be checked."""
    if isinstance(error, ExactShapeRefused):
        array = arrays[error.name]
        arrays[error.name] = np.broadcast_to(np.zeros((), array.dtype), error.wanted)
        return array.shape != error.wanted
    if isinstance(error, (IndexTypeRefused, UpdatesTypeRefused)):
        array = arrays[error.name]
        numbers = array.dtype.kind in "iufb" and error.wanted != "str"
        with np.errstate(all="ignore"):
            arrays[error.name] = (
                array.astype(dtype_named(error.wanted))
                if numbers
                else np.zeros(array.shape, dtype_named(error.wanted))
            )
        return True
    return False


def _value_remarks(layout: Layout, arrays: Mapping[str, Array], listed: int) -> Iterator[Remark]:
    plan = Plan(layout, arrays)
    found, total = plan.findings(listed)
    yield from (_bad_index(one) for one in found)
    yield from _more("index", "indices out of range", total - len(found))
    yield from _negatives(plan)
    if total == 0 and layout.kind == "scatter" and layout.open_order:
        yield from _duplicates(plan.judged(), layout.open_order, listed)


def _bad_index(one: Finding) -> Remark:
    return Remark("index", "index out of range", f"{one.place} = {one.value}", one.legal)


def _duplicates(plan: JudgedPlan, reason: str, listed: int) -> Iterator[Remark]:
    found = duplicate_writers(plan, listed)
    windows = windows_overlap(plan.layout)
    for group in found.groups:
        names = ", ".join(f"{label_of(number)} (entry {number})" for number in group[:4])
        more = f" and {len(group) - 4} more" if len(group) > 4 else ""  # noqa: PLR2004  as many as are named
        problem = f"entries {names}{more} write the same cell{'s' * windows}"
        yield Remark("duplicate", problem, hint=reason)
    things = (
        "groups of entries that write the same cells" if windows else "cells written more than once"
    )
    yield from _more("duplicate", things, found.total - len(found.groups))


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
            hint="some frameworks refuse them",
        )
