"""What a call's rules allow and may still surprise: the warnings of a run, found from its plan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gscli.base import Notice, PictureNotice
from gscli.base.arrays import Array, dtype_name, find_cast_change, is_lazy, parse_dtype
from gscli.base.words import format_count, format_place
from gscli.declare import Signature
from gscli.disk import mapped
from gscli.kernel.reductions import saturating_cast
from gscli.plan.outcomes import count_outcomes, describe_outcome
from gscli.plan.plan import Plan, ValidatedPlan

# Values of a mode or policy that say what becomes of an index outside: no word is needed then.
# Others promise, or ask for a refusal that a device cannot give.
REQUESTED_POLICIES = ("clip", "wrap", "fill", "drop", "circular", "IGNORE")

# Numbers of one kind that a warning tells.
MAX_EXAMPLES = 3


def collect_plan_notices(operator: Signature, plan: ValidatedPlan) -> list[Notice]:
    """Every warning of a run but that of cells that are written twice.

    >>> import gscli
    >>> trace = gscli.trace("torch.take_along_dim", {"input": [1], "indices": [9]}, {"dim": 0})
    >>> [notice.problem for notice in collect_plan_notices(trace.operator, trace.plan)]
    ['1 index wraps around the axis']
    """
    return [*_iter_index_notices(operator, plan), *iter_open_notices(plan)]


# --- indices that are not read as written ------------------------------------------------------


def _iter_index_notices(operator: Signature, plan: ValidatedPlan) -> Iterator[Notice]:
    """A warning for each kind of change that nobody asked for by name."""
    for name, value in plan.layout.attributes:
        if value in REQUESTED_POLICIES and value != operator.attributes_by_name[name].default:
            return
    outcomes = count_outcomes(plan, MAX_EXAMPLES)
    for outcome, count in outcomes.counts.items():
        notices = describe_outcome(plan.layout, outcome)
        if outcome in ("from_end", "ignored") or not any(notices):  # its callers know
            continue
        examples = outcomes.examples[outcome]
        details = [f"{index.index_path} {index.change(plan.layout)}" for index in examples]
        more = [f"… and {count - len(details):,} more"] if count > len(details) else []
        yield PictureNotice(format_count(count, *notices), details=(*details, *more))


# --- what a text leaves open -------------------------------------------------------------------


def iter_open_notices(plan: ValidatedPlan) -> Iterator[Notice]:
    """A warning for each thing that may come out otherwise than the rules or the values say."""
    if plan.layout.policy.note and "outside" in count_outcomes(plan, 0).counts:
        yield Notice("the runtime departs from these rules", where=plan.layout.policy.note)
    yield from iter_unspecified_notices(plan)
    yield from _iter_cast_notices(plan)


def iter_unspecified_notices(plan: Plan) -> Iterator[Notice]:
    """A warning for each thing in this call that the specification leaves open."""
    for when, text in plan.layout.unspecified:
        if _is_triggered(plan, when):
            yield Notice("the text leaves this open", where=text)


def _is_triggered(plan: Plan, when: str) -> bool:
    """Whether the call meets what is open: always, by an index below zero, by a NaN."""
    layout = plan.layout
    if when == "negative":
        pairs = zip(plan.in_bounds, layout.addressing.columns, strict=True)
        sources = (column.source for in_bounds, column in pairs if not in_bounds)
        return any(bool((plan.inputs[source] < 0).any()) for source in sources)
    if when == "nan":
        return any(has_nan(plan.inputs[name]) for name in layout.value_names if name is not None)
    return True


def has_nan(array: Array) -> bool:
    """Whether NaN stands in an array; data left in a store are not looked through.

    >>> has_nan(np.array([1.0, np.nan])), has_nan(np.array(["nan"]))
    (True, False)
    """
    if array.dtype.kind not in "fcV" or is_lazy(array):
        return False
    with np.errstate(invalid="ignore"):
        # NaN alone differs from itself.
        return any(bool((part != part).any()) for part in mapped.iter_blocks(array))  # noqa: PLR0124


# --- types that change -------------------------------------------------------------------------


def _iter_cast_notices(plan: ValidatedPlan) -> Iterator[Notice]:
    """A warning where values to write do not survive in the type of data."""
    layout = plan.layout
    if layout.updates is None or plan.has_exact_updates:
        return
    name, dtype = layout.updates.name, parse_dtype(layout.dtype)
    value = dict(layout.attributes).get("value", layout.updates.value)
    array = np.asarray(value) if name is None else plan.inputs[name]
    kinds = array.dtype.kind, dtype.kind
    if "U" in kinds or kinds == ("c", "c") or np.can_cast(array.dtype, dtype, "safe"):
        return
    place = _find_lossy_value(array, dtype)
    if place is None:
        return
    written, is_wide = array[place], layout.accumulate_dtype is not None
    with np.errstate(all="ignore"):
        kept = _drop_imaginary(array)[place].astype(dtype)
    if is_wide:
        kept = saturating_cast(np.asarray(written), dtype)
    subject = name or "value"
    problem, fate = f"{subject} is cast to {layout.dtype}, and values change", f"becomes {kept}"
    if not layout.updates.cast or (is_wide and layout.reduction != "none"):
        problem = f"results are cast to {layout.dtype}, and may change"
        fate = "is combined as it is"
    where = f"{format_place(subject, place)} = {written} {fate}"
    detail = f"{subject} is {dtype_name(array.dtype)}, output is {layout.dtype}"
    yield Notice(problem, where=where, details=(detail,))


def _find_lossy_value(array: Array, dtype: np.dtype[np.generic]) -> tuple[int, ...] | None:
    """Where the first value stands that a type cannot hold; rounding to a float is no change."""
    if dtype.kind in "iub":
        return find_cast_change(array, dtype)
    changed = np.argwhere(_drop_imaginary(array) != array)[:1]
    return tuple(changed[0].tolist()) if array.dtype.kind == "c" and len(changed) else None


def _drop_imaginary(array: Array) -> Array:
    """What a cast to a type without imaginary parts keeps of complex numbers."""
    return array.real if array.dtype.kind == "c" else array
